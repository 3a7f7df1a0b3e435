"""What a notice says to whom is asked to decide, and to whoever begins to be on call. It is read when it is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext, ngettext

from metacog.models import Channel, Notice, PersonNotices, Role, Team, User
from metacog.notices import notices
from metacog.notices.mail import Mail
from reviews.asking.settings import CHAT, Members, Settings
from reviews.held import approvers
from reviews.models import Asked, HeldItem, TeamAsking
from reviews.outbox import notification_texts
from reviews.outbox.notification_texts import (
    MOST,
    Letter,
    NothingNew,
    Told,
    at,
    headers,
    more,
    new_items,
    plain,
    spoken_to,
    told_of,
    url,
)


def mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return the mail that asks a person to decide. Raises NothingNew."""
    person = told.person
    items, is_next = asked_of(notice, person, now)
    with spoken_to(person, told.language):
        count, _oldest, shown = new_items(items, items, MOST)
        letter = _letter(
            person,
            headline(count, is_next=is_next),
            more(count - len(shown)) if count > len(shown) else "",
            [told_of(item, person, now) for item in shown],
        )
        return _mail(notice, person, letter)


def on_call_mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return the mail that tells a person to be on call. Raises NothingNew."""
    person = told.person
    team, until = on_call(notice, person, now)
    with spoken_to(person, told.language):
        letter = _letter(person, on_call_headline(team), on_call_until(until))
        return _mail(notice, person, letter)


def message_of(channel: Channel, notice: Notice, now: datetime) -> str:
    """Return what a team's chat is asked. Raises NothingNew."""
    rows, is_next = _asked(notice, now, lambda asked: asked.to == CHAT)
    items = approvers.narrowed(rows.filter(team=channel.team_id), "", None)
    with translation.override(channel.language):
        return "\n".join(
            [headline(items.count(), is_next=is_next), notification_texts.message_of(channel, items, items, now)]
        )


def asked_of(notice: Notice, person: User, now: datetime) -> tuple[QuerySet[HeldItem], bool]:
    """Return what a notice asks a person to decide, as far as it is still to be; and whether that comes of waiting."""
    rows, is_next = _asked(notice, now, lambda asked: person.pk in asked.people)
    return approvers.narrowed(rows.filter(team__in=person.teams_as(Role.REVIEWER)), "", person.pk), is_next


def on_call(notice: Notice, person: User, now: datetime) -> tuple[Team, datetime | None]:
    """Return for which team a person is on call, and until when. Raises NothingNew: it is somebody else by now."""
    asking = TeamAsking.objects.filter(team=int(notice.about.partition("/")[0])).select_related("team").first()
    turn = Settings.of(asking).rota.turn(now, Members(asking.team_id).able) if asking else None
    if asking is None or turn is None or turn.person != person.pk:
        raise NothingNew
    return asking.team, turn.until


def headline(count: int, *, is_next: bool) -> str:
    if is_next:
        told = ngettext(
            "Nobody has decided %(count)s held item: now it is your turn.",
            "Nobody has decided %(count)s held items: now it is your turn.",
            count,
        )
    else:
        told = ngettext(
            "You are asked to decide %(count)s held item.", "You are asked to decide %(count)s held items.", count
        )
    return told % {"count": count}


def on_call_headline(team: Team) -> str:
    return gettext("You are on call for %(team)s.") % {"team": plain(team.name)}


def on_call_until(until: datetime | None) -> str:
    return gettext("Until %(at)s.") % {"at": at(until)} if until else ""


def _asked(notice: Notice, now: datetime, concerns: Callable[[Asked], bool]) -> tuple[QuerySet[HeldItem], bool]:
    team, _slash, moment = notice.about.partition("/")
    rows = Asked.objects.filter(at=datetime.fromisoformat(moment), held__team=int(team))
    asked = [each for each in rows if concerns(each)]
    pending = HeldItem.objects.filter(
        pk__in=[each.held_id for each in asked], state=HeldItem.State.PENDING, expires_at__gt=now
    )
    return pending, any(each.step for each in asked)


def _letter(person: User, headline: str, rest: str, told: Sequence[Told] = ()) -> Letter:
    return Letter(
        subject=gettext("metacog: %(headline)s") % {"headline": headline},
        headline=headline,
        oldest="",
        told=[*told],
        rest=rest,
        requests="",
        requests_url="",
        queue_url=url("queue"),
        preferences_url=url("preferences"),
        stop_url=notices.stop_link(person),
    )


def _mail(notice: Notice, person: User, letter: Letter) -> Mail:
    html = render_to_string("reviews/notice.html", {"letter": letter, "language": translation.get_language()})
    mail = Mail(
        letter.subject, letter.text, settings.MAIL_FROM, [person.email], headers=headers(notice, letter.stop_url)
    )
    mail.attach_alternative(html, "text/html")
    return mail
