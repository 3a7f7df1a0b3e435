"""`manage.py backup`: a whole copy of a database that is being written, or a sentence and nothing."""

from __future__ import annotations

import errno
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection


def run(file: Path) -> str:
    out = StringIO()
    call_command("backup", str(file), stdout=out)
    return out.getvalue()


def rows(file: Path) -> list[int]:
    with closing(sqlite3.connect(file)) as database:
        return [row[0] for row in database.execute("SELECT id FROM things ORDER BY id")]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """A database that holds things 1 to 3, as the one who writes it sees it."""
    file = tmp_path / "metacog.sqlite3"
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setitem(connection.settings_dict, "NAME", file)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, body BLOB)")
        database.execute("INSERT INTO things VALUES (1, NULL), (2, NULL), (3, NULL)")
        yield database


def test_it_copies_what_is_committed_while_somebody_writes(written: sqlite3.Connection, tmp_path: Path) -> None:
    written.execute("BEGIN IMMEDIATE")
    written.execute("INSERT INTO things VALUES (4, NULL)")
    out = run(tmp_path / "copy.sqlite3")
    written.execute("COMMIT")
    assert rows(tmp_path / "copy.sqlite3") == [1, 2, 3]
    assert "is a whole copy" in out
    assert "secret-key" in out


def test_the_copy_is_one_private_file(written: sqlite3.Connection, tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    run(folder / "copy.sqlite3")
    assert [file.name for file in folder.iterdir()] == ["copy.sqlite3"]
    assert stat.S_IMODE((folder / "copy.sqlite3").stat().st_mode) == 0o600


def test_it_leaves_a_file_that_is_there_as_it_is(written: sqlite3.Connection, tmp_path: Path) -> None:
    file = tmp_path / "copy.sqlite3"
    file.write_text("last night's")
    with pytest.raises(CommandError, match="is there already"):
        run(file)
    assert file.read_text() == "last night's"


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setitem(connection.settings_dict, "NAME", tmp_path / "elsewhere.sqlite3")
    with pytest.raises(CommandError, match=r"elsewhere\.sqlite3 cannot be copied .*: unable to open.* let this user"):
        run(tmp_path / "copy.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setitem(connection.settings_dict, "NAME", tmp_path / "notes.txt")
    (tmp_path / "notes.txt").write_text("no database " * 1000)
    with pytest.raises(CommandError, match=r"notes\.txt cannot be copied .*: file is not a database\. Set METACOG_"):
        run(tmp_path / "copy.sqlite3")


def test_a_damaged_database_gives_no_copy(written: sqlite3.Connection, tmp_path: Path) -> None:
    written.execute("UPDATE things SET body = zeroblob(100000)")
    written.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (tmp_path / "metacog.sqlite3").open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(CommandError, match=r"metacog\.sqlite3 cannot be copied"):
        run(tmp_path / "copy.sqlite3")
    assert not list(tmp_path.glob("*copy*"))


def test_a_folder_that_is_not_there_is_named(written: sqlite3.Connection, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere/copy\.sqlite3 cannot be written: No such file.*its folder"):
        run(tmp_path / "nowhere" / "copy.sqlite3")


def test_a_folder_in_which_this_user_may_not_write_is_named(
    written: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", ".copy.sqlite3-draft")

    monkeypatch.setattr(tempfile, "mkstemp", forbidden)
    file = tmp_path / "copy.sqlite3"
    said = f"^{file} cannot be written: Permission denied. Let this user read and write it, or name another.$"
    with pytest.raises(CommandError, match=said):
        run(file)


def test_postgresql_is_left_to_pg_dump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connection, "vendor", "postgresql")
    with pytest.raises(CommandError, match="pg_dump"):
        run(tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []
