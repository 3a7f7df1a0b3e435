"""`manage.py backup`: copy the SQLite database while metacog runs, and check that the copy is whole."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from metacog.runtime.file_errors import cannot_be, database_remedy


class Command(BaseCommand):
    help = "Copy the SQLite database to FILE while metacog runs, and check that the copy is whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a new file; it is made readable for you only")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("This copies SQLite only. PostgreSQL has pg_dump; docs/operations.md shows how.")
        if file.exists():
            raise CommandError(f"{file} is there already, and was left as it is. Name a new file.")
        database = Path(connection.settings_dict["NAME"])
        try:
            size = copy(database, file)
        except OSError as error:
            raise CommandError(cannot_be("written", file, error)) from None
        except sqlite3.Error as error:
            told = f"{database} cannot be copied to {file}: {error}. {database_remedy(str(error))}"
            raise CommandError(told.rstrip()) from None
        self.stdout.write(
            f"{file} is a whole copy of the database, {size:,} bytes. "
            "Keep the secret key too: METACOG_SECRET_KEY, or the file secret-key in the data folder."
        )


def copy(database: Path, file: Path) -> int:
    """Copy a database that others may be writing; return the copy's size in bytes.

    The name `file` appears with the last byte: what was interrupted never looks like a back-up.
    """
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # with mode 0600
    try:
        # rw, since `sqlite3.connect` would make a database that is not there, and copy nothing.
        with (
            closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=rw", uri=True)) as source,
            closing(sqlite3.connect(draft)) as made,
        ):
            source.backup(made)
            made.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
            (found,) = made.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
        os.fsync(handle)
        os.rename(draft, file)
        return file.stat().st_size
    finally:
        os.close(handle)
        for left in (draft, f"{draft}-journal"):  # SQLite's own, where the disk was full
            Path(left).unlink(missing_ok=True)
