"""Write the Python client's types from the OpenAPI document; with --check, say whether they are up to date.

clients/python/src/metacog_client/api_types.py has what agents send and are answered; the calls of people's own programs
and of gateways are left out.
"""

from __future__ import annotations

import importlib
import json
import keyword
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

FILE = ROOT / "clients/python/src/metacog_client/api_types.py"
OF_OTHERS = ("/api/v1/review/", "/api/v1/guard")
JSON = "application/json"
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''\
"""What metacog's API takes and answers: made by scripts/client_types.py from the OpenAPI document."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
'''

Schema = Mapping[str, Any]


def document() -> dict[str, Any]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
    import django

    django.setup()
    importlib.import_module("metacog.urls")  # which gives it all its calls
    from metacog.http.api import api

    found: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"), default=str))
    return found


def shapes(found: Schema) -> dict[str, Schema]:
    """Return by name the objects that agents send and are answered, with all that these are made of."""
    components: Schema = found["components"]["schemas"]
    bodies: dict[str, Schema] = {}
    wanted: set[str] = set()
    for path, calls in found["paths"].items():
        for call in calls.values() if not path.startswith(OF_OTHERS) else ():
            parts = [answer for status, answer in call["responses"].items() if status.startswith("2")]
            for schema in (part["content"][JSON]["schema"] for part in parts if JSON in part.get("content", {})):
                wanted |= set(named(schema))
            body = call.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
            if body:
                bodies[body["title"]] = body
                wanted |= set(named(body))
    reached: set[str] = set()
    while wanted:
        name = wanted.pop()
        reached.add(name)
        wanted |= set(named(components[name])) - reached
    known = {name: components[name] for name in reached} | bodies
    return {name: known[name] for name in sorted(known) if known[name].get("type") == "object"}


def named(schema: Any) -> Iterator[str]:
    """Give the names of the components that a schema refers to."""
    if isinstance(schema, Mapping):
        if isinstance(name := schema.get("$ref"), str):
            yield name.rpartition("/")[2]
        for part in schema.values():
            yield from named(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from named(part)


def kind(schema: Schema) -> str:
    """Give a schema as Python's type."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return "Any" if name == "JsonValue" else name
    if "const" in schema:
        return f"Literal[{quoted(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(quoted, schema['enum']))}]"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            kinds = list(dict.fromkeys(kind(each) for each in schema[several]))
            return "Any" if "Any" in kinds else " | ".join(kinds)
    if schema.get("type") == "array":
        return f"list[{kind(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {kind(values) if isinstance(values, Mapping) else 'Any'}]"
    return PLAIN.get(str(schema.get("type")), "Any")


def quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def written(name: str, schema: Schema) -> str:
    needed = schema.get("required", ())
    fields = {
        field: kind(part) if field in needed else f"NotRequired[{kind(part)}]"
        for field, part in schema["properties"].items()
    }
    if any(keyword.iskeyword(field) for field in fields):
        return f'{name} = TypedDict("{name}", {fields!r})'
    lines = [f"class {name}(TypedDict):"]
    if said := schema.get("description"):
        lines += [*wrapped(f'"""{" ".join(said.split())}"""', "    "), ""]
    for field, of in fields.items():
        if said := schema["properties"][field].get("description"):
            lines += wrapped(" ".join(said.split()), "    # ")
        lines.append(f"    {field}: {of}")
    return "\n".join(lines)


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=indent, subsequent_indent=indent)


def made() -> str:
    classes = [written(name, schema) for name, schema in shapes(document()).items()]
    text = "\n\n\n".join([HEAD.rstrip("\n"), *classes]) + "\n"
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(FILE), "-"]
    return subprocess.run(ruff, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    text = made()
    if "--check" in sys.argv:
        if not FILE.exists() or FILE.read_text() != text:
            print(f"{FILE.relative_to(ROOT)} is out of date: make messages")
            return 1
        return 0
    FILE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
