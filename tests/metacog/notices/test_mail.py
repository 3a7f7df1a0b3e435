"""What people are told by mail, when, and that a mail server in trouble costs nothing but time."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import AuditEvent, Membership, Notice, PersonNotices, User
from metacog.notices import mail as way_out
from metacog.notices.push import Outcome
from reviews.held import decisions, presence
from reviews.models import ExtensionRequest, HeldItem, Looking
from reviews.outbox import notification_texts, notifications
from tests.metacog.notices.conftest import DAY, HOUR, MINUTE, NOW, hold, sweep, tell
from tests.tables import table

pytestmark = pytest.mark.django_db


def talking() -> list[threading.Thread]:
    """Return the threads that talk to a mail server."""
    return [thread for thread in threading.enumerate() if thread.name == "mail"]


def test_it_tells_of_each_item_once_and_at_most_once_an_hour(alice: Any, kuro: Any) -> None:
    tell(alice)
    hold(kuro, NOW)
    assert sweep(NOW + 14 * MINUTE) == [], "it has not waited long enough"
    [first] = sweep(NOW + 15 * MINUTE)
    assert first.to == ["alice@example.org"]
    assert first.subject == "metacog: 1 new held item, score 50"
    hold(kuro, NOW + 20 * MINUTE)
    assert sweep(NOW + 36 * MINUTE) == [], "an hour is not over"
    assert sweep(NOW + 75 * MINUTE) == []
    [second] = sweep(NOW + 76 * MINUTE)
    assert "1 new held item for you." in second.body
    assert "\nOpen queue\nhttps://metacog.example.org/queue/\n" in second.body
    assert [sweep(NOW + n * DAY) for n in range(1, 4)] == [[], [], []], "both were told of"
    assert AuditEvent.objects.filter(action="notice-sent", data__person="alice").count() == 2


def test_what_somebody_has_open_is_no_reason_to_write_but_is_told_with_the_rest(
    alice: Any, bob: Any, kuro: Any
) -> None:
    tell(alice)
    now = timezone.now()
    presence.look(bob, HeldItem.objects.get(public_id=hold(kuro, now - HOUR)))
    assert sweep(now) == []
    hold(kuro, now - HOUR)
    [message] = sweep(now)
    assert "2 new held items for you." in message.body


def test_what_nobody_decided_is_told_once_its_reader_went_away(alice: Any, bob: Any, kuro: Any) -> None:
    tell(alice)
    presence.look(bob, HeldItem.objects.get(public_id=hold(kuro, timezone.now() - HOUR)))
    now = timezone.now()
    assert [len(sweep(now)), len(sweep(now + timedelta(seconds=21)))] == [0, 1]


def test_the_riskiest_comes_first(alice: Any, kuro: Any) -> None:
    tell(alice)
    items = [hold(kuro, NOW - HOUR) for _ in range(6)]
    HeldItem.objects.filter(public_id=items[0]).update(hesitation_score=90)
    [message] = sweep(NOW)
    assert message.subject == "metacog: 6 new held items, the highest score 90"
    told = re.findall(r"/queue/(held_\w+)/", message.body)
    assert told == [items[0], *items[:1:-1]], "of the others the newest, five in all"


def test_what_was_decided_is_not_told(alice: Any, bob: Any, kuro: Any) -> None:
    tell(alice)
    now = timezone.now()
    decisions.decide(HeldItem.objects.get(public_id=hold(kuro, now - HOUR)), bob, "approve")
    assert sweep(now) == []


@table(
    ("zone", "sent"),
    [
        ("Europe/Berlin", datetime(2026, 10, 25, 7, tzinfo=UTC)),  # the clocks went back that night
        ("Asia/Taipei", datetime(2026, 10, 25, 0, tzinfo=UTC)),
        ("America/St_Johns", datetime(2026, 10, 25, 10, 30, tzinfo=UTC)),
    ],
    rolled_back=True,
)
def test_a_daily_mail_comes_at_the_persons_own_hour(alice: Any, kuro: Any, zone: str, sent: datetime) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone=zone)
    tell(alice, "daily", hour=8, turn_at=sent - HOUR)
    hold(kuro, sent - 2 * HOUR)
    assert sweep(sent - timedelta(seconds=1)) == []
    assert len(sweep(sent)) == 1
    hold(kuro, sent + MINUTE)
    assert sweep(sent + 20 * HOUR) == []
    assert len(sweep(sent + 25 * HOUR)) == 1


def test_an_hour_that_comes_twice_brings_one_daily_mail(alice: Any, kuro: Any) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Europe/Berlin")
    first = datetime(2026, 10, 25, 0, tzinfo=UTC)  # two o'clock; an hour later it is two again
    tell(alice, "daily", hour=2, turn_at=first - HOUR)
    hold(kuro, first - 2 * HOUR)
    assert len(sweep(first)) == 1
    hold(kuro, first + MINUTE)
    assert [sweep(first + HOUR), sweep(first + 90 * MINUTE), sweep(first + 3 * HOUR)] == [[], [], []]
    assert len(sweep(first + 25 * HOUR)) == 1


def test_days_of_downtime_end_in_one_mail(alice: Any, kuro: Any) -> None:
    tell(alice, "daily", turn_at=NOW)
    for n in range(3):
        hold(kuro, NOW + n * DAY)
    late = NOW + 4 * DAY + 3 * HOUR
    assert [len(sweep(late)), len(sweep(late)), len(sweep(late + HOUR))] == [1, 0, 0]


def test_what_is_held_after_the_clock_was_set_back_is_told(alice: Any, kuro: Any) -> None:
    tell(alice)
    hold(kuro, NOW + 300 * DAY - HOUR)
    assert len(sweep(NOW + 300 * DAY)) == 1
    assert sweep(NOW) == []
    HeldItem.objects.update(state="rejected")
    hold(kuro, NOW + MINUTE)
    assert len(sweep(NOW + 2 * HOUR)) == 1


def test_what_somebody_had_open_before_the_clock_was_set_back_is_told(alice: Any, bob: Any, kuro: Any) -> None:
    tell(alice)
    held = HeldItem.objects.get(public_id=hold(kuro, NOW - HOUR))
    presence.look(bob, held)
    Looking.objects.update(seen_at=NOW + 8 * DAY)
    assert len(sweep(NOW)) == 1


def test_a_daily_turn_without_news_is_over(alice: Any, kuro: Any) -> None:
    tell(alice, "daily", turn_at=NOW - DAY)
    assert sweep(NOW) == []
    hold(kuro, NOW + MINUTE)
    assert sweep(NOW + HOUR) == [], "its time is tomorrow at eight"
    assert len(sweep(NOW + 20 * HOUR)) == 1


@pytest.mark.parametrize("why", ["viewer", "left", "inactive", "no address", "never", "no server", "another team"])
def test_it_tells_nobody_who_cannot_decide_or_be_reached(
    alice: Any, mallory: Any, kuro: Any, settings: Any, why: str
) -> None:
    person = mallory if why == "another team" else alice
    tell(person)
    hold(kuro, NOW - HOUR)
    member = Membership.objects.filter(user=person)
    if why == "viewer":
        member.update(role="viewer")
    elif why == "left":
        member.delete()
    elif why == "inactive":
        User.objects.filter(pk=person.pk).update(is_active=False)
    elif why == "no address":
        User.objects.filter(pk=person.pk).update(email="")
    elif why == "never":
        PersonNotices.objects.update(when="never")
    elif why == "no server":
        settings.MAIL_FROM = ""
    assert sweep(NOW) == []
    assert not Notice.objects.exists()


@table("what", [{"is_active": False}, {"email": ""}, {"told__when": "never"}], rolled_back=True)
def test_who_is_to_be_told_nothing_since_is_told_nothing(alice: Any, kuro: Any, what: dict[str, Any]) -> None:
    told = tell(alice)
    hold(kuro, NOW - HOUR)
    notifications.write_due(NOW)
    if "told__when" in what:
        PersonNotices.objects.filter(pk=told.pk).update(when="never")
    else:
        User.objects.filter(pk=alice.pk).update(**what)
    assert sweep(NOW) == []
    assert Notice.objects.get().state == "moot"
    assert not AuditEvent.objects.filter(action__startswith="notice-").exists()


def test_it_arrives_at_a_real_server_with_the_headers_it_should(alice: Any, kuro: Any, smtp: Any) -> None:
    tell(alice)
    held = hold(kuro, NOW - HOUR)
    sweep(NOW)
    [message] = smtp.messages
    assert smtp.recipients == ["alice@example.org"]
    assert message["Message-ID"] == f"<{Notice.objects.get().public_id}@metacog.example.org>"
    assert message["From"] == "metacog <metacog@example.org>"
    assert message["List-Unsubscribe"].strip().startswith("<https://metacog.example.org/notices/stop/")
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["Auto-Submitted"] == "auto-generated"
    text, html = (part.get_payload(decode=True).decode() for part in message.get_payload())
    for body in (text, html):
        assert f"https://metacog.example.org/queue/{held}/" in body
        assert "CHAT from kuro (Aurora), score 50" in body
        assert "Error pattern" in body
        assert "The cause is clearly" not in body, "no text of the agent leaves unless the team says so"
    assert Notice.objects.get().state == "sent"


@pytest.mark.parametrize(
    ("url", "sender", "name"),
    [
        ("https://metacog.example.org", "metacog@example.com", "metacog.example.org"),
        ("http://127.0.0.1:8000", "metacog <metacog@example.com>", "example.com"),
        ("http://[::1]:8000", "metacog@exämple.com", "xn--exmple-cua.com"),
    ],
)
def test_mail_names_this_site_and_not_the_machine(
    alice: Any, as_person: Any, smtp: Any, settings: Any, url: str, sender: str, name: str
) -> None:
    tell(alice)
    settings.PUBLIC_URL, settings.MAIL_FROM = url, sender
    as_person(alice).post("/preferences/notices/test")
    assert smtp.hello == name
    assert smtp.messages[0]["Message-ID"].endswith(f"@{name}>")


@pytest.mark.parametrize(
    ("command", "answer", "trouble"),
    [("RCPT", "550 no such person", "recipient"), ("DATA", "554 spam", "refused"), ("MAIL", "421 busy", "refused")],
)
def test_what_a_server_refuses_is_tried_again_under_the_same_id(
    alice: Any, kuro: Any, smtp: Any, command: str, answer: str, trouble: str
) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    smtp.answers[command] = answer
    sweep(NOW)
    notice = Notice.objects.get()
    assert (notice.state, notice.trouble, notice.attempts) == ("waiting", trouble, 1)
    assert notifications.send_due(NOW + 59 * timedelta(seconds=1)) == 0
    smtp.answers.clear()
    hold(kuro, NOW - 30 * MINUTE)
    sweep(NOW + MINUTE)
    [message] = smtp.messages
    assert message["Message-ID"] == f"<{notice.public_id}@metacog.example.org>"
    assert "2 new held items" in message["Subject"], "one mail tells of all that came meanwhile"
    sweep(NOW + 3 * HOUR)
    assert len(smtp.messages) == 1


def test_a_name_that_a_server_does_not_know_is_told_as_such(alice: Any, kuro: Any, smtp: Any, settings: Any) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "metacog", "old"
    smtp.answers |= {"EHLO": "250-mail.test\r\n250 AUTH PLAIN", "AUTH": "535 no"}
    tell(alice)
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert Notice.objects.get().trouble == "sign-in"


def test_a_server_that_stops_answering_is_told_as_such(alice: Any, kuro: Any, smtp: Any, settings: Any) -> None:
    settings.EMAIL_TIMEOUT = 0.2
    smtp.answers["MAIL"] = None
    tell(alice)
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert Notice.objects.get().trouble == "timeout"


@pytest.mark.parametrize(("must", "trouble"), [("EMAIL_USE_TLS", "no-tls"), ("EMAIL_USE_SSL", "connection")])
def test_nothing_goes_to_a_server_that_offers_no_encryption_where_it_must(
    alice: Any, kuro: Any, smtp: Any, settings: Any, must: str, trouble: str
) -> None:
    setattr(settings, must, True)
    tell(alice)
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert (smtp.recipients, smtp.messages, Notice.objects.get().trouble) == ([], [], trouble)


def test_a_server_that_hangs_costs_no_more_than_the_deadline(
    alice: Any, bob: Any, kuro: Any, smtp: Any, settings: Any, monkeypatch: Any
) -> None:
    tell(alice)
    tell(bob)
    hold(kuro, NOW - HOUR)
    settings.EMAIL_TIMEOUT = 60
    monkeypatch.setattr(way_out, "DEADLINE_SECONDS", 0.3)
    smtp.answers["EHLO"] = None
    sweep(NOW)
    assert len(talking()) == 2, "whoever hangs was not waited for"
    assert set(Notice.objects.values_list("trouble", flat=True)) == {"timeout"}


@pytest.mark.parametrize(
    ("command", "every", "length", "trouble"),
    [("EHLO", 0, 500, "no-smtp"), ("RCPT", 0.01, 500, "timeout"), ("QUIT", 0, 500, ""), ("QUIT", 0, 9_000, "")],
)
def test_a_server_that_says_no_end_of_lines_is_cut_off(
    alice: Any, kuro: Any, smtp: Any, monkeypatch: Any, command: str, every: float, length: int, trouble: str
) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    if trouble == "timeout":
        monkeypatch.setattr(way_out, "TALK_SECONDS", 0.5)
    smtp.answers[command], smtp.endless = "250-" + "x" * length, every
    sweep(NOW)
    assert Notice.objects.get().trouble == trouble
    for thread in talking():
        thread.join(20)  # it has told what came of it, and ends
    assert talking() == [], "nothing is left behind"
    assert len(smtp.messages) == (trouble == "")


def test_what_is_no_mail_server_is_told_as_such(alice: Any, kuro: Any, smtp: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    smtp.greets = "SSH-2.0-OpenSSH_9.9"
    sweep(NOW)
    assert Notice.objects.get().trouble == "no-smtp"


def test_a_server_that_is_away_is_given_up_after_a_day(alice: Any, kuro: Any, settings: Any) -> None:
    settings.EMAIL_BACKEND = "metacog.notices.mail.Backend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    tell(alice)
    hold(kuro, NOW - HOUR)
    now = NOW
    for pause in (0, *notifications.SCHEDULE):
        now += timedelta(seconds=pause)
        sweep(now)
        hold(kuro, now - MINUTE)  # which is no reason for a notice of its own
        sweep(now + timedelta(seconds=min(pause, 4000)) / 2)
    notice = Notice.objects.get()
    assert (notice.state, notice.trouble, notice.attempts) == ("given-up", "connection", 10)
    assert DAY - HOUR < notice.ended_at - notice.created_at < DAY
    assert AuditEvent.objects.get(action="notice-given-up").data["trouble"] == "connection"


def test_a_worker_that_dies_while_sending_costs_one_attempt(alice: Any, kuro: Any, monkeypatch: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    monkeypatch.setattr(notifications, "_record", lambda *_: None)
    assert len(sweep(NOW)) == 1
    monkeypatch.undo()
    assert sweep(NOW + notifications.LEASE - timedelta(seconds=1)) == [], "somebody may still be at it"
    [again] = sweep(NOW + notifications.LEASE)
    assert Notice.objects.get().state == "sent"
    assert sweep(NOW + 2 * notifications.LEASE) == []
    assert again.extra_headers["Message-ID"] == f"<{Notice.objects.get().public_id}@metacog.example.org>"


def test_a_notice_that_kills_every_worker_is_given_up(alice: Any, kuro: Any, monkeypatch: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    monkeypatch.setattr(notifications, "_record", lambda *_: None)
    attempts = [len(sweep(NOW + n * notifications.LEASE)) for n in range(12)]
    notice = Notice.objects.get()
    assert attempts == [1] * 10 + [0, 0]
    assert (notice.state, notice.trouble, notice.attempts) == ("given-up", "interrupted", 10)


def test_an_attempt_that_comes_back_late_leaves_the_next_one_alone(alice: Any, kuro: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    notifications.write_due(NOW)
    [first] = notifications._claim_due(NOW)
    [second] = notifications._claim_due(NOW + notifications.LEASE)
    notifications._record(first.notice, Outcome("timeout"), NOW + notifications.LEASE)
    assert Notice.objects.get().leased_until == NOW + 2 * notifications.LEASE, "the second is under way"
    notifications._record(second.notice, Outcome(""), NOW + notifications.LEASE + MINUTE / 2)
    assert Notice.objects.get().state == "sent"


@table("is_over", [False, True], rolled_back=True)
def test_it_also_says_how_many_requests_for_more_tool_calls_wait(
    alice: Any, kuro: Any, other: Any, is_over: bool
) -> None:
    tell(alice)
    now = timezone.now()
    hold(kuro, now - HOUR)
    reason = {"reason": "Need TSMC Q3 revenue", "evidence": ["Q2: 933.8"]}
    for caller in (kuro, other):
        for number in range(3):  # the first two pass by rule
            caller.post(
                "/extensions", reason | {"reason": f"{reason['reason']} of year {2020 + number}, not in the memory"}
            )
    waiting = ExtensionRequest.objects.filter(state="pending")
    assert waiting.filter(agent__public_id=kuro.id).count() == 1
    if is_over:
        waiting.update(expires_at=now)
    [message] = sweep(now)
    for body in (message.body, message.alternatives[0][0]):
        assert ("1 extension request is pending too." in body) != is_over


def test_what_is_decided_while_it_is_made_is_not_told(alice: Any, kuro: Any, monkeypatch: Any) -> None:
    made = notification_texts.mail_of

    def late(*arguments: Any) -> Any:
        HeldItem.objects.update(state="withdrawn")
        return made(*arguments)

    tell(alice)
    hold(kuro, NOW - HOUR)
    monkeypatch.setattr(notification_texts, "mail_of", late)
    assert sweep(NOW) == []
    notice = Notice.objects.get()
    assert (notice.state, notice.trouble) == ("moot", "")


def test_one_that_cannot_be_made_holds_up_nobody(alice: Any, bob: Any, kuro: Any, monkeypatch: Any) -> None:
    tell(alice)
    tell(bob)
    hold(kuro, NOW - HOUR)
    made = notification_texts.mail_of

    def broken(notice: Any, *rest: Any) -> Any:
        if notice.person == alice:
            raise ValueError
        return made(notice, *rest)

    monkeypatch.setattr(notification_texts, "mail_of", broken)
    assert [message.to for message in sweep(NOW)] == [["bob@example.org"]]
    assert Notice.objects.get(person=alice).trouble == "error"


def test_more_people_than_there_are_slots_are_told_in_one_sweep(
    aurora: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "SLOTS", 4)
    for number in range(10):
        person = User.objects.create(username=f"person{number}")
        Membership.objects.create(user=person, team=aurora, role="reviewer")
        tell(person, "daily", turn_at=NOW - DAY)
    hold(kuro, NOW - HOUR)
    assert len({message.to[0] for message in sweep(NOW)}) == 10


def test_what_is_decided_before_a_second_attempt_is_not_told(alice: Any, bob: Any, kuro: Any, smtp: Any) -> None:
    tell(alice)
    held = HeldItem.objects.get(public_id=hold(kuro, timezone.now() - HOUR))
    now = timezone.now()
    smtp.answers["MAIL"] = "451 later"
    sweep(now)
    decisions.decide(held, bob, "approve")
    smtp.answers.clear()
    sweep(now + MINUTE)
    assert smtp.messages == []
    assert Notice.objects.get().state == "moot"


@pytest.mark.parametrize(
    ("language", "subject"),
    [("zh-hant", "metacog：1 個新的暫留項目，最高 50 分"), ("zh-hans", "metacog：1 个新的暂留条目，最高 50 分")],
)
@pytest.mark.usefixtures("translated")
def test_it_speaks_the_persons_language(alice: Any, kuro: Any, language: str, subject: str) -> None:
    User.objects.filter(pk=alice.pk).update(language=language, time_zone="Asia/Taipei")
    tell(alice)
    hold(kuro, NOW - HOUR)
    [message] = sweep(NOW)
    assert message.subject == subject
    assert "CST" in message.body


def test_a_time_zone_that_this_machine_does_not_know_is_utc(alice: Any, kuro: Any) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Mars/Phobos")
    tell(alice, "daily", turn_at=NOW - DAY)
    hold(kuro, NOW - HOUR)
    [message] = sweep(NOW)
    assert " 11:00 UTC" in message.body


def test_what_is_over_is_forgotten_after_ninety_days_and_its_record_stays(alice: Any, bob: Any, kuro: Any) -> None:
    tell(alice)
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    tell(bob)
    notifications.write_due(NOW)
    Notice.objects.filter(person=bob).update(created_at=NOW - 365 * DAY)
    assert notifications.forget(NOW + 89 * DAY) == 0
    assert notifications.forget(NOW + 91 * DAY) == 1
    assert Notice.objects.get().person == bob, "what still waits is owed"
    assert AuditEvent.objects.filter(action="notice-sent").exists()
