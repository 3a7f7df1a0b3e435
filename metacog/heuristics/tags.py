"""Find the tags in a response: what the agent wants done."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, final

from .strict_json import Refused

KINDS = ("chat", "remember", "task", "action", "ask", "schedule", "thread")
MAX_ATTRIBUTES = 64
MAX_ITEMS = 256
# Openings and closings, paired or not, in code or not: far more than 256 items need, and few enough to be quick.
MAX_MARKS = 4096


@final
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


def items_of(body: Mapping[str, Any]) -> tuple[Item, ...]:
    """Give the items of a valid body: those that were sent, else those parsed from its response.

    Refused (422) when the response holds too many tags (see `parse_tags`).
    """
    sent = body.get("items")
    return parse_tags(body["response"]) if sent is None else tuple(map(_sent, sent))


def _sent(item: Mapping[str, Any]) -> Item:
    """Take an item as it was sent. Attributes are strings, as in a tag: another value becomes its JSON."""
    attributes = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in (item.get("attributes") or {}).items()
    }
    return Item(item["kind"].casefold(), item["text"], attributes)


def parse_tags(response: str) -> tuple[Item, ...]:
    """Find `<kuro:chat …>…</kuro:chat>` and `[CHAT]…[/CHAT]`, in the order in which they start.

    Any namespace or none, kinds in any case. Each kind's pairs are found independently, from an opening to
    the first closing tag of that kind, since the agent's own parser would run an inner pair too: so a pair
    inside another counts as well. `<kuro:schedule next="2m"/>` and a lone `[SCHEDULE next="2m"]` give an item
    without text. Nothing inside fenced or inline code counts. Takes time in proportion to the length.

    Refused (422) when there are more than 256 items or 4,096 openings and closings: what cannot be looked at
    must not pass.
    """
    found = [pair for syntax in (_ANGLES, _BRACKETS) if syntax.first in response for pair in _pairs(response, syntax)]
    if not found:
        return ()
    if len(found) > MAX_ITEMS:
        raise _too_many(f"{len(found)} tags; {MAX_ITEMS}")
    found.sort(key=lambda pair: pair[0])
    return tuple(item for _, item in found)


@dataclass(frozen=True, slots=True)
class _Syntax:
    head: re.Pattern[str]
    rest: re.Pattern[str]  # from the head to the end of the tag, quotes respected
    first: str
    last: str
    takes_lone: bool


_KIND_NAMES = "(?:" + "|".join(KINDS) + ")"
_KIND = f"(?P<kind>{_KIND_NAMES})"
# A tag's end is looked for with quoted values skipped, up to the next opening bracket at most: so no two
# searches read the same text, and an apostrophe cannot hide what follows it.
_ANGLES = _Syntax(
    head=re.compile(rf"<(?=[/\w])(?P<close>/?)(?:[\w.-]++:)?{_KIND}(?=[\s/>])", re.IGNORECASE | re.ASCII),
    rest=re.compile(r"""(?:[^<>=]++|=\s*+"[^"<]*+"|=\s*+'[^'<]*+'|=)*+>"""),
    first="<",
    last=">",
    takes_lone=False,
)
_BRACKETS = _Syntax(
    head=re.compile(rf"\[(?=[/\w])(?P<close>/?){_KIND}(?=[\s\]])", re.IGNORECASE | re.ASCII),
    rest=re.compile(r"""(?:[^\[\]=]++|=\s*+"[^"\[]*+"|=\s*+'[^'\[]*+'|=)*+\]"""),
    first="[",
    last="]",
    takes_lone=True,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>\[\]]+)(?:\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?""")


def _pairs(response: str, syntax: _Syntax) -> Iterator[tuple[int, Item]]:
    heads = list(islice(syntax.head.finditer(response), MAX_MARKS + 1))
    if len(heads) > MAX_MARKS:
        raise _too_many(f"more than {MAX_MARKS:,} openings and closings of tags; {MAX_MARKS:,}")
    of_kind: dict[str, list[re.Match[str]]] = {}
    for head in _outside_code(response, heads):
        of_kind.setdefault(head["kind"].lower(), []).append(head)
    for kind, its_heads in of_kind.items():
        yield from _pairs_of_kind(response, syntax, kind, its_heads)


def _too_many(what: str) -> Refused:
    detail = f"The response holds {what} at most are taken."
    return Refused(422, detail, [{"pointer": "/response", "detail": detail}])


def _pairs_of_kind(response: str, syntax: _Syntax, kind: str, heads: list[re.Match[str]]) -> Iterator[tuple[int, Item]]:
    closes = [head for head in heads if head["close"]]
    next_close = 0
    done = 0  # up to where the response is used up for this kind
    for head in heads:
        if head["close"] or head.start() < done:
            continue
        inner = _end_of_tag(response, head.end(), syntax)
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


def _end_of_tag(response: str, start: int, syntax: _Syntax) -> int | None:
    """Give where the tag ends; if another bracket opens before, at the first that closes."""
    rest = syntax.rest.match(response, start)
    if rest:
        return rest.end()
    at = response.find(syntax.last, start)
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


# From an opening fence to the closing one, of the same sign and at least as long, or to the end of the text.
# What follows an opening of backticks on its line holds no backtick; else it is inline code. A tag that closes behind
# a fence (```</chat>) closes what stands around the code: that fence opens none, and ends the one that is open.
_TAG_CLOSES = rf"(?=[ \t]*(?:</(?:[\w.-]++:)?{_KIND_NAMES}\s*>|\[/{_KIND_NAMES}\s*\]))"
_FENCED = re.compile(
    rf"^[ \t]*(?:(`{{3,}}+)(?!{_TAG_CLOSES})[^`\n]*|(~{{3,}}+)(?!{_TAG_CLOSES})[^\n]*)$"
    rf"(?s:.*?)(?:^[ \t]*(?(1)\1`*|\2~*)(?:[ \t\r]*$|{_TAG_CLOSES})|\Z)",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
_TICKS_OR_BREAK = re.compile(r"`+|\n[ \t\r]*\n")


def _outside_code(text: str, heads: list[re.Match[str]]) -> list[re.Match[str]]:
    if not heads or ("`" not in text and "~~~" not in text):
        return heads
    code = code_spans(text)

    def is_in_code(place: int) -> bool:
        before = bisect_right(code, (place, len(text))) - 1
        return before >= 0 and place < code[before][1]

    return [head for head in heads if not is_in_code(head.start())]


def code_spans(text: str) -> list[tuple[int, int]]:
    """Find fenced and inline code, in order."""
    spans: list[tuple[int, int]] = []
    at = 0
    for fenced in _FENCED.finditer(text) if "```" in text or "~~~" in text else ():
        spans += _inline_code(text, at, fenced.start())
        spans.append(fenced.span())
        at = fenced.end()
    return spans + _inline_code(text, at, len(text))


def _inline_code(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Find inline code: between two runs of as many backticks, in one paragraph, as in CommonMark."""
    if text.find("`", start, end) < 0:
        return []
    tokens = [token.span() for token in _TICKS_OR_BREAK.finditer(text, start, end)]
    # For each run of ticks, the next one of the same length in its paragraph.
    partner: dict[int, int] = {}
    latest: dict[int, int] = {}
    for number in range(len(tokens) - 1, -1, -1):
        first, last = tokens[number]
        if text[first] == "\n":
            latest.clear()
        else:
            if last - first in latest:
                partner[number] = latest[last - first]
            latest[last - first] = number
    spans = []
    number = 0
    while number < len(tokens):
        other = partner.get(number)
        if other is not None:
            spans.append((tokens[number][0], tokens[other][1]))
            number = other
        number += 1
    return spans
