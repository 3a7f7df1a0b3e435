"""Every address of the site opens: for each role, in each language, for agents of every setting, empty and full."""

from __future__ import annotations

import gettext
import itertools
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import django
import pytest
from allauth.socialaccount.models import SocialAccount
from babel.messages.pofile import read_po
from django.contrib import admin
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from django.utils.translation import trans_real

from metacog.accounts import tokens
from metacog.accounts.agents import create_agent
from metacog.chats import setup
from metacog.models import (
    Agent,
    AgentKey,
    ChatApp,
    ChatUser,
    Language,
    Membership,
    PersonalToken,
    Policy,
    PushDevice,
    Role,
    User,
    seed_weights,
)
from patterns.models import ErrorPattern, Lesson, Memory, MemoryConflict, Problem, ThoughtThread
from reviews.held.decisions import decide
from reviews.metrics import daily
from reviews.models import (
    AgentResponse,
    Approval,
    CallGrant,
    Comment,
    Decision,
    Delivery,
    ExtensionRequest,
    HeldItem,
    LogImport,
    LogImportItem,
    PossibleCorrection,
    Reflection,
    Research,
    Sample,
    SavedView,
    TeamWebhook,
)
from tests.conftest import HELD, Caller
from tests.metacog.accounts.test_other_teams import fill
from tests.upgrade.test_unreadable import spoil

ROLES = [*Role.values, "superuser"]
SWITCHES: list[dict[str, Any]] = [
    {},
    {"parts": {"quality": False, "confidence": False, "stuck": False, "reflection": False}},
    {"weights": dict.fromkeys(seed_weights(), 0), "threshold": 101, "hold_at": 101},
    {"hesitation_enabled": False},
    {"enabled": False},
    {"require_signature": True, "quality": {"hedge_prefix": "Well…", "forbidden": ["as an AI"]}},
]
# What a page's argument names: the rows to open it with.
ROWS: dict[str, Any] = {
    "agent_id": lambda: Agent.objects.values_list("public_id", flat=True),
    "held_id": lambda: HeldItem.objects.values_list("public_id", flat=True),
    "response_id": lambda: AgentResponse.objects.values_list("public_id", flat=True),
    "problem_id": lambda: Problem.objects.values_list("public_id", flat=True),
    "thread_id": lambda: ThoughtThread.objects.values_list("public_id", flat=True),
    "extension_id": lambda: ExtensionRequest.objects.values_list("public_id", flat=True),
    "memory_id": lambda: Memory.objects.values_list("public_id", flat=True),
    "lesson_id": lambda: Lesson.objects.values_list("public_id", flat=True),
    "reflection_id": lambda: Reflection.objects.values_list("public_id", flat=True),
    "research_id": lambda: Research.objects.values_list("public_id", flat=True),
    "pattern_id": lambda: ErrorPattern.objects.values_list("pk", flat=True),
    "correction_id": lambda: PossibleCorrection.objects.values_list("public_id", flat=True),
    "sample_id": lambda: Sample.objects.values_list("public_id", flat=True),
    "grant_id": lambda: CallGrant.objects.values_list("public_id", flat=True),
    "approval_id": lambda: Approval.objects.values_list("public_id", flat=True),
    "decision_id": lambda: Decision.objects.values_list("public_id", flat=True),
    "delivery_id": lambda: Delivery.objects.values_list("public_id", flat=True),
    "webhook_id": lambda: TeamWebhook.objects.values_list("public_id", flat=True),
    "team_id": lambda: Membership.objects.values_list("team_id", flat=True).distinct(),
    "membership_id": lambda: Membership.objects.values_list("pk", flat=True),
    "conflict_id": lambda: MemoryConflict.objects.values_list("pk", flat=True),
    "token": lambda: ["rubbish"],
    "comment_id": lambda: Comment.objects.values_list("public_id", flat=True),
    "key_id": lambda: AgentKey.objects.values_list("pk", flat=True),
    "step": lambda: ["disable", "hesitation-off", "revoke-keys"],
    "account_id": lambda: SocialAccount.objects.values_list("pk", flat=True),
    "device_id": lambda: PushDevice.objects.values_list("public_id", flat=True),
    "token_id": lambda: PersonalToken.objects.values_list("pk", flat=True),
    "import_kind": lambda: ["patterns", "threads", "lessons"],
    "log_id": lambda: LogImport.objects.values_list("public_id", flat=True),
    "number": lambda: LogImportItem.objects.values_list("number", flat=True).distinct(),
    "view_id": lambda: SavedView.objects.values_list("pk", flat=True),
    "kind": lambda: ChatApp.Kind.values,
    "user_id": lambda: ChatUser.objects.values_list("pk", flat=True),
    "uidb64": lambda: ["MQ"],
    "provider_id": lambda: ["nowhere"],
    "pk": lambda: [],  # of a passkey: only a browser makes one
    "public_id": lambda: ErrorPattern.objects.values_list("public_id", flat=True),
    "name": lambda: ["all", "agents", "reviewers"],  # of a table of Statistics
    "form": lambda: ["csv", "json"],  # of a file
}
MOST = 40  # rows of a kind that are opened
# Lists that are told of one agent too.
ABOUT_AN_AGENT = [
    "queue",
    "responses",
    "stuck",
    "threads",
    "lessons",
    "lessons-export",
    "threads-export",
    "reflections",
    "statistics",
    "review-time",
    "deliveries",
]


