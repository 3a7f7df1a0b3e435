"""Find the tags in a response: what the agent wants done."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, NamedTuple, final

from .blocks import Blocks, inline_code
from .canonical_json import canonical
from .spans import Place
from .strict_json import Refused

TOOL_CALL = "tool_call"
QUESTION = "question"
KINDS = ("chat", "remember", "task", "action", "ask", "schedule", "thread")
LONE_KINDS = ("schedule", "thread")  # whose tags may have attributes alone
MAX_ATTRIBUTES = 64
MAX_ITEMS = 256
# Openings and closings, paired or not, in code or not: far more than 256 items need, and few enough to be quick.
MAX_MARKS = 4096
# How often pairs are found anew without the code that cuts one in two; then all that is taken for code is read.
MAX_ROUNDS = 16

# Why an opening tag gave no item of its own, or one that runs to the end of the text.
TagFlag = Literal["tag-in-code", "tag-nested", "tag-unclosed"]
IN_CODE: TagFlag = "tag-in-code"
UNCLOSED: TagFlag = "tag-unclosed"
NESTED: TagFlag = "tag-nested"
FLAGS = (IN_CODE, NESTED, UNCLOSED)


@final
@dataclass(frozen=True, slots=True)
class ToolCall:
    """An action of an agent's framework. `arguments` are any JSON, `schema` is the JSON Schema they should meet.

    `schema_omitted` says that there is one, too large to be read; `hints` are the tool's MCP annotations.
    """

    name: str
    arguments: Any
    call_id: str | None = None
    schema: Mapping[str, Any] | None = None
    description: str | None = None
    schema_omitted: bool = False
    hints: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The name and, behind a space, the canonical arguments: equal calls have equal texts."""
        return f"{self.name} {canonical(self.arguments)}"


class Question(NamedTuple):
    """What the answer to a question must be: by a JSON Schema, one of some choices, or where both are None any text."""

    schema: Mapping[str, Any] | None = None
    choices: Sequence[str] | None = None


@final
@dataclass(frozen=True, slots=True)
class Item:
    """One thing a response wants done. `kind` is case-folded; a `tool_call` has a `call`, and for `text` the call's.

    A `question` that a person is to answer has a `question`.

    `start` and `end` are code points of `text` in the response, or None where the item was sent as such.
    """

    kind: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    start: int | None = None
    end: int | None = None
    is_unclosed: bool = False  # its text runs to the end of the response for want of a closing tag
    call: ToolCall | None = None
    question: Question | None = None
    require_review: bool = False  # it is held, whatever else says
    expires_in: int | None = None  # seconds, once it is held
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Found(NamedTuple):
    """The items of a response, and what is to be said of its tags (`FLAGS`, in order)."""

    items: tuple[Item, ...]
    flags: tuple[TagFlag, ...]


def items_of(body: Mapping[str, Any], *, plain_text_as_chat: bool = False) -> tuple[Item, ...]:
    """Give the items of a valid body, as `find_items` does."""
    return find_items(body, plain_text_as_chat=plain_text_as_chat).items


def find_items(body: Mapping[str, Any], *, plain_text_as_chat: bool = False) -> Found:
    """Find the items of a valid body: those that were sent, else those parsed from its response.

    With `plain_text_as_chat` a response in which neither is found is one chat, the whole of it, unless it is blank.
    Refused (422) when the response holds too many tags (see `read_tags`).
    """
    sent, response = body.get("items"), body["response"]
    if sent is not None:
        return Found(tuple(map(_sent, sent)), ())
    found = read_tags(response)
    if plain_text_as_chat and not found.items and response.strip():
        return found._replace(items=(Item("chat", response, {}, 0, len(response)),))
    return found


def without_calls(items: Sequence[Item]) -> list[Item]:
    """Give what a response says: its items, of a tool call without its text, since actions are judged by themselves."""
    return [replace(item, text="") if item.call else item for item in items]


