"""The weekly report by mail: whose week is over, and what it says. A report is sent once, as a notice of its week."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from metacog.db.clocks import LEEWAY
from metacog.models import Membership, Notice, PersonNotices, Role, Team, User
from metacog.notices import mail, notices
from metacog.notices.mail import Mail
from reviews.metrics.daily import start_of
from reviews.metrics.ranges import Range
from reviews.outbox.notification_texts import NothingNew, headers, plain, spoken_to, zone_of
from reviews.presentation.statistics import weekly
from reviews.presentation.statistics.plainly import without_intervals
from reviews.presentation.statistics.weekly import Weekly as Report

Weekly = PersonNotices.Weekly

WEEK = timedelta(days=7)
_DAY = timedelta(days=1)


# -- whose turn it is --------------------------------------------------------------------------------


def write_due(now: datetime) -> int:
    """Write into the outbox the reports whose hour has come since the last one; return how many.

    After downtime, however long, that is one for each team and reader. One query while none is due, and so many more
    however many there are.
    """
    due = User.objects.filter(Q(report_at__lte=now) | Q(report_at__gt=now + WEEK + _DAY + LEEWAY))  # a clock set back
    if not due.exists():
        return 0
    with transaction.atomic():  # a weekday, hour or time zone that is changed meanwhile is looked at by the next
        people = list(due.select_for_update(of=("self",), no_key=True).select_related("told"))
        written = _write(people, now) if mail.is_set_up() else 0
        for person in people:
            person.report_at = _next_at(_choice(person), now)
        User.objects.bulk_update(people, ["report_at"], batch_size=500)
    return written


def _write(people: Collection[User], now: datetime) -> int:
    wanted = {
        (reader.person.pk, latest[0]): latest[1] for reader in _readers(people) if (latest := _latest(reader, now))
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


class _Reader(NamedTuple):
    """Who can be mailed about a team, and since when they were there: as what their choice of reports asks for."""

    person: User
    team: Team
    role: Role
    since: datetime | None


def _readers(people: Collection[User]) -> Iterator[_Reader]:
    """Give those of the people who can be mailed, with each of their teams."""
    able = {person.pk: person for person in people if person.is_active and person.email}
    members = Membership.objects.filter(user__in=able, user__is_superuser=False).select_related("team")
    for member in members.order_by("pk"):
        person = able[member.user_id]
        as_owner = member.owner_since if _choice(person).weekly == Weekly.OWNED else None
        yield _Reader(person, member.team, Role(member.role), as_owner or member.created_at)
    everywhere = [person for person in able.values() if person.is_superuser]
    for team in Team.objects.all() if everywhere else ():
        yield from (_Reader(person, team, Role.OWNER, None) for person in everywhere)


def _choice(person: User) -> PersonNotices:
    return getattr(person, "told", None) or PersonNotices(person=person)


def _latest(reader: _Reader, now: datetime) -> tuple[str, datetime] | None:
    """Return what somebody's latest report of a team is about, and when it was due; None where none is wanted.

    The first is that of the first full week in which the team was theirs.
    """
    person, team, role, since = reader
    told = _choice(person)
    if told.weekly == Weekly.NEVER or (told.weekly == Weekly.OWNED and role != Role.OWNER):
        return None
    due = due_at(told, now)
    there = due.astimezone(zone_of(person))
    begin = start_of(days_before(there).first)
    if due < (told.weekly_from or due) or begin < max(filter(None, (team.created_at, person.date_joined, since))):
        return None
    return f"{team.pk}/{there.isocalendar().year}-W{there.isocalendar().week:02}", due


def due_at(told: PersonNotices, now: datetime) -> datetime:
    """Return when it last was the weekday and hour that a person chose, where they are."""
    return _around(told, now)[0]


def _next_at(told: PersonNotices, now: datetime) -> datetime:
    """Return when it will next be that weekday and hour."""
    return _around(told, now)[1]


def _around(told: PersonNotices, now: datetime) -> tuple[datetime, datetime]:
    there = now.astimezone(zone_of(told.person))
    there -= timedelta(days=(there.weekday() - told.weekly_day) % 7)
    there = there.replace(hour=told.weekly_hour, minute=0, second=0, microsecond=0, fold=0)
    came = there.astimezone(UTC)  # compared in UTC: within one zone Python compares the hands of the clock
    if came <= now:
        return came, (there + WEEK).astimezone(UTC)
    return (there - WEEK).astimezone(UTC), came


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
    base_url: str  # at which people reach metacog
    subject: str
    days: str
    stop_url: str

    @property
    def page_url(self) -> str:
        return self._at(f"{reverse('weekly-report')}?team={self.report.team.pk}")

    @property
    def preferences_url(self) -> str:
        return self._at(reverse("preferences"))

    def _at(self, path: str) -> str:
        return self.base_url + path if path else ""

    @property
    def sections(self) -> list[tuple[str, list[tuple[str, str, str]], str, str]]:
        """Return each section's title, its lines (name, sentence, address), and where there is more."""
        return [
            (
                each.title,
                [(line.name, without_intervals(line.told), self._at(line.path)) for line in each.lines],
                each.more,
                self._at(each.path),
            )
            for each in self.report.sections
        ]

    @property
    def text(self) -> str:
        colon = gettext(": ")
        lines = [self.report.first_line, *filter(None, [self.report.counted]), self.days, ""]
        for title, told, more, address in self.sections:
            lines += [title]
            for name, said, path in told:
                lines += [f"* {name}{colon}{said}" if name else f"* {said}", *([f"  {path}"] if path else [])]
            lines += [f"  {more}{colon}{address}", ""]
        lines += [gettext("This report on a page"), self.page_url, "", "-- "]
        lines += [gettext("Notice preferences"), self.preferences_url]
        lines += [gettext("Unsubscribe"), self.stop_url] if self.stop_url else []
        return "\n".join(lines) + "\n"


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
        letter = letter_in_words(report, settings.PUBLIC_URL, notices.stop_link(person))
        html = render_to_string("reviews/weekly_mail.html", {"letter": letter, "language": translation.get_language()})
        text = letter.text
    message = Mail(letter.subject, text, settings.MAIL_FROM, [person.email], headers=headers)
    message.attach_alternative(html, "text/html")
    return message


def letter_in_words(report: Report, base_url: str, stop_url: str) -> Letter:
    return Letter(
        report,
        base_url,
        subject=gettext("metacog: the week of %(team)s") % {"team": plain(report.team.name)},
        days=days_in_words(report),
        stop_url=stop_url,
    )


def days_before(moment: datetime) -> Range:
    """Return the seven days before the one of a moment, in its own zone."""
    return Range.up_to(moment.date() - _DAY, weekly.DAYS)


def days_in_words(report: Report) -> str:
    first, last = (str(date_format(day, "DATE_FORMAT")) for day in (report.days.first, report.days.last))
    said = {"team": plain(report.team.name), "first": first, "last": last}
    return gettext("%(team)s, %(first)s to %(last)s (UTC)") % said
