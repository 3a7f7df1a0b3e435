"""What is pushed to people's devices: read by one browser alone, signed by this site, replaced once it is decided."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterator
from datetime import time, timedelta
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import keys
from metacog.models import Agent, AuditEvent, Notice, PersonPush, PushDevice, PushKey, User
from metacog.notices import push
from reviews.held import decisions, talk
from reviews.models import Decision, HeldItem
from tests.metacog.notices.conftest import DAY, HOUR, MINUTE, NOW, hold, sweep
from tests.metacog.notices.phones import Phone, claims_of
from tests.reviews.api.test_tool_calls import by_person, held_by
from tests.reviews.outbox.receiving import Receiver, listening
from tests.tables import table

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SECOND = timedelta(seconds=1)


@pytest.fixture
def service(settings: Any) -> Iterator[Receiver]:
    """A push service, as browsers' makers have them."""
    with listening() as found:
        found.then = 201
        settings.CALLBACK_ALLOW = frozenset({found.origin})
        settings.UNDO_SECONDS = 0
        yield found


@pytest.fixture
def phone(service: Receiver) -> Phone:
    return Phone(service)


def hold_call(caller: Any, at: Any, **call: Any) -> str:
    held = held_by(caller, **call)
    HeldItem.objects.filter(public_id=held).update(held_at=at, expires_at=at + 7 * DAY)
    return held


def decide(person: Any, held: str, verdict: str = "reject") -> None:
    by_person(person, held, verdict)
    decisions.settle()


def test_one_browser_alone_can_read_it_and_the_push_service_knows_who_sent_it(
    alice: Any, kuro: Any, phone: Phone, service: Receiver
) -> None:
    phone.turn_on(alice)
    held = hold_call(kuro, NOW - MINUTE, arguments={"eur": 100, "to": SECRET})
    sweep(NOW)
    [seen], [shown] = phone.sent, phone.shown
    assert shown == {
        "title": "Tool call from kuro",
        "options": {
            "body": "mcp__bank__transfer: pay · write · No policy rule matches this call, so a person is asked.",
            "tag": "held",
            "lang": "en",
            "silent": False,
            "renotify": True,
            "actions": [
                {"action": f"/queue/{held}/#to-decide", "title": "Approve…"},
                {"action": f"/queue/{held}/", "title": "Open"},
            ],
            "data": {"path": f"/queue/{held}/", "closed": shown["options"]["data"]["closed"]},
        },
    }
    claims = claims_of(seen, PushKey.objects.get().public)
    assert (claims["aud"], claims["sub"]) == (service.origin, "mailto:metacog@example.org")
    assert clock.time() < claims["exp"] <= clock.time() + 24 * 3600
    assert (seen.headers["urgency"], seen.headers["ttl"], len(seen.headers["topic"])) == ("high", "86400", 32)
    assert SECRET.encode() not in seen.body
    assert "metacog" not in seen.headers["topic"]
    event = AuditEvent.objects.get(action="push-sent")
    assert (event.data["person"], Notice.objects.get().state) == ("alice", "sent")
    sweep(NOW + HOUR)
    assert len(phone.sent) == 1, "each item once"


@table(
    ("call", "unsaid"),
    [({"name": SECRET}, SECRET), ({"name": "x\u202egnp"}, "\u202e"), ({"name": "n" * 255}, "n" * 200)],
    rolled_back=True,
)
def test_it_says_nothing_that_is_secret_hidden_or_long(
    alice: Any, kuro: Any, phone: Phone, call: dict[str, Any], unsaid: str
) -> None:
    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE, **call)
    Agent.objects.update(name=SECRET)
    sweep(NOW)
    said = json.dumps(phone.shown[-1], ensure_ascii=False)
    assert [each for each in (unsaid, SECRET) if each in said] == []


def test_of_what_agents_wrote_it_says_nothing(alice: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice)
    hold(kuro, NOW - MINUTE)
    sweep(NOW)
    [shown] = phone.shown
    assert (shown["title"], shown["options"]["body"]) == ("CHAT from kuro", "score 50 · Absolute claim, Error pattern")


