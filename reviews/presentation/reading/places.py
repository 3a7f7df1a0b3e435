"""Parse Markdown, and find out where in the source each piece of it stands.

markdown-it gives lines to blocks and no places to what stands within them. They are found again here: what a block or
token holds is looked up in its lines, in order, and `Misplaced` is raised where it is not there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt, rules_inline
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_BLANKS = " \t"


class Misplaced(Exception):
    """What the parser says stands there does not."""


class Span(NamedTuple):
    """A stretch of the source: code points, end exclusive."""

    start: int
    end: int


class _Parser(MarkdownIt):
    """Takes every address as it is written: none becomes one that can be followed."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url

    def normalizeLinkText(self, link: str) -> str:
        return link


@cache
def parser() -> MarkdownIt:
    """Return the parser: CommonMark with tables and strikethrough.

    Entities, HTML, images and reference definitions are not read, so that they are shown as they were written.
    """
    made = _Parser("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.disable(["entity", "html_inline", "html_block", "image", "reference", "fragments_join"])
    made.core.ruler.enableOnly(["normalize", "block"])
    made.inline.ruler.at("link", _link)
    return made


def _link(state: StateInline, silent: bool) -> bool:
    """Parse a link, and note on its last token where it ends."""
    is_link = rules_inline.link(state, silent)
    if is_link and not silent:
        state.tokens[-1].meta["end"] = state.pos
    return is_link


class Lines:
    """The lines of a text, by their numbers."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.starts.append(len(text) + 1)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def start(self, number: int) -> int:
        """Return where a line starts; of one that is beyond the last, where the text ends."""
        return min(self.starts[min(number, len(self))], len(self.text))

    def line(self, number: int) -> str:
        """Return a line without its end."""
        return self.text[self.start(number) : self.starts[min(number + 1, len(self))] - 1]


class Place:
    """Where in the source the characters of a block's content stand."""

    def __init__(self, runs: Sequence[tuple[int, int, int]]) -> None:
        self._runs = runs  # (place in the content, place in the source, how many)
        self._starts = [run[0] for run in runs]

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yield the stretches of the source that the content between two places came from."""
        at = max(0, bisect_right(self._starts, start) - 1)
        while start < end and at < len(self._runs):
            begins, source, count = self._runs[at]
            stop = min(end, begins + count)
            if start < stop:
                yield Span(source + start - begins, source + stop - begins)
            start, at = max(start, stop), at + 1
        if start < end:
            raise Misplaced


def of_lines(content: str, first: int, lines: Lines) -> Place:
    """Place a block's content, each of whose lines is the end of a line of the source, from line `first` on."""
    runs: list[tuple[int, int, int]] = []
    at = 0
    for number, part in enumerate(content.split("\n"), first):
        if number >= len(lines):
            if part:
                raise Misplaced
            break
        line = lines.line(number)
        begins = _where(part, line)
        kept = part.lstrip(_BLANKS) if begins < 0 else part  # a tab that is expanded to blanks has no place
        begins = _where(kept, line) if begins < 0 else begins
        if begins < 0:
            raise Misplaced
        source = lines.start(number)
        if kept != part:
            runs += [(at + place, source + begins, 0) for place in range(len(part) - len(kept))]
        runs.append((at + len(part) - len(kept), source + begins, len(kept)))
        runs.append((at + len(part), source + len(line), 1))
        at += len(part) + 1
    return Place([run for run in runs if run[2]])


def _where(part: str, line: str) -> int:
    if line.endswith(part):
        return len(line) - len(part)
    stripped = line.rstrip()  # as the parser does at the end of a paragraph
    return len(stripped) - len(part) if stripped.endswith(part) else -1


_CLOSING = re.compile(r"[ \t]*#*\s*")


def of_heading(content: str, number: int, lines: Lines) -> Place:
    """Place the content of a heading that begins with number signs."""
    line, end = lines.line(number), len(lines.line(number))
    while (at := line.rfind(content, 0, end)) >= 0:
        if _CLOSING.fullmatch(line, at + len(content)):
            return Place([(0, lines.start(number) + at, len(content))])
        end = at + len(content) - 1
    raise Misplaced


def of_cell(content: str, start: int, end: int, text: str) -> tuple[Place, int]:
    """Place what a cell of a table holds, looked for between two places; return with it where it ends."""
    written = re.escape(content).replace(r"\|", r"\\\|")  # a pipe in a cell has a backslash before it
    found = re.compile(written).search(text, start, end)
    if not found:
        raise Misplaced
    if "|" not in content:
        return Place([(0, found.start(), len(content))]), found.end()
    pieces, source, at = content.split("|"), found.start(), 0
    runs = []
    for piece in pieces:
        runs.append((at, source, len(piece)))
        at, source = at + len(piece), source + len(piece)
        if at < len(content):
            runs.append((at, source + 1, 1))
            at, source = at + 1, source + 2
    return Place([run for run in runs if run[2]]), found.end()


def edges(span: Span, text: str) -> Span:
    """Return what stands there with unusual blanks beside it, which the parser strips and a reader should see."""
    start, end = span
    while start and text[start - 1].isspace() and text[start - 1] not in "\n":
        start -= 1
    while end < len(text) and text[end].isspace() and text[end] not in "\n":
        end += 1
    while start < span.start and text[start] in _BLANKS:
        start += 1
    while end > span.end and text[end - 1] in _BLANKS:
        end -= 1
    return Span(start, end)


# -- within a block ----------------------------------------------------------------------------


class Inline(NamedTuple):
    """A token within a block, and where it stands in the block's content."""

    kind: str  # markdown-it's
    start: int
    end: int


_BREAK = re.compile(r"[ \t]*\\?\n[ \t]*")


def inline(content: str) -> list[Inline]:
    """Return what a block's content consists of, in order: of a link's end, its address too."""
    made = parser()
    state = StateInline(content, made, {}, [])
    made.inline.tokenize(state)
    at = 0
    for token in state.tokens:
        token.meta["from"], at = at, _end(token, content, at)
        token.meta["to"] = at
    if content[at:].strip(_BLANKS):
        raise Misplaced
    for rule in made.inline.ruler2.getRules(""):
        rule(state)  # makes emphasis of stars, which are texts until then
    found: list[Inline] = []
    at = 0
    for token in state.tokens:
        if token.meta["from"] != at:  # it moved
            raise Misplaced
        at = token.meta["to"]
        is_syntax = token.type == "text" and not token.content  # the second of a strong emphasis' stars
        kind = "nothing" if is_syntax else f"auto_{token.type}" if token.info == "auto" else token.type
        found.append(Inline(kind, token.meta["from"], at))
    return found


def _end(token: Token, content: str, at: int) -> int:
    """Return where a token that begins at `at` ends."""
    written = token.content
    match token.type:
        case "softbreak" | "hardbreak":
            found = _BREAK.match(content, at)
            if found:
                return found.end()
        case "link_open":
            written = "<" if token.info == "auto" else "["
        case "link_close":
            if "end" in token.meta:
                return int(token.meta["end"])
            written = ">"
        case "text_special":
            written = token.markup
        case "code_inline":
            ticks = token.markup
            found = re.compile(rf"{ticks}(?!`).*?(?<!`){ticks}(?!`)", re.DOTALL).match(content, at)
            if found:
                return found.end()
    if not written or not content.startswith(written, at):
        raise Misplaced
    return at + len(written)
