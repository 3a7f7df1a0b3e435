"""A whole text, read as each dialect reads it that it may be of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ..effect import Command, Effect
from .one_dialect import MAX_DEPTH, MAX_TOKENS, read_as
from .script import Found
from .words import dialect_of

MAX_LENGTH = 65_536  # characters
USUAL = ("postgres", "mysql", "tsql", "sqlite")  # where nothing says which dialect it is
OTHERS = ("snowflake", "bigquery", "clickhouse", "duckdb", "oracle", "spark")
_PLAIN = re.compile(r"[^\\`\[\]$#\"]*")
_TOKEN = re.compile(r"\w+|[^\w\s]")
# What psql's and sqlite3's own commands that only show something look like.
_META = re.compile(
    r"\s*\\(?:d\S*|l\+?|conninfo|timing|x|\?|h|encoding|z|sf\+?)(?:\s+[\w.*\"$]+)*\s*"
    r"|\s*\.(?:tables|schema|indexes|indices|databases|headers?|mode|width|show|help|timer|dump)(?:\s+[\w.*%']+)*\s*"
)


@dataclass(frozen=True, slots=True)
class Sql:
    """SQL as it was read. `is_simple`: one statement, no query inside. `shape`: the statement without its values."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[Command, ...] = ()
    is_simple: bool = False
    shape: Mapping[str, Any] | None = None


_UNREAD = Sql((Effect("unknown", detail="cannot be read"),))


def read(text: str, dialect: str | None = None) -> Sql:
    """Read SQL; `dialect` is sqlglot's or a usual name of it, None: not known, so what any of the usual ones reads."""
    try:
        return _read(text, dialect_of(dialect))
    except Exception:  # sqlglot has its own errors, and raises others where a text is odd
        return _UNREAD


def _read(text: str, dialect: str | None) -> Sql:
    if len(text) > MAX_LENGTH or "\0" in text or _depth(text) > 2 * MAX_DEPTH:
        return _UNREAD
    if sum(1 for _ in _TOKEN.finditer(text)) > MAX_TOKENS:
        return _UNREAD
    if not text.strip():
        return Sql()
    if dialect in (None, "postgres", "sqlite") and _META.fullmatch(text):
        return Sql((Effect("read", start=0, end=len(text)),), (Command("", 0, len(text), (0,)),))
    if dialect:
        return _together([read_as(text, dialect)])
    if _PLAIN.fullmatch(text) and "--" not in text and "/*" not in text:
        first = None  # each dialect finds the same words in it
        for each in (*USUAL, *OTHERS):
            found = read_as(text, each)
            if not found.has_failed:
                return _together([found])
            first = first or found
        return _together([first]) if first else _UNREAD
    found_by = [read_as(text, each) for each in USUAL]
    if all(found.has_failed for found in found_by):
        found_by += [read_as(text, each) for each in OTHERS]
    return _together(found_by)


def _depth(text: str) -> int:
    """Count how deep brackets stand in each other, those in texts and comments, too."""
    return max(accumulate((each == "(") - (each == ")") for each in text if each in "()"), default=0)


def _together(found: Sequence[Found]) -> Sql:
    """Give the effects that any dialect sees; one that takes the text for no SQL counts only by words of its own."""
    read = [each for each in found if not each.has_failed] or found[:1]
    effects = [effect for each in read for effect in each.effects]
    doing = frozenset[str]().union(*(each.doing for each in read))
    if any(each.has_failed and not each.doing <= doing for each in found):
        effects.append(Effect("unknown", detail="dialects differ"))
    unique = sorted(dict.fromkeys(effects), key=lambda effect: effect.start or 0)
    places = {effect: place for place, effect in enumerate(unique)}
    first = read[0]
    commands = tuple(
        command._replace(effects=tuple(sorted({places[first.effects[at]] for at in command.effects})))
        for command in first.commands
    )
    is_alike = all(each.shape == first.shape for each in read) and all(each.effect != "unknown" for each in unique)
    return Sql(tuple(unique), commands, all(each.is_simple for each in read), first.shape if is_alike else None)
