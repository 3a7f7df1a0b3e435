"""Whether a WHERE leaves any row out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def is_limited(node: exp.Expr) -> bool:
    """Tell whether a WHERE is there that leaves any row out."""
    where = node.args.get("where")
    return where is not None and _truth(where.this) is not True


def _truth(node: exp.Expr) -> bool | None:
    """Say what an expression is of every row; None: that depends on the row, or cannot be told."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _truth(node.this)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return node.this not in ("0", "", "0.0", "f", "false")
    if isinstance(node, exp.Not):
        inner = _truth(node.this)
        return None if inner is None else not inner
    if isinstance(node, exp.And | exp.Or):
        sides = (_truth(node.left), _truth(node.right))
        decisive = isinstance(node, exp.Or)
        return decisive if decisive in sides else None if None in sides else not decisive
    if isinstance(node, exp.EQ | exp.NullSafeEQ | exp.GTE | exp.LTE | exp.Is):
        if node.left == node.right:
            return True
        if isinstance(node.left, exp.Literal) and isinstance(node.right, exp.Literal):
            return None if isinstance(node, exp.GTE | exp.LTE) else False
    if isinstance(node, exp.NEQ | exp.GT | exp.LT) and all(
        isinstance(side, exp.Literal) for side in (node.left, node.right)
    ):
        return node.left != node.right
    if isinstance(node, exp.Like | exp.ILike) and isinstance(node.expression, exp.Literal):
        return True if set(node.expression.name) == {"%"} else None
    return None
