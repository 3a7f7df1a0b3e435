"""A crew of CrewAI's whose refunds a person decides.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python crewai_refunds.py

It has no model but a script, so that it runs without anybody's key: put a model's name in its place. Approve the call
in metacog's queue, edit the amount, or reject it. Killed while it waits and started again, it finds the same held call.
"""

import json
from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from metacog_client import Client
from metacog_client.adapters.crewai import Gate


class Scripted(BaseLLM):
    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *more: Any, **options: Any) -> Any:
        if messages[-1]["role"] == "tool":
            return f"About order 4712: {messages[-1]['content']}"
        refund = {"name": "refund", "arguments": json.dumps({"order": "4712", "eur": 900})}
        return [{"id": "call_1", "type": "function", "function": refund}]


@tool("refund")
def refund(order: str, eur: float) -> str:
    """Refund an order."""
    print(f"Refunding {eur:g} EUR for order {order}.")
    return f"Refunded {eur:g} EUR."


if __name__ == "__main__":
    cashier = Agent(role="cashier", goal="refund", backstory="careful", llm=Scripted(model="script"), tools=[refund])
    task = Task(description="Refund order 4712.", expected_output="what was refunded", agent=cashier)
    client = Client(run="refund-4712")
    print(f"Held calls wait at {client.url}/queue/", flush=True)
    with Gate(client):
        print(Crew(agents=[cashier], tasks=[task]).kickoff())
