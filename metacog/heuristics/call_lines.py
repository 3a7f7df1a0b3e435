"""Tool calls as lines: what each would do."""

from collections.abc import Mapping
from typing import Any

from .effects.calls.reader import Reader
from .policy.errors import PolicyError
from .policy.policy import Policy
from .text.strict_json import Refused
from .tool_calls.gate import effect_part
from .tool_calls.pack import workspace_of

MAX_READERS = 100  # that are kept, one for each setting that lines name


class CallLines:
    """Reads lines: `{"name", "arguments", …}`, `{"command": "…"}` as Bash would get it, `{"sql": "…", "dialect"?}`."""

    def __init__(self, policy: Policy, workspace: str | None = None) -> None:
        self.policy = policy
        self.workspace = workspace or workspace_of(policy.packs)
        self.readers: dict[str, Reader] = {}

    def read(self, line: Any) -> Mapping[str, Any]:
        """Answer a line: `effects` as an assessment has them, `readable`, `compound` and `shape`; else Refused."""
        if not isinstance(line, Mapping):
            raise Refused(422, "The line must be an object: a call, or one with `command` or `sql`.")
        name, arguments, readers = _call(line)
        given, workspace = line.get("readers"), line.get("workspace")
        if not isinstance(given, Mapping | None) or not isinstance(workspace, str | None):
            raise Refused(422, "`readers` must be an object, and `workspace` a folder.")
        reader = self._reader({**(given or {}), **readers}, workspace)
        schema, hints = line.get("schema"), line.get("annotations")
        found = reader.read(
            name,
            arguments,
            schema=schema if isinstance(schema, Mapping) else None,
            description=line["description"] if isinstance(line.get("description"), str) else None,
            hints=hints if isinstance(hints, Mapping) else None,
        )
        return {
            "effects": [effect_part(effect) for effect in found.effects],
            "readable": found.readable,
            "compound": sorted(found.compound),
            "shape": found.shape,
        }

    def _reader(self, readers: Mapping[str, Any], workspace: str | None) -> Reader:
        key = repr((readers, workspace))
        if key not in self.readers:
            if len(self.readers) >= MAX_READERS:
                self.readers.clear()
            # What a line says comes first.
            try:
                known = Policy.from_dict({"readers": {**readers, **self.policy.readers, **readers}}).readers
            except PolicyError as error:
                raise Refused(422, f"{error}.") from None
            self.readers[key] = Reader(
                readers=known,
                programs=self.policy.programs,
                workspace=workspace or self.workspace,
                trusted=self.policy.trusted_servers,
            )
        return self.readers[key]


def _call(line: Mapping[str, Any]) -> tuple[str, Any, Mapping[str, Any]]:
    """Give a line's tool and arguments, and how these are read where the line says so."""
    if isinstance(line.get("name"), str) and "arguments" in line:
        return line["name"], line["arguments"], {}
    if isinstance(line.get("command"), str):
        return "Bash", {"command": line["command"]}, {}
    if isinstance(line.get("sql"), str):
        dialect = line.get("dialect")
        language = f"sql:{dialect}" if isinstance(dialect, str) else "sql"
        return "query", {"sql": line["sql"]}, {"query": {"/sql": language}}
    raise Refused(422, "The line must have `name` and `arguments`, or `command`, or `sql`.")
