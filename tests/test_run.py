"""What a run of some tests starts: PostgreSQL only for what it decides, and no migration that was run before."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import databases, run

ONE = "tests/reviews/metrics/test_spot_checks.py::test_the_sums_of_a_day_are_those_of_its_samples"
FIGURES = [each for each in run.ON_POSTGRESQL if each.startswith("tests/reviews/metrics/test_figures.py::")]
TOUCHES = "tests/patterns/api/test_thread_posts.py::TestTouches"


@pytest.mark.parametrize(
    ("arguments", "there"),
    [
        (["tests/races"], ["tests/races"]),
        (["tests/races/test_races.py"], ["tests/races/test_races.py"]),
        ([f"{TOUCHES}::test_one", "-x"], [f"{TOUCHES}::test_one", "-x"]),
        (["tests/reviews/metrics/"], [*FIGURES, ONE]),
        ([ONE], [ONE]),
        ([f"{ONE}[1]"], [f"{ONE}[1]"]),
        (["tests/reviews/metrics/test_spot_checks.py::test_another"], []),
        (["tests/heuristics"], []),
        (["-k", "deciding"], [*run.ON_POSTGRESQL, "-k", "deciding"]),
    ],
)
def test_postgresql_runs_what_it_decides_of_the_selection(arguments: list[str], there: list[str]) -> None:
    assert run.decided_there(arguments) == there


@pytest.mark.parametrize(
    ("arguments", "shares"),
    [
        (["-x"], [[*run.HALF, "-x"], [*(f"--ignore={folder}" for folder in run.HALF), "-x"]]),
        (["tests/reviews/api/", "tests/races", "-x"], [["tests/reviews/api", "-x"], ["tests/races", "-x"]]),
        ([TOUCHES, ONE], [[TOUCHES, ONE]]),
        (["tests"], [["tests"]]),
    ],
)
def test_each_test_runs_in_one_process(arguments: list[str], shares: list[list[str]]) -> None:
    assert run.shares(arguments) == shares


def test_ci_looks_for_what_make_test_leaves_out_where_it_is() -> None:
    [line] = [each for each in (run.ROOT / ".ci/run").read_text().splitlines() if "-m starts" in each]
    folders = tuple(re.findall(r"tests/\w+", line))
    marked = [file for file in (run.ROOT / "tests").rglob("test_*.py") if re.search(r"mark\.starts", file.read_text())]
    outside = [file for file in marked if not file.relative_to(run.ROOT).as_posix().startswith(folders)]
    assert (len(folders), outside) == (3, [])
    assert marked


def test_a_kept_database_is_of_its_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "ROOT", tmp_path)
    monkeypatch.setattr(databases, "KEPT", tmp_path)
    digest = databases.digest.__wrapped__
    monkeypatch.setattr(databases, "digest", digest)
    (tmp_path / "requirements-dev.txt").touch()
    (tmp_path / "reviews" / "migrations").mkdir(parents=True)
    migration, triggers = tmp_path / "reviews" / "migrations" / "0001_initial.py", tmp_path / "reviews" / "triggers.py"
    triggers.write_text("SQL = ''")
    migrate = tmp_path / "metacog" / "management" / "commands" / "migrate.py"
    migrate.parent.mkdir(parents=True)
    migrate.touch()
    seen = set()
    for file, text in (
        (migration, "from reviews import triggers"),
        (triggers, "SQL = 'DROP'"),
        (migrate, "MAKES = 'tables'"),
        (migrate, ""),
        (triggers, "SQL = ''"),
    ):
        file.write_text(text)
        seen.add(digest())
        with databases.kept("sqlite3") as place:
            place.touch()
    assert len(seen) == 3, "the same files, the same database"
    assert list(tmp_path.glob("*.sqlite3")) == [place], "those of other migrations are gone"
