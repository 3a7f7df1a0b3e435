"""Say who is asked: recipients, routes in a sentence, and who is asked about an item now and next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, ngettext, pgettext

from metacog.db.prepared import written_once
from metacog.models import User
from reviews.asking.routes import CURRENCY
from reviews.asking.settings import CHAT, GROUP, ON_CALL, OWNERS, PERSON, Members, Settings, person_in
from reviews.asking.steps import due_at
from reviews.models import Asked, HeldItem, ItemTalk, TeamAsking
from reviews.presentation.rule_words import conditions, effects

MOST_NAMES = 3


class AskedNow(NamedTuple):
    """Who is asked about an item, since when, and who next."""

    to: str  # as the settings name it, a person by their user name
    people: list[User]
    since: datetime
    next_to: str
    next_at: datetime | None
    told: str  # in words: who is asked
    next_told: str


def recipient(to: str, names: Mapping[int, str]) -> str:
    """Name a recipient; `names` are those of people by their keys."""
    if to.startswith(GROUP):
        return gettext("the group “%(name)s”") % {"name": to.removeprefix(GROUP)}
    if key := person_in(to):
        return names.get(key) or gettext("somebody who has left")
    return {
        ON_CALL: gettext("the person on call"),
        OWNERS: gettext("the owners"),
        CHAT: gettext("the team's chat"),
    }.get(to) or gettext("every reviewer")


def asked_now(held: HeldItem, row: ItemTalk | None) -> AskedNow | None:
    """Say who is asked about a pending item now, as its talk is; None where its team's settings have nobody asked.

    The item comes with its agent's team and whom that asks; only where it has settings is anything read.
    """
    asking: TeamAsking | None = getattr(held.agent.team, "asking", None)
    asked = _last.first(held.pk) if asking and held.state == HeldItem.State.PENDING else None
    if asked is None:
        return None
    asked.held = held
    given = Settings.of(asking)
    next_at = due_at(asked, row, given.steps) if asked.next_at else None
    next_to = given.steps[asked.step].to if next_at else ""
    keys = [*asked.people, *filter(None, [person_in(next_to)])]
    people = {each.pk: each for each in User.objects.filter(pk__in=keys).order_by("username")} if keys else {}
    mine = [person for key, person in people.items() if key in asked.people]
    next_told = recipient(next_to, {key: str(person) for key, person in people.items()})
    if next_to and Members(held.team_id).has_nobody(next_to, given.rota, timezone.now()):
        next_told = gettext("the owners (%(who)s: nobody who can decide)") % {"who": next_told}
    to, next_to = (_by_user_name(each, people) for each in (asked.to, next_to))
    return AskedNow(to, mine, asked.since, next_to, next_at, _told(asked.to, mine), next_told)


def _by_user_name(to: str, people: Mapping[int, User]) -> str:
    person = people.get(person_in(to) or 0)
    return f"{PERSON}{person.get_username()}" if person else to


@written_once
def _last(held: Any) -> QuerySet[Asked]:
    return Asked.objects.filter(held=held).order_by("-step")


def _told(to: str, people: list[User]) -> str:
    if not people:
        return recipient(to, {})
    named = listed(str(person) for person in people[:MOST_NAMES])
    more = len(people) - MOST_NAMES
    if more > 0:
        named = ngettext("%(names)s and %(n)s more", "%(names)s and %(n)s more", more) % {"names": named, "n": more}
    if to == ON_CALL:
        return gettext("%(names)s (on call)") % {"names": named}
    if to.startswith(GROUP):
        return gettext("%(names)s (%(group)s)") % {"names": named, "group": to.removeprefix(GROUP)}
    return gettext("%(names)s (owners)") % {"names": named} if to == OWNERS else named


def listed(names: Iterable[str]) -> str:
    return pgettext("list", ", ").join(names)


def route_in_words(given: Mapping[str, Any], kinds: Mapping[str, Any], names: Mapping[int, str]) -> str:
    """Say a route in a sentence: which items, and to whom they go."""
    what = listed(_conditions(given, kinds)) or gettext("Everything")
    return gettext("%(what)s → %(who)s") % {"what": what, "who": recipient(given["to"], names)}


def _conditions(given: Mapping[str, Any], kinds: Mapping[str, Any]) -> Iterator[str]:
    if kind := given.get("kind"):
        yield str(kinds.get(kind, kind))
    if tool := given.get("tool"):
        yield gettext("Tool %(name)s") % {"name": tool}
    yield from effects(given.get("effects", {}))
    yield from conditions(given.get("where", {}))
    amount = dict(given.get("amount", {}))
    currency = amount.pop(CURRENCY, "")
    place = gettext("amount in %(currency)s") % {"currency": currency} if currency else gettext("amount")
    yield from conditions({place: amount})
    metadata = gettext("metadata")
    yield from conditions({f"{metadata} {at}": asked for at, asked in given.get("metadata", {}).items()})
