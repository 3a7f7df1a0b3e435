"""The list: what it shows, in which order, to whom, and at what cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.db.ids import first_id_at
from metacog.models import AgentState, Heartbeat, Membership, Team
from reviews.held import decisions, presence, talk
from reviews.held import listing as held_queue
from reviews.models import Decision, HeldItem, Signal, held_id
from reviews.templatetags import console
from tests.conftest import HELD, Caller
from tests.reviews.api.test_tool_calls import held_by
from tests.reviews.held.test_approvers import ask, rule
from tests.tables import table


def shown(response: Any) -> list[str]:
    """Return the ids of the rows, in order."""
    return re.findall(r'id="row-(held_\w+)"', response.content.decode())


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def test_it_says_how_to_begin_when_there_is_no_agent(client: Any) -> None:
    page = client.get("/queue/").content.decode()
    assert "No agents yet" in page
    assert "An owner of your team adds agents." in page


def test_it_tells_somebody_without_a_team_whom_to_ask(as_person: Any, django_user_model: Any, db: None) -> None:
    person = django_user_model.objects.create_user("nobody")
    assert "No team yet" in as_person(person).get("/queue/").content.decode()


def test_it_says_why_nothing_was_held(client: Any, kuro: Any, carla: Any, as_person: Any, settings: Any) -> None:
    page = client.get("/queue/").content.decode()
    assert "No responses yet" in page
    assert f"curl -sS {settings.PUBLIC_URL}/api/v1/responses" in page
    kuro.respond("It may rain, according to [1].")
    for person, may_teach in ((client, False), (as_person(carla), True)):
        page = person.get("/queue/").content.decode()
        assert "No held items yet" in page
        assert (">Add error pattern<" in page) == may_teach


def test_it_puts_the_riskiest_first_and_of_equals_what_expires_next(client: Any, kuro: Any) -> None:
    first, risky, last = kuro.hold(), kuro.hold(), kuro.hold()
    HeldItem.objects.filter(public_id=risky).update(hesitation_score=80)
    assert shown(client.get("/queue/")) == [risky, first, last]
    HeldItem.objects.filter(public_id=last).update(expires_at=timezone.now() + timedelta(hours=1))
    assert shown(client.get("/queue/")) == [risky, last, first]
    assert shown(client.get("/queue/?order=age")) == [first, risky, last]


def test_what_one_has_approved_is_not_in_ones_queue_nor_what_is_snoozed_in_anybodys(
    client: Any, kuro: Caller, alice: Any, bob: Any, as_person: Any
) -> None:
    approved, snoozed = HeldItem.objects.get(public_id=ask(kuro, rule(people=2))), kuro.hold()
    decisions.decide_or_approve(approved, alice, "approve")
    talk.snooze(HeldItem.objects.get(public_id=snoozed), bob, timezone.now() + timedelta(hours=1))
    rows = {each: [shown(each.get(f"/queue/{query}")) for query in ("", "?snoozed=1", "?order=age&kind=tool_call")]
            for each in (client, as_person(bob))}  # fmt: skip
    assert list(rows.values()) == [[[], [snoozed], []], [[approved.public_id], [snoozed], [approved.public_id]]]
    assert shown(client.get("/queue/?needs=others")) == [approved.public_id]


def test_its_address_holds_the_filters(client: Any, kuro: Any) -> None:
    chat, memory = kuro.hold("chat"), kuro.hold("remember")
    assert shown(client.get("/queue/?kind=remember")) == [memory]
    assert shown(client.get("/queue/?signal=error-pattern&kind=chat")) == [chat]
    assert shown(client.get("/queue/?signal=overconfidence")) == []
    assert shown(client.get(f"/queue/?agent={kuro.id}&order=age")) == [chat, memory]
    assert shown(client.get("/queue/?agent=agt_0")) == shown(client.get("/queue/"))  # it says so
    assert f'href="/queue/{chat}/?kind=chat"' in client.get("/queue/?kind=chat").content.decode()


@table("query", ["kind=nonsense", "order=up", "state=open", "after=held_0"], rolled_back=True)
def test_what_an_address_says_wrongly_counts_as_unsaid(client: Any, kuro: Any, query: str) -> None:
    held = kuro.hold()
    assert shown(client.get(f"/queue/?{query}")) == [held]


def test_it_says_why_it_lists_what_no_longer_waits(client: Any, kuro: Any, decide: Any) -> None:
    first, second = kuro.hold(), kuro.hold()
    decide(client, first)
    told = "Nothing is held any more. What was just decided stays in this list for a minute."
    assert told not in client.get("/queue/").content.decode()
    decide(client, second)
    page = client.get("/queue/")
    assert told in page.content.decode()
    assert shown(page) == [first, second]
    assert told not in client.get("/queue/?state=decided").content.decode()


def test_its_pages_follow_each_other_without_gap_or_repetition(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_queue, "PAGE", 2)
    held = [kuro.hold() for _ in range(5)]
    seen: list[str] = []
    address = "/queue/"
    while address and len(seen) < 9:
        page = client.get(address)
        seen += shown(page)
        more = re.search(r'rel="next" href="([^"]*after[^"]*)"', page.content.decode())
        address = more[1].replace("&amp;", "&") if more else ""
    assert seen == held


@table(
    ("query", "places"),
    [("", [3, 0, 4, 2, 1]), ("order=age", [0, 1, 2, 3, 4]), ("order=learned", [4, 2, 1, 0, 3])],
    rolled_back=True,
)
def test_each_order_goes_on_from_page_to_page_with_what_was_just_decided_in_its_place(
    client: Any, kuro: Any, decide: Any, monkeypatch: pytest.MonkeyPatch, query: str, places: list[int]
) -> None:
    monkeypatch.setattr(held_queue, "PAGE", 2)
    Team.objects.update(risk_kind="learned", risk_order=False)
    held = [kuro.hold() for _ in range(5)]
    now = timezone.now()
    # Of the two with a score, and a learned risk, that another has as well, that which expires first comes first.
    for at, (score, risk, hours) in enumerate([(70, 30, 3), (50, 20, 9), (50, 10, 1), (90, 40, 9), (60, 10, 0.5)]):
        item = HeldItem.objects.filter(public_id=held[at])
        item.update(hesitation_score=score, risk_place=risk, expires_at=now + timedelta(hours=hours))
    wanted = [held[at] for at in places]

    def pages() -> list[list[str]]:
        found: list[list[str]] = []
        address = f"/queue/?{query}"
        while address and len(found) < 9:
            page = client.get(address)
            found.append(shown(page))
            more = re.search(r'rel="next" href="([^"]*after[^"]*)"', page.content.decode())
            address = more[1].replace("&amp;", "&") if more else ""
        return found

    assert pages() == [wanted[:2], wanted[2:4], wanted[4:]]
    decide(client, wanted[1])
    assert pages() == [wanted[:3], wanted[3:]]
    decide(client, wanted[4])
    assert pages() == [wanted[:3], wanted[3:]]


@table(("on", "count"), [("2026-11-20", 1), ("2026-11-21", 0)], rolled_back=True)
@table(("zone", "moved"), [("UTC", 0), ("Asia/Taipei", 1)], rolled_back=True)
def test_a_day_is_that_of_whoever_looks(
    client: Any, alice: Any, kuro: Any, on: str, count: int, zone: str, moved: int
) -> None:
    kuro.hold()
    HeldItem.objects.update(held_at=datetime(2026, 11, 20, 23, 30, tzinfo=UTC))
    type(alice).objects.update(time_zone=zone)
    assert len(shown(client.get(f"/queue/?since={on}&until={on}"))) == (1 - count if moved else count)


@pytest.mark.parametrize("query", ["", "order=age", "order=learned", "state=decided"])
def test_each_page_leads_to_the_one_before_and_to_its_last_item(
    client: Any, kuro: Any, decide: Any, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(held_queue, "PAGE", 2)
    held = [kuro.hold() for _ in range(5)]
    if query == "state=decided":  # in the order of deciding, not of holding
        held = [held[place] for place in (2, 0, 4, 1, 3)]
        for each in held:
            decide(client, each)
    if query == "order=learned":
        Team.objects.update(risk_kind="learned", risk_order=False)
    if query:  # and not in the order of the score
        for score, each in enumerate(held, start=50):
            HeldItem.objects.filter(public_id=each).update(hesitation_score=score)
    if query == "state=decided":
        held.reverse()
    link = r'href="([^"]*)" rel="prev" data-last="/queue/(held_\w+)/([^"]*)"'
    for after, before in ((held[1], ""), (held[3], held[1])):
        page = client.get(f"/queue/?{query}&after={after}").content.decode()
        address, last, filters = re.search(link, page).groups()
        assert (last, shown(client.get(address.replace("&amp;", "&")))[-1]) == (after, after)
        assert address == f"/queue/{filters}"
        assert f"after={before}" in address if before else "after" not in address
    assert 'rel="prev"' not in client.get(f"/queue/?{query}").content.decode()


def test_whoever_is_in_several_teams_goes_back_through_all_of_them(
    client: Any, alice: Any, kuro: Any, other: Any, borealis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_queue, "PAGE", 2)
    Membership.objects.create(user=alice, team=borealis, role="reviewer")
    held = [each.hold() for each in (kuro, other, kuro, other, kuro)]
    page = client.get(f"/queue/?order=age&after={held[3]}").content.decode()
    address, last = re.search(r'href="([^"]*)" rel="prev" data-last="/queue/(held_\w+)/', page).groups()
    assert last == held[3]
    assert shown(client.get(address.replace("&amp;", "&"))) == held[2:4]


def test_another_teams_item_has_no_place_in_its_order(client: Any, kuro: Caller, other: Caller) -> None:
    held, foreign = [kuro.hold(), kuro.hold()], other.hold()
    HeldItem.objects.filter(public_id=foreign).update(hesitation_score=1)
    assert shown(client.get(f"/queue/?after={foreign}")) == held


def test_it_counts_in_its_title_and_tells_the_age_of_the_oldest(client: Any, kuro: Any) -> None:
    from reviews.models import HeldItem

    oldest, _risky = kuro.hold(), HeldItem.objects.filter(public_id=kuro.hold()).update(hesitation_score=80)
    HeldItem.objects.filter(public_id=oldest).update(held_at=timezone.now() - timedelta(minutes=3))
    page = client.get("/queue/").content.decode()
    assert "<title>(2) Queue · metacog</title>" in page
    assert re.search(r"oldest <time[^>]*>3 min ago</time>", page)


@table(("most", "told"), [(2, "2+"), (3, "3"), (4, "3")], rolled_back=True)
def test_it_counts_what_matches_no_further_than_it_tells_on_whatever_page(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch, most: int, told: str
) -> None:
    for module in (held_queue, console):
        monkeypatch.setattr(module, "COUNTED", most)
    first, *_others = [kuro.hold() for _ in range(3)]
    for after in ("", first):
        page = client.get(f"/queue/?kind=chat&after={after}").content.decode()
        assert re.findall(r'id="list-count"[^>]*>([^<]*)<', page) == [told]


def test_it_shows_what_was_decided_a_moment_ago_in_its_place(
    client: Any, as_person: Any, bob: Any, kuro: Any, decide: Any
) -> None:
    first, second = kuro.hold(), kuro.hold()
    decide(as_person(bob), second)
    page = client.get("/queue/")
    assert shown(page) == [first, second]
    assert "approved by Bob" in page.content.decode()
    assert f'data-held="{first}"' in page.content.decode()


@pytest.mark.parametrize("is_call", [False, True])
def test_after_an_edit_its_row_and_what_can_be_undone_have_what_was_released(
    client: Any, kuro: Caller, alice: Any, is_call: bool
) -> None:
    public_id = held_by(kuro, arguments={"eur": 900}) if is_call else kuro.hold()
    held = HeldItem.objects.get(public_id=public_id)
    edit: decisions.Edit = decisions.Arguments({"eur": 90}) if is_call else "It may be the disk."
    decision, _ = decisions.decide(held, alice, "edit", edit=edit, accept_risk=True)
    assert 'id="told"></div>' in client.get("/queue/").content.decode(), "it was decided elsewhere"
    client.cookies["done"] = decision.public_id
    before, after = ("eur=900", "eur=90") if is_call else ("clearly the cache", "It may be the disk.")

    def told() -> tuple[str, str]:
        page = client.get("/queue/").content.decode()
        row = page.split(f'id="row-{public_id}"')[1].split("</li>")[0]
        return re.sub(r"<[^>]+>", "", row), page.split('id="told"')[1].split("</div>")[0]

    for place in told():
        assert after in place
        assert before not in place
    assert "Approved with edits" in told()[1]
    decisions.undo(decision, alice)
    for place in told():
        assert before in place, "it is as it was asked"


def test_it_lets_go_of_what_was_decided_a_minute_ago(client: Any, kuro: Any, decide: Any) -> None:
    from reviews.models import Decision

    held = kuro.hold()
    decide(client, held)
    Decision.objects.update(decided_at=timezone.now() - timedelta(seconds=61))
    assert shown(client.get("/queue/")) == []
    assert shown(client.get("/queue/?state=decided")) == [held]


def test_the_row_of_what_fills_an_empty_desk_is_the_current_one(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    filled = client.get("/queue/changes", {"token": ""}, headers={"hx-request": "true"}).content.decode()
    assert re.search(rf'id="row-{held}"[^>]* aria-current="true"', filled)
    assert f'data-held="{held}"' in filled


def test_it_answers_a_poll_with_nothing_until_something_changes(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()

    def token() -> str:
        return re.search(r'name="token" value="([^"]*)"', client.get("/queue/").content.decode())[1]

    def poll(since: str) -> Any:
        shown = {"token": since, "open": held, "version": 1}
        return client.get("/queue/changes", shown, headers={"hx-request": "true"})

    before = token()
    assert poll(before).status_code == 204
    second = kuro.hold()
    answer = poll(before)
    assert answer.status_code == 200
    assert shown(answer) == [held, second]
    assert 'data-title="(2) Queue"' in answer.content.decode()
    assert 'id="standing"' not in answer.content.decode()

    before = token()
    decide(client, held)
    answer = poll(before)
    assert 'id="standing"' in answer.content.decode()

    before = token()
    client.post(f"/decisions/{_decision(held).public_id}/undo")
    assert poll(before).status_code == 200


@table(
    ("change", "here", "elsewhere"),
    [
        ("an item", 200, 204),
        ("an approval", 200, 204),
        ("an assignment", 200, 204),
        ("a reader", 200, 204),
        ("a release long ago", 200, 204),
        ("the worker", 200, 200),  # which works for all teams
        ("nothing", 204, 204),
    ],
    rolled_back=True,
)
def test_a_poll_finds_what_changes_in_the_persons_teams_alone(
    client: Any, kuro: Caller, other: Caller, bob: Any, mallory: Any, change: str, here: int, elsewhere: int
) -> None:
    """Only what is listed last, or happened to what is pending, is beside what is counted."""
    both = [(kuro, bob, here), (other, mallory, elsewhere)]
    items = {agent.id: ask(agent, rule(people=2)) for agent, _, _ in both}
    for agent, person, status in both:
        before = re.search(r'name="token" value="([^"]*)"', client.get("/queue/").content.decode())
        assert before
        held = HeldItem.objects.get(public_id=items[agent.id])
        match change:
            case "an item":
                agent.hold()
            case "an approval":
                decisions.decide_or_approve(held, person, "approve")
            case "an assignment":
                talk.assign(held, person, person)
            case "a reader":
                presence.look(person, held)
            case "a release long ago":
                AgentState.objects.filter(agent__public_id=agent.id).update(decision_seq=7)
            case "the worker":  # comes to life, and is silent for too long
                at = timezone.now() - timedelta(minutes=5 * Heartbeat.objects.count())
                Heartbeat.objects.update_or_create(name="worker", defaults={"at": at})
        answer = client.get("/queue/changes", {"token": before[1]}, headers={"hx-request": "true"})
        assert answer.status_code == status


def _decision(held: str) -> Any:
    from reviews.models import Decision

    return Decision.objects.get(held__public_id=held, undone_at=None)


def test_it_shows_a_stranger_nothing(as_person: Any, mallory: Any, kuro: Any) -> None:
    held = kuro.hold()
    stranger = as_person(mallory)
    page = stranger.get("/queue/")
    assert shown(page) == []
    assert "kuro" not in page.content.decode()
    assert stranger.get(f"/queue/{held}/").status_code == 404
    assert stranger.get(f"/queue/?agent={kuro.id}").status_code == 200
    changes = stranger.get("/queue/changes", {"token": "", "open": held, "version": 0})
    assert "kuro" not in changes.content.decode()


def test_whoever_is_in_several_teams_reads_which_team_an_agent_is_of(
    client: Any, kuro: Any, alice: Any, borealis: Any
) -> None:
    agent, key, secret = create_agent(borealis, "kuro", None)
    kuro.hold()
    theirs = Caller(agent.public_id, key, secret).hold()
    assert '<span class="team">' not in client.get("/queue/").content.decode()
    Membership.objects.create(user=alice, team=borealis, role="reviewer")
    page = client.get(f"/queue/{theirs}/").content.decode()
    assert re.findall(r'<span class="team">(\w+)</span>', page) == ["Aurora", "Borealis"]
    assert re.findall(r"kuro · (\w+)</option>", page) == ["Aurora", "Borealis"]
    assert re.search(r'id="about".*?<span>Borealis</span>', page)


def test_it_asks_whoever_is_not_signed_in_to_sign_in(client: Any, db: None) -> None:
    from django.test import Client

    assert Client().get("/queue/").status_code == 302
    answer = Client().get("/queue/changes", headers={"hx-request": "true", "hx-current-url": "http://x/queue/"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/sign-in/?next=/queue/&unsaved=nothing")


def test_its_cost_does_not_grow_with_the_rows(
    client: Any, kuro: Any, decide: Any, django_assert_max_num_queries: Any
) -> None:
    decide(client, kuro.hold())
    kuro.hold()
    with django_assert_max_num_queries(28):
        client.get("/queue/")
    for _ in range(20):
        kuro.hold()
    with django_assert_max_num_queries(28) as captured:
        client.get("/queue/")
    assert len(captured) >= 10


def test_a_poll_without_news_is_cheap(client: Any, kuro: Any, django_assert_num_queries: Any) -> None:
    kuro.hold()
    page = client.get("/queue/").content.decode()
    token = re.search(r'name="token" value="([^"]*)"', page)[1]
    with django_assert_num_queries(8):  # session, person, teams, who looks, latest, waiting, decided, talk
        assert client.get("/queue/changes", {"token": token}).status_code == 204


@pytest.mark.parametrize("address", ["/queue/?", "/queue/?order=age", "/queue/?order=learned", "/queue/?state=decided"])
def test_a_page_is_read_along_an_index_wherever_it_begins(
    client: Any, kuro: Any, decide: Any, address: str, monkeypatch: Any
) -> None:
    """What is read to put a page in order may not grow with all that waits."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    monkeypatch.setattr(held_queue, "PAGE", 2)
    Team.objects.update(risk_kind="learned", risk_order=False)
    held = [kuro.hold() for _ in range(6)]
    for each in held if "decided" in address else []:
        decide(client, each)
    last = shown(client.get(address))[1]
    with CaptureQueriesContext(connection) as captured:
        client.get(f"{address}&after={last}")
    (listed,) = [found[1] for each in captured if (found := re.search(r"IN \((SELECT .* LIMIT 3)\)", each["sql"]))]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute("SET LOCAL enable_sort = off")  # six rows are as quickly sorted as read in order
            cursor.execute(f"EXPLAIN {listed}")
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {listed}")
        plan = str(cursor.fetchall())
    assert not re.search("Sort|TEMP B-TREE|SCAN|Seq Scan", plan), plan


@pytest.fixture
def robin(aurora: Any) -> Any:
    """Another agent of kuro's team."""
    agent, key, secret = create_agent(aurora, "robin", None)
    return Caller(agent.public_id, key, secret)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite says how many steps it took")
@pytest.mark.parametrize("who", ["person", "agent"])
def test_what_was_decided_long_ago_is_not_read(
    client: Any, kuro: Any, robin: Any, decide: Any, undo_at_once: None, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # who looks at an item is written anew after some seconds
    waiting, decided = kuro.hold(), (robin if who == "person" else kuro).hold()
    decide(client, decided)
    addresses = ["/queue/", "/queue/?signal=error-pattern", f"/queue/changes?open={waiting}&token=", "/agents/"]

    def ask() -> None:
        if who == "agent":
            assert [item["id"] for item in kuro.get("/held?state=pending").json()["items"]] == [waiting]
        for address in addresses if who == "person" else ():
            assert client.get(address).status_code == 200

    before = _steps(ask)
    item, decision = HeldItem.objects.get(public_id=decided), Decision.objects.get()
    long_ago = timezone.now() - timedelta(days=30)
    for n in range(1, 301):
        item.pk, item.public_id, item.index, item.closed_at = None, held_id(), n, long_ago
        item.save(force_insert=True)
        decision.pk, decision.public_id = None, f"{first_id_at('dec', long_ago)}{n}"
        decision.held, decision.seq = item, 1000 + n
        decision.decided_at = decision.release_at = decision.released_at = long_ago
        decision.save(force_insert=True)
    assert _steps(ask) <= before + 150, "half a step for each of them"


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite says how many steps it took")
def test_a_rare_signal_is_not_looked_for_in_all_that_is_held(
    client: Any, kuro: Any, robin: Any, decide: Any, undo_at_once: None
) -> None:
    item = HeldItem.objects.get(public_id=robin.hold())
    items = [{"kind": kind, "text": f"{HELD} {kind}"} for kind in ("chat", "task")]
    first, second = (each["held"] for each in kuro.respond(items=items)["items"])
    rare = Signal.objects.filter(response__held_items__public_id=first)
    rare.filter(type="absolute-claim").update(type="overconfidence")

    def ask() -> None:
        assert shown(client.get("/queue/?signal=overconfidence")) == [first, second]

    before = _steps(ask)
    for n in range(1, 301):
        item.pk, item.public_id, item.index, item.alike = None, held_id(), n, n
        item.save(force_insert=True)
    assert _steps(ask) <= before + 12 * 300, "what counts on every page, up to 1,000"
    decide(client, first)
    HeldItem.objects.filter(public_id=first).update(decided_at=timezone.now() - timedelta(hours=1))
    assert second in shown(client.get("/queue/?signal=overconfidence")), "its response has another item that is open"
    decide(client, second)
    assert not rare.filter(is_open=True), "else the open ones are as many as ever fired"


def test_a_common_signal_is_met_on_the_way(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_queue, "COUNTED", 1)
    held = [kuro.hold() for _ in range(3)]
    Signal.objects.filter(response__held_items__public_id=held[1]).delete()
    assert shown(client.get("/queue/?signal=absolute-claim")) == [held[0], held[2]]


def _steps(ask: Callable[[], None]) -> int:
    taken: list[None] = []
    connection.connection.set_progress_handler(lambda: taken.append(None), 1)
    ask()
    connection.connection.set_progress_handler(None, 0)
    return len(taken)


@table(("language", "room"), [("en", " "), ("zh-hant", ""), ("zh-hans", "")], rolled_back=True)
def test_a_chinese_full_stop_or_colon_brings_its_own_room(
    client: Any, alice: Any, kuro: Any, decide: Any, language: str, room: str
) -> None:
    alice.language = language
    alice.save()
    page = client.get("/queue/?state=decided").content.decode()
    assert re.findall(r'[.。](\s*)<a href="/queue/">', page) == [room]
    held = kuro.hold()
    decide(client, held, "reject", reason="x")
    assert re.findall(r'[:：](\s*)<q class="answered">', client.get(f"/queue/{held}/").content.decode()) == [room]


def test_what_is_decided_is_listed_by_who_decided(
    client: Any, kuro: Any, alice: Any, bob: Any, as_person: Any, decide: Any
) -> None:
    mine, bobs, taken_back, own = (kuro.hold() for _ in range(4))
    decide(client, mine)
    decide(as_person(bob), bobs)
    decide(client, taken_back)
    client.post(f"/decisions/{_decision(taken_back).public_id}/undo")
    kuro.post(f"/held/{own}/decision", {"verdict": "withdraw", "reason": "no"})

    def listed(by: str) -> list[str]:
        return shown(client.get(f"/queue/?state=decided&by={by}"))

    assert listed("") == listed("nonsense") == [own, bobs, mine]
    assert listed(str(alice.pk)) == [mine]
    assert listed("person") == [bobs, mine]
    assert listed("agent") == [own]
    assert listed("system") == listed("9" * 18) == []
    page = client.get(f"/queue/?state=decided&by={alice.pk}").content.decode()
    assert f'<option value="{alice.pk}" selected>Me</option>' in page
    for value, name in (("person", "People"), ("agent", "Agents"), ("system", "Nobody (expired)")):
        assert f'<option value="{value}">{name}</option>' in page
    assert "filter ignored" not in page
    assert ">Another person<" not in page + client.get("/queue/?state=decided").content.decode()
    assert 'href="/queue/">Held' in page, "what waits was decided by nobody"
    assert f"by={alice.pk}" in re.findall(r'id="poll"[^>]*hx-get="([^"]+)"', page)[0]
    assert ">Another person<" in client.get(f"/queue/?state=decided&by={bob.pk}").content.decode()
    assert 'name="by"' not in client.get("/queue/").content.decode()


def test_a_call_without_arguments_has_a_row_and_a_page(client: Any, kuro: Any) -> None:
    held = kuro.respond("", items=[{"kind": "tool_call", "name": "pay", "arguments": None}])["items"][0]["held"]
    assert shown(client.get("/queue/")) == [held]
    assert "<code>null</code>" in client.get(f"/queue/{held}/").content.decode()


def test_a_page_without_an_item_is_told_nothing_of_who_looks_at_it(client: Any, kuro: Any) -> None:
    kuro.hold()
    answer = client.get("/queue/changes", {"token": "", "kind": "task"}, headers={"hx-request": "true"})
    assert answer.status_code == 200
    assert 'id="others"' not in answer.content.decode(), "there is no such place on that page"


@pytest.mark.parametrize(
    ("query", "way", "told"),
    [
        ("kind=task", "/queue/", "Show all held items"),
        ("state=decided&kind=remember", "/queue/?state=decided", "Show all decided items"),
    ],
)
def test_from_filters_that_nothing_matches_it_leads_to_all_of_that_list(
    client: Any, kuro: Any, decide: Any, query: str, way: str, told: str
) -> None:
    decide(client, kuro.hold())
    kuro.hold()
    page = client.get(f"/queue/?{query}").content.decode()
    assert f'<a href="{way}">{told}</a>' in page
