"""What gateways call before they let something through."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import BaseModel

from metacog.accounts.keys import is_signed
from metacog.heuristics.wire import wire
from metacog.http.api import REFERENCE, UNKNOWN, UNSIGNED, AgentRequest, ApiKey, as_json, read_json
from metacog.http.problems import Problem
from metacog.models import Agent
from patterns.patterns.scorer import scorer_for
from reviews.gateways import envoy, litellm, mcp, plugin
from reviews.gateways.asked import Answer, Asked
from reviews.gateways.check import Checked, check

router = Router()
LITELLM_PATH = "beta/litellm_basic_guardrail_api"  # which LiteLLM puts behind the address that it is given
PLUGIN_PATH = "contextforge"  # its status is 200 whatever the answer, so that no other gateway is to get it
ENVOY_PATH = "envoy/"
KEY = "mck_"  # how the keys of agents begin
DENIED = 403  # by any status that is not 200, but one from 500 on may count as an answer that did not come
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
EXPECTED = [
    {"pointer": "/input_type", "detail": f"is there in a request of {litellm.NAME}"},
    {"pointer": "/attributes/request/http", "detail": "is there in a CheckRequest of Envoy's ext_authz"},
    {"pointer": "/jsonrpc", "detail": "is there in an MCP message as a gateway passes it on: `tools/call`"},
    {"pointer": "/hook_type", "detail": f"is there in a hook of {plugin.NAME}"},
]
NOT_KNOWN = Problem(
    422,
    "Nothing is allowed by a body that nobody here can read. Send what LiteLLM's Generic Guardrail API, Envoy's "
    "ext_authz, an MCP gateway or ContextForge's plugin protocol send: docs/gateways.md.",
    EXPECTED,
)


class GatewayKey(ApiKey):
    """The agent's key, in `Authorization`, or in `X-API-Key` where that is the client's own."""

    def __call__(self, request: HttpRequest) -> Agent:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        own, other = token if scheme.lower() == "bearer" else "", request.headers.get("X-API-Key", "")
        key = own if own.startswith(KEY) else other or own
        if not key or (other.startswith(KEY) and other != key):  # of two agents' one may be the client's, who chose it
            raise UNKNOWN
        return self.authenticate(request, key)


class Message(BaseModel):
    """An MCP message as a gateway passes it on."""

    jsonrpc: str
    method: str | None = None
    id: str | int | None = None
    params: dict[str, Any] | None = None


SHAPES: list[type[BaseModel]] = [litellm.Body, envoy.CheckRequest, Message, plugin.Invoked]
EXAMPLES: dict[str, dict[str, Any]] = {
    "LiteLLM": {
        "input_type": "response",
        "texts": ["I refund it."],
        "tool_calls": [
            {"id": "call_7", "type": "function", "function": {"name": "refund", "arguments": '{"order": 4711}'}}
        ],
        "request_data": {"user_api_key_alias": "support"},
        "litellm_call_id": "9f1c",
        "litellm_trace_id": "conversation-1",
    },
    "Envoy": {
        "attributes": {
            "request": {
                "http": {
                    "method": "POST",
                    "path": "/mcp",
                    "host": "tools.example.com",
                    "headers": {"mcp-session-id": "s1"},
                    "body": '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
                }
            }
        }
    },
    "an MCP gateway": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "ContextForge": {
        "hook_type": "tool_pre_invoke",
        "plugin_name": "metacog",
        "payload": {"name": "refund", "args": {"order": 4714}},
        "context": {"global_context": {"request_id": "r1", "server_id": "bank"}},
    },
}


def _body() -> dict[str, Any]:
    schemas = [shape.model_json_schema(ref_template=REFERENCE) for shape in SHAPES]
    definitions = {name: each for schema in schemas for name, each in schema.pop("$defs", {}).items()}
    content = {
        "schema": {"title": "Guarded", "anyOf": schemas, "$defs": definitions},
        "examples": {name: {"value": value} for name, value in EXAMPLES.items()},
    }
    return {
        "requestBody": {"required": True, "content": {"application/json": content}},
        "security": [{"ApiKey": []}],
    }


@router.post(
    "/guard",
    auth=GatewayKey().__call__,
    response={200: litellm.Told | Answer | plugin.Told | dict[str, Any]},
    openapi_extra=_body(),
    summary="Ask as a gateway",
)
def guard(request: AgentRequest) -> HttpResponse:
    """Say whether what waits at a gateway may pass: it is posted as its agent would post it.

    The shape is told by the body, and so is the answer's. LiteLLM is answered by `action`, ContextForge by
    `continue_processing`, Envoy and MCP gateways by the status: 200 allows, 403 does not. `decision` is `allow`, `deny`
    or `held`, and `held` says where people decide. The same request, sent again once it is approved, passes once. The
    key may stand in `X-API-Key`. Below this address stands what these gateways put behind theirs
    (`/guard/beta/litellm_basic_guardrail_api`, and any path below `/guard/envoy`, Envoy's `path_prefix`).
    """
    agent = _agent(request)
    sent = _sent(request)
    if litellm.is_one(sent):
        return _litellm(request, agent, sent)
    if envoy.is_check(sent):
        return _by_status(request, agent, envoy.read_check(sent))
    if plugin.is_one(sent):
        invoked, asked = plugin.read(sent)
        return as_json(plugin.told(invoked, _checked(request, agent, asked)).model_dump(mode="json"))
    if mcp.is_message(sent):
        session = request.headers.get(envoy.SESSION)
        return _by_status(request, agent, Asked("mcp", session, mcp.calls(sent)))
    raise NOT_KNOWN


@router.api_operation(METHODS, "/guard/{path:path}", auth=GatewayKey().__call__, include_in_schema=False)
def guard_below(request: AgentRequest, path: str) -> HttpResponse:
    """Answer LiteLLM at the address it makes, and Envoy, which puts the path of the request behind its prefix.

    Envoy has a prefix of its own: what a client of its asks for could be one of the other two addresses, whose status
    is 200 whatever the answer.
    """
    agent = _agent(request)
    if path == LITELLM_PATH:
        return _litellm(request, agent, _sent(request))
    if path == PLUGIN_PATH:
        return _plugin(request, agent, wire.load(read_json(request)))
    if path.startswith(ENVOY_PATH):
        return _by_status(request, agent, envoy.read(envoy.passing(request, path.removeprefix(ENVOY_PATH))))
    raise Problem(404, "No gateway asks at this address. The path_prefix of Envoy's ext_authz is /api/v1/guard/envoy.")


def _sent(request: HttpRequest) -> Any:
    """Return what was sent. A message that its sender dressed as another gateway's request is not to pass by it."""
    sent = wire.load(read_json(request))
    if mcp.may_be_message(sent) and (litellm.is_one(sent) or envoy.is_check(sent) or plugin.is_one(sent)):
        raise NOT_KNOWN
    return sent


def _agent(request: AgentRequest) -> Agent:
    agent = request.auth
    if scorer_for(agent).policy.require_signature and not is_signed(agent.public_id, request):
        raise UNSIGNED
    return agent


def _checked(request: HttpRequest, agent: Agent, asked: Asked) -> Checked:
    return check(agent, asked, request.headers.get("traceparent", ""))


def _litellm(request: HttpRequest, agent: Agent, sent: Any) -> HttpResponse:
    if not litellm.is_one(sent):
        raise NOT_KNOWN
    asked = litellm.read(sent)
    return as_json(litellm.told(_checked(request, agent, asked), asked).model_dump(mode="json"))


def _by_status(request: HttpRequest, agent: Agent, asked: Asked) -> HttpResponse:
    answer = _checked(request, agent, asked).answer
    told = answer.model_dump(mode="json")
    headers: dict[str, str] = {"X-Metacog-Decision": answer.decision}
    if answer.decision == "allow":
        return as_json(told, headers=headers)
    if answer.held:
        headers |= {"X-Metacog-Held": answer.held[0].id, "X-Metacog-Review": answer.held[0].url}
    raise Problem(DENIED, answer.reason, headers=headers, **told)


def _plugin(request: HttpRequest, agent: Agent, message: Any) -> HttpResponse:
    """Answer as the MCP server that ContextForge has its external plugins behind."""
    if not plugin.is_to_plugin(message):
        raise NOT_KNOWN
    mcp.calls(message)  # is clear
    result = plugin.served(message)
    if result is None:
        invoked, asked = plugin.read(message["params"]["arguments"])
        told = plugin.told(invoked, _checked(request, agent, asked))
        result = plugin.content(told.model_dump(mode="json"))
    return as_json({"jsonrpc": "2.0", "id": message.get("id"), "result": result})
