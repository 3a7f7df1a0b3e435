"""Filters and saved views of the queue, its times, its export, and a person's own day."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.models import AuditEvent, Membership, Team
from reviews.held import talk
from reviews.models import Decision, HeldItem, SavedView
from tests import team_settings
from tests.reviews.pages.queue_list.posting import ask, call
from tests.reviews.pages.test_queue import shown
from tests.tables import table


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


@table(
    "query, found",
    [
        ("pattern=Cause+named", [1]),
        ("tool=pay", [2]),
        ("score_from=50&score_to=60", [1]),
        ("score_to=49", [0]),
        ("since={today}", [0, 1, 2]),
        ("since={tomorrow}", []),
        ("until={yesterday}", []),
        ("until={today}", [0, 1, 2]),
        ("since={today}&until={today}", [0, 1, 2]),
        ("metadata_name=run&metadata_value=r-1", [0]),
        ("metadata.run=r-1&session=s", [0]),
        ("assigned={bob}", [1]),
        ("assigned={alice}", []),
        ("mentions={bob}", [2]),
        ("mentions={alice}", []),
    ],
)
def test_the_filters_narrow_it_down(client: Any, alice: Any, bob: Any, kuro: Any, query: str, found: list[int]) -> None:
    if not HeldItem.objects.exists():
        ask(kuro, 1, metadata={"run": "r-1"}, session="s"), kuro.hold(), call(kuro, amount=1)
        _chat, hold, pay = HeldItem.objects.order_by("pk")
        talk.assign(hold, bob, alice)
        talk.comment(pay, alice, "@bob Is it ours?")
    held = list(HeldItem.objects.order_by("pk").values_list("public_id", flat=True))
    day = timezone.localdate()
    words = {"today": day, "tomorrow": day + timedelta(days=1), "yesterday": day - timedelta(days=1)}
    page = client.get(f"/queue/?order=age&{query.format(**words, alice=alice.pk, bob=bob.pk)}")
    assert shown(page) == [held[place] for place in found]


def test_the_views_of_what_is_ones_own_lead_to_it_and_out_again(client: Any, alice: Any, bob: Any, kuro: Any) -> None:
    held = [kuro.hold() for _ in range(3)]
    assigned, mentioning, snoozed = (HeldItem.objects.get(public_id=each) for each in held)
    talk.assign(assigned, alice, bob)
    talk.comment(mentioning, bob, "@alice?")
    talk.snooze(snoozed, bob, timezone.now() + timedelta(hours=1))

    def led(page: Any, name: str) -> Any:
        (way,) = re.findall(rf'href="([^"]+)"[^>]*>(?:<span[^>]*>)?{name}', page.content.decode())
        return client.get(way.replace("&amp;", "&"))

    page = client.get("/queue/?order=age")
    for name, one in (("Assigned to me", held[0]), ("Mentions me", held[1]), ("Snoozed", held[2])):
        page = led(page, name)  # from one to the next, too
        assert shown(page) == [one]
        assert shown(led(page, name)) == held[:2]


def test_a_filter_that_makes_no_sense_is_told(client: Any, kuro: Any) -> None:
    held = kuro.hold()
    page = client.get("/queue/?score_from=high&since=someday")
    assert shown(page) == [held]
    for said in (
        "Unknown lowest score “high”: filter ignored.",
        "Unknown first day “someday”: filter ignored.",
    ):
        assert said in page.content.decode()


def test_an_agent_is_named_by_its_name_within_the_persons_teams(client: Any, alice: Any, kuro: Any, other: Any) -> None:
    held = kuro.hold()
    page = client.get("/queue/?agent=kuro")
    assert (shown(page), f"agent={kuro.id}" in page.content.decode()) == ([held], True)
    assert "filter ignored" not in page.content.decode()
    assert "Unknown agent “other”: filter ignored." in client.get("/queue/?agent=other").content.decode()
    team = Team.objects.get(name="Borealis")
    Membership.objects.create(team=team, user=alice, role="reviewer")
    create_agent(team, "kuro", None, packs=())
    assert "Unknown agent “kuro”" in client.get("/queue/?agent=kuro").content.decode()


def test_times_are_grey_until_the_last_tenth_before_expiry(client: Any, kuro: Any) -> None:
    kuro.hold()

    def limits(ago: float, left: float) -> list[tuple[str, str]]:
        now = timezone.now() + timedelta(seconds=30)
        HeldItem.objects.update(held_at=now - timedelta(hours=ago), expires_at=now + timedelta(hours=left))
        page = client.get("/queue/").content.decode()
        found = re.findall(r'<time class="limit (\w+(?: late)?)"[^>]*>([^<]+)</time>', page)
        assert found[:2] == found[2:], "the item says the same as its row"
        return found[:2]

    assert limits(1, 20) == [("target", "due in 3 h"), ("expiry", "expires in 20 h")]
    assert limits(6, 5) == [("target", "1 h overdue"), ("expiry", "expires in 5 h")]
    assert limits(23, 2) == [("target", "18 h overdue"), ("expiry late", "expires in 2 h")]
    Team.objects.update(decide_within_minutes=24 * 60)
    assert limits(1, 20)[0] == ("target", "due in 23 h")


def test_an_owner_sets_the_target_for_deciding(as_person: Any, client: Any, olga: Any, aurora: Any) -> None:
    assert team_settings.save(client, aurora, hours="2").status_code == 403
    owner = as_person(olga)
    assert team_settings.save(owner, aurora, hours="0").status_code == 422
    team_settings.save(owner, aurora, hours="1.5")
    aurora.refresh_from_db()
    assert aurora.decide_within_minutes == 90
    assert 'value="1.5"' in owner.get("/team/").content.decode()
    event = AuditEvent.objects.get(action="decide-within-changed")
    assert (event.before, event.after) == ("240", "90")


def test_a_filter_is_folded_away_until_it_is_set(client: Any, kuro: Any) -> None:
    kuro.hold()

    def folded(query: str = "") -> list[str]:
        line, fields = client.get(f"/queue/{query}").content.decode().split('<div class="choices">')
        names = [re.findall(r'<select\s+name="(agent|kind|signal|by)"', part) for part in (line, fields)]
        assert sorted([*names[0], *names[1]]) == sorted({*names[0], *names[1]}), "each once"
        return names[1]

    assert folded() == ["agent", "kind", "signal"]
    assert folded("?kind=chat") == ["agent", "signal"]
    assert folded(f"?agent={kuro.id}&state=decided&by=agent") == ["kind", "signal"]


def test_filters_are_saved_as_a_view_for_a_person_or_a_team(
    client: Any, as_person: Any, bob: Any, victor: Any, mallory: Any, aurora: Any, kuro: Any
) -> None:
    ask(kuro, 1), call(kuro, amount=1)
    client.post("/queue/views/", {"name": " Calls ", "query": "?kind=tool_call&after=held_0"})
    client.post("/queue/views/", {"name": "Words", "query": "?kind=chat&order=age", "team": aurora.pk})
    own, ours = SavedView.objects.order_by("pk")
    assert (own.name, own.query, own.team) == ("Calls", {"kind": "tool_call"}, None)

    def tabs(person: Any, query: str = "") -> list[tuple[str, str]]:
        html = person.get(f"/queue/{query}").content.decode()
        nav = re.search(r'<nav class="views".*?</nav>', html, re.DOTALL)
        return re.findall(r'href="([^"]+)"[^>]*><span class="name">(\w+)', nav[0]) if nav else []

    assert tabs(client) == [("/queue/?kind=tool_call", "Calls"), ("/queue/?kind=chat&amp;order=age", "Words")]
    assert re.search(r'kind=tool_call" aria-current="true"', client.get("/queue/?kind=tool_call").content.decode())
    assert re.search(r'Calls</span>&nbsp;<span\s+class="n">1</span>', client.get("/queue/").content.decode())
    assert [name for _, name in tabs(as_person(bob))] == ["Words"]
    assert tabs(as_person(mallory)) == []
    assert as_person(bob).post(f"/queue/views/{own.pk}/delete").status_code == 404
    assert as_person(victor).post(f"/queue/views/{ours.pk}/delete").status_code == 403
    assert as_person(victor).post("/queue/views/", {"name": "x", "team": aurora.pk}).status_code == 403
    client.post("/queue/views/", {"name": "Calls", "query": ""})
    as_person(bob).post(f"/queue/views/{ours.pk}/rename", {"name": "Said"})
    assert [name for _, name in tabs(client)] == ["Calls", "Said"]
    client.post(f"/queue/views/{own.pk}/delete")
    client.post(f"/queue/views/{ours.pk}/delete")
    assert tabs(client) == []
    told = AuditEvent.objects.filter(action__startswith="view-").order_by("pk").values_list("action", "data")
    renamed = {"was": "Words", "name": "Said"}
    expected = [("view-saved", {}), ("view-renamed", renamed), ("view-deleted", {})]
    assert list(told) == expected, "what is a person's own is not the team's"


def test_my_day_counts_what_this_person_decided_today(
    client: Any, as_person: Any, bob: Any, alice: Any, kuro: Any, decide: Any
) -> None:
    held = [kuro.hold() for _ in range(6)]
    decide(client, held[0])
    decide(client, held[1], "reject", reason="x")
    decide(as_person(bob), held[2])
    decide(client, held[3])
    decide(client, held[5])
    Decision.objects.filter(held__public_id=held[5]).update(verdict="answer", shown_ms=9_000)
    Decision.objects.filter(held__public_id=held[0]).update(shown_ms=4_000)
    Decision.objects.filter(held__public_id=held[1]).update(shown_ms=8_000)
    Decision.objects.filter(held__public_id=held[3]).update(decided_at=timezone.now() - timedelta(days=1))
    HeldItem.objects.filter(public_id=held[4]).update(held_at=timezone.now() - timedelta(hours=5))
    page = client.get("/queue/my-day/").content.decode()
    assert re.findall(r"<b>([^<]+)</b>", page.split("<dl")[1]) == ["3", "1", "8.0 s"]
    assert "approved 1, edited 0, answered 1, rejected 1" in page
    assert "n = 3" in page
    assert "1 overdue, " in page


def test_the_export_holds_what_the_filters_match_with_secrets_masked(
    client: Any, as_person: Any, mallory: Any, kuro: Any, decide: Any
) -> None:
    orders = ask(kuro, 2)
    paid = call(kuro, amount=1, api_key="key-1")
    answer = client.get("/queue/export?format=jsonl")
    assert re.fullmatch(r'attachment; filename="queue-[\d-]+\.jsonl"', answer["Content-Disposition"])
    text = b"".join(answer.streaming_content).decode()
    rows = {row["id"]: row for row in map(json.loads, text.splitlines())}
    assert set(rows) == {*orders, paid}
    assert (rows[paid]["tool"], rows[paid]["score"]) == ("pay", None)
    assert rows[paid]["arguments"] == {"amount": 1, "api_key": "••••••••"}
    assert "key-1" not in text
    decide(client, orders[0], "reject", reason="=Says who?")
    sent = b"".join(client.get("/queue/export?format=csv&state=decided&kind=chat").streaming_content).decode(
        "utf-8-sig"
    )
    (row,) = csv.DictReader(io.StringIO(sent))
    assert (row["id"], row["state"], row["decision"]) == (orders[0], "rejected", "reject")
    assert row["reason"] == "'=Says who?", "no spreadsheet takes it for a formula"
    assert b"".join(as_person(mallory).get("/queue/export?format=jsonl").streaming_content) == b""
