"""The scripts behind `make`: what is asked for wrongly is told, and nothing is begun."""

from __future__ import annotations

import subprocess
import sys

from django.conf import settings

from tests.tables import table


@table(
    ("arguments", "status", "said"),
    [
        (["scripts/check.py", "licenses"], 1, "There is no check licenses; there are lint, types, "),
        (["scripts/bench.py", "--corpus", "tests/nowhere"], 1, "tests/nowhere holds no JSON Lines (*.jsonl)"),
        (["scripts/screenshots.py", "--help"], 0, ""),
        (["scripts/screenshots.py", "--everything"], 2, "usage: screenshots.py"),
        (["-m", "tests.heuristics.stuck.measure_stuck"], 1, "Give the folder that holds the runs"),
        (["-m", "tests.heuristics.stuck.measure_stuck", "tests/nowhere"], 1, "Give the folder that holds the runs"),
    ],
)
def test_wrong_arguments_are_told(arguments: list[str], status: int, said: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert (done.returncode, done.stderr[: len(said)]) == (status, said)
    assert "Traceback" not in done.stderr


def test_the_table_of_simplified_characters_is_what_opencc_has() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/simplified.py"], cwd=settings.BASE_DIR, capture_output=True, check=True
    )
    assert done.stdout == (settings.BASE_DIR / "metacog/heuristics/lexicon/simplified.py").read_bytes()
