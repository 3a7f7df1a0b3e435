"""One question and its answer over HTTP, without doing either: how often, how long, and what an answer means.

What takes part in an exchange is written once, as a generator that yields a `Send` or a `Sleep` and is given what came
of it; `transport.py` has the two that carry it out, with and without `await`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from .errors import Refused, Unreachable
from .gating import as_json

ANSWER_SECONDS = 10.0  # for one answer; what waits for a decision adds how long it asked to wait
LOOK_SECONDS = 5.0  # for the answer of one look, where nothing is waited for
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.25, 5.0
# Asked again later, each of these may be answered otherwise. A 500 too: every write has an id, or is the same twice.
TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})

NOT_METACOG = "what answers at this address is not metacog's API"

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """A request; `seconds` is how long to wait for its answer."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = ANSWER_SECONDS


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Answer:
    """What came back; status 0: nothing did, and `body` says why."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case


Step = Send | Sleep
Steps = Generator[Step, "Answer | None", T]


@dataclass(frozen=True)
class Until:
    """When to give up; `clock` counts seconds from anywhere."""

    at: float
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Until:
        return cls(float("inf") if seconds is None else clock() + seconds, clock)

    @property
    def left(self) -> float:
        return max(0.0, self.at - self.clock())

    def sooner(self, seconds: float) -> Until:
        return Until(min(self.at, self.clock() + seconds), self.clock)


def request(
    method: str, path: str, body: Any = None, *, query: Mapping[str, Any] | None = None, accept: str = ""
) -> Send:
    """Build a request; one of NOT_JSON where `body` cannot be JSON."""
    headers = {"accept": accept} if accept else {}
    data = None
    if body is not None:
        text = as_json(body)
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair: metacog says where it stands
            data = json.dumps(body, sort_keys=True, allow_nan=False).encode()
        headers["content-type"] = "application/json"
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return Send(method, path + (f"?{urlencode(given)}" if given else ""), data, headers)


def answered(send: Send, until: Until, *, waits: float = 0.0, again: bool = True) -> Steps[Answer]:
    """Ask until there is an answer that stands; raise Unreachable when the time is over, Refused when it is a no.

    `waits` asks the server to answer a little later with something better, within so many seconds and what is left.
    `again` false: one attempt.
    """
    attempt, why = 0, "there was no time"
    while until.left > 0 or not attempt:
        left = until.left
        wait = round(min(waits, left), 3)
        # Asked at all even where no time is left: a deadline of 0 means one look, which takes a while.
        seconds = min(ANSWER_SECONDS, max(left, 1.0)) + wait if left else LOOK_SECONDS
        path = f"{send.path}?wait={wait}" if wait else send.path
        answer = yield Send(send.method, path, send.body, send.headers, seconds)
        assert answer is not None
        if answer.status and answer.status < 400:
            return answer
        if answer.status and answer.status not in TRY_AGAIN:
            raise refusal(answer)
        why = reason_of(answer)
        pause = pause_after(answer, attempt)
        if not again or pause >= until.left:
            break
        yield Sleep(pause)
        attempt += 1
    raise Unreachable(f"metacog gave no answer: {why}")


def pause_after(answer: Answer, attempt: int) -> float:
    """How long to wait: twice as long each time, by chance down to half of it, and never less than asked for."""
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(attempt, 16))
    pause = longest * random.uniform(0.5, 1.0)
    asked = retry_after(answer.headers.get("retry-after", ""))
    # Spread out beyond it, too: all who were told the same second would come back in it.
    return asked + pause if asked else pause


def retry_after(value: str) -> float:
    """Read a Retry-After, seconds or a date, as seconds from now; 0 where it is neither or over."""
    value = value.strip()
    if value.isdecimal() and value.isascii():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return 0.0
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def content(answer: Answer) -> Any:
    """Read an answer's JSON; Unreachable where it is none, as from a proxy's page of its own."""
    try:
        return json.loads(answer.body)
    except ValueError:
        raise Unreachable("what answered is not metacog: its answer is no JSON") from None


def refusal(answer: Answer) -> Refused:
    problem = problem_of(answer)
    errors = problem.get("errors")
    detail = str(problem.get("detail") or NOT_METACOG)
    return Refused(answer.status, detail, errors if isinstance(errors, list) else (), problem)


def reason_of(answer: Answer) -> str:
    if not answer.status:
        return answer.body.decode(errors="replace")
    return f"{detail_of(answer, problem_of(answer))} ({answer.status})"


def problem_of(answer: Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def detail_of(answer: Answer, problem: Mapping[str, Any]) -> str:
    return str(problem.get("detail") or f"HTTP status {answer.status}")
