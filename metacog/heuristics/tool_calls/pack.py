"""The packs: ready-made rules over effects, versioned, as files beside this one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

WORKSPACE = "{workspace}"  # in a rule's effects: the folder that a policy gives the pack, "." where it gives none

ASKS_ALL = "everything-asks"


@dataclass(frozen=True, slots=True)
class Pack:
    """One pack as its file has it. `asks` and `passes` are a line each, `measured` what it did on which calls."""

    name: str
    version: int
    title: str
    asks: str
    passes: str
    measured: Mapping[str, Any]
    rules: Sequence[Mapping[str, Any]]

    def rules_in(self, workspace: str | None) -> Iterator[dict[str, Any]]:
        """Give its rules as they are of a policy that has it for this folder, each naming pack, version and place."""
        for place, rule in enumerate(self.rules, 1):
            given = {**rule, "pack": self.name, "version": self.version, "place": place}
            if effects := rule.get("effects"):
                folder = (workspace or ".").rstrip("/") or "/"
                given["effects"] = {
                    name: [each.replace(WORKSPACE, folder) for each in listed] for name, listed in effects.items()
                }
            yield given


@cache
def packs() -> Mapping[str, Pack]:
    """Give all packs by name, in order of name."""
    found = (files(__package__) / "packs").iterdir()
    loaded = [Pack(**json.loads(file.read_text("utf-8"))) for file in found if file.name.endswith(".json")]
    return {pack.name: pack for pack in sorted(loaded, key=lambda pack: pack.name)}


def with_pack(given: Sequence[Mapping[str, Any]], name: str, workspace: str | None) -> list[dict[str, Any]]:
    """Give a policy's packs with this one: in its place or that of `everything-asks`, else behind the others."""
    own = {"name": name, "workspace": workspace} if workspace else {"name": name}
    place = next((place for place, each in enumerate(given) if each["name"] in (name, ASKS_ALL)), len(given))
    others = [dict(each) for each in given if each["name"] not in (name, ASKS_ALL)]
    return [*others[:place], own, *others[place:]]


def unfolded(given: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give the rules of a policy's packs, in order."""
    for each in given:
        yield from packs()[each["name"]].rules_in(each.get("workspace"))


def workspace_of(given: Sequence[Mapping[str, Any]]) -> str | None:
    """Give the folder that a policy's calls work in: the first that a pack of it has."""
    return next((folder for each in given if (folder := each.get("workspace"))), None)