@table(
    ("chosen", "titles"),
    [
        ({}, ["3 held items"]),
        ({"words": False}, ["2 held items"]),
        ({"calls": False, "words": False}, ["Question from kuro"]),
        ({"questions": False, "words": False}, ["Tool call from kuro"]),
        ({"calls": False, "questions": False, "words": False}, []),
    ],
    rolled_back=True,
)
def test_a_person_chooses_what_comes(
    alice: Any, kuro: Any, phone: Phone, chosen: dict[str, bool], titles: list[str]
) -> None:
    phone.turn_on(alice, **chosen)
    before = len(phone.sent)
    hold(kuro, NOW - MINUTE)
    hold_call(kuro, NOW - MINUTE)
    kuro.respond("", items=[{"kind": "question", "text": "Which account?", "choices": ["A", "B"]}])
    HeldItem.objects.filter(kind="question").update(held_at=NOW - MINUTE)
    sweep(NOW)
    assert [each["title"] for each in phone.shown[before:]] == titles


def test_a_question_is_answered_on_its_page(alice: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice)
    kuro.respond("", items=[{"kind": "question", "text": "Which account?"}])
    HeldItem.objects.update(held_at=NOW - MINUTE)
    sweep(NOW)
    [shown] = phone.shown
    assert [each["title"] for each in shown["options"]["actions"]] == ["Answer…", "Open"]
    assert shown["options"]["body"] == "The agent needs a person's answer."


def test_a_person_chooses_when_it_comes(alice: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice, minutes=10, every=30)
    hold_call(kuro, NOW - 9 * MINUTE)
    sweep(NOW)
    assert phone.sent == []
    sweep(NOW + MINUTE)
    assert len(phone.sent) == 1
    hold_call(kuro, NOW - 8 * MINUTE, call_id="second", arguments={"eur": 7})
    sweep(NOW + 30 * MINUTE)
    assert len(phone.sent) == 1
    sweep(NOW + 31 * MINUTE)
    first, second = phone.sent
    assert first.headers["topic"] == second.headers["topic"], "the later one takes its place, there and on its way"
    assert phone.shown[1]["options"]["tag"] == "held"


@table(
    ("zone", "begin", "end", "comes"),
    [
        ("UTC", "11:00", "13:00", "13:00"),  # NOW is noon there
        ("UTC", "12:00", "12:30", "12:30"),
        ("UTC", "09:00", "12:00", "12:00"),
        ("Asia/Taipei", "19:59", "07:00", "23:00"),  # over midnight: it is eight in the evening
        ("Asia/Taipei", "21:00", "07:00", "12:00"),
        ("nowhere/at-all", "11:00", "13:00", "13:00"),
    ],
    rolled_back=True,
)
def test_in_quiet_hours_nothing_comes_and_afterwards_what_still_waits(
    alice: Any, kuro: Any, phone: Phone, zone: str, begin: str, end: str, comes: str
) -> None:
    phone.turn_on(alice, quiet_from=time.fromisoformat(begin), quiet_until=time.fromisoformat(end))
    User.objects.filter(pk=alice.pk).update(time_zone=zone)
    before = len(phone.sent)
    hold_call(kuro, NOW - MINUTE)
    at = NOW.replace(hour=int(comes[:2]), minute=int(comes[3:]))
    if at > NOW:
        sweep(NOW)
        sweep(at - SECOND)
        assert len(phone.sent) == before
    sweep(at)
    assert len(phone.sent) == before + 1


def test_what_was_decided_in_quiet_hours_never_comes(alice: Any, bob: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice, quiet_from=time(11), quiet_until=time(13))
    held = hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    decide(bob, held)
    sweep(NOW + 2 * HOUR)
    assert phone.sent == []


