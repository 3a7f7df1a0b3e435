"""Steps of migrations that Django lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Do several CreateModel in one step: after each by itself Django would make every related model's class anew."""

    def __init__(self, models: Sequence[CreateModel]) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)  # the classes: made when they are asked for, which is once now
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, *where: Any) -> None:
        for model in self.models:
            model.database_forwards(*where)

    def database_backwards(self, *where: Any) -> None:
        for model in reversed(self.models):
            model.database_backwards(*where)

    def describe(self) -> str:
        return f"Create models {', '.join(model.name for model in self.models)}"


class Statements(Operation):
    """Run the SQL of each database, by its vendor's name; `sqlmigrate` shows it."""

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
