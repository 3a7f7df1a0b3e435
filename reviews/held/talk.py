"""Talk about held items: comments that mention members, whose an item is, and a snooze. Agents see none of it.

Each change, its audit event and the notices that it owes are one transaction. Whether somebody may see an item and act
on it is the caller's to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from metacog.audit import audit
from metacog.db.prepared import written_once
from metacog.heuristics.text.shadow import is_blank
from metacog.models import Membership, Notice, Role, Team, User
from metacog.notices import events
from reviews.models import AgentResponse, Asked, Comment, HeldItem, ItemTalk, Mention

MAX_COMMENT = 4000  # characters
MAX_COMMENTS = 200  # of one item
DELETABLE_FOR = timedelta(minutes=10)  # by its author: later it may have been answered
State = HeldItem.State


class Refusal(Exception):
    """Nothing was written."""


class Empty(Refusal):
    """A comment says nothing."""


class TooLong(Refusal):
    """A comment is too long, or the item has as many as it may have."""


class NotPending(Refusal):
    """The item was decided."""


class MayNotDecide(Refusal):
    """Who an item is to be assigned to is no reviewer of the team."""


class Past(Refusal):
    """The time to snooze until is over."""


class PastExpiry(Refusal):
    """The item expires before."""


class Piece(NamedTuple):
    """A part of a comment."""

    kind: Literal["text", "mention", "unknown", "link"]
    text: str
    person: User | None = None


@dataclass(frozen=True)
class Assigned:
    """What came of assigning an item."""

    before: User | None  # whose it was
    overtaken: User | None  # who had changed that since the page was shown


# -- what is said -------------------------------------------------------------------------------------

_LINK = r"https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}。，、；：！？）】」』]"
_AT = r"(?<![A-Za-z0-9_.+-])[@＠](?=[\w.+-])"
_START = re.compile(f"(?P<link>{_LINK})|(?P<at>{_AT})")
_SOME_NAME = re.compile(r"[\w.+-]*\w")


def members_of(team_id: int) -> dict[User, bool]:
    """Return the members of a team who can sign in, by name; and of each whether an item can be assigned to them."""
    return {each.user: each.role in Role.REVIEWER.and_above for each in _memberships(team_id)}


@written_once
def _memberships(team: Any) -> QuerySet[Membership]:
    theirs = Membership.objects.filter(team=team, user__is_active=True).select_related("user")
    return theirs.order_by("user__username")


def pieces(text: str, members: Iterable[User]) -> list[Piece]:
    """Part a comment into text, links, and names behind an @: of members, or of nobody in the team.

    The longest name that fits counts, since nothing stands behind a name in Chinese (`@bob請看`).
    """
    return list(_pieces(text, sorted(members, key=lambda member: -len(member.username))))


def _pieces(text: str, longest_first: Sequence[User]) -> Iterator[Piece]:
    begun, at = 0, 0
    while found := _START.search(text, at):
        at = found.end()
        if found["link"]:
            piece, end = Piece("link", found["link"]), found.end()
        else:
            member = next((each for each in longest_first if _is_named(each.username, text, found.end())), None)
            if member:
                piece, end = Piece("mention", member.username, member), found.end() + len(member.username)
            elif some := _SOME_NAME.match(text, found.end()):
                piece, end = Piece("unknown", some[0]), some.end()
            else:
                continue
        if found.start() > begun:
            yield Piece("text", text[begun : found.start()])
        yield piece
        begun = at = end
    if begun < len(text):
        yield Piece("text", text[begun:])


def _is_named(name: str, text: str, at: int) -> bool:
    end = at + len(name)
    if text[at:end].casefold() != name.casefold():
        return False
    following = text[end : end + 1]
    return not (following.isascii() and (following.isalnum() or following == "_"))


def comment(held: HeldItem, author: User, text: str) -> tuple[Comment, list[str]]:
    """Say something about an item; return the comment, and the names in it that nobody in the team has.

    Whom it mentions is told, and it ends a snooze if it mentions anybody but its author. Raises Empty and TooLong.
    """
    text = text.replace("\r\n", "\n").replace("\0", "").strip()
    if not text or is_blank(text):
        raise Empty
    if len(text) > MAX_COMMENT:
        raise TooLong
    parts = pieces(text, members_of(held.team_id))
    named = {part.person.pk: part.person for part in parts if part.person}
    unknown = list(dict.fromkeys(part.text for part in parts if part.kind == "unknown"))
    now = timezone.now()
    with transaction.atomic():
        row = _locked(held, now)
        if Comment.objects.filter(held=held).count() >= MAX_COMMENTS:
            raise TooLong
        made = Comment.objects.create(held=held, author=author, text=text, created_at=now)
        Mention.objects.bulk_create(Mention(comment=made, held=held, person=person) for person in named.values())
        others = [person for person in named.values() if person != author]
        row.comments, row.changed_at = F("comments") + 1, now
        fields = ["comments", "changed_at"]
        _record(
            "commented",
            held,
            author,
            comment=made.public_id,
            characters=len(text),
            mentions=[person.username for person in named.values()],
        )
        if others:
            events.owe(Notice.Kind.MENTION, made.public_id, others, held.team_id, now)
            if row.snoozed_until and row.snoozed_until > now:
                _wake(row, held, author, now)
                fields.append("snoozed_until")
        row.save(update_fields=fields)
    return made, unknown


def may_delete(said: Comment, person: User, now: datetime) -> bool:
    return said.author_id == person.pk and not said.deleted_at and bool(said.text) and now < _deletable_until(said)


def _deletable_until(said: Comment) -> datetime:
    return said.created_at + DELETABLE_FOR


def delete(said: Comment, person: User) -> bool:
    """Delete one's own comment, within some minutes; return whether it was. That it was there stays to be seen."""
    now = timezone.now()
    with transaction.atomic():
        row = _locked(said.held, now)
        said = Comment.objects.select_for_update(of=("self",), no_key=True).select_related("held").get(pk=said.pk)
        if not may_delete(said, person, now):
            return False
        said.text, said.deleted_at = "", now
        said.save(update_fields=["text", "deleted_at"])
        row.comments, row.changed_at = F("comments") - 1, now
        row.save(update_fields=["comments", "changed_at"])
        _record("comment-deleted", said.held, person, comment=said.public_id)
    return True