def test_what_is_decided_elsewhere_is_replaced_without_a_sound(
    alice: Any, bob: Any, kuro: Any, phone: Phone, settings: Any
) -> None:
    phone.turn_on(alice)
    held = hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    settings.UNDO_SECONDS = 600
    by_person(bob, held, "reject")
    decisions.settle()
    sweep(NOW + MINUTE)
    assert len(phone.sent) == 1, "while bob may undo it"
    Decision.objects.update(release_at=timezone.now())
    decisions.settle()
    for minute in (2, 3):
        sweep(NOW + minute * MINUTE)
    [first, second] = phone.shown
    options = second["options"]
    assert (second["title"], options["body"]) == ("Tool call from kuro", "mcp__bank__transfer · Rejected by Bob")
    assert (options["tag"], options["silent"], options["actions"]) == (first["options"]["tag"], True, [])
    assert phone.sent[0].headers["topic"] == phone.sent[1].headers["topic"]
    assert phone.sent[1].headers["urgency"] == "low"


def test_of_several_the_next_takes_the_place_of_the_decided_one(alice: Any, bob: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice)
    first = hold_call(kuro, NOW - MINUTE, call_id="a", arguments={"eur": 1})
    second = hold_call(kuro, NOW - MINUTE, call_id="b", arguments={"eur": 2})
    sweep(NOW)
    assert phone.shown[0]["title"] == "2 held items"
    lead = phone.shown[0]["options"]["data"]["path"].split("/")[2]
    other = next(each for each in (first, second) if each != lead)
    decide(bob, lead)
    sweep(NOW + MINUTE)
    assert phone.shown[1]["title"] == "Tool call from kuro"
    options = phone.shown[1]["options"]
    assert (options["data"]["path"], options["silent"]) == (f"/queue/{other}/", True)
    decide(bob, other)
    sweep(NOW + 2 * MINUTE)
    assert phone.shown[2]["options"]["body"] == "mcp__bank__transfer · Rejected by Bob"
    sweep(NOW + HOUR)
    assert len(phone.sent) == 3


@pytest.mark.parametrize("token", ["its own", "none"])
def test_of_what_a_device_shows_no_more_nothing_else_comes(
    alice: Any, bob: Any, kuro: Any, phone: Phone, token: str
) -> None:
    phone.turn_on(alice)
    held = hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    path = phone.shown[0]["options"]["data"]["closed"]
    answer = Client(enforce_csrf_checks=True).post(path if token == "its own" else path[:-3] + "xyz")
    assert (answer.status_code, answer.content, answer.cookies) == (204, b"", {})
    decide(bob, held)
    sweep(NOW + MINUTE)
    assert len(phone.sent) == (1 if token == "its own" else 2)


def test_a_press_on_a_notice_decides_nothing(alice: Any, kuro: Any, phone: Phone, as_person: Any) -> None:
    """Where its buttons lead, nobody is let in who is not signed in, and opening the page changes nothing."""
    phone.turn_on(alice)
    held = hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    for action in phone.shown[0]["options"]["actions"]:
        assert Client().get(action["action"]).status_code == 302
        assert as_person(alice).get(action["action"]).status_code == 200
    assert HeldItem.objects.get(public_id=held).state == "pending"
    page = as_person(alice).get(phone.shown[0]["options"]["actions"][0]["action"]).content.decode()
    assert '<form id="approve" method="post"' in page, "which the first button leads to"


def test_mentions_and_assignments_come_at_once_if_they_are_chosen(
    alice: Any, bob: Any, kuro: Any, phone: Phone, settings: Any
) -> None:
    settings.MAIL_FROM = ""  # a phone needs none
    phone.turn_on(bob, calls=False, words=False)
    other = Phone(phone.receiver, "silent").turn_on(alice, mentions=False)
    held = HeldItem.objects.get(public_id=hold(kuro, timezone.now()))
    talk.comment(held, alice, "@bob is that zebra so?")
    talk.assign(held, bob, alice)
    talk.comment(held, bob, "@alice it is")
    sweep(timezone.now())
    assert sorted((each["title"], each["options"]["body"]) for each in phone.shown) == [
        ("Alice assigned you an item", "CHAT from kuro · score 50 · Absolute claim, Error pattern"),
        ("Alice mentioned you", "CHAT from kuro · score 50"),
    ]
    assert other.sent == []
    decide(alice, held.public_id)
    sweep(timezone.now() + MINUTE)
    assert [each["options"]["body"] for each in phone.shown[2:]] == ["Rejected by Alice"], "of the assignment alone"


