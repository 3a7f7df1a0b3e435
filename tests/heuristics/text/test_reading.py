"""How long a text takes to read, and what is too quick for it."""

from __future__ import annotations

import pytest

from metacog.heuristics.text.reading import is_hasty, seconds_to_read
from tests.tables import table


@table(
    ("text", "seconds"),
    [
        ("", 0),
        ("x" * 987, 60),
        ("字" * 255, 60),
        ("カナ" * 255, 120),
        ("字" * 255 + "x" * 987, 120),
        ("a" + " \n\t" * 400 + "b", 0.2),  # white space is one character
    ],
)
def test_each_script_has_its_own_speed(text: str, seconds: float) -> None:
    assert seconds_to_read(text) == pytest.approx(seconds, abs=0.05)


@table(
    ("seconds", "text", "hasty"),
    [
        (1.9, "Ok.", True),
        (2.0, "Ok.", False),
        (29.9, "x" * 987, True),
        (30.0, "x" * 987, False),
        (29.9, "字" * 255, True),
        (30.0, "字" * 255, False),
    ],
)
def test_twice_the_usual_speed_is_too_quick_and_so_is_less_than_two_seconds(
    seconds: float, text: str, hasty: bool
) -> None:
    assert is_hasty(seconds, text) is hasty
