"""Where code begins and ends in Markdown: fenced, indented and inline, by CommonMark's rules.

Blocks come first, as in CommonMark: quotations, lists, fences and paragraphs, a line at a time; then inline code within
each paragraph. HTML is text like any other here. Beside CommonMark's marks of lists those are known that people type:
bullets (•), `1、`, and notes (`[^1]:`). All of it takes time in proportion to the length; what lies beyond the bounds
below is no code.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from .markdown import LATIN
from .spans import Place

MAX_LINES = 60_000
MAX_MARKED = 12_000  # lines outside code that begin with a mark of Markdown
MAX_DEPTH = 32  # quotations and lists within each other
MAX_REREAD = 20_000  # lines that are read again since a fence turned out to be none
MAX_TICKS = 40_000  # runs of backticks

_QUOTE = 0  # what a quotation is on the stack; an entry of a list is the columns that its text stands in
_NOTE = 4
_MARKS = frozenset(">`~#-*_+=•[0123456789一二三四五六七八九十")
# What a line begins with, behind its blanks.
_BEGINS = re.compile(
    r"(?P<quote>>)"
    r"|(?P<fence>`{3,}+(?=[^`]*+$)|~{3,}+)"
    r"|(?P<ticks>`{3,}+)"
    r"|(?P<line>\#{1,6}+(?: |$)|(?P<sign>[-*_])(?: *+(?P=sign)){2,}+ *+$)"
    r"|(?P<list>[-+*•](?= |$)|(?P<number>[0-9]{1,9}+)[.)](?= |$)|[0-9一二三四五六七八九十]{1,3}+、)"
    r"|(?P<note>\[\^[^\]]{1,32}\]:(?= |$))"
)
_UNDERLINE = re.compile(r"(?:=++|-++) *+$")  # of what is a heading by it


@dataclass(slots=True)
class _Fence:
    start: int
    line: int
    sign: str
    closes: re.Pattern[str]
    stays: bool  # although nothing closes it
    stack: list[int]


class Blocks:
    """The blocks of a text: its fenced and indented code, and its paragraphs.

    A fence that nothing closes is none if it begins before `seen`: the text up to there is not for it to hide.
    `tag_closes` matches a tag that closes behind a fence, and so ends the code and what stands around it.
    """

    def __init__(self, text: str, seen: int, tag_closes: re.Pattern[str]) -> None:
        # As long as before, and with one kind of line end.
        self._text = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
        self._seen, self._tag_closes = seen, tag_closes
        self._closings: dict[tuple[str, int], re.Pattern[str]] = {}
        self.code: list[Place] = []
        self.paragraphs: list[Place] = []
        self._stack: list[int] = []
        self._paragraph: int | None = None  # where the one that is open began
        self._half = 0  # backticks that began a line of it and opened no fence, since others follow there
        self._fence: _Fence | None = None
        self._is_in_indented = False
        self._reread = self._marked = 0
        self._read()

    def _read(self) -> None:
        lines = self._text.split("\n", MAX_LINES)
        del lines[MAX_LINES:]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        number, count = 0, len(lines)
        never: dict[str, int] = {}  # from how long on a fence outside lists and quotations is closed by no later line
        while True:
            while number < count and self._marked < MAX_MARKED:
                self._line(lines[number], starts[number], number, never)
                number += 1
            fence, self._fence = self._fence, None
            if fence is None:
                break
            if fence.start >= self._seen or fence.stays:
                self.code.append((fence.start, len(self._text)))
                break
            # It is none: read on behind it.
            if not fence.stack:
                never[fence.sign[0]] = min(len(fence.sign), never.get(fence.sign[0], len(fence.sign)))
            self._reread += count - fence.line
            self._stack, self._paragraph = fence.stack, fence.start + len(fence.sign)
            number = fence.line + 1
        self._end_paragraph(starts[number] - 1)

    def _line(self, line: str, start: int, number: int, never: dict[str, int]) -> None:
        rest = line.expandtabs(4) if "\t" in line else line
        matched = 0
        for width in self._stack:
            if width == _QUOTE:
                inner = rest.lstrip(" ")
                if len(rest) - len(inner) > 3 or not inner.startswith(">"):
                    break
                rest = inner[2:] if inner.startswith("> ") else inner[1:]
            elif len(rest) >= width and not rest[:width].strip(" "):
                rest = rest[width:]
            elif rest.strip(" "):
                break
            matched += 1
        is_inside = matched == len(self._stack)
        if self._fence:
            if is_inside:
                if self._fence.closes.match(rest):
                    self._close_fence(line, start)
                return
            self.code.append((self._fence.start, start - 1))
            self._fence = None
        text = rest.lstrip(" ")
        if not text:
            self._end_paragraph(start)
            if not is_inside:
                del self._stack[matched:]
            return
        indent = len(rest) - len(text)
        if self._paragraph is not None and (indent > 3 or text[0] not in _MARKS):
            return  # it goes on, in quotations and lists too whose marks are left out
        if self._paragraph is not None and is_inside and indent <= 3 and _UNDERLINE.match(text):
            self._end_paragraph(start)
            return
        self._marked += text[0] in _MARKS
        while True:
            if indent > 3 and self._paragraph is None:
                del self._stack[matched:]
                self._indented(start, start + len(line))
                return
            begins = _BEGINS.match(text) if indent <= 3 and text and text[0] in _MARKS else None
            kind = begins.lastgroup if begins else None
            if kind in ("list", "note", "quote") and matched < MAX_DEPTH:
                assert begins
                if kind != "quote" and self._paragraph is not None and is_inside and not _interrupts(begins, text):
                    return
                self._end_paragraph(start)
                del self._stack[matched:]
                width, rest = (_QUOTE, text[1:].removeprefix(" ")) if kind == "quote" else _entry(begins, text, indent)
                self._stack.append(width)
                matched += 1
                text = rest.lstrip(" ")
                if not text:
                    return
                indent = len(rest) - len(text)
                continue
            if self._paragraph is not None and not is_inside and kind in (None, "ticks"):
                if kind == "ticks":
                    self._note_ticks(text)
                return
            break
        del self._stack[matched:]
        self._leaf(kind, begins, text, line, start, number, never)

    def _leaf(
        self,
        kind: str | None,
        begins: re.Match[str] | None,
        text: str,
        line: str,
        start: int,
        number: int,
        never: dict[str, int],
    ) -> None:
        self._is_in_indented = False
        if kind == "fence" and begins and self._open_fence(begins["fence"], text, line, start, number, never):
            return
        if kind == "line":
            self._end_paragraph(start)
            self.paragraphs.append((start, start + len(line)))
            return
        if self._paragraph is None:
            self._paragraph = start
        if kind == "ticks":
            self._note_ticks(text)

    def _note_ticks(self, text: str) -> None:
        ticks = len(text) - len(text.lstrip("`"))
        if not re.search(rf"(?<!`)`{{{ticks}}}(?!`)", text[ticks:]):
            self._half = ticks

    def _open_fence(self, sign: str, text: str, line: str, start: int, number: int, never: dict[str, int]) -> bool:
        if self._tag_closes.match(text, len(sign)) or self._reread > MAX_REREAD:
            return False
        at = start + line.index(sign)
        # What looks like an opening fence and is none, since its info holds a tick, leaves the fence that was to close
        # it to open code, which then is meant to run on: all readers of Markdown show it so.
        stays = sign[0] == "`" and len(sign) == self._half
        if not self._stack and len(sign) >= never.get(sign[0], len(sign) + 1) and not stays and at < self._seen:
            return False
        key = sign[0], len(sign)
        closes = self._closings.get(key)
        if closes is None:
            closes = re.compile(rf" {{0,3}}{sign[0]}{{{len(sign)},}}+(?: *+$|{self._tag_closes.pattern})", re.I | re.A)
            self._closings[key] = closes
        self._end_paragraph(start)
        self._fence = _Fence(at, number, sign, closes, stays, self._stack.copy())
        return True

    def _close_fence(self, line: str, start: int) -> None:
        assert self._fence
        sign = self._fence.sign[0]
        at = line.index(sign * len(self._fence.sign))
        end = len(line) - len(line[at:].lstrip(sign))
        self.code.append((self._fence.start, start + end))
        self._fence = None
        if line[end:].strip():
            self._paragraph = start + end

    def _indented(self, start: int, end: int) -> None:
        if self._is_in_indented:
            self.code[-1] = (self.code[-1][0], end)
        else:
            self.code.append((start, end))
        self._is_in_indented = True

    def _end_paragraph(self, end: int) -> None:
        if self._paragraph is not None:
            self.paragraphs.append((self._paragraph, end))
        self._paragraph, self._half = None, 0


def _interrupts(begins: re.Match[str], text: str) -> bool:
    """Say whether the mark begins a list although it follows a paragraph's line."""
    is_empty = not text[begins.end() :].strip()
    return not is_empty and begins["number"] in (None, "1")