def named(patterns: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give the name and arguments of every page, the admin's and the API's own aside."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern) and pattern.name:
            yield pattern.name, tuple(pattern.pattern.converters)
        elif isinstance(pattern, URLResolver) and pattern.app_name not in ("admin", "ninja"):
            yield from named(pattern.url_patterns)


def addresses(most: int) -> Iterator[tuple[str, str]]:
    """Give the name and address of each page, with as many rows as it may be opened with."""
    for name, arguments in named(get_resolver().url_patterns):
        rows = itertools.product(*(list(ROWS[argument]())[:most] for argument in arguments))
        yield from ((name, reverse(name, args=row)) for row in rows)
    for model in admin.site._registry:
        about = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        for page in ("changelist", "add"):
            try:
                yield f"{about}_{page}", reverse(f"{about}_{page}")
            except NoReverseMatch:
                continue
        for row in model._default_manager.values_list("pk", flat=True)[:1]:
            yield f"{about}_change", reverse(f"{about}_change", args=[row])
    for name in ABOUT_AN_AGENT:
        for agent in ROWS["agent_id"]()[:most]:
            yield name, f"{reverse(name)}?agent={agent}"


def add_agent(team: Any, name: str, language: str, **switches: Any) -> None:
    """Add an agent with these settings that has posted a held item, a passing one, and about a problem and a thread."""
    agent, key, secret = create_agent(team, name, None, language=language, packs=())
    caller = Caller(agent.public_id, key, secret)
    caller.hold(topics=["cache"], session="s", cycle=1, user_message="Why is it slow?")
    caller.respond("Once more.", items=[], problem="bug", approach="again", command="make", command_failed=True)
    caller.post("/threads", {"title": f"What {name} pursues", "note": "begun"})
    settings = {field: switches.pop(field) for field in list(switches) if field in ("enabled", "hesitation_enabled")}
    Policy.objects.create(agent=agent, version=2, **switches)
    Agent.objects.filter(pk=agent.pk).update(policy_version=2, **settings)
    caller.post("/responses", {"response": HELD, "session": "s", "cycle": 2})  # refused to some of them


class Untranslated(gettext.NullTranslations):
    """What a catalogue turns to for a text that it does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def gettext(self, message: str) -> str:
        self.texts.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1)


@pytest.fixture
def untranslated(translated: None, monkeypatch: pytest.MonkeyPatch) -> Untranslated:
    missing = Untranslated()
    for language in (Language.ZH_HANT, Language.ZH_HANS):
        monkeypatch.setattr(trans_real.translation(language), "_fallback", missing)
    return missing


def djangos_own() -> Iterator[str]:
    """Give the texts that Django brings: it translates a release's new ones later."""
    for source in Path(django.__file__).parent.rglob("locale/en/LC_MESSAGES/django.po"):
        with source.open("rb") as file:
            yield from (message.id if isinstance(message.id, str) else message.id[0] for message in read_po(file))


# Each role looks in one language; who sees most, at every row.
LANGUAGES = dict(zip(ROLES, ["en", "zh-hans", "zh-hant", "zh-hant", "zh-hans"], strict=True))


def faults(team: Any, missing: Untranslated, roles: list[str]) -> list[str]:
    """Open every address as each of these, and say what was wrong.

    What is no page, as it takes forms only, is the same for everybody and every row.
    """
    wrong, no_pages = [], set()
    for role in roles:
        language = LANGUAGES[role]
        person = User.objects.create_user(role, is_superuser=role == "superuser", language=language)
        if role != "superuser":
            Membership.objects.create(user=person, team=team, role=role)
        client = Client(raise_request_exception=False)
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        for name, path in addresses(MOST if role == Role.OWNER else 1):
            if name in no_pages:
                continue
            answer = client.get(path)
            if answer.streaming:
                b"".join(answer)
            if answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
                no_pages.add(name)
            if answer.status_code >= 500:
                wrong.append(f"{answer.status_code} {path} as {role} in {language}")
    missing.texts -= {*Language.labels, *djangos_own()}
    return wrong + [f"not translated: {text!r}" for text in sorted(missing.texts)]


def test_every_page_opens_where_nothing_is_there_yet(aurora: Any, untranslated: Untranslated) -> None:
    # Who sees least, who sees most and somebody between, in one language each: none of them has rows of their own yet.
    assert faults(aurora, untranslated, ["viewer", "curator", "superuser"]) == []


def test_every_page_opens_for_every_kind_of_agent(
    aurora: Any, kuro: Any, olga: User, settings: Any, untranslated: Untranslated, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SEARXNG_URL = ""
    fill(kuro, olga, "princess")
    slack, _ = setup.save(aurora, "slack", olga, setup.Entered("xoxb-0123456789", "signing-secret", "C0", "en", True))
    setup.connect(setup.Link(slack, "U0", "olga"), olga)
    monkeypatch.setitem(ROWS, "token", lambda: ["rubbish", setup.connect_link(slack, "U1", "x").rpartition("/")[2]])
    tokens.issue(olga, name="script", scopes=["read", "decide"], days=7)
    decide(HeldItem.objects.filter(team=aurora)[0], olga, "reject", reason="It was not measured.")
    kinds = itertools.product(Language.values, Policy.Profile.values)
    for number, ((language, profile), switches) in enumerate(zip(kinds, SWITCHES, strict=True)):
        add_agent(aurora, f"agent-{number}", language, profile=profile, **switches)
    daily.count_days(timezone.now())
    spoil(kuro, rules='"[]"', weights="7")
    assert faults(aurora, untranslated, ROLES) == []
