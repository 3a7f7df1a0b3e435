"""Queries and changes of rows, parsed: the tables and functions that stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .functions import say_unknown_functions
from .script import Script
from .shape import shape_of
from .tables import say_change, say_table
from .tokens import as_insert, word_of

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

MAX_SHAPED = 500  # tokens of a statement that has a shape


def read_query(script: Script, tokens: list[Token]) -> tuple[str | None, bool]:
    """Read a query, or what changes rows."""
    tokens = _without_outfile(script, tokens)
    if word_of(tokens[0]) == "replace":
        tokens = [as_insert(tokens[0]), *tokens[1:]]
    try:
        tree = _parsed(tokens, script.text, script.dialect)
    except Exception:  # ParseError, and RecursionError or ValueError where a text is odd
        tree = None
    if tree is None:
        script.found.has_failed = True
        script.fail(tokens)
        return None, False
    return _read_tree(script, tree, tokens)


def _without_outfile(script: Script, tokens: list[Token]) -> list[Token]:
    for at in range(len(tokens) - 2):
        if word_of(tokens[at]) == "into" and word_of(tokens[at + 1]) in ("outfile", "dumpfile"):
            script.file("write", tokens[at + 2])
            return tokens[:at] + tokens[at + 3 :]
    return tokens


def _parsed(tokens: list[Token], text: str, dialect: str) -> exp.Expr | None:
    """Parse one statement; None: not as a query or a change of rows."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    kinds = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge)
    (tree,) = Dialect.get_or_raise(dialect).parser().parse(tokens, text)
    return tree if isinstance(tree, kinds) else None


def _read_tree(script: Script, tree: exp.Expr, tokens: Sequence[Token]) -> tuple[str | None, bool]:
    from sqlglot import exp

    changed, effects, begin = set[int](), script.found.effects, len(script.found.effects)
    for node in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Lock):
        changed.update(say_change(script, node, tokens))
    names = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if id(table) not in changed:
            say_table(script, table, names, tokens)
    if len(effects) == begin or (
        isinstance(tree, exp.Query) and not any(effect.effect == "read" for effect in effects[begin:])
    ):
        script.say("read")
    say_unknown_functions(script, tree, tokens)
    kinds = {"delete": exp.Delete, "update": exp.Update, "insert": exp.Insert, "merge": exp.Merge}
    script.refuse_doing(tokens, lambda word: word in kinds and tree.find(kinds[word]) is not None)
    inner = tree.find_all(exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge)
    is_alone = all(node is tree for node in inner)
    is_read = not any(effect.effect == "unknown" for effect in effects[begin:])
    return shape_of(tree, script.dialect) if is_read and len(tokens) <= MAX_SHAPED else None, is_alone
