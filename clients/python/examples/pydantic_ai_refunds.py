"""An agent of pydantic-ai whose refunds a person decides.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python pydantic_ai_refunds.py

It has no model but a function, so that it runs without anybody's key: put a model's name in its place. Approve the call
in metacog's queue, edit the amount, or reject it.
"""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from metacog_client import AsyncClient
from metacog_client.adapters.pydantic_ai import Gate


def refund(order: str, eur: float) -> str:
    """Refund an order."""
    print(f"Refunding {eur:g} EUR for order {order}.")
    return f"Refunded {eur:g} EUR."


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    for part in messages[-1].parts:
        if part.part_kind == "tool-return":
            return ModelResponse([TextPart(f"About order 4712: {part.content}")])
    return ModelResponse([ToolCallPart("refund", {"order": "4712", "eur": 900}, tool_call_id="call_1")])


async def main() -> None:
    async with AsyncClient(run="refund-4712") as client:
        agent = Agent(FunctionModel(model), tools=[refund], capabilities=[Gate(client)])
        print(f"Held calls wait at {client.url}/queue/", flush=True)
        result = await agent.run("Refund order 4712.")
        print(result.output)


if __name__ == "__main__":
    asyncio.run(main())
