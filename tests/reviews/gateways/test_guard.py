"""What gateways ask before they let something through, in the shapes that they send."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.test import RequestFactory
from django.utils import timezone

from metacog.models import Agent, Policy
from reviews.gateways import envoy
from reviews.held import decisions
from reviews.models import AgentResponse, Decision, HeldCall, HeldItem
from tests.conftest import HELD, Caller
from tests.tables import table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]

NAME, ARGUMENTS = "refund", {"order": 4711, "eur": 20}
DEFINITION = {
    "description": "Pay money back.",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "integer"}, "eur": {"type": "number"}}},
    "annotations": {"destructiveHint": True},
}


class Told(NamedTuple):
    """What a gateway makes of an answer."""

    decision: str
    reason: str
    held: list[dict[str, str]]
    answer: Any


class Shape(NamedTuple):
    """How a gateway asks about a call, and reads the answer."""

    body: Callable[[str, Any], dict[str, Any]]
    path: str = "/guard"
    headers: dict[str, str] = {}

    def ask(self, caller: Caller, name: str = NAME, arguments: Any = ARGUMENTS) -> Told:
        answer = caller.post(self.path, self.body(name, arguments), **self.headers)
        told = answer.json()
        if "jsonrpc" in told:
            told = json.loads(told["result"]["content"][0]["text"])
        if "result" in told:
            assert answer.status_code == 200
            violation = told["result"].get("violation")
            assert told["result"]["continue_processing"] is (violation is None)
            own: Any = violation["details"] if violation else {"decision": "allow", "held": []}
            return Told(own["decision"], violation["description"] if violation else "", own["held"], told)
        if "action" in told:
            assert (answer.status_code, told["action"] == "BLOCKED") == (200, told["decision"] != "allow")
            assert told["blocked_reason"] == (told["reason"] or None)
        else:
            assert answer.status_code == (200 if told["decision"] == "allow" else 403)
            assert answer["X-Metacog-Decision"] == told["decision"]
            assert answer.get("X-Metacog-Review") == (told["held"][0]["url"] if told["held"] else None)
        return Told(told["decision"], told["reason"], told["held"], told)


def litellm(name: str, arguments: Any) -> dict[str, Any]:
    """LiteLLM 1.110 with mode post_call: what its GenericGuardrailAPIRequest has, all of it."""
    call = {"id": "call_abc123", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {
        "input_type": "response",
        "litellm_call_id": "7f0d4c5e-4b0e-4a7e-9a52-0c5d2f5a1a11",
        "litellm_trace_id": "unique_trace",
        "structured_messages": None,
        "images": None,
        "tools": None,
        "texts": [],
        "request_data": {"user_api_key_hash": "88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b"},
        "request_headers": {"host": "127.0.0.1:4000", "authorization": "[present]", "user-agent": "OpenAI/Python"},
        "litellm_version": "1.110.2",
        "additional_provider_specific_params": {},
        "tool_calls": [{**call, "index": 0}],
        "model": "gpt-4",
    }


def message(name: str, arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def check_request(name: str, arguments: Any) -> dict[str, Any]:
    """Envoy's CheckRequest as JSON, as its documentation writes it, with the body that it packs as bytes."""
    raw = base64.b64encode(json.dumps(message(name, arguments)).encode()).decode()
    headers = {":authority": "tools.example.com", ":method": "POST", ":path": "/mcp", "mcp-session-id": "s1"}
    http = {"id": "1390", "method": "POST", "headers": headers, "path": "/mcp", "host": "tools.example.com"}
    request = {"time": "2026-11-20T12:00:00Z", "http": {**http, "protocol": "HTTP/1.1", "size": "120", "raw_body": raw}}
    return {"attributes": {"source": {"address": {}}, "destination": {"address": {}}, "request": request}}


def hook(name: str, arguments: Any) -> dict[str, Any]:
    """ContextForge's tool_pre_invoke, as its package cpex 0.1 writes it."""
    context = {
        "request_id": "req-123", "user": "alice@example.com", "tenant_id": "tenant1", "server_id": "srv1",
        "state": {}, "metadata": {"tool": {"name": name, **DEFINITION}},
    }  # fmt: skip
    return {
        "hook_type": "tool_pre_invoke",
        "plugin_name": "Approval",
        "payload": {"name": name, "args": arguments, "headers": None},
        "context": {"state": {}, "global_context": context, "metadata": {}},
    }


