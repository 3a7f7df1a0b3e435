"""The OpenAI Agents SDK: its function tools ask metacog before they run.

    gate = Gate(AsyncClient(run="order-4711"))
    agent = Agent(name="refunds", tools=[gate(refund)])
    result = await gate.run(agent, "Refund order 4711.")

A call that a person decides interrupts the run, as `needs_approval` does, so that its state can be kept and another
process can go on (`Gate.resolve`). What was approved runs with the arguments as they were decided; after an edit the
tool's result says so.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, TypeVar

from agents import Agent, FunctionTool, ItemHelpers, Runner, RunResult, RunState, ToolOutputText
from agents.run_context import RunContextWrapper
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall
from typing_extensions import Unpack

from ..async_client import AsyncClient
from ..flows import WhenUnreachable
from ..gating import Outcome, ToolCall, as_json
from ..reporting import words_of

TContext = TypeVar("TContext")


class Options(TypedDict, total=False):
    """As `AsyncClient.gate` takes them; the same whenever a call is asked about again."""

    session: str | None
    user_message: str | None
    metadata: dict[str, Any] | None
    require_review: bool
    expires_in: int | None
    unreachable: WhenUnreachable


class Gate:
    """Asks about the calls of the tools that it was given, under the run of its client."""

    def __init__(
        self, client: AsyncClient, *, deadline: float | None = None, interrupt: bool = True, **options: Unpack[Options]
    ) -> None:
        """`interrupt=False` waits for a person within the call, for runs whose state nobody keeps."""
        self.client, self.deadline, self.options = client, deadline, options
        self.interrupts = interrupt
        self._tools: dict[str, FunctionTool] = {}
        self._told: dict[str, Outcome] = {}  # by call: what needs no asking again when it is made

    def __call__(self, tool: FunctionTool) -> FunctionTool:
        """Return a tool that asks first. `needs_approval=True` stays what it is: a person decides each of its calls."""
        if callable(tool.needs_approval):
            raise ValueError(f"needs_approval of {tool.name} is a function: leave that to a rule of metacog's policy.")

        async def needs_approval(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            call = self._call(tool, arguments, call_id)
            outcome = await self.client.ask(call, **self._options(tool))
            if outcome.verdict == "pending":
                return True
            self._told[key(call)] = outcome
            return False

        async def invoke(context: ToolContext[Any], given: str) -> Any:
            call = self._call(tool, parsed(given), context.tool_call_id)
            outcome = self._told.pop(key(call), None) or await self._decided(tool, call)
            if not outcome.allowed:
                return outcome.message
            decided, raised = json.dumps(outcome.arguments, ensure_ascii=False), list[Exception]()
            with self.client.reporting(outcome) as made:
                made.result = result = await watched(tool, raised)(context, decided)
                if raised:
                    made.fail(words_of(raised[0]))
            if outcome.verdict != "edit" or tool.output_json_schema is not None:  # a note would not meet the schema
                return result
            return noted(result, outcome.message)

        self._tools[tool.name] = tool
        approval = needs_approval if self.interrupts else False
        return dataclasses.replace(tool, on_invoke_tool=invoke, needs_approval=approval)

    async def run(self, agent: Agent[TContext], given: Any, **options: Any) -> RunResult:
        """Run an agent as `Runner.run` does, and wait for decisions; where one is late, it stays interrupted."""
        result = await Runner.run(agent, given, **options)
        while result.interruptions:
            state = result.to_state()
            if not await self.resolve(state):
                break
            result = await Runner.run(agent, state, **options)
        return result

    async def resolve(self, state: RunState[Any, Any]) -> bool:
        """Wait for what this run was interrupted for, and put the decisions into its state.

        Return whether all of it is decided: then the state can be run. Calls of other tools are left as they are, and
        stand in the way of it.
        """
        known = [
            (item, tool, self._call(tool, parsed(item.arguments or ""), item.call_id))
            for item in state.get_interruptions()
            if item.call_id and (tool := self._tools.get(item.tool_name or ""))
        ]
        outcomes = await asyncio.gather(*(self._decided(tool, call) for _, tool, call in known))
        for (item, _, call), outcome in zip(known, outcomes, strict=True):
            if outcome.allowed:
                state.approve(item)
                self._told[key(call)] = outcome
            elif outcome.verdict != "pending":
                state.reject(item, rejection_message=outcome.message)
        undecided = [outcome for outcome in outcomes if outcome.verdict == "pending"]
        return not undecided and len(known) == len(state.get_interruptions())

    async def _decided(self, tool: FunctionTool, call: ToolCall) -> Outcome:
        return await self.client.gate(call, deadline=self.deadline, **self._options(tool))

    def _call(self, tool: FunctionTool, arguments: Any, call_id: str) -> ToolCall:
        return ToolCall(tool.name, arguments, call_id, tool.params_json_schema, tool.description or None)

    def _options(self, tool: FunctionTool) -> Options:
        return {**self.options, "require_review": True} if tool.needs_approval else self.options


def watched(tool: FunctionTool, raised: list[Exception]) -> Callable[[ToolContext[Any], str], Awaitable[Any]]:
    """Give what calls a tool, and notes what that raised: the SDK makes it a result for the model."""
    function = getattr(tool.on_invoke_tool, "_invoke_tool_impl", None)
    if function is None:  # a tool that was made by hand, whose failures are its own matter
        return tool.on_invoke_tool

    async def noting(context: ToolContext[Any], given: str) -> Any:
        try:
            return await function(context, given)
        except Exception as error:  # whatever the tool raises; the SDK goes on with it
            raised.append(error)
            raise

    invoke = copy.copy(tool.on_invoke_tool)
    invoke._invoke_tool_impl = noting  # type: ignore[attr-defined]  # no public way shows what was raised
    return invoke


def noted(result: Any, note: str) -> Any:
    """Tell the model of an edit, since its own call still has the arguments that it wanted."""
    call = ResponseFunctionToolCall(arguments="", call_id="", name="", type="function_call")
    as_told = ItemHelpers.tool_call_output_item(call, result)["output"]
    if isinstance(as_told, str):
        return f"{note}\n\n{as_told}"
    return [ToolOutputText(text=note), *(result if isinstance(result, list | tuple) else [result])]


def parsed(given: str) -> Any:
    try:
        return json.loads(given or "{}")
    except ValueError:  # the tool refuses it in its own words
        return given


def key(call: ToolCall) -> str:
    return as_json([call.name, call.call_id, call.arguments])
