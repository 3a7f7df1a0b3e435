"""What tools say of themselves, kept from when they were first seen: a server may change it behind a user's back."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from ..journal import Journal, key_of
from . import wire

PARTS = ("title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True)
class Definitions:
    """The tools of one server as people have allowed them; `server` names it, the same each time."""

    journal: Journal
    server: str

    def see(self, tools: Mapping[str, wire.Message]) -> None:
        """Keep what is seen first, and say in the log what is another than before."""
        for name, tool in tools.items():
            if changed := self.changes(name, tool):
                print(
                    f"metacog mcp-proxy: the server says something else of {name!r} than before: {', '.join(changed)}.",
                    file=sys.stderr,
                )

    def changes(self, name: str, tool: wire.Message | None) -> list[str]:
        """Name what a tool says otherwise than when it was last allowed; a new tool says nothing otherwise."""
        if tool is None:
            return []
        now = _parts(tool)
        kept: dict[str, str] = json.loads(self.journal.pinned(self._key(name), json.dumps(now)))
        return [part for part in PARTS if kept.get(part) != now.get(part)]

    def allow(self, name: str, tool: wire.Message) -> None:
        """Have a tool be as it is now: a person has allowed a call of it."""
        self.journal.pin(self._key(name), json.dumps(_parts(tool)))

    def digest(self, tool: wire.Message | None) -> str:
        return key_of(json.dumps(_parts(tool or {})))

    def _key(self, name: str) -> str:
        return key_of("tool", self.server, name)


def _parts(tool: wire.Message) -> dict[str, str]:
    return {
        part: hashlib.sha256(wire.canonical(tool[part]).encode()).hexdigest()
        for part in PARTS
        if tool.get(part) is not None
    }
