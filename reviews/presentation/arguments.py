"""Lay out what a tool is to be called with: a field per argument, code highlighted, secrets masked."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.utils.translation import gettext, ngettext

from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.laid_out import Line
from metacog.heuristics.tool_calls.secret_shapes import is_secret
from metacog.heuristics.tool_calls.secrets import MASK, Masked, mask, masked, secret_words
from reviews.presentation.highlight import Mark, Shown, show
from reviews.presentation.look_alikes import of_hosts

MOST_FIELDS = 400  # of one call; what is beyond is shown as JSON
MOST_CODE = 20_000  # characters of one call that are highlighted: a lexer takes a second for a megabyte
LONG = 100  # characters, from which on a text has a block of its own
OPEN = 12  # fields of an argument that are unfolded
OPEN_WITHIN = 8  # of what is nested in one, all that it holds

SQL = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP|ALTER|MERGE|TRUNCATE)\b", re.I)
_DIFF = re.compile(r"(?:diff --git |Index: |--- [^\n]+\n\+\+\+ )")
_SHEBANG = re.compile(r"#!\s*/\S*?(?:env\s+(?:-S\s+)?)?(bash|sh|zsh|dash|ksh|python|node|perl|ruby)[\d.]*\b")
# The names of fields, and of the files and languages that stand beside a field; the values are Pygments' names.
_BY_NAME = {
    **dict.fromkeys(("command", "cmd", "script", "shell", "bash", "sh", "shell_command", "commands"), "bash"),
    **dict.fromkeys(("diff", "patch"), "diff"),
    **dict.fromkeys(("python", "python_code", "py"), "python"),
    **dict.fromkeys(("javascript", "js", "js_code"), "javascript"),
}
_SQL_NAMES = ("sql", "query", "statement", "sql_query", "stmt")
_CODE_NAMES = (
    "code", "source", "content", "contents", "text", "body", "file_text", "new_string", "old_string", "new_str",
    "old_str", "snippet", "new_source",
)  # fmt: skip
LANGUAGES = {
    **dict.fromkeys(("py", "python", "python3"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "javascript", "node"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "typescript"), "typescript"),
    **dict.fromkeys(("sh", "bash", "zsh", "shell", "dash", "ksh"), "bash"),
    **dict.fromkeys(("patch", "diff"), "diff"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("htm", "html"), "html"),
    **{each: each for each in ("sql", "json", "css", "toml", "go", "java", "c", "perl", "php")},
    **dict.fromkeys(("rs", "rust"), "rust"),
    **dict.fromkeys(("rb", "ruby"), "ruby"),
    "pl": "perl",
}
_HINTS = ("language", "lang", "file_path", "filepath", "path", "filename", "file_name", "file")

Pointers = Collection[str]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the texts of a call's arguments, by their pointers, in places of the texts as they were sent."""

    marks: Mapping[str, Sequence[Mark]] = field(default_factory=dict)  # of effects
    lines: Mapping[str, Sequence[Line]] = field(default_factory=dict)  # of those that are laid out


@dataclass(frozen=True, slots=True)
class Field:
    """One argument, or a part of one."""

    pointer: str  # a JSON Pointer into the arguments
    name: str  # as a person reads it; "" of arguments that are no object
    type: str  # in words
    text: Shown | None = None  # a short value; None where it has a block or fields
    block: Shown | None = None  # a long text or code, with its line breaks
    lines: Sequence[tuple[int, Shown]] = ()  # of a block the same laid out: how far each line is set in
    fields: Sequence[Field] = ()  # of an object or list
    is_folded: bool = False
    is_masked: bool = False
    note: str = ""  # how long a block is
    is_code: bool = False  # of a block: it is read from left to right, whatever its letters
    hosts: Sequence[str] = ()  # what is to be known of the letters of hosts in it

    @property
    def kind(self) -> str:
        """Return its type, and how long it is."""
        return f"{self.type} · {self.note}" if self.note else self.type


def table(arguments: Any, *, revealed: Pointers | None = (), known: Known | None = None) -> list[Field]:
    """Return the fields of a call's arguments; `revealed` are the pointers of secrets to be read, None is all."""
    layout = _Layout(revealed, known or Known())
    if isinstance(arguments, dict) and 0 < len(arguments) <= MOST_FIELDS:
        return [layout.field([name], name, value, arguments, is_secret(name)) for name, value in arguments.items()]
    return [layout.field([], "", arguments, {}, False)]


