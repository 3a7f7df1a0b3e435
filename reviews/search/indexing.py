"""Index behind the writes: what triggers noted as changed, then, the newest first, what was there before the index."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max

from reviews.isolation import by_itself
from reviews.models import SearchDue, SearchProgress
from reviews.search import index
from reviews.search.kinds import BY_PREFIX, KINDS

DUE = 300  # rows that wait to be indexed are looked through directly
BATCH = 100  # rows of one transaction; on SQLite others wait for it
A_RUN_SECONDS = 5.0  # before the worker looks at its other tasks


class Behind(NamedTuple):
    """What a search does not find yet."""

    share: float | None  # of the rows from before the index that are indexed; None: all are
    waiting: int  # rows that changed and are too many to be looked through directly; else 0


def behind() -> Behind:
    found = SearchProgress.objects.first()
    left = sum(found.left.values()) if found else 0
    waiting = SearchDue.objects.order_by().values("pk")[: DUE + 1].count()
    if waiting > DUE:
        waiting = SearchDue.objects.count()
    share = (100 * (found.total - left) // max(1, found.total)) / 100 if found and left else None
    return Behind(share, waiting if waiting > DUE else 0)


def begin() -> SearchProgress:
    """Note what is there already, to be indexed by and by."""
    left = {kind.prefix: kind.model._default_manager.aggregate(last=Max("pk"))["last"] or 0 for kind in KINDS}
    found, _ = SearchProgress.objects.get_or_create(pk=1, defaults={"left": left, "total": sum(left.values())})
    return found


def sweep() -> int:
    """Index what is due; return how many rows that were. Any number of processes may do so at once."""
    until = time.monotonic() + A_RUN_SECONDS
    count = 0
    while time.monotonic() < until:
        done = _due() or _from_before()
        count += done
        if not done:
            break
    return count


def _due() -> int:
    # The turn first: what another sweep writes from here on is seen when this one is about to write.
    turn = _turn()
    due = list(SearchDue.objects.order_by("pk").values_list("pk", "kind", "row_id")[:BATCH])
    if due and _index(turn, [(kind, row_id) for _, kind, row_id in due], due=[pk for pk, _, _ in due]):
        return len(due)
    return 0


def _from_before() -> int:
    found = SearchProgress.objects.first()
    kind = next((kind for kind in KINDS if found and found.left.get(kind.prefix)), None)
    if found is None or kind is None:
        return 0
    rows = kind.model._default_manager.filter(pk__lte=found.left[kind.prefix]).order_by("-pk")
    keys = list(rows.values_list("pk", flat=True)[:BATCH])
    left = {**found.left, kind.prefix: keys[-1] - 1 if len(keys) == BATCH else 0}
    return (len(keys) or 1) if _index(found.turn, [(kind.prefix, key) for key in keys], left=left) else 0


def _turn() -> int:
    found = SearchProgress.objects.values_list("turn", flat=True).first()
    return begin().turn if found is None else found


def _index(
    turn: int, rows: Iterable[tuple[str, int]], *, due: Iterable[int] = (), left: Mapping[str, int] | None = None
) -> bool:
    """Index rows as they are now, unless another sweep took this turn; what cannot be read is left out."""
    wanted: dict[str, dict[int, None]] = {}
    for prefix, key in rows:
        wanted.setdefault(prefix, {})[key] = None
    documents = []
    for prefix, keys in wanted.items():
        documents += read(prefix, keys)
    for document in documents:
        document.words  # noqa: B018 - cut before the transaction, which others wait for
    there = {(document.kind, document.row_id) for document in documents}
    gone = [(prefix, key) for prefix, keys in wanted.items() for key in keys if (prefix, key) not in there]
    with transaction.atomic(durable=True):
        # Read before, so that nobody waits for it: whoever reads older rows has an older turn, and writes none of them.
        changes = {"turn": turn + 1} if left is None else {"turn": turn + 1, "left": dict(left)}
        if not SearchProgress.objects.filter(turn=turn).update(**changes):
            return False
        index.write(documents, gone)
        SearchDue.objects.filter(pk__in=list(due)).delete()
    return True


def read(prefix: str, keys: Iterable[int]) -> list[index.Document]:
    """Read what is searched of some rows as they are now."""
    kind = BY_PREFIX[prefix]
    try:
        return kind.documents(keys)
    except (ValueError, KeyError, TypeError, AttributeError):  # one of them is not as it should be
        found = []
        for key in keys:
            with by_itself("Not indexed: %s with the key %s", prefix, key):
                found += kind.documents([key])
        return found
