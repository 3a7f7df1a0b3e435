"""Statements written once do what the ORM does, in one statement each."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from metacog.agents import create_agent
from metacog.models import Agent, AgentState, AuditEvent, Team
from metacog.prepared import Insert, Select, Update, new

pytestmark = pytest.mark.django_db
cursor = connection.cursor

by_name = Select(lambda team, name: Agent.objects.select_related("team").filter(team=team, name=name), parameters=2)
# The first parameter comes last, and between them stand values of the query's own.
ids_of = Select(
    lambda name, team: (
        Agent.objects.filter(team__name=team, enabled=True)
        .exclude(name="")
        .filter(name=name)
        .values_list("public_id", "team__name")[:3]
    ),
    parameters=2,
)
add_events = Insert(AuditEvent)


@pytest.fixture
def agents() -> list[Agent]:
    teams = [Team.objects.create(name=name) for name in ("Blue", "Red")]
    return [create_agent(team, name, None)[0] for team in teams for name in ("ada", "bo")]


def event(action: str) -> AuditEvent:
    return AuditEvent(actor_kind="system", actor="", action=action, object_id="x", data={"多": [1, {"b": None}]})


def test_models_come_with_all_their_fields_and_what_they_are_related_to(agents: list[Agent]) -> None:
    for agent in agents:
        with CaptureQueriesContext(connection) as queries:
            (found,) = by_name(cursor(), agent.team_id, agent.name)
            assert found.team.name == agent.team.name
        assert len(queries) == 1
        there = Agent.objects.get(pk=agent.pk)
        assert {field.attname: getattr(found, field.attname) for field in Agent._meta.concrete_fields} == {
            field.attname: getattr(there, field.attname) for field in Agent._meta.concrete_fields
        }


def test_values_come_as_tuples_whatever_order_the_parameters_stand_in(agents: list[Agent]) -> None:
    assert ids_of(cursor(), "bo", "Red") == [(agents[3].public_id, "Red")]
    assert ids_of(cursor(), "Red", "bo") == []
    assert ids_of.first(cursor(), "ada", "Blue") == (agents[0].public_id, "Blue")
    assert ids_of.first(cursor(), "nobody", "Blue") is None


def test_what_was_changed_is_found_as_it_is_now(agents: list[Agent]) -> None:
    assert by_name(cursor(), agents[0].team_id, "ada")[0].language == "en"
    Agent.objects.filter(pk=agents[0].pk).update(language="zh-hant", name="改名")
    assert by_name(cursor(), agents[0].team_id, "ada") == []
    assert by_name(cursor(), agents[0].team_id, "改名")[0].language == "zh-hant"


@pytest.mark.parametrize("value", ["'; DROP TABLE metacog_agent; --", "%s", "100 % 中文", ""])
def test_a_value_is_only_a_value(agents: list[Agent], value: str) -> None:
    Agent.objects.filter(pk=agents[0].pk).update(name=value)
    assert [found.pk for found in by_name(cursor(), agents[0].team_id, value)] == [agents[0].pk]


@pytest.mark.parametrize("can_return_rows", [True, False])
def test_new_rows_get_their_keys_and_keep_their_order(monkeypatch: pytest.MonkeyPatch, can_return_rows: bool) -> None:
    monkeypatch.setattr(type(connection.features), "can_return_rows_from_bulk_insert", can_return_rows)
    rows = [event(f"happened-{number}") for number in range(5)]
    with CaptureQueriesContext(connection) as queries:
        add_events(cursor(), rows)
    assert len(queries) == (1 if can_return_rows else 5)
    assert [AuditEvent.objects.get(pk=row.pk).action for row in rows] == [row.action for row in rows]
    assert AuditEvent.objects.get(pk=rows[0].pk).data == {"多": [1, {"b": None}]}
    assert not rows[0]._state.adding


def test_rows_whose_keys_nobody_asks_for_are_written_as_well() -> None:
    Insert(AuditEvent, keys=False)(cursor(), rows := [event("one"), event("two")])
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True)) == ["one", "two"]
    assert {row.pk for row in rows} == {None}


def test_a_new_row_has_what_its_model_would_give_it(agents: list[Agent]) -> None:
    given = {"action": "happened", "object_id": "x", "actor_kind": "system", "actor": "", "agent_id": agents[0].pk}
    own, other = new(AuditEvent, **given), AuditEvent(**given)
    assert {**vars(own), "at": None, "_state": None} == {**vars(other), "at": None, "_state": None}
    assert own._state.adding
    assert own.agent == agents[0]
    assert own.data is not new(AuditEvent, **given).data
    own.save()
    assert AuditEvent.objects.get(pk=own.pk).at == own.at
    with pytest.raises(TypeError, match="agent"):
        new(AuditEvent, agent=agents[0])


def test_strings_and_nothing_are_stored_as_the_orm_stores_them(agents: list[Agent]) -> None:
    given = {"action": "happened", "object_id": "x", "team_id": None, "agent_id": agents[0].pk, "data": "a string"}
    own = AuditEvent(actor_kind=AuditEvent.Actor.AGENT, actor="多 '%s'", **given)
    add_events(cursor(), [own])
    other = AuditEvent.objects.create(actor_kind=AuditEvent.Actor.AGENT, actor="多 '%s'", at=own.at, **given)
    written, wanted = AuditEvent.objects.filter(pk__in=(own.pk, other.pk)).order_by("pk").values()
    assert written | {"id": None} == wanted | {"id": None}
    state = AgentState.objects.get(pk=agents[0].pk)
    state.intent, state.topics = None, None  # type: ignore[assignment]
    with pytest.raises(IntegrityError), transaction.atomic():
        Update(AgentState, "intent", "topics")(cursor(), state)
    Update(AgentState, "intent")(cursor(), state)
    assert AgentState.objects.filter(pk=state.pk, intent__isnull=True).exists()


def test_no_rows_are_no_statement(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        add_events(cursor(), [])


def test_rows_that_cannot_be_are_refused_together() -> None:
    add_teams = Insert(Team)
    with pytest.raises(IntegrityError), transaction.atomic():
        add_teams(cursor(), [Team(name="One"), Team(name="Two"), Team(name="One")])
    assert not Team.objects.filter(name__in=("One", "Two")).exists()


def test_an_update_writes_the_named_fields_of_one_row_and_no_other(agents: list[Agent]) -> None:
    one, other = (AgentState.objects.get(pk=agent.pk) for agent in agents[:2])
    one.topics, one.intent, one.responses = {"b": 1, "a": 2}, {"text": "多"}, 7
    Update(AgentState, "topics", "intent")(cursor(), one)
    one.refresh_from_db()
    assert (list(one.topics), one.intent, one.responses) == (["b", "a"], {"text": "多"}, 0)
    after = AgentState.objects.get(pk=other.pk)
    assert (after.topics, after.intent) == ({}, None)
