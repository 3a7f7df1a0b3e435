"""An agent's latest responses, among those of many others."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from metacog.models import Agent
from reviews.models import AgentResponse, response_id


@pytest.mark.postgres
def test_they_are_read_along_the_agents_index_whichever_agent_it_is(kuro: Any, other: Any) -> None:
    """Planned for any agent, as PostgreSQL does once it has prepared a statement."""
    kuro.respond()
    other.respond()
    row = AgentResponse.objects.get(agent__public_id=other.id)
    for _ in range(300):
        row.pk, row.public_id, row.key = None, response_id(), None
        row.save(force_insert=True)
    latest = AgentResponse.latest_of(Agent.objects.get(public_id=kuro.id)).values("verdict")[:1]
    sql, parameters = latest.query.sql_with_params()
    written = sql.replace("%s", "$1", 1).replace("%s", "$2")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE reviews_agentresponse")
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE latest (bigint) AS {written}")
        cursor.execute(f"EXPLAIN EXECUTE latest ({parameters[0]})")
        plan = str(cursor.fetchall())
    assert "pkey" not in plan, plan
