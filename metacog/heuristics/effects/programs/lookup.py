"""Which row is for a command: by its program, then by the subcommand that asks for most of its words."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .reading import Reading
from .rows import Row, Written, names_of
from .subcommands import Program
from .words import Applied, Word


class Programs:
    """The rows of a policy, then those of the package; a program's rows are made ready when it is first met."""

    def __init__(self, rows: Sequence[Written] = ()) -> None:
        self._own: dict[str, list[Row]] = {}
        self._met: dict[str, Program] = {}
        for row in rows:
            ready = Row(row)
            for name in names_of(row):
                self._own.setdefault(name, []).append(ready)

    def __contains__(self, name: str) -> bool:
        return name in self._met or name in self._own or name in table()

    def is_of_a_project(self, name: str) -> bool:
        """Whether a file of that name is this program, by a path of its own or handed to an interpreter (manage.py)."""
        return any(row.project for row in self._own.get(name, ())) or name in _projects()

    def apply(self, name: str, words: Sequence[Word]) -> Applied | None:
        """What `name` does with `words` (without its own), None when no row names it."""
        program = self._met.get(name)
        if program is None:
            if name not in self:
                return None
            program = self._met[name] = Program([*self._own.get(name, ()), *ready(name)])
        row, places = program.row_for(words)
        if row is None:
            return None
        if row.stands_for and places:
            renamed = words[places[-1]]._replace(text=row.stands_for)
            applied = Applied(name, row.stands_for, wraps=True)
            applied.runs.append([renamed, *words[: places[0]], *words[places[-1] + 1 :]])
            return applied
        return Reading(name, row, program.base, words, places).applied()


@cache
def table() -> dict[str, list[Written]]:
    """The package's own rows by program, as they are written."""
    rows: dict[str, list[Written]] = {}
    for path in sorted((Path(__file__).parent / "table").glob("*.json")):
        file = json.loads(path.read_bytes())
        for row in file["rows"]:
            for name in names_of(row):
                rows.setdefault(name, []).append(row | {"elsewhere": True} if file.get("elsewhere") else row)
    return rows


@cache
def _projects() -> frozenset[str]:
    return frozenset(name for name, rows in table().items() if any(row.get("project") for row in rows))


@cache
def ready(name: str) -> tuple[Row, ...]:
    return tuple(map(Row, table().get(name, ())))
