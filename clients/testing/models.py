"""A model for the tests of coding agents: it says what a script has it say, in Anthropic's and OpenAI's streams.

`POST /v1/messages` is Anthropic's Messages, `POST /v1/responses` OpenAI's Responses. A script is a list of turns, a
turn the tools it uses at once, each `(NAME, ARGUMENTS)`; after the last it says "Done." and uses none. Which turn it
is follows from the calls that a request brings back, so that an agent may be killed and resumed. What has no tools
(titles, token counts) gets a word. `"$session"` stands for the terminal that Codex has opened last. Tests in other
languages start this file with a script as its word.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Sequence[tuple[str, Mapping[str, Any]]]
CALL = re.compile(r"call_t(\d+)n\d+")
SESSION = re.compile(r"session ID (\d+)")  # as Codex tells of a command that runs on
LAST = "Done."


class Model:
    """Serves on loopback until `close`; `requests` are the bodies it was sent, `url` has no /v1."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns, self.requests = turns, list[dict[str, Any]]()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self.answer(b"", "text/plain")

            def do_GET(self) -> None:
                self.answer(b'{"data": [], "models": []}', "application/json")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.partition("?")[0]
                if path.endswith("/count_tokens"):
                    self.answer(b'{"input_tokens": 10}', "application/json")
                    return
                model.requests.append(body)
                events = responses if path.endswith("/responses") else messages
                told = "".join(
                    f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(model.turn_of(body))
                )
                self.answer(told.encode(), "text/event-stream")

            def answer(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def turn_of(self, body: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return the calls of the turn that comes next, each with its id."""
        history = json.dumps(body.get("messages") or body.get("input") or [])
        at = max((int(each) + 1 for each in CALL.findall(history)), default=0)
        if not body.get("tools") or at >= len(self.turns):
            return []
        session = int((SESSION.findall(history) or [0])[-1])
        calls: list[tuple[str, str, Mapping[str, Any]]] = []
        for n, (name, arguments) in enumerate(self.turns[at]):
            opened = {key: session for key, value in arguments.items() if value == "$session"}
            calls.append((f"call_t{at}n{n}", name, {**arguments, **opened}))
        return calls


def messages(calls: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Anthropic's Messages: each block begins, grows and stops."""
    usage = {"input_tokens": 10, "output_tokens": 10}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (
            {"type": "tool_use", "id": call_id, "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(arguments)},
        )
        for call_id, name, arguments in calls
    ] or [({"type": "text", "text": ""}, {"type": "text_delta", "text": LAST})]
    for at, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": at, "content_block": block}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    ended = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


def responses(calls: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """OpenAI's Responses: each item is added and done. `NAMESPACE/NAME` is a tool in a namespace."""
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    items: list[dict[str, Any]] = [call_item(*call) for call in calls] or [
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": LAST}]}
    ]
    for at, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    usage: dict[str, Any] = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {
        "type": "response.completed",
        "response": response | {"status": "completed", "output": items, "usage": usage},
    }


def call_item(call_id: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    namespace, _, own = name.rpartition("/")
    if set(arguments) == {"$input"}:  # a custom tool takes a text
        return {"type": "custom_tool_call", "call_id": call_id, "name": own, "input": arguments["$input"]}
    if name == "$web_search":  # which the provider has made already
        action = {"type": "search", "query": arguments["query"]}
        return {"type": "web_search_call", "id": call_id, "status": "completed", "action": action}
    item = {"type": "function_call", "id": call_id, "call_id": call_id, "name": own, "arguments": json.dumps(arguments)}
    return item | ({"namespace": namespace} if namespace else {})


def main() -> None:
    """Play a script, `[[[NAME, ARGUMENTS], …], …]`, until standard input ends; print where it is served."""
    model = Model(json.loads(sys.argv[1]))
    print(model.url, flush=True)
    sys.stdin.read()
    model.close()


if __name__ == "__main__":
    main()
