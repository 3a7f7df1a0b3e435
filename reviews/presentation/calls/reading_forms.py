"""How tool calls are read as an owner fills it in: arguments, programs and trusted servers as rows, or as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metacog.accounts.rule_forms import AS_JSON, AS_TABLE, as_text
from metacog.heuristics.text import strict_json

# Of each setting: the columns of its rows, with what an empty cell shows.
COLUMNS: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "readers": {
        "tool": (gettext_lazy("Tool"), "query"),
        "argument": (gettext_lazy("Argument"), "/sql"),
        "language": (gettext_lazy("Read as"), "sql:postgres"),
    },
    "programs": {
        "program": (gettext_lazy("Program"), "deployctl"),
        "subcommand": (gettext_lazy("Subcommand"), "status"),
        "effects": (gettext_lazy("Effects"), "read, write"),
        "objects": (gettext_lazy("Objects"), "operands"),
        "more": (gettext_lazy("More, as JSON"), '{"open": true}'),
    },
    "trusted_servers": {"server": (gettext_lazy("Server"), "filesystem")},
}
# What may stand in a cell, to choose from.
CHOICES: Mapping[str, Sequence[str]] = {
    "language": (
        *("shell", "argv", "sql", "sql:postgres", "sql:mysql", "sql:sqlite", "path", "path:read", "path:write"),
        *("path:delete", "url", "url:send", "mail", "amount", "code:python", "text"),
    ),
    "objects": ("operands", "first", "last", "rest"),
}


class Cell(NamedTuple):
    """A cell of a row, as typed."""

    name: str  # of its field
    label: Any
    value: str
    example: str
    choices: str  # of the list that it offers


@dataclass
class ReadingList:
    """One of these settings in a draft. `problems` are what keeps a row from being read at all."""

    name: str
    rows: list[dict[str, str]] = field(default_factory=list)
    text: str = ""
    mode: str = AS_TABLE
    problems: list[str] = field(default_factory=list)
    places: list[tuple[str, ...]] = field(default_factory=list)  # of the rows in the value, as far as they are read

    @classmethod
    def of(cls, name: str, text: str, mode: str = AS_TABLE) -> ReadingList:
        """Take a setting from its JSON; what makes no rows stays as it is."""
        try:
            rows = None if mode == AS_JSON else _ROWS[name](json.loads(text or "null"))
        except (ValueError, TypeError, AttributeError):
            rows = None
        if rows is None:
            return cls(name, text=text, mode=AS_JSON)
        found = cls(name, rows)
        found._compile()
        return found

    @classmethod
    def posted(cls, name: str, data: QueryDict, *, do: str) -> ReadingList:
        """Take what a form holds; `do` is the button that was pressed, if one was."""
        if data.get(f"{name}_in") == AS_JSON:
            return cls.of(name, data.get(name, ""), AS_TABLE if do == f"{name}-as-rows" else AS_JSON)
        columns = [data.getlist(f"{name}-{column}") for column in COLUMNS[name]]
        rows = [dict(zip(COLUMNS[name], map(str.strip, cells), strict=True)) for cells in zip(*columns, strict=False)]
        removed = do.removeprefix(f"{name}-remove-")
        if do == f"{name}-add":
            rows.append(dict.fromkeys(COLUMNS[name], ""))
        elif removed.isdecimal() and len(removed) < 5 and int(removed) < len(rows):
            del rows[int(removed)]
        found = cls(name, rows)
        found._compile()
        if do == f"{name}-as-json" and not found.problems:
            return cls(name, text=found.text, mode=AS_JSON)
        return found

    def _compile(self) -> None:
        value: Any = {} if self.name == "readers" else []
        for number, row in enumerate(self.rows, 1):
            place: tuple[str, ...] = ()
            try:
                if any(row.values()):
                    place = _ADDED[self.name](value, row)
            except ValueError as error:
                self.problems.append(_("Row %(row)d: %(problem)s") % {"row": number, "problem": error})
            self.places.append(place)
        self.text = as_text(value)

    def place_of(self, loc: Sequence[str]) -> str:
        """Name the row that a place in the value is of, "" where none is."""
        for number, place in enumerate(self.places, 1):
            if place and tuple(loc[: len(place)]) == place[: len(loc)]:
                rest = strict_json.pointer(loc[len(place) :])
                named = _("Row %(row)d") % {"row": number}
                return f"{named}, {rest}: " if rest else f"{named}: "
        return ""

    @property
    def is_json(self) -> bool:
        return self.mode == AS_JSON

    @property
    def columns(self) -> list[Any]:
        return [label for label, _example in COLUMNS[self.name].values()]

    @property
    def cells(self) -> list[list[Cell]]:
        return [
            [
                Cell(f"{self.name}-{column}", label, row[column], example, column if column in CHOICES else "")
                for column, (label, example) in COLUMNS[self.name].items()
            ]
            for row in self.rows
        ]


def _reader_rows(value: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    return [
        {"tool": tool, "argument": place, "language": str(language)}
        for tool, places in value.items()
        for place, language in places.items()
    ]


def _add_reader(value: dict[str, Any], row: Mapping[str, str]) -> tuple[str, ...]:
    places = value.setdefault(row["tool"], {})
    if row["argument"] in places:
        raise ValueError(_("Another row is about this argument."))
    places[row["argument"]] = row["language"]
    return (row["tool"], row["argument"])


def _program_rows(value: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    rows = []
    for given in value:
        more = dict(given)
        names, subcommand, effects = more.pop("program", ""), more.get("subcommand", ""), more.get("effects", {})
        where = set(effects.values()) if all(isinstance(place, str | None) for place in effects.values()) else {1, 2}
        if isinstance(subcommand, str):
            more.pop("subcommand", None)
        if len(where) < 2:
            more.pop("effects", None)
        rows.append(
            {
                "program": names if isinstance(names, str) else " ".join(names),
                "subcommand": subcommand if isinstance(subcommand, str) else "",
                "effects": ", ".join(effects) if len(where) < 2 else "",
                "objects": str(next(iter(where), None) or "") if len(where) < 2 else "",
                "more": json.dumps(more, ensure_ascii=False) if more else "",
            }
        )
    return rows


def _add_program(value: list[Any], row: Mapping[str, str]) -> tuple[str, ...]:
    try:
        more = json.loads(row["more"] or "{}")
    except ValueError:
        more = None
    if not isinstance(more, dict):
        raise ValueError(_("More must be a JSON object, such as %(example)s.") % {"example": '{"open": true}'})
    names = row["program"].split()
    given: dict[str, Any] = {"program": names[0] if len(names) == 1 else names}
    if row["subcommand"]:
        given["subcommand"] = row["subcommand"]
    if row["effects"]:
        given["effects"] = dict.fromkeys(re.split(r"[\s,]+", row["effects"].strip(" ,")), row["objects"] or None)
    value.append(given | more)
    return (str(len(value) - 1),)


def _server_rows(value: Sequence[str]) -> list[dict[str, str]]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError
    return [{"server": name} for name in value]


def _add_server(value: list[Any], row: Mapping[str, str]) -> tuple[str, ...]:
    if row["server"] in value:
        raise ValueError(_("Another row names this server."))
    value.append(row["server"])
    return (str(len(value) - 1),)


_ROWS: Mapping[str, Any] = {"readers": _reader_rows, "programs": _program_rows, "trusted_servers": _server_rows}
_ADDED: Mapping[str, Any] = {"readers": _add_reader, "programs": _add_program, "trusted_servers": _add_server}
