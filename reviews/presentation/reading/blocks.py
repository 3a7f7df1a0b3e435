"""Lay out Markdown as tags and stretches of its source; what cannot be laid out without a loss stays as it was written.

Of the source a layout leaves out nothing but blanks and the signs that make Markdown. This is counted, block by block:
a parser's fault, or a construct that is not known here, shows a block as it was written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from unicodedata import bidirectional

from markdown_it.token import Token

from reviews.presentation import arguments
from reviews.presentation.reading.places import (
    Inline,
    Lines,
    Misplaced,
    Place,
    Span,
    edges,
    inline,
    of_cell,
    of_heading,
    of_lines,
    parser,
)

# A tag is written as it stands here, but for `{}`: a number, or a class of this folder.
_TAGS = {
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "em": "em",
    "strong": "strong",
    "s": "s",
}
_SYNTAX = re.compile(r"[#>*_~`|\-=+:\[\]<\\ \t\n]*")
_MAY_BE_MARKDOWN = re.compile(r"[#>*_~`|\[<\\\t]|^ *(?:[-+=]|\d+[.)])|^ {4}", re.MULTILINE)
_NUMBER = re.compile(r"(\d{1,9})[.)]")

# From left to right, whatever stands around it.
_PRE, _CODE = '<pre class="code" tabindex="0" dir="ltr">', '<code dir="ltr">'

Op = str | Span  # a tag, or a stretch of the source


@dataclass
class _Block:
    """One block of the outermost level."""

    start: int
    end: int
    ops: list[Op] = field(default_factory=list)
    numbers: list[Span] = field(default_factory=list)  # of ordered lists: what the list shows by itself
    at: int = 0  # up to where the source is used

    def shown(self) -> list[Span]:
        return [op for op in self.ops if isinstance(op, Span)]


def layout(text: str) -> list[Op] | None:
    """Lay a text out; None where it holds no Markdown, and is best shown as it is."""
    if not _MAY_BE_MARKDOWN.search(text):
        return None
    # As long as the text, and with the line ends that the parser takes.
    source = text.replace("\r\n", " \n").replace("\r", "\ufffd").replace("\0", "\ufffd")
    lines = Lines(source)
    ops: list[Op] = []
    headings: list[int] = []  # the levels of those that what follows stands under
    at = 0  # the first line that is not laid out
    is_plain = True
    for tokens in _outermost(parser().parse(source)):
        first, last = _lines_of(tokens[0])
        ops += _as_written(source, lines.start(at), lines.start(first))
        block = _Block(lines.start(first), lines.start(last), at=lines.start(first))
        try:
            _Layout(source, lines, block, headings).lay(tokens)
            is_kept = _keeps_all(source, block)
        except Misplaced:
            is_kept = False
        if is_kept:
            ops += block.ops
            is_plain &= tokens[0].type == "paragraph_open" and _says_all(source, block)
        else:
            ops += _as_written(source, block.start, block.end)
        at = last
    ops += _as_written(source, lines.start(at), len(source))
    return None if is_plain else ops


def _outermost(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for at, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield tokens[start : at + 1]
            start = at + 1


def _lines_of(token: Token) -> tuple[int, int]:
    if not token.map:
        raise Misplaced
    return token.map[0], token.map[1]


def _as_written(source: str, start: int, end: int) -> Iterator[Op]:
    if source[start:end].strip(" \t\n"):
        yield '<div class="written" dir="auto">'
        yield Span(start, end)
        yield "</div>"


def _left_out(source: str, block: _Block) -> Iterator[str]:
    at = block.start
    for start, end in sorted([*block.shown(), *block.numbers]):
        if start < at:
            raise Misplaced  # twice
        yield source[at:start]
        at = end
    yield source[at : block.end]


def _keeps_all(source: str, block: _Block) -> bool:
    """Tell whether the layout shows everything but blanks and signs, in the order of the source."""
    shown = block.shown()
    if shown != sorted(shown):
        return False
    return all(_SYNTAX.fullmatch(part) for part in _left_out(source, block))


def _says_all(source: str, block: _Block) -> bool:
    """Tell whether a paragraph is one without any markup."""
    return len(block.ops) == 2 + len(block.shown()) and not "".join(_left_out(source, block)).strip(" \t\n")


class _Layout:
    def __init__(self, source: str, lines: Lines, block: _Block, headings: list[int]) -> None:
        self.source, self.lines, self.block, self.headings = source, lines, block, headings
        self.row_end = 0
        self.holders: list[int] = []  # where those blocks that hold others and are open have their tag
        self.heading: Token | None = None

    def lay(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._token(token)

    def _open_heading(self, level: int) -> None:
        """Note a heading; a text may begin with its second level, or leave one out, but an outline does not."""
        while self.headings and self.headings[-1] >= level:
            self.headings.pop()
        self.headings.append(level)

    def _tag(self, written: str) -> None:
        self.block.ops.append(written)

    def _hold(self, tag: str, close: str) -> None:
        """Open or close a block that holds others: it runs the way its first letter does."""
        if not close:
            self.holders.append(len(self.block.ops))
            self._tag(f"<{tag}>")
            return
        at = self.holders.pop()
        way = _direction(self.source, self.block.ops[at:])
        self.block.ops[at] = f'{str(self.block.ops[at])[:-1]} dir="{way}">'
        self._tag(f"</{tag.split()[0]}>")

    def _source(self, spans: Iterator[Span] | Sequence[Span]) -> None:
        for span in spans:
            last = self.block.ops[-1] if self.block.ops else ""
            if isinstance(last, Span) and last.end == span.start:
                self.block.ops[-1] = Span(last.start, span.end)
            else:
                self.block.ops.append(span)
            self.block.at = span.end

    def _token(self, token: Token) -> None:
        kind, _, side = token.type.rpartition("_")
        close = "/" if side == "close" else ""
        if token.type == "inline":
            self._inline(token)
        elif token.type == "fence":
            self._fence(token)
        elif token.type == "code_block":
            self._tag(_PRE)
            self._code(token.content, _lines_of(token)[0], "")
            self._tag("</pre>")
        elif token.type == "hr":
            self._tag("<hr>")
        elif kind == "paragraph":
            if not token.hidden:
                self._tag("</p>" if close else '<p dir="auto">')
        elif kind == "heading":
            self.heading = None if close else token
            if not close:
                self._open_heading(int(token.tag[1]))
            # The page has levels of its own above it.
            level = min(6, len(self.headings) + 2)
            self._tag(f"</h{level}>" if close else f'<h{level} dir="auto">')
        elif kind == "ordered_list":
            self._hold("ol", close)
        elif kind == "list_item":
            self._list_item(token, close)
        elif kind in ("th", "td"):
            align = re.search("right|center", str(token.attrs.get("style", "")))
            of_class = f' class="{align[0]}"' if align else ""
            self._tag(f"</{kind}>" if close else f'<{kind}{of_class} dir="auto">')
        elif kind in ("blockquote", "bullet_list"):
            self._hold(_TAGS[kind], close)
        elif kind in _TAGS:
            if kind == "table":
                self._tag("</table></div>" if close else '<div class="scroll" tabindex="0"><table>')
            else:
                self._tag(f"<{close}{_TAGS[kind]}>")
        else:
            raise Misplaced  # not known here

    def _list_item(self, token: Token, close: str) -> None:
        if close or not token.info:
            self._hold("li", close)
            return
        found = _NUMBER.search(self.source, max(self.block.at, self.lines.start(_lines_of(token)[0])))
        if not found or found[1] != token.info:
            raise Misplaced
        self.block.numbers.append(Span(*found.span()))
        self.block.at = found.end()
        self._hold(f'li value="{int(found[1])}"', "")

    def _fence(self, token: Token) -> None:
        first, _ = _lines_of(token)
        line, start = self.lines.line(first), self.lines.start(first)
        info = token.info.rstrip()
        if not line.rstrip().endswith(info):
            raise Misplaced
        if info.strip():
            begins = start + len(line.rstrip()) - len(info.lstrip())
            self._tag('<p class="language" dir="ltr">')
            self._source([Span(begins, begins + len(info.lstrip()))])
            self._tag("</p>")
        self._tag(_PRE)
        name = info.split()[0].lower() if info.strip() else ""
        self._code(token.content, first + 1, arguments.LANGUAGES.get(name, ""))
        self._tag("</pre>")

    def _code(self, content: str, first: int, language: str) -> None:
        place = of_lines(content, first, self.lines)
        at = 0
        if language and len(content) <= arguments.MOST_CODE:
            for mark in arguments.code_marks(content, language):
                end = min(mark.end, len(content))
                if mark.start < at or end <= mark.start:
                    continue
                self._source(place.spans(at, mark.start))
                self._tag(f'<span class="hl-{escape(mark.type)}">')
                self._source(place.spans(mark.start, end))
                self._tag("</span>")
                at = end
        end = len(content.rstrip("\n"))
        self._source(place.spans(at, end) if at < end else ())

    def _inline(self, token: Token) -> None:
        content, (first, last) = token.content, _lines_of(token)
        start, end = self.lines.start(first), self.lines.start(last)
        if token.level and self._in_table(token):
            place, _ = of_cell(content, max(start, self.block.at), end, self.source)
        elif self.heading and self.heading.markup.startswith("#"):
            place = of_heading(content, first, self.lines)
        else:
            place = of_lines(content, first, self.lines)
        if not content:
            return
        inner = [*place.spans(0, len(content))]
        whole = edges(Span(inner[0].start, inner[-1].end), self.source)
        self._source([Span(whole.start, inner[0].start)] if whole.start < inner[0].start else ())
        self._parts(inline(content), content, place)
        self._source([Span(inner[-1].end, whole.end)] if inner[-1].end < whole.end else ())

    def _in_table(self, token: Token) -> bool:
        last = next((op for op in reversed(self.block.ops) if isinstance(op, str)), "")
        return last.startswith(("<td", "<th"))

    def _parts(self, parts: Sequence[Inline], content: str, place: Place) -> None:
        for kind, start, end in parts:
            match kind:
                case "nothing" | "link_open":
                    pass
                case "text" | "text_special" | "auto_text" | "auto_link_open" | "auto_link_close":
                    self._source(place.spans(start, end))
                case "softbreak" | "hardbreak":
                    line_end = content.index("\n", start, end)
                    self._source(place.spans(line_end, end))
                case "code_inline":
                    ticks = len(content[start:end]) - len(content[start:end].lstrip("`"))
                    inner = content[start + ticks : end - ticks]
                    blank = int(inner[:1] in " \n" and inner[-1:] in " \n" and bool(inner.strip(" \n")))
                    self._tag(_CODE)
                    self._source(place.spans(start + ticks + blank, end - ticks - blank))
                    self._tag("</code>")
                case "link_close":
                    # A link says where it leads, and does not lead there.
                    self._tag(' <span class="target" dir="ltr">')
                    self._source(place.spans(start + 1, end))
                    self._tag("</span>")
                case _:
                    name, _, side = kind.rpartition("_")
                    if name not in _TAGS:
                        raise Misplaced
                    self._tag(f"<{'/' if side == 'close' else ''}{_TAGS[name]}>")


def _direction(source: str, ops: Sequence[Op]) -> str:
    """Return the way of the first letter of what is laid out, code left aside; from left to right without one."""
    is_code = False
    for op in ops:
        if isinstance(op, str):
            is_code = op in (_PRE, _CODE) or (is_code and op not in ("</pre>", "</code>"))
        elif not is_code:
            ways = map(bidirectional, source[op.start : op.end])
            if way := next((each for each in ways if each in ("L", "R", "AL")), ""):
                return "ltr" if way == "L" else "rtl"
    return "ltr"


def shown_of(ops: Sequence[Op]) -> list[Span]:
    """Return the stretches of the source that a layout shows, in order."""
    return [op for op in ops if isinstance(op, Span)]


def shows(spans: Sequence[Span], text: str, start: int, end: int) -> bool:
    """Tell whether anything but blanks between two places of a text is shown."""
    at = max(0, bisect_right([span.start for span in spans], start) - 1)
    for span in spans[at:]:
        if span.start >= end:
            break
        if text[max(start, span.start) : min(end, span.end)].strip():
            return True
    return False
