"""The audit page: what it shows to whom, how it is narrowed, and the file that says the same."""

import csv
import io
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.accounts import agents, members
from metacog.audit import audit, chain, log, menu, words
from metacog.models import Agent, AuditEvent, User
from patterns.patterns import lifecycle
from reviews.held import decisions
from reviews.models import HeldItem
from tests.tables import table


@pytest.fixture
def page(alice: Any, as_person: Any) -> Any:
    client = as_person(alice)

    def read(**query: str) -> str:
        answer = client.get(reverse("audit"), {"actor": "all"} | query)
        assert answer.status_code == 200
        return answer.content.decode()

    return read


@pytest.fixture
def file(alice: Any, as_person: Any) -> Any:
    client = as_person(alice)

    def read(**query: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in client.get(reverse("audit-export"), query).getvalue().splitlines()]

    return read


def sentences(html: str) -> list[str]:
    found = re.findall(r'<td class="what">\s*<p>(.*?)</p>', html, re.DOTALL)
    return [re.sub(r"<[^>]+>", "", text) for text in found]


def dated(team: Any, *days: int) -> None:
    for day in days:
        at = datetime(2026, 2, day, 23, 30, tzinfo=UTC)
        AuditEvent.objects.create(at=at, team=team, actor_kind="system", action="dated", object_id=str(day))


def ids(html: str) -> list[str]:
    return re.findall(r'<td class="id">.*?<code>(.*?)</code>', html, re.DOTALL)


def test_it_tells_what_happened_in_plain_words(page: Any, kuro: Any, alice: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    decisions.decide(held, alice, "reject", reason="x")
    told = sentences(page())
    assert told[:3] == [
        "Alice rejected a CHAT of kuro",
        "A CHAT of kuro was held, score 50 (Absolute claim, Error pattern)",
        "kuro posted a response, score 50 (Absolute claim, Error pattern)",
    ]


def test_an_agents_second_look_is_told_as_its_own(page: Any, kuro: Any) -> None:
    held = kuro.hold()
    kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "x"})
    assert sentences(page())[:2] == ["A decision was released to kuro", "kuro withdrew its own CHAT"]


def test_one_is_not_told_as_many_and_what_is_not_known_is_left_open(kuro: Any, aurora: Any) -> None:
    agent = Agent.objects.get()
    told = [
        words.tell(audit.event("meta:reflection", "x", actor=None, team=aurora, agent=agent, **data))
        for data in (dict[str, Any](responses=1), {"responses": 2}, {})
    ]
    assert [each.split("reflected on ")[1] for each in told] == [
        "1 response of kuro", "2 responses of kuro", "… responses of kuro"
    ]  # fmt: skip


def test_every_action_has_a_sentence(kuro: Any, alice: Any, aurora: Any) -> None:
    agent = Agent.objects.get()
    for action in words.ACTIONS:
        for actor in (alice, agent, None):
            told = words.tell(audit.event(action, "x", actor=actor, team=aurora, agent=agent))
            assert "%" not in told
            assert action not in told, "in words, not in its name"


def test_an_action_of_a_later_release_is_told_by_its_name(page: Any, aurora: Any) -> None:
    audit.record("moon-landed", "x", actor=None, team=aurora)
    assert sentences(page())[0] == "metacog: moon-landed"


def test_it_links_to_what_an_event_is_about(page: Any, kuro: Any) -> None:
    held = kuro.hold()
    html = page()
    response = HeldItem.objects.get(public_id=held).response.public_id
    for name, argument in (("item", held), ("response", response), ("agent", kuro.id)):
        assert f'href="{reverse(name, args=[argument])}"' in html


def test_it_links_to_the_tab_on_which_a_setting_stands(page: Any, aurora: Any, olga: Any) -> None:
    at = {
        "people": ("role-changed", "group-added", "second-factor-required", "member-added"),
        "deciding": ("decide-within-changed",),
        "notices": ("team-notices-changed", "channel-changed", "chat-changed"),
        "data": ("retention-changed", "names-people-on"),
    }
    for tab, actions in at.items():
        for action in actions:
            audit.record(action, f"{tab}-{action}", actor=olga, team=aurora)
    audit.record("asking-changed", "asking", actor=olga, team=aurora)
    html = page()
    for tab, actions in at.items():
        for action in actions:
            there = f'href="/team/?team={aurora.pk}&amp;tab={tab}"><code>{tab}-{action}<'
            assert there in html
    assert f'href="{reverse("asking", args=[aurora.pk])}"><code>asking<' in html


