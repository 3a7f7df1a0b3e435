"""Accept once: one key is one response, for ever."""

import json
from typing import Any

import pytest

from reviews.models import AgentResponse
from tests.tables import table

pytestmark = pytest.mark.django_db

KEYED = [
    pytest.param({"webhook-id": "k-1"}, {}, id="webhook-id"),
    pytest.param({"idempotency-key": "k-1"}, {}, id="Idempotency-Key"),
    pytest.param({}, {"id": "k-1"}, id="the body's id"),
]


@table(("headers", "fields"), KEYED, rolled_back=True)
def test_the_same_bytes_again_get_the_first_verdict(kuro: Any, headers: Any, fields: Any) -> None:
    body = json.dumps({"response": "clearly the cache [CHAT]x[/CHAT]"} | fields)
    first = kuro.post("/responses", body, **headers)
    again = kuro.post("/responses", body, **headers)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert first.content == again.content
    assert AgentResponse.objects.count() == 1


@table(("headers", "fields"), KEYED, rolled_back=True)
def test_the_same_key_with_other_bytes_changes_nothing(kuro: Any, headers: Any, fields: Any) -> None:
    kuro.post("/responses", {"response": "one"} | fields, **headers)
    answer = kuro.post("/responses", {"response": "two"} | fields, **headers)
    assert answer.status_code == 422
    assert "k-1" in answer.json()["detail"]
    assert [json.loads(r.body)["response"] for r in AgentResponse.objects.all()] == ["one"]


def test_white_space_makes_other_bytes(kuro: Any) -> None:
    assert kuro.post("/responses", '{"response":"x"}', **{"webhook-id": "k"}).status_code == 201
    assert kuro.post("/responses", '{"response": "x"}', **{"webhook-id": "k"}).status_code == 422


def test_each_space_of_keys_is_its_own(kuro: Any) -> None:
    for headers, fields in [({"webhook-id": "k"}, {}), ({"idempotency-key": "k"}, {}), ({}, {"id": "k"})]:
        assert kuro.post("/responses", {"response": "x"} | fields, **headers).status_code == 201


def test_each_agent_has_its_own_keys(kuro: Any, other: Any) -> None:
    for agent in (kuro, other):
        assert agent.post("/responses", {"response": agent.id, "id": "k"}).status_code == 201


def test_the_first_of_the_three_counts(kuro: Any) -> None:
    body = json.dumps({"response": "x", "id": "b"})
    headers = {"webhook-id": "w", "idempotency-key": "i"}
    assert kuro.post("/responses", body, **headers).status_code == 201
    assert kuro.post("/responses", body, **{"idempotency-key": "i"}).status_code == 201
    assert kuro.post("/responses", body).status_code == 201
    assert kuro.post("/responses", body, **headers).status_code == 200


@table("key", ["A" * 255, "!", "~", "a/b?c=d", '"quoted"'], rolled_back=True)
def test_keys_are_compared_as_they_are(kuro: Any, key: str) -> None:
    assert kuro.post("/responses", {"response": "x"}, **{"idempotency-key": key}).status_code == 201
    assert kuro.post("/responses", {"response": "x"}, **{"idempotency-key": key}).status_code == 200
    assert kuro.post("/responses", {"response": "x"}, **{"idempotency-key": key.swapcase() + "x"}).status_code in (
        201,
        422,
    )


def test_case_makes_another_key(kuro: Any) -> None:
    for key in ("key", "KEY"):
        assert kuro.post("/responses", {"response": "x"}, **{"idempotency-key": key}).status_code == 201


@table("key", ["", " ", "a b", "é", "A" * 256, "tab\there"])
@table("header", ["webhook-id", "idempotency-key"], rolled_back=True)
def test_a_key_that_is_none_is_refused(kuro: Any, header: str, key: str) -> None:
    assert kuro.post("/responses", {"response": "x"}, **{header: key}).status_code == 422
    assert AgentResponse.objects.count() == 0


def test_without_a_key_each_post_is_a_response(kuro: Any) -> None:
    for _ in range(2):
        assert kuro.post("/responses", {"response": "x"}).status_code == 201


def test_a_replay_takes_no_turn_and_repeats_no_effect(kuro: Any) -> None:
    from metacog.models import AgentState, AuditEvent

    body = {"response": "clearly the cache", "items": [{"kind": "chat", "text": "x"}], "id": "k", "mode": "a"}
    kuro.post("/responses", body)
    before = AgentState.objects.values().get(), AuditEvent.objects.count()
    assert kuro.post("/responses", body).status_code == 200
    assert (AgentState.objects.values().get(), AuditEvent.objects.count()) == before