SHAPES = {
    "LiteLLM": Shape(litellm),
    "LiteLLM at the address it makes": Shape(litellm, "/guard/beta/litellm_basic_guardrail_api"),
    "Envoy by HTTP": Shape(message, "/guard/envoy/mcp", {"mcp-session-id": "s1", "content-type": ""}),
    "Envoy's CheckRequest": Shape(check_request),
    "an MCP gateway": Shape(message),
    "ContextForge": Shape(hook),
    "ContextForge by MCP": Shape(
        lambda name, arguments: message("invoke_hook", hook(name, arguments)),
        "/guard/contextforge",
    ),
}
EVERY = table("shape", SHAPES.values(), rolled_back=True)


def ruled(caller: Caller, *rules: dict[str, Any], **policy: Any) -> None:
    agent = Agent.objects.get(public_id=caller.id)
    agent.policy_version += 1
    agent.save()
    Policy.objects.create(agent=agent, version=agent.policy_version, rules=list(rules), **policy)


def decide(person: Any, held: str, verdict: str, **how: Any) -> None:
    decisions.decide(HeldItem.objects.get(public_id=held), person, verdict, **{"reason": "because", **how})


@EVERY
def test_it_is_held_with_an_address_and_passes_once_when_it_is_approved(shape: Shape, kuro: Any, alice: Any) -> None:
    told = shape.ask(kuro)
    (item,) = HeldItem.objects.all()
    assert (told.decision, told.held) == ("held", [{"id": item.public_id, "url": told.held[0]["url"]}])
    assert told.held[0]["url"].endswith(f"/{item.public_id}/")
    assert told.held[0]["url"] in told.reason
    assert (item.call.name, item.call.arguments) == (NAME, ARGUMENTS)
    assert shape.ask(kuro).held == told.held
    decide(alice, item.public_id, "approve")
    assert shape.ask(kuro, arguments={**ARGUMENTS, "eur": 21}).decision == "held"
    assert [shape.ask(kuro).decision for _ in range(2)] == ["allow", "held"]
    assert HeldCall.objects.get(held=item).used_by == HeldCall.UsedBy.POST
    assert HeldItem.objects.count() == 3


@EVERY
def test_a_rule_allows_or_denies_it(shape: Shape, kuro: Any) -> None:
    ruled(kuro, {"tool": "never", "do": "deny", "reason": "key is sk-ant-REDACTED"}, {"tool": NAME, "do": "allow"})
    assert [shape.ask(kuro).decision for _ in range(2)] == ["allow", "allow"]
    told = shape.ask(kuro, "never")
    assert (told.decision, told.held) == ("deny", [])
    assert "never is denied: key is" in told.reason
    assert not HeldItem.objects.exists()


@EVERY
def test_a_rejection_is_told_for_an_hour(shape: Shape, kuro: Any, alice: Any) -> None:
    held = shape.ask(kuro).held[0]["id"]
    decide(alice, held, "reject", reason="No such order.")
    told = [shape.ask(kuro) for _ in range(2)]
    assert [(each.decision, each.reason) for each in told] == 2 * [("deny", "Rejected in review: No such order.")]
    assert HeldItem.objects.count() == 1
    Decision.objects.update(decided_at=timezone.now() - timedelta(minutes=61))
    assert shape.ask(kuro).decision == "held"


@EVERY
def test_an_edit_is_told_and_is_what_passes(shape: Shape, kuro: Any, alice: Any) -> None:
    arguments = {"order": 4711, "note": {"password": "hunter2hunter2"}}
    held = shape.ask(kuro, arguments=arguments).held[0]["id"]
    changed = {**arguments, "eur": 5}
    decide(alice, held, "edit", edit=decisions.Arguments(changed), accept_risk=True)
    told = shape.ask(kuro, arguments=arguments)
    if "result" in told.answer:  # this gateway makes the call with other arguments
        assert told.decision == "allow"
        assert told.answer["result"]["modified_payload"]["args"] == changed
    else:
        assert told.decision == "deny"
        assert '"eur": 5' in told.reason
        assert "hunter2" not in json.dumps(told.answer)
        assert told.answer["edited"][0]["arguments"]["eur"] == 5
        assert shape.ask(kuro, arguments=changed).decision == "allow"
    assert shape.ask(kuro, arguments=changed).decision == "held"
    assert shape.ask(kuro, arguments=arguments).decision == "held"


