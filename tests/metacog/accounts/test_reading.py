"""How an agent's tool calls are read, on its policy page: rows that are added, removed and checked, or their JSON."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from metacog.models import Policy
from tests.metacog.accounts.test_policy import DRAFT, Desk
from tests.tables import table

ROWS: dict[str, Any] = {
    "readers_in": "table", "programs_in": "table", "trusted_servers_in": "table",
    "readers-tool": ["query", "query"], "readers-argument": ["/sql", "/note"],
    "readers-language": ["sql:postgres", "text"],
    "programs-program": ["deployctl dctl"], "programs-subcommand": ["status"], "programs-effects": ["read, fetch"],
    "programs-objects": ["operands"], "programs-more": ['{"open": true}'],
    "trusted_servers-server": ["docs", ""],
}  # fmt: skip
VALUE = {
    "readers": {"query": {"/sql": "sql:postgres", "/note": "text"}},
    "programs": [
        {
            "program": ["deployctl", "dctl"],
            "subcommand": "status",
            "effects": {"read": "operands", "fetch": "operands"},
            "open": True,
        }
    ],
    "trusted_servers": ["docs"],
}


@pytest.fixture
def desk(olga: Any, kuro: Any, as_person: Any) -> Desk:
    return Desk(as_person(olga), kuro)


def cells(page: str, name: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(rf'<input name="{name}" value="([^"]*)"', page)]


def test_rows_are_saved_and_come_back(desk: Desk) -> None:
    assert desk.save(**ROWS).status_code == 302
    saved = Policy.objects.get(version=2)
    assert {name: getattr(saved, name) for name in VALUE} == VALUE
    page = desk.client.get(desk.address).content.decode()
    for name in ("readers-tool", "readers-argument", "readers-language", "programs-more", "programs-effects"):
        assert cells(page, name) == ROWS[name]
    assert cells(page, "trusted_servers-server") == ["docs"]


def test_a_row_is_added_and_removed_by_a_button(desk: Desk) -> None:
    added = desk.try_out(**ROWS, do="readers-add").content.decode()
    assert cells(added, "readers-tool") == ["query", "query", ""]
    removed = desk.try_out(**ROWS, do="readers-remove-0").content.decode()
    assert cells(removed, "readers-argument") == ["/note"]
    assert cells(removed, "trusted_servers-server") == ["docs", ""]


def test_a_list_is_edited_as_json_and_back(desk: Desk) -> None:
    as_json = html.unescape(desk.try_out(**ROWS, do="programs-as-json").content.decode())
    assert '<textarea name="programs"' in as_json
    assert '"effects":{"read":"operands","fetch":"operands"}' in as_json
    given = {name: value for name, value in ROWS.items() if not name.startswith("programs")}
    given |= {"programs_in": "json", "programs": '[{"program":"x","effects":{"read":"first","write":"last"}}]'}
    page = desk.try_out(**given, do="programs-as-rows").content.decode()
    assert cells(page, "programs-program") == ["x"]
    assert cells(page, "programs-more") == ['{"effects": {"read": "first", "write": "last"}}']  # no column says that


@table(
    ("changed", "told"),
    [
        ({"readers-language": ["sqll", "text"]}, "Row 1: Choose one of: shell, sql"),
        ({"readers-argument": ["sql", "/note"]}, "Row 1: Write a JSON Pointer"),
        ({"readers-argument": ["/sql", "/sql"]}, "Row 2: Another row is about this argument."),
        ({"programs-effects": ["reads"]}, "Row 1: No effect is called reads."),
        ({"programs-more": ['{"flag": {}}']}, "Row 1, /flag: A row has no such part."),
        ({"programs-more": ["{"]}, "Row 1: More must be a JSON object"),
        ({"programs-program": [""]}, "Row 1: Name the program."),
        ({"trusted_servers-server": ["docs", "docs"]}, "Row 2: Another row names this server."),
    ],
)
def test_a_row_that_is_wrong_is_named_and_nothing_is_saved(desk: Desk, changed: dict[str, Any], told: str) -> None:
    answer = desk.client.post(desk.address, DRAFT | ROWS | changed | {"do": "save"})
    assert answer.status_code == 422
    assert told in html.unescape(answer.content.decode())
    assert not Policy.objects.filter(version=2).exists()


def test_a_setting_is_put_back_to_its_default(desk: Desk) -> None:
    page = desk.try_out(**ROWS, do="default:readers").content.decode()
    assert cells(page, "readers-tool") == []
    assert cells(page, "programs-program") == ["deployctl dctl"]
