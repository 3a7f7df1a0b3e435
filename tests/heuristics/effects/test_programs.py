"""The table of programs: that every row is sound, and what it makes of commands as people and agents type them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from metacog.heuristics.effects import programs, shell
from metacog.heuristics.effects.effect import KINDS

TABLE = sorted((Path(programs.__file__).parent / "table").glob("*.json"))
CASES = Path(__file__).with_name("programs.txt")


def _many(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _rows() -> list[dict[str, Any]]:
    return [row for path in TABLE for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def test_every_row_can_be_made_ready_and_says_only_what_the_machine_reads() -> None:
    rows = _rows()
    assert [row for row in rows if not row.keys() <= programs.FIELDS] == []
    assert {effect.removesuffix("?") for row in rows for effect in row.get("effects", {})} <= set(KINDS)
    known = programs.Programs()
    for name in programs.table():
        known.apply(name, [])


def test_no_program_has_two_rows_for_one_subcommand() -> None:
    named = Counter(
        (program, subcommand)
        for row in _rows()
        for program in _many(row["program"])
        for subcommand in _many(row.get("subcommand", ""))
    )
    assert [key for key, count in named.items() if count > 1] == []


def test_every_program_names_where_its_rows_come_from() -> None:
    for path in TABLE:
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["source"] != "named by the first row of each program":
            continue
        named = {program for row in table["rows"] if row.get("source") for program in _many(row["program"])}
        assert {program for row in table["rows"] for program in _many(row["program"])} - named == set(), path.name


def test_commands_have_the_effects_that_the_list_says() -> None:
    known = programs.Programs()
    wrong = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        command, arrow, effects = line.rpartition(" => ")
        if not arrow:
            continue
        read = {effect.effect for effect in shell.read(command, programs=known, workspace="/srv/app").effects}
        if read != set(effects.split()):
            wrong.append(f"{command}: {sorted(read)}, not {sorted(effects.split())}")
    assert wrong == []
