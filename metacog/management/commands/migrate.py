"""`manage.py migrate`: Django's, with the checks of databases and settings; an empty database in one step."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.checks import Tags
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder

from metacog.db.operations import InOneStep, Statements

PARTLY = ("app_label", "check_unapplied", "fake", "fake_initial", "plan", "prune")


class Command(migrate.Command):
    def check(self, *args: Any, **options: Any) -> None:
        # The rest imports every page, which takes half as long as making all tables; `manage.py check` runs it.
        super().check(*args, **options | {"tags": [Tags.database, Tags.files, Tags.security]})

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate; without Python's search for garbage among the models of each migration, a seventh of the time."""
        gc.disable()
        try:
            connection = connections[options["database"]]
            if not any(options[name] for name in PARTLY) and not connection.introspection.table_names():
                make(connection)
                if options["verbosity"]:
                    self.stdout.write("The database was empty: all tables are made in one step.")
            super().handle(*args, **options)
        finally:
            gc.enable()


def make(connection: Any) -> None:
    """Make an empty database as all migrations leave one, and record them: there is nothing yet to bring along.

    That is the tables of their last state and the `Statements` that belong to these. What changes rows is left out.
    """
    executor = MigrationExecutor(connection)
    plan = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    state = executor.loader.project_state()
    with connection.schema_editor(atomic=True) as editor:
        editor.create_model(MigrationRecorder.Migration)
        for model in state.apps.get_models():
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        for migration in plan:
            for operation in single(migration.operations):
                if isinstance(operation, Statements):
                    operation.database_forwards(migration.app_label, editor, state, state)
            for record in migration.replaces or [(migration.app_label, migration.name)]:
                executor.recorder.record_applied(*record)


def single(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Give the operations, those of a step one by one."""
    for operation in operations:
        if isinstance(operation, InOneStep):
            yield from single(operation.operations)
        else:
            yield operation
