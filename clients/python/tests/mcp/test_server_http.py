"""`metacog mcp --http`: who may call it."""

from __future__ import annotations

import socket
from typing import Any

import httpx2
import pytest
from conftest import wait_for
from driver import SECONDS, command
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PAY = {"tool": "transfer", "arguments": {"eur": 1}}
TOKEN = "a-token-of-thirty-two-characters"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}}  # fmt: skip


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def serve(setting: Any, *options: str, **environment: str) -> int:
    port = free_port()
    setting.drive(command("mcp", "--http", "--port", str(port), "--session", setting.run, *options), **environment)
    wait_for(port)
    return port


def status(port: int, **headers: str) -> int:
    given = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(f"http://127.0.0.1:{port}/mcp", json=PING, headers=given).status_code


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_review_by_http_with_progress(metacog: Any, setting: Any, mode: str) -> None:
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with Client(f"http://127.0.0.1:{serve(setting)}/mcp", mode=mode) as client:
        metacog.decide_next("approve", setting.run)
        result = await client.call_tool("request_review", PAY, progress_callback=note)
    assert result.structured_content["allowed"]
    assert "Waiting for a decision" in (told[0] or "")


def test_a_page_or_a_name_that_is_not_its_own_is_turned_away(metacog: Any, setting: Any) -> None:
    port = serve(setting)
    assert status(port) == status(port, origin=f"http://localhost:{port}") == 200
    assert status(port, origin="https://evil.example") == 403
    assert status(port, origin="http://localhost:9") == 403
    assert status(port, host="evil.example") == status(port, host=f"evil.example:{port}") == 421


def test_a_token_is_wanted_where_one_is_set(metacog: Any, setting: Any) -> None:
    port = serve(setting, METACOG_MCP_TOKEN=TOKEN)
    assert status(port) == status(port, authorization="Bearer wrong") == 401
    assert status(port, authorization=f"Bearer {TOKEN}") == 200


@pytest.mark.anyio
async def test_beyond_loopback_it_is_called_by_its_name_and_with_its_token(metacog: Any, setting: Any) -> None:
    named = ("--host", "0.0.0.0", "--allow-host", "reviews.example", "--allow-origin", "https://app.example")
    port = serve(setting, *named, METACOG_MCP_TOKEN=TOKEN)
    bearer = f"Bearer {TOKEN}"
    assert status(port, authorization=bearer) == 421
    assert status(port, host="reviews.example") == 401
    assert status(port, host="reviews.example", authorization=bearer, origin="https://app.example") == 200
    assert status(port, host="reviews.example", authorization=bearer, origin="https://evil.example") == 403
    headers = {"authorization": bearer, "host": "reviews.example"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport) as client:
            assert "ask_person" in [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize(
    ("options", "environment", "sentence"),
    [
        (["--host", "0.0.0.0"], {}, "set METACOG_MCP_TOKEN to listen on 0.0.0.0"),
        (["--host", "::"], {}, "set METACOG_MCP_TOKEN to listen on ::"),
        (["--host", "localhost.evil.example"], {}, "set METACOG_MCP_TOKEN"),
        (["--host", "0.0.0.0"], {"METACOG_MCP_TOKEN": TOKEN}, "say by --allow-host how clients call 0.0.0.0"),
        ([], {"METACOG_MCP_TOKEN": "short"}, "METACOG_MCP_TOKEN needs at least 32 characters"),
        ([], {"METACOG_API_KEY": ""}, "There is no key (METACOG_API_KEY) of metacog."),
    ],
)
def test_it_does_not_start_without_what_it_needs(
    setting: Any, capfd: pytest.CaptureFixture[str], options: list[str], environment: dict[str, str], sentence: str
) -> None:
    server = setting.drive(command("mcp", "--http", "--port", str(free_port()), *options), **environment)
    assert server.process.wait(SECONDS) in (1, 2)
    assert sentence in capfd.readouterr().err
