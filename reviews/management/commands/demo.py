"""`manage.py demo`: what `up` does, while weeks of history are invented, with a small agent that goes on posting."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from metacog.accounts.keys import agent_with_key
from metacog.management.commands import up
from metacog.models import AuditEvent, Team, User
from metacog.runtime import catalogs
from metacog.runtime.supervisor import Child
from reviews.demo import fill, history
from reviews.demo.clock import turned_back
from reviews.demo.fill import KEY_FILE

MOST_DAYS = 365  # each may take a second
MADE_BY_STARTING = {"secret-key", "up.lock"}


class Command(up.Command):
    help = "Run `up` on a data folder of its own, with weeks of invented history and an agent that goes on posting."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--days", type=int, default=28, help="days of history to invent (%(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        self.days = options.pop("days")
        if not 1 <= self.days <= MOST_DAYS:
            up.refuse(f"{self.days} days cannot be invented; give 1 to {MOST_DAYS} with --days.")
        check_folder(settings.DATA_DIR)
        super().handle(*args, **options)

    def prepare(self) -> str:
        is_new = check_database()
        (settings.DATA_DIR / KEY_FILE).touch(0o600)
        up.migrate()
        catalogs.compile_all()  # what is learnt is described in the agents' languages
        if is_new:
            return begin(self.days)
        if fill.is_unfinished():
            up.say(f"Its history was cut off before its end; delete {settings.DATA_DIR} to begin again.")
            fill.end()
        return up.first_owner()

    def company(self) -> list[Child]:
        key_file = settings.DATA_DIR / KEY_FILE
        if fill.is_unfinished():
            worker = Child("The worker", "reviews.demo.worker", *up.WORKER, "--with-beat")
            return [worker, Child("The demo's agent", "reviews.demo.fill")]
        agent = agent_with_key(key_file.read_text())
        if agent is None:  # somebody ended its key, or made another database
            return super().company()
        cycle = str(history.next_cycle(agent))
        posting = Child("The demo's agent", "reviews.demo.agent", settings.PUBLIC_URL, str(key_file), cycle)
        return [*super().company(), posting]


def check_folder(folder: Path) -> None:
    """Refuse a data folder in which anything but a demo has left something."""
    try:
        found = set(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        up.refuse(f"The data folder {folder} cannot be read: {error.strerror}. Set METACOG_DATA_DIR.")
    if found - MADE_BY_STARTING and KEY_FILE not in found:
        up.refuse(f"The data folder {folder} holds something else than a demo; set METACOG_DATA_DIR to another one.")


def check_database() -> bool:
    """Say whether the database is new; refuse one that holds anything a demo did not put there."""
    tables = connection.introspection.table_names()
    if not tables:
        return True
    if AuditEvent._meta.db_table in tables:
        first = AuditEvent.objects.order_by("pk").values_list("action", flat=True).first()
        if first == history.BEGUN:
            return False
        if first is None and not Team.objects.exists() and not User.objects.exists():
            return True
    up.refuse("The database holds something else than a demo; nothing was changed. METACOG_DATABASE_URL names another.")


def begin(days: int) -> str:
    """Make the team of a history that begins so many days ago; return what to tell whoever started this."""
    now = timezone.now()
    with one_transaction(), turned_back(now - timedelta(days=days)):
        team = history.begin()
        greeting = up.first_owner()
        key = history.gather(team, User.objects.get(username="admin"))
        fill.begin(now, days)
        (settings.DATA_DIR / KEY_FILE).write_text(key)
    return greeting


@contextmanager
def one_transaction() -> Iterator[None]:
    """Make one transaction of the block, though what it calls owns transactions: those become savepoints."""
    transaction.set_autocommit(False)
    try:
        if connection.vendor == "sqlite":
            # Else the first savepoint would be the transaction, and its release the commit.
            connection.cursor().execute("BEGIN IMMEDIATE")
        yield
        transaction.commit()
    except BaseException:
        transaction.rollback()
        raise
    finally:
        transaction.set_autocommit(True)
