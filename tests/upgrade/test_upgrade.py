"""A database that a release left behind is upgraded by one command, and its agents and people go on with it."""

from __future__ import annotations

import lzma
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from tests.commands import test_up
from tests.upgrade.stored import RELEASES, SECRET_KEY

database_url = test_up.database_url


@pytest.mark.starts
@pytest.mark.parametrize("release", sorted(folder.name for folder in RELEASES.iterdir()))
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
