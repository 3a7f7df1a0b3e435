"""What tools gave since the agent's last response: it goes along with the next one.

A figure that stands there has its source there, and is not taken for invented. metacog reads 65,536 characters of it:
of more, what is short stays whole, what is long is cut to the same length, and what is left out is named.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST = 65_536  # characters of `command_output` that metacog reads
MOST_OUTPUTS = 128  # of one session; of older ones their number is told
MOST_SESSIONS = 256  # those that were added to last
MOST_ASKED = 512  # questions that are the same to the byte when they are asked again
MOST_KEPT = 2_097_152  # characters that go along with them
EARLIER = 64  # characters for the line about earlier outputs
MAX_NAME = 50  # of a tool, in these lines
DATA = re.compile(r"[A-Za-z0-9+/=_-]{1000,}")  # an image, say, in which nobody finds a figure


@dataclass
class _Output:
    tool: str
    text: str
    is_cut: bool = False

    @property
    def around(self) -> int:
        """How many characters the lines around its text have where that is cut, with the ends of lines."""
        return len("\n".join(_Output(self.tool, "", True).lines())) + 1

    def lines(self) -> Iterator[str]:
        if self.tool:
            yield f"[{self.tool}]"
        yield self.text
        if self.is_cut:
            yield f"[… the rest of what {self.tool or 'it'} gave is left out]"


@dataclass
class _Session:
    """The outputs of one session that no response has had yet; `first` counts those before them."""

    outputs: list[_Output] = field(default_factory=list)
    first: int = 0
    forgotten: int = 0  # of those that no response has had

    def add(self, output: _Output) -> None:
        self.outputs.append(output)
        if len(self.outputs) > MOST_OUTPUTS:
            self.drop(self.first + 1)
            self.forgotten += 1
        left = MOST - EARLIER - sum(each.around for each in self.outputs)
        for number, each in enumerate(sorted(self.outputs, key=lambda each: len(each.text))):
            share = left // (len(self.outputs) - number)
            if len(each.text) > share:
                each.text, each.is_cut = each.text[:share], True
            left -= len(each.text)

    def drop(self, until: int) -> None:
        """Forget the outputs before this one."""
        del self.outputs[: max(0, until - self.first)]
        self.first = max(self.first, until)

    def text(self) -> str:
        earlier = [f"[{self.forgotten:,} earlier outputs are left out]"] if self.forgotten else []
        return "\n".join([*earlier, *(line for each in self.outputs for line in each.lines())])


@dataclass(frozen=True)
class Given:
    """What goes along with one response: the outputs of its session before `until`."""

    outputs: Outputs
    session: str
    text: str
    until: int

    def sent(self) -> None:
        """Say that metacog has it, so that no other response needs it."""
        self.outputs.forget(self.session, self.until)


class Outputs:
    """Collects, by session; may be used from several threads. It is kept in memory alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._asked: OrderedDict[str, Given] = OrderedDict()

    def add(self, session: str, output: Any, tool: str = "") -> None:
        """Keep what a tool gave for the session's next response. Raises nothing, whatever it is."""
        text, is_cut = as_text(output)
        if not text.strip():
            return
        with self._lock:
            found = self._sessions.setdefault(session, _Session())
            found.add(_Output(tool[:MAX_NAME], text, is_cut))
            self._sessions.move_to_end(session)
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)

    def given(self, session: str, key: str) -> Given:
        """Give what goes along with the response of this key: the same however often it is asked for."""
        with self._lock:
            if key not in self._asked:
                found = self._sessions.get(session) or _Session()
                self._asked[key] = Given(self, session, found.text(), found.first + len(found.outputs))
                while len(self._asked) > MOST_ASKED or self._kept() > MOST_KEPT:
                    self._asked.popitem(last=False)
            return self._asked[key]

    def _kept(self) -> int:
        return sum(len(each.text) for each in self._asked.values())

    def forget(self, session: str, until: int) -> None:
        with self._lock:
            if found := self._sessions.get(session):
                found.drop(until)
                found.forgotten = 0


def as_text(output: Any) -> tuple[str, bool]:
    """Write what a tool gave, of what has parts each on a line after its name; say whether it is cut."""
    lines, left = list[str](), MOST
    try:
        for line in _lines(output, ""):
            lines.append(line[:left])
            left -= len(line) + 1
            if left < 0:
                break
    except Exception:  # whatever a result does when it is looked at
        lines.append(type(output).__name__)
    text = DATA.sub("[data that is no text is left out]", "\n".join(lines))
    return text.encode("utf-8", "replace").decode().replace("\0", ""), left < -1


def _lines(value: Any, name: str) -> Iterator[str]:
    if hasattr(value, "model_dump"):  # of pydantic
        value = value.model_dump()
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _lines(each, str(key))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _lines(each, name)
    elif value is not None:
        text = str(value)
        yield f"{name}: {text}" if name else text
