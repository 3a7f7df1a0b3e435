"""An MCP client without a library, for what a good client does not do; and how the commands are started."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "src"
SERVERS = Path(__file__).parent / "servers"
SECONDS = 120.0
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {
        "roots": {"listChanged": True},
        "sampling": {},
        "elicitation": {},
        "experimental": {"x": {"y": None}},
    },
    "clientInfo": {"name": "driver", "version": "1"},
}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "metacog_client", *arguments]


def surroundings(environment: Mapping[str, str], state: Path) -> dict[str, str]:
    """Give what a command of this package starts with; what it keeps goes to `state`."""
    return {**environment, "PYTHONPATH": str(SOURCE), "XDG_STATE_HOME": str(state), "PYTHONDONTWRITEBYTECODE": "1"}


def answers(message: Any, said: Any) -> bool:
    """Tell whether a message is the answer to the request of this id."""
    return isinstance(message, dict) and message.get("id") == said and "method" not in message


class Driver:
    """A process that is spoken to in lines of JSON."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] | None = None, stderr: int | None = None
    ) -> None:
        around = dict(environment or os.environ)
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=around
        )
        self.came: queue.Queue[Any] = queue.Queue()
        self.others: list[Any] = []  # what came while something else was waited for
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            try:
                self.came.put(json.loads(line))
            except ValueError:
                self.came.put(line.decode(errors="replace"))
        self.came.put(None)

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request without waiting; return its id."""
        self._count += 1
        self.send(
            {"jsonrpc": "2.0", "id": self._count, "method": method, **({} if params is None else {"params": params})}
        )
        return self._count

    def answer_to(self, said: Any) -> Any:
        """Give the answer to a request, or wait for it; what else comes stands in `others`."""
        for at, message in enumerate(self.others):
            if answers(message, said):
                return self.others.pop(at)
        while not answers(message := self.next(), said):
            assert message is not None, "the process has ended"
            self.others.append(message)
        return message

    def next(self) -> Any:
        return self.came.get(timeout=SECONDS)

    def request(self, method: str, params: Any = None) -> Any:
        return self.answer_to(self.ask(method, params))

    def call(self, name: str, arguments: Any, **params: Any) -> Any:
        return self.request("tools/call", {"name": name, "arguments": arguments, **params})["result"]

    def initialize(self) -> Any:
        answer = self.request("initialize", INITIALIZE)
        self.notify("notifications/initialized")
        return answer

    def end(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.kill()
