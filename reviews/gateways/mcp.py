"""MCP messages as they pass a gateway.

A gateway that reads a message in one way, before a server that reads it in another, is no gate. So a message is refused
where two readers could differ, by a name written in other letters; a name that stands twice was refused before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metacog.http.problems import Problem
from reviews.gateways.asked import Call, Sent, ToolName, named, shaped

CALL = "tools/call"
NAME = "an MCP gateway"
ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
OF_A_CALL = frozenset({"name", "arguments", "_meta", "task"})
# What the protocol has beside calls of tools, up to its version 2026-07-28: none of it makes a call.
PASSING = frozenset(
    {
        *("initialize", "ping", "server/discover", "completion/complete", "logging/setLevel"),
        *("tools/list", "prompts/list", "prompts/get", "roots/list"),
        *("resources/list", "resources/templates/list", "resources/read", "resources/subscribe"),
        *("resources/unsubscribe", "subscriptions/listen"),
        *("tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"),
        *("notifications/initialized", "notifications/cancelled", "notifications/progress"),
        *("notifications/roots/list_changed", "notifications/tasks/status", "notifications/elicitation/complete"),
    }
)


class Params(Sent):
    name: ToolName
    arguments: dict[str, Any] | None = None


def is_message(sent: Any) -> bool:
    """Say whether this is a message of JSON-RPC, or several."""
    one = sent[0] if isinstance(sent, list) and sent else sent
    return isinstance(one, dict) and any(name.casefold() == "jsonrpc" for name in one)


def may_be_message(sent: Any) -> bool:
    """Say whether somebody may read a message of JSON-RPC in this, whatever else it is."""
    return isinstance(sent, dict) and any(name.casefold() in ("jsonrpc", "method", "params") for name in sent)


def calls(sent: Any) -> tuple[Call, ...]:
    """Return the calls of tools in one message or several. Raises the 422 of what is not to be read for certain."""
    messages = sent if isinstance(sent, list) else [sent]
    return tuple(call for message in messages if (call := _call(message)))


def _call(message: Any) -> Call | None:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _unclear('Each message is an object with "jsonrpc": "2.0".')
    _check_names(message, ENVELOPE)
    if "method" not in message and message.keys() & {"result", "error"}:
        return None  # the answer of a client to its server
    method = message.get("method")
    if method == CALL:
        params = message.get("params")
        if isinstance(params, dict):
            _check_names(params, OF_A_CALL)
        found = shaped(params, Params, NAME)
        said = message.get("id")
        return Call(found.name, found.arguments or {}, named(str(said)) if said is not None else None)
    if method not in PASSING:
        raise _unclear(f"The method {str(method)[:100]!r} is none of MCP's that is known here.")
    return None


def _check_names(given: Mapping[str, Any], known: Iterable[str]) -> None:
    for name in given.keys() - known:
        if name.casefold() in known:
            raise _unclear(f"{name!r} stands in place of {name.casefold()!r}.")


def _unclear(detail: str) -> Problem:
    return Problem(422, f"This is no message of MCP that is clear to every reader: {detail}")
