"""LlamaIndex: tools that ask metacog before they run, whoever calls them.

    gate = Gate(AsyncClient(run="order-4711"))
    agent = FunctionAgent(tools=[gate(refund)], llm=llm)

A held call waits within the run. LlamaIndex tells a tool no id of its call: one is made from its name, its arguments
and how often this very call was made before, so that an agent which is started again under the same `run` finds what
is held of it. Give each run a new name, and a gate of its own.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import TextBlock
from llama_index.core.tools import AsyncBaseTool, FunctionTool, ToolOutput, adapt_to_async_tool
from llama_index.core.tools.types import BaseTool

from ..async_client import AsyncClient
from ..gating import ToolCall, derived
from .objects import gated


class Gate:
    """Asks about the calls of the tools that it was given, under the run of its client."""

    def __init__(self, client: AsyncClient, *, deadline: float | None = None, **options: Any) -> None:
        """`options` are more of what `AsyncClient.gate` takes, such as `expires_in`."""
        self.client, self.deadline, self.options = client, deadline, options
        self._made: Counter[str] = Counter()

    def __call__(self, tool: BaseTool | Callable[..., Any]) -> AsyncBaseTool:
        """Return a tool that asks first."""
        own = adapt_to_async_tool(tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(tool))
        asking = copy.copy(own)

        async def acall(*words: Any, **given: Any) -> ToolOutput:
            return await self._called(own, words, given)

        def call(*words: Any, **given: Any) -> ToolOutput:
            made: ToolOutput = asyncio_run(acall(*words, **given))
            return made

        # Of this object alone, which types forbid: LlamaIndex looks at a tool's class, and its function's parameters.
        asking.acall, asking.call = acall, call  # type: ignore[method-assign]
        return asking

    async def _called(self, tool: AsyncBaseTool, words: tuple[Any, ...], given: dict[str, Any]) -> ToolOutput:
        schema, name = tool.metadata.get_parameters_dict(), tool.metadata.get_name()
        context = getattr(tool, "ctx_param_name", None)  # of a function that is told of the run
        hidden = {context: given.pop(context)} if context in given else {}
        arguments = dict(zip(schema.get("properties", {}), words, strict=False)) | given
        call = derived(name, arguments)
        self._made[call] += 1
        asked = ToolCall(name, arguments, f"{call}-{self._made[call]}", schema, tool.metadata.description or None)
        told = await gated(self.client, asked, deadline=self.deadline, **self.options)
        if not told.allowed:
            return ToolOutput(name, told.message, raw_input=arguments, raw_output=told.message, is_error=True)
        with self.client.reporting(told) as made:
            output = await tool.acall(**told.arguments, **hidden)
            made.result = output.content
            if output.is_error:
                made.fail(output.content)
        if told.verdict == "edit":  # the model's own call still has the arguments that it wanted
            output.blocks = [TextBlock(text=told.message), *output.blocks]
        return output
