"""The supervisor: what dies is started again, and when it goes, however it goes, all go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from metacog.runtime.supervisor import SAME_SECONDS, Child

pytestmark = pytest.mark.starts  # nearly all of them

# A child with a child of its own, as the web server has; both say who they are.
CHILD = """
    import os, pathlib, signal, subprocess, sys, time
    if "stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, lambda number, frame: pathlib.Path(sys.argv[1]).with_name("told").touch())
    script = "import time; time.sleep(60)"
    below = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.DEVNULL)
    if "stubborn" not in sys.argv:
        signal.signal(signal.SIGTERM, lambda number, frame: (below.terminate(), sys.exit(0)))
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()} {below.pid}\\n")
    if "failing" in sys.argv:
        sys.exit(3)
    time.sleep(60)
"""
SUPERVISOR = """
    import os, sys
    from metacog.runtime import supervisor
    supervisor.STOP_SECONDS, supervisor.SAME_SECONDS = float(sys.argv[3]), float(sys.argv[4])
    child = supervisor.Child("The child", "child", sys.argv[1], *sys.argv[2].split())
    say = lambda line: print(line, flush=True)
    supervisor.Supervisor([child], os.environ, say).run(lambda: True, lambda: say("ready"))
"""


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


class Supervised:
    """A supervisor with one child in a process of its own."""

    def __init__(
        self, folder: Path, kind: str = "", stop_seconds: float = 8, same_seconds: float = SAME_SECONDS, *under: str
    ) -> None:
        (folder / "child.py").write_text(textwrap.dedent(CHILD))
        self.started = folder / "started"
        self.started.touch()
        self.told = folder / "told"  # a stubborn child writes it when it is to stop
        script, seconds = textwrap.dedent(SUPERVISOR), [str(stop_seconds), str(same_seconds)]
        self.process = subprocess.Popen(
            [*under, sys.executable, "-c", script, str(self.started), kind, *seconds],
            env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{settings.BASE_DIR}"},
            stdout=subprocess.PIPE,
            text=True,
        )

    def starts(self) -> list[list[int]]:
        """Return the process numbers of the child and of its child, for each start."""
        return [[int(word) for word in line.split()] for line in self.started.read_text().splitlines()]

    def await_start(self, number: int = 1) -> list[psutil.Process]:
        until(lambda: len(self.starts()) >= number)
        return [psutil.Process(pid) for pid in self.starts()[number - 1]]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Callable[..., Supervised]]:
    made: list[Supervised] = []

    def make(*arguments: object) -> Supervised:
        made.append(Supervised(tmp_path, *arguments))  # type: ignore[arg-type]  # as the tests give them
        return made[-1]

    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where all of these tests run under nohup, too
    yield make
    signal.signal(signal.SIGHUP, hangup)
    for supervisor in made:
        supervisor.process.kill()
        supervisor.process.wait()


def all_gone(processes: list[psutil.Process], seconds: float = 30) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_all_with_exit_status_0(supervised: Callable[..., Supervised], number: int) -> None:
    supervisor = supervised("", 60)  # the child ends when it is told to, not when it is killed
    processes = supervisor.await_start()
    supervisor.process.send_signal(number)
    assert supervisor.process.wait(30) == 0
    assert all_gone(processes)


def test_under_nohup_it_outlives_its_terminal(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised("", 8, SAME_SECONDS, "nohup")
    supervisor.await_start()
    supervisor.process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        supervisor.process.wait(0.5)
    supervisor.process.terminate()
    assert supervisor.process.wait(30) == 0


def test_its_own_end_by_sigkill_leaves_no_orphan(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised()
    processes = supervisor.await_start()
    supervisor.process.kill()
    assert all_gone(processes)


def test_its_own_end_by_sigkill_ends_stubborn_children_too(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised("stubborn")
    processes = supervisor.await_start()
    supervisor.process.kill()
    assert all_gone(processes)


def test_it_kills_what_does_not_stop_in_time(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised("stubborn", 0.3)
    processes = supervisor.await_start()
    supervisor.process.terminate()
    assert supervisor.process.wait(30) == 0
    assert all_gone(processes)


def test_a_second_ctrl_c_kills_at_once(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised("stubborn", 60, 0)
    processes = supervisor.await_start()
    supervisor.process.send_signal(signal.SIGINT)
    until(supervisor.told.exists)
    supervisor.process.send_signal(signal.SIGINT)
    assert supervisor.process.wait(30) == 0
    assert all_gone(processes)


@pytest.mark.parametrize(("number", "same_seconds"), [(signal.SIGTERM, 0), (signal.SIGINT, 60)])
def test_one_wish_to_stop_that_comes_twice_kills_nothing(
    supervised: Callable[..., Supervised], number: int, same_seconds: float
) -> None:
    supervisor = supervised("stubborn", 60, same_seconds)
    supervisor.await_start()
    supervisor.process.send_signal(number)
    until(supervisor.told.exists)
    supervisor.process.send_signal(number)
    with pytest.raises(subprocess.TimeoutExpired):
        supervisor.process.wait(1)


def test_a_killed_child_starts_again_and_leaves_nothing(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised()
    processes = supervisor.await_start()
    processes[0].kill()
    supervisor.await_start(2)
    assert all_gone(processes)
    supervisor.process.terminate()
    said, _ = supervisor.process.communicate(timeout=30)
    assert "The child was ended by SIGKILL; it starts again in 0.5 s." in said


def test_it_waits_longer_before_each_restart(supervised: Callable[..., Supervised]) -> None:
    supervisor = supervised("failing")
    until(lambda: len(supervisor.starts()) >= 3)  # none of them lives long enough to be looked at
    supervisor.process.terminate()
    said, _ = supervisor.process.communicate(timeout=30)
    assert "The child ended with status 3; it starts again in 0.5 s." in said
    assert "The child ended with status 3; it starts again in 1 s." in said


def test_it_never_waits_longer_than_half_a_minute() -> None:
    child = Child("The child", "child")
    child.command, told = ["true"], list[str]()
    for _ in range(8):
        child.start(os.environ)
        until(lambda: told.append(child.ended()) or told[-1])
    assert told[-1] == "The child ended with status 0; it starts again in 30 s."