def test_what_agents_and_people_are_called_is_only_text(page: Any, aurora: Any, olga: Any) -> None:
    agent, _, _ = agents.create_agent(aurora, "<b>&", olga)
    html = page(object=agent.public_id)
    assert "<b>&" not in html
    assert "Olga added the agent &lt;b&gt;&amp;" in html


def test_it_can_be_narrowed(page: Any, file: Any, kuro: Any, alice: Any, aurora: Any, olga: Any) -> None:
    kaze, _, _ = agents.create_agent(aurora, "kaze", olga)
    held = kuro.hold()
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    assert set(ids(page(agent=kaze.public_id))) == {kaze.public_id}
    assert ids(page(action="chat-held")) == [held]
    assert ids(page(object=held)) == [held, held]
    assert sentences(page(actor="person", object=held)) == ["Alice approved a CHAT of kuro"]
    assert ids(page(agent=kaze.public_id, action="chat-held")) == []
    assert "No events match these filters" in page(action="task-held")
    assert [line["object"] for line in file(object=held)] == [held, held]
    # Several at once narrow further, whichever of them the index is read by.
    for asked, count in (
        ({"object": held, "action": "chat-held"}, 1),
        ({"object": held, "action": "chat-held", "actor": "person"}, 0),
        ({"object": held, "agent": kuro.id}, 2),
        ({"object": held, "agent": kaze.public_id}, 0),
        ({"agent": kuro.id, "action": "held"}, 1),
        ({"agent": kuro.id, "actor": "person"}, 1),
        ({"person": "alice", "agent": kuro.id, "object": held}, 1),
        ({"person": "olga", "object": held}, 0),
        ({"person": "olga", "object": held, "since": "2026-01-01"}, 0),
        ({"actor": "agent", "action": "chat-held", "since": "2026-01-01"}, 1),
        ({"actor": "system", "action": "chat-held"}, 0),
    ):
        assert len(file(**asked)) == count, asked


def test_the_file_has_every_script_as_it_is_and_by_which_request_it_came(alice: Any, as_person: Any, kuro: Any) -> None:
    held = kuro.hold()
    Agent.objects.update(name="黒")
    kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "x"}, **{"x-request-id": "trace-7"})
    text = as_person(alice).get(reverse("audit-export"), {"action": "withdrawn"}).getvalue().decode()
    assert '"actor": "黒"' in text
    assert json.loads(text)["request_id"] == "trace-7"


def test_days_are_those_of_the_person(page: Any, file: Any, alice: Any, aurora: Any) -> None:
    dated(aurora, 1, 4, 3, 2)  # ids that do not follow the time
    assert ids(page(action="dated", since="2026-02-02", until="2026-02-03")) == ["3", "2"]
    User.objects.update(time_zone="Asia/Taipei")  # there it was the next morning
    assert ids(page(action="dated", since="2026-02-03", until="2026-02-03")) == ["2"]
    assert [line["object"] for line in file(action="dated", since="2026-02-04")] == ["3", "4"]
    assert "Feb 3, 2026 <b>07:30:00</b>" in page(action="dated", until="2026-02-03")
    turned = page(action="dated", since="2026-02-04", until="2026-02-03")
    assert "The first day is after the last: filter ignored." in turned
    assert len(ids(turned)) == 4


@table(
    "query",
    [
        {"since": "yesterday"},
        {"since": "0001-01-01"},
        {"until": "9999-12-31"},
        {"since": "2026-02-04", "until": "2026-02-03"},
        {"actor": "nobody"},
        {"agent": "agt_nobody"},
        {"object": "x" * 61},
        {"before": "x"},
        {"before": "9" * 17 + "-1"},
        {"before": "0-" + "9" * 18},
    ],
    rolled_back=True,
)
def test_an_address_that_makes_no_sense_shows_a_page_and_gives_no_file(
    page: Any, kuro: Any, alice: Any, as_person: Any, query: dict[str, str]
) -> None:
    User.objects.update(time_zone="Pacific/Kiritimati")
    page(**query)
    is_readable = "before" in query or query == {"since": "0001-01-01"}
    assert as_person(alice).get(reverse("audit-export"), query).status_code == (200 if is_readable else 404)


