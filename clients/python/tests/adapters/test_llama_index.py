"""LlamaIndex asks before it calls a tool: its own agents, its mock of a model, a real metacog."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from metacog_client import AsyncClient
from metacog_client.adapters.llama_index import Gate

from .plays import MADE, ONE, Plays, refund

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own use of pydantic


class TestLlamaIndex(Plays):
    page = "llama_index"

    def play(self, run: str, calls: Sequence[Any] = ONE, *, retry_seconds: float = 30.0, **options: Any) -> str:
        told: list[str] = []
        tools = options.pop("tools", None)
        tool = options.pop("tool", refund)
        kind = options.pop("kind", FunctionAgent)
        turns = [list(calls), *([each] for each in options.pop("then", []))]

        def model(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
            told[:] = [each.content or "" for each in messages if each.role == MessageRole.TOOL]
            turn = sum(any(isinstance(block, ToolCallBlock) for block in each.blocks) for each in messages)
            if turn == len(turns):
                return ChatMessage(role="assistant", content="Done.")
            blocks = [
                ToolCallBlock(tool_call_id=f"c{turn}-{n}", tool_name="refund", tool_kwargs=each)
                for n, each in enumerate(turns[turn])
            ]
            return ChatMessage(role="assistant", blocks=blocks)

        async def playing() -> None:
            async with AsyncClient(run=run, retry_seconds=retry_seconds) as client:
                gated = tool if tools else Gate(client, **options)(tool)
                agent = FunctionAgent(tools=[gated], llm=MockFunctionCallingLLM(response_generator=model))
                await (agent if kind is FunctionAgent else kind(agents=[agent])).run("Refund it.")

        asyncio.run(playing())
        return "\n".join(told)

    def test_a_workflow_of_agents_asks_and_a_tool_is_told_of_it(self, metacog: Any, run: str) -> None:
        async def refund_in(ctx: Context, order: str, eur: float) -> str:
            await ctx.store.set("order", order)
            return refund(order, eur)

        deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 9})
        tool = FunctionTool.from_defaults(async_fn=refund_in, name="refund")
        assert "Refunded 9 EUR." in self.play(run, tool=tool, kind=AgentWorkflow)
        deciding.join()

    def test_an_agents_handoff_to_another_is_asked_by_nobody(self, metacog: Any, run: str) -> None:
        def says(tool: str, arguments: Any) -> MockFunctionCallingLLM:
            def model(messages: Sequence[ChatMessage], **more: Any) -> ChatMessage:
                calls = [each for message in messages for each in message.blocks if isinstance(each, ToolCallBlock)]
                if tool in [each.tool_name for each in calls]:
                    return ChatMessage(role="assistant", content=str(messages[-1].content))
                call = ToolCallBlock(tool_call_id=tool, tool_name=tool, tool_kwargs=arguments)
                return ChatMessage(role="assistant", blocks=[call])

            return MockFunctionCallingLLM(response_generator=model)

        async def playing() -> str:
            async with AsyncClient(run=run) as client:
                handed = {"to_agent": "till", "reason": "It is a refund."}
                desk = FunctionAgent(name="desk", description="Reads.", tools=[], llm=says("handoff", handed))
                tools = [Gate(client, deadline=0)(refund)]
                till = FunctionAgent(name="till", description="Pays.", tools=tools, llm=says("refund", ONE[0]))
                result = await AgentWorkflow(agents=[desk, till], root_agent="desk").run("Refund it.")
                return str(result)

        assert "held for review" in asyncio.run(playing())
        assert [each["name"] for each in metacog.pending(run)] == ["refund"]  # as LlamaIndex 0.14.25 has it

    @pytest.mark.parametrize("given", [{"order": "1", "eur": 2.0}, ()])
    def test_who_calls_the_tool_without_an_agent_asks_too(self, metacog: Any, run: str, given: Any) -> None:
        deciding = metacog.decide_next("approve", run)
        tool = Gate(AsyncClient(run=run))(refund)
        assert tool.call(**given).content if given else tool("1", 2.0).content == "Refunded 2 EUR."
        deciding.join()
        assert MADE == [("1", 2)]

    def test_the_same_call_twice_is_two_questions(self, metacog: Any, run: str) -> None:
        tool = Gate(AsyncClient(run=run))(refund)
        for verdict in ("approve", "reject"):
            deciding = metacog.decide_next(verdict, run)
            tool.call(order="1", eur=2.0)
            deciding.join()
        assert MADE == [("1", 2)]
