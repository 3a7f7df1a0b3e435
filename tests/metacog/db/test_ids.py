"""Public ids say what they name, and sort by when they were made."""

import re
from datetime import UTC, datetime, timedelta

from metacog.db.ids import first_id_at, new_id


def test_an_id_is_its_prefix_and_26_characters() -> None:
    assert re.fullmatch(r"held_[0-9a-hjkmnp-tv-z]{26}", new_id("held"))


def test_no_two_are_alike() -> None:
    assert len({new_id("x") for _ in range(10_000)}) == 10_000


def test_they_sort_by_the_moment_they_were_made() -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    made = new_id("dec")
    after = datetime.now(UTC) + timedelta(seconds=1)
    assert first_id_at("dec", before) < made < first_id_at("dec", after)
