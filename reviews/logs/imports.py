"""Uploaded logs: taken in, read by the worker in pieces, and deleted when their time is over.

A worker that dies in the middle loses one piece: what a piece came to is written with the place where the next begins,
in one transaction, and whoever claims the log afterwards goes on there.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from metacog import heuristics
from metacog.audit import audit
from metacog.models import Agent, Language, Team, TeamRules, User
from patterns.patterns.scorer import patterns_in_force, policy_in_force
from reviews.isolation import by_itself
from reviews.logs import keeping
from reviews.logs.formats import LogReader, UnknownFormat
from reviews.logs.readers.turns import Fault, Read, context
from reviews.logs.sources import Log
from reviews.logs.trial import HeldPart, Scored, Trial
from reviews.models import LogImport, LogImportItem, LogImportPart

MAX_UPLOAD = 50 * 1_048_576  # bytes, as uploaded
MAX_UNPACKED = 512 * 1_048_576  # bytes that are read of a compressed log
KEPT_FOR = timedelta(days=7)
UPLOADED_WITHIN = timedelta(hours=1)  # else something broke off
PART = 1_048_576  # bytes of a row
MOST_ITEMS = 200  # of what would have been held that can be opened
MOST_ALIKE = 20  # of those, of one tool for one reason: the first
MOST_TEXT = 8 * 1_048_576  # characters of those together
MOST_UNREAD = 200  # records that are named
CLAIMED_FOR = timedelta(seconds=30)  # renewed with each piece
PIECE_SECONDS = 1.0
PIECE_RECORDS = 2_000
TURN_SECONDS = 20.0  # in which a run begins pieces; what is left the runs that follow have
MOST_ATTEMPTS = 3  # to get a piece done, before the log is given up
BATCH = 4  # parts that are deleted at once; on SQLite others wait for it

State = LogImport.State
_UNDER_WAY = (State.WAITING, State.RUNNING)


def take_in(
    person: User | None,
    team: Team,
    agent: Agent | None,
    upload: UploadedFile[bytes],
    *,
    format: str,
    keeps: bool = False,
) -> LogImport:
    """Store an uploaded log for the worker, a stretch at a time; it is tried under the policy of the team's `agent`."""
    now = timezone.now()
    row = LogImport.objects.create(
        team=team,
        person=person,
        agent=agent,
        policy_version=agent.policy_version if agent else None,
        patterns_version=team.patterns_version,
        rules_version=team.rules_version,
        keeps=keeps and agent is not None,
        file_name=context(upload.name or "log")[:200],
        format=format,
        created_at=now,
        expires_at=now + KEPT_FOR,
    )
    digest, size = hashlib.sha256(), 0
    upload.seek(0)
    # Not by `chunks`, which gives all of an upload that is small enough to be in memory at once.
    while data := upload.read(PART):
        LogImportPart.objects.create(log=row, number=size // PART, data=data)
        digest.update(data)
        size += len(data)
    with transaction.atomic():
        row.size, row.state = size, State.WAITING
        row.save(update_fields=["size", "state"])
        _record("log-uploaded", row, person, bytes=size, sha256=digest.hexdigest(), keeps=row.keeps)
    return row


def delete(row: LogImport, person: User | None) -> None:
    """Delete a log with its report; a worker that is at it stops with its piece."""
    with transaction.atomic():
        if LogImport.objects.filter(pk=row.pk).delete()[0]:
            _record("log-deleted", row, person, days=KEPT_FOR.days)


def work_due(now: datetime) -> int:
    """Read on in the logs that wait, the oldest first, and delete those whose time is over; return how many pieces."""
    began, pieces = monotonic(), 0
    broken_off = Q(state=State.UPLOADING, created_at__lt=now - UPLOADED_WITHIN)
    for row in LogImport.objects.filter(Q(expires_at__lt=now) | broken_off).order_by("pk")[:20]:
        with by_itself("The log %s was not deleted", row.public_id):
            delete(row, None)
    for pk in list(
        LogImport.objects.filter(_is_free(now), state__in=_UNDER_WAY).order_by("pk").values_list("pk", flat=True)
    ):
        with by_itself("The log with the key %s was not read", pk):
            pieces += work(pk, now, until=began + TURN_SECONDS)
        if monotonic() - began > TURN_SECONDS:
            break
    return pieces


def _is_free(now: datetime) -> Q:
    """Return what no worker is at; a claim that ends too late was made before the clock was set back."""
    return Q(claimed_until=None) | Q(claimed_until__lt=now) | Q(claimed_until__gt=now + 2 * CLAIMED_FOR)


def work(pk: int, now: datetime, *, until: float) -> int:
    """Read on in one log until that time (of `monotonic`), or to its end; return how many pieces were done."""
    claim = secrets.token_hex(16)
    claimed = LogImport.objects.filter(_is_free(now), pk=pk, state__in=_UNDER_WAY).update(
        state=State.RUNNING, claim=claim, claimed_until=now + CLAIMED_FOR, attempts=F("attempts") + 1
    )
    if not claimed:
        return 0
    row = LogImport.objects.select_related("team", "agent__team").get(pk=pk)
    if row.attempts > MOST_ATTEMPTS:
        _end(row, claim, State.FAILED, LogImport.Problem.BROKEN)
        return 0
    try:
        return _Work(row, claim).go_on(until)
    except UnknownFormat as error:
        if (record := error.record) is not None and record.fault is not None:
            unread = [[record.line, record.fault.sentence, dict(record.fault.names)]]
            LogImport.objects.filter(pk=pk, claim=claim).update(unread=unread)
        _end(row, claim, State.FAILED, LogImport.Problem.FORMAT)
        return 0


class _Work:
    """One worker at one log, as long as its claim stands."""

    def __init__(self, row: LogImport, claim: str) -> None:
        self.row, self.claim = row, claim
        cursor = row.cursor or {}
        self.log = Log(io.BufferedReader(Parts(row), PART))
        self.reader = LogReader(self.log, row.format, cursor.get("reader"), name=row.file_name)
        self.trial = Trial(scorer_of(row), hesitation=_is_scored(row), state=cursor.get("trial"))
        alike = row.items.values_list("name", "reason")
        self.alike = Counter[tuple[str, str]](alike)
        self.number = self.alike.total()
        self.items: list[LogImportItem] = []

    def go_on(self, until: float) -> int:
        pieces, records, began = 0, 0, monotonic()
        for line, read in self.reader:
            self._take(line, read)
            records += 1
            if self.reader.records.offset > MAX_UNPACKED:
                most = {"most": MAX_UNPACKED // 1_048_576}
                self._unread(line, Fault(gettext_noop("Only the first %(most)d MiB, unpacked, were read."), most))
                self.trial.report.unread += 1
                break
            if records >= PIECE_RECORDS or monotonic() - began > PIECE_SECONDS:
                pieces += 1
                if not self._save(records) or monotonic() > until:
                    self._let_go()
                    return pieces
                records, began = 0, monotonic()
        if self._save(records):
            _end(self.row, self.claim, State.DONE)
        return pieces + 1

    def _take(self, line: int, read: Read) -> None:
        if read.fault is not None:
            self._unread(line, read.fault)
        for scored in self.trial.take(read):
            if isinstance(scored, heuristics.Refused):
                self._unread(line, Fault(gettext_noop("metacog would not take it: %(why)s"), {"why": scored.detail}))
                continue
            for held in scored.held:
                self._add(scored, held)
            if self.row.keeps and self.row.agent is not None:
                keeping.keep(self.row.agent, self.reader.format, scored.turn)
                self.row.kept += 1

    def _unread(self, line: int, fault: Fault) -> None:
        if len(self.row.unread) < MOST_UNREAD:
            self.row.unread.append([line, fault.sentence, dict(fault.names)])

    def _add(self, scored: Scored, held: HeldPart) -> None:
        size = len(scored.turn.text) + len(scored.turn.user_message) + sum(len(str(call)) for call in scored.turn.calls)
        kind = held.item.get("name", ""), str(held.reason)
        is_full = self.number >= MOST_ITEMS or self.row.items_size + size > MOST_TEXT
        if is_full or held.is_repeated or self.alike[kind] >= MOST_ALIKE:
            return
        self.number += 1
        self.alike[kind] += 1
        self.row.items_size += size
        body = {name: value for name, value in scored.body.items() if name != "command_output"}
        self.items.append(
            LogImportItem(
                log=self.row,
                number=self.number,
                line=scored.turn.line,
                kind=held.item["kind"],
                name=held.item.get("name", ""),
                reason=held.reason,
                score=held.hesitation["score"] if held.hesitation else None,
                rule=held.rule,
                excerpt=held.excerpt,
                body=body,
                verdict=scored.verdict,
                index=held.place,
            )
        )

    def _save(self, records: int) -> bool:
        """Write down what a piece came to, with where the next begins; False where the claim is another's by now."""
        row, now = self.row, timezone.now()
        row.records += records
        row.read_bytes = min(row.size, self.log.packed)
        row.format = self.reader.format
        row.report = self.trial.report.as_json()
        row.cursor = {"reader": self.reader.state, "trial": self.trial.state}
        names = ("records", "read_bytes", "format", "report", "cursor", "unread", "kept", "items_size")
        with transaction.atomic():
            done = LogImport.objects.filter(pk=row.pk, claim=self.claim, state=State.RUNNING).update(
                claimed_until=now + CLAIMED_FOR, attempts=0, **{name: getattr(row, name) for name in names}
            )
            if done:
                LogImportItem.objects.bulk_create(self.items)
        self.items = []
        return bool(done)

    def _let_go(self) -> None:
        mine = LogImport.objects.filter(pk=self.row.pk, claim=self.claim, state=State.RUNNING)
        mine.update(claimed_until=None, claim="", state=State.WAITING)


class Parts(io.RawIOBase):
    """The bytes of an uploaded log, read from its rows one at a time."""

    def __init__(self, row: LogImport) -> None:
        self.row, self.at = row, 0
        self.number, self.data = -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.row.size}[whence]
        self.at = max(0, start + offset)
        return self.at

    def readinto(self, buffer: Any) -> int:
        number, place = divmod(self.at, PART)
        if number != self.number:
            found = LogImportPart.objects.filter(log=self.row, number=number).values_list("data", flat=True).first()
            self.number, self.data = number, bytes(found or b"")
        data = self.data[place : place + len(buffer)]
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def scorer_of(row: LogImport) -> heuristics.Scorer:
    """Return the scorer of a log (read with team and agent), as it was when the log was uploaded."""
    version = max(row.patterns_version, row.team.patterns_known_from)
    base = heuristics.Scorer(patterns_in_force(row.team_id, version))
    if row.agent is None or row.policy_version is None:
        given = {"language": Language(Language.EN).bcp47, "team_rules": TeamRules.given(row.team_id, row.rules_version)}
        return base.with_policy(heuristics.Policy.from_dict(given))
    return base.with_policy(policy_in_force(row.agent.pk, row.policy_version, row.agent.language, row.rules_version))


def _is_scored(row: LogImport) -> bool:
    return row.agent is None or row.agent.hesitation_enabled


def _end(row: LogImport, claim: str, state: LogImport.State, problem: str = "") -> None:
    """Close a log; its bytes are needed no longer."""
    with transaction.atomic():
        mine = LogImport.objects.filter(pk=row.pk, claim=claim)
        if not mine.update(
            state=state, problem=problem, cursor=None, claim="", claimed_until=None, finished_at=timezone.now()
        ):
            return
        counts: dict[str, Any] = {}
        if state == State.DONE and row.report:
            counts = {name: row.report[name] for name in ("calls", "answers", "unread")}
            counts["held"] = row.report["held_calls"] + row.report["held_answers"]
        _record("log-read" if state == State.DONE else "log-failed", row, None, **counts)
        if row.keeps and row.kept:
            _record("log-kept", row, row.person, format=row.format, responses=row.kept)
    for numbers in _batches(list(LogImportPart.objects.filter(log=row).values_list("pk", flat=True))):
        LogImportPart.objects.filter(pk__in=numbers).delete()


def _batches(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    return (keys[first : first + BATCH] for first in range(0, len(keys), BATCH))


def _record(action: str, row: LogImport, person: User | None, **data: Any) -> None:
    audit.record(action, row.public_id, actor=person, team=row.team_id, agent=row.agent, **data)
