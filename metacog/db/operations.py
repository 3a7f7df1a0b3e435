"""Steps of migrations that Django lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class InOneStep(Operation):
    """Do several operations in one step: after each by itself Django would make every related model's class anew.

    What makes a table anew on SQLite makes it as it was before the step: an altered column stands before it, and what
    only does so when it is taken back, a foreign key, last in it.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)  # the classes: made when they are asked for, which is once now
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, *where: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(*where)

    def database_backwards(self, *where: Any) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(*where)

    def describe(self) -> str:
        return "; ".join(operation.describe() for operation in self.operations)


class Statements(Operation):
    """Run the SQL of each database, by its vendor's name; `sqlmigrate` shows it.

    For what belongs to tables and no model says: triggers, indexes. `migrate` runs it on an empty database, too, after
    the tables of all migrations. What changes rows that were there is `RunSQL`, which it leaves out.
    """

    def __init__(self, forwards: Mapping[str, Sequence[str]], backwards: Mapping[str, Sequence[str]]) -> None:
        self.forwards, self.backwards = forwards, backwards

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Leave the models as they are."""

    def database_forwards(self, app_label: str, editor: Any, *states: ProjectState) -> None:
        for statement in self.forwards.get(editor.connection.vendor, ()):
            editor.execute(statement, params=None)

    def database_backwards(self, app_label: str, editor: Any, *states: ProjectState) -> None:
        for statement in self.backwards.get(editor.connection.vendor, ()):
            editor.execute(statement, params=None)

    def describe(self) -> str:
        return "Run statements of the database"
