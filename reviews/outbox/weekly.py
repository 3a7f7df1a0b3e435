"""The weekly report by mail: whose week is over, and what it says. A report is sent once, as a notice of its week."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from metacog.models import Membership, Notice, PersonNotices, Role, Team, User
from metacog.notices import mail, notices
from metacog.notices.mail import Mail
from reviews.metrics.ranges import Range
from reviews.outbox.notification_texts import NothingNew, headers, plain, spoken_to, url, zone_of
from reviews.presentation.statistics import weekly
from reviews.presentation.statistics.plainly import without_intervals
from reviews.presentation.statistics.weekly import Weekly as Report

Weekly = PersonNotices.Weekly

WEEK = timedelta(days=7)
_DAY = timedelta(days=1)


# -- whose turn it is --------------------------------------------------------------------------------


def write_due(now: datetime) -> int:
    """Write into the outbox the reports whose hour has come since the last one; return how many.

    After downtime, however long, that is one for each team and reader. Four queries, however many there are.
    """
    if not mail.is_set_up():
        return 0
    wanted = {
        (person.pk, latest[0]): latest[1]
        for person, team, role in _members()
        if (latest := _latest(person, team, role, now))
    }
    # Written once a week: a sweep that was here before has left a notice, whatever became of that.
    of_them = {"person__in": {person for person, _about in wanted}, "about__in": {about for _person, about in wanted}}
    written = set(Notice.objects.filter(kind=Notice.Kind.WEEKLY, **of_them).values_list("person", "about"))
    new = [
        Notice(person_id=person, kind=Notice.Kind.WEEKLY, about=about, until=due, created_at=now, next_attempt_at=now)
        for (person, about), due in wanted.items()
        if (person, about) not in written
    ]
    Notice.objects.bulk_create(new, ignore_conflicts=True)  # another sweep may have been faster
    return len(new)


def _members() -> Iterator[tuple[User, Team, Role]]:
    """Give who can be mailed with each of their teams, and what they are there."""
    members = Membership.objects.filter(user__is_active=True, user__is_superuser=False).exclude(user__email="")
    for member in members.select_related("user__told", "team").order_by("pk"):
        yield member.user, member.team, Role(member.role)
    everywhere = User.objects.filter(is_active=True, is_superuser=True).exclude(email="").select_related("told")
    teams = list(Team.objects.all())
    yield from ((person, team, Role.OWNER) for person in everywhere for team in teams)


def _latest(person: User, team: Team, role: Role, now: datetime) -> tuple[str, datetime] | None:
    """Return what a person's latest report of a team is about, and when it was due; None where none is wanted."""
    told: PersonNotices = getattr(person, "told", None) or PersonNotices(person=person)
    if told.weekly == Weekly.NEVER or (told.weekly == Weekly.OWNED and role != Role.OWNER):
        return None
    due = due_at(told, now)
    if due < max(filter(None, (team.created_at, person.date_joined, told.weekly_from))):
        return None
    there = due.astimezone(zone_of(person)).isocalendar()
    return f"{team.pk}/{there.year}-W{there.week:02}", due


def due_at(told: PersonNotices, now: datetime) -> datetime:
    """Return when it last was the weekday and hour that a person chose, where they are."""
    there = now.astimezone(zone_of(told.person))
    there -= timedelta(days=(there.weekday() - told.weekly_day) % 7)
    there = there.replace(hour=told.weekly_hour, minute=0, second=0, microsecond=0, fold=0)
    came = there.astimezone(UTC)  # compared in UTC: within one zone Python compares the hands of the clock
    return came if came <= now else (there - WEEK).astimezone(UTC)


def teams_of(told: PersonNotices) -> QuerySet[Team]:
    """Return the teams whose report a person gets."""
    if told.weekly == Weekly.NEVER:
        return Team.objects.none()
    return told.person.teams_as(Role.OWNER if told.weekly == Weekly.OWNED else Role.VIEWER)


# -- what it says ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Letter:
    """A report as a mail has it, in the language and time zone in force."""

    report: Report
    subject: str
    days: str
    page_url: str
    preferences_url: str
    stop_url: str

    @property
    def sections(self) -> list[tuple[str, list[tuple[str, str, str]], str, str]]:
        """Return each section's title, its lines (name, sentence, address), and where there is more."""
        return [
            (
                each.title,
                [(line.name, without_intervals(line.told), _full(line.path)) for line in each.lines],
                each.more,
                _full(each.path),
            )
            for each in self.report.sections
        ]

    @property
    def text(self) -> str:
        colon = gettext(": ")
        lines = [self.report.first_line, self.days, ""]
        for title, told, more, address in self.sections:
            lines += [title]
            for name, said, path in told:
                lines += [f"* {name}{colon}{said}" if name else f"* {said}", *([f"  {path}"] if path else [])]
            lines += [f"  {more}{colon}{address}", ""]
        lines += [gettext("This report on a page"), self.page_url, "", "-- "]
        lines += [gettext("Notice preferences"), self.preferences_url]
        lines += [gettext("Unsubscribe"), self.stop_url] if self.stop_url else []
        return "\n".join(lines) + "\n"


def _full(path: str) -> str:
    return settings.PUBLIC_URL + path if path else ""


def mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return a report as it was due. Raises NothingNew: it is none of the person's any more, or nothing happened."""
    team = teams_of(told).filter(pk=notice.about.partition("/")[0]).first()
    if team is None:
        raise NothingNew
    return letter_of(team, told, notice.until, headers=headers(notice, notices.stop_link(told.person)))


def letter_of(team: Team, told: PersonNotices, due: datetime, *, headers: dict[str, str]) -> Mail:
    """Return the report of the seven days before the day on which it is due. Raises NothingNew."""
    person = told.person
    with spoken_to(person, told.language):
        report = weekly.read(team, person, days_before(due.astimezone(zone_of(person))), plain)
        if report.is_empty:
            raise NothingNew
        letter = letter_in_words(report, notices.stop_link(person))
        html = render_to_string("reviews/weekly_mail.html", {"letter": letter, "language": translation.get_language()})
        text = letter.text
    message = Mail(letter.subject, text, settings.MAIL_FROM, [person.email], headers=headers)
    message.attach_alternative(html, "text/html")
    return message


def letter_in_words(report: Report, stop_url: str) -> Letter:
    return Letter(
        report,
        subject=gettext("metacog: the week of %(team)s") % {"team": plain(report.team.name)},
        days=days_in_words(report),
        page_url=f"{url('weekly-report')}?team={report.team.pk}",
        preferences_url=url("preferences"),
        stop_url=stop_url,
    )


def days_before(moment: datetime) -> Range:
    """Return the seven days before the one of a moment, in its own zone."""
    return Range.up_to(moment.date() - _DAY, weekly.DAYS)


def days_in_words(report: Report) -> str:
    first, last = (str(date_format(day, "DATE_FORMAT")) for day in (report.days.first, report.days.last))
    said = {"team": plain(report.team.name), "first": first, "last": last}
    return gettext("%(team)s, %(first)s to %(last)s (UTC)") % said
