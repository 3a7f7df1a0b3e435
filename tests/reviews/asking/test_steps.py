"""Nobody comes: what is held goes where its route says, and to the next while nobody decides."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from metacog.models import AuditEvent, Notice, PersonPush, PushDevice, Team, User
from metacog.notices import push
from reviews import activity, tasks
from reviews.asking import settings as asking
from reviews.asking import steps
from reviews.held import decisions, talk
from reviews.models import Asked, Decision, HeldItem, ItemTalk, SearchDue
from tests.metacog.notices.conftest import NOW, hold, tell
from tests.reviews.asking.conftest import MINUTE, ask, sweep
from tests.tables import table

pytestmark = pytest.mark.django_db
DECIDE, NEXT = "You are asked to decide 1 held item.", "Nobody has decided 1 held item: now it is your turn."


def escalated() -> list[tuple[str, list[str]]]:
    rows = AuditEvent.objects.filter(action__endswith="-escalated").order_by("pk")
    return [(row.data["to"], row.data["people"]) for row in rows]


def test_an_item_that_nobody_decides_goes_to_the_next_who_decides_it_by_their_link(
    people: dict[str, Any], kuro: Any, aurora: Any
) -> None:
    Team.objects.update(mail_links=True)
    rota = {"people": [people["alice"].pk], "weekday": 0, "hour": 9}
    ask(aurora, people["olga"], rota=rota, routes=[{"to": "on-call"}], steps=[{"after": 15, "to": "owners"}])
    held = hold(kuro, NOW)
    assert sweep(NOW + MINUTE) == [("alice", DECIDE)]
    assert sweep(NOW + 14 * MINUTE) == []
    assert sweep(NOW + 15 * MINUTE) == [("olga", NEXT)]
    assert sweep(NOW + 60 * MINUTE) == [], "each step is taken once"
    assert escalated() == [("owners", ["olga"])]
    event = AuditEvent.objects.get(action="chat-escalated")
    assert (event.object_id, event.actor_kind, event.data["step"]) == (held, "system", 1)
    (path,) = re.findall(r"https://metacog.example.org(/queue/\S+/by-mail/\S+)", str(mail.outbox[-1].body))
    assert Client().post(path, {"verdict": "approve", "sha256": HeldItem.objects.get().sha256}).status_code == 302
    assert Decision.objects.get().person == people["olga"]


def test_each_step_follows_the_one_before_and_goes_as_far_as_there_are(
    people: dict[str, Any], group: Any, kuro: Any, aurora: Any
) -> None:
    group("leads", "bob", "carla")
    wanted = [
        {"after": 10, "to": f"person:{people['alice'].pk}"},
        {"after": 20, "to": "group:leads"},
        {"after": 5, "to": "owners"},
    ]
    ask(aurora, people["olga"], steps=wanted)
    hold(kuro, NOW)
    told = {minute: sweep(NOW + minute * MINUTE) for minute in (1, 9, 10, 29, 30, 34, 35, 100)}
    assert {minute: mails for minute, mails in told.items() if mails} == {
        10: [("alice", NEXT)],
        30: [("bob", NEXT), ("carla", NEXT)],
        35: [("olga", NEXT)],
    }
    assert not Asked.objects.exclude(next_at=None).exists()


def test_after_downtime_one_step_is_taken_and_the_next_has_its_minutes(
    people: dict[str, Any], kuro: Any, aurora: Any
) -> None:
    alice = f"person:{people['alice'].pk}"
    ask(aurora, people["olga"], steps=[{"after": 10, "to": alice}, {"after": 20, "to": "owners"}])
    hold(kuro, NOW)
    assert sweep(NOW + 300 * MINUTE) == [("alice", NEXT)]
    assert sweep(NOW + 319 * MINUTE) == []
    assert sweep(NOW + 320 * MINUTE) == [("olga", NEXT)]


@table(
    ("to", "expected"),
    [
        ("owners", ["olga"]),
        ("group:finance", ["carla"]),
        ("group:gone", ["olga"]),
        ("on-call", ["olga"]),
        ("chat", ["olga"]),
        ("person:0", ["olga"]),
    ],
    rolled_back=True,
)
def test_where_a_recipient_is_nobody_the_owners_are_asked(
    to: str, expected: list[str], people: dict[str, Any], group: Any, kuro: Any, aurora: Any, victor: Any
) -> None:
    group("finance", "carla", "victor")
    ask(aurora, people["olga"], steps=[{"after": 1, "to": to}])
    hold(kuro, NOW)
    assert sweep(NOW + MINUTE) == [(name, NEXT) for name in expected]


@table(
    ("minutes", "expires_in", "expected"),
    [
        ([15], 60, 15.0),
        ([15], 17, 15.0),
        ([15], 16.9, 8.45),
        ([15], 10, 5.0),
        ([15, 30], 60, 15.0),
        ([15, 30], 40, 13.333),
        ([5, 60], 40, 5.0),
        ([], 60, None),
    ],
)
def test_what_expires_before_is_asked_about_in_time(
    minutes: list[int], expires_in: float, expected: float | None
) -> None:
    left = [asking.Step(after, "owners") for after in minutes]
    found = steps.next_at(NOW, left, NOW + expires_in * MINUTE)
    assert (found and round((found - NOW) / MINUTE, 3)) == expected


def test_it_is_asked_about_earlier_where_it_expires(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 30, "to": "owners"}])
    hold(kuro, NOW)
    HeldItem.objects.update(expires_at=NOW + 20 * MINUTE)
    assert (sweep(NOW + 9 * MINUTE), sweep(NOW + 10 * MINUTE)) == ([], [("olga", NEXT)])


def test_the_minutes_count_anew_from_the_end_of_a_snooze(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    held = HeldItem.objects.get(public_id=hold(kuro, NOW))
    sweep(NOW)
    talk.snooze(held, people["alice"], timezone.now() + timedelta(hours=1))
    ItemTalk.objects.update(snoozed_until=NOW + 40 * MINUTE)
    told = {minute: sweep(NOW + minute * MINUTE) for minute in (15, 40, 54, 55)}
    assert told == {15: [], 40: [], 54: [], 55: [("olga", NEXT)]}


@table("woken", ["by a press", "by a mention", "by an assignment"], rolled_back=True)
def test_the_minutes_count_anew_from_where_a_snooze_is_ended(
    people: dict[str, Any], kuro: Any, aurora: Any, monkeypatch: Any, woken: str
) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    held = HeldItem.objects.get(public_id=hold(kuro, NOW))
    sweep(NOW)
    monkeypatch.setattr(timezone, "now", lambda: NOW + 20 * MINUTE)
    talk.snooze(held, people["alice"], NOW + 50 * MINUTE)
    assert sweep(NOW + 15 * MINUTE) == []
    if woken == "by a press":
        talk.wake(held, people["alice"])
    elif woken == "by a mention":
        talk.comment(held, people["alice"], "@bob have a look")
    else:
        talk.assign(held, people["alice"], people["bob"])
    Notice.objects.all().delete()
    assert [sweep(NOW + minute * MINUTE) for minute in (21, 34, 35)] == [[], [], [("olga", NEXT)]]


@table("back", ["undone", "looked at again"], rolled_back=True)
def test_the_minutes_count_anew_where_an_item_comes_back_before_its_snooze_is_over(
    people: dict[str, Any], kuro: Any, aurora: Any, monkeypatch: Any, back: str
) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    held = HeldItem.objects.get(public_id=hold(kuro, NOW))
    monkeypatch.setattr(timezone, "now", lambda: NOW + MINUTE)
    talk.snooze(held, people["alice"], NOW + 50 * MINUTE)
    assert (sweep(NOW), sweep(NOW + 15 * MINUTE)) == ([], []), "put off to the end of the snooze"
    monkeypatch.setattr(timezone, "now", lambda: NOW + 20 * MINUTE)
    if back == "undone":
        decided, _ = decisions.decide(held, people["alice"], "approve")
        assert sweep(NOW + 20 * MINUTE) == []
        decisions.undo(decided, people["alice"])
    else:
        kuro.respond("It was the network.", replies_to_held=held.public_id)
    Notice.objects.all().delete()
    assert [sweep(NOW + minute * MINUTE) for minute in (21, 35, 36)] == [[], [], [("olga", NEXT)]]


@pytest.mark.usefixtures("undo_at_once")
def test_what_was_decided_goes_nowhere(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    held = HeldItem.objects.get(public_id=hold(kuro, NOW))
    sweep(NOW + MINUTE)
    decisions.decide(held, people["alice"], "approve")
    decisions.settle()
    assert sweep(NOW + 15 * MINUTE) == []
    assert (escalated(), Asked.objects.exclude(next_at=None).exists()) == ([], False)


def test_what_is_undone_goes_on(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    held = HeldItem.objects.get(public_id=hold(kuro, NOW))
    sweep(NOW + MINUTE)
    decision, _ = decisions.decide(held, people["alice"], "approve")
    assert sweep(NOW + 15 * MINUTE) == []
    decisions.undo(decision, people["alice"])
    assert sweep(NOW + 16 * MINUTE) == [("olga", NEXT)]


BANK = {"kind": "tool_call", "name": "mcp__bank__transfer", "arguments": {"eur": 100, "to": "DE89"}}


@table(
    ("route", "fields", "matches"),
    [
        ({}, {}, True),
        ({"kind": "tool_call"}, {}, True),
        ({"kind": "chat"}, {}, False),
        ({"tool": "mcp__bank__*"}, {}, True),
        ({"tool": "mcp__mail__*"}, {}, False),
        ({"where": {"/eur": {"gt": 50}}}, {}, True),
        ({"where": {"/eur": {"gt": 100}}}, {}, False),
        ({"where": {"/to": {"gt": 50}}}, {}, True),
        ({"effects": {"any": ["pay", "delete"]}}, {}, True),
        ({"effects": {"any": ["delete"]}}, {}, False),
        ({"amount": {"ge": 100}}, {}, True),
        ({"amount": {"ge": 100, "currency": "EUR"}}, {}, True),
        ({"amount": {"ge": 100, "currency": "USD"}}, {}, False),
        ({"amount": {"gt": 100}}, {}, False),
        ({"metadata": {"/run": {"eq": "r-12"}}}, {"metadata": {"run": "r-12"}}, True),
        ({"metadata": {"/run": {"eq": "r-12"}}}, {"metadata": {"run": "r-13"}}, False),
        ({"metadata": {"/run": {"exists": False}}}, {}, True),
        ({"effects": {"any": ["delete"]}}, {"name": "Bash", "arguments": {"command": "rm -r build"}}, True),
        ({"effects": {"any": ["delete"]}}, {"name": "Bash", "arguments": {"command": "$(cat x)"}}, True),
    ],
    rolled_back=True,
)
def test_a_route_has_the_conditions_of_rules(
    route: dict[str, Any], fields: dict[str, Any], matches: bool, people: dict[str, Any], kuro: Any, aurora: Any
) -> None:
    assert asking.errors_in([{"to": "owners", **route}]) == []
    ask(aurora, people["olga"], routes=[{"to": "owners", **route}])
    kuro.respond("", items=[BANK | fields])
    steps.sweep()
    assert Asked.objects.get().to == ("owners" if matches else "")


def test_the_first_route_that_matches_counts_and_nobody_else_is_told(
    people: dict[str, Any], group: Any, kuro: Any, aurora: Any
) -> None:
    group("finance", "carla")
    tell(people["bob"])  # of what is held
    routes = [{"to": "group:finance", "metadata": {"/desk": {"eq": "money"}}}, {"to": "owners", "kind": "task"}]
    ask(aurora, people["olga"], routes=routes)
    hold(kuro, NOW, metadata={"desk": "money"})
    assert sweep(NOW + MINUTE) == [("carla", DECIDE)]
    hold(kuro, NOW + MINUTE, kind="task")
    assert sweep(NOW + 2 * MINUTE) == [("olga", DECIDE)]
    assert sweep(NOW + 30 * MINUTE) == [], "a route sends them elsewhere"
    hold(kuro, NOW + MINUTE)
    assert sweep(NOW + 40 * MINUTE) == [("bob", "1 new held item, score 50")]
    assert list(AuditEvent.objects.filter(action="chat-routed").values_list("data__people", flat=True)) == [["carla"]]


def test_what_comes_in_one_turn_is_one_mail(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "owners"}])
    for _ in range(7):
        hold(kuro, NOW)
    assert sweep(NOW + 15 * MINUTE) == [("olga", "Nobody has decided 7 held items: now it is your turn.")]
    assert "2 more are in the queue." in str(mail.outbox[-1].body)


def test_the_chat_is_asked_whatever_else_it_is_told(
    people: dict[str, Any], chat: Any, kuro: Any, aurora: Any, monkeypatch: Any
) -> None:
    posted: list[str] = []
    monkeypatch.setattr("metacog.notices.chat.post", lambda channel, text: posted.append(text) or "")
    ask(aurora, people["olga"], steps=[{"after": 15, "to": "chat"}])
    held = hold(kuro, NOW)
    sweep(NOW)
    assert sweep(NOW + 15 * MINUTE) == []
    [asked] = [text for text in posted if "Nobody has decided" in text]
    assert f"/queue/{held}" in asked
    assert escalated() == [("chat", [])]


def test_a_device_shows_who_is_asked(people: dict[str, Any], kuro: Any, aurora: Any, monkeypatch: Any) -> None:
    shown: list[Any] = []
    sent = push.Outcome("")
    monkeypatch.setattr("metacog.notices.push.post", lambda device, key, message: shown.append(message) or sent)
    PersonPush.objects.create(person=people["olga"])
    PushDevice.objects.create(person=people["olga"], name="phone", endpoint_sha256="1", subscription_encrypted="-")
    rota = {"people": [people["olga"].pk], "tells": True}
    ask(aurora, people["olga"], rota=rota, steps=[{"after": 15, "to": "owners"}])
    held = hold(kuro, NOW)
    sweep(NOW + 15 * MINUTE)
    [message] = shown
    assert (message.title, message.path, message.shows) == (
        "Your turn: 1 item nobody decided", f"/queue/{held}/", held
    )  # fmt: skip


def test_whoever_begins_to_be_on_call_is_told_once(people: dict[str, Any], aurora: Any) -> None:
    alice, bob = people["alice"], people["bob"]
    monday = (NOW - timedelta(days=NOW.weekday())).replace(hour=9)
    rota = {"people": [alice.pk, bob.pk], "weekday": 0, "hour": 9, "begins": f"{monday:%Y-%m-%d}", "tells": True}
    asking.save(aurora, people["olga"], {"rota": rota}, monday + MINUTE)
    week = timedelta(weeks=1)
    assert sweep(monday + week - MINUTE) == []
    assert sweep(monday + week + MINUTE) == [("bob", "You are on call for Aurora.")]
    assert sweep(monday + week + 2 * MINUTE) == []
    assert sweep(monday + 2 * week) == [("alice", "You are on call for Aurora.")]


def test_who_comes_back_is_told_when_their_week_begins(people: dict[str, Any], aurora: Any) -> None:
    alice, bob = people["alice"], people["bob"]
    monday, week = (NOW - timedelta(days=NOW.weekday())).replace(hour=9), timedelta(weeks=1)
    rota = {"people": [alice.pk, bob.pk], "weekday": 0, "hour": 9, "begins": f"{monday:%Y-%m-%d}", "tells": True}
    User.objects.filter(pk=bob.pk).update(is_active=False)
    asking.save(aurora, people["olga"], {"rota": rota}, monday + MINUTE)
    assert sweep(monday + week) == []  # it is still alice
    User.objects.filter(pk=bob.pk).update(is_active=True)
    assert sweep(monday + 2 * week) == [("alice", "You are on call for Aurora.")]
    assert sweep(monday + 3 * week) == [("bob", "You are on call for Aurora.")]


def test_new_settings_hold_for_what_waits(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    ask(aurora, people["olga"], steps=[{"after": 600, "to": "owners"}])
    hold(kuro, NOW)
    sweep(NOW)
    ask(aurora, people["olga"], steps=[{"after": 15, "to": f"person:{people['bob'].pk}"}])
    assert sweep(NOW + 14 * MINUTE) == []
    assert sweep(NOW + 15 * MINUTE) == [("bob", NEXT)]
    ask(aurora, people["olga"])
    assert sweep(NOW + 900 * MINUTE) == []


def test_what_is_held_when_a_team_begins_to_ask_waits_from_then(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    hold(kuro, NOW - timedelta(days=1))
    ask(aurora, people["olga"], steps=[{"after": 90, "to": "owners"}])
    assert (sweep(NOW + 29 * MINUTE), sweep(NOW + 30 * MINUTE)) == ([], [("olga", NEXT)])


def test_the_clock_wakes_for_the_next_step_and_for_nothing_before(
    people: dict[str, Any], kuro: Any, aurora: Any
) -> None:
    now = timezone.now()
    asking.save(aurora, people["olga"], {"steps": [{"after": 15, "to": "owners"}]}, now)
    hold(kuro, now)
    steps.sweep(now)
    SearchDue.objects.all().delete()
    User.objects.update(report_at=now + timedelta(days=1))
    assert activity.latest() == activity.latest()
    Asked.objects.update(next_at=now)
    assert activity.latest() != activity.latest()
    Notice.objects.all().delete()


def test_the_worker_takes_the_steps(people: dict[str, Any], kuro: Any, aurora: Any) -> None:
    asking.save(aurora, people["olga"], {"routes": [{"to": "owners"}]})
    kuro.hold()
    tasks.notify()
    assert [(each.to[0], each.subject) for each in mail.outbox] == [("olga@example.org", f"metacog: {DECIDE}")]


def test_a_team_that_asks_nobody_costs_one_query(kuro: Any, django_assert_num_queries: Any) -> None:
    hold(kuro, NOW)
    with django_assert_num_queries(1):
        steps.sweep()
    assert not Asked.objects.exists()
