"""Every address about people and agents, for each kind of person: 404 for a stranger, 403 for a role too low."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from metacog.accounts import tokens
from metacog.models import Agent, AgentKey, AuditEvent, Membership
from tests.tables import table

AGENT, TEAM, MEMBER, TOKEN, MEMBER_TOKEN = "agent", "team", "member", "token", "member's token"
# name, method, what its argument is, data, then the status for a stranger, viewer, reviewer, curator, owner
TABLE: list[tuple[str, str, str, dict[str, str], int, int, int, int, int]] = [
    ("agents", "get", "", {}, 200, 200, 200, 200, 200),
    ("agent-new", "get", "", {}, 200, 403, 403, 403, 200),
    ("agent", "get", AGENT, {}, 404, 200, 200, 200, 200),
    ("agent", "post", AGENT, {"name": "kuro", "language": "en"}, 404, 403, 403, 403, 302),
    ("agent-rotate", "post", AGENT, {}, 404, 403, 403, 403, 200),
    ("agent-revoke", "post", AGENT, {"reason": "leaked"}, 404, 403, 403, 403, 302),
    ("agent-switch", "post", AGENT, {"field": "enabled", "on": "1"}, 404, 403, 403, 403, 302),
    ("team", "get", "", {}, 200, 200, 200, 200, 200),
    ("member-add", "post", TEAM, {"username": "nina", "role": "viewer"}, 404, 403, 403, 403, 200),
    ("team-settings", "post", TEAM, {"hours": "2", "chat-minutes": "9", "chat-language": "en", "mail_links": "on"},
     404, 403, 403, 403, 422),  # a chat without an address
    ("team-settings", "post", TEAM, {"hours": "2", "chat-minutes": "15", "chat-language": "en", "names_people": "on"},
     404, 403, 403, 403, 302),
    ("member-token-revoke", "get", MEMBER_TOKEN, {}, 404, 403, 403, 403, 200),
    ("member-token-revoke", "post", MEMBER_TOKEN, {"reason": "leaked"}, 404, 403, 403, 403, 302),
    ("channel-test", "post", TEAM, {}, 404, 403, 403, 403, 404),
    ("channel-remove", "post", TEAM, {}, 404, 403, 403, 403, 302),
    ("policy", "get", AGENT, {}, 404, 200, 200, 200, 200),
    ("agent-context", "get", AGENT, {}, 404, 200, 200, 200, 200),
    ("member-remove", "post", MEMBER, {"reason": "left"}, 404, 403, 403, 403, 302),
    ("member-link", "post", MEMBER, {}, 404, 403, 403, 403, 200),
    ("threads", "get", "", {}, 200, 200, 200, 200, 200),
    ("thread-new", "post", AGENT, {"title": "Emergence"}, 404, 403, 403, 302, 302),
    ("lessons", "get", "", {}, 200, 200, 200, 200, 200),
    ("lesson-new", "post", "", {"whose": "", "text": "x"}, 422, 403, 403, 422, 422),
    ("reflections", "get", "", {}, 200, 200, 200, 200, 200),
    ("research-list", "get", "", {}, 200, 200, 200, 200, 200),
    ("reflect-now", "post", AGENT, {}, 404, 403, 403, 302, 302),
    ("agent-handcard", "post", AGENT, {"handcard": "Enough is enough."}, 404, 403, 403, 302, 302),
    ("extensions", "get", "", {}, 200, 200, 200, 200, 200),
    ("memories", "get", "", {}, 200, 200, 200, 200, 200),
    ("patterns", "get", "", {}, 200, 200, 200, 200, 200),
    ("review-time", "get", "", {}, 200, 200, 200, 200, 200),
    ("pattern-new", "get", "", {}, 200, 403, 403, 200, 200),
    ("search", "get", "", {"q": "clearly"}, 200, 200, 200, 200, 200),
    ("preferences", "get", "", {}, 200, 200, 200, 200, 200),
    ("notices-change", "post", "", {"told-when": "never", "told-minutes": "9", "told-hour": "8"},
     302, 302, 302, 302, 302),
    ("notices-test", "post", "", {}, 404, 404, 404, 404, 404),
    ("token-new", "post", "", {"token-name": "x", "token-scopes": "read", "token-days": "7"}, 200, 200, 200, 200, 200),
    ("member-token-restore", "post", MEMBER_TOKEN, {}, 404, 403, 403, 403, 302),
    ("token-revoke", "post", TOKEN, {}, 404, 404, 404, 404, 404),
    ("token-restore", "post", TOKEN, {}, 404, 404, 404, 404, 404),
]  # fmt: skip
PEOPLE = ["mallory", "victor", "alice", "carla", "olga"]


@pytest.fixture
def arguments(aurora: Any, kuro: Any, bob: Any) -> dict[str, list[Any]]:
    member = Membership.objects.get(user=bob)
    token, _text = tokens.issue(bob, name="script", scopes=["read"], days=7)
    own = {"": [], AGENT: [kuro.id], TEAM: [aurora.pk], MEMBER: [member.pk], TOKEN: [token.pk]}
    return own | {MEMBER_TOKEN: [aurora.pk, token.pk]}


@pytest.fixture
def people(mallory: Any, victor: Any, alice: Any, carla: Any, olga: Any) -> dict[str, Any]:
    return dict(zip(PEOPLE, (mallory, victor, alice, carla, olga), strict=True))


@pytest.fixture
def sessions(people: dict[str, Any], as_person: Any) -> dict[str, str]:
    return {name: as_person(person).cookies["sessionid"].value for name, person in people.items()}


@table("person", PEOPLE)
@table("row", TABLE, rolled_back=True)
def test_it_answers_each_as_their_role_allows(sessions: dict[str, str], arguments: Any, row: Any, person: str) -> None:
    name, method, argument, data, *statuses = row
    client = Client()
    client.cookies["sessionid"] = sessions[person]
    events = AuditEvent.objects.count()
    answer = getattr(client, method)(reverse(name, args=arguments[argument]), data)
    wanted = statuses[PEOPLE.index(person)]
    assert answer.status_code == wanted
    if wanted in (403, 404):
        assert AuditEvent.objects.count() == events
        assert Membership.objects.filter(user__username="bob", role="reviewer").exists()
        assert AgentKey.objects.count() == 1
        assert "kuro" not in answer.content.decode()


@table("row", TABLE)
def test_it_asks_everybody_else_to_sign_in(arguments: Any, row: Any) -> None:
    name, method, argument, data, *_ = row
    answer = getattr(Client(), method)(reverse(name, args=arguments[argument]), data)
    assert answer.status_code == 302
    assert answer.url.startswith("/sign-in/?next=")


# "agent" is a page as well; the others lead back to the page that has their form.
PAGES = ("agent", "lesson-new", "thread-new", "member-token-revoke", "token-revoke")


@table("row", [row for row in TABLE if row[1] == "post" and row[0] not in PAGES])
def test_getting_changes_nothing(olga: Any, as_person: Any, arguments: Any, row: Any) -> None:
    assert as_person(olga).get(reverse(row[0], args=arguments[row[2]])).status_code == 405


def test_a_stranger_finds_nothing_of_a_team_anywhere(mallory: Any, other: Any, kuro: Any, as_person: Any) -> None:
    client = as_person(mallory)
    for path in (reverse("agents"), reverse("team")):
        page = client.get(path).content.decode()
        assert "Aurora" not in page
        assert "kuro" not in page
    assert client.get(reverse("team"), {"team": Agent.objects.get(name="kuro").team_id}).status_code == 404
    assert client.get(reverse("team"), {"team": "x'"}).status_code == 404
