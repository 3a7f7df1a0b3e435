"""One `manage.py up`, seen from outside: its processes, its calls, its rows."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
import psycopg

from tests.faults.servers import free_port, until

ROOT = Path(__file__).resolve().parent.parent.parent
PASSWORD = "a password for the faults"
KEY = "the-same-secret-key-on-every-machine-of-one-installation"


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 when nothing did."""

    status: int
    headers: Any = None
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    """A running installation. With `METACOG_*` settings in lower case as keywords."""

    def __init__(self, folder: Path, database_url: str = "", broker_url: str = "", **settings: str) -> None:
        self.folder, self.database_url = folder, database_url
        self.port = free_port()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
        self.environment = kept | {
            "METACOG_DATA_DIR": str(folder),
            "METACOG_DOTENV": "",
            "METACOG_DATABASE_URL": database_url,
            "METACOG_BROKER_URL": broker_url,
            "METACOG_ADMIN_PASSWORD": PASSWORD,
            "METACOG_SECRET_KEY": KEY,
            **{f"METACOG_{name.upper()}": value for name, value in settings.items()},
        }
        log = folder.parent / f"{folder.name}.log"
        with log.open("w") as output:
            self.up = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(self.port)],
                env=self.environment, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT,
            )  # fmt: skip
        try:
            until(lambda: self.get("/healthz").status == 200 or self.up.poll() is not None, 180, "it starts")
            assert self.up.poll() is None, "it ended at once"
        except AssertionError:
            self.close()
            raise

    def close(self) -> None:
        self.up.send_signal(signal.SIGTERM)
        try:
            self.up.wait(20)
        except subprocess.TimeoutExpired:
            self.up.kill()  # its processes notice and end

    def processes(self, word: str) -> list[psutil.Process]:
        """Return the processes of ours with this word among their arguments: metacog.web, worker, beat."""
        found = []
        for process in psutil.Process(self.up.pid).children(recursive=True):
            try:
                if word in process.cmdline():
                    found.append(process)
            except psutil.NoSuchProcess:
                continue
        return found

    def kill(self, word: str) -> int:
        """Kill -9 all of these processes; return how many."""
        processes = self.processes(word)
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        return len(processes)

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment, cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self, query: str) -> list[Any]:
        if self.database_url:
            with psycopg.connect(self.database_url, autocommit=True) as database:
                return list(database.execute(query))
        with closing(sqlite3.connect(self.folder / "metacog.sqlite3", timeout=20)) as file:
            return list(file.execute(query))

    def one(self, query: str) -> Any:
        return self.rows(query)[0][0]

    # -- calls -------------------------------------------------------------------------------------

    def request(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException):
            return Answer(0)
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.request("GET", path, None, {})

    def call(self, key: str, method: str, path: str, body: Any = None) -> Answer:
        """Call the API as an agent."""
        raw = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        return self.request(method, f"/api/v1{path}", raw, headers)

    def sign_in(self) -> dict[str, str]:
        """Return the cookies of the first owner, signed in."""
        page = self.get("/sign-in/")
        cookies = _cookies(page)
        form = {"username": "admin", "password": PASSWORD}
        done = self.submit(cookies, "/sign-in/", form)
        assert done.status == 302, done
        return cookies | _cookies(done)

    def submit(self, cookies: dict[str, str], path: str, form: dict[str, str]) -> Answer:
        """Send a form of the console as a person."""
        body = urlencode(form | {"csrfmiddlewaretoken": cookies["csrftoken"]}).encode()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
        }
        return self.request("POST", path, body, headers)

    def create_agent(self, callback_url: str = "") -> dict[str, str]:
        """Make an agent whose `the cause is` is a known error, so that what says so clearly is held."""
        made: dict[str, str] = json.loads(
            self.manage("agent", "create", "kuro", "--team", "Faults", "--callback-url", callback_url, "--json")
        )
        pattern = {"id": "ep-cause", "keywords": ["the cause is"], "description": "cause named before measured",
                   "source": "external", "createdAt": "2026-02-16T08:00:00Z", "triggerCount": 0}  # fmt: skip
        (self.folder / "patterns.json").write_text(json.dumps([pattern]))
        self.manage("patterns", "import", str(self.folder / "patterns.json"), "--team", "Faults")
        return made


def _cookies(answer: Answer) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=([^;]*)", "\n".join(answer.headers.get_all("Set-Cookie", [])), re.M))


@contextmanager
def running(folder: Path, database_url: str = "", broker_url: str = "", **settings: str) -> Iterator[Site]:
    folder.mkdir()
    site = Site(folder, database_url, broker_url, **settings)
    try:
        yield site
    finally:
        site.close()
