"""Owners, and who else wants it, get a team's week by mail: once a week, at the weekday and hour they chose."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.accounts import members
from metacog.models import Agent, AuditEvent, Membership, Notice, PersonNotices, Team, User
from metacog.runtime import address
from reviews import activity, tasks
from reviews.metrics import daily
from reviews.models import ContrastLook, DailyFigure, SearchDue
from reviews.outbox import notifications, weekly
from tests.metacog.notices.conftest import tell
from tests.tables import table

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 11, 30, 8, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
SECRET = "sk-ant-api03-Zx9vKq27LmPw40RtYbNc81sDfGhJ"


@pytest.fixture(autouse=True)
def _week(settings: Any, aurora: Any, borealis: Any, kuro: Any, olga: Any, alice: Any, mallory: Any) -> None:
    """Have a week of the team counted: 27 of 60 decided items rejected, 30 of 60 the week before."""
    settings.MAIL_FROM, settings.PUBLIC_URL = "metacog <metacog@example.org>", "https://metacog.example.org"
    Team.objects.update(created_at=MONDAY - 90 * DAY)
    User.objects.update(date_joined=MONDAY - 90 * DAY)
    Membership.objects.update(created_at=MONDAY - 90 * DAY)
    for person in (olga, alice, mallory):
        User.objects.filter(pk=person.pk).update(email=f"{person.username}@example.org")
    counted = {
        "agent": Agent.objects.get(public_id=kuro.id),
        "counted_at": MONDAY,
        "responses": 100,
        "triggered": 80,
        "held": 65,
        "expired": 2,
    }
    counts = {"rejected": 27, "edited": 4, "approved": 29, "pending": 3, "seconds": {"30": 60}, "calls": {}}
    DailyFigure.objects.create(day=MONDAY.date() - 3 * DAY, **counted, **counts)
    before = counts | {"rejected": 30, "approved": 26}
    DailyFigure.objects.create(day=MONDAY.date() - 9 * DAY, **counted, **before)


def sweep(now: datetime) -> list[tuple[str, str]]:
    """Do what the worker does, and return to whom what was sent."""
    before = len(mail.outbox)
    weekly.write_due(now)
    notifications.send_due(now)
    return [(message.to[0], str(message.subject)) for message in mail.outbox[before:]]


def test_an_owner_gets_it_once_a_week_from_the_hour_on() -> None:
    assert sweep(MONDAY - 7 * DAY) == [("olga@example.org", "metacog: the week of Aurora")]
    assert sweep(MONDAY - MINUTE) == []
    assert sweep(MONDAY) == [("olga@example.org", "metacog: the week of Aurora")]
    for later in (MINUTE, DAY, 6 * DAY):
        assert sweep(MONDAY + later) == []
    Notice.objects.filter(kind="weekly").update(state="given-up")
    assert sweep(MONDAY + 6 * DAY) == [], "nor after it was given up"


def test_it_says_what_was_held_found_missed_and_what_to_retire(aurora: Any) -> None:
    rule = {"rule": {"tool": f"mail {SECRET}", "do": "ask"}, "agent": "agt_1"}
    counted = {"asked": 40, "rejected": 0, "base": [60, 200]}
    retiring = {"signals": [], "no_longer": [0, 0], "patterns": [], "rules": [rule | counted]}
    ContrastLook.objects.update_or_create(team=aurora, defaults={"retiring": retiring, "at": MONDAY, "texts": 0})
    sweep(MONDAY)
    message: Any = mail.outbox[0]
    [(html, _type)] = message.alternatives
    first = "People rejected 27 of the 60 items they decided, about the same share as the week before."
    what = "Texts and tool calls; what agents withdrew is not counted."
    assert message.body.startswith(f"{first}\n{what}\nAurora, Nov 23, 2026 to Nov 29, 2026 (UTC)\n")
    for told in (
        "27 texts and tool calls were rejected or withdrawn. 4 were approved with edits.",
        "Undecided: 2 expired, 3 still pending.",
        "No spot checks were answered",
        "0 of 40 rejected; of the others, 30% (n = 200)",
    ):
        assert told in message.body, told
        assert told in html, told
    assert [title in html for title in ("Held", "Found", "Missed", "To retire")] == [True] * 4
    assert SECRET not in message.body + html
    assert "95%" not in message.body + html, "the interval is on the page"
    assert f"https://metacog.example.org/statistics/weekly/?team={aurora.pk}" in message.body
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


@table(
    ("chosen", "due"),
    [
        ({}, MONDAY),
        ({"weekly_day": 4, "weekly_hour": 17}, MONDAY + 4 * DAY + timedelta(hours=9)),
        ({"zone": "Asia/Taipei"}, MONDAY - timedelta(hours=8)),
        ({"zone": "America/St_Johns"}, MONDAY + timedelta(hours=3, minutes=30)),
    ],
    rolled_back=True,
)
def test_each_chooses_the_weekday_and_hour_where_they_are(olga: Any, chosen: dict[str, Any], due: datetime) -> None:
    zone = chosen.pop("zone", "UTC")
    User.objects.filter(pk=olga.pk).update(time_zone=zone)
    tell(olga, "never", **chosen)
    sweep(due - MINUTE)
    assert [to for to, _subject in sweep(due)] == ["olga@example.org"]


@table(
    ("who", "choice", "is_mailed"),
    [
        ("olga", "owned", True), ("olga", "all", True), ("olga", "never", False),
        ("alice", "owned", False), ("alice", "all", True), ("alice", "never", False),
        ("mallory", "all", False),  # of the other team, in which nothing happened
    ],
    rolled_back=True,
)  # fmt: skip
def test_who_owns_a_team_gets_it_and_who_asks_for_it(
    olga: Any, alice: Any, mallory: Any, who: str, choice: str, is_mailed: bool
) -> None:
    for person in (olga, alice, mallory):
        tell(person, "never", weekly=choice if person.username == who else "never")
    assert [to for to, _subject in sweep(MONDAY)] == ([f"{who}@example.org"] if is_mailed else [])


@table(
    "meanwhile",
    ["no choice any more", "no member any more", "no address", "chosen after it was due", "joined after it was due"],
    rolled_back=True,
)
def test_what_is_over_is_not_sent(olga: Any, meanwhile: str) -> None:
    if meanwhile == "chosen after it was due":
        tell(olga, "never", weekly_from=MONDAY + MINUTE)
    elif meanwhile == "joined after it was due":
        User.objects.update(date_joined=MONDAY + MINUTE)
    weekly.write_due(MONDAY)
    if meanwhile == "no choice any more":
        tell(olga, "never", weekly="never")
    elif meanwhile == "no member any more":
        Membership.objects.filter(user=olga).delete()
    elif meanwhile == "no address":
        User.objects.filter(pk=olga.pk).update(email="")
    assert sweep(MONDAY + 2 * MINUTE) == []


@table(
    ("since", "first"),
    [
        ({"created_at": MONDAY - 4 * DAY}, 1), ({"created_at": MONDAY - 8 * DAY}, 0),
        ({"created_at": MONDAY - 7 * DAY - timedelta(hours=8)}, 0),  # with its first day
        ({"created_at": MONDAY - 7 * DAY}, 1),
        ({"owner_since": MONDAY - DAY}, 1), ({"owner_since": MONDAY + DAY}, 2), ({"created_at": None}, 0),
    ],
    rolled_back=True,
)  # fmt: skip
def test_a_new_owner_gets_the_first_full_week(olga: Any, since: dict[str, datetime | None], first: int) -> None:
    Membership.objects.filter(user=olga).update(**since)
    DailyFigure.objects.filter(rejected=30).update(day=MONDAY.date() + 2 * DAY)
    sent = [week for week in range(3) if sweep(MONDAY + 7 * week * DAY)]
    assert sent[0] == first


def test_who_is_made_owner_is_new_from_then_on(aurora: Any, alice: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: MONDAY - DAY)
    members.change_role(Membership.objects.get(user=alice), "owner", None)
    assert "alice@example.org" not in [to for to, _subject in sweep(MONDAY)]
    DailyFigure.objects.filter(rejected=30).update(day=MONDAY.date() + 2 * DAY)
    assert "alice@example.org" in [to for to, _subject in sweep(MONDAY + 7 * DAY)]


def test_it_sleeps_until_the_next_is_due_and_a_change_wakes_it(olga: Any, as_person: Any, monkeypatch: Any) -> None:
    def is_awake(now: datetime) -> bool:
        """Say whether the beat finds something due."""
        monkeypatch.setattr("reviews.activity.timezone.now", lambda: now)
        return activity.latest() != activity.latest()

    assert AuditEvent.objects.exists()
    assert is_awake(MONDAY - DAY), "nobody has looked at them yet"
    sweep(MONDAY - DAY)
    SearchDue.objects.all().delete()
    assert [is_awake(MONDAY + at) for at in (-DAY, -MINUTE, timedelta(), MINUTE)] == [False, False, True, True]
    sweep(MONDAY)
    assert [is_awake(MONDAY + at) for at in (MINUTE, 7 * DAY - MINUTE, 7 * DAY)] == [False, False, True]
    person = User.objects.get(pk=olga.pk)
    chosen = {"language": "", "time_zone": "Asia/Taipei", "theme": ""}
    assert as_person(person).post(reverse("preferences"), chosen).status_code == 302
    assert is_awake(MONDAY + MINUTE), "the hour is another there"
    sweep(MONDAY + MINUTE)
    SearchDue.objects.all().delete()
    assert [is_awake(MONDAY + 7 * DAY - timedelta(hours=at)) for at in (9, 8)] == [False, True]


def test_a_clock_that_was_set_back_ends_no_report(olga: Any) -> None:
    sweep(MONDAY + 70 * DAY)
    assert sweep(MONDAY) == [("olga@example.org", "metacog: the week of Aurora")]


def test_where_nothing_was_held_it_says_so_and_no_mail_goes(olga: Any, as_person: Any, aurora: Any) -> None:
    DailyFigure.objects.filter(rejected=30).delete()
    DailyFigure.objects.update(day=daily.day_of(datetime.now(UTC)) - DAY, held=0)
    page = as_person(olga).get(reverse("weekly-report")).content.decode()
    out = StringIO()
    call_command("weekly_report", "Aurora", stdout=out)
    for shown in (page, out.getvalue()):
        assert "Nothing was held in the two weeks before today." in shown
        assert "0 items" not in shown
    assert sweep(datetime.now(UTC)) == []


def test_after_downtime_there_is_one_and_none_without_a_mail_server(settings: Any) -> None:
    assert len(sweep(MONDAY + 4 * DAY)) == 1
    settings.MAIL_FROM = ""
    assert weekly.write_due(MONDAY + 30 * DAY) == 0


def test_it_costs_the_same_however_many_there_are(aurora: Any, django_assert_num_queries: Any) -> None:
    sweep(MONDAY)
    people = User.objects.bulk_create([User(username=f"p{n}", email=f"p{n}@example.org") for n in range(30)])
    Membership.objects.bulk_create(
        [Membership(user=person, team=aurora, role="owner", created_at=None) for person in people]
    )
    User.objects.update(date_joined=MONDAY - 90 * DAY)
    with django_assert_num_queries(8):  # two of them the savepoint
        weekly.write_due(MONDAY + DAY)
    with django_assert_num_queries(1):
        weekly.write_due(MONDAY + 2 * DAY)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL reads a small table whole")
def test_what_was_written_is_found_by_an_index() -> None:
    """Notices are kept for 90 days: a sweep does not read them all."""
    sweep(MONDAY)
    User.objects.update(report_at=MONDAY)
    with CaptureQueriesContext(connection) as ran:
        weekly.write_due(MONDAY + DAY)
    (written,) = [each["sql"] for each in ran if 'FROM "metacog_notice"' in each["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {written}")
        assert "SCAN metacog_notice" not in str(cursor.fetchall())


def test_the_worker_does_it(olga: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("reviews.tasks.timezone.now", lambda: MONDAY)
    tasks.notify()
    assert Notice.objects.get(kind="weekly", person=olga).about.endswith("/2026-W49")


def test_a_form_keeps_the_choice_and_a_report_that_was_due_is_not_sent_for_it(olga: Any, as_person: Any) -> None:
    person = User.objects.get(pk=olga.pk)
    form = {"told-email": person.email, "told-when": "never", "told-minutes": "15", "told-hour": "8"}
    chosen = {"told-weekly": "all", "told-weekly_day": "2", "told-weekly_hour": "17"}
    assert as_person(person).post(reverse("notices-change"), form | chosen).status_code == 302
    row = PersonNotices.objects.get(person=person)
    assert (row.weekly, row.weekly_day, row.weekly_hour) == ("all", 2, 17)
    assert row.weekly_from is not None
    as_person(person).post(reverse("notices-change"), form)
    assert PersonNotices.objects.get(person=person).weekly == "all", "a form without it leaves it"


class TestNow:
    """The report on a page, by mail at a press, and from the command line."""

    def test_the_page_shows_it_with_the_intervals_one_hover_away(
        self, alice: Any, as_person: Any, aurora: Any, monkeypatch: Any
    ) -> None:
        monkeypatch.setattr("django.utils.timezone.now", lambda: MONDAY)
        page = as_person(alice).get(reverse("weekly-report")).content.decode()
        assert "People rejected 27 of the 60 items they decided" in page
        assert 'class="aside"' in page
        assert "It is not mailed to you." in page
        assert "Aurora" in page

    def test_a_press_mails_it(self, alice: Any, as_person: Any, aurora: Any, monkeypatch: Any) -> None:
        person = User.objects.get(pk=alice.pk)
        DailyFigure.objects.filter(rejected=30).delete()
        DailyFigure.objects.update(day=daily.day_of(datetime.now(UTC)) - DAY)
        answer = as_person(person).post(reverse("weekly-report-send"), {"team": aurora.pk})
        assert answer.status_code == 302
        [message] = mail.outbox
        assert (message.to, "27 of the 60" in message.body) == (["alice@example.org"], True)

    def test_another_team_is_no_bodys(self, mallory: Any, as_person: Any, aurora: Any) -> None:
        page = as_person(mallory).get(reverse("weekly-report"), {"team": aurora.pk}).content.decode()
        assert "27 of the 60" not in page
        assert "Aurora" not in page

    def test_a_command_prints_it(self, monkeypatch: Any) -> None:
        monkeypatch.setattr("django.utils.timezone.now", lambda: MONDAY)
        out = StringIO()
        call_command("weekly_report", "Aurora", stdout=out)
        assert out.getvalue().startswith("People rejected 27 of the 60 items they decided")
        assert "\nhttps://metacog.example.org/statistics/weekly/" in out.getvalue()
        with pytest.raises(CommandError, match="Unknown team"):
            call_command("weekly_report", "Nobody")

    def test_the_command_names_the_address_that_mail_has(self, monkeypatch: Any, settings: Any, tmp_path: Any) -> None:
        """`up --port` knows its port; a command beside it was started without."""
        monkeypatch.setattr("django.utils.timezone.now", lambda: MONDAY)
        settings.DATA_DIR, settings.PUBLIC_URL = tmp_path, "http://127.0.0.1:8123"
        address.keep()
        settings.PUBLIC_URL = "http://127.0.0.1:8000"
        out = StringIO()
        call_command("weekly_report", "Aurora", stdout=out)
        assert ("http://127.0.0.1:8123/" in out.getvalue(), ":8000" in out.getvalue()) == (True, False)
