"""LiteLLM's Generic Guardrail API: what a model answered, before the proxy's client gets it.

https://docs.litellm.ai/docs/adding_provider/generic_guardrail_api, as of LiteLLM 1.110.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from metacog.heuristics.wire import wire
from metacog.http.problems import Problem, at
from reviews.gateways.asked import Answer, Asked, Call, Sent, ToolName, named, shaped
from reviews.gateways.check import Checked

NAME = "LiteLLM's Generic Guardrail API"
SESSION_HEADERS = ("x-litellm-session-id", "x-litellm-trace-id")
HIDDEN = "[present]"  # in place of a header's value
WHO = ("user_api_key_hash", "user_api_key_alias", "user_api_key_user_id", "user_api_key_team_id")
KEPT = ("user_api_key_alias", "user_api_key_user_id", "user_api_key_team_alias", "user_api_key_end_user_id")
NO_ARGUMENTS = (
    "LiteLLM sends this guardrail no arguments of MCP calls, only the words in them, so no call can be judged or "
    "approved. Have MCP tools called through `metacog mcp-proxy`, and leave pre_mcp_call out of this guardrail's mode."
)


class Function(Sent):
    name: ToolName
    arguments: str | dict[str, Any] | None = None


class ToolCall(Sent):
    id: str | None = None
    function: Function


class Body(Sent):
    """A request of LiteLLM's Generic Guardrail API."""

    input_type: Literal["request", "response"] = Field(description="What a client sent, or what its model answered.")
    texts: list[str] | None = None
    tool_calls: list[ToolCall] | None = None
    tools: list[dict[str, Any]] | None = None
    structured_messages: list[dict[str, Any]] | None = None
    request_data: dict[str, Any] | None = Field(
        default=None, description="Who asks: the `user_api_key_…` of the proxy."
    )
    request_headers: dict[str, str] | None = None
    additional_provider_specific_params: dict[str, Any] | None = None
    litellm_call_id: str | None = None
    litellm_trace_id: str | None = None
    litellm_version: str | None = None
    model: str | None = None


class Told(Answer):
    """An answer of the Generic Guardrail API, with metacog's own beside it."""

    action: Literal["BLOCKED", "NONE", "GUARDRAIL_INTERVENED"]
    blocked_reason: str | None = None
    texts: list[str] | None = Field(default=None, description="All of them, where one was marked or edited.")


def is_one(sent: Any) -> bool:
    return isinstance(sent, dict) and "input_type" in sent


def read(sent: Any) -> Asked:
    """Read what LiteLLM asks. Of a request nothing is asked but calls that were not made: the rest is no agent's."""
    body = shaped(sent, Body, NAME)
    if _is_mcp(body):
        raise Problem(422, NO_ARGUMENTS)
    # What a model has just answered was not made yet, whatever ids stand in the conversation before it.
    made = _made(body.structured_messages or ()) if body.input_type == "request" else set()
    calls = [
        Call(call.function.name, _arguments(call.function.arguments, index), call.id)
        for index, call in enumerate(body.tool_calls or ())
        if call.id is None or call.id not in made
    ]
    who = body.request_data or {}
    return Asked(
        "litellm",
        _session(body),
        tuple(calls),
        tuple(body.texts or ()) if body.input_type == "response" else (),
        {name: who.get(name) for name in KEPT}
        | {"litellm_call_id": body.litellm_call_id, "litellm_trace_id": body.litellm_trace_id, "model": body.model},
    )


def _is_mcp(body: Body) -> bool:
    """Tell an MCP call, of which there is its one tool and the strings within its arguments, from a chat request."""
    if body.input_type != "request" or len(body.tools or ()) != 1 or body.structured_messages or body.model:
        return False
    function = (body.tools or [{}])[0].get("function")
    description = function.get("description") if isinstance(function, dict) else None
    return bool(body.litellm_version) or not body.texts or body.texts[0] == description


def _made(messages: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of the calls that have their result in a conversation."""
    return set(_results(messages))


def _results(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        if message.get("role") == "tool" and isinstance(message.get("tool_call_id"), str):
            yield message["tool_call_id"]
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            if isinstance(part, dict) and isinstance(part.get("tool_use_id"), str):
                yield part["tool_use_id"]


def _arguments(sent: str | dict[str, Any] | None, index: int) -> Any:
    if not isinstance(sent, str):
        return sent or {}
    if not sent.strip():
        return {}
    try:
        return wire.load(sent.encode())
    except wire.Refused:
        raise at(
            f"/tool_calls/{index}/function/arguments",
            "These arguments are no whole JSON, as those of a stream that goes on. Set "
            "streaming_buffer_until_moderated and streaming_end_of_stream_only for this guardrail.",
        ) from None


def _session(body: Body) -> str | None:
    """Name the conversation: by what its client said, else by whose it is.

    LiteLLM makes up a trace id for each request whose client names none, so that says nothing where the headers are
    there to tell.
    """
    if own := named((body.additional_provider_specific_params or {}).get("session")):
        return own
    headers = {name.lower(): value for name, value in (body.request_headers or {}).items()}
    for name in SESSION_HEADERS:
        if (value := named(headers.get(name))) and value != HIDDEN:
            return value
    if body.request_headers is None and (trace := named(body.litellm_trace_id)):
        return trace
    who = body.request_data or {}
    known = next((value for name in WHO if (value := named(who.get(name), 100))), "")
    user = named(who.get("user_api_key_end_user_id"), 100)
    return ":".join(part for part in ("litellm", known, user) if part)


def told(checked: Checked, asked: Asked) -> Told:
    """Write the answer. Calls cannot be changed in it, texts can."""
    answer = checked.answer
    if answer.decision != "allow":
        return Told(**dict(answer), action="BLOCKED", blocked_reason=answer.reason)
    texts = [*checked.texts]
    if texts != [*asked.texts]:
        return Told(**dict(answer), action="GUARDRAIL_INTERVENED", texts=texts)
    return Told(**dict(answer), action="NONE")