def _sent(item: Mapping[str, Any]) -> Item:
    """Take an item as it was sent. Attributes are strings, as in a tag: another value becomes its JSON."""
    attributes = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in (item.get("attributes") or {}).items()
    }
    given: dict[str, Any] = {
        "require_review": item.get("require_review") or False,
        "expires_in": item.get("expires_in"),
        "metadata": item.get("metadata") or {},
    }
    if "name" in item:
        call = ToolCall(
            item["name"],
            item["arguments"],
            item.get("call_id"),
            item.get("schema"),
            item.get("description"),
            item.get("schema_omitted") or False,
            item.get("annotations"),
        )
        return Item(TOOL_CALL, call.text, call=call, **given)
    if (kind := item["kind"].casefold()) == QUESTION:
        given["question"] = Question(item.get("schema"), item.get("choices"))
    return Item(kind, item["text"], attributes, **given)


def read_tags(response: str) -> Found:
    """Find `<kuro:chat …>…</kuro:chat>` and `[CHAT]…[/CHAT]`, in the order in which they start.

    Any namespace or none, kinds in any case. Each kind's pairs are found independently, from an opening to
    the first closing tag of that kind, since the agent's own parser would run an inner pair too: so a pair
    inside another counts as well. What is not closed runs to the end of the text. `<kuro:schedule next="2m"/>` and a
    lone `[SCHEDULE next="2m"]` give an item without text. Nothing inside code counts (see `code_spans`). Takes time in
    proportion to the length.

    Refused (422) when there are more than 256 items or 4,096 openings and closings: what cannot be looked at
    must not pass.
    """
    heads = _heads_in(response)
    for its_heads in heads.values():
        if len(its_heads) > MAX_MARKS:
            raise _too_many(f"more than {MAX_MARKS:,} openings and closings of tags; {MAX_MARKS:,}")
    if not heads:
        return Found((), ())
    _, pairs = _read(response, heads)
    if len(pairs.found) > MAX_ITEMS:
        raise _too_many(f"{len(pairs.found)} tags; {MAX_ITEMS}")
    pairs.found.sort(key=lambda pair: pair[0])
    return Found(tuple(item for _, item in pairs.found), tuple(sorted(pairs.flags)))


def code_spans(text: str) -> list[Place]:
    """Find code, in order: what CommonMark takes for fenced, indented and inline code, but for two things.

    What covers one end of a pair of tags and not the other is no code, and a fence that nothing closes hides no whole
    pair. Nor does an apostrophe that is typed as a tick begin code.
    """
    return _read(text, _heads_in(text))[0] if _may_hold_code(text) else []


@dataclass(frozen=True, slots=True, eq=False)
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


_TAG_CLOSES = re.compile(
    rf"(?=[ \t]*(?:</(?:[\w.-]++:)?{_KIND_NAMES}\s*>|\[/{_KIND_NAMES}\s*\]))", re.IGNORECASE | re.ASCII
)
_Heads = dict[_Syntax, list[re.Match[str]]]


def _heads_in(text: str) -> _Heads:
    return {
        syntax: heads
        for syntax in (_ANGLES, _BRACKETS)
        if syntax.first in text and (heads := list(islice(syntax.head.finditer(text), MAX_MARKS + 1)))
    }


def _too_many(what: str) -> Refused:
    detail = f"The response holds {what} at most are taken."
    return Refused(422, detail, [{"pointer": "/response", "detail": detail}])


def _may_hold_code(text: str) -> bool:
    return "`" in text or "~~~" in text or "    " in text or "\t" in text


def _read(text: str, heads: _Heads) -> tuple[list[Place], "_Pairs"]:
    """Find the code of a text and the tags outside; code that cuts a pair of tags in two is none."""
    code: list[Place] = []
    if _may_hold_code(text):
        blocks = Blocks(text, _last_whole(text, heads), _TAG_CLOSES)
        code = sorted([*blocks.code, *inline_code(text, blocks.paragraphs)])
    ends: dict[int, int | None] = {}
    for _ in range(MAX_ROUNDS):
        pairs = _Pairs(text, heads, code, ends)
        if not pairs.cut:
            return code, pairs
        code = [one for one in code if one not in pairs.cut]
    return [], _Pairs(text, heads, [], ends)


def _last_whole(text: str, heads: _Heads) -> int:
    """Give where the last tag stands that makes an item whole: it closes one before, or is alone."""
    last = 0
    for syntax, its_heads in heads.items():
        opened = set()
        for head in its_heads:
            kind = head["kind"].lower()
            if head["close"]:
                is_whole = kind in opened
            else:
                opened.add(kind)
                rest = syntax.rest.match(text, head.end())
                is_whole = bool(rest and _is_alone(syntax, kind, rest.group()[:-1].rstrip()))
            if is_whole:
                last = max(last, head.start())
    return last


