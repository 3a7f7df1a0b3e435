"""What an argument is: by the policy, the tool, its name, its schema, and how it begins."""

import re
from collections.abc import Mapping
from typing import Any

from . import graphql
from .known import language_of, plain, words
from .told import Place, Told

_SQL = re.compile(
    r"\s*(?:--[^\n]*\n|/\*.*?\*/|\s)*(?:select|insert|update|delete|with|drop|alter|create|truncate|grant|revoke|merge|"
    r"call|explain|replace|vacuum|copy|exec|begin|show\s+\w+|describe\s+\w+|pragma)\b\s*(?![=:])",
    re.IGNORECASE | re.DOTALL,
)
_DIALECTS = (
    *("postgres", "postgresql", "pg", "mysql", "mariadb", "sqlite", "snowflake", "bigquery", "redshift", "clickhouse"),
    *("athena", "duckdb", "mssql", "sqlserver", "oracle", "databricks", "trino", "presto", "supabase", "neon", "spark"),
)


def language_at(call: Told, place: Place, key: str, value: Any, beside: Mapping[str, Any]) -> str | None:
    readers = call.settings.given or (call.tool.readers if call.tool else {})
    for steps, language in readers.items():
        if steps == place or (
            len(steps) == len(place) and all(step in ("*", str(at)) for step, at in zip(steps, place, strict=True))
        ):
            return language
    if call.tool is not None or not place:
        return None
    return _guess(call, key, value, beside, place)


def _guess(call: Told, key: str, value: Any, beside: Mapping[str, Any], place: Place) -> str | None:
    """Say what an argument is by its name, its schema and how it begins."""
    name = plain(key)
    if name in words("program_keys") and (program := call.program()):
        return f"program:{program}"
    language = language_of(name)
    if language == "shell":
        is_text = call.named.verb in words("pure_verbs") or (
            (isinstance(value, str) and not value.strip()) or not isinstance(value, str | list)
        )
        return None if is_text else language
    if language == "sql":
        return _dialect(call)
    if language == "query":
        return _query(call, name, value)
    if language == "code":
        return _script(call, value, beside)
    if language in ("action", "method", "body"):
        return None
    if language in ("path", "path?") and not isinstance(value, Mapping):
        return language
    return language or _by_schema(call, place)


def _dialect(call: Told) -> str:
    return next((f"sql:{word}" for word in _DIALECTS if word in call.said), "sql")


def _query(call: Told, name: str, value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    if graphql.looks_so(value):
        return "graphql"
    if not words("graph_languages").isdisjoint(call.said):
        return "graph"
    if not words("readonly_languages").isdisjoint(call.said) and not _SQL.match(value):
        call.scope.effects = tuple("read" if kind == "execute" else kind for kind in call.scope.effects)
        return None
    is_sql = _SQL.match(value) and call.named.verb not in words("pure_verbs")
    if not words("databases").isdisjoint(call.said) or is_sql or "SQL" in call.description:
        return _dialect(call)
    return None


def _script(call: Told, value: Any, beside: Mapping[str, Any]) -> str | None:
    if not isinstance(value, str) or (call.named.is_clear and "execute" not in call.named.effects):
        return None
    said = next((beside[key] for key in ("language", "lang", "runtime", "interpreter", "kernel") if key in beside), "")
    language = said.lower() if isinstance(said, str) else ""
    for word in ("python", "bash", "shell", "javascript", "node", "typescript", "ruby", "sql"):
        if word in call.said or language.startswith(word):
            return "sql" if word == "sql" else f"code:{word}"
    return f"code:{language or 'any'}"


def _by_schema(call: Told, place: Place) -> str | None:
    """Read what the schema says of an argument: its format, or words of its description."""
    node = call.schema
    for step in place:
        if not isinstance(node, Mapping):
            return None
        below = node.get("items") if isinstance(step, int) else node.get("properties")
        node = below if isinstance(step, int) else below.get(step) if isinstance(below, Mapping) else None
    if not isinstance(node, Mapping):
        return None
    form, told = node.get("format"), node.get("description")
    if form in ("uri", "url", "iri"):
        return "url"
    if form in ("email", "idn-email"):
        return "mail"
    if isinstance(told, str) and node.get("type") == "string":
        if re.search(r"\bSQL\b", told[:500]):
            return _dialect(call)
        if re.search(r"\b(?:shell|bash|terminal) (?:command|script)", told[:500], re.IGNORECASE):
            return "shell"
    return None
