"""A database that a release left behind is upgraded by one command, and its agents and people go on with it.

What comes of the last release's has the tables of an empty database, which `migrate` makes in one step.
"""

from __future__ import annotations

import lzma
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from tests.commands import test_up
from tests.upgrade.stored import RELEASES, SECRET_KEY

database_url = test_up.database_url
STORED = sorted(folder.name for folder in RELEASES.iterdir())
POSTGRESQL = (
    "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity"
    " FROM information_schema.columns WHERE table_schema = 'public'",
    "SELECT indexname, regexp_replace(indexdef, ' WHERE .*', '') FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
)


@pytest.mark.starts
@pytest.mark.parametrize("release", STORED)
def test_agents_and_people_go_on_with_what_a_release_left(release: str, tmp_path: Path, database_url: str) -> None:
    kind = "postgresql" if database_url else "sqlite3"
    data = lzma.decompress((RELEASES / release / f"{kind}.xz").read_bytes())
    if database_url:
        with psycopg.connect(database_url, autocommit=True) as server:
            server.execute(data)
    else:
        (tmp_path / "metacog.sqlite3").write_bytes(data)
    (tmp_path / "static").mkdir()  # whitenoise looks for it
    given = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    given |= {"METACOG_DATA_DIR": str(tmp_path), "METACOG_DATABASE_URL": database_url, "METACOG_DOTENV": ""}
    given |= {"METACOG_SECRET_KEY": SECRET_KEY, "METACOG_UNDO_SECONDS": "0"}
    facts = RELEASES / release / f"{kind}.json"
    for command in (["manage.py", "migrate"], ["tests/upgrade/walk.py", str(facts)], ["manage.py", "audit", "verify"]):
        done = subprocess.run(
            [sys.executable, *command], cwd=settings.BASE_DIR, env=given, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    if release == STORED[-1]:
        upgraded = psycopg.connect(database_url) if database_url else sqlite3.connect(tmp_path / "metacog.sqlite3")
        with closing(upgraded), connection.cursor() as made_in_one_step:
            assert schema(upgraded) == schema(made_in_one_step)


def schema(database: Any) -> set[tuple[Any, ...]]:
    """Return what a database is made of, in any order: a new column stands last where it was added."""
    if connection.vendor == "sqlite":
        made = database.execute("SELECT name, sql FROM sqlite_master WHERE sql <> ''").fetchall()
        made = [(name, sql.replace('" = 1', '"')) for name, sql in made]  # so Django 6 writes the condition of an index
        return {(name, *sorted(re.split(r'[(,] *(?="|CONSTRAINT )|\)$', sql))) for name, sql in made}
    return {row for query in POSTGRESQL for row in database.execute(query).fetchall()}