@table("status", [404, 410], rolled_back=True)
def test_a_device_that_is_gone_is_forgotten_with_what_is_owed_to_it(
    alice: Any, kuro: Any, phone: Phone, service: Receiver, status: int
) -> None:
    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE)
    service.answers = [status]
    sweep(NOW)
    assert (PushDevice.objects.count(), Notice.objects.count()) == (0, 0)
    event = AuditEvent.objects.get(action="device-withdrawn")
    assert (event.actor_kind, event.data["person"]) == ("system", "alice")


@table(
    ("status", "trouble", "again"),
    [(429, "busy", 60), (503, "busy", 60), (403, "push", 60), (302, "push", 60)],
    rolled_back=True,
)
def test_what_a_push_service_does_not_take_is_tried_again(
    alice: Any, kuro: Any, phone: Phone, service: Receiver, status: int, trouble: str, again: int
) -> None:
    phone.turn_on(alice)
    before = len(phone.sent)
    hold_call(kuro, NOW - MINUTE)
    service.answers = [status]
    sweep(NOW)
    assert Notice.objects.get().trouble == trouble
    sweep(NOW + (again - 1) * SECOND)
    assert len(phone.sent) == before + 1
    sweep(NOW + again * SECOND)
    assert (len(phone.sent), Notice.objects.get().state) == (before + 2, "sent")


def test_a_push_service_says_how_long_it_wants_to_be_left_alone(
    alice: Any, kuro: Any, phone: Phone, service: Receiver
) -> None:
    def later(handler: Any) -> None:
        handler.send_response(429)
        handler.send_header("Retry-After", "1800")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE)
    service.answers = [later]
    sweep(NOW)
    sweep(NOW + 29 * MINUTE)
    assert len(phone.sent) == 1
    sweep(NOW + 30 * MINUTE)
    assert len(phone.sent) == 2


def test_a_private_address_is_not_reached(alice: Any, kuro: Any, phone: Phone, settings: Any) -> None:
    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE)
    settings.CALLBACK_ALLOW = frozenset()
    sweep(NOW)
    assert (phone.receiver.seen, Notice.objects.get().trouble) == ([], "forbidden")


def test_who_is_no_reviewer_any_more_hears_nothing(alice: Any, mallory: Any, kuro: Any, phone: Phone) -> None:
    phone.turn_on(alice)
    stranger = Phone(phone.receiver, "stranger").turn_on(mallory)
    alice.memberships.update(role="viewer")
    hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    assert (phone.sent, stranger.sent) == ([], [])


def test_each_device_is_told_by_itself(alice: Any, kuro: Any, phone: Phone, service: Receiver) -> None:
    tablet = Phone(service, "tablet").turn_on(alice)
    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    assert phone.shown[0]["title"] == tablet.shown[0]["title"] == "Tool call from kuro"


@pytest.mark.usefixtures("translated")
def test_it_speaks_the_persons_language(alice: Any, kuro: Any, phone: Phone) -> None:
    User.objects.filter(pk=alice.pk).update(language="zh-hant")
    phone.turn_on(alice)
    hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    [shown] = phone.shown
    assert (shown["options"]["lang"], shown["options"]["actions"][0]["title"]) == ("zh-hant", "核准…")


def test_with_another_secret_key_nothing_is_signed_and_rekey_names_what_is_lost(
    alice: Any, kuro: Any, phone: Phone, settings: Any
) -> None:
    phone.turn_on(alice)
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    hold_call(kuro, NOW - MINUTE)
    sweep(NOW)
    assert (phone.sent, Notice.objects.get().trouble) == ([], "keys")
    _changed, lost = keys.rekey()
    assert {type(row) for row in lost} >= {PushDevice, PushKey}
    settings.SECRET_KEY_FALLBACKS = [former]
    assert keys.rekey()[1] == []
    settings.SECRET_KEY_FALLBACKS = []
    sweep(NOW + MINUTE)
    assert len(phone.sent) == 1


