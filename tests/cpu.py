"""Say what the tests of each folder take of the processor: `make test ARGS="-p tests.cpu"`."""

from __future__ import annotations

import resource
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import PurePath

import pytest

TESTS: Counter[str] = Counter()
SECONDS: defaultdict[str, float] = defaultdict(float)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    before = time.process_time()
    try:
        return (yield)
    finally:
        SECONDS["collecting"] += time.process_time() - before


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    folder = "/".join(PurePath(item.nodeid.partition("::")[0]).parent.parts[:3])
    before = time.process_time()  # of the threads that answer a browser, too
    try:
        return (yield)
    finally:
        TESTS[folder] += 1
        SECONDS[folder] += time.process_time() - before


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    SECONDS["programs they started"] = ended.ru_utime + ended.ru_stime
    for folder, seconds in sorted(SECONDS.items(), key=lambda each: -each[1]):
        terminalreporter.write_line(f"{seconds:7.1f} s {TESTS[folder] or '':>5} {folder}")
