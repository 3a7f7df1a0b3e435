"""A LangGraph agent that pauses where a person decides, and goes on in another process, days later if need be.

    pip install "./clients/python[langchain]" langgraph-checkpoint-sqlite       (in a checkout)
    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=… METACOG_SIGNING_SECRET=whsec_…
    python langgraph_webhook.py ask 4712         pauses, and ends
    python langgraph_webhook.py listen 9000      is the agent's webhook, and goes on with each thread as it is decided

Threads are kept in threads.sqlite. It has no model but a script: put a model's name in its place.
"""

import os
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from metacog_client import BadSignature, Client
from metacog_client.adapters.langchain import Graph, MetacogMiddleware, NotYet, resume, resume_from_webhook


class Scripted(BaseChatModel):
    _llm_type = "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *more: Any, **options: Any) -> ChatResult:
        order = messages[0].text.split()[-1]
        call = {"name": "refund", "args": {"order": order, "eur": 900}, "id": "call_1"}
        first = not any(isinstance(message, AIMessage) for message in messages)
        said = AIMessage("I refund the order.", tool_calls=[call]) if first else AIMessage(f"Order {order} is done.")
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def refund(order: str, eur: float) -> str:
    """Refund an order."""
    print(f"Refunding {eur:g} EUR for order {order}.", flush=True)
    return f"Refunded {eur:g} EUR."


def ask(agent: Graph, order: str) -> None:
    thread: RunnableConfig = {"configurable": {"thread_id": f"refund-{order}"}}
    result = agent.invoke({"messages": [{"role": "user", "content": f"Refund order {order}"}]}, thread)
    for pause in result.get("__interrupt__", ()):
        print(f"Held: {pause.value['review_url']}", flush=True)


def listen(agent: Graph, port: int) -> None:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                # metacog waits for 10 seconds: where this takes longer it sends it again, which finds it done.
                tell(resume_from_webhook(agent, dict(self.headers), body, os.environ["METACOG_SIGNING_SECRET"]))
                status = 204
            except BadSignature:
                status = 401
            except NotYet:
                status = 503  # it is sent again
            self.send_response(status)
            self.end_headers()

    server = HTTPServer(("127.0.0.1", port), Receiver)
    catching_up = threading.Thread(target=catch_up, args=[agent])
    catching_up.start()
    print(f"Listening on http://127.0.0.1:{port}/", flush=True)
    server.serve_forever()


def catch_up(agent: Graph) -> None:
    """Go on with what was decided while nobody listened."""
    client, seq = Client(), 0
    while decisions := client.decisions(after=seq):
        for decision in decisions:
            seq = decision["seq"]
            with suppress(NotYet):  # of another program, or running
                tell(resume(agent, decision))


def tell(result: dict[str, Any] | None) -> None:
    if result:
        print(result["messages"][-1].text, flush=True)


if __name__ == "__main__":
    with SqliteSaver.from_conn_string("threads.sqlite") as checkpointer:
        gate = MetacogMiddleware(pause="interrupt")
        agent = create_agent(Scripted(), [refund], middleware=[gate], checkpointer=checkpointer)
        if sys.argv[1] == "ask":
            ask(agent, sys.argv[2])
        else:
            listen(agent, int(sys.argv[2]))