# -- whose it is --------------------------------------------------------------------------------------


def assign(held: HeldItem, person: User | None, actor: User, seen: int | None = None) -> Assigned:
    """Give an item to a person, or to nobody; the last to do so wins.

    `seen` is the version of whose it is that the actor saw; None leaves that unchecked. Whoever changed it since is
    returned, to be told. Raises NotPending and MayNotDecide.
    """
    if person and person != actor and not _decides(person, held.team_id):
        raise MayNotDecide
    now = timezone.now()
    with transaction.atomic():
        row = _locked(held, now)
        _check_pending(held, now)
        before = row.assignee
        overtaken = row.assigned_by if seen is not None and seen != row.version and row.assigned_by != actor else None
        if before == person:
            return Assigned(before, overtaken)
        row.assignee, row.assigned_by, row.assigned_at, row.changed_at = person, actor, now, now
        row.version += 1
        fields = ["assignee", "assigned_by", "assigned_at", "changed_at", "version"]
        told = {"person": person.username} if person else {}
        _record("assigned" if person else "unassigned", held, actor, before=before.username if before else "", **told)
        if person and person != actor:
            events.owe(Notice.Kind.ASSIGNED, f"{held.public_id}/{row.version}", [person], held.team_id, now)
            if row.snoozed_until and row.snoozed_until > now:
                _wake(row, held, actor, now)
                fields.append("snoozed_until")
        row.save(update_fields=fields)
    return Assigned(before, overtaken)


def _decides(person: User, team_id: int) -> bool:
    return person.is_active and person.teams_as(Role.REVIEWER).filter(pk=team_id).exists()


# -- until when it is snoozed ---------------------------------------------------------------------------


def snooze(held: HeldItem, actor: User, until: datetime) -> None:
    """Take an item out of the team's queue until then; it expires as always. Raises NotPending, Past, PastExpiry."""
    now = timezone.now()
    if until <= now:
        raise Past
    with transaction.atomic():
        row = _locked(held, now)
        item = _check_pending(held, now)
        if until >= item.expires_at:
            raise PastExpiry
        row.snoozed_until, row.snoozed_at, row.snoozed_by, row.snoozed_version = until, now, actor, item.version
        row.changed_at = now
        row.save(update_fields=["snoozed_until", "snoozed_at", "snoozed_by", "snoozed_version", "changed_at"])
        _record("snoozed", held, actor, until=until.isoformat(timespec="seconds"))


def wake(held: HeldItem, actor: User) -> bool:
    """Put a snoozed item back into the queue; return whether it was snoozed."""
    now = timezone.now()
    with transaction.atomic():
        row = _locked(held, now)
        if not (row.snoozed_until and row.snoozed_until > now):
            return False
        _wake(row, held, actor, now)
        row.changed_at = now
        row.save(update_fields=["snoozed_until", "changed_at"])
    return True


