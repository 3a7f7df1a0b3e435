"""Several processes as one: what dies is started again, and when the supervisor goes, all go.

Each child leads a process group of its own, so that Ctrl-C in a terminal reaches only the supervisor,
and so that what a killed child leaves behind (a web worker holding the port) can be cleared away.

A child learns that its supervisor is gone, however it went, by the end of its standard input: the
other end of that pipe is open in the supervisor only. `python -m metacog.runtime.supervisor MODULE …` runs a
module with that watch. It works wherever pipes do; PR_SET_PDEATHSIG is only Linux's.

Nothing of Django is imported here: the supervisor itself takes 10 MB.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn

STOP_SECONDS = 8.0  # what the children have to finish their work in; then they are killed
ORPHAN_SECONDS = 3.0  # the same after the supervisor was killed: somebody may be starting it again
# One wish to stop may come twice (`make` passes on what the terminal or systemd sends to all): only a
# Ctrl-C that comes later than this means that somebody lost patience.
SAME_SECONDS = 0.5
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0  # seconds before a restart; doubled each time
PLAN = "--plan"  # in place of a module: what follows are the children
SETTLED_SECONDS = 60.0  # who ran this long starts again with the first delay


class Child:
    """One supervised process."""

    def __init__(self, name: str, module: str, *arguments: str, fds: Sequence[int] = ()) -> None:
        """Take the module and its arguments, and the open files that it is given under their numbers."""
        self.name, self.fds = name, fds
        self.command = [sys.executable, "-m", "metacog.runtime.supervisor", module, *arguments]
        self.process: subprocess.Popen[bytes] | None = None
        self.due_at = 0.0  # on the monotonic clock, while there is no process
        self._started_at = 0.0
        self._delay = FIRST_DELAY

    def start(self, environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            self.command, env=environment, stdin=subprocess.PIPE, process_group=0, pass_fds=self.fds
        )
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


def supervise(plan: Mapping[str, Any]) -> None:
    """Run the children of a plan: see `become`."""
    children = [Child(*name_and_command, fds=fds) for *name_and_command, fds in plan["children"]]
    address = (plan["host"], plan["port"])
    Supervisor(children, os.environ, _say).run(
        is_ready=lambda: _answers(*address), on_ready=lambda: _say(plan["greeting"])
    )


def become(children: Sequence[Child], environment: Mapping[str, str], host: str, port: int, greeting: str) -> NoReturn:
    """Go on as the supervisor of these children, in a process that has nothing else in its memory.

    `greeting` is printed once the web server at that address answers. The files of the children must be inheritable.
    """
    commands = [[child.name, *child.command[3:], child.fds] for child in children]
    plan = {"children": commands, "host": host, "port": port, "greeting": greeting}
    command = [sys.executable, "-m", "metacog.runtime.supervisor", PLAN, json.dumps(plan)]
    os.execve(sys.executable, command, dict(environment))


def _say(line: str) -> None:
    print(line, flush=True)


def _answers(host: str, port: int) -> bool:
    """Say whether the web server gives any answer at all."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    try:
        with socket.create_connection((reachable, port), timeout=5) as connection:
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: {reachable}\r\nConnection: close\r\n\r\n".encode())
            return connection.recv(16)[9:10] in (b"2", b"3", b"4")
    except OSError:
        return False


def main() -> None:
    del sys.argv[0]
    if sys.argv[0] == PLAN:
        return supervise(json.loads(sys.argv[1]))
    threading.Thread(target=_follow_supervisor, daemon=True).start()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
