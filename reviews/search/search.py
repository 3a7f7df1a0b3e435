"""Find what a person may see, however old: by words, by what it is, by the beginning of an id. Alike on both databases.

Most searches end among the newest rows, which are looked through directly: of a word that is common a page is full
there. What is rarer the index finds. What changed since it was indexed, seconds ago, is read as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet
from django.utils.functional import Promise

from metacog.models import Agent, Team
from reviews.models import HeldItem, SearchDue
from reviews.search import index, indexing
from reviews.search.folded import Folded
from reviews.search.index import Asked
from reviews.search.kinds import (
    BY_NAME,
    BY_PREFIX,
    KINDS,
    Hit,
    Kind,
    effect_label,
    label_of,
    metadata_label,
    tool_label,
)
from reviews.search.words import Wanted

SHOWN = 5  # of each kind
PAGE = 25  # of one kind
MAX_QUERY = 100
MAX_FILTER = 300
WALKED = 1_000  # of the newest documents are looked through before the index is asked
WALKED_ALIKE = 2_000  # then of those that match the filters
A_STRETCH = 5_000  # and so many at once, where it is of no use
A_STEP = 60  # documents that are read at once
COUNTED = 100  # of each kind; of more it is told that there are
AT_ONCE_SECONDS = 0.08  # for looking through documents where the index is of no use; the next page goes on


Walk = Callable[[Asked, int, int], tuple[list[int], int, int]]


@dataclass(frozen=True)
class Filters:
    """What is asked for."""

    query: str = ""
    kind: str = ""  # a Kind's name
    agent: Agent | None = None
    session: str = ""
    state: str = ""
    tool: str = ""
    effect: str = ""  # one of effect_bits.NAMES
    metadata: tuple[str, ...] = ()  # name=value
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None  # the key that a page goes on below

    @property
    def words(self) -> list[str]:
        return list(dict.fromkeys(Folded(self.query).text.split()))

    @property
    def narrows(self) -> bool:
        """Tell whether anything but words and the kind is asked for."""
        told = (
            *(self.agent, self.session, self.state, self.tool, self.effect),
            *(self.metadata, self.since, self.until),
        )
        return any(each not in (None, "", ()) for each in told)

    def asked(self, kind: Kind, teams: Sequence[int] | None) -> Asked:
        labels = [
            *([tool_label(self.tool)] if self.tool else []),
            *([effect_label(self.effect)] if self.effect else []),
            *map(metadata_label, self.metadata),
        ]
        asked = Asked(
            kind=kind.prefix,
            teams=None if teams is None else tuple(teams),
            words=tuple(Wanted(word) for word in self.words),
            agent=self.agent.pk if self.agent else None,
            session=self.session,
            state=self.state,
            labels=tuple(label_of(label) for label in labels),
            since=index.first_key(self.since) if self.since else 0,
        )
        ends = [key for key in (self.before, index.first_key(self.until) if self.until else None) if key is not None]
        return replace(asked, before=min(ends)) if ends else asked


class Group(NamedTuple):
    """What was found of one kind."""

    name: str
    title: str | Promise
    hits: Sequence[Hit]
    more: int | None  # the key below which there is, or may be, more
    cut_at: datetime | None  # how far it was looked, where that is not to the end
    list_name: str  # the page of all of them, where that has a search of its own
    nameless: str | Promise
    total: int  # of all that was found, up to COUNTED and a page
    is_more: bool  # there are more than that


class Found(NamedTuple):
    """The keys of some documents, the newest first, with their rows; and where there may be more."""

    rows: list[tuple[int, int]]
    more: int | None = None
    is_cut: bool = False


def search(teams: QuerySet[Team], filters: Filters) -> list[Group]:
    """Return what was found of each kind, the newest first; kinds of which there is nothing are left out."""
    reach = _reach(teams)
    named = BY_PREFIX.get(filters.query.partition("_")[0]) if "_" in filters.query else None
    if named and not filters.narrows and filters.kind in ("", named.name):
        return _by_id(named, filters, reach)
    if not (filters.words or filters.narrows or filters.kind):
        return []
    kinds = [BY_NAME[filters.kind]] if filters.kind in BY_NAME else [each for each in KINDS if _may_have(each, filters)]
    most = PAGE if filters.kind else SHOWN
    due = _due()
    groups = []
    for kind in kinds:
        found = _find(filters.asked(kind, reach), COUNTED, due.get(kind.prefix, ()))
        alike, more = _grouped(kind, found, most)
        hits = kind.hits(list(alike), filters.words, reach, with_team=_is_several(reach)) if alike else []
        hits = [hit._replace(alike=alike[hit.pk]) for hit in hits]
        if hits or found.is_cut:
            cut_at = index.moment_of(found.more) if found.is_cut and found.more else None
            told = hits, more, cut_at, kind.list_name, kind.nameless
            groups.append(Group(kind.name, kind.title, *told, len(found.rows), found.more is not None))
    return groups


def _grouped(kind: Kind, found: Found, most: int) -> tuple[dict[int, int], int | None]:
    """Return which rows to tell, `most` at most, each with how many it stands for, and the key to go on below.

    Of held items near-duplicates are one: the newest.
    """
    keys = [row_id for _, row_id in found.rows]
    same: dict[int, object] = {}
    if kind.model is HeldItem and keys:
        alike = HeldItem.objects.filter(pk__in=keys, alike__isnull=False)
        same = {pk: (agent, of) for pk, agent, of in alike.values_list("pk", "agent", "alike")}
    first: dict[object, int] = {}
    counts: dict[int, int] = {}
    last = None
    for at, row_id in found.rows:
        group = same.get(row_id, row_id)
        if group not in first and len(first) == most:
            return counts, last
        told = first.setdefault(group, row_id)
        counts[told] = counts.get(told, 0) + 1
        last = at
    return counts, found.more


def every(teams: QuerySet[Team], filters: Filters) -> Iterator[tuple[Kind, Hit]]:
    """Go through all that is found, kind by kind, a page at a time."""
    reach, due = _reach(teams), _due()
    for kind in [BY_NAME[filters.kind]] if filters.kind in BY_NAME else KINDS:
        if not (filters.words or filters.narrows or filters.kind) or not _may_have(kind, filters):
            continue
        asked: Asked | None = filters.asked(kind, reach)
        while asked:
            found = _find(asked, 10 * PAGE, due.get(kind.prefix, ()))
            for hit in kind.hits(
                [row_id for _, row_id in found.rows], filters.words, reach, with_team=_is_several(reach)
            ):
                yield kind, hit
            asked = replace(asked, before=found.more) if found.more is not None else None


def _may_have(kind: Kind, filters: Filters) -> bool:
    """Leave out the kinds that have nothing of what is asked for."""
    return (
        not (filters.agent and not kind.agent)
        and not (filters.session and not kind.session)
        and not (filters.state and (kind.states is None or filters.state not in kind.states.values))
        and not ((filters.tool or filters.effect or filters.metadata) and kind.name not in ("held", "responses"))
    )


def _reach(teams: QuerySet[Team]) -> tuple[int, ...] | None:
    """Return the keys of the teams that a person sees; None where that is all there are."""
    seen = tuple(teams.values_list("pk", flat=True))
    return None if len(seen) > 1 and not Team.objects.exclude(pk__in=seen).exists() else seen


def _is_several(reach: tuple[int, ...] | None) -> bool:
    return reach is None or len(reach) > 1


def _by_id(kind: Kind, filters: Filters, reach: tuple[int, ...] | None) -> list[Group]:
    most = PAGE if filters.kind else SHOWN
    keys = kind.of_id(filters.query, reach, most)
    hits = kind.hits(keys, [filters.query], reach, with_team=_is_several(reach))
    return (
        [Group(kind.name, kind.title, hits, None, None, "", kind.nameless, len(hits), len(hits) == most)]
        if hits
        else []
    )


def _due() -> dict[str, list[int]]:
    """Return the rows that changed since they were indexed, the latest of them; by kind."""
    found: dict[str, dict[int, None]] = {}
    for prefix, row_id in SearchDue.objects.order_by("-pk").values_list("kind", "row_id")[: indexing.DUE]:
        found.setdefault(prefix, {})[row_id] = None
    return {prefix: list(rows) for prefix, rows in found.items()}


def _find(asked: Asked, most: int, due: Sequence[int]) -> Found:
    """Find the newest documents, `most` at most, in the index and among what is not in it as it is now."""
    fresh = []
    if due:
        documents = indexing.read(asked.kind, due)
        fresh = [(each.key, each.row_id) for each in documents if asked.matches(each, each.key)]
    stored = _indexed(asked, most + 1)
    rows = sorted({*stored.rows, *fresh}, reverse=True)
    if stored.more is not None and stored.is_cut:  # what lies below was not looked at
        rows = [row for row in rows if row[0] >= stored.more]
    if len(rows) > most:
        return Found(rows[:most], rows[most - 1][0])
    return Found(rows, stored.more, stored.is_cut)


def _indexed(asked: Asked, most: int) -> Found:
    """Find the newest documents: among those at the top directly, then by the index, else directly for a while."""
    found: list[tuple[int, int]] = []
    until = time.monotonic() + AT_ONCE_SECONDS
    before, is_whole = _walked(index.walk, asked, asked.before, WALKED, most, found)
    if not is_whole and len(found) < most and asked.words and asked.is_narrow:
        before, is_whole = _walked(index.walk_alike, asked, before, WALKED_ALIKE, most, found)
    while not is_whole and len(found) < most and asked.is_indexed:
        keys = index.find(asked, before, A_STEP)
        if keys is None:
            break
        found += index.read(asked, keys)
        is_whole = len(keys) < A_STEP
        before = keys[-1] if keys else before
    while not is_whole and len(found) < most:
        if time.monotonic() > until:
            return Found(found, before, is_cut=True)
        before, is_whole = _walked(index.walk, asked, before, A_STRETCH, most, found)
    return Found(found[:most])


def _walked(
    walk: Walk, asked: Asked, before: int, stretch: int, most: int, found: list[tuple[int, int]]
) -> tuple[int, bool]:
    """Add what is found among the next documents; return the key of the last, and whether there are no others."""
    keys, seen, last = walk(asked, before, stretch)
    for at in range(0, len(keys), A_STEP):
        found += index.read(asked, keys[at : at + A_STEP])
        if len(found) >= most:
            break
    return last, seen < stretch