def _wake(row: ItemTalk, held: HeldItem, actor: User, now: datetime) -> None:
    """End a snooze, which the caller saves: whoever is asked about the item is waited for from now on."""
    row.snoozed_until = None
    Asked.objects.filter(held=held, next_at__isnull=False).update(since=now, next_at=now)
    _record("unsnoozed", held, actor)


def snoozed(now: datetime) -> QuerySet[ItemTalk]:
    """Return the talk about what is snoozed: an item that changed, or that its agent looked at again, is not."""
    # As a join SQLite begins with all that is pending.
    same = HeldItem.objects.filter(pk=OuterRef("held"), state=State.PENDING, version=OuterRef("snoozed_version"))
    return _asleep(now).filter(Exists(same))


def _asleep(now: datetime) -> QuerySet[ItemTalk]:
    looks = AgentResponse.objects.filter(second_look_at=OuterRef("held"), received_at__gt=OuterRef("snoozed_at"))
    return ItemTalk.objects.filter(~Exists(looks), snoozed_until__gt=now)


def is_snoozed(row: ItemTalk | None, held: HeldItem, now: datetime) -> bool:
    """Tell the same of one item."""
    if not (row and row.snoozed_until and row.snoozed_at and row.snoozed_until > now):
        return False
    if held.state != State.PENDING or held.version != row.snoozed_version:
        return False
    return not held.second_looks.filter(received_at__gt=row.snoozed_at).exists()


# -- the queue ------------------------------------------------------------------------------------------


def awake(items: QuerySet[HeldItem], now: datetime | None = None) -> QuerySet[HeldItem]:
    """Leave out what is snoozed."""
    same = _asleep(now or timezone.now()).filter(held=OuterRef("pk"), snoozed_version=OuterRef("version"))
    return items.filter(~Exists(same))


def mentioning(person: Any) -> QuerySet[Mention]:
    """Return the mentions of a person that stand."""
    return Mention.objects.filter(person=person, comment__deleted_at=None)


def last_change(teams: Sequence[Team]) -> datetime | None:
    """Return when anything was last said or done of this about the teams' items."""
    return max(filter(None, _last_changes([team.pk for team in teams])), default=None)


@written_once
def _last_changes(teams: Any) -> QuerySet[Team, datetime | None]:
    last = ItemTalk.objects.filter(team=OuterRef("pk")).order_by("-changed_at").values("changed_at")[:1]
    return Team.objects.filter(pk__in=teams).order_by().values_list(Subquery(last), flat=True)


# -- rows -----------------------------------------------------------------------------------------------


def of(held: HeldItem) -> ItemTalk | None:
    return _of.first(held.pk)


@written_once
def _of(held: Any) -> QuerySet[ItemTalk]:
    return ItemTalk.objects.select_related("assignee", "assigned_by", "snoozed_by").filter(held=held)


def comments_of(held: HeldItem) -> list[Comment]:
    """Return an item's comments with their authors, oldest first."""
    return _comments_of(held.pk)


@written_once
def _comments_of(held: Any) -> QuerySet[Comment]:
    return Comment.objects.filter(held=held).select_related("author").order_by("pk")


def erase(responses: Iterable[AgentResponse]) -> None:
    """Erase what was said about the items of responses; that something was, when and by whom stays."""
    Comment.objects.filter(held__response__in=responses).update(text="")


def _locked(held: HeldItem, now: datetime) -> ItemTalk:
    """Return the row of an item's talk, made where there is none, for this transaction alone to change."""
    row = ItemTalk(held=held, team_id=held.team_id, changed_at=now)
    ItemTalk.objects.bulk_create([row], ignore_conflicts=True)
    # By itself: of what is joined, PostgreSQL gives what stood there before it waited for the lock.
    return ItemTalk.objects.select_for_update(no_key=True).get(held=held)


def _check_pending(held: HeldItem, now: datetime) -> HeldItem:
    item = HeldItem.objects.only("state", "version", "expires_at").get(pk=held.pk)
    if item.state != State.PENDING or item.expires_at <= now:
        raise NotPending
    return item


def _record(done: str, held: HeldItem, actor: User, **rest: Any) -> None:
    audit.record(
        audit.of_item(held.kind, done),
        held.public_id,
        actor=actor,
        team=held.team_id,
        agent=held.agent,
        **rest,
    )
