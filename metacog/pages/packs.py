"""The packs of a draft as an owner fills them in: each with its folder, added and removed by buttons."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from metacog.accounts.rule_forms import Words, as_text, what_it_does
from metacog.heuristics.tool_calls.pack import ASKS_ALL, packs, with_pack
from metacog.models.pack_words import ShownPack, shown


@dataclass
class PackRow:
    """A pack of the draft, as typed."""

    name: str
    workspace: str
    at: str  # its place
    rules: list[str] = field(default_factory=list)  # in words

    @property
    def pack(self) -> ShownPack | None:
        return ShownPack(packs()[self.name]) if self.name in packs() else None

    @property
    def remove(self) -> str:
        return f"pack-remove-{self.at}"


class PackList:
    """The packs of a draft."""

    def __init__(self, given: Sequence[Mapping[str, Any]], folder: str = "") -> None:
        """Take packs as a policy has them; `folder` is what the next one gets where none of them names one."""
        self.rows = [
            PackRow(str(each.get("name", "")), str(each.get("workspace") or ""), str(at))
            for at, each in enumerate(given)
        ]
        self.folder = next((row.workspace for row in self.rows if row.workspace), folder)

    @classmethod
    def of(cls, text: str) -> PackList:
        """Take the packs from their JSON; none of what is not a list of them."""
        try:
            given = json.loads(text or "[]")
        except ValueError:
            given = []
        return cls([each for each in given if isinstance(each, dict)] if isinstance(given, list) else [])

    @classmethod
    def posted(cls, data: QueryDict, *, do: str) -> PackList:
        """Take what a form holds, a pack that is chosen but not yet added too; `do` is the button that was pressed."""
        names, folders = data.getlist("pack-name"), data.getlist("pack-workspace")
        given = [_given(name, folder.strip()) for name, folder in zip(names, folders, strict=False)]
        typed = data.get("pack-new-workspace", "").strip()
        folder = next((each.strip() for each in folders if each.strip()), typed)
        removed = do.removeprefix("pack-remove-")
        if do.startswith("pack-remove-") and removed.isdecimal() and int(removed) < len(given):
            del given[int(removed)]
        if data.get("pack-new"):
            given = with_pack(given, str(data["pack-new"]), typed or None)
        return cls(given, folder)

    @property
    def text(self) -> str:
        return as_text([_given(row.name, row.workspace) for row in self.rows])

    @property
    def others(self) -> list[ShownPack]:
        """The packs that the draft has not."""
        named = {row.name for row in self.rows}
        return [pack for pack in shown() if pack.name not in named]

    @property
    def replaced(self) -> PackRow | None:
        """The pack whose place an added one takes."""
        return next((row for row in self.rows if row.name == ASKS_ALL), None)

    def tell(self, words: Words) -> None:
        """Say each rule of each pack in a line."""
        for row in self.rows:
            if pack := packs().get(row.name):
                row.rules = [what_it_does(rule, words) for rule in pack.rules_in(row.workspace or None)]


def _given(name: str, workspace: str) -> dict[str, Any]:
    return {"name": name, "workspace": workspace} if workspace else {"name": name}
