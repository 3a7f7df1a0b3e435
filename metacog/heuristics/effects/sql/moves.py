"""Statements that move rows between tables and files: COPY, LOAD DATA, ATTACH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .query import read_query
from .script import Script
from .tokens import is_string, named, span_of, word_of

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token


def copy(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read PostgreSQL's COPY, and Snowflake's COPY INTO."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.text == "(") - (token.text == ")")
        word = word_of(token) if depth == 0 else ""
        if word in ("from", "to") and at:
            break
    else:
        return script.fail(tokens)
    table, other = tokens[1:at], tokens[at + 1 :]
    if not other:
        return script.fail(tokens)
    is_in = word == "from"
    if words[1] == "into":
        if names := named(tokens[1:at])[1]:
            script.say_of("write", names, "table")
            return script.say("fetch")
        script.say("send")  # to a stage or an address
        return script.say("read")
    if table and table[0].text == "(":
        read_query(script, table[1:-1])
    else:
        _thing, names = named(table)
        script.say_of("write" if is_in else "read", names, "table")
    target = word_of(other[0])
    if target == "program":
        script.say("execute", span=span_of(other[:2]))
        script.fail(other[:2], "runs a program")
    elif is_string(other[0]):
        script.file("read" if is_in else "write", other[0])
    elif target not in ("stdin", "stdout", "pstdin", "pstdout"):
        script.fail(tokens)
    return None


def load(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read LOAD DATA of MySQL and Hive."""
    if words[1] not in ("data", "xml"):
        script.found.has_failed = True
        return script.fail(tokens)
    if file := next((token for token in tokens if is_string(token)), None):
        script.file("read", file)
    at = next((at for at, token in enumerate(tokens) if word_of(token) == "table"), len(tokens))
    _thing, names = named(tokens[at:])
    script.say_of("write", names, "table")
    return None


def attach(script: Script, tokens: list[Token], words: list[str]) -> None:
    if file := next((token for token in tokens if is_string(token)), None):
        return script.file("write", file)
    return script.fail(tokens)
