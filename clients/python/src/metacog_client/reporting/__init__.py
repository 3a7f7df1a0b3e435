"""Say what became of calls that a person allowed, without ever being in the way of the agent."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .. import flows, requests
from ..errors import Refused, Unreachable
from ..exchange import Steps, Until
from ..gating import NOT_JSON, Outcome
from .outputs import Outputs

if TYPE_CHECKING:
    from ..transport import Transport

Status = Literal["done", "failed", "skipped"]

REPORT_SECONDS = 5.0  # to try for, and the longest that a process which is done waits for what is on its way
MOST_WAITING = 1_000
MAX_DETAIL, MAX_RESULT = 10_000, 16_384  # characters, and bytes of JSON, as metacog takes them
MAX_ERROR = 1_000  # characters
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str)

log = logging.getLogger("metacog_client")


@dataclass
class Made:
    """A call that is being made, and what became of it: `done`, unless it is said or seen otherwise."""

    result: Any = None
    status: Status = "done"
    detail: str = ""

    def fail(self, detail: str) -> None:
        """Say that the call has failed though it raised nothing."""
        self.status, self.detail = "failed", detail

    def skip(self, detail: str) -> None:
        """Say that the call was not made after all."""
        self.status, self.detail = "skipped", detail


@dataclass(frozen=True)
class Report:
    """What became of the call that is held as `held`, as metacog takes it."""

    held: str
    status: Status
    detail: str
    result: Any

    @classmethod
    def of(cls, held: str, made: Made) -> Report:
        return cls(held, made.status, plain(made.detail, MAX_DETAIL), fitted(made.result))

    def send(self, until: Until) -> Steps[None]:
        """Report it, unless that was done before. Raises MetacogError where metacog does not take it."""
        sent = {"status": self.status, "detail": self.detail, "result": self.result}
        try:
            yield from flows.reported(requests.report(self.held, sent), sent, until)
        except Refused as error:
            if error.status == 422 and self.result is not None:  # nested too deeply, say
                yield from replace(self, result=None).send(until)
            elif error.status != 409 or not error.problem.get("outcome"):
                raise


class Reporter:
    """A thread that sends reports, in order, and ends when there are none.

    Nobody waits for it but a process that ends, which does until metacog has them or is not there for REPORT_SECONDS.
    What cannot be told is dropped with a line in the log `metacog_client`.
    """

    def __init__(self, connect: Callable[[], Transport], outputs: Outputs | None) -> None:
        """Take what gives the connections to report over, which are closed again, and what collects outputs."""
        self._connect, self.outputs = connect, outputs
        self._forget()

    def _forget(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._waiting: deque[Report] = deque()
        self._is_working = False

    def add(self, held: str, made: Made) -> None:
        """Send this soon. Raises nothing."""
        try:
            report = Report.of(held, made)
            if self._process != os.getpid():  # a forked process has none of its parent's threads
                self._forget()
            with self._lock:
                if len(self._waiting) >= MOST_WAITING:
                    raise Unreachable(f"{MOST_WAITING:,} reports wait for an answer already")
                self._waiting.append(report)
                if not self._is_working:
                    # No daemon: the interpreter waits for it when all else is done.
                    threading.Thread(target=self._work, name="metacog-reports", daemon=False).start()
                    self._is_working = True
        except Exception as error:  # whatever a result or this machine says: the call was made
            log.warning("metacog was not told what became of %s: %s", held, error)

    def _work(self) -> None:
        with self._connect() as transport:
            while report := self._next():
                try:
                    transport.run(report.send(Until.after(REPORT_SECONDS)))
                except Exception as error:  # one report that fails keeps no other back
                    log.warning("metacog was not told what became of %s: %s", report.held, error)
                    if isinstance(error, Unreachable) and not threading.main_thread().is_alive():
                        self._waiting.clear()  # the process waits for this thread alone

    def _next(self) -> Report | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._is_working = False
            return None


@contextmanager
def reporting(
    reporter: Reporter, outcome: Outcome, unless: type[BaseException] | tuple[type[BaseException], ...] = ()
) -> Iterator[Made]:
    """Report, after its end, what became of the call that is made within; see `Client.reporting`."""
    made = Made()
    try:
        yield made
    except unless:
        raise
    except BaseException as error:
        made.fail(words_of(error))
        settle(reporter, outcome, made)
        raise
    settle(reporter, outcome, made)


def settle(reporter: Reporter, outcome: Outcome, made: Made) -> None:
    """Keep what a call gave for the next response, and report it where a person allowed it; nothing of words."""
    if outcome.text is not None:
        return
    if reporter.outputs is not None and outcome.session and made.status != "skipped":
        reporter.outputs.add(outcome.session, made.detail if made.result is None else made.result, outcome.tool or "")
    if outcome.held and outcome.verdict in ("approve", "edit"):
        reporter.add(outcome.held, made)


def words_of(error: BaseException) -> str:
    """Say in short what was raised."""
    try:
        text = str(error)
    except Exception:  # an error that cannot say itself: its class is told
        text = ""
    return f"{type(error).__name__}: {text}"[:MAX_ERROR] if text else type(error).__name__


def fitted(result: Any) -> Any:
    """Give of a result what metacog takes: itself, or the beginning of its text where it is too large or no JSON."""
    if isinstance(result, str):
        text = result[: MAX_RESULT + 1]
    else:
        try:
            text = beginning(result)
            if len(text.encode()) <= MAX_RESULT:
                return json.loads(text)  # as it is now: who has it may change it
        except NOT_JSON:
            text = str(result)
    # As JSON each quotation mark and control character takes up to six bytes.
    text = plain(text, MAX_RESULT)
    while len(ENCODER.encode(text).encode()) > MAX_RESULT:
        text = text[: len(text) * 9 // 10]
    return text


def beginning(value: Any) -> str:
    """Write so much of a value as JSON that it is seen whether all of it fits."""
    parts, size = [], 0
    for part in ENCODER.iterencode(value):
        parts.append(part)
        size += len(part)
        if size > MAX_RESULT:
            break
    return "".join(parts)


def plain(text: str, most: int) -> str:
    """Give the beginning of a text as one that can be stored anywhere."""
    return text[:most].encode("utf-8", "replace").decode().replace("\0", "")
