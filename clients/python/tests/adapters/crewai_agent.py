"""A crew whose model says what it is told to, for the tests and for the processes that they start and kill.

    crewai_agent.py LEDGER RUN TURNS

TURNS is a JSON list of what the model says, one list of calls (`{"order", "eur"}`) a turn; it ends with "done".
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import BaseTool, tool

from metacog_client import Client
from metacog_client.adapters.crewai import Gate

Calls = list[dict[str, Any]]


class Scripted(BaseLLM):
    """Says turn after turn, and keeps what it was told; `writes` calls as text instead of naming functions."""

    turns: list[Calls]
    writes: bool = False
    heard: list[str] = []

    def supports_function_calling(self) -> bool:
        return not self.writes

    def call(self, messages: Any, *more: Any, **options: Any) -> Any:
        turn = sum(message["role"] == "assistant" for message in messages)
        self.heard = [str(message["content"]) for message in messages]
        if turn >= len(self.turns):
            return "Thought: I now know the final answer\nFinal Answer: done" if self.writes else "done"
        if self.writes:
            [call] = self.turns[turn]
            return f"Thought: I refund.\nAction: refund\nAction Input: {json.dumps(call)}"
        return [
            {"id": f"call_{n}", "type": "function", "function": {"name": "refund", "arguments": json.dumps(call)}}
            for n, call in enumerate(self.turns[turn])
        ]

    async def acall(self, messages: Any, *more: Any, **options: Any) -> Any:
        return self.call(messages)


def refunds(ledger: Path) -> BaseTool:
    """Make a tool that leaves a line in a file each time it runs."""

    @tool("refund")
    def refund(order: str = "none", eur: int = 0) -> str:
        """Refund an order."""
        if not eur:
            raise ValueError("Nothing to refund.")
        with ledger.open("a") as file:
            file.write(f"{order} {eur}\n")
        return f"refunded {eur} EUR for {order}"

    return refund


def ran(ledger: Path) -> list[str]:
    return sorted(ledger.read_text().splitlines()) if ledger.exists() else []


def crew(model: Scripted, ledger: Path, own: BaseTool | None = None) -> Crew:
    tools = [own or refunds(ledger)]
    agent = Agent(role="cashier", goal="refund", backstory="careful", llm=model, tools=tools, max_iter=8)
    task = Task(description="Refund what was promised.", expected_output="done", agent=agent)
    return Crew(agents=[agent], tasks=[task], cache=False)


def main(ledger: str, run: str, turns: str) -> None:
    with Gate(Client(run=run)):
        crew(Scripted(model="scripted", turns=json.loads(turns)), Path(ledger)).kickoff()


if __name__ == "__main__":
    main(*sys.argv[1:])