def _is_alone(syntax: _Syntax, kind: str, inside: str) -> bool:
    """Say whether a tag that nothing closes is an item without text."""
    if syntax is _ANGLES:
        return inside.endswith("/")
    return kind in LONE_KINDS and bool(_attributes(inside))


class _Pairs:
    """The pairs of tags in a text whose code is known, and the code that turns out to cut a pair in two."""

    def __init__(self, text: str, heads: _Heads, code: Sequence[Place], ends: dict[int, int | None]) -> None:
        self.found: list[tuple[int, Item]] = []
        self.flags = set[TagFlag]()
        self.cut: set[Place] = set()
        self._text, self._ends = text, ends
        starts = [start for start, _ in code]
        for syntax, its_heads in heads.items():
            of_kind: dict[str, list[tuple[re.Match[str], Place | None]]] = {}
            for head in its_heads:
                before = bisect_right(starts, head.start()) - 1
                around = code[before] if before >= 0 and head.start() < code[before][1] else None
                of_kind.setdefault(head["kind"].lower(), []).append((head, around))
            for kind, marks in of_kind.items():
                self._find(syntax, kind, marks)

    def _find(self, syntax: _Syntax, kind: str, marks: list[tuple[re.Match[str], Place | None]]) -> None:
        """Find the pairs of one kind, from left to right.

        A closing tag in code closes only what would stay open else, or be opened again. Openings and closings that are
        both in code are mentions.
        """
        last_close = max((head.start() for head, _ in marks if head["close"]), default=-1)
        opened: re.Match[str] | None = None
        inner = 0  # behind the tag that is open, or the one that was closed last
        mention: Place | None = None  # code around an opening that nothing in code has closed
        close: tuple[re.Match[str], Place] | None = None  # in code, behind the one that is open
        for head, code in marks:
            if head.start() < inner:
                if not head["close"]:
                    self.flags.add(NESTED)
            elif head["close"]:
                if code is None:
                    if opened:
                        self._add(syntax, kind, opened, head.start())
                        opened, inner = None, head.end()
                    elif mention:
                        self.cut.add(mention)
                    mention = close = None
                elif mention:
                    mention = None
                elif opened and not close:
                    close = head, code
            elif code is None or (close and close[1] == code):
                if opened and not close:
                    self.flags.add(NESTED)
                    continue
                if opened and close:
                    self.cut.add(close[1])
                    self._add(syntax, kind, opened, close[0].start())
                    opened = None
                mention = close = None
                end = self._end_of_tag(head, syntax)
                if end is None:
                    self.flags.add(UNCLOSED)
                    continue
                inside = self._text[head.end() : end - 1].rstrip()
                is_last = end > last_close
                if _is_alone(syntax, kind, inside) and (is_last or syntax is _ANGLES):
                    self.found.append((head.start(), Item(kind, "", _attributes(inside.removesuffix("/")), end, end)))
                elif not (is_last and syntax is _BRACKETS and self._text.startswith("(", end)):  # a link's text
                    opened = head
                inner = end
            else:
                self.flags.add(IN_CODE)
                mention = code
        if opened and close:
            self.cut.add(close[1])
            self._add(syntax, kind, opened, close[0].start())
        elif opened:
            self.flags.add(UNCLOSED)
            self._add(syntax, kind, opened, len(self._text), is_unclosed=True)

    def _add(self, syntax: _Syntax, kind: str, head: re.Match[str], until: int, *, is_unclosed: bool = False) -> None:
        inner = self._end_of_tag(head, syntax)
        assert inner is not None
        start, end = _strip(self._text, inner, until)
        if is_unclosed and start == end:
            return
        attributes = _attributes(self._text[head.end() : inner - 1].rstrip())
        self.found.append((head.start(), Item(kind, self._text[start:end], attributes, start, end, is_unclosed)))

    def _end_of_tag(self, head: re.Match[str], syntax: _Syntax) -> int | None:
        """Give where the tag ends; if another bracket opens before, at the first that closes."""
        start = head.end()
        if start not in self._ends:
            rest = syntax.rest.match(self._text, start)
            end = rest.end() if rest else self._text.find(syntax.last, start) + 1
            self._ends[start] = end or None
        return self._ends[start]


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
