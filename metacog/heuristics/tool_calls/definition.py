"""What a tool says of itself, as one digest: it tells whether a tool is still the one that people allowed."""

import hashlib

from ..text.canonical_json import canonical
from ..text.tags import ToolCall

_TYPES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def definition_of(call: ToolCall) -> str:
    """Give the SHA-256 of the tool's description and schema; "" where the call came with neither.

    What a hook makes of a single call is no tool's: a description that also stands among the arguments, and a schema
    that has nothing but these arguments' own types.
    """
    own = call.arguments if isinstance(call.arguments, dict) else {}
    description = None if call.description in own.values() else call.description
    properties = {name: {"type": _TYPES.get(type(value), "number")} for name, value in own.items() if value is not None}
    schema = None if call.schema and call.schema.get("properties") == properties else call.schema
    if description is None and schema is None and not call.schema_omitted:
        return ""
    return hashlib.sha256(canonical([description, schema]).encode()).hexdigest()
