"""The hook by which ContextForge (IBM/mcp-context-forge) has an external plugin authorize a call of a tool.

Its plugin server is an MCP server with the tools `get_plugin_config` and `invoke_hook` (the package cpex 0.1); the
same fields, sent without MCP around them, are answered likewise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from metacog import __version__
from metacog.http.problems import Problem
from reviews.gateways.asked import Answer, Asked, Call, Sent, ToolName, definition, named, shaped
from reviews.gateways.check import Checked
from reviews.gateways.mcp import CALL

NAME = "ContextForge's plugin protocol"
HOOK = "tool_pre_invoke"
INVOKE, CONFIG, CONFIGS = "invoke_hook", "get_plugin_config", "get_plugin_configs"
NEEDS = {INVOKE: {"hook_type", "payload"}, CONFIG: {"name"}, CONFIGS: set[str]()}
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
SESSION = "mcp-session-id"
KEPT = ("request_id", "server_id", "tenant_id")
DENIED = -32001  # as JSON-RPC leaves to servers


class Payload(Sent):
    name: ToolName
    args: dict[str, Any] | None = None
    headers: dict[str, Any] | None = None


class Invoked(Sent):
    """A hook of ContextForge that is invoked."""

    hook_type: str = Field(max_length=64)
    payload: dict[str, Any]
    plugin_name: str = "metacog"
    context: dict[str, Any] | None = None


class Told(Sent):
    """What ContextForge is told of a hook."""

    plugin_name: str
    result: dict[str, Any]


def is_one(sent: Any) -> bool:
    return isinstance(sent, dict) and "hook_type" in sent


def is_to_plugin(sent: Any) -> bool:
    """Say whether an MCP message is for the plugin server itself: the hook, or what comes before it."""
    if not isinstance(sent, dict) or sent.get("jsonrpc") != "2.0":
        return False
    params = sent.get("params")
    if sent.get("method") != CALL:
        return sent.get("method") in ("initialize", "ping", "tools/list")
    if not isinstance(params, dict) or not isinstance(arguments := params.get("arguments") or {}, dict):
        return False
    needs = NEEDS.get(params.get("name", ""))
    return needs is not None and needs <= arguments.keys()


def read(sent: Any) -> tuple[Invoked, Asked]:
    """Read a hook, and what it asks."""
    invoked = shaped(sent, Invoked, NAME)
    if invoked.hook_type != HOOK:
        raise Problem(422, f"Of ContextForge's hooks {HOOK} is answered here, and not {invoked.hook_type!r}.")
    payload = shaped(invoked.payload, Payload, NAME)
    context = (invoked.context or {}).get("global_context")
    context = context if isinstance(context, dict) else {}
    tool = (context.get("metadata") or {}).get("tool") if isinstance(context.get("metadata"), dict) else None
    headers = payload.headers or {}
    headers = root if isinstance(root := headers.get("root"), dict) else headers
    session = next((value for name, value in headers.items() if name.lower() == SESSION), None)
    user = _user(context.get("user"))
    call = Call(
        payload.name,
        payload.args or {},
        named(context.get("request_id")),
        **(definition(tool) if isinstance(tool, dict) else {}),
    )
    kept = {name: context.get(name) for name in KEPT} | {"user": user}
    own = ":".join(part for part in ("contextforge", named(context.get("server_id"), 100), user) if part)
    return invoked, Asked("contextforge", named(session) or own, (call,), (), kept, takes_arguments=True)


def _user(sent: Any) -> str | None:
    return named(sent.get("email") if isinstance(sent, Mapping) else sent, 100)


def told(invoked: Invoked, checked: Checked) -> Told:
    """Write the result: with the arguments that a reviewer gave the call."""
    answer = checked.answer
    if answer.decision == "allow":
        (call,) = checked.calls
        payload = {**invoked.payload, "args": call.arguments}
        changed = {"modified_payload": payload} if call.arguments != (invoked.payload.get("args") or {}) else {}
        return Told(plugin_name=invoked.plugin_name, result={"continue_processing": True, **changed})
    return Told(plugin_name=invoked.plugin_name, result={"continue_processing": False, "violation": _violation(answer)})


def _violation(answer: Answer) -> dict[str, Any]:
    return {
        "reason": "Held for review" if answer.decision == "held" else "Denied by metacog",
        "description": answer.reason,
        "code": f"METACOG_{answer.decision.upper()}",
        "details": answer.model_dump(mode="json"),
        "mcp_error_code": DENIED,
        "http_status_code": 403,
    }


def config(name: str) -> dict[str, Any]:
    """Return what a plugin server says of its plugin, whatever a gateway calls it."""
    return {
        "name": name,
        "description": "Asks metacog before a tool is called.",
        "author": "metacog",
        "version": __version__,
        "kind": "metacog.Approval",  # a class of the server's own, which it need not have
        "hooks": [HOOK],
        "tags": ["approval"],
    }


def served(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the result of a message to the plugin server that asks nothing; None of the hook itself."""
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "metacog", "version": __version__},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in (CONFIG, CONFIGS, INVOKE)]}
    match params.get("name"):
        case "get_plugin_config":
            return content(config(str(params["arguments"]["name"])))
        case "get_plugin_configs":
            return content([config("metacog")])
    return None


def content(value: Any) -> dict[str, Any]:
    """Return the result of a tool as MCP writes it."""
    return {"content": [{"type": "text", "text": json.dumps(value, ensure_ascii=False)}], "isError": False}
