"""System checks: what would make this installation fail later, said at start in plain sentences."""

import os
import sqlite3
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from metacog import egress

OLDEST_SQLITE = (3, 38, 0)  # STRICT tables, RETURNING, and JSON functions that are always built in
OLDEST_POSTGRESQL = 14
LAST_WITH_ALL_MIGRATIONS = "release 0.1.0 (commit a6d25836)"


@register(Tags.security)
def environment(**kwargs: Any) -> list[CheckMessage]:
    """Report what settings.py found wrong in the environment, and what it doubts."""
    return [
        *(Error(problem, hint=hint, id="metacog.E001") for problem, hint in settings.CONFIG_PROBLEMS),
        *(Warning(doubt, hint=hint, id="metacog.W007") for doubt, hint in settings.CONFIG_DOUBTS),
    ]


@register(Tags.files)
def data_folder(**kwargs: Any) -> list[CheckMessage]:
    """Demand a data folder that this user can write, and warn when others can read what is in it."""
    folder = settings.DATA_DIR
    if not folder.exists():
        return []  # `up` makes it
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [
            Error(
                f"The data folder {folder} is not a folder this user can write.",
                hint="Set METACOG_DATA_DIR to one that is.",
                id="metacog.E002",
            )
        ]
    if folder.stat().st_mode & 0o077 and any(entry.stat().st_mode & 0o077 for entry in folder.glob("*")):
        return [
            Warning(
                f"Other users of this machine can read what lies in the data folder {folder}.",
                hint=f"It holds keys and texts: chmod -R go= {folder}",
                id="metacog.W003",
            )
        ]
    return []


@register(Tags.security)
def chairman_address(**kwargs: Any) -> list[CheckMessage]:
    """Demand that the chairman's model is public or allowed, as it could not be asked otherwise."""
    if not (barred := egress.barred(settings.CHAIRMAN_URL)):
        return []
    return [
        Error(
            f"METACOG_CHAIRMAN_URL leads to {barred}, which is not a public address.",
            hint=f"Allow it with METACOG_CALLBACK_ALLOW={barred}, or set another.",
            id="metacog.E008",
        )
    ]


@register(Tags.database)
def database_versions(databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse database versions on which the queries or the append-only triggers do not work."""
    messages: list[CheckMessage] = []
    oldest = ".".join(map(str, OLDEST_SQLITE))
    for alias in databases or []:
        connection = connections[alias]
        if connection.vendor == "sqlite" and sqlite3.sqlite_version_info < OLDEST_SQLITE:
            messages.append(
                Error(
                    f"This Python brings SQLite {sqlite3.sqlite_version}, which is too old.",
                    hint=f"Use PostgreSQL, or a Python with SQLite {oldest} or later.",
                    id="metacog.E004",
                )
            )
        if connection.vendor == "postgresql":
            connection.ensure_connection()
            version = connection.connection.info.server_version // 10_000
            if version < OLDEST_POSTGRESQL:
                messages.append(
                    Error(
                        f"The database server is PostgreSQL {version}, which is too old.",
                        hint=f"Use PostgreSQL {OLDEST_POSTGRESQL} or later.",
                        id="metacog.E005",
                    )
                )
    return messages


@register(Tags.database)
def half_way(databases: Any = None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse a database amid the migrations that one has replaced: the rest of them is not here any more."""
    messages: list[CheckMessage] = []
    for alias in databases or []:
        loader = MigrationLoader(connections[alias], load=False)  # which would fail, or find nothing to do
        loader.load_disk()
        here, applied = loader.disk_migrations, MigrationRecorder(connections[alias]).applied_migrations()
        last = [
            " ".join(done[-1])
            for migration in here.values()
            if (done := [each for each in migration.replaces if each in applied])
            and any(each not in applied and each not in here for each in migration.replaces)
        ]
        if last:
            messages.append(
                Error(
                    f"The database was prepared by an older release, up to {', '.join(sorted(last))}.",
                    hint=f"Start {LAST_WITH_ALL_MIGRATIONS} on it once, then this one.",
                    id="metacog.E006",
                )
            )
    return messages
