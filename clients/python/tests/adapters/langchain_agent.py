"""An agent whose model says what it is told to, for the tests and for the processes that they start and kill.

    langchain_agent.py PAUSE DATABASE LEDGER THREAD TURNS      begin, or go on where the thread stands

TURNS is a JSON list of what the model says, one list of calls (`{"name", "args", "id"}`) a turn; it ends with "done".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from metacog_client.adapters.langchain import Graph, MetacogMiddleware

Calls = list[dict[str, Any]]


class Scripted(BaseChatModel):
    """Says turn after turn; which comes next it reads from the conversation, so it goes on in any process."""

    turns: list[Calls]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Scripted:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        if turn < len(self.turns):
            calls = [{"type": "tool_call", **call} for call in self.turns[turn]]
            said = AIMessage("I refund what was promised.", tool_calls=calls)
        else:
            said = AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=said)])


def refunds(ledger: Path) -> BaseTool:
    """Make a tool that leaves a line in a file each time it runs."""

    @tool
    def refund(order: str, eur: int) -> str:
        """Refund an order."""
        with ledger.open("a") as file:
            file.write(f"{order} {eur}\n")
        return f"refunded {eur} EUR for {order}"

    return refund


def ran(ledger: Path) -> list[str]:
    return sorted(ledger.read_text().splitlines()) if ledger.exists() else []


def call(order: str, eur: int, call_id: str = "call_0") -> dict[str, Any]:
    return {"name": "refund", "args": {"order": order, "eur": eur}, "id": call_id}


def agent(
    gate: MetacogMiddleware, ledger: Path, turns: list[Calls], checkpointer: BaseCheckpointSaver[Any] | None = None
) -> Graph:
    return create_agent(Scripted(turns=turns), [refunds(ledger)], middleware=[gate], checkpointer=checkpointer)


def in_thread(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread}}


GO = {"messages": [{"role": "user", "content": "Refund the orders."}]}


def main(pause: Literal["wait", "interrupt"], database: str, ledger: str, thread: str, turns: str) -> None:
    with SqliteSaver.from_conn_string(database) as checkpointer:
        graph = agent(MetacogMiddleware(pause=pause), Path(ledger), json.loads(turns), checkpointer)
        config = in_thread(thread)
        graph.invoke(None if graph.get_state(config).next else GO, config)


if __name__ == "__main__":
    main(*sys.argv[1:])  # type: ignore[arg-type]  # the command line gives texts
