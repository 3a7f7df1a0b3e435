"""Functions in a parsed statement, and which of them are not known to do nothing but compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .script import Script
from .tokens import span_of, span_of_node
from .words import known

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

# sqlglot's own functions that do more than compute: they move a sequence, read files, or have a model write.
_DOES = frozenset(
    [
        *("NextValueFor", "ReadCSV", "ReadParquet", "DynamicIdentifier", "Secret", "ToFile", "Predict", "MLForecast"),
        *("MLTranslate", "GenerateEmbedding", "GenerateTable", "GenerateText", "GenerateBool", "GenerateDouble"),
        *("GenerateInt", "FeaturesAtTime", "AIAgg", "AIClassify", "AIEmbed", "AIForecast", "AIGenerate"),
        *("AISimilarity", "AISummarizeAgg", "Apply"),
    ]
)


def say_unknown_functions(script: Script, tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """Say of each function that is not known to do nothing but compute that it is unknown."""
    from sqlglot import exp

    for node in tree.find_all(exp.Func, exp.Command, exp.QueryTransform):
        if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
            name = node.name if isinstance(node.this, str) else node.this.name
            if not _is_pure(_qualified(node, name)):
                span = span_of_node(node) or span_of(tokens)
                script.say("unknown", name, span, "name", "function")
        elif (
            isinstance(node, exp.Command | exp.QueryTransform)
            or type(node).__name__ in _DOES
            or (isinstance(node.parent, exp.Dot) and node.parent.expression is node and not _is_system(node.parent))
        ):
            script.fail(tokens, "function")


def _is_pure(name: str) -> bool:
    plain = name.lower()
    return plain in known().functions or plain.removeprefix("pg_catalog.") in known().functions


def _qualified(node: exp.Expr, name: str) -> str:
    from sqlglot import exp

    parent = node.parent
    if isinstance(parent, exp.Dot) and parent.expression is node:
        return f"{parent.this.sql()}.{name}"
    if isinstance(parent, exp.Table) and parent.db:
        return f"{parent.db}.{name}"
    return name


def _is_system(dot: exp.Expr) -> bool:
    return str(dot.this.name).lower() in ("pg_catalog", "safe", "net")