def test_the_key_is_made_once_and_another_one_withdraws_all_devices(alice: Any, phone: Phone) -> None:
    phone.turn_on(alice)
    first = push.public_key()
    push.ensure_key()
    assert (push.public_key(), PushKey.objects.count()) == (first, 1)
    assert first not in PushKey.objects.get().private_encrypted
    assert push.rotate() == 1
    assert (push.public_key() != first, PushDevice.objects.count()) == (True, 0)
    assert AuditEvent.objects.get(action="push-key-rotated").data == {"devices": 1}


# -- what a browser and a person give ----------------------------------------------------------------

CHOICES = {"push-calls": "on", "push-minutes": "3", "push-every": "9", "push-quiet_from": "22:00",
           "push-quiet_until": "07:30"}  # fmt: skip


def test_a_person_chooses_on_their_page(alice: Any, as_person: Any) -> None:
    assert as_person(alice).post(reverse("push-change"), CHOICES).status_code == 302
    row = PersonPush.objects.get(person=alice)
    assert (row.calls, row.questions, row.minutes, row.every) == (True, False, 3, 9)
    assert (row.quiet_from, row.quiet_until) == (time(22), time(7, 30))
    fields = AuditEvent.objects.get(action="push-changed").data["fields"]
    assert set(fields) == {"questions", "mentions", "outages", "minutes", "every", "quiet_from", "quiet_until"}
    page = as_person(alice).get(reverse("preferences")).content.decode()
    assert 'value="22:00"' in page
    as_person(alice).post(reverse("push-change"), CHOICES | {"push-quiet_from": "", "push-quiet_until": ""})
    assert PersonPush.objects.get(person=alice).quiet_from is None


@table(
    ("field", "value"),
    [("minutes", "-1"), ("minutes", "1441"), ("every", "0"), ("every", "x"), ("quiet_from", ""), ("quiet_until", ""),
     ("quiet_until", "22:00"), ("quiet_from", "25:00")],
    rolled_back=True,
)  # fmt: skip
def test_what_cannot_be_is_refused_beside_its_field(alice: Any, as_person: Any, field: str, value: str) -> None:
    answer = as_person(alice).post(reverse("push-change"), CHOICES | {f"push-{field}": value})
    said = "quiet_until" if (field, value) == ("quiet_until", "22:00") else field
    assert (answer.status_code, f'id="id_push-{said}_error"' in answer.content.decode()) == (422, True)
    assert not PersonPush.objects.exists()


def test_a_browser_is_added_named_listed_tested_and_removed(
    alice: Any, bob: Any, as_person: Any, phone: Phone, settings: Any
) -> None:
    push.ensure_key()
    browser = as_person(alice)
    agent = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140 Mobile Safari/537.36"
    browser.post(reverse("device-add"), phone.subscription, headers={"user-agent": agent})
    device = PushDevice.objects.get()
    assert (device.person, device.name, device.hint) == (alice, "Chrome, Android", "127.0.0.1")
    assert phone.subscription["endpoint"] not in device.subscription_encrypted
    page = browser.get(reverse("preferences")).content.decode()
    assert ("Chrome, Android" in page, "data-this-device" in page, push.public_key() in page) == (True, True, True)
    sweep(timezone.now())
    assert [each["title"] for each in phone.shown] == ["metacog: test"], "at once, so that it is seen to work"
    for _ in range(3):
        browser.post(reverse("device-test", args=[device.public_id]))
    sweep(timezone.now())
    assert len(phone.sent) == 2
    for name in ("device-test", "device-withdraw"):
        assert as_person(bob).post(reverse(name, args=[device.public_id])).status_code == 404
    browser.post(reverse("device-withdraw", args=[device.public_id]))
    assert not PushDevice.objects.exists()
    actions = AuditEvent.objects.filter(object_id=device.public_id).values_list("action", flat=True)
    assert sorted(actions) == ["device-added", "device-withdrawn"]
    events = [str(event.data) for event in AuditEvent.objects.all()]
    assert not any("/push/phone" in event for event in events), "its address is worth as much as a password"


