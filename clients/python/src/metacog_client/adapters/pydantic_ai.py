"""pydantic-ai: a capability by which an agent's tools ask metacog before they run.

    agent = Agent(model, tools=[refund], capabilities=[Gate(AsyncClient(run="order-4711"))])

What a person decides is waited for within the run. With `waits=False` the run ends with its `DeferredToolRequests`
instead, and another one goes on from `results`, in another process if need be. After an edit the tool's result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution
from pydantic_ai.messages import ToolCallPart, ToolReturn
from pydantic_ai.tools import (
    AgentDepsT,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)

from ..async_client import AsyncClient
from ..gating import Outcome, ToolCall

HELD = "metacog"  # of a call's metadata: the id of its held item; once that is decided, also how
GOES_ON = (ApprovalRequired, CallDeferred, SkipToolExecution)  # by which a call is not made, or later


@dataclass
class Gate(AbstractCapability[AgentDepsT]):
    """Has calls of function tools decided by metacog, under the run of its client."""

    client: AsyncClient
    tools: Collection[str] | None = None
    """The names of those that ask; None: all. Tools with `requires_approval=True` always do, and are always held."""
    waits: bool = True
    deadline: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """More of what `AsyncClient.gate` takes, such as `expires_in`."""

    async def prepare_tools(self, ctx: RunContext[AgentDepsT], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        asked = []
        for tool in tool_defs:
            if tool.kind == "function" and (self.tools is None or tool.name in self.tools):
                tool = replace(tool, kind="unapproved", metadata={**(tool.metadata or {}), HELD: "asked"})
            asked.append(tool)
        return asked

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[AgentDepsT], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        async def asked(part: ToolCallPart) -> Outcome:
            tool = ctx.tools.get(part.tool_name)
            own = tool is not None and (tool.metadata or {}).get(HELD) != "asked"
            call = ToolCall(
                part.tool_name,
                part.args_as_dict(),
                part.tool_call_id,
                tool.parameters_json_schema if tool else None,
                (tool.description or None) if tool else None,
            )
            options = {**self.options, "require_review": True} if own else self.options
            if self.waits:
                return await self.client.gate(call, deadline=self.deadline, **options)
            return await self.client.ask(call, **options)

        outcomes = await asyncio.gather(*map(asked, requests.approvals))
        if self.waits:
            return built(self.client, requests, outcomes)
        for part, outcome in zip(requests.approvals, outcomes, strict=True):
            if outcome.held:  # for whoever goes on: it comes along with the requests
                requests.metadata.setdefault(part.tool_call_id, {})[HELD] = outcome.held
        return built(self.client, requests, outcomes, leaves_pending=True)

    async def wrap_tool_execute(
        self, ctx: RunContext[AgentDepsT], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        """Say what became of a call. Tell the model of an edit, since its own call has other arguments."""
        metadata = ctx.tool_call_metadata
        decided = metadata.get(HELD) if isinstance(metadata, dict) else None
        if not isinstance(decided, dict):
            decided = {"verdict": "pass", "message": "", "held": None}
        session = self.options.get("session") or self.client.run
        outcome = Outcome(decided["verdict"], True, decided["message"], held=decided["held"])
        outcome = replace(outcome, session=session, tool=call.tool_name)
        with self.client.reporting(outcome, unless=GOES_ON) as made:
            result = await handler(args)
            made.result = result.return_value if isinstance(result, ToolReturn) else result
        return noted(result, outcome.message) if outcome.verdict == "edit" else result

    async def results(self, requests: DeferredToolRequests) -> DeferredToolResults:
        """Wait for the decisions that a run with `waits=False` ended for; for the next run's `deferred_tool_results`.

        What is not decided within the deadline is denied.
        """

        async def asked(part: ToolCallPart) -> Outcome:
            held = requests.metadata.get(part.tool_call_id, {}).get(HELD)
            call = ToolCall(part.tool_name, part.args_as_dict(), part.tool_call_id)
            if held:
                session = self.options.get("session")
                return await self.client.wait(held, asked=call, session=session, deadline=self.deadline)
            return await self.client.gate(call, deadline=self.deadline, **self.options)

        return built(self.client, requests, await asyncio.gather(*map(asked, requests.approvals)))


def built(
    client: AsyncClient, requests: DeferredToolRequests, outcomes: list[Outcome], *, leaves_pending: bool = False
) -> DeferredToolResults:
    approvals: dict[str, ToolApproved | ToolDenied] = {}
    by: dict[str, str] = {}
    notes: dict[str, dict[str, Any]] = {}
    for part, outcome in zip(requests.approvals, outcomes, strict=True):
        if outcome.verdict == "pending" and leaves_pending:
            continue
        given = approvals[part.tool_call_id] = answer(part, outcome)
        if outcome.allowed and isinstance(given, ToolDenied):
            with client.reporting(outcome) as made:
                made.skip(given.message)
        by[part.tool_call_id] = outcome.by or "metacog"
        if outcome.held:
            decided = {"held": outcome.held, "verdict": outcome.verdict, "message": outcome.message}
            notes[part.tool_call_id] = {HELD: decided}
    return requests.build_results(approvals=approvals, metadata=notes, answered_by=by)


def noted(result: Any, note: str) -> Any:
    if isinstance(result, ToolReturn):
        return replace(result, return_value=noted(result.return_value, note))
    if isinstance(result, str):
        return f"{note}\n\n{result}"
    return [note, *result] if isinstance(result, list | tuple) else [note, result]


def answer(part: ToolCallPart, outcome: Outcome) -> ToolApproved | ToolDenied:
    if not outcome.allowed:
        return ToolDenied(outcome.message)
    if outcome.arguments == part.args_as_dict():
        return ToolApproved()
    if not isinstance(outcome.arguments, dict):
        return ToolDenied("Not done: the arguments that a reviewer put in their place are no object.")
    return ToolApproved(override_args=outcome.arguments)
