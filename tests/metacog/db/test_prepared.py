"""Statements written once do what the ORM does, in one statement each or, on PostgreSQL, in one for several.

All of it holds for the plain ORM, too, which METACOG_PREPARED=0 switches on.
"""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F, QuerySet, query
from django.test.utils import CaptureQueriesContext

from metacog.accounts.agents import create_agent
from metacog.db import prepared
from metacog.db.prepared import (
    KEPT_VALUES,
    KEY,
    Insert,
    Select,
    Update,
    Write,
    ask_together,
    filled,
    new,
    run_together,
    written_once,
)
from metacog.models import Agent, AgentKey, AgentState, AuditEvent, AuditUnsealed, Team

pytestmark = pytest.mark.django_db
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
DATA = {'多 "': [1, {"b": None, "a": "\n"}], "numbers": [1e22, -0.25, 2**70]}


def cursor() -> Any:
    return connection.cursor()  # of the connection that is there now: another test may have put one in its place


@pytest.fixture(autouse=True, params=["prepared", "plain"])
def _either_way(request: pytest.FixtureRequest, settings: Any) -> None:
    settings.PREPARED = request.param == "prepared"


@pytest.fixture
def agents() -> list[Agent]:
    teams = [Team.objects.create(name=name) for name in ("Blue", "Red")]
    return [create_agent(team, name, None)[0] for team in teams for name in ("ada", "bo")]


def event(action: str) -> AuditEvent:
    return AuditEvent(actor_kind="system", actor="", action=action, object_id="x", data=DATA)


def change(state: AgentState, *names: str) -> None:
    run_together(cursor(), [(Update(AgentState, *names), [state])])


def add(*events: AuditEvent) -> None:
    run_together(cursor(), [(add_events, events)])


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


def test_a_relation_may_be_empty_and_a_field_left_for_later(agents: list[Agent]) -> None:
    for agent in (None, agents[2]):
        AuditEvent.objects.create(actor_kind="system", actor="", action="seen", object_id="x", agent=agent)
    events = Select(
        lambda action: (
            AuditEvent.objects.select_related("agent__team").defer("at").filter(action=action).order_by("pk")
        ),
        parameters=1,
    )
    with CaptureQueriesContext(connection) as queries:
        nobodys, reds = events(cursor(), "seen")
        assert nobodys.agent is None
        assert reds.agent is not None
        assert (reds.agent, reds.agent.team.name) == (agents[2], "Red")
    assert len(queries) == 1
    assert reds.at == AuditEvent.objects.get(pk=reds.pk).at


def test_a_row_and_the_one_it_belongs_to_know_each_other(agents: list[Agent], django_assert_num_queries: Any) -> None:
    both: list[Select[Any]] = [
        Select(lambda agent: Agent.objects.select_related("state").filter(pk=agent), parameters=1),
        Select(lambda agent: AgentState.objects.select_related("agent").filter(pk=agent), parameters=1),
    ]
    for select in both:
        with django_assert_num_queries(1):
            ((found,),) = ask_together(cursor(), [(select, (agents[1].pk,))])
            agent = found if isinstance(found, Agent) else found.agent
            assert agent.state.agent is agent


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


def test_queries_asked_together_each_find_their_own(agents: list[Agent], django_assert_num_queries: Any) -> None:
    blue, red = agents[0].team_id, agents[2].team_id
    names = Select(lambda team: Agent.objects.filter(team=team).values_list("name", "callback_url"), parameters=1)
    state = Select(lambda agent: AgentState.objects.filter(pk=agent), parameters=1)
    AgentState.objects.filter(pk=agents[1].pk).update(topics={"a": 1}, intent={"text": "多"})
    asked: list[Any] = [(by_name, (red, "bo")), (names, (blue,)), (by_name, (red, "cy")), (state, (agents[1].pk,))]
    with django_assert_num_queries(statements_of(4)):
        (bo,), blues, nobody, (his,) = ask_together(cursor(), asked)
    with django_assert_num_queries(0):
        assert (bo, bo.team.name) == (agents[3], "Red")
        assert sorted(blues) == [("ada", ""), ("bo", "")]
        assert nobody == []
        assert (his.agent_id, his.topics, his.intent) == (agents[1].pk, {"a": 1}, {"text": "多"})
    assert ask_together(cursor(), asked[:1]) == [[agents[3]]]
    assert ask_together(cursor(), []) == []


@written_once
def named(teams: Any, name: Any, *, flat: bool = False) -> QuerySet[Agent, Any]:
    rows = Agent.objects.filter(team__in=teams, name=name).order_by("pk")
    if flat:
        return rows.values_list("public_id", flat=True)
    return rows.select_related("team").only("name", "team__name").annotate(of=F("team__name"), tongue=F("language"))


@written_once
def of_each(teams: Any) -> QuerySet[Agent, str]:
    first = Agent.objects.none()
    for at in range(len(teams)):
        first |= Agent.objects.filter(team__in=teams[at : at + 1])
    return first.order_by("team__name", "name").values_list("name", flat=True)


