"""Near-duplicates: items of one agent, kind, tool and score whose texts differ in numbers, dates, addresses or ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Max, Min, OuterRef, QuerySet
from django.db.models.functions import Left
from django.db.models.lookups import LessThan

from metacog.db.prepared import Value, filled, written_once
from metacog.db.rows import Row, first_rows
from metacog.heuristics.alike import differences, shape
from metacog.heuristics.alike.differences import Column
from metacog.heuristics.text.tags import TOOL_CALL
from reviews.models import HeldItem

SAMPLE = 2_000  # characters of a text, by which a row says what differs
AT_ONCE = 500  # items that one run of the sweep looks at

Items = QuerySet[HeldItem]


class Group(NamedTuple):
    """How many items are alike, and in what some of them differ: the first, the oldest and the latest."""

    size: int
    differs: list[Column]


def of(held: HeldItem) -> int:
    """Return the key of an item, read with its call."""
    told = held.agent_id, held.kind, _tool_of(held), held.hesitation_score, held.text
    return shape.key_of(*told, held.effect_bits or 0)


def fill() -> int:
    """Give pending items that were held before there were keys theirs; return how many.

    Any number of times, and beside each other: the key follows from what never changes.
    """
    rows = HeldItem.objects.filter(state=HeldItem.State.PENDING, alike=None).exclude(kind=HeldItem.Kind.QUESTION)
    rows = rows.order_by("expires_at", "id")
    rows = rows.select_related("call")
    rows = rows.only("agent", "kind", "hesitation_score", "text", "effect_bits", "call__name")
    items, _ = first_rows(rows, AT_ONCE, "text")
    for held in items:
        HeldItem.objects.filter(pk=held.pk).update(alike=of(held))
    return len(items)


def leads(items: Items, others: Items) -> Items:
    """Narrow pending items down to one of each group: the one that expires first among `others`, which are pending too.

    The index `held_alike` answers for each item with one entry, so a list is read along the index of its order.
    """
    same = others.filter(alike=OuterRef("alike"))
    before = LessThan(Row(F("expires_at"), F("pk")), Row(OuterRef("expires_at"), OuterRef("pk")))
    return items.filter(~Exists(same.filter(before)))


Counted = tuple[int, int, int, int]  # a key, how many items have it, the first and the last of them


def counted(others: Items, keys: Any) -> QuerySet[Any, Counted]:
    """Count among pending items those with each of some keys."""
    of_keys = others.filter(alike__in=keys).order_by().values_list("alike")
    return of_keys.annotate(count=Count("pk"), first=Min("pk"), last=Max("pk"))


def groups(rows: Iterable[Any], count: Callable[[list[Value]], Iterable[Counted]]) -> Mapping[int, Group]:
    """Return by key what `rows` stand for where that is more than one; two queries, however many rows.

    `count` counts the others with some keys as `counted` does. The rows are pending and have `call_name`.
    """
    standing = {row.alike: row for row in rows if row.alike is not None and row.state == HeldItem.State.PENDING}
    numbers = count(filled(standing)) if standing else ()
    found = {key: (count, first, last) for key, count, first, last in numbers if count > 1}
    sampled = {key: sorted({standing[key].pk, first, last}) for key, (_, first, last) in found.items()}
    wanted = filled([pk for keys in sampled.values() for pk in keys])
    texts = {pk: (text, sha256) for pk, text, sha256 in (_texts(wanted) if wanted else ())}
    return {
        key: Group(count, differing(standing[key].call_name, [texts[pk] for pk in sampled[key] if pk in texts]))
        for key, (count, _, _) in found.items()
    }


@written_once
def _texts(items: Any) -> QuerySet[HeldItem, tuple[int, str, str]]:
    rows = HeldItem.objects.filter(pk__in=items).order_by()
    return rows.values_list("pk", Left("text", SAMPLE), "sha256")


def group_of(held: HeldItem, count: Callable[[list[Value]], Iterable[Counted]]) -> Group | None:
    """Return of a pending item, read with its call, what it stands among, as its row does; None where it is alone."""
    if held.state != HeldItem.State.PENDING or held.alike is None:
        return None
    row: Any = held
    row.call_name = _tool_of(held)
    return groups([row], count).get(held.alike)


def _tool_of(held: HeldItem) -> str | None:
    return held.call.name if held.kind == TOOL_CALL else None


def differing(tool: str | None, items: Sequence[tuple[str, str]]) -> list[Column]:
    """Return in what items differ, by as much of each text as was read, and by the SHA-256 of the whole."""
    texts = [text for text, _ in items]
    columns = differences.of_texts(texts) if tool is None else differences.of_calls(tool, texts)
    return columns or ([Column("rest", "", texts)] if len({sha256 for _, sha256 in items}) > 1 else [])
