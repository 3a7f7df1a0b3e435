"""Several processes as one: what dies is started again, and when the supervisor goes, all go.

Each child leads a process group of its own, so that Ctrl-C in a terminal reaches only the supervisor,
and so that what a killed child leaves behind (a web worker holding the port) can be cleared away.

A child learns that its supervisor is gone, however it went, by the end of its standard input: the
other end of that pipe is open in the supervisor only. `python -m metacog.runtime.supervisor MODULE …` runs a
module with that watch. It works wherever pipes do; PR_SET_PDEATHSIG is only Linux's.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType

STOP_SECONDS = 8.0  # what the children have to finish their work in; then they are killed
ORPHAN_SECONDS = 3.0  # the same after the supervisor was killed: somebody may be starting it again
# One wish to stop may come twice (`make` passes on what the terminal or systemd sends to all): only a
# Ctrl-C that comes later than this means that somebody lost patience.
SAME_SECONDS = 0.5
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0  # seconds before a restart; doubled each time
SETTLED_SECONDS = 60.0  # who ran this long starts again with the first delay


class Child:
    """One supervised process."""

    def __init__(self, name: str, module: str, *arguments: str) -> None:
        self.name = name
        self.command = [sys.executable, "-m", "metacog.runtime.supervisor", module, *arguments]
        self.process: subprocess.Popen[bytes] | None = None
        self.due_at = 0.0  # on the monotonic clock, while there is no process
        self._started_at = 0.0
        self._delay = FIRST_DELAY

    def start(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(self.command, env=environment, stdin=subprocess.PIPE, process_group=0)
        self._started_at = time.monotonic()

    def ended(self) -> str:
        """Return how the process ended, once, and set when it starts again; empty while it runs."""
        if self.process is None or self.process.poll() is None:
            return ""
        status = self.process.returncode
        self.clear()
        now = time.monotonic()
        if now - self._started_at > SETTLED_SECONDS:
            self._delay = FIRST_DELAY
        self.due_at = now + self._delay
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        line = f"{self.name} {how}; it starts again in {self._delay:g} s."
        self._delay = min(self._delay * 2, LONGEST_DELAY)
        return line

    def signal(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def clear(self) -> None:
        """Kill whatever is left of the process's group."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            if self.process.stdin:
                self.process.stdin.close()
            self.process = None


class Supervisor:
    """Runs children in the foreground until SIGTERM, SIGINT or SIGHUP; a second Ctrl-C kills them."""

    def __init__(self, children: list[Child], environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._children = children
        self._environment = environment
        self._say = say
        self._stopping_since: float | None = None
        self._kill = False

    def run(self, is_ready: Callable[[], bool], on_ready: Callable[[], None]) -> None:
        """Start everything, call `on_ready` when `is_ready` first holds, return when all has ended."""
        waking, wake = os.pipe()
        os.set_blocking(waking, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                signal.signal(number, self._on_stop)
        ready = False
        while self._stopping_since is None:
            now = time.monotonic()
            for child in self._children:
                if line := child.ended():
                    self._say(line)
                if child.process is None and child.due_at <= now:
                    child.start(self._environment)
            if not ready and is_ready():
                ready = True
                on_ready()
            waits = [child.due_at - now for child in self._children if child.process is None]
            self._sleep(waking, min([3600.0 if ready else 0.1, *waits]))
        self._stop(waking)

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._stopping_since is None:
            self._stopping_since = now
        elif number == signal.SIGINT and now - self._stopping_since > SAME_SECONDS:
            self._kill = True

    def _sleep(self, waking: int, seconds: float) -> None:
        """Wait, at most until the next signal."""
        if select.select([waking], [], [], max(seconds, 0))[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(waking, 4096)

    def _stop(self, waking: int) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        for child in self._children:
            child.signal(signal.SIGTERM)
        while not self._kill and (left := deadline - time.monotonic()) > 0:
            if all(child.process is None or child.process.poll() is not None for child in self._children):
                break
            self._sleep(waking, left)
        for child in self._children:
            child.clear()


def _follow_supervisor() -> None:
    """End this process and its group once the supervisor is gone."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(ORPHAN_SECONDS)  # what is under way may finish
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    threading.Thread(target=_follow_supervisor, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
