"""What is known of tools and of their arguments, as data: `known.json`, with its sources."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..effect import Kind

MAX_KEY = 100
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
Steps = tuple[str, ...]


class Tool(NamedTuple):
    """A tool that is known by name: how its arguments are read, and what it does whatever they are.

    `decides`: a text for somebody else to act on is among them, so that no two calls are alike.
    """

    readers: Mapping[Steps, str]
    effects: tuple[Kind, ...]
    decides: bool = False
    only: frozenset[str] = frozenset()  # the arguments that it may have; () for any


class Sign(NamedTuple):
    """A value of an argument that says more of what a tool does: of any but a reader, of a reader, of what deletes."""

    keys: frozenset[str]
    values: frozenset[str]
    effects: tuple[Kind, ...]
    reads: tuple[Kind, ...]
    deletes: tuple[Kind, ...]


@cache
def _data() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("known.json").read_bytes())
    return data


@cache
def tools() -> Mapping[str, Tool]:
    """Give the known tools by name."""
    return {
        name: Tool(
            {tuple(place.split("/")[1:]): language for place, language in row["readers"].items()},
            tuple(row["effects"]),
            row.get("decides", False),
            frozenset(row.get("only", "").split()),
        )
        for row in _data()["tools"]
        for name in row["tool"].split()
    }


@cache
def words(name: str) -> frozenset[str]:
    """Give a set of words: "programs", "databases", …"""
    return frozenset(_data()["sets"][name].split())


@cache
def signs() -> Sequence[Sign]:
    return [
        Sign(
            frozenset(row["keys"].split()),
            frozenset(row["values"].split()),
            *(tuple(row.get(part, ())) for part in ("effects", "reads", "deletes")),
        )
        for row in _data()["signs"]
    ]


@cache
def _languages() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for language, keys in _data()["arguments"].items():
        if language != "source":
            for key in keys.split():
                found.setdefault(key, language)
    return found


def language_of(key: str) -> str | None:
    """Say what an argument of this name usually is: "shell", "path", …"""
    return _languages().get(plain(key))


@lru_cache(maxsize=4096)
def plain(key: str) -> str:
    """Write a name in small letters with underscores: `filePath`, `file-path`."""
    return _HUMP.sub("_", key[:MAX_KEY]).replace("-", "_").lower()
