"""The OpenAPI document says what is true, and its examples work."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.test import Client

from metacog import __version__
from metacog.accounts import tokens
from metacog.heuristics.wire import wire
from tests.conftest import Caller

pytestmark = pytest.mark.django_db


@cache
def written() -> bytes:
    answer = Client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    return answer.content


@pytest.fixture
def document() -> Any:
    return json.loads(written())


def test_it_names_the_release(document: Any) -> None:
    assert document["info"]["version"] == __version__


def test_it_is_openapi_3_1_and_lists_every_call(document: Any) -> None:
    assert document["openapi"].startswith("3.1")
    assert {path.removeprefix("/api/v1"): sorted(calls) for path, calls in document["paths"].items()} == {
        "/responses": ["post"],
        "/agents/{agent_id}/responses": ["post"],
        "/held": ["get"],
        "/held/{held_id}": ["get"],
        "/held/{held_id}/decision": ["post"],
        "/held/{held_id}/outcome": ["post"],
        "/decisions": ["get"],
        "/guard": ["post"],
        "/context": ["get"],
        "/policy": ["get"],
        "/patterns": ["get"],
        "/confidence": ["post"],
        "/threads": ["get", "post"],
        "/threads/{slug}": ["get"],
        "/threads/{slug}/{step}": ["post"],
        "/extensions": ["get", "post"],
        "/extensions/{extension_id}": ["get"],
        "/extensions/{extension_id}/withdraw": ["post"],
        "/memory": ["get", "post"],
        "/memory/{memory_id}": ["get"],
        "/research": ["post"],
        "/research/{research_id}": ["get"],
        "/problems": ["get"],
        "/problems/{key}": ["get"],
        "/problems/{key}/resolve": ["post"],
        "/problems/{key}/think-twice": ["post"],
        "/review/queue": ["get"],
        "/review/grants": ["get"],
        "/review/grants/{grant_id}": ["delete"],
        "/review/held/{held_id}": ["get"],
        "/review/held/{held_id}/assign": ["post"],
        "/review/held/{held_id}/comments": ["post"],
        "/review/held/{held_id}/decision": ["post"],
        "/review/held/{held_id}/snooze": ["post"],
        "/review/held/{held_id}/undo": ["post"],
    }


def test_peoples_calls_want_a_token_and_agents_calls_a_key(document: Any) -> None:
    assert {name: scheme["scheme"] for name, scheme in document["components"]["securitySchemes"].items()} == {
        "ApiKey": "bearer",
        "PersonToken": "bearer",
    }
    for path, calls in document["paths"].items():
        wanted = "PersonToken" if "/review/" in path else "ApiKey"
        for call in calls.values():
            assert call.get("security", [{wanted: []}]) == [{wanted: []}], path


def test_every_reference_leads_somewhere(document: Any) -> None:
    names = set(document["components"]["schemas"])

    def references(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            for each in value.values():
                yield from references(each)
        elif isinstance(value, list):
            for each in value:
                yield from references(each)

    found = set(references(document))
    assert found
    assert {ref.removeprefix("#/components/schemas/") for ref in found} <= names


def test_every_call_names_its_errors_as_problem_documents(document: Any) -> None:
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            assert "401" in call["responses"], (method, path)
            assert "application/problem+json" in call["responses"]["401"]["content"], (method, path)


@pytest.mark.parametrize(
    ("path", "member", "model"),
    [
        ("/held/{held_id}/decision", "decision", "Decided"),
        ("/review/held/{held_id}/decision", "decision", "ReviewDecision"),
        ("/review/held/{held_id}/undo", "decision", "ReviewDecision"),
        ("/extensions", "extension", "Extension"),
        ("/extensions/{extension_id}/withdraw", "extension", "Extension"),
        ("/problems/{key}/think-twice", None, None),
        ("/confidence", None, None),
    ],
)
def test_it_tells_what_a_conflict_shows(document: Any, path: str, member: Any, model: Any) -> None:
    content = document["paths"][f"/api/v1{path}"]["post"]["responses"]["409"]["content"]
    schema = content["application/problem+json"]["schema"]
    if member is None:
        assert schema == {"$ref": "#/components/schemas/ProblemDocument"}
    else:
        shown = schema["allOf"][1]["properties"][member]["anyOf"]
        assert shown == [{"$ref": f"#/components/schemas/{model}"}, {"type": "null"}]


def test_its_examples_are_taken(document: Any, kuro: Any, alice: Any) -> None:
    held = kuro.hold()
    program = Caller("", tokens.issue(alice, name="script", scopes=["decide"], days=7)[1], "")
    kuro.respond("next", problem="bug-17")
    kuro.post("/threads", {"title": "Hope"})
    asked = kuro.post("/extensions", {"reason": "need more time"}).json()["id"]
    question = {"kind": "question", "text": "Which account?", "choices": ["Savings", "Current"]}
    to_answer = kuro.post("/responses", {"response": "", "items": [question]}).json()["items"][0]["held"]
    known = {"held_id": held, "key": "bug-17", "slug": "hope", "step": "progress", "extension_id": asked}
    tried = 0
    for path, calls in document["paths"].items():
        content = calls.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json", {})
        if "{agent_id}" in path:
            continue
        for example in content.get("examples", {}).values():
            body = json.dumps(example["value"])
            address = path.removeprefix("/api/v1")
            if example["value"].get("verdict") == "answer":
                address = address.replace("{held_id}", to_answer)
            for name, value in known.items():
                address = address.replace(f"{{{name}}}", value)
            answer = (program if "/review/" in path else kuro).post(address, body)
            assert answer.status_code in (200, 201, 409), (path, answer.content)
            tried += 1
    assert tried >= 3


def test_it_names_every_part_of_a_verdict_as_it_is_sent(document: Any, kuro: Any) -> None:
    schemas = document["components"]["schemas"]

    def unknown(value: Any, schema: Any, at: str = "verdict") -> Iterator[Any]:
        for option in schema.get("anyOf", [schema]):
            model = schemas.get(option.get("$ref", "").removeprefix("#/components/schemas/"), option)
            if isinstance(value, dict) and model.get("additionalProperties") is False:
                for name, part in value.items():
                    if name not in model["properties"]:
                        yield f"{at}.{name}"
                    else:
                        yield from unknown(part, model["properties"][name], f"{at}.{name}")
            elif isinstance(value, list) and "items" in model:
                for part in value:
                    yield from unknown(part, model["items"], at)

    answer = kuro.post("/responses", wire.EXAMPLE)
    assert answer.json()["quality"]["details"][0]["spans"][0]["in"] == "user_message"
    assert list(unknown(answer.json(), schemas["Assessment"])) == []


@pytest.mark.parametrize(
    ("path", "needs"),
    [
        ("/held/{held_id}/decision", [{"reason"}, {"text", "reason"}, set()]),
        ("/review/held/{held_id}/decision", [set(), {"text"}, {"arguments"}, {"answer"}, {"reason"}]),
        ("/problems/{key}/think-twice", [{"answer"}, {"outcome"}]),
    ],
)
def test_it_tells_which_fields_go_together(document: Any, path: str, needs: Any) -> None:
    schema = document["paths"][f"/api/v1{path}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [set(choice.get("required", ())) for choice in schema["oneOf"]] == needs


def test_its_page_loads_nothing_from_elsewhere_and_runs_no_inline_script() -> None:
    page = Client().get("/api/v1/docs")
    assert page.status_code == 200
    html = page.content.decode()
    assert "https://" not in html.replace("https://metacog", "")
    assert "default-src 'self'" in page["Content-Security-Policy"]
