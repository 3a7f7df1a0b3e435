"""What a notice of one event says: who mentioned whom, or assigned an item to whom. It is read when it is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.audit.words import closed_around
from metacog.models import Channel, Notice, PersonNotices, Role, User
from metacog.notices import chat, notices
from metacog.notices.mail import Mail
from reviews.held.listing import beginning, by_rule
from reviews.models import Comment, HeldItem, ItemTalk
from reviews.outbox.notification_texts import (
    EXCERPT,
    SHORT,
    Letter,
    NothingNew,
    cut,
    headers,
    plain,
    short,
    spoken_to,
    told_of,
    url,
)


class Event(NamedTuple):
    """What happened to an item, as it stands by now."""

    held: Any  # with the start of its text
    by: User
    people: list[User]  # who was mentioned, or has the item now
    comment: str


class Kind(NamedTuple):
    """All there is to know of a kind of notice; `metacog.notices.events.owe` writes one."""

    read: Callable[[str], Event | None]  # from what the notice is about; None: there is nothing to tell any more
    subject: str | Promise  # of the mail
    headline: str | Promise  # of the mail
    device: str | Promise  # the title on a device
    chat: str | Promise  # the line for the team's chat


def mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return the mail that tells a person of an event. Raises NothingNew."""
    person = told.person
    event = event_of(notice, person)
    may_decide = event.held.state == HeldItem.State.PENDING and event.held.expires_at > now
    may_decide = may_decide and person.teams_as(Role.REVIEWER).filter(pk=event.held.team_id).exists()
    with spoken_to(person, told.language):
        agent = plain(event.held.agent.name)
        said = {"by": plain(str(event.by)), "kind": event.held.get_kind_display(), "agent": agent}
        kind = KINDS[notice.kind]
        subject, headline = closed_around(str(kind.subject) % said, said["kind"]), str(kind.headline) % said
        item = told_of(event.held, person, now)
        letter = Letter(
            subject=subject,
            headline=headline,
            oldest="",
            told=[item if may_decide else replace(item, link="")],
            rest="",
            requests="",
            requests_url="",
            queue_url=url("queue"),
            preferences_url=url("preferences"),
            stop_url=notices.stop_link(person),
            comment=_quoted(event.comment, EXCERPT) if event.comment and event.held.team.mail_texts else "",
        )
        html = render_to_string("reviews/notice.html", {"letter": letter, "language": translation.get_language()})
        text = letter.text
    mail = Mail(subject, text, settings.MAIL_FROM, [person.email], headers=headers(notice, letter.stop_url))
    mail.attach_alternative(html, "text/html")
    return mail


def message_of(channel: Channel, notice: Notice) -> str:
    """Return what a team's chat is told of an event. Raises NothingNew."""
    event = _event(notice)
    if event.held.team_id != channel.team_id:
        raise NothingNew
    with translation.override(channel.language):
        said = {
            "by": short(plain(str(event.by))),
            "people": pgettext("list", ", ").join(short(plain(str(person))) for person in event.people[:5]),
            "kind": short(plain(event.held.get_kind_display())),
            "agent": short(plain(event.held.agent.name)),
        }
        lines = [closed_around(str(KINDS[notice.kind].chat) % said, said["kind"])]
        lines += [chat.inert(_quoted(event.comment, SHORT))] if event.comment and channel.texts else []
        return "\n".join([*lines, url("item", event.held.public_id)])


def event_of(notice: Notice, person: User) -> Event:
    """Read what one person is to be told of. Raises NothingNew: or it is none of theirs any more."""
    event = _event(notice)
    if person not in event.people or not person.teams_as().filter(pk=event.held.team_id).exists():
        raise NothingNew
    return event


def _event(notice: Notice) -> Event:
    """Read what a notice is about. Raises NothingNew: the comment is gone, the item decided or somebody else's."""
    if found := KINDS[notice.kind].read(notice.about):
        return found
    raise NothingNew


def _mention(comment_id: str) -> Event | None:
    said = Comment.objects.filter(public_id=comment_id, deleted_at=None).exclude(text="")
    comment = said.select_related("author").first()
    if comment is None:
        return None
    people = User.objects.filter(pk__in=comment.mentions.values("person")).exclude(pk=comment.author_id)
    return Event(_held(pk=comment.held_id), comment.author, list(people.order_by("username")), comment.text)


def _assignment(item_and_version: str) -> Event | None:
    public_id, _slash, version = item_and_version.partition("/")
    row = ItemTalk.objects.filter(
        held__public_id=public_id, version=version, held__state=HeldItem.State.PENDING, assignee__isnull=False
    )
    talk = row.select_related("assignee", "assigned_by").first()
    if talk is None or talk.assigned_by is None or talk.assignee is None:
        return None
    return Event(_held(pk=talk.held_id), talk.assigned_by, [talk.assignee], "")


def _held(**which: Any) -> Any:
    rows = HeldItem.objects.select_related("agent", "team", "response", "call")
    return rows.annotate(clip=beginning(), by_rule=by_rule()).get(**which)


def _quoted(text: str, most: int) -> str:
    return gettext("“%(text)s”") % {"text": cut(plain(text), most)}


KINDS: dict[str, Kind] = {
    Notice.Kind.MENTION: Kind(
        _mention,
        subject=_("metacog: %(by)s mentioned you: %(kind)s from %(agent)s"),
        headline=_("%(by)s mentioned you in a comment."),
        device=_("%(by)s mentioned you"),
        chat=_("%(by)s mentioned %(people)s: %(kind)s from %(agent)s"),
    ),
    Notice.Kind.ASSIGNED: Kind(
        _assignment,
        subject=_("metacog: %(by)s assigned an item to you: %(kind)s from %(agent)s"),
        headline=_("%(by)s assigned an item to you."),
        device=_("%(by)s assigned you an item"),
        chat=_("%(by)s assigned an item to %(people)s: %(kind)s from %(agent)s"),
    ),
}