def test_whoever_turns_it_on_last_in_a_browser_has_it(alice: Any, bob: Any, as_person: Any, phone: Phone) -> None:
    for person in (alice, bob):
        as_person(person).post(reverse("device-add"), phone.subscription)
    assert PushDevice.objects.get().person == bob
    event = AuditEvent.objects.get(action="device-withdrawn")
    assert (event.actor, event.data["person"]) == ("bob", "alice")


def test_who_signs_out_hears_nothing_there_any_more(
    alice: Any, as_person: Any, phone: Phone, service: Receiver
) -> None:
    browser = as_person(alice)
    other = Phone(service, "other").turn_on(alice)
    browser.post(reverse("device-add"), phone.subscription)
    browser.post(reverse("sign-out"))
    assert PushDevice.objects.get() == other.device


@table(
    ("field", "value"),
    [
        ("endpoint", ""),
        ("endpoint", "http://push.example.org/x"),
        ("endpoint", "https://10.0.0.1/x"),
        ("endpoint", "https://[::ffff:127.0.0.1]/x"),
        ("endpoint", "https://169.254.169.254/latest"),
        ("endpoint", "https://localhost/x"),
        ("endpoint", "https://user@push.example.org/x"),
        ("endpoint", "javascript:alert(1)"),
        ("endpoint", "https://push.example.org/" + "x" * 1000),
        ("p256dh", ""),
        ("p256dh", "BAAA"),
        ("p256dh", "快取"),
        ("p256dh", "B" + "A" * 86),  # a point that is on no curve
        ("auth", "AAAA"),
        ("auth", "***"),
    ],
    rolled_back=True,
)
def test_what_no_notice_can_be_sent_to_is_refused(
    alice: Any, as_person: Any, phone: Phone, field: str, value: str
) -> None:
    given = phone.subscription | {"endpoint": "https://push.example.org/x"} | {field: value}
    answer = as_person(alice).post(reverse("device-add"), given, follow=True)
    assert "message error" in answer.content.decode()
    assert not PushDevice.objects.exists()


def test_a_person_has_so_many_devices_at_most(
    alice: Any, as_person: Any, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PushDevice, "MOST", 2)
    for name in ("one", "two", "three", "two"):
        as_person(alice).post(reverse("device-add"), Phone(service, name).subscription)
    assert PushDevice.objects.count() == 2


# -- the app -----------------------------------------------------------------------------------------


def test_the_app_says_and_keeps_nothing_of_anybody(alice: Any) -> None:
    signed_in = Client()
    signed_in.force_login(alice)
    for name in ("manifest", "service-worker", "offline"):
        answers = [each.get(reverse(name), {"language": "en"}) for each in (Client(), signed_in)]
        assert answers[0].status_code == 200
        assert answers[0].content == answers[1].content, "whoever asks"
    policy = answers[0]["Content-Security-Policy"]
    assert ("worker-src 'self'" in policy, "manifest-src 'self'" in policy) == (True, True)


@pytest.mark.usefixtures("translated")
def test_the_app_speaks_the_language_of_the_page_that_brought_it() -> None:
    found = Client().get(reverse("manifest"), {"language": "zh-hant"}).json()
    assert (found["lang"], found["description"]) == ("zh-hant", "審核代理暫留的內容。")
    assert {icon["purpose"] for icon in found["icons"]} == {"any", "maskable"}
    assert all(finders.find(icon["src"].removeprefix("/static/")) for icon in found["icons"])
    assert "沒有連線" in Client().get(reverse("offline"), {"language": "zh-hant"}).content.decode()
    scripts = {Client().get(reverse("service-worker"), {"language": each}).content for each in ("en", "zh-hant", "x")}
    assert len(scripts) == 2, "each keeps its own page, and what is no language is the browser's"
