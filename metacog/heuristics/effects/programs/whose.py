"""What a program works on as a whole, and what it makes: whose that is decides what may be done to it."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .rows import names_of

Places = Mapping[str, str]  # by subcommand, "*" of the others; several places with "|" between


class Whose(NamedTuple):
    """A row of `whose.json`; docs/programs.md says what each of its keys means."""

    machine: tuple[str, ...] = ()
    needs: bool = False
    within: Places = {}
    names: bool = False
    nature: frozenset[str] = frozenset()
    makes: Places = {}
    unless: frozenset[str] = frozenset()
    sure: bool = False
    trials: frozenset[str] = frozenset()


@cache
def whose(program: str) -> Whose | None:
    return _rows().get(program)


@cache
def _rows() -> Mapping[str, Whose]:
    file = json.loads((Path(__file__).parent / "whose.json").read_bytes())
    return {name: _whose(row) for row in file["rows"] for name in names_of(row)}


def _whose(row: Mapping[str, Any]) -> Whose:
    within = row.get("within", {})
    return Whose(
        tuple(row["machine"].split("|")) if "machine" in row else (),
        bool(row.get("needs", False)),
        {"*": within} if isinstance(within, str) else within,
        bool(row.get("names", False)),
        frozenset(row.get("nature", ())),
        row.get("makes", {}),
        frozenset(row.get("unless", ())),
        bool(row.get("sure", False)),
        frozenset(row.get("trials", ())),
    )
