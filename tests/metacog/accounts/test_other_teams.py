"""Two teams with the same in each: on no page, in no answer and in no write of one does anything of the other show."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import members
from metacog.accounts.retention import set_retention
from metacog.models import Agent, Channel, Team, User
from metacog.notices import notices
from patterns.lessons import lessons
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread
from patterns.threads import threads
from reviews.held import saved_views, talk
from reviews.learning import backtest, reflections
from reviews.logs import imports
from reviews.metrics import daily
from reviews.models import (
    AgentResponse,
    Delivery,
    Endpoint,
    ExtensionRequest,
    HeldItem,
    LogImport,
    PossibleCorrection,
    Reflection,
    Sample,
    TeamWebhook,
)
from reviews.outbox import webhooks
from tests.tables import table

OURS, THEIRS = "princess", "vizier"


def fill(caller: Any, owner: User, word: str) -> None:
    """Let a team have one of everything, with its own word in each text."""
    agent = Agent.objects.select_related("team").get(public_id=caller.id)
    agent.name, agent.callback_url = f"{word}-bot", f"http://{word}.example/"
    agent.save(update_fields=["name", "callback_url"])
    for _ in range(2):
        said = f"The cause is clearly the cache of the {word}."
        caller.respond(said, items=[{"kind": "task", "text": said}], topics=[word])
    for number in range(3):
        stuck = {"problem": word, "session": word, "approach": word, "errors": [f"no such {word}"]}
        caller.respond(f"The {word} waits, {number}.", items=[], **stuck)
    first = caller.post("/memory", {"text": f"The {word} is at home.", "topic": word})
    assert first.status_code == 201
    caller.post("/memory", {"text": f"The {word} is not at home.", "topic": word})
    caller.post("/threads", {"title": f"The {word}", "note": f"{word} begun"})
    for _ in range(2):
        caller.post("/extensions", {"problem": word, "reason": f"need more time, {word}"})
    caller.post("/research", {"verdict": f"You should hold the {word} for ten years.", "topic": word})
    lessons.write(agent.team, None, f"Ask the {word}.", [word], owner)
    lessons.write(agent.team, agent, f"Tell the {word}.", [word], owner)
    ErrorPattern.objects.create(team=agent.team, keywords=[word], description=word, created_by=owner)
    reflections.reflect(agent, timezone.now(), person=owner)
    Delivery.objects.create(agent=agent, type="meta.reflection", body=word, state="exhausted")
    Endpoint.objects.create(agent=agent, url=agent.callback_url, off_at=timezone.now(), off_reason="gone")
    address = f"https://chat.example/{word}"
    notices.set_channel(agent.team, owner, url=address, minutes=9, language="en", texts=False)
    webhook, _ = webhooks.add(agent.team, owner, url=f"https://{word}.example/hook", events=["item.held"])
    Delivery.objects.create(webhook=webhook, type="item.held", body=word, state="exhausted")
    saved_views.save(owner, f"The {word} view", {"session": word}, agent.team)
    held = HeldItem.objects.filter(agent=agent).earliest("pk")
    talk.comment(held, owner, f"@{owner.username} says {word}.")
    talk.assign(held, owner, owner)
    talk.snooze(held, owner, timezone.now() + timedelta(hours=1))
    response = AgentResponse.objects.filter(agent=agent).earliest("pk")
    Sample.objects.create(response=response, agent=agent, day=response.received_at.date())
    raw = json.dumps({"messages": [{"role": "assistant", "content": said}, {"role": "assistant", "tool_calls": [
        {"id": word, "function": {"name": word, "arguments": "{}"}}]}]})  # fmt: skip
    log = SimpleUploadedFile(f"{word}.jsonl", f"{raw}\n{word}\n".encode())
    imports.take_in(owner, agent.team, agent, log, format="openai")
    imports.work_due(timezone.now())
    caller.respond(f"Sorry, the {word}.", items=[], user_message=f"No, the {word} is wrong.", session=word)
    last, before, *_ = AgentResponse.objects.filter(agent=agent, session=word).order_by("-pk")
    PossibleCorrection.objects.create(agent=agent, response=last, before=before, confidence=0.6, place=0.5, counts=True)


@pytest.fixture
def two_teams(kuro: Any, other: Any, olga: User, mallory: User, settings: Any) -> None:
    settings.SEARXNG_URL = ""
    fill(kuro, olga, OURS)
    fill(other, mallory, THEIRS)
    daily.count_days(timezone.now())


LISTS = [
    *("queue", "queue-changes", "spot-checks", "corrections"),
    *("responses", "stuck", "threads", "extensions", "memories", "lessons"),
    *("reflections", "research-list", "patterns", "pattern-new", "statistics", "review-time"),
    *("statistics-csv", "deliveries", "agents", "agent-new", "team", "audit", "audit-export", "preferences"),
    *("responses-export", "search", "search-export", "log-imports"),
]


@table("name", LISTS)
def test_a_page_shows_nothing_of_another_team(two_teams: None, olga: User, as_person: Any, name: str) -> None:
    answer = as_person(olga).get(reverse(name))
    assert answer.status_code in (200, 405)
    page = b"".join(answer).decode() if answer.streaming else answer.content.decode()
    assert THEIRS not in page
    assert "Borealis" not in page


SAY_OURS = [
    *("queue", "corrections", "responses", "stuck", "threads", "extensions", "memories", "lessons", "patterns"),
    *("deliveries", "log-imports"),
]


@table("name", SAY_OURS)
def test_it_shows_what_is_ours(two_teams: None, olga: User, as_person: Any, name: str) -> None:
    assert OURS in as_person(olga).get(reverse(name)).content.decode()


@table("query", [THEIRS, "is at home", "Borealis", "waits"])
def test_a_search_finds_nothing_of_another_team(two_teams: None, olga: User, as_person: Any, query: str) -> None:
    page = as_person(olga).get(reverse("search"), {"q": query}).content.decode()
    assert f"{THEIRS}-bot" not in page
    assert f"The {THEIRS}" not in page


ROWS: dict[str, Any] = {
    "item": HeldItem,
    "response": AgentResponse,
    "problem": Problem,
    "thread": ThoughtThread,
    "extension": ExtensionRequest,
    "memory": Memory,
    "lesson": Lesson,
    "reflection": Reflection,
    "webhook": TeamWebhook,
    "log-import": LogImport,
    "agent": Agent,
    "policy": Agent,
    "agent-context": Agent,
    "agent-day": Agent,
}


@table("name", ROWS)
def test_a_row_has_a_page_for_its_own_team_only(two_teams: None, olga: User, as_person: Any, name: str) -> None:
    rows = ROWS[name].objects.all()
    of_team = ("item", "memory", "lesson", "webhook", "log-import", "agent", "policy", "agent-context", "agent-day")
    team = "team" if name in of_team else "agent__team"
    client = as_person(olga)
    ours = rows.filter(**{f"{team}__name": "Aurora"}).latest("pk")
    theirs = rows.filter(**{f"{team}__name": "Borealis"}).latest("pk")
    page = client.get(reverse(name, args=[ours.public_id]))
    assert page.status_code == 200
    assert OURS in page.content.decode()
    assert THEIRS not in page.content.decode()
    assert client.get(reverse(name, args=[theirs.public_id])).status_code == 404


def test_what_people_made_of_items_is_counted_of_ones_own_team(two_teams: None, aurora: Team) -> None:
    found = backtest._outcomes(aurora, timezone.now() - timedelta(days=1))
    assert len(found) == HeldItem.objects.filter(team=aurora).count() == 2


def test_what_is_written_to_one_row_is_written_to_no_other(
    two_teams: None, aurora: Team, borealis: Team, olga: User, mallory: User, as_person: Any
) -> None:
    members.rename_team(aurora, "Polaris", olga)
    set_retention(aurora, 30, olga)
    as_person(olga).post(reverse("set-theme"), {"theme": "dark"})
    as_person(olga).post(reverse("set_language"), {"language": "zh-hant"})
    thread = ThoughtThread.objects.select_related("agent").get(agent__team=aurora)
    threads.edit(thread, "Another title", "next", "notes", olga)
    borealis.refresh_from_db()
    mallory.refresh_from_db()
    assert (borealis.name, borealis.retention_days) == ("Borealis", None)
    assert (mallory.theme, mallory.language) == (User().theme, User().language)
    assert ThoughtThread.objects.get(agent__team=borealis).title == f"The {THEIRS}"
    assert Channel.objects.get(team=borealis).minutes == 9
