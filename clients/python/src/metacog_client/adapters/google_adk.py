"""Google's Agent Development Kit: a plugin by which the tools of an app's agents ask metacog before they run.

    app = App(name="refunds", root_agent=agent, plugins=[Gate(AsyncClient())])

A held call waits within its run. ADK keeps its calls in the session: whoever is killed while it waits goes on with
`run_async(invocation_id=…)` of a resumable app, in any process that has the same sessions, and finds the same held
item.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from ..async_client import AsyncClient
from ..gating import Outcome, ToolCall
from ..reporting import words_of
from .objects import gated


class Gate(BasePlugin):
    """Asks about each call of every agent of an app; a session of ADK is a run and a session here.

    Put it after plugins that change arguments. What an agent's own `before_tool_callback` changes is asked by nobody.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        tools: Collection[str] | None = None,
        deadline: float | None = None,
        name: str = "metacog",
        **options: Any,
    ) -> None:
        """`tools` names those that ask (all); `options` are more of what `AsyncClient.gate` takes."""
        super().__init__(name)
        self.client, self.tools, self.deadline, self.options = client, tools, deadline, options
        self._told: dict[tuple[str, str | None], Outcome] = {}  # by call, until it has run

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Wait until the call is decided; a dict is what the model reads in place of a result."""
        if type(tool) is BaseTool or (self.tools is not None and tool.name not in self.tools):
            return None  # the first stands for a tool that is not there: ADK tells the model so
        call = ToolCall(
            tool.name, dict(tool_args), tool_context.function_call_id, schema_of(tool), tool.description or None
        )
        client = self.client.for_run(tool_context.session.id)
        metadata = {"agent": tool_context.agent_name, **(self.options.get("metadata") or {})}
        told = await gated(client, call, deadline=self.deadline, **{**self.options, "metadata": metadata})
        if not told.allowed:
            return {"error": told.message}
        tool_args.clear()
        tool_args.update(told.arguments)
        self._told[key(tool_context)] = told
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Say what became of a call; tell the model of an edit, since its own has other arguments."""
        if tool_context.function_call_id in tool_context.actions.requested_tool_confirmations:
            return None  # it waits for ADK's own confirmation, and is called again
        told = self._told.pop(key(tool_context), None)
        if told is None:
            session = self.options.get("session") or tool_context.session.id
            self.client.add_output(result, tool=tool.name, session=session)
            return None
        with self.client.reporting(told) as made:
            made.result = result
            if isinstance(result, dict) and (failure := result.get("error")):
                made.fail(str(failure))
        if told.verdict != "edit":
            return None
        return {"review": told.message, **(result if isinstance(result, dict) else {"result": result})}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> None:
        """Say that a call failed, and leave the error to ADK."""
        if told := self._told.pop(key(tool_context), None):
            with self.client.reporting(told) as made:
                made.fail(words_of(error))


def key(context: ToolContext) -> tuple[str, str | None]:
    return context.invocation_id, context.function_call_id


def schema_of(tool: BaseTool) -> dict[str, Any] | None:
    declared = tool._get_declaration()  # which every tool defines, and ADK gives the model
    if declared and declared.parameters_json_schema:
        return dict(declared.parameters_json_schema)
    if declared and declared.parameters:
        return declared.parameters.json_schema.model_dump(mode="json", exclude_none=True, by_alias=True)
    return None
