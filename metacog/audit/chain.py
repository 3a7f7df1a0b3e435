"""The chain over the audit events: seal what was written, and check that it still is what was sealed.

A seal covers a run of events whose ids follow one another without a gap. It holds the SHA-256 of each of
them (its leaves) and the digest of the seal before it, so that nothing under a seal can be changed, taken
out, put in or moved without every later digest changing too. docs/audit.md gives the bytes that are hashed.

Which events still wait for a seal is a row for each, written by a trigger in the event's own transaction.
No event can be passed over, however late its transaction commits: it is visible together with its row, and
then it is sealed, by a seal of its own when higher ids are sealed already.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from metacog.db.prepared import written_once
from metacog.models import AuditEvent, AuditSeal, AuditUnsealed

BATCH = 1000  # events that are sealed in one transaction, and the most one seal covers
A_RUN = 200_000  # events that a worker seals before it looks at its other tasks
GENESIS = "0" * 64  # the digest before the first seal
LEAF = 32  # bytes of a SHA-256

# Everything an event holds, in the order in which it is hashed.
FIELDS = (
    "id",
    "at",
    "team_id",
    "agent_id",
    "actor_kind",
    "actor",
    "action",
    "object_id",
    "before",
    "after",
    "data",
    "request_id",
)
Row = tuple[Any, ...]  # an event's FIELDS

# Text without a choice: sorted keys, no spaces, ASCII only. PostgreSQL keeps JSON's keys in another order.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode


def instant(moment: datetime) -> str:
    """Return RFC 3339 in UTC, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def leaf(row: Row) -> bytes:
    """Return the SHA-256 of an event: of all its FIELDS as one JSON array."""
    return sha256(_encode([row[0], instant(row[1]), *row[2:]]).encode()).digest()


def digest(seal: AuditSeal) -> str:
    """Return the SHA-256 of a seal: of everything it says, a newline and its leaves."""
    head = [seal.number, seal.first_id, seal.last_id, seal.total, seal.previous, instant(seal.sealed_at)]
    return sha256(_encode(head).encode() + b"\n" + bytes(seal.leaves)).hexdigest()


# -- sealing ---------------------------------------------------------------------------------------


def latest_seal() -> AuditSeal | None:
    return _latest.first()


@written_once
def _latest() -> QuerySet[AuditSeal]:
    return AuditSeal.objects.defer("leaves").order_by("-number")[:1]


def seal() -> int:
    """Seal the events that wait; return how many. Any number of processes may do so at once.

    Nothing that writes an event waits for this: digests are made before the transaction begins.
    """
    sealed = after = 0
    while sealed < A_RUN:
        # Before the events: if another process seals some of them in between, its seal follows `latest`
        # as ours would, and the second of the two is refused.
        latest = latest_seal()
        # From where the batch before ended: rows that were taken away stay in PostgreSQL's index until its next
        # VACUUM, and each batch would pass over those of all before it. What commits late has the next run.
        waiting = AuditUnsealed.objects.filter(pk__gt=after).order_by("pk")
        first = list(waiting.values_list("pk", flat=True)[:BATCH])
        # Fewer where somebody deleted events: their rows must not stop the sealing of all others.
        events = list(AuditEvent.objects.filter(pk__in=first).order_by("pk").values_list(*FIELDS))
        if events:
            try:
                with transaction.atomic():
                    AuditSeal.objects.bulk_create(_seals(latest, events))
                    AuditUnsealed.objects.filter(pk__in=[row[0] for row in events]).delete()
            except IntegrityError:
                if latest_seal() == latest:
                    raise
                break  # the faster one goes on
        sealed += len(events)
        if len(first) < BATCH:
            break
        after = first[-1]
    return sealed


def _seals(latest: AuditSeal | None, events: Sequence[Row]) -> Iterator[AuditSeal]:
    now = timezone.now()
    number, total, previous = (latest.number, latest.total, latest.digest) if latest else (0, 0, GENESIS)
    for run in _runs(events):
        number += 1
        total += len(run)
        seal = AuditSeal(
            number=number,
            first_id=run[0][0],
            last_id=run[-1][0],
            total=total,
            leaves=b"".join(map(leaf, run)),
            previous=previous,
            sealed_at=now,
        )
        previous = seal.digest = digest(seal)
        yield seal


