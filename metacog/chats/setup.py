"""Set up a team's chats that decide, and say which of their users is whom. Each change and its audit event are one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import keys
from metacog.audit import audit
from metacog.chats.shapes import Chat
from metacog.chats.slack import Slack
from metacog.chats.telegram import Telegram
from metacog.models import ChatApp, ChatUser, Team, User

Kind = ChatApp.Kind

CHATS: Mapping[str, Chat] = {Kind.SLACK: Slack(), Kind.TELEGRAM: Telegram()}
LINK_SECONDS = 900  # for which a link that connects is good
SALT = "chats.connect"


class Taken(Exception):
    """The chat user is another person's already, or the person has another there; nothing was written."""


class Link(NamedTuple):
    """Of which chat user a link is."""

    app: ChatApp
    user: str
    name: str


def incoming_url(team_id: int, kind: str) -> str:
    """Return where a chat sends what is pressed in it."""
    return settings.PUBLIC_URL + reverse("chat-incoming", args=[team_id, kind])


class Entered(NamedTuple):
    """What an owner entered; an empty token or secret leaves the stored one as it is."""

    token: str
    secret: str
    place: str
    language: str
    texts: bool


def save(team: Team, kind: str, actor: User, given: Entered) -> tuple[ChatApp, list[str]]:
    """Set a team's chat up, and return it with the names of what changed."""
    now = timezone.now()
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        row = ChatApp.objects.filter(team=team, kind=kind).first() or ChatApp(team=team, kind=kind, since=now)
        values = {"place": given.place, "language": given.language, "texts": given.texts}
        changed = [name for name, value in values.items() if row.pk is None or getattr(row, name) != value]
        row.place, row.language, row.texts = given.place, given.language, given.texts
        secret = given.secret
        if not CHATS[kind].secret_is_given and not row.secret_encrypted:
            secret = secrets.token_urlsafe(32)
        if given.token:
            row.token_encrypted, row.hint = keys.encrypted(given.token), given.token[-4:]
            changed.append("token")
        if secret:
            row.secret_encrypted = keys.encrypted(secret)
            changed.append("secret")
        if changed:
            row.free_at, row.failures, row.trouble = now, 0, ""  # what waited is tried at once
            row.save()
            _record("chat-changed", row, actor, after="on", fields=changed)
    return row, changed


def works(app: ChatApp, **known: str) -> None:
    """Take down that a chat has just answered, and what is `known` of it by that: what waited goes out at once."""
    ChatApp.objects.filter(pk=app.pk).update(free_at=timezone.now(), failures=0, trouble="", **known)


def remove(app: ChatApp, actor: User) -> None:
    """Post no more, and forget token, secret and who is whom there."""
    with transaction.atomic():
        _record("chat-removed", app, actor, before="on")
        ChatApp.objects.filter(pk=app.pk).delete()


def connect_link(app: ChatApp, user: str, name: str) -> str:
    """Return the address at which whoever is signed in says that they are a chat user."""
    token = signing.dumps([app.pk, user, name[:200]], salt=SALT, compress=True)
    return settings.PUBLIC_URL + reverse("chat-connect", args=[token])


def read_link(token: str) -> Link | None:
    """Return of which chat user a link is; None of one that is not ours, or is over."""
    try:
        app_id, user, name = signing.loads(token, salt=SALT, max_age=timedelta(seconds=LINK_SECONDS))
    except (signing.BadSignature, ValueError):
        return None
    app = ChatApp.objects.select_related("team").filter(pk=app_id).first()
    return Link(app, user, name) if app else None


def connect(link: Link, person: User) -> ChatUser:
    """Say that a chat user is a person. Raises Taken."""
    same = ChatUser.objects.filter(app=link.app, external_id=link.user, person=person).first()
    if same:
        return same
    try:
        with transaction.atomic():
            made = ChatUser.objects.create(app=link.app, external_id=link.user, name=link.name, person=person)
            _record("chat-connected", link.app, person, user=link.user, person=person.get_username())
    except IntegrityError:
        raise Taken from None
    return made


def disconnect(user: ChatUser, actor: User) -> None:
    """Say that a chat user is nobody any more."""
    with transaction.atomic():
        if ChatUser.objects.filter(pk=user.pk).delete()[0]:
            person = user.person.get_username()
            _record("chat-disconnected", user.app, actor, user=user.external_id, person=person)


def person_of(app: ChatApp, user: str) -> User | None:
    """Return who a chat user is, as they are now: their role says whether they decide."""
    found = ChatUser.objects.select_related("person").filter(app=app, external_id=user).first()
    return found.person if found else None


def _record(action: str, app: ChatApp, actor: User, **rest: object) -> None:
    # Not the token or secret: whoever has them can post, or press, there.
    audit.record(action, str(app.team_id), actor=actor, team=app.team, chat=app.kind, **rest)