@table(
    ("query", "at_once"),
    [({}, 100), ({"kind": "chat"}, 100), ({"kind": "chat"}, 1)],  # of one part, of several, of many
    rolled_back=True,
)
def test_pages_follow_each_other_without_gap_or_repetition_and_the_file_has_the_same(
    page: Any, file: Any, aurora: Any, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], at_once: int
) -> None:
    monkeypatch.setattr(log, "AT_ONCE", at_once)
    monkeypatch.setattr(log, "LINES_READ", 4)
    at = datetime(2026, 2, 1, tzinfo=UTC)
    AuditEvent.objects.bulk_create(
        # Several at one moment, and ids that do not follow the time.
        AuditEvent(
            at=at - timedelta(seconds=n // 7),
            team=aurora,
            actor_kind="system",
            action=("chat-held", "chat-approved", "chat-rejected")[n % 3],
            object_id=str(n),
        )
        for n in range(150)
    )
    seen: list[str] = []
    before: dict[str, str] = {}
    for is_last in (False, False, True):
        html = page(**query, **before)
        seen += ids(html)
        ways = re.findall(r'href="/audit/[^"]*before=([0-9-]+)', html)
        assert (len(ids(html)), not ways) == (50, is_last)
        before = {"before": ways[0]} if ways else {}
    assert seen == sorted(map(str, range(150)), key=lambda n: (int(n) // 7, -int(n)))
    assert [line["object"] for line in file(**query)] == seen[::-1]


def test_it_says_how_far_the_record_is_sealed(page: Any, aurora: Any) -> None:
    dated(aurora, 1)
    html = page()
    assert "Nothing is sealed yet." in html
    assert "not sealed yet</span>" in html
    chain.seal()
    html = page()
    assert "Sealed up to" in html
    assert "under seal 1" in html
    assert "not sealed yet</span>" not in html
    dated(aurora, 2)
    html = page(action="dated")
    assert (html.count("under seal 1"), html.count("not sealed yet<")) == (1, 1)


def test_a_stranger_sees_nothing_of_it(mallory: Any, kuro: Any, other: Any, as_person: Any) -> None:
    held = kuro.hold()
    client = as_person(mallory)
    html = client.get(reverse("audit")).content.decode()
    assert held not in html
    assert "kuro" not in html
    for query in ({"object": held}, {"agent": kuro.id}, {"action": "chat-held"}):
        assert ids(client.get(reverse("audit"), query).content.decode()) in ([], [other.id] * 2)
    exported = client.get(reverse("audit-export")).getvalue().decode()
    assert {json.loads(line)["team"] for line in exported.splitlines()} == {"Borealis"}


def test_what_belongs_to_no_team_is_for_superusers(
    page: Any, file: Any, aurora: Any, borealis: Any, as_person: Any
) -> None:
    audit.record("owner-created", "root", actor=None, team=None)
    dated(borealis, 1)
    dated(aurora, 2)
    assert ids(page()) == ["2"]
    assert [line["object"] for line in file()] == ["2"]
    root = User.objects.create_superuser("root", password="root-password")
    html = as_person(root).get(reverse("audit"), {"actor": "all"}).content.decode()
    assert ids(html) == ["root", "2", "1"]
    assert "Borealis" in html
    assert len(as_person(root).get(reverse("audit-export")).getvalue().splitlines()) == 3


def test_somebody_in_two_teams_sees_both(page: Any, aurora: Any, borealis: Any, alice: Any) -> None:
    dated(aurora, 1, 3)
    dated(borealis, 2)
    members.add_member(borealis, "alice", "viewer", None)
    html = page(action="dated")
    assert ids(html) == ["3", "2", "1"]
    assert "Borealis" in html


@table("name", ["audit", "audit-export"], rolled_back=True)
def test_it_asks_to_sign_in(client: Any, db: None, name: str) -> None:
    answer = client.get(reverse(name))
    assert answer.status_code == 302
    assert answer.url.startswith(reverse("sign-in"))


@table("name", ["audit", "audit-export"], rolled_back=True)
def test_it_only_reads(alice: Any, as_person: Any, name: str) -> None:
    assert as_person(alice).post(reverse(name)).status_code == 405


def test_the_file_is_a_download_that_nobody_keeps(alice: Any, as_person: Any) -> None:
    answer = as_person(alice).get(reverse("audit-export"))
    assert answer["Content-Type"] == "application/jsonl; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="audit-\d{4}-\d\d-\d\d\.jsonl"', answer["Content-Disposition"])
    assert answer["Cache-Control"] == "private, no-store"


def test_a_full_page_takes_as_many_queries_as_an_empty_one(alice: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(alice)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(reverse("audit"))
        return len(captured)

    empty = queries()
    for n in range(60):
        agent = Agent.objects.create(team=aurora, name=str(n))
        audit.record("agent-created", agent.public_id, actor=alice, team=aurora, agent=agent)
    chain.seal()
    assert queries() == empty <= 10


def test_people_come_first_and_the_rest_is_one_click_away(alice: Any, bob: Any, as_person: Any, kuro: Any) -> None:
    held = kuro.hold()
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    client = as_person(alice)
    html = client.get(reverse("audit")).content.decode()
    assert sentences(html) == ["Alice approved a CHAT of kuro"]
    assert 'href="?actor=all"' in html
    assert len(sentences(client.get(reverse("audit"), {"actor": "all"}).content.decode())) > 3
    for query in ({"object": held}, {"action": "chat-held"}):  # one thing's history, and what only machines do
        assert "A CHAT of kuro was held" in client.get(reverse("audit"), query).content.decode()
    decided = client.get(reverse("audit"), {"person": "alice", "actor": "system"}).content.decode()
    assert sentences(decided) == ["Alice approved a CHAT of kuro"]
    assert sentences(client.get(reverse("audit"), {"person": "bob"}).content.decode()) == []
    assert "Unknown person" in client.get(reverse("audit"), {"person": "nobody"}).content.decode()
    (line,) = csv.DictReader(io.StringIO(client.get("/audit/export.csv", {"person": "alice"}).getvalue().decode()))
    assert (line["told"], line["actor"], line["object"]) == ("alice approved a CHAT of kuro", "alice", held)
    assert client.get("/audit/export.csv", {"person": "nobody"}).status_code == 404


def test_the_menus_reach_every_action_and_no_item_twice() -> None:
    offered = {value for _, group in menu.choices() for value, _ in (group if isinstance(group, list) else [])}
    reached = {action for done in offered for kind, _ in menu.kinds() for action in menu.actions(done, kind)}
    assert set(words.ACTIONS) <= reached
    assert {*words.OWN} - {*words.OF_ITEMS} <= offered
    assert len(offered) < 220
    assert not [action for action in words.ACTIONS if menu.name_of(action) == action]


def test_any_decision_and_one_of_any_kind_are_asked_for_at_once(page: Any, kuro: Any, alice: Any) -> None:
    chat, task = kuro.hold(), kuro.hold("task")
    decisions.decide(HeldItem.objects.get(public_id=chat), alice, "approve")
    decisions.decide(HeldItem.objects.get(public_id=task), alice, "reject", reason="x")
    assert ids(page(action="decision")) == [task, chat]
    assert ids(page(action="approved")) == [chat]
    assert ids(page(action="decision", kind="task")) == [task]
    assert ids(page(kind="task")) == [task, task]
    assert ids(page(action="key-issued", kind="task")) == []
    html = page(action="chat-approved")  # one event's own action is both menus' choice
    assert ids(html) == [chat]
    assert '<option value="approved" selected>' in html
    assert '<option value="chat" selected>' in html
    assert re.findall('<optgroup label="(.*?)">', html)[:3] == [
        "Decisions", "Comments and assignments", "Team and members"
    ]  # fmt: skip
    assert "<dd>CHAT · Approved <code" in html


def test_of_more_actions_than_are_asked_for_apart_the_same_is_found(
    page: Any, kuro: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = kuro.hold()
    kuro.hold("task")
    decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")
    for most in (log.MOST_PARTS, 0):
        monkeypatch.setattr(log, "MOST_PARTS", most)
        assert ids(page(kind="chat")) == [held, held]
        assert ids(page(kind="chat", action="approved")) == [held]


def test_a_pattern_is_linked_by_its_public_id(page: Any, aurora: Any, olga: Any) -> None:
    pattern = lifecycle.add(aurora, olga, keywords=["blamed"], description="blamed the cache", source="external")
    address = reverse("pattern-by-id", args=[aurora.pk, pattern.public_id])
    assert f'href="{address}"' in page()
