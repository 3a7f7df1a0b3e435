"""A post pays for each index of the tables it writes."""

from __future__ import annotations

import pytest
from django.db import connection, models

from metacog.models import AuditEvent
from reviews.models import AgentResponse, Delivery, HeldItem, Signal


@pytest.mark.django_db
@pytest.mark.parametrize("model", [AgentResponse, Signal, HeldItem, Delivery, AuditEvent])
def test_no_index_is_the_beginning_of_another(model: type[models.Model]) -> None:
    partial = {index.name for index in model._meta.indexes if index.condition}
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, model._meta.db_table)
    columns = {
        name: each["columns"]
        for name, each in found.items()
        if (each["index"] or each["unique"]) and name not in partial and not name.endswith("_like")  # of PostgreSQL
    }
    needless = {
        name
        for name, own in columns.items()
        if any(other[: len(own)] == own for longer, other in columns.items() if longer != name)
    }
    assert not needless
