"""An agent of LangChain's whose refunds a person decides.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python langchain_refunds.py

It has no model but a script, so that it runs without anybody's key: put a model's name in its place. Approve the call
in metacog's queue, edit the amount, or reject it.
"""

import os
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from metacog_client.adapters.langchain import MetacogMiddleware


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **options: Any) -> "Scripted":
        return self


@tool
def refund(order: str, eur: float) -> str:
    """Refund an order."""
    print(f"Refunding {eur:g} EUR for order {order}.")
    return f"Refunded {eur:g} EUR."


CALL = {"type": "tool_call", "name": "refund", "args": {"order": "4712", "eur": 900}, "id": "call_1"}
SCRIPT = [AIMessage("I refund the order.", tool_calls=[CALL]), AIMessage("I have dealt with order 4712.")]

if __name__ == "__main__":
    agent = create_agent(Scripted(messages=iter(SCRIPT)), [refund], middleware=[MetacogMiddleware()])
    print(f"Held calls wait at {os.environ['METACOG_URL']}/queue/", flush=True)
    result = agent.invoke({"messages": [{"role": "user", "content": "Refund order 4712."}]})
    for message in result["messages"][2:]:
        print(message.text)
