"""Measure what this program is held to, and print the table of docs/performance.md.

    .venv/bin/python scripts/goals.py [NUMBER …] > goals.md       # all of them: 20 minutes, on a quiet machine

Each command runs by itself on data of its own and may be run by hand; what it prints goes to standard error. A figure
is found in that by its pattern: the last one, or where a command measures several the worst of them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.page_ratio import PAGES

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ".venv/bin/python"
WALL = r"^wall ([\d.]+)"  # the seconds that a command took


class Goal(NamedTuple):
    """A figure that a command prints, and its bar: at most, or with `is_least` at least."""

    number: str
    what: str
    bar: float
    unit: str
    pattern: str
    is_least: bool = False

    def row(self, told: str, command: str) -> str:
        numbers = [float(each.replace(",", "")) for each in re.findall(self.pattern, told, re.MULTILINE)]
        sign = "≥" if self.is_least else "≤"
        shown = f"{self.number} | {self.what} | {sign} {self.bar:g} {self.unit}"
        if not numbers:
            return f"| {shown} | not measured | {command} | |"
        found = (min if self.is_least else max)(numbers)
        missed = (self.bar - found if self.is_least else found - self.bar) / self.bar
        verdict = "held" if missed <= 0 else f"missed by {missed:.0%}"
        return f"| {shown} | {found:g} {self.unit} | {command} | {verdict} |"


def of_post(database: str, posts: int) -> list[Goal]:
    at_eight = rf"^{database.lower()}, 8 at once.*"
    return [
        Goal("12", f"a post's whole cost to the bare view's, {database}", 3.3, "times", at_eight + r"view ([\d.]+);"),
        Goal("12", f"eight agents, {database}", posts, "posts/s", at_eight + r"; (\d+) a second", is_least=True),
        Goal("12", f"eight agents, {database}: median", 20, "ms", at_eight + r"second, median (\d+) ms"),
    ]


MEASURES: list[tuple[str, Sequence[Goal]]] = [
    (
        f"{PYTHON} scripts/effects_speed.py",
        [
            Goal("15", "effects of a command of 200 bytes", 0.3, "ms", r"^a c.* 200 bytes: ([\d.]+)"),
            Goal("15", "effects of 16 KiB", 10, "ms", r"^16 KiB: ([\d.]+)"),
            Goal("15", "effects of hostile nesting", 50, "ms", r"^hostile nesting: ([\d.]+)"),
        ],
    ),
    (f"{PYTHON} manage.py migrate --verbosity 0", [Goal("11", "a fresh database", 4, "s", WALL)]),
    (
        f"{PYTHON} tests/run.py tests/metacog/accounts/test_policy.py -k thirty_days",
        [Goal("14", "one focused test", 8, "s", WALL)],
    ),
    (
        f"{PYTHON} scripts/footprint.py",
        [
            Goal("13", "start on an empty folder", 8, "s", r"Ready ([\d.]+) s after the start, on an empty"),
            Goal("13", "start with the database there", 4, "s", r"Ready ([\d.]+) s after the start, with"),
            Goal("13", "memory of `make up`, idle (PSS)", 300, "MB", r"^\| \d processes \| (\d+)"),
            Goal("13", "CPU of `make up`, idle", 1, "% of a core", r"^\| \d processes .* ([\d.]+) \|$"),
        ],
    ),
    (
        f"{PYTHON} scripts/key_to_next.py --count 30 --every 1",
        [Goal("10", "key to next item, 90th percentile", 100, "ms", r"^\| \d+, one.*?ms \| (\d+) ms \|")],
    ),
    (
        f"{PYTHON} scripts/page_ratio.py",
        [
            Goal("7", f"CPU of a page to release 1.0.0's: {name}", 0.5, "times", rf"^\| {name} \|.* ([\d.]+) \|$")
            for name in PAGES
        ],
    ),
    (f"{PYTHON} scripts/webhook_cost.py --served 4 --turns 2", of_post("SQLite", 400)),
    (f"{PYTHON} scripts/webhook_cost.py --served 4 --turns 2 --postgresql", of_post("PostgreSQL", 350)),
    (
        ".ci/run",
        [
            Goal("11", "`make test`", 300, "s of CPU", r"^CPU: (\d+) of 300"),
            Goal("11", "`.ci/run`", 500, "s of CPU", r"^CPU in all: (\d+) of 500"),
        ],
    ),
]


def output(command: str, folder: str) -> Iterator[str]:
    """Give what a command prints, line by line, as it does."""
    environment = {**os.environ, "METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, shell=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        yield from process.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="of goals; all without")
    asked = parser.parse_args().numbers
    print("| goal | what | bar | figure | command | |\n|---|---|---|---|---|---|", flush=True)
    for command, goals in MEASURES:
        wanted = [goal for goal in goals if not asked or goal.number in asked]
        if not wanted:
            continue
        print(f"$ {command}", file=sys.stderr)
        began, lines = time.monotonic(), []
        with tempfile.TemporaryDirectory(prefix="metacog-goals-", ignore_cleanup_errors=True) as folder:
            for line in output(command, folder):
                lines.append(line)
                print(line, end="", file=sys.stderr)
        lines.append(f"wall {time.monotonic() - began:.1f}\n")
        for number, goal in enumerate(wanted):
            shown = "the same" if number else f"`{command}`"
            print(goal.row("".join(lines), shown), flush=True)


if __name__ == "__main__":
    main()
