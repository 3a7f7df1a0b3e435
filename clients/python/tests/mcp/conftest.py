"""metacog between an MCP client and a server, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

sys.path.insert(0, str(Path(__file__).parent))

from driver import SECONDS, SERVERS, Driver, command, surroundings


def wait_for(port: int) -> None:
    """Wait until somebody listens."""
    end = time.monotonic() + SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert time.monotonic() < end, "nobody listens"
        time.sleep(0.05)  # between two tries


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Setting:
    """Where one test's processes keep what they know, and what they are started with."""

    folder: Path
    environment: dict[str, str]
    run: str
    drivers: list[Driver] = field(default_factory=list)

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """What the bank did."""
        file = self.folder / "ledger"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def received(self) -> list[Any]:
        """What the echo server was sent."""
        return [json.loads(line) for line in (self.folder / "received").read_bytes().splitlines()]

    @property
    def bank(self) -> list[str]:
        return [sys.executable, "-W", "ignore", str(SERVERS / "bank.py"), str(self.folder / "ledger")]

    @property
    def echo(self) -> list[str]:
        return [sys.executable, str(SERVERS / "echo.py"), str(self.folder / "received")]

    def proxied(self, server: list[str], *options: str) -> list[str]:
        behind = server if server[0].startswith("http") else ["--", *server]
        return command("mcp-proxy", "--name", "bank", "--session", self.run, "--wait", "60", *options, *behind)

    def served(self) -> str:
        """Start the bank on a port of its own; return its address."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        self.drive([*self.bank, str(port)])
        wait_for(port)
        return f"http://127.0.0.1:{port}/mcp"

    def drive(self, arguments: list[str], **environment: str) -> Driver:
        driver = Driver(arguments, self.environment | environment)
        self.drivers.append(driver)
        return driver

    @asynccontextmanager
    async def client(self, arguments: list[str], **more: Any) -> AsyncIterator[Client]:
        """Connect the SDK's client to a command; `mode` is auto, legacy or a version."""
        server = StdioServerParameters(command=arguments[0], args=arguments[1:], env=self.environment)
        async with Client(server, **more) as client:
            yield client


@pytest.fixture
def setting(metacog: Any, tmp_path: Path, run: str) -> Iterator[Setting]:
    found = Setting(tmp_path, surroundings(metacog.environment, tmp_path / "state"), run)
    yield found
    for driver in found.drivers:
        driver.__exit__()