def answered(texts: list[str], *calls: str, **fields: Any) -> dict[str, Any]:
    """Return what LiteLLM asks about an answer of a model's."""
    told = [
        {"id": f"call_{name}", "index": at, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for at, name in enumerate(calls)
    ]
    return litellm("", {}) | {"texts": texts, "tool_calls": told or None} | fields


def test_words_are_held_marked_or_edited(kuro: Any, alice: Any) -> None:
    def ask(*texts: str) -> Any:
        return kuro.post("/guard", answered([*texts])).json()

    assert ask("Done.") == {
        "decision": "allow", "reason": "", "held": [], "edited": [], "action": "NONE", "blocked_reason": None,
        "texts": None,
    }  # fmt: skip
    told = ask("Yes.", HELD, "")
    assert (told["action"], len(told["held"])) == ("BLOCKED", 2)  # one score for all that a response says
    for each in told["held"]:
        decide(alice, each["id"], "approve")
    assert ask("Yes.", HELD, "")["action"] == "NONE"
    marked = ask("It is the cache.")
    assert marked["action"] == "GUARDRAIL_INTERVENED"
    assert marked["texts"] != ["It is the cache."]
    again = HELD + " Certainly."
    decide(alice, ask(again)["held"][0]["id"], "edit", edit="It may be the cache.", accept_risk=True)
    assert ask(again)["texts"] == ["It may be the cache."]
    last = HELD + " Again."
    decide(alice, ask(last)["held"][0]["id"], "reject")
    assert (ask(last)["action"], ask(last)["blocked_reason"]) == ("BLOCKED", "Rejected in review: because.")


def test_words_that_wait_are_one_item_however_often_they_are_asked_about(kuro: Any, alice: Any) -> None:
    ruled(kuro, hold_words_with_calls=True)

    def ask(text: str, *calls: str) -> Any:
        return kuro.post("/guard", answered([text], *calls)).json()

    (held,) = ask("It is done.", "one")["held"]  # the call, for which the words wait
    assert ask("It is done.", "one")["held"] == [held]
    assert (HeldItem.objects.count(), HeldCall.objects.get().asks) == (2, 2)
    decide(alice, held["id"], "approve")
    assert ask("It is done.", "one")["action"] == "NONE"
    (words,) = ask(HELD)["held"]
    assert [ask(HELD)["held"], ask(HELD, "two")["held"][0]] == [[words], words]
    assert HeldItem.objects.filter(text=HELD).count() == 1
    ruled(kuro, {"tool": "two", "do": "deny"})
    assert ask(HELD, "two")["decision"] == "deny"


def test_calls_of_one_answer_pass_together_or_not_at_all(kuro: Any, alice: Any) -> None:
    def ask(*calls: str) -> Any:
        return kuro.post("/guard", answered([], *calls)).json()

    first, second = (each["id"] for each in ask("one", "two")["held"])
    decide(alice, first, "approve")
    assert [each["id"] for each in ask("one", "two")["held"]] == [second]
    decide(alice, second, "approve")
    assert [ask("one", "two")["action"] for _ in range(2)] == ["NONE", "BLOCKED"]


def test_an_approval_is_of_one_conversation(kuro: Any, alice: Any) -> None:
    def ask(**fields: Any) -> Any:
        return kuro.post("/guard", answered([], "one", **fields)).json()["decision"]

    def headers(session: str) -> dict[str, Any]:
        return {"request_headers": {"X-LiteLLM-Session-Id": session}, "litellm_trace_id": "made up for each request"}

    assert ask(**headers("s1")) == "held"
    decide(alice, HeldItem.objects.get().public_id, "approve")
    assert [ask(**headers("s2")), ask(request_headers=None), ask(**headers("s1"))] == ["held", "held", "allow"]
    sessions = {"s1", "s2", "unique_trace"}
    assert {*AgentResponse.objects.values_list("session", flat=True)} == sessions
    assert ask(additional_provider_specific_params={"session": "own"}) == "held"
    ask(request_data={"user_api_key_hash": "88dc", "user_api_key_end_user_id": "bob"})
    sessions = {*AgentResponse.objects.values_list("session", flat=True)} - sessions
    assert sessions == {"own", "litellm:88dc:bob"}


def test_of_a_request_calls_are_asked_about_that_were_not_made(kuro: Any) -> None:
    call = {"id": "call_one", "type": "function", "function": {"name": "one", "arguments": "{}"}}
    conversation = [
        {"role": "user", "content": HELD},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_one", "content": "done"},
    ]
    asked = answered([HELD], "one", input_type="request", structured_messages=conversation)
    assert kuro.post("/guard", asked).json()["action"] == "NONE"
    assert not AgentResponse.objects.exists()
    asked["structured_messages"].pop()
    assert kuro.post("/guard", asked).json()["action"] == "BLOCKED"


def test_the_answer_of_a_model_is_asked_about_under_whatever_id(kuro: Any) -> None:
    before = [{"role": "tool", "tool_call_id": "call_one", "content": "done"}]  # some models count anew in each turn
    assert kuro.post("/guard", answered([], "one", structured_messages=before)).json()["action"] == "BLOCKED"


@table("beside", [litellm("", {}) | {"input_type": "request", "tool_calls": None}, hook("ok", {}),
                  check_request("ok", {})], rolled_back=True)  # fmt: skip
def test_a_message_dressed_as_what_another_gateway_asks_does_not_pass(kuro: Any, beside: Any) -> None:
    for passed_on in (message("refund", {}), {"Method": "tools/call", "params": {"name": "refund"}}):
        for path in ("/guard", "/guard/beta/litellm_basic_guardrail_api"):
            assert kuro.post(path, passed_on | beside).status_code == 422
    assert not HeldItem.objects.exists()


@table(
    ("sent", "url"),
    [
        ("/orders/7", "/orders/7"),
        ("/%6frders/%E5%8F%B0", "/orders/台"),
        ("/a%2Fb", "/a%2Fb"),
        ("/a%3Fb=1", "/a%3Fb=1"),
        ("/a%23b%2541", "/a%23b%2541"),
        ("/a%ff", "/a%ff"),
    ],
)
def test_a_path_is_shown_as_no_other_path(sent: str, url: str) -> None:
    request = RequestFactory(REQUEST_URI=f"/api/v1/guard{sent}").get(f"/api/v1/guard{sent}")
    asked = envoy.read(envoy.passing(request, request.path.removeprefix("/api/v1/guard/")))
    assert asked.calls[0].arguments["url"] == f"http://testserver{url}"


TOOL = {"type": "function", "function": {"name": "refund", "description": "Pay money back.", "parameters": {}}}
DEEP: Any = json.loads("[" * 40 + "]" * 40)


@table(
    ("body", "says"),
    [
        ({}, "Nothing is allowed"),
        ([], "Nothing is allowed"),
        (json.dumps("yes"), "Nothing is allowed"),
        ({"name": "refund", "arguments": {}}, "Nothing is allowed"),
        ({"input": {"action": "refund"}}, "Nothing is allowed"),
        ({"input_type": "both", "texts": []}, "/input_type"),
        (answered([]) | {"tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]}, "/tool_calls/0/function/name"),
        (answered([]) | {"tool_calls": [{"function": {"name": " ", "arguments": ""}}]}, "/tool_calls/0/function/name"),
        (answered([]) | {"tool_calls": [{"function": {"name": "a", "arguments": '{"b'}}]}, "no whole JSON"),
        (answered([]) | {"texts": "words"}, "/texts"),
        (answered(["x"], input_type="request", tools=[TOOL], model=None, litellm_version="1"), "mcp-proxy"),
        (answered(["Pay money back."], input_type="request", tools=[TOOL], model=None, litellm_version=None), "mcp-"),
        ({"attributes": {"request": {}}}, "/attributes/request/http"),
        ({"attributes": {"request": {"http": {"method": "POST", "path": "/", "raw_body": "?"}}}}, "base64"),
        (message("refund", {}) | {"jsonrpc": "1.0"}, "jsonrpc"),
        (message("refund", {}) | {"method": "tools/Call"}, "none of MCP's"),
        (message("refund", {}) | {"method": "ping", "Method": "tools/call"}, "'Method' stands in place"),
        (message("refund", {}) | {"params": {"name": "ok", "arguments": {}, "Name": "refund"}}, "'Name' stands"),
        (message("refund", []), "/arguments"),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, "must be an object"),
        ([message("ok", {}) | {"method": "ping"}, 7], "Each message is an object"),
        (hook("refund", {}) | {"hook_type": "tool_post_invoke"}, "tool_pre_invoke"),
        (hook("refund", {}) | {"payload": {"args": {}}}, "/name"),
        (message("refund", {"deep": DEEP}), "deep"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused(kuro: Any, body: Any, says: str) -> None:
    answer = kuro.post("/guard", body)
    assert answer.status_code == 422
    assert says in answer.json()["detail"] + json.dumps(answer.json()["errors"])
    if says == "Nothing is allowed":
        assert [each["pointer"] for each in answer.json()["errors"]] == [
            "/input_type", "/attributes/request/http", "/jsonrpc", "/hook_type",
        ]  # fmt: skip
    assert not AgentResponse.objects.exists()


@table(
    ("method", "path", "body", "headers", "status", "call"),
    [
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}, {}, 200, None),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}, 200, None),
        ("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, {}, 200, None),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 3, "result": {"action": "accept"}}, {}, 200, None),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 3, "method": "tools/run"}, {}, 422, None),
        ("POST", "/mcp", message("refund", {"a": 1}), {"x-envoy-auth-partial-body": "true"}, 413, None),
        ("POST", "/mcp", message("refund", {"a": 1}), {"x-envoy-auth-partial-body": "false"}, 403,
         ("refund", {"a": 1})),
        ("POST", "/mcp", [message("one", {}), message("two", {})], {}, 403, ("one", {})),
        ("PUT", "/mcp", message("refund", {}), {}, 403,
         ("http_request", {"method": "PUT", "url": "http://testserver/mcp", "body": message("refund", {})})),
        ("GET", "/mcp", None, {}, 403, ("http_request", {"method": "GET", "url": "http://testserver/mcp"})),
        ("DELETE", "/orders/7?now=1", None, {"x-forwarded-proto": "https"}, 403,
         ("http_request", {"method": "DELETE", "url": "https://testserver/orders/7?now=1"})),
        ("POST", "/orders", "eur=5", {"content-type": "application/x-www-form-urlencoded"}, 403,
         ("http_request", {"method": "POST", "url": "http://testserver/orders", "body": "eur=5"})),
        ("POST", "/orders", b'{"a": 1, "a": 2}', {}, 422, None),
        ("POST", "/orders", b"\xff\xfe", {}, 422, None),
    ],
    rolled_back=True,
)  # fmt: skip
def test_envoy_asks_by_the_request_itself(
    kuro: Any, method: str, path: str, body: Any, headers: dict[str, str], status: int, call: Any
) -> None:
    answer = kuro.call(method, f"/guard/envoy{path}", body, **headers)
    assert answer.status_code == status, answer.content
    held = HeldItem.objects.order_by("pk").first()
    assert (held and (held.call.name, held.call.arguments)) == call


@table("shape", [SHAPES["LiteLLM at the address it makes"], SHAPES["ContextForge by MCP"]], rolled_back=True)
def test_a_client_of_envoy_does_not_choose_another_gateways_status(kuro: Any, shape: Shape) -> None:
    """Of what these two are answered the status is 200: by that Envoy would let it pass."""
    asked = shape.body(NAME, ARGUMENTS)
    assert kuro.post(shape.path, asked).status_code == 200
    assert kuro.post(shape.path.replace("/guard", "/guard/envoy"), asked).status_code == 403
    assert kuro.post("/guard/mcp", message(NAME, ARGUMENTS)).status_code == 404, "no prefix that has both below it"


@table(
    ("headers", "status"),
    [
        ({}, 403),
        ({"authorization": "", "x-api-key": "{key}"}, 403),
        ({"authorization": "Bearer sk-somebody-elses", "x-api-key": "{key}"}, 403),
        ({"x-api-key": "somebody-elses"}, 403),
        ({"authorization": "", "x-api-key": ""}, 401),
        ({"authorization": "Bearer sk-somebody-elses"}, 401),
        ({"authorization": "Basic {key}"}, 401),
        ({"authorization": "", "x-api-key": "mck_no"}, 401),
        ({"x-api-key": "{key}"}, 403),
        ({"x-api-key": "mck_another-agents"}, 401),
        ({"authorization": "Bearer mck_another-agents", "x-api-key": "{key}"}, 401),
    ],
    rolled_back=True,
)
def test_it_wants_the_agents_key(kuro: Any, headers: dict[str, str], status: int) -> None:
    given = {name: value.replace("{key}", kuro.key) for name, value in headers.items()}
    for path in ("/guard", "/guard/envoy/mcp"):
        assert kuro.post(path, message("refund", {}), **given).status_code == status


def test_who_must_sign_must_sign_here_too(kuro: Any) -> None:
    ruled(kuro, require_signature=True)
    assert kuro.post("/guard", message("refund", {})).status_code == 401


def test_a_key_of_the_clients_own_request_replays_nothing(kuro: Any, alice: Any) -> None:
    key = {"idempotency-key": "once", "webhook-id": "once"}
    held = kuro.post("/guard/envoy/mcp", message("refund", {}), **key).json()["held"][0]["id"]
    decide(alice, held, "approve")
    statuses = [kuro.post("/guard/envoy/mcp", message("refund", {}), **key).status_code for _ in range(2)]
    assert statuses == [200, 403]


def test_what_a_gateway_knows_of_a_tool_goes_along(kuro: Any) -> None:
    SHAPES["ContextForge"].ask(kuro)
    call = HeldItem.objects.get().call
    assert (call.description, call.schema, call.hints) == tuple(DEFINITION.values())
    assert call.definition
    assert call.held.metadata == {
        "via": "contextforge", "request_id": "req-123", "server_id": "srv1", "tenant_id": "tenant1",
        "user": "alice@example.com", "gateway_call": "req-123",
    }  # fmt: skip


def test_headers_that_are_none_name_no_session(kuro: Any) -> None:
    asked = hook("refund", {}) | {"payload": {"name": "refund", "headers": {"root": "mcp-session-id"}}}
    assert kuro.post("/guard", asked).json()["result"]["continue_processing"] is False


def test_contextforge_finds_its_plugin_server(kuro: Any) -> None:
    def ask(method: str, **params: Any) -> Any:
        asked = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = kuro.post("/guard/contextforge", asked)
        assert (answer.status_code, answer.json()["id"]) == (200, 7)
        return answer.json()["result"]

    assert ask("initialize", protocolVersion="2025-06-18")["protocolVersion"] == "2025-06-18"
    assert {"invoke_hook", "get_plugin_config"} <= {each["name"] for each in ask("tools/list")["tools"]}
    told = ask("tools/call", name="get_plugin_config", arguments={"name": "Approval"})
    config = json.loads(told["content"][0]["text"])
    assert (config["name"], config["hooks"]) == ("Approval", ["tool_pre_invoke"])
    assert not AgentResponse.objects.exists()
    passed_on = kuro.post("/guard", message("invoke_hook", hook("refund", {})))
    assert (passed_on.status_code, passed_on.json()["decision"]) == (403, "held")  # another gateway's call, by its name


def test_another_agent_has_no_part_in_it(kuro: Any, alice: Any, other: Any) -> None:
    held = kuro.post("/guard", message("refund", {})).json()["held"][0]["id"]
    decide(alice, held, "approve")
    assert other.post("/guard", message("refund", {})).status_code == 403
    assert kuro.post("/guard", message("refund", {})).status_code == 200
