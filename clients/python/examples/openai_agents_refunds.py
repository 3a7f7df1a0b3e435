"""An agent of the OpenAI Agents SDK whose refunds a person decides.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python openai_agents_refunds.py

It has no model but a script, so that it runs without a key of OpenAI's: put a model's name in its place. Approve the
call in metacog's queue, edit the amount, or reject it.
"""

import asyncio

from agents import Agent, RunConfig, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from metacog_client import AsyncClient
from metacog_client.adapters.openai_agents import Gate


@function_tool
def refund(order: str, eur: float) -> str:
    """Refund an order."""
    print(f"Refunding {eur:g} EUR for order {order}.")
    return f"Refunded {eur:g} EUR."


SCRIPT = [
    [function_call("refund", {"order": "4712", "eur": 900}, call_id="call_1")],
    [assistant_message("I have dealt with order 4712.")],
]


async def main() -> None:
    async with AsyncClient(run="refund-4712") as client:
        gate = Gate(client)
        agent = Agent(name="refunds", model=ScriptedModel(SCRIPT), tools=[gate(refund)])
        print(f"Held calls wait at {client.url}/queue/", flush=True)
        result = await gate.run(agent, "Refund order 4712.", run_config=RunConfig(tracing_disabled=True))
        print(result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