def test_a_function_finds_its_rows_by_values_and_lists_of_values_of_any_length(
    agents: list[Agent], django_assert_num_queries: Any
) -> None:
    blue, red = agents[0].team_id, agents[2].team_id
    assert [agent.pk for agent in named([blue], "bo")] == [agents[1].pk]
    assert [agent.pk for agent in named([blue, red], "bo")] == [agents[1].pk, agents[3].pk]
    assert named([blue, red], "ada", flat=True) == [agents[0].public_id, agents[2].public_id]
    assert named(filled([red, blue, blue]), "bo", flat=True) == [agents[1].public_id, agents[3].public_id]
    assert named([red], "nobody") == []
    assert named.first([red], "nobody") is None
    with django_assert_num_queries(0):
        assert named([], "bo") == []
    assert [len(filled(range(count))) for count in (0, 1, 2, 3, 5, 50)] == [0, 1, 2, 4, 8, 64]
    assert of_each([red]) == ["ada", "bo"]
    assert of_each([red, blue]) == ["ada", "bo", "ada", "bo"]


def test_what_is_annotated_comes_with_the_model(agents: list[Agent], django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        (found,) = named([agents[2].team_id], "ada")
        assert (found.of, found.tongue, found.name, found.team.name) == ("Red", "en", "ada", "Red")
    assert found.callback_url == agents[2].callback_url


@pytest.mark.parametrize("value", ["'; DROP TABLE metacog_agent; --", "%s", "100 % 中文", ""])
def test_a_value_is_only_a_value(agents: list[Agent], value: str) -> None:
    Agent.objects.filter(pk=agents[0].pk).update(name=value)
    assert [found.pk for found in by_name(cursor(), agents[0].team_id, value)] == [agents[0].pk]
    own = Select(lambda team: Agent.objects.filter(team=team, name=value, language="en"), parameters=1)
    assert [found.pk for found in own(cursor(), agents[0].team_id)] == [agents[0].pk]
    if connection.vendor == "sqlite":  # which would plan anew for them
        assert not any(isinstance(each, str) for each in own.written.given)


def test_new_rows_are_written_in_one_statement_and_keep_their_order() -> None:
    with CaptureQueriesContext(connection) as queries:
        add(*[event(f"happened-{number}") for number in range(5)])
    assert len(queries) == 1
    rows = AuditEvent.objects.filter(action__startswith="happened-").order_by("pk")
    assert [row.action for row in rows] == [f"happened-{number}" for number in range(5)]
    assert rows[0].data == DATA


def test_a_row_can_take_the_place_of_one_with_the_same_key(agents: list[Agent]) -> None:
    ada, bo = AgentState.objects.get(pk=agents[0].pk), AgentState.objects.get(pk=agents[1].pk)
    AgentState.objects.filter(pk=bo.pk).delete()
    ada.responses, bo.responses = 7, 8
    run_together(cursor(), [(Insert(AgentState, over=True), [ada, bo])])
    assert [AgentState.objects.get(pk=agent.pk).responses for agent in agents] == [7, 8, 0, 0]


def statements_of(writes: int) -> int:
    return 1 if connection.vendor == "postgresql" and settings.PREPARED else writes


def test_rows_of_several_tables_and_a_change_are_written_together(agents: list[Agent]) -> None:
    state = AgentState.objects.get(pk=agents[0].pk)
    state.responses = 7
    events, team = [event("one"), event("two")], Team(name="Green %s")
    with CaptureQueriesContext(connection) as queries:
        writes: list[Write] = [(add_events, events), (Insert(Team), [team]), (Update(AgentState, "responses"), [state])]
        run_together(cursor(), writes)
    assert len(queries) == statements_of(3)
    assert list(AuditEvent.objects.order_by("-pk").values_list("action", flat=True)[:2]) == ["two", "one"]
    assert AuditUnsealed.objects.filter(pk__in=AuditEvent.objects.filter(action__in=("one", "two"))).count() == 2
    assert Team.objects.filter(name="Green %s").exists()
    assert AgentState.objects.get(pk=state.pk).responses == 7


@pytest.mark.parametrize("keys", [2, 20])  # with twenty there are more values than psycopg keeps a statement for
def test_rows_hang_on_one_that_is_written_with_them(agents: list[Agent], keys: int) -> None:
    agent = new(Agent, name="cy", team_id=agents[0].team_id)
    rows = [new(AgentKey, agent_id=KEY, key_sha256=str(number), hint="", secret_encrypted="") for number in range(keys)]
    with CaptureQueriesContext(connection) as queries:
        run_together(cursor(), [(Insert(AgentKey), rows), (add_events, [event("one")])], (Insert(Agent), agent))
    assert len(queries) == (3 if keys == 20 else statements_of(3))
    found = AgentKey.objects.filter(agent__name="cy", agent__public_id=agent.public_id)
    assert sorted(found.values_list("key_sha256", flat=True)) == sorted(row.key_sha256 for row in rows)
    assert AuditEvent.objects.filter(action="one").count() == 1


def test_statements_of_more_values_than_psycopg_keeps_run_one_by_one() -> None:
    events = [event(f"happened-{number}") for number in range(KEPT_VALUES // 2)]
    with CaptureQueriesContext(connection) as queries:
        run_together(cursor(), [(add_events, events[:1]), (add_events, events[1:])])
    assert len(queries) == 2
    assert AuditEvent.objects.filter(action__startswith="happened-").count() == len(events)


def test_what_cannot_be_written_leaves_nothing_of_what_was_written_with_it() -> None:
    add_teams = Insert(Team)
    with pytest.raises(IntegrityError), transaction.atomic():
        run_together(cursor(), [(add_events, [event("one")]), *[(add_teams, [Team(name="One")]) for _ in range(2)]])
    assert not AuditEvent.objects.filter(action="one").exists()
    assert not Team.objects.filter(name="One").exists()


def test_a_new_row_has_what_its_model_would_give_it(agents: list[Agent]) -> None:
    given = {"action": "happened", "object_id": "x", "actor_kind": "system", "actor": "", "agent_id": agents[0].pk}
    own, other = new(AuditEvent, **given), AuditEvent(**given)
    assert {**vars(own), "at": None, "_state": None} == {**vars(other), "at": None, "_state": None}
    assert own._state.adding
    assert own.agent == agents[0]
    assert own.data is not new(AuditEvent, **given).data
    own.save()
    assert AuditEvent.objects.get(pk=own.pk).at == own.at
    with pytest.raises(TypeError, match="agnt"):
        new(AuditEvent, agnt=agents[0])


def test_strings_and_nothing_are_stored_as_the_orm_stores_them(agents: list[Agent]) -> None:
    given = {"action": "happened", "object_id": "x", "team_id": None, "agent_id": agents[0].pk, "data": "a string"}
    own = AuditEvent(actor_kind=AuditEvent.Actor.AGENT, actor="多 '%s'", **given)
    add(own)
    AuditEvent.objects.create(actor_kind=AuditEvent.Actor.AGENT, actor="多 '%s'", at=own.at, **given)
    written, wanted = AuditEvent.objects.filter(action="happened").order_by("pk").values()
    assert written | {"id": None} == wanted | {"id": None}
    state = AgentState.objects.get(pk=agents[0].pk)
    state.intent, state.topics = None, None
    with pytest.raises(IntegrityError), transaction.atomic():
        change(state, "intent", "topics")
    change(state, "intent")
    assert AgentState.objects.filter(pk=state.pk, intent__isnull=True).exists()


def test_rows_that_cannot_be_are_refused_together() -> None:
    add_teams = Insert(Team)
    with pytest.raises(IntegrityError), transaction.atomic():
        run_together(cursor(), [(add_teams, [Team(name="One"), Team(name="Two"), Team(name="One")])])
    assert not Team.objects.filter(name__in=("One", "Two")).exists()


def test_an_update_writes_the_named_fields_of_one_row_and_no_other(agents: list[Agent]) -> None:
    one, other = (AgentState.objects.get(pk=agent.pk) for agent in agents[:2])
    one.topics, one.intent, one.responses = {"b": 1, "a": 2}, {"text": "多"}, 7
    change(one, "topics", "intent")
    one.refresh_from_db()
    assert (list(one.topics), one.intent, one.responses) == (["b", "a"], {"text": "多"}, 0)
    after = AgentState.objects.get(pk=other.pk)
    assert (after.topics, after.intent) == ({}, None)


def test_django_has_what_is_used_of_its_inner_parts() -> None:
    """Where one is gone, `prepared` must learn its new name; METACOG_PREPARED=0 does without until then."""
    row, found = Agent(), Agent.objects.select_related("team")
    compiler: Any = found.query.get_compiler("default")
    compiler.as_sql()
    parts: list[tuple[Any, str]] = [
        (found, "_iterable_class"),
        (query, "ModelIterable FlatValuesListIterable"),
        (compiler, "select klass_info annotation_col_map get_converters"),
        (row, "_meta _state"),
        (Agent, "_default_manager"),
        (row._state, "adding db"),
        (row._meta, "concrete_fields pk db_table get_field"),
        (row._meta.pk, "attname column default has_default get_default get_db_prep_save get_internal_type"),
        (connection.ops, "quote_name adapt_datetimefield_value adapt_integerfield_value"),
    ]
    named = [(owner, name) for owner, names in parts for name in names.split()]
    gone = [f"{type(owner).__name__}.{name}" for owner, name in named if not hasattr(owner, name)]
    assert gone == []
    info = compiler.klass_info
    assert {"model", "select_fields", "related_klass_infos"} <= info.keys()
    assert {"local_setter", "remote_setter"} <= info["related_klass_infos"][0].keys()
    used = {
        node.attr
        for node in ast.walk(ast.parse(inspect.getsource(prepared)))
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr)
        if not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }
    assert used <= {name for _, name in named}
