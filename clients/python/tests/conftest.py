"""A real metacog for the tests of adapters, hooks and the MCP server: one process for the whole run."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

CLIENTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLIENTS / "python" / "src"))

SECONDS = 120.0  # for what happens in another process, on a busy machine
PATIENT = httpx2.HTTPTransport(retries=3)


def python_of_metacog() -> str:
    return os.environ.get("METACOG_TEST_PYTHON") or str(CLIENTS.parent / ".venv" / "bin" / "python")


class Metacog:
    """The server, and the person who decides.

    `url`, `agent`, `api_key`, `signing_secret`, `token`, `callback_url` and `data_dir` are what `server.py` prints.
    """

    def __init__(self) -> None:
        # Its standard input is its life: however this process ends, it ends and clears up.
        self.process = subprocess.Popen(
            [python_of_metacog(), str(CLIENTS / "testing" / "server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = self._line()
        self.url: str = told["url"]
        self.agent: str = told["agent"]
        self.api_key: str = told["api_key"]
        self.signing_secret: str = told["signing_secret"]
        self.token: str = told["token"]
        self.callback_url: str = told["callback_url"]
        self.data_dir: str = told["data_dir"]
        self._person = httpx2.Client(
            base_url=f"{self.url}/api/v1/review",
            headers={"authorization": f"Bearer {self.token}"},
            timeout=SECONDS,
            transport=PATIENT,
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a client in another process reads."""
        return {**os.environ, "METACOG_URL": self.url, "METACOG_API_KEY": self.api_key}

    def pending(self, session: str | None = None) -> list[dict[str, Any]]:
        """Return the held items that nobody has decided, those of one session if it is given; the oldest first."""
        query = {"agent": self.agent, "order": "age"} | ({"session": session} if session else {})
        found: list[dict[str, Any]] = self._asked("GET", "/queue", params=query).json()["items"]
        return found

    def next_pending(self, session: str | None = None) -> dict[str, Any]:
        """Wait until something is held, and return it whole."""
        found = self.until(lambda: self.pending(session), "nothing is held")
        return self.item(found[0]["id"])

    def item(self, held: str) -> dict[str, Any]:
        found: dict[str, Any] = self._asked("GET", f"/held/{held}").json()
        return found

    def outcome(self, session: str) -> dict[str, Any]:
        """Wait until it is reported what became of the one call of a session, which was decided; return that."""
        query = {"agent": self.agent, "state": "decided", "session": session}

        def reported() -> Any:
            return [each["outcome"] for each in self._asked("GET", "/queue", params=query).json()["items"]]

        found: dict[str, Any] = self.until(lambda: [each for each in reported() if each], "nothing is reported")[0]
        return found

    def decide(
        self,
        held: str,
        verdict: str,
        *,
        text: str | None = None,
        arguments: Any = None,
        reason: str | None = None,
        answer: Any = None,
    ) -> dict[str, Any]:
        """Decide as the person; it is released at once. `verdict` is approve, edit, answer or reject."""
        body: dict[str, Any] = {"verdict": verdict}
        if reason is None and verdict == "reject":
            reason = "Not without a receipt."
        if reason is not None:
            body["reason"] = reason
        if verdict == "answer":
            body["answer"] = answer
        if text is not None:
            body["text"] = text
        if arguments is not None:
            body |= {"arguments": arguments, "accept_risk": True}
        found: dict[str, Any] = self._asked("POST", f"/held/{held}/decision", json=body).json()
        return found

    def refusal(self, held: str, arguments: Any) -> str:
        """Try to edit a call into what its tool cannot take; return what the console says of it."""
        body = {"verdict": "edit", "arguments": arguments, "accept_risk": True}
        answer = self._answer("POST", f"/held/{held}/decision", json=body)
        assert answer.status_code == 422, answer.text
        return answer.text

    def given(self, session: str) -> list[str]:
        """Return what went along with each post of a session as what its tools gave, the oldest first."""
        found: list[str] = self._order(f"given {session}")
        return found

    def trial(self, *logs: Path) -> dict[str, Any]:
        """Return what `import-log` says of these logs."""
        printed = subprocess.run(
            [python_of_metacog(), str(CLIENTS.parent / "manage.py"), "import-log", "--json", *map(str, logs)],
            env=os.environ | {"METACOG_DATA_DIR": self.data_dir},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert printed.returncode == 0, printed.stderr
        told: dict[str, Any] = json.loads(printed.stdout)
        return told

    def decide_next(self, verdict: str, session: str | None = None, **more: Any) -> threading.Thread:
        """Decide, in a thread, whatever is held next."""
        thread = threading.Thread(target=lambda: self.decide(self.next_pending(session)["id"], verdict, **more))
        thread.start()
        return thread

    def stop(self) -> None:
        """Take the server away."""
        self._order("stop")

    def start(self) -> None:
        """Give it back, on the same port and with the same data."""
        self._order("start")

    @contextmanager
    def down(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            self.start()

    def policy(self, **fields: Any) -> None:
        """Change fields of the agent's policy, such as `default_tool_call="allow"` or `rules=[…]`."""
        self._order(f"policy {json.dumps(fields)}")

    @contextmanager
    def limit(self, rate: int, burst: int = 1) -> Iterator[None]:
        """Let the agent post only so many times a second, at most `burst` at once; the next gets 429."""
        self._order(f"limit {rate} {burst}")
        try:
            yield
        finally:
            self._order("limit 1000 1000")

    @contextmanager
    def webhooks(self) -> Iterator[queue.Queue[tuple[dict[str, str], bytes]]]:
        """Receive the agent's webhooks here: headers and body of each, for `verify_webhook`."""
        came: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                came.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", urlsplit(self.callback_url).port or 0), Receiver)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.callback(self.callback_url)
        try:
            yield came
        finally:
            self.callback("")
            server.shutdown()
            server.server_close()
            thread.join()

    def callback(self, url: str) -> None:
        """Send the agent's webhooks to an address: `callback_url` or one below it; "" is nowhere."""
        self._order(f"callback {url}")

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + SECONDS
        while not (found := condition()):
            assert time.monotonic() < end, what
            time.sleep(0.05)  # between two looks
        return found

    def end(self) -> None:
        self._person.close()
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(SECONDS)

    def _asked(self, method: str, path: str, **more: Any) -> httpx2.Response:
        answer = self._answer(method, path, **more)
        assert answer.is_success, answer.text
        return answer

    def _answer(self, method: str, path: str, **more: Any) -> httpx2.Response:
        answer = self._person.request(method, path, **more)
        while answer.status_code == 429:
            time.sleep(0.1)  # people may ask so often and no more
            answer = self._person.request(method, path, **more)
        return answer

    def _order(self, line: str) -> Any:
        assert self.process.stdin
        self.process.stdin.write(line.rstrip() + "\n")
        self.process.stdin.flush()
        told = self._line()
        assert told["ok"], told["error"]
        return told["found"]

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the test server ended; what it said stands above"
        found: dict[str, Any] = json.loads(line)
        return found


@pytest.fixture(scope="session")
def metacog() -> Iterator[Metacog]:
    server = Metacog()
    server.policy(rate_per_second=1000, rate_burst=1000)
    yield server
    server.end()


@pytest.fixture
def run() -> str:
    """Name a run of an agent that no other test has: what is held of it is in its own session."""
    return f"run-{uuid.uuid4()}"


@pytest.fixture(autouse=True)
def _where(metacog: Metacog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have clients in this process find the server by the environment, as those in others do."""
    monkeypatch.setenv("METACOG_URL", metacog.url)
    monkeypatch.setenv("METACOG_API_KEY", metacog.api_key)
