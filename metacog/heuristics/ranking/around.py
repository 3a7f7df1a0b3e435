"""Facts about what a text was posted with: its metadata, what went wrong, other items, the hour, what it rests on.

Of a value of metadata a fact has a hash, so that a model holds none; which it is says whoever has the metadata.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from zlib import crc32

from ..alike.shape import shape
from ..tool_calls.secret_shapes import is_secret
from ..wire.assessment import ItemPart
from ..wire.wire import instant

METADATA = "metadata:"
GIVEN = "given:"  # a value of an argument, by its path and its shape
_MOST_FACTS = 48  # of one text's metadata
_MOST_PARTS = 8  # of a list
_DEEPEST = 3
_LONGEST_KEY, _LONGEST_VALUE = 64, 40  # in characters; longer keys are left out, of longer values the shape counts
_STEPS = (1, 2, 5)
_MOST = 1_000_000_000
HOURS = 4  # of which a day has six
_READ, _GIVEN = 2_000, 50_000  # characters of a text, and of what it was given
# None looks behind, or tries a word from each of its letters: so they take a third of the time.
_PATTERNS = {
    "figures": re.compile(r"\d(?:[\d.,:/-]*\d)?"),
    "names": re.compile(r"[\w,;:] ([A-Z]\w{2,})|\b([A-Za-z]++_\w+|[a-z]++[A-Z]\w+)"),
    "quotes": re.compile(r'"([^"\n]{3,80})"|“([^”\n]{3,80})”|「([^」\n]{2,40})」|`([^`\n]{2,80})`'),
}
_STANDS_FOR = re.compile("[0-9@:\"'`“「『]")  # one of which is in all that a shape stands for
_PROGRAM = re.compile(r"\s*(?:\w+=\S*\s+)*([\w./-]{1,40})")


class Post(NamedTuple):
    """What is known of the response that a text is in."""

    body: Mapping[str, Any]  # as it was posted
    verdict: Mapping[str, Any] = {}  # hesitation, quality, confidence and stuck, as far as they are there
    turns: int = 0  # how many responses its session had before
    agent: str = ""  # its id
    at: datetime | None = None  # when it arrived


class Value(NamedTuple):
    """A value of metadata: its key, and it as people read it: a number as its range, a long one as its shape."""

    key: str
    value: str

    @property
    def fact(self) -> str:
        return f"{METADATA}{self._hashed}"

    def given_to(self, tool: str) -> str:
        """Name the fact that a call of a tool has this value."""
        return f"{GIVEN}{tool}/{self._hashed}"

    @property
    def _hashed(self) -> str:
        return f"{self.key}={crc32(self.value.encode('utf-8', 'replace')):08x}"


def key_of(fact: str) -> str:
    """Return the key of metadata that a fact is about; "" where it is about none."""
    return fact[len(METADATA) : -9] if fact.startswith(METADATA) else ""


def values_in(metadata: Mapping[str, Any]) -> list[Value]:
    """Return the values of metadata, those within lists and objects too."""
    return [*islice(_values("", metadata, _DEEPEST), _MOST_FACTS)]


def values_given(arguments: Any) -> list[Value]:
    """Return the values of a call's arguments by their paths, texts by their shape; "" is a long one or a secret."""
    if not isinstance(arguments, Mapping):
        return []
    found = islice(_values("", arguments, _DEEPEST, of_text=_short_shape), _MOST_FACTS)
    return [each._replace(value="") if any(map(is_secret, each.key.split("."))) else each for each in found]


def _values(key: str, value: Any, deep: int, of_text: Callable[[str], str] | None = None) -> Iterator[Value]:
    if isinstance(value, Mapping):
        if deep:
            for name, part in value.items():
                yield from _values(f"{key}.{name}" if key else str(name), part, deep - 1, of_text)
    elif isinstance(value, list):
        for part in islice(value, _MOST_PARTS):
            yield from _values(key, part, deep - 1 if deep else 0, of_text)
    elif len(key) <= _LONGEST_KEY and value != "":
        yield Value(key, of_text(value) if of_text and isinstance(value, str) else _read(value))


def _read(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return range_of(value)
    text = " ".join(str(value).split())
    if len(text) <= _LONGEST_VALUE:
        return text
    return _shape_of(text)


def _shape_of(text: str) -> str:
    return shape(text).replace("\x00", "·")[:200]


def _short_shape(text: str) -> str:
    if len(text) > _LONGEST_VALUE:
        return ""
    return _shape_of(text) if _STANDS_FOR.search(text) else " ".join(text.split())


def range_of(number: float) -> str:
    """Return one of a few ranges that a number is in; a whole one below 5 is by itself."""
    if number < 0:
        return f"−({range_of(-number)})"
    if number < 5 and number == int(number):
        return str(int(number))
    if number < 1:
        fifth = int(number * 5)
        return f"{fifth / 5:g}–{(fifth + 1) / 5:g}"
    low = 1
    while low < _MOST:
        for step, following in zip(_STEPS, (*_STEPS[1:], 10), strict=True):
            if number < low * following:
                return f"{low * step:,}–{low * following:,}"
        low *= 10
    return f"≥ {_MOST:,}"


def around(post: Post, text: str, kinds: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """Give the facts about a text's surroundings; `kinds` counts the other items of its response."""
    body = post.body
    for kind, count in kinds.items():
        yield f"beside:{kind}", log(count, 4)
    if errors := body.get("errors"):
        yield "errors", log(len(errors), 2)
    if body.get("command_failed"):
        yield "command-failed", 1.0
    if (command := body.get("command")) and (program := _PROGRAM.match(command)):
        yield f"command:{program[1]}", 1.0
    if tests := (body.get("tests") or {}).get("failed"):
        yield "tests-failed", log(tests, 4)
    if body.get("replies_to_held"):
        yield "second-look", 1.0
    if cycle := body.get("cycle"):
        yield "cycle", log(cycle, 8)
    if at := _time(post):
        yield f"hour:{at.hour // HOURS * HOURS:02}", 1.0
    yield from _grounded(body, text)


def _time(post: Post) -> datetime | None:
    said = post.body.get("occurred_at")
    return instant(said) if said else post.at


def _grounded(body: Mapping[str, Any], text: str) -> Iterator[tuple[str, float]]:
    """Say of an answer with context which shares of its figures, names and quoted words do not stand in it."""
    retrieval, output = body.get("retrieval") or {}, body.get("command_output")
    if scores := retrieval.get("scores"):
        yield "retrieval", round(1 - max(scores), 4)
    if output:
        for what, (missing, count) in missing_in(text, f"{output[:_GIVEN]} {body.get('user_message') or ''}").items():
            yield f"missing:{what}", round(missing / count, 4)


def missing_in(text: str, given: str) -> dict[str, tuple[int, int]]:
    """Count of a text's figures, names and quoted words those that do not stand in what it was given, and all."""
    found = {}
    for what, pattern in _PATTERNS.items():
        if said := {match[match.lastindex or 0] for match in pattern.finditer(text[:_READ])}:
            found[what] = sum(each not in given for each in said), len(said)
    return found


def kinds_beside(items: Sequence[ItemPart], index: int) -> Counter[str]:
    """Count the other items of a response, as its verdict has them, by their kinds."""
    return Counter(item["kind"] for item in items if item["index"] != index)


def log(count: int, unit: int) -> float:
    """Return a count on the scale of its logarithm, rounded: libraries differ in the last digit."""
    return round(math.log1p(count) / unit, 4)