def _runs(events: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = 0
    for place in range(1, len(events) + 1):
        if place == len(events) or events[place][0] != events[place - 1][0] + 1:
            yield events[start:place]
            start = place


# -- anchors ---------------------------------------------------------------------------------------


def anchor() -> dict[str, Any] | None:
    """Return what to keep elsewhere: the latest seal. Whoever has it can tell when the record was cut."""
    latest = latest_seal()
    if latest is None:
        return None
    return {
        "seal": latest.number,
        "last_event": latest.last_id,
        "digest": latest.digest,
        "at": instant(latest.sealed_at),
        "count": latest.total,
    }


def keep_anchor() -> Path | None:
    """Write today's anchor (UTC) into the data folder, once; return its file when it was written now."""
    folder = settings.DATA_DIR / "anchors"
    path: Path = folder / f"{timezone.now().astimezone(UTC):%Y-%m-%d}.json"
    if path.exists():
        return None
    seal()
    latest = anchor()
    if latest is None:
        return None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        write_anchor(latest, path, over=False)
    except FileExistsError:  # another was faster
        return None
    return path


def write_anchor(latest: Mapping[str, Any], path: Path, *, over: bool = True) -> None:
    """Write an anchor into a file that only its owner can read, whole or not at all; `over` one that is there, or not.

    Raises OSError, FileExistsError among them.
    """
    if path.exists() and not path.is_file():  # /dev/null, which a draft would take the place of
        raise FileExistsError(errno.EEXIST, "it is no file", str(path))
    draft = path.with_name(f".{secrets.token_hex(8)}")
    try:
        with open(draft, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(json.dumps(latest) + "\n")
        (os.replace if over else os.link)(draft, path)
    finally:
        draft.unlink(missing_ok=True)


# -- verifying -------------------------------------------------------------------------------------

MOST_PROBLEMS = 20  # that are told; one change is seldom more than two
EVENTS_READ, SEALS_READ = 5000, 500  # rows of one query

# While an event's transaction is open, later ids may be sealed. An event that claims to be older than that
# was put in afterwards.
LONGEST_TRANSACTION = timedelta(hours=1)

TRIGGERS = {
    "postgresql": {
        "metacog_auditevent_append_only",
        "metacog_auditevent_to_seal",
        "metacog_auditseal_append_only",
    },
    "sqlite": {
        *(f"metacog_auditevent_no_{change}" for change in ("update", "delete", "replace")),
        "metacog_auditevent_to_seal",
        *(f"metacog_auditseal_no_{change}" for change in ("update", "delete", "replace")),
    },
}


@dataclass
class Report:
    """What a check of the record found."""

    seals: int = 0
    events: int = 0  # under seals
    sealed_at: datetime | None = None
    unsealed: int = 0
    problems: list[str] = field(default_factory=list)


def verify(kept: Mapping[str, Any] | None = None) -> Report:
    """Check every event against the seals, the seals against each other, and their end against an anchor.

    Reads a few thousand rows at a time, and holds no lock: events and seals may be added meanwhile.
    """
    report = Report()
    # The links come first: they set how far the chain reached when the check began.
    found = chain(_unprotected(), _wrong_links(report), _wrong_events(report), _cut(kept))
    report.problems.extend(islice(found, MOST_PROBLEMS))
    return report


def _unprotected() -> Iterator[str]:
    """Tell which triggers are gone or switched off."""
    there = {
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')",
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    }
    with connection.cursor() as cursor:
        cursor.execute(there[connection.vendor])
        names = {name for (name,) in cursor.fetchall()}
    for name in sorted(TRIGGERS[connection.vendor] - names):
        yield f"The trigger {name} is gone or switched off: the record is not protected."


def _wrong_links(report: Report) -> Iterator[str]:
    """Walk the chain from its beginning."""
    previous = GENESIS
    links = AuditSeal.objects.order_by("number").values_list(
        "number", "previous", "digest", "first_id", "last_id", "total", "sealed_at"
    )
    for number, follows, own, first, last, total, sealed_at in _read(links, "number", SEALS_READ):
        if number != report.seals + 1:
            yield f"After seal {report.seals} comes seal {number}: seals are missing."
        elif follows != previous:
            yield f"Seal {number} does not follow seal {number - 1}: one of them was changed."
        elif total != report.events + last - first + 1:
            yield f"Seal {number} counts {total:,} events where there should be {report.events + last - first + 1:,}."
        report.seals, report.events, report.sealed_at, previous = number, total, sealed_at, own


def _wrong_events(report: Report) -> Iterator[str]:
    """Walk the events and the seals over them side by side, from the highest id down."""
    events = _read(AuditEvent.objects.order_by("-id").values_list(*FIELDS), "-id", EVENTS_READ)
    seals = _read(AuditSeal.objects.filter(number__lte=report.seals).order_by("-first_id"), "-first_id", SEALS_READ)
    event = next(events, None)
    earliest: AuditSeal | None = None  # of the seals over higher ids
    above = 2**63
    loose: list[int] = []
    for seal in seals:
        if seal.last_id >= above:
            yield f"Seal {seal.number} covers event {above}, which another seal covers too."
        above = seal.first_id
        while event and event[0] > seal.last_id:
            loose.append(event[0])
            if len(loose) == BATCH:
                yield from _wrong_loose(loose, report)
            event = next(events, None)
        covered = []
        while event and event[0] >= seal.first_id:
            covered.append(event)
            event = next(events, None)
        covered.reverse()
        yield from _wrong_under(seal, covered)
        if earliest and earliest.number < seal.number:
            yield from _put_in(covered, seal, earliest)
        else:
            earliest = seal
    while event:
        loose.append(event[0])
        if len(loose) == BATCH:
            yield from _wrong_loose(loose, report)
        event = next(events, None)
    yield from _wrong_loose(loose, report)
    gone = AuditUnsealed.objects.exclude(Exists(AuditEvent.objects.filter(pk=OuterRef("pk"))))
    for pk in gone.order_by("pk").values_list("pk", flat=True)[:MOST_PROBLEMS]:
        yield f"Event {pk} is gone: it was deleted before it was sealed."


def _wrong_under(seal: AuditSeal, covered: Sequence[Row]) -> Iterator[str]:
    """Compare a seal with the events that lie between its ids."""
    leaves = bytes(seal.leaves)
    if digest(seal) != seal.digest or len(leaves) != LEAF * (seal.last_id - seal.first_id + 1):
        yield f"Seal {seal.number} was changed."
        return
    if b"".join(map(leaf, covered)) == leaves:
        return
    by_id = {row[0]: row for row in covered}
    for place, pk in enumerate(range(seal.first_id, seal.last_id + 1)):
        if pk not in by_id:
            yield f"Event {pk} is gone; seal {seal.number} covers it."
        elif leaf(by_id[pk]) != leaves[place * LEAF : (place + 1) * LEAF]:
            yield f"Event {pk} was changed: it is not what seal {seal.number} covers."


def _put_in(covered: Sequence[Row], seal: AuditSeal, earliest: AuditSeal) -> Iterator[str]:
    """Tell which events claim a time at which they were not there."""
    for pk, at, *_ in covered:
        if at < earliest.sealed_at - LONGEST_TRANSACTION:
            yield (
                f"Event {pk} was put in: it says {instant(at)}, but was not there when later events "
                f"were sealed at {instant(earliest.sealed_at)} (seal {earliest.number}; its own is {seal.number})."
            )


def _wrong_loose(loose: list[int], report: Report) -> Iterator[str]:
    """Count the events that wait for a seal, and tell which are under none and wait for none; empty the list."""
    waiting = set(AuditUnsealed.objects.filter(pk__in=loose).values_list("pk", flat=True))
    for pk in loose:
        # What is not waiting any more may have been sealed since the check began.
        if pk in waiting or AuditSeal.objects.filter(first_id__lte=pk, last_id__gte=pk).exists():
            report.unsealed += 1
        else:
            yield f"Event {pk} was put in: no seal covers it, and it waits for none."
    loose.clear()


def _cut(kept: Mapping[str, Any] | None) -> Iterator[str]:
    """Compare the chain with an anchor that was kept elsewhere."""
    if kept is None:
        return
    seal = AuditSeal.objects.defer("leaves").filter(number=kept["seal"]).first()
    if seal is None:
        yield f"The end of the record is cut off: seal {kept['seal']}, which the anchor names, is gone."
    elif seal.digest != kept["digest"]:
        yield f"Seal {seal.number} is not the one the anchor names: the log was rewritten."


def _read(rows: models.QuerySet[Any, Any], key: str, size: int) -> Iterator[Any]:
    """Read an ordered query a piece at a time, each from behind the last `key`.

    Not one long query, which on PostgreSQL would keep the server from cleaning up while it runs.
    """
    name = key.removeprefix("-")
    place: Any = None
    while True:
        piece = rows if place is None else rows.filter(**{f"{name}__{'lt' if key[0] == '-' else 'gt'}": place})
        read = list(piece[:size])
        yield from read
        if len(read) < size:
            return
        last = read[-1]
        place = getattr(last, name) if isinstance(last, models.Model) else last[0]
