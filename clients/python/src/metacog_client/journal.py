"""What was asked and not yet made use of, kept in a file, so that a call that is made again is the same call.

A client that waited too long asks again, and one that was killed is started again and asks again: under the id of
before they find the item that is held, and its decision. What was decided is taken out before it is acted upon, once:
of two that wait for the same decision one acts. The file holds digests and ids, no arguments.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sqlite3
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path

KEPT_SECONDS = 7 * 86_400.0  # as long as metacog keeps an approval that was not used
BUSY_SECONDS = 10.0
TABLES = (
    "CREATE TABLE IF NOT EXISTS open (key TEXT PRIMARY KEY, call_id TEXT NOT NULL, at REAL NOT NULL, held TEXT)",
    "CREATE TABLE IF NOT EXISTS pinned (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)


def usual_path(name: str) -> Path:
    """Give a file in the user's own folder for what programs keep."""
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        folder = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(folder) / "metacog" / f"{name}.sqlite3"


def usual_session(name: str, *what: str) -> str:
    """Name the session that is the same each time this is started for the same on this machine, in this folder."""
    return f"{name}-{key_of(socket.gethostname(), os.getcwd(), *what)[:16]}"


def key_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


class Journal:
    """Open calls by key. Without a path, or where the file cannot be written, they are forgotten with the process."""

    def __init__(self, path: Path | None) -> None:
        self.fault = ""
        self._file = ":memory:"
        if path is not None:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.touch(mode=0o600)
                self._connect(str(path)).close()
                self._file = str(path)
            except (OSError, sqlite3.Error) as error:
                self.fault = f"{path}: {error}"
        # One connection keeps what is in memory; a file is opened anew each time, and so found again if it was deleted.
        self._memory = self._connect(":memory:") if self._file == ":memory:" else None

    def open(self, key: str) -> str:
        """Give the id under which this call was asked and is not settled, or else a new one."""
        now = time.time()
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("DELETE FROM open WHERE at < ?", (now - KEPT_SECONDS,))
            rows.execute(
                "INSERT OR IGNORE INTO open (key, call_id, at) VALUES (?, ?, ?)", (key, str(uuid.uuid4()), now)
            )
            found: tuple[str] = rows.execute("SELECT call_id FROM open WHERE key = ?", (key,)).fetchone()
        return found[0]

    def settle(self, key: str, call_id: str) -> bool:
        """Take a call out; False where somebody else has done so."""
        with closing(_Use(self)) as use, use.rows as rows:
            done = rows.execute("DELETE FROM open WHERE key = ? AND call_id = ?", (key, call_id))
        return done.rowcount == 1

    def note(self, key: str, held: str) -> None:
        """Write down which item a call is held as, for `settle_held`."""
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("UPDATE open SET held = ? WHERE key = ?", (held, key))

    def keep(self, key: str, held: str) -> None:
        """Write down that a call is let through by the approval of this item, for whoever hears what became of it."""
        now = time.time()
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("DELETE FROM open WHERE at < ?", (now - KEPT_SECONDS,))
            rows.execute(
                "INSERT OR REPLACE INTO open (key, call_id, at, held) VALUES (?, ?, ?, ?)", (key, "", now, held)
            )

    def held(self, key: str) -> str | None:
        """Give the item that a call is held as, if it is here."""
        with closing(_Use(self)) as use, use.rows as rows:
            found: tuple[str | None] | None = rows.execute("SELECT held FROM open WHERE key = ?", (key,)).fetchone()
        return found and found[0]

    def settle_held(self, held: str) -> None:
        """Take out what is held as this item, if it is here."""
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("DELETE FROM open WHERE held = ?", (held,))

    def pinned(self, key: str, value: str) -> str:
        """Give what is kept for good under this key; `value`, from now on, where that is nothing."""
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("INSERT OR IGNORE INTO pinned (key, value) VALUES (?, ?)", (key, value))
            found: tuple[str] = rows.execute("SELECT value FROM pinned WHERE key = ?", (key,)).fetchone()
        return found[0]

    def pin(self, key: str, value: str) -> None:
        """Keep a value for good in place of what was kept."""
        with closing(_Use(self)) as use, use.rows as rows:
            rows.execute("INSERT OR REPLACE INTO pinned (key, value) VALUES (?, ?)", (key, value))

    def _connect(self, file: str) -> sqlite3.Connection:
        rows = sqlite3.connect(file, timeout=BUSY_SECONDS)
        with rows:
            for table in TABLES:
                rows.execute(table)
        return rows


class _Use:
    def __init__(self, journal: Journal) -> None:
        self._kept = journal._memory
        self.rows = self._kept or journal._connect(journal._file)

    def close(self) -> None:
        if self._kept is None:
            self.rows.close()
