"""The words of a text in one dialect, and what a run of them names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from .words import known

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_NOISE = frozenset(
    [
        *("if", "not", "exists", "only", "concurrently", "temporary", "temp", "or", "replace", "unique", "external"),
        *("local", "global", "full", "verbose", "on", "to", "of", "into", "from", "using", "analyze", "transient"),
        *("unlogged", "low_priority", "quick", "ignore", "secure", "force", "final", "public", "extended", "formatted"),
    ]
)
_LAST = frozenset(["cascade", "restrict", "restart", "continue", "purge", "nowait", "is"])  # behind the names
OPENS, CLOSES = ("L_PAREN", "L_BRACKET", "L_BRACE"), ("R_PAREN", "R_BRACKET", "R_BRACE")


@lru_cache(maxsize=32)
def tokenizer(dialect: str) -> Callable[[str], list[Token]]:
    """Give a tokenizer that takes the words after CALL or VACUUM for words, too."""
    from sqlglot.dialects.dialect import Dialect

    base = Dialect.get_or_raise(dialect)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it takes for a command; so do we
    own = type("Words", (base.tokenizer_class,), {"COMMANDS": set()})
    return lambda text: own(dialect=base).tokenize(text)


def statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut at each semicolon, and at GO on a line of its own."""
    statement: list[Token] = []
    for at, token in enumerate(tokens):
        is_go = (
            word_of(token) == "go"
            and (not at or tokens[at - 1].line < token.line)
            and (at + 1 == len(tokens) or tokens[at + 1].line > token.line)
        )
        if token.token_type.name == "SEMICOLON" or is_go:
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def word_of(token: Token) -> str:
    """Give an unquoted word in small letters, "" for anything else."""
    name = token.token_type.name
    return "" if name == "IDENTIFIER" or is_string(token) or not token.text[:1].isalpha() else token.text.lower()


def is_string(token: Token) -> bool:
    return token.token_type.name.endswith("STRING")


def span_of(tokens: Sequence[Token]) -> tuple[int, int]:
    return tokens[0].start, tokens[-1].end + 1


def named(tokens: Sequence[Token]) -> tuple[tuple[str, ...], list[tuple[str, int, int]]]:
    """Read `TABLE IF EXISTS a, s.b`: what kind of thing, and the names."""
    at, thing = 0, tuple[str, ...]()
    things = known().things
    while at < len(tokens) and (word := word_of(tokens[at])):
        pair = (word, word_of(tokens[at + 1])) if at + 1 < len(tokens) else (word,)
        if not thing and (pair in things or (word,) in things):
            thing = pair if pair in things else (word,)
            at += len(thing)
        elif word in _NOISE and not _is_name(tokens[at + 1 : at + 2], has_thing=bool(thing)):
            at += 1
        else:
            break
    names = list[tuple[str, int, int]]()
    while at < len(tokens) and (word_of(tokens[at]) or tokens[at].token_type.name == "IDENTIFIER"):
        parts = [tokens[at]]
        while at + 2 < len(tokens) and tokens[at + 1].text == ".":
            at += 2
            parts.append(tokens[at])
        names.append((".".join(part.text for part in parts), parts[0].start, parts[-1].end + 1))
        at += 1
        if at < len(tokens) and tokens[at].text == ",":
            at += 1
        else:
            break
    return thing, names


def _is_name(after: Sequence[Token], *, has_thing: bool) -> bool:
    """Whether a word that is noise elsewhere is a name here, by what follows: `DROP SCHEMA public CASCADE`."""
    if not after:
        return has_thing
    return after[0].text == "." or word_of(after[0]) in _LAST or (has_thing and after[0].text == ",")


def string_after(tokens: Sequence[Token], word: str) -> Token | None:
    return next((second for first, second in pairwise(tokens) if word_of(first) == word and is_string(second)), None)


def as_insert(token: Token) -> Token:
    """Read REPLACE as the INSERT that it is; sqlglot takes it for a command."""
    from sqlglot.tokenizer_core import Token, TokenType

    return Token(TokenType.INSERT, "INSERT", token.line, token.col, token.start, token.end)


def span_of_node(node: exp.Expr) -> tuple[int, int] | None:
    meta = node.meta
    return (meta["start"], meta["end"] + 1) if "start" in meta else None
