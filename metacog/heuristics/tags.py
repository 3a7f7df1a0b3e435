"""Find the tags in a response: what the agent wants done."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from .strict_json import Refused

KINDS = ("chat", "remember", "task", "action", "ask", "schedule", "thread")
MAX_ATTRIBUTES = 64
MAX_ITEMS = 256
# Openings and closings outside code, paired or not: far more than 256 items need, and few enough to be quick.
MAX_MARKS = 4096


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a response wants done. `kind` is case-folded.

    `start` and `end` are code points of `text` in the response, or None where the item was sent as such.
    """

    kind: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None


def parse_tags(response: str) -> tuple[Item, ...]:
    """Find `<kuro:chat …>…</kuro:chat>` and `[CHAT]…[/CHAT]`, in the order in which they start.

    Any namespace or none, kinds in any case. Each kind's pairs are found independently, from an opening to
    the first closing tag of that kind, since the agent's own parser would run an inner pair too: so a pair
    inside another counts as well. `<kuro:schedule next="2m"/>` and a lone `[SCHEDULE next="2m"]` give an item
    without text. Nothing inside fenced or inline code counts. Takes time in proportion to the length.

    Refused (422) when there are more than 256 items or 4,096 openings and closings: what cannot be looked at
    must not pass.
    """
    if "<" not in response and "[" not in response:
        return ()
    masked = _mask_code(response)
    found = [*_pairs(response, masked, _ANGLES), *_pairs(response, masked, _BRACKETS)]
    if len(found) > MAX_ITEMS:
        raise _too_many(f"{len(found)} tags; {MAX_ITEMS}")
    found.sort(key=lambda pair: pair[0])
    return tuple(item for _, item in found)


@dataclass(frozen=True, slots=True)
class _Syntax:
    head: re.Pattern[str]
    rest: re.Pattern[str]  # from the head to the end of the tag, quotes respected
    last: str
    takes_lone: bool


_KIND = "(?P<kind>" + "|".join(KINDS) + ")"
# Outside quotes neither "<" nor ">" may stand. So of all the heads from which `rest` is tried, no more than
# three can still be running at one place (one unquoted, one in each kind of quote), and time stays linear.
_ANGLES = _Syntax(
    head=re.compile(rf"<(?=[/\w])(?P<close>/?)(?:[\w.-]++:)?{_KIND}(?=[\s/>])", re.IGNORECASE | re.ASCII),
    rest=re.compile(r"""(?:[^"'<>]++|"[^"]*+"|'[^']*+')*+>"""),
    last=">",
    takes_lone=False,
)
_BRACKETS = _Syntax(
    head=re.compile(rf"\[(?=[/\w])(?P<close>/?){_KIND}(?=[\s\]])", re.IGNORECASE | re.ASCII),
    rest=re.compile(r"""(?:[^"'\[\]]++|"[^"]*+"|'[^']*+')*+\]"""),
    last="]",
    takes_lone=True,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>\[\]]+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?""")


def _pairs(response: str, masked: str, syntax: _Syntax) -> Iterator[tuple[int, Item]]:
    heads: dict[str, list[re.Match[str]]] = {}
    marks = list(islice(syntax.head.finditer(masked), MAX_MARKS + 1))
    if len(marks) > MAX_MARKS:
        raise _too_many(f"more than {MAX_MARKS:,} openings and closings of tags; {MAX_MARKS:,}")
    for head in marks:
        heads.setdefault(head["kind"].lower(), []).append(head)
    for kind, of_kind in heads.items():
        yield from _pairs_of_kind(response, masked, syntax, kind, of_kind)


def _too_many(what: str) -> Refused:
    detail = f"The response holds {what} at most are taken."
    return Refused(422, detail, [{"pointer": "/response", "detail": detail}])


def _pairs_of_kind(
    response: str, masked: str, syntax: _Syntax, kind: str, heads: list[re.Match[str]]
) -> Iterator[tuple[int, Item]]:
    closes = [head for head in heads if head["close"]]
    next_close = 0
    done = 0  # up to where the response is used up for this kind
    for head in heads:
        if head["close"] or head.start() < done:
            continue
        inner = _end_of_tag(masked, head.end(), syntax)
        if inner is None:
            return
        inside = response[head.end() : inner - 1].rstrip()
        if inside.endswith("/") and syntax is _ANGLES:
            yield head.start(), Item(kind, "", _attributes(inside[:-1]), inner, inner)
            done = inner
            continue
        while next_close < len(closes) and closes[next_close].start() < inner:
            next_close += 1
        if next_close < len(closes):
            close = closes[next_close]
            start, end = _strip(response, inner, close.start())
            yield head.start(), Item(kind, response[start:end], _attributes(inside), start, end)
            done = close.end()
        else:
            done = inner
            attributes = _attributes(inside)
            if attributes and syntax.takes_lone:
                yield head.start(), Item(kind, "", attributes, inner, inner)


def _end_of_tag(masked: str, start: int, syntax: _Syntax) -> int | None:
    """Give where the tag ends; with quotes that do not pair, at the first bracket."""
    rest = syntax.rest.match(masked, start)
    if rest:
        return rest.end()
    at = masked.find(syntax.last, start)
    return None if at < 0 else at + 1


def _attributes(inside: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(inside):
        if len(attributes) == MAX_ATTRIBUTES:
            break
        name, double, single, bare = match.groups()
        attributes.setdefault(name, double or single or bare or "")
    return attributes


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, start + len(inner.strip())


_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")
_TICKS = re.compile("`+")


def _mask_code(text: str) -> str:
    """Blank out fenced and inline code; everything else stays where it was.

    A fence that is not closed runs to the end. Inline code ends with its paragraph, as in CommonMark.
    """
    if "`" not in text and "~~~" not in text:
        return text
    parts: list[str] = []
    at = 0
    for start, end in _fences(text):
        parts += (_mask_inline(text[at:start]), " " * (end - start))
        at = end
    parts.append(_mask_inline(text[at:]))
    return "".join(parts)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        mark, info = fence["mark"], fence["info"]
        if opened is None:
            # "```x``` is inline": an info string with a backtick opens no fence.
            if mark[0] == "~" or "`" not in info:
                opened = fence
        elif mark.startswith(opened["mark"]) and not info.strip():
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _mask_inline(text: str) -> str:
    if "`" not in text:
        return text
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(text)]
    ends = [end.start() for end in _PARAGRAPH_END.finditer(text)] + [len(text)]
    # For each run of ticks, the next run of the same length.
    partner: dict[int, int] = {}
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        if length in latest:
            partner[index] = latest[length]
        latest[length] = index
    parts: list[str] = []
    at = index = paragraph = 0
    while index < len(runs):
        start = runs[index][0]
        while ends[paragraph] < start:
            paragraph += 1
        other = partner.get(index)
        if other is None or runs[other][1] > ends[paragraph]:
            index += 1
            continue
        end = runs[other][1]
        parts += (text[at:start], " " * (end - start))
        at, index = end, other + 1
    parts.append(text[at:])
    return "".join(parts)
