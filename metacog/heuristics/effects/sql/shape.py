"""A parsed statement without its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def shape_of(tree: exp.Expr, dialect: str) -> str:
    """Write a statement with `?` for each value that only says which row, or what a row is set to."""
    from sqlglot import exp

    is_query = isinstance(tree, exp.Query)
    plain = tree.copy()
    for many in list(plain.find_all(exp.In)):
        if len(many.expressions) > 1 and all(isinstance(each, exp.Literal) for each in many.expressions):
            many.set("expressions", [exp.Placeholder()])
    for literal in list(plain.find_all(exp.Literal)):
        parent = literal.parent
        is_compared = isinstance(parent, exp.EQ) and isinstance(parent.left, exp.Column) and parent.right is literal
        if is_query or is_compared or isinstance(parent, exp.Tuple | exp.In):
            literal.replace(exp.Placeholder())
    return plain.sql(dialect=dialect, comments=False)
