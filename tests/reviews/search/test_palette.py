"""The palette finds, while one types, what was held last."""

from __future__ import annotations

import re
from typing import Any

import pytest

from reviews.held import quick


def test_it_looks_through_the_newest_of_what_is_pending(
    kuro: Any, alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "NEWEST", 2)
    held = [kuro.hold() for _ in range(3)]
    page = as_person(alice).get("/palette?q=clearly").content.decode()
    assert re.findall(r"/queue/(held_\w+)/", page) == [held[2], held[1]]
