"""Statements, one by one: queries are parsed, the others read by their words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ..effect import ObjectKind
from . import moves
from .plain import begin, call, plain, pragma, set_value
from .query import read_query
from .script import Script
from .tokens import named, word_of
from .words import QUERIES, known

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token


def read_statement(script: Script, tokens: list[Token]) -> tuple[str | None, bool]:
    """Say what a statement does; give its shape, and whether no other query stands in it."""
    words = [word_of(token) for token in tokens[:4]]
    read = {
        "explain": _explain,
        "describe": _explain,
        "desc": _explain,
        "analyze": _explain,
        "copy": moves.copy,
        "load": moves.load,
        "attach": moves.attach,
        "pragma": pragma,
        "create": _define,
        "alter": _define,
        "exec": call,
        "execute": call,
        "set": set_value,
        "begin": begin,
        "declare": _declare,
    }.get(words[0], plain)
    if words[0] in QUERIES or tokens[0].text == "(":
        return read_query(script, tokens)
    read(script, tokens, words)
    return None, True


def _declare(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read the declaration of a cursor, and of a variable with a plain value."""
    bare = [word_of(token) for token in tokens]
    if "cursor" in bare and "for" in bare[:-1]:
        read_query(script, tokens[bare.index("for") + 1 :])
    elif not tokens[1].text.startswith("@") or "(" in [token.text for token in tokens[3:]]:
        script.found.has_failed = True
        script.fail(tokens)
    else:
        script.refuse_doing(tokens)


def _explain(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read EXPLAIN, which runs nothing unless it says ANALYZE, and what it explains; ANALYZE alone counts rows."""
    at, depth = 1, 0
    while at < len(tokens) and (depth or word_of(tokens[at]) not in QUERIES):
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        at += 1
    rest = tokens[at:]
    runs = "analyze" in map(word_of, tokens[:at]) or "analyse" in map(word_of, tokens[:at])
    if rest and runs:
        read_query(script, rest)
    elif words[0] == "analyze":
        plain(script, tokens, words)
    elif rest:
        script.say("read")
    else:
        _thing, names = named(tokens[1:])
        script.say_of("read", names, "table")


def _define(script: Script, tokens: list[Token], words: list[str]) -> None:
    """Read CREATE and ALTER."""
    things, bare = known().things, [word_of(token) for token in tokens]
    thing, names = named(tokens[1:])
    if not thing:
        script.found.has_failed = True
        return script.fail(tokens)
    if thing[-1] in ("system", "privileges", "session"):
        names = []  # there is but one
    of: ObjectKind = "table" if thing[-1] in ("table", "view", "index") else "name"
    script.say_of("write", names, of)
    for kind in things[thing]:
        script.say_of(kind, names, of, "runs later" if kind == "unknown" else "")
    is_replaced = thing[-1] == "table" and bare[:3] == ["create", "or", "replace"]
    is_cut = bare[0] == "alter" and not {"drop", "truncate"}.isdisjoint(bare)
    if is_replaced or is_cut:
        script.say_of("delete", names, of)
        script.say_of("irreversible", names, of)
    if bare[0] == "alter" and (("owner", "to") in pairwise(bare) or {"security", "superuser"} & set(bare)):
        script.say_of("privilege", names, of)
    at = bare.index("as") + 1 if bare[0] == "create" and of == "table" and "as" in bare else len(bare)
    if at < len(bare) and (bare[at] in QUERIES or tokens[at].text == "("):
        read_query(script, tokens[at:])
    elif "unknown" not in things[thing]:
        script.refuse_doing(tokens[1:], lambda word: "privilege" in things[thing] or word in ("drop", "truncate"))
    return None