def at(arguments: Any, place: str, known: Known | None = None) -> Field | None:
    """Return the field that a pointer names, revealed; None where there is none."""
    waiting = list(table(arguments, revealed=[place], known=known))
    while waiting:
        field = waiting.pop()
        if field.pointer == place:
            return field
        waiting += field.fields
    return None


def type_of(value: Any) -> str:
    """Name a value's type of JSON."""
    if isinstance(value, str):
        return gettext("string")
    if isinstance(value, bool):
        return gettext("boolean")
    if isinstance(value, int | float):
        return gettext("number")
    if value is None:
        return "null"
    told = {"n": f"{len(value):,}"}
    if isinstance(value, list):
        return ngettext("list of %(n)s", "list of %(n)s", len(value)) % told
    return ngettext("object of %(n)s", "object of %(n)s", len(value)) % told


class _Layout:
    def __init__(self, revealed: Pointers | None, known: Known) -> None:
        self.revealed, self.known, self.left, self.left_code = revealed, known, MOST_FIELDS, MOST_CODE

    def field(
        self, loc: list[str | int], name: str, value: Any, beside: Mapping[str, Any], is_named_secret: bool
    ) -> Field:
        """Lay out one value; `beside` are the values of the same object, which may say what language it is in."""
        self.left -= 1
        place, kind = pointer(loc), type_of(value)
        if isinstance(value, dict | list) and value:
            if self.left < len(value) or (_is_short(value, is_named_secret) and not self._is_known(place)):
                return self._json(place, name, kind, value, is_named_secret)
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            told = secret_words(value) if isinstance(value, list) else ()
            inner = value if isinstance(value, dict) else {}
            fields = [
                self.field(
                    [*loc, key], str(key), part, inner,
                    is_named_secret or (is_secret(key) if isinstance(key, str) else key in told),
                )
                for key, part in parts
            ]  # fmt: skip
            return Field(place, name, kind, fields=fields, is_folded=_is_large(value, depth=len(loc)))
        if isinstance(value, str):
            return self._leaf(place, name, kind, value, _language(name, value, beside), is_named_secret)
        is_hidden = is_named_secret and isinstance(value, int | float) and not isinstance(value, bool)
        return self._leaf(place, name, kind, json.dumps(value), "", is_hidden)

    def is_revealed(self, place: str) -> bool:
        return self.revealed is None or place in self.revealed

    def _is_known(self, place: str) -> bool:
        """Tell whether anything is known of a part of what a pointer names."""
        return any(each.startswith(f"{place}/") for each in (*self.known.marks, *self.known.lines))

    def _json(self, place: str, name: str, kind: str, value: Any, is_named_secret: bool) -> Field:
        said = value if self.is_revealed(place) else masked(value, is_named_so=is_named_secret)
        text = json.dumps(said, ensure_ascii=False)
        is_masked = said != value
        if len(text) <= LONG:
            return Field(place, name, kind, text=show(text, is_revealed=True), is_masked=is_masked)
        return self._block(place, name, kind, Masked(text), "json", is_masked=is_masked)

    def _block(self, place: str, name: str, kind: str, told: Masked, language: str, **more: Any) -> Field:
        text = told.text
        marked = language if len(text) <= self.left_code else ""
        self.left_code -= len(text) if marked else 0
        marks = [*code_marks(text, marked), *self._marks(place, told)]
        block, is_code = show(text, marks, is_revealed=True), bool(language)
        lines = [_line(line, told, marks) for line in self.known.lines.get(place, ())]
        return Field(place, name, kind, block=block, lines=lines, is_code=is_code, hosts=of_hosts(text), **more)

    def _leaf(self, place: str, name: str, kind: str, text: str, language: str, is_named_secret: bool) -> Field:
        told = Masked(text)
        if not self.is_revealed(place):
            told = Masked(MASK, [(0, len(text), MASK)]) if is_named_secret and text else mask(text)
        is_masked, said = told.text != text, told.text
        lines = said.count("\n") + 1
        if language or lines > 1 or len(said) > LONG or place in self.known.lines:
            note = ngettext("%(n)s line", "%(n)s lines", lines) % {"n": f"{lines:,}"} if lines > 1 else ""
            return self._block(place, name, kind, told, language, is_masked=is_masked, note=note)
        shown = show(said, self._marks(place, told), is_revealed=True)
        return Field(place, name, kind, text=shown, is_masked=is_masked, hosts=of_hosts(said))

    def _marks(self, place: str, told: Masked) -> list[Mark]:
        return [Mark(*told.moved(mark.start, mark.end), mark.type) for mark in self.known.marks.get(place, ())]


