"""A whole text as one dialect reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..effect import Command, Effect
from .script import Found, Script
from .statements import read_statement
from .tokens import CLOSES, OPENS, statements, tokenizer, word_of
from .words import DOING

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

MAX_TOKENS = 4_000
MAX_DEPTH = 50  # of brackets
_CHANGES = frozenset(["write", "delete", "irreversible"])
_OF_ROWS = frozenset(["insert", "update", "delete", "merge", "select", "with", "explain"])
_EXECUTABLE = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
_NO_COMMENT = re.compile(r"--(?=[^\s\x00-\x1f])")


def read_as(text: str, dialect: str) -> Found:
    """Read each statement; MySQL also runs what stands in some comments."""
    from sqlglot.errors import SqlglotError

    try:
        tokens = tokenizer(dialect)(text)
    except SqlglotError:
        words = frozenset(re.findall(r"[a-z]+", text.lower()))
        return Found([Effect("unknown", detail="cannot be read")], [], words & DOING, has_failed=True)
    found = _read_all(Script(text, dialect, tokens))
    if dialect == "mysql":
        for other in _without_comments(text, tokens):
            more = read_as(other, dialect)
            found.effects += more.effects
            found.doing |= more.doing
            found.is_simple, found.shape = False, None
    return found


def _read_all(script: Script) -> Found:
    """Read each statement of a script."""
    found, depth, deepest = script.found, 0, 0
    for token in script.tokens:
        depth += token.token_type.name in OPENS
        depth -= token.token_type.name in CLOSES
        deepest = max(deepest, depth)
    if not script.tokens or len(script.tokens) > MAX_TOKENS or deepest > MAX_DEPTH:
        script.say("unknown", detail="cannot be read" if script.tokens else "nothing but comments")
        found.has_failed = True
        return found
    each = list(statements(script.tokens))
    begun: int | None = None
    for tokens in each:
        at = len(found.effects)
        shape, is_simple = read_statement(script, tokens)
        begun = _in_transaction(found, tokens, begun)
        places = tuple(range(at, len(found.effects)))
        found.commands.append(Command("", tokens[0].start, tokens[-1].end + 1, places))
        found.is_simple = is_simple and len(each) == 1
        kinds = {effect.effect for effect in found.effects}
        found.shape = {"sql": shape, "effects": sorted(kinds)} if shape and len(each) == 1 else None
    return found


def _in_transaction(found: Found, tokens: Sequence[Token], begun: int | None) -> int | None:
    """Take back what changes rows in a transaction that is rolled back; give where one has begun that is still open.

    Anything but changing and reading rows ends one, as it does in some databases.
    """
    word = word_of(tokens[0])
    if word in ("begin", "start"):
        return len(found.effects)
    if word == "rollback" and begun is not None and len(tokens) <= len(("rollback", "transaction")):
        kept = [
            effect._replace(effect="read", detail="") if effect.effect in _CHANGES and effect.of == "table" else effect
            for effect in found.effects[begun:]
        ]
        found.effects[begun:] = kept
        return None
    return begun if word in _OF_ROWS else None


def _without_comments(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    """Give what MySQL runs of comments: `/*! … */`, and what follows `--` without a blank."""
    bare = text
    at = 0
    for begin, end in [(token.start, token.end + 1) for token in tokens] + [(len(text), len(text))]:
        gap = bare[at:begin]
        shown = _NO_COMMENT.sub("+ ", _EXECUTABLE.sub(_blanked, gap))
        bare = bare[:at] + shown + bare[begin:]
        at = end
    if bare != text:
        yield bare


def _blanked(comment: re.Match[str]) -> str:
    begin, end = comment.start(1) - comment.start(), comment.end(1) - comment.start()
    return " " * begin + comment[1] + " " * (len(comment[0]) - end)