def _entry(begins: re.Match[str], text: str, indent: int) -> tuple[int, str]:
    """Give the columns in which the text of a list's entry stands, and that text."""
    rest = text[begins.end() :]
    blanks = len(rest) - len(rest.lstrip(" "))
    if begins["note"]:
        return _NOTE, rest[blanks:]
    if blanks == len(rest) or blanks > 4:
        blanks = min(blanks, 1)
    return indent + begins.end() + max(blanks, rest == ""), rest[blanks:]


# An apostrophe that is typed as a tick opens nothing.
_APOSTROPHE = re.compile(rf"(?<={LATIN})`(?={LATIN}|\s)")
_TICKS = re.compile("`++")


def inline_code(text: str, paragraphs: Sequence[Place]) -> Iterator[Place]:
    """Find inline code: in one paragraph, between two runs of as many backticks, the first of them not escaped."""
    runs = [run.span() for run in islice(_TICKS.finditer(text), MAX_TICKS)]
    for start, end in paragraphs if runs else ():
        inside = runs[bisect_left(runs, (start,)) : bisect_left(runs, (end,))]
        of_length: dict[int, list[int]] = {}
        for first, last in inside:
            of_length.setdefault(last - first, []).append(first)
        at = start
        for first, last in inside:
            if first < at or (last - first == 1 and _APOSTROPHE.match(text, first)):
                continue
            escapes = first
            while escapes > start and text[escapes - 1] == "\\":
                escapes -= 1
            opens = first + (first - escapes) % 2
            same = of_length.get(last - opens, ())
            closes = bisect_right(same, first)
            if closes < len(same):
                at = same[closes] + last - opens
                yield opens, at
