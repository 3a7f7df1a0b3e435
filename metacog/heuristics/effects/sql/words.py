"""What is known of the words of SQL, most of it from `words.json`."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..effect import Kind

QUERIES = frozenset(["select", "with", "values", "table", "from", "insert", "update", "delete", "merge", "replace"])
# Words that no statement has but those that do it; unquoted elsewhere they are a second statement (T-SQL needs no `;`).
DOING = frozenset(
    ["delete", "update", "insert", "merge", "drop", "alter", "create", "grant", "revoke", "truncate", "exec", "execute"]
)
ALONE = frozenset(["shutdown", "reconfigure", "checkpoint", "commit", "rollback"])


class Words(NamedTuple):
    statements: Mapping[tuple[str, ...], Mapping[str, Any]]
    things: Mapping[tuple[str, ...], Sequence[Kind]]
    dialects: Mapping[str, str]
    functions: frozenset[str]
    pragmas: frozenset[str]
    procedures: frozenset[str]
    secret_tables: frozenset[str]


@cache
def known() -> Words:
    data = json.loads(Path(__file__).with_name("words.json").read_bytes())
    return Words(
        {tuple(words.split()): row for words, row in data["statements"].items()},
        {tuple(words.split()): effects for words, effects in data["things"].items()},
        data["dialects"],
        *(frozenset(data[name].split()) for name in ("functions", "pragmas", "procedures", "secret_tables")),
    )


def is_dialect(name: str) -> bool:
    """Tell whether SQL is read by this name of a dialect."""
    from sqlglot.dialects.dialect import Dialect

    return name in known().dialects or (name != "" and name in Dialect.classes)


def dialect_of(name: str | None) -> str | None:
    plain = (name or "").lower().replace(" ", "").replace("_", "").replace("-", "")
    plain = known().dialects.get(plain, plain)
    return plain if plain and is_dialect(plain) else None