def _line(line: Line, told: Masked, marks: Sequence[Mark]) -> tuple[int, Shown]:
    """Return one line of a text that is laid out, with what is marked on it."""
    start, end = told.moved(line.start, line.end)
    within = [
        Mark(max(mark.start, start) - start, min(mark.end, end) - start, mark.type)
        for mark in marks
        if mark.start < end and mark.end > start
    ]
    return line.depth, show(told.text[start:end], within, is_revealed=True)


def _is_short(value: Any, is_named_secret: bool) -> bool:
    """Tell whether a list holds nothing but a few short values, and reads best on one line."""
    if not isinstance(value, list) or is_named_secret or any(isinstance(part, dict | list) for part in value):
        return False
    return len(json.dumps(value, ensure_ascii=False)) <= LONG and not any("\n" in str(part) for part in value)


def _is_large(value: Any, depth: int) -> bool:
    return len(value) > OPEN or (depth > 1 and _size(value) > OPEN_WITHIN)


def _size(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, parts))


# -- code --------------------------------------------------------------------------------------


def _language(name: str, text: str, beside: Mapping[str, Any]) -> str:
    """Return the language of a text where it is certain: "" where it is not."""
    name = name.lower()
    if first_line := _SHEBANG.match(text):
        return LANGUAGES[first_line[1]]
    if name in _SQL_NAMES:
        return "sql" if SQL.match(text) else ""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if _DIFF.match(text):
        return "diff"
    if name in _CODE_NAMES:
        for hint in _HINTS:
            said = beside.get(hint)
            if isinstance(said, str) and (found := LANGUAGES.get(said.lower().rpartition(".")[2])):
                return found
    if text[:1] in "{[" and len(text) <= MOST_CODE:
        try:
            return "json" if isinstance(json.loads(text), dict | list) else ""
        except (ValueError, RecursionError):
            return ""
    return ""


# Pygments' kinds of tokens, the narrower first, and the class with which the page colors them.
_CLASSES = (
    ("Token.Comment", "c"),
    ("Token.Keyword.Constant", "n"),
    ("Token.Keyword", "k"),
    ("Token.Operator.Word", "k"),
    ("Token.Literal.String.Interpol", "v"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "n"),
    ("Token.Literal.Date", "n"),
    ("Token.Name.Builtin", "f"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Decorator", "f"),
    ("Token.Name.Variable", "v"),
    ("Token.Name.Attribute", "f"),
    ("Token.Name.Tag", "f"),
    ("Token.Generic.Deleted", "del"),
    ("Token.Generic.Inserted", "ins"),
    ("Token.Generic.Heading", "c"),
    ("Token.Generic.Subheading", "c"),
)


def code(text: str, language: str) -> Shown:
    """Return a text, in which secrets are masked already, with the marks of its language, whose types are classes."""
    return show(text, code_marks(text, language), is_revealed=True)


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name  # 30 ms, which pages without code need not wait for

    return get_lexer_by_name(language)


def code_marks(text: str, language: str) -> list[Mark]:
    """Return the stretches of code that are colored; their types are classes of `calls.css`, without `hl-`."""
    marks: list[Mark] = []
    if not language or len(text) > MOST_CODE:
        return marks
    # Not `get_tokens`, which takes line ends and blanks at the edges away, and with them the places. What a lexer knows
    # of a line may want its end.
    for start, kind, token in _lexer(language).get_tokens_unprocessed(text + "\n"):
        name = str(kind)
        found = next((mark for prefix, mark in _CLASSES if name == prefix or name.startswith(prefix + ".")), None)
        if found and token.strip():
            if marks and marks[-1].end == start and marks[-1].type == found:
                marks[-1] = Mark(marks[-1].start, start + len(token), found)
            else:
                marks.append(Mark(start, start + len(token), found))
    return marks
