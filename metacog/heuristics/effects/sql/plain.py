"""Statements that are read by their words alone: what they begin with, and what they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..effect import ObjectKind
from .script import Script
from .tokens import named, span_of, string_after, word_of
from .words import known

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

_TRANSACTION = frozenset(
    [
        *("begin", "transaction", "work", "tran", "read", "only", "write", "isolation", "level", "serializable"),
        *("repeatable", "committed", "uncommitted", "deferrable", "not", "immediate", "exclusive", "deferred"),
    ]
)


def plain(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read a statement that says no more than its words and what it names."""
    rows = known().statements
    for length in (3, 2, 1):
        if (row := rows.get(tuple(words[:length]))) is not None:
            break
    else:
        script.found.has_failed = True
        return script.fail(tokens)
    names = list[tuple[str, int, int]]()
    of: ObjectKind = "table"
    if row.get("objects") == "on":
        at = next((at for at, token in enumerate(tokens) if word_of(token) == "on"), len(tokens))
        thing, names = named(tokens[at:])
    elif row.get("objects"):
        thing, names = named(tokens[length:])
        of = "table" if not thing or thing[-1] in ("table", "view", "index") else "name"
        if words[0] == "drop" and "privilege" in known().things.get(thing, ()):
            script.say_of("privilege", names, of)
    for kind in row["effects"]:
        for name, start, end in names:
            script.say(kind, name, (start, end), of)
        if not names:
            script.say(kind)
    if words[0] == "vacuum" and (into := string_after(tokens, "into")):
        script.file("write", into)
    if row.get("objects") != "on" and words[0] != "show":
        script.refuse_doing(tokens[length:])
    return None


def set_value(script: Script, tokens: list[Token], words: list[str]) -> None:
    if "(" in [token.text for token in tokens]:
        return script.fail(tokens)
    if "@@global" in script.text[tokens[0].start : tokens[-1].end + 1].replace(" ", "").lower():
        words = ["set", "global"]
    return plain(script, tokens, words)


def begin(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read the begin of a transaction; that of a block (T-SQL, PL/SQL) is not read."""
    if all(token.text == "," or word_of(token) in _TRANSACTION for token in tokens):
        return None
    script.found.has_failed = True
    return script.fail(tokens)


def call(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read a call of a stored procedure: what it does is not said here."""
    if words[0].startswith("exec") and words[1] in known().procedures and not {"select", "("} & set(words):
        return script.say("read", tokens[1].text, span_of(tokens[1:2]), "name")
    script.say("execute", span=span_of(tokens))
    return script.fail(tokens)


def pragma(script: Script, tokens: list[Token], words: list[str]) -> None:
    name = next((word_of(token) for token in reversed(tokens[1:4]) if word_of(token) in known().pragmas), "")
    is_read = bool(name) and not any(token.text == "=" for token in tokens)
    script.say("read" if is_read or len(tokens) == 2 else "write", span=span_of(tokens))
    return None
