"""The tables that a parsed statement reads and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .. import urls
from ..effect import Kind
from .script import Script
from .tokens import span_of_node
from .truth import is_limited
from .words import known

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token


def say_change(script: Script, node: exp.Expr, tokens: Sequence[Token]) -> Iterator[int]:
    """Say what is changed in which tables; give the ids of the nodes that name them."""
    from sqlglot import exp

    if isinstance(node, exp.Lock):
        return script.say("write", detail="locks rows")
    if isinstance(node.parent, exp.When):
        return None  # a part of MERGE
    targets = list[exp.Table]()
    for part in [*(node.args.get("tables") or ()), node.this]:
        if (table := part if isinstance(part, exp.Table) else part.find(exp.Table) if part else None) is not None:
            targets.append(table)
    no_where = "" if isinstance(node, exp.Insert | exp.Merge | exp.Into) or is_limited(node) else "no WHERE"
    kinds: list[Kind] = ["write"]
    if isinstance(node, exp.Delete):
        kinds = ["delete", "irreversible"] if no_where else ["delete"]
        yield id(targets[-1])
        targets = targets[:-1] or targets
    elif isinstance(node, exp.Insert) and node.args.get("overwrite"):
        kinds = ["write", "delete", "irreversible"]
    elif isinstance(node, exp.Merge):
        deletes = any(
            isinstance(then := when.args.get("then"), exp.Var) and then.name.lower() == "delete"
            for when in node.find_all(exp.When)
        )
        kinds = ["write", "delete"] if deletes else ["write"]
    for table in targets:
        for kind in kinds:
            name, span = _name_of(table)
            script.say(kind, name, span, "table" if name else None, no_where)
        if not isinstance(table.this, exp.Identifier) or not _name_of(table)[0]:
            script.fail(tokens, "the table is not named")
        yield id(table)
    if not targets:
        for kind in kinds:
            script.say(kind, detail=no_where)
    return None


def say_table(script: Script, table: exp.Table, names: set[str], tokens: Sequence[Token]) -> None:
    """Say that a table is read; `names` are those that the statement itself makes."""
    from sqlglot import exp

    if isinstance(table.this, exp.Func):
        return  # seen with the other functions
    name, span = _name_of(table)
    if not isinstance(table.this, exp.Identifier) or not name:
        if not isinstance(table.this, exp.Parameter):  # T-SQL: a variable that holds a table
            script.fail(tokens, "the table is not named")
        return
    if not table.db and name.lower() in names:
        return
    if address := urls.read(name):
        return script.say("fetch", address.text, span, "url", address.detail)
    if "/" in name:
        return script.say("read", name, span, "path")
    script.say("read", name, span, "table")
    if name.lower() in known().secret_tables or name.lower().rpartition(".")[2] in known().secret_tables:
        script.say("secret", name, span, "table")


def _name_of(table: exp.Table) -> tuple[str, tuple[int, int] | None]:
    parts = table.parts
    name = ".".join(part.name for part in parts)
    spans = [span for part in parts if (span := span_of_node(part))]
    return name, (spans[0][0], spans[-1][1]) if spans else None
