"""A server behind the proxy that is called by its address."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from driver import SECONDS, command

pytestmark = pytest.mark.anyio
PAY = {"eur": 20, "to": "DÉ 89"}


class Server:
    """A server without a library: it answers each message with what came, headers and all."""

    def __init__(self) -> None:
        self.came: list[tuple[dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.came.append((headers, message))
                if "id" not in message or "method" not in message:
                    self.send_response(202)
                    self.end_headers()
                    return
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": outer.result(message)}
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                if message["method"] == "initialize":
                    self.send_header("mcp-session-id", "s-1")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/mcp"

    def result(self, message: Any) -> Any:
        if message["method"] == "initialize":
            return {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "0"}}
        if message["method"] == "tools/list":
            return {"tools": [{"name": "transfer", "inputSchema": {"type": "object"}}]}
        return {"content": [], "got": message.get("params")}


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_edit_reaches_a_server_whose_headers_repeat_the_arguments(
    metacog: Any, setting: Any, mode: str
) -> None:
    async with setting.client(setting.proxied([setting.served()]), mode=mode) as client:
        edited = {"eur": 2, "to": "ÄÖ 90"}
        metacog.decide_next("edit", setting.run, arguments=edited, reason="Two are enough.")
        result = await client.call_tool("transfer", PAY)
        assert not result.is_error, result
        metacog.decide_next("reject", setting.run)
        assert (await client.call_tool("transfer", PAY)).is_error
    assert setting.ledger == [{"tool": "transfer", **edited}]


async def test_headers_come_from_the_environment(metacog: Any, setting: Any, server: Server) -> None:
    setting.environment["BANK_TOKEN"] = "s3cret"
    proxy = setting.drive(setting.proxied([server.url], "--header", "Authorization: Bearer ${BANK_TOKEN}"))
    proxy.initialize()
    proxy.request("ping", {"x": [None, {"y": None}]})
    headers, message = server.came[-1]
    assert (headers["authorization"], headers["mcp-protocol-version"], headers["mcp-session-id"]) == (
        "Bearer s3cret",
        "2025-06-18",
        "s-1",
    )
    assert message == {"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"x": [None, {"y": None}]}}
    assert [message.get("method") for _, message in server.came][:2] == ["initialize", "notifications/initialized"]


async def test_a_call_waits_and_the_rest_goes_on(metacog: Any, setting: Any, server: Server) -> None:
    proxy = setting.drive(setting.proxied([server.url]))
    proxy.initialize()
    said = proxy.ask("tools/call", {"name": "transfer", "arguments": PAY})
    held = metacog.next_pending(setting.run)
    assert proxy.request("prompts/list")["result"]["got"] is None
    assert "tools/call" not in [message.get("method") for _, message in server.came]
    metacog.decide(held["id"], "approve")
    assert proxy.answer_to(said)["result"]["got"] == {"name": "transfer", "arguments": PAY}


async def test_a_server_that_is_not_there_is_an_error_of_that_request(metacog: Any, setting: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    proxy = setting.drive(setting.proxied([f"http://127.0.0.1:{port}/mcp"]))
    for _ in range(2):
        assert "cannot be reached" in proxy.request("ping")["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give either COMMAND … or a URL"),
        (["--"], "give either COMMAND … or a URL"),
        (["http://127.0.0.1:1/", "--", "cat"], "unrecognized arguments: "),
        (["--header", "A: b", "--", "cat"], "--header is for a URL"),
        (["--wait", "-1", "--", "cat"], "--wait is a number of seconds"),
        (
            ["--header", "A: ${NO_SUCH_NAME}", "http://127.0.0.1:1/"],
            "names NO_SUCH_NAME, which is not in the environment",
        ),
        (["--header", "A", "http://127.0.0.1:1/"], "is not written Name: value"),
    ],
)
async def test_a_wrong_command_line_is_a_sentence(
    setting: Any, capfd: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert setting.drive(command("mcp-proxy", *arguments)).process.wait(SECONDS) in (1, 2)
    assert sentence in capfd.readouterr().err
