"""What all lists share: unknown filters are told, agents of one name told apart, and excerpts quote what is said."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import strip_tags

from metacog.accounts.agents import create_agent
from metacog.models import Agent, AuditEvent, Membership, User
from metacog.pages.unknown_filters import NAMES
from patterns.models import Lesson
from reviews.models import AgentResponse, Decision, HeldItem
from tests.conftest import Caller
from tests.metacog.accounts.test_other_teams import fill
from tests.tables import table
from tests.test_every_page import ROWS


def page_of(client: Any, path: str) -> str:
    answer = client.get(path, follow=True)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


@pytest.fixture
def client(as_person: Any, olga: Any) -> Any:
    return as_person(olga)


@table(
    ("path", "said"),
    [
        ("/queue/?kind=bogus", "Unknown kind “bogus”: filter ignored. Known: chat, remember, task, tool_call, "),
        ("/queue/?state=bogus", "Unknown state “bogus”: filter ignored. Known: held, decided."),
        ("/queue/?order=bogus", "Unknown order “bogus”: order ignored. Known: risk, age."),
        ("/queue/?signal=bogus", "Unknown signal “bogus”: filter ignored. Known: absolute-claim, error-pattern"),
        ("/queue/?agent=bogus", "Unknown agent “bogus”: filter ignored.<"),
        ("/queue/?state=decided&by=bogus", "Unknown decider “bogus”: filter ignored. Known: person, agent, "),
        ("/responses/?show=bogus", "Unknown selection “bogus”: filter ignored. Known: triggered, held, flagged, "),
        ("/responses/?agent=bogus", "Unknown agent “bogus”: filter ignored.<"),
        ("/deliveries/?state=bogus", "Unknown state “bogus”: filter ignored. Known: "),
        ("/deliveries/?agent=bogus", "Unknown agent “bogus”: filter ignored.<"),
        ("/statistics/?days=8", "Unknown number of days “8”: filter ignored. Known: 7, 30, 90."),
        ("/statistics/review-time/?days=8", "Unknown number of days “8”: filter ignored. Known: 7, 30, 90."),
        ("/patterns/?state=bogus", "Unknown state “bogus”: filter ignored. Known: proposed, shadow, active, "),
        ("/queue/?snoozed=bogus", "Unknown snooze filter “bogus”: filter ignored. Known: 1."),
        ("/queue/?assigned=bogus", "Unknown assignee “bogus”: filter ignored."),
        ("/queue/?mentions=bogus", "Unknown mentioned person “bogus”: filter ignored."),
        ("/audit/?actor=bogus", "Unknown actor “bogus”: filter ignored. Known: person, agent, system, all."),
        ("/audit/?action=bogus", "Unknown action “bogus”: filter ignored.<"),
        ("/log-imports/?state=bogus", "Unknown filter “state”: filter ignored."),
        ("/agents/?to=bogus", "Unknown page “bogus”: filter ignored. Known: queue, responses, "),
        (f"/queue/?kind={'<b>' * 20}", f"Unknown kind “{'<b>' * 13}<…”: filter ignored."),
    ],
)
def test_a_filter_that_is_not_known_is_told_and_filters_nothing(client: Any, held: str, path: str, said: str) -> None:
    page = page_of(client, path)
    assert said in page
    assert page.count('class="messages unknown"') == 1
    if path.startswith(("/queue/", "/responses/")) and "decided" not in path:
        assert re.search(r'href="/(queue|responses)/(held|resp)_', page)


def test_an_agent_of_another_team_is_not_known(client: Any, held: str, other: Any) -> None:
    for path in ("/queue/", "/responses/", "/deliveries/"):
        assert f"Unknown agent “{other.id}”: filter ignored.<" in page_of(client, f"{path}?agent={other.id}")


@table(
    "path",
    [
        *("/queue/?kind=chat&state=held&order=age&signal=no-source", "/queue/?state=decided&by=person"),
        *("/queue/?agent={}", "/queue/?state=decided&by=17"),
        *("/queue/?snoozed=1&assigned=17&mentions=17", "/audit/?actor=all&action=held"),
        *("/responses/?show=held&agent={}", "/deliveries/?state=&agent={}"),
        *("/statistics/?days=7", "/patterns/?state=retired", "/agents/?to=queue"),
    ],
)  # fmt: skip
def test_a_filter_that_is_known_is_not(client: Any, kuro: Any, path: str) -> None:
    # Nor is anything told where there is none: test_no_list_passes_over_a_filter_that_it_does_not_know.
    assert 'class="messages unknown"' not in page_of(client, path.format(kuro.id))


# Pages without a row in their address that are no list.
NO_LISTS = {
    *("home", "healthz", "readyz", "metrics", "sign-in", "sign-out", "preferences", "team", "agent-new"),
    *("queue-changes", "together", "decide-together", "memory-new", "lesson-new", "lessons-many", "pattern-new"),
    *("patterns-decide", "patterns-apart", "my-day", "view-save", "notices-change", "notices-test", "token-new"),
    *("patterns-merge", "palette", "set-theme", "set_language", "worker", "worker-state"),
    *("manifest", "offline", "service-worker", "device-add", "push-change", "weekly-report-send"),
}
FILES = {
    *("statistics-csv", "audit-export", "queue-export"),
    *("responses-export", "search-export", "patterns-export", "threads-export", "lessons-export"),
}
OTHER_FILES = (
    *("/statistics/risk.csv", "/statistics/data/all.json", "/statistics/review-time.json"),
    *("/spot-checks.csv", "/corrections.json", "/audit/export.csv"),
)
SIGN_IN = ("account_", "mfa_", "socialaccount_", "security", "sessions-")  # django-allauth's, and what leads there
LISTS = sorted(
    pattern.name
    for pattern in get_resolver().url_patterns
    if isinstance(pattern, URLPattern) and pattern.name and not pattern.pattern.converters
    if pattern.name not in NO_LISTS | FILES and not pattern.name.startswith(SIGN_IN)
)


@pytest.fixture
def held(kuro: Caller) -> str:
    return kuro.hold()


@table("page", LISTS)
def test_no_list_passes_over_a_filter_that_it_does_not_know(client: Any, held: str, page: str) -> None:
    shown = page_of(client, f"{reverse(page)}?{'=bogus&'.join(NAMES)}=bogus")
    for name, called in NAMES.items():
        told = [f"Unknown filter “{name}”: filter", f"Unknown {called} “bogus”: ", "bogus is not one of the"]
        assert any(each in shown for each in told), name
    assert "messages unknown" not in page_of(client, f"{reverse(page)}?{'=&'.join(NAMES)}=")


@table("address", [*map(reverse, sorted(FILES)), *OTHER_FILES])
@table("query", ["agent=bogus", "kind=bogus", "days=8", "action=bogus", "since=bogus"])
def test_no_file_is_given_for_a_filter_that_is_not_known(client: Any, kuro: Any, address: str, query: str) -> None:
    if address.startswith(("/audit/", "/statistics/data", "/statistics/rev", "/statistics.")) or query != "since=bogus":
        assert client.get(f"{address}?{query}").status_code == 404


@table("address", [*map(reverse, sorted(FILES)), *OTHER_FILES])
def test_each_file_is_given_without_one(client: Any, kuro: Any, address: str) -> None:
    assert client.get(address).status_code == 200


def test_the_audit_page_knows_what_was_recorded_and_offers_the_file_of_what_it_shows(client: Any, kuro: Any) -> None:
    kuro.hold()
    AuditEvent.objects.create(team=Agent.objects.get().team, actor_kind="system", action="bespoke")
    assert "messages unknown" not in page_of(client, "/audit/?action=bespoke")
    page = page_of(client, "/audit/?action=bogus&actor=agent&kind=x")
    assert "Unknown action “bogus”: filter ignored.<" in page
    assert 'href="/audit/export?actor=agent"' in page
    assert 'href="/audit/export.csv?actor=agent"' in page
    assert "A CHAT of kuro was held" in page


def test_it_is_told_beside_an_item_too(client: Any, kuro: Any) -> None:
    assert "Unknown kind “bogus”" in page_of(client, f"/queue/{kuro.hold()}/?kind=bogus")


@pytest.fixture
def namesake(borealis: Any) -> Caller:
    agent, key, secret = create_agent(borealis, "kuro", None)
    return Caller(agent.public_id, key, secret)


@table("path", ["/reflections/", "/lessons/", "/threads/", "/research/"], rolled_back=True)
def test_agents_of_one_name_are_told_apart_by_their_team(
    client: Any, kuro: Any, namesake: Caller, olga: Any, borealis: Any, path: str
) -> None:
    for agent in Agent.objects.all():
        for state in ("proposed", "active", "retired"):
            Lesson.objects.create(team=agent.team, agent=agent, state=state, text=f"Ask {state}", evidence={"count": 1})
    assert "kuro · Aurora" not in page_of(client, path)
    Membership.objects.create(user=olga, team=borealis, role="owner")
    page = page_of(client, path)
    assert re.findall(r'<a class="pill" href="\?agent=[^>]*>kuro · (\w+)', page) == ["Aurora", "Borealis"]
    if path == "/lessons/":
        assert len(re.findall("kuro · Borealis", page)) == 5  # to choose, of each state, and to write one for
        assert not re.search(r">\s*kuro\s*<", page)


def test_excerpts_quote_what_is_said_and_the_page_of_a_response_shows_it_as_sent(client: Any, kuro: Any) -> None:
    cause = "The cause is clearly the cache."
    sent = (
        f'<kuro:chat mood="calm"><kuro:ask>Why?</kuro:ask> {cause}</kuro:chat> <kuro:ask to="all">So it is.</kuro:ask>'
    )
    verdict = kuro.respond(sent, items=None)
    assert verdict["items"][0]["held"]
    for path in ("/responses/", "/search/?q=cause", "/queue/"):
        page = re.sub("</?mark>", "", page_of(client, path)).partition('<div class="desk"')[0]
        assert f"Why? {cause}" in page
        assert "kuro:" not in page
    whole = page_of(client, f"/responses/{verdict['id']}/")
    assert '<kuro:chat mood="calm">' in whole
    assert "</kuro:ask>" in whole


def test_excerpts_of_before_are_quoted_so_too_where_patterns_and_lessons_point_at_responses(
    client: Any, kuro: Any
) -> None:
    verdict = kuro.respond("It never rains.")
    AgentResponse.objects.update(excerpt='<kuro:chat>It never rains.</kuro:chat> <kuro:remember topic="we…')
    agent = Agent.objects.get()
    lesson = Lesson.objects.create(
        team=agent.team, agent=agent, state="active", text="Look.", evidence={"count": 1, "responses": [verdict["id"]]}
    )
    for path in ("/responses/", f"/lessons/{lesson.public_id}/"):
        page = page_of(client, path)
        assert "It never rains." in page
        assert "kuro:" not in page


# Pages of one row, by what their address takes.
OF_ROWS = {
    "agent": "agent_id", "agent-context": "agent_id", "policy": "agent_id", "item": "held_id",
    "response": "response_id", "problem": "problem_id", "extension": "extension_id", "thread": "thread_id",
    "memory": "memory_id", "lesson": "lesson_id", "research": "research_id", "reflection": "reflection_id",
    "pattern": "pattern_id",
}  # fmt: skip
ASKED = ["/search/?q=waits", "/search/?q=clearly", "/memory/?q=home", "/queue/?kind=remember&agent={}"]


@pytest.fixture
def namesakes(kuro: Any, namesake: Caller, olga: User, borealis: Any, settings: Any) -> Any:
    """Let two agents of one name have one of everything, each in a team of its own, and olga own both teams."""
    settings.SEARXNG_URL = ""
    for caller in (kuro, namesake):
        fill(caller, olga, caller.id)
        for number in range(9):
            caller.respond(f"It waits, {number}.", items=[])
    Agent.objects.update(name="kuro")
    Membership.objects.create(user=olga, team=borealis, role="owner")
    return kuro


@table("page", [*(name for name in LISTS if name != "audit"), *ASKED, *OF_ROWS])  # the audit log has a column for it
def test_no_page_names_one_of_two_namesakes_without_its_team(client: Any, namesakes: Any, page: str) -> None:
    if page in OF_ROWS:
        addresses = [reverse(page, args=[row]) for row in ROWS[OF_ROWS[page]]()]
        assert len(addresses) > 1
    else:
        addresses = [page.format(namesakes.id) if page in ASKED else reverse(page)]
    for address in addresses:
        shown = page_of(client, address)
        said = " ".join(strip_tags(shown.partition("<main")[2]).split())
        assert not re.findall(r"\bkuro\b(?! (?:· )?(?:Aurora|Borealis)).{0,100}", said), address
        title = shown.partition("<title>")[2].partition("</title>")[0]
        assert "kuro" not in title or "kuro · " in title


def test_a_list_of_many_days_gives_dates(client: Any, kuro: Any, decide: Any) -> None:
    days, today = (400, 3, 0), timezone.now()
    held = [kuro.hold() for _ in days]
    for day, each in zip(days, held, strict=True):
        at = today - timedelta(days=day)
        HeldItem.objects.filter(public_id=each).update(held_at=at, expires_at=today + timedelta(days=2))
        AgentResponse.objects.filter(held_items__public_id=each).update(received_at=at)
    before, lately = (today - timedelta(days=day) for day in days[:2])
    dates = [f"{lately:%b} {lately.day}" if lately.year == today.year else date_format(lately), date_format(before)]

    def told(path: str, before: str = "") -> list[str]:
        return re.findall(before + r'<time class="dated"[^>]*>(.*?)</time>', page_of(client, path))

    assert told("/responses/") == dates
    assert told("/queue/?order=age", '"limits">held ') == dates[::-1]
    for each in held:
        decide(client, each)
    Decision.objects.filter(held__public_id=held[1]).update(decided_at=lately)
    assert told("/queue/?state=decided", "approved by you, ") == dates[:1]
