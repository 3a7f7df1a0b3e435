"""What a notice of one event says: who mentioned whom, or assigned an item to whom. It is read when it is sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext, pgettext

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


def mail_of(notice: Notice, told: PersonNotices, now: datetime) -> Mail:
    """Return the mail that tells a person of an event. Raises NothingNew."""
    person, event = told.person, _event(notice)
    if person not in event.people or not person.teams_as().filter(pk=event.held.team_id).exists():
        raise NothingNew
    may_decide = event.held.state == HeldItem.State.PENDING and event.held.expires_at > now
    may_decide = may_decide and person.teams_as(Role.REVIEWER).filter(pk=event.held.team_id).exists()
    with spoken_to(person, told.language):
        agent = plain(event.held.agent.name)
        said = {"by": plain(str(event.by)), "kind": event.held.get_kind_display(), "agent": agent}
        if notice.kind == Notice.Kind.MENTION:
            subject = gettext("metacog: %(by)s mentioned you: %(kind)s from %(agent)s") % said
            headline = gettext("%(by)s mentioned you in a comment.") % said
        else:
            subject = gettext("metacog: %(by)s assigned an item to you: %(kind)s from %(agent)s") % said
            headline = gettext("%(by)s assigned an item to you.") % said
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
            "kind": event.held.get_kind_display(),
            "agent": short(plain(event.held.agent.name)),
        }
        told = (
            gettext("%(by)s mentioned %(people)s: %(kind)s from %(agent)s")
            if notice.kind == Notice.Kind.MENTION
            else gettext("%(by)s assigned an item to %(people)s: %(kind)s from %(agent)s")
        )
        lines = [told % said]
        lines += [chat.inert(_quoted(event.comment, SHORT))] if event.comment and channel.texts else []
        return "\n".join([*lines, url("item", event.held.public_id)])


def _event(notice: Notice) -> Event:
    """Read what a notice is about. Raises NothingNew: the comment is gone, the item decided or somebody else's."""
    if notice.kind == Notice.Kind.MENTION:
        said = Comment.objects.filter(public_id=notice.about, deleted_at=None).exclude(text="")
        comment = said.select_related("author").first()
        if comment is None:
            raise NothingNew
        people = User.objects.filter(pk__in=comment.mentions.values("person")).exclude(pk=comment.author_id)
        return Event(_held(pk=comment.held_id), comment.author, list(people.order_by("username")), comment.text)
    public_id, _slash, version = notice.about.partition("/")
    row = ItemTalk.objects.filter(
        held__public_id=public_id, version=version, held__state=HeldItem.State.PENDING, assignee__isnull=False
    )
    talk = row.select_related("assignee", "assigned_by").first()
    if talk is None or talk.assigned_by is None or talk.assignee is None:
        raise NothingNew
    return Event(_held(pk=talk.held_id), talk.assigned_by, [talk.assignee], "")


def _held(**which: Any) -> Any:
    rows = HeldItem.objects.select_related("agent", "team", "response", "call")
    return rows.annotate(clip=beginning(), by_rule=by_rule()).get(**which)


def _quoted(text: str, most: int) -> str:
    return gettext("“%(text)s”") % {"text": cut(plain(text), most)}
