"""The proxy before servers that people use: filesystem, git, fetch, everything, GitHub's; and under the inspector."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from driver import SECONDS
from mcp_types import TextContent

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]


def text_of(result: Any) -> str:
    return "".join(each.text for each in result.content if isinstance(each, TextContent))


async def held(metacog: Any, setting: Any) -> Any:
    return await anyio.to_thread.run_sync(metacog.next_pending, setting.run)


async def test_filesystem(metacog: Any, setting: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    server = setting.proxied(["mcp-server-filesystem", str(folder)])
    async with setting.client(server, mode="legacy") as client:
        assert "write_file" in {tool.name for tool in (await client.list_tools()).tools}
        asked = {"path": str(folder / "note.txt"), "content": "Pay Eve."}
        metacog.decide_next("edit", setting.run, arguments={**asked, "content": "Pay Ann."})
        assert not (await client.call_tool("write_file", asked)).is_error
        assert (folder / "note.txt").read_text() == "Pay Ann."
        metacog.decide_next("reject", setting.run, reason="Keep it.")
        moved = {"source": str(folder / "note.txt"), "destination": str(folder / "gone.txt")}
        assert "Keep it." in text_of(await client.call_tool("move_file", moved))
        assert (folder / "note.txt").exists()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "read_text_file", {"path": str(folder / "note.txt")})
            item = await held(metacog, setting)
            metacog.decide(item["id"], "reject")
    assert (item["name"], item["annotations"]["readOnlyHint"]) == ("mcp__bank__read_text_file", True)
    assert {each["effect"] for each in item["effects"]} == {"read"}


async def test_git(metacog: Any, setting: Any, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    git = ["git", "-c", "init.defaultBranch=main", "-C", str(folder)]
    subprocess.run([*git[:3], "init", "-q", str(folder)], check=True)
    for name, value in (("user.name", "Ann"), ("user.email", "ann@example.com")):
        subprocess.run([*git, "config", name, value], check=True)
    (folder / "a").write_text("a")
    server = setting.proxied([sys.executable, "-m", "mcp_server_git", "--repository", str(folder)])
    where = {"repo_path": str(folder)}
    async with setting.client(server, mode="legacy") as client:
        metacog.decide_next("approve", setting.run)
        assert not (await client.call_tool("git_add", {**where, "files": ["a"]})).is_error
        metacog.decide_next("edit", setting.run, arguments={**where, "message": "Add a"})
        assert not (await client.call_tool("git_commit", {**where, "message": "wip"})).is_error
    done = subprocess.run([*git, "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert done.stdout == "Add a\n"


@pytest.fixture
def page() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"The fee is 5 EUR." if self.path == "/fee" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/fee"
    server.shutdown()
    server.server_close()


async def test_fetch(metacog: Any, setting: Any, page: str) -> None:
    server = setting.proxied([sys.executable, "-m", "mcp_server_fetch", "--ignore-robots-txt"])
    async with setting.client(server, mode="legacy") as client, anyio.create_task_group() as tasks:
        results: list[Any] = []

        async def call() -> None:
            results.append(await client.call_tool("fetch", {"url": page}))

        tasks.start_soon(call)
        item = await held(metacog, setting)
        metacog.decide(item["id"], "approve")
    assert "fetch" in {each["effect"] for each in item["effects"]}
    assert results
    assert text_of(results[0])


async def test_everything(metacog: Any, setting: Any) -> None:
    notes: list[str] = []

    async def note(message: Any) -> None:
        notes.append(type(message).__name__)

    metacog.policy(default_tool_call="allow")
    try:
        server = setting.proxied(["mcp-server-everything"], "--elicitation", "people")
        async with setting.client(server, mode="legacy", message_handler=note) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert text_of(await client.call_tool("echo", {"message": "é"})) == "Echo: é"
            structured = await client.call_tool("get-structured-content", {"location": "New York"})
            assert structured.structured_content
            assert (await client.list_prompts()).prompts
            assert (await client.list_resource_templates()).resource_templates
            steps: list[float] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                steps.append(done)

            slow = {"duration": 0.2, "steps": 2}
            await client.call_tool("trigger-long-running-operation", slow, progress_callback=progress)
            assert steps
            with anyio.move_on_after(0.5):
                await client.call_tool("trigger-long-running-operation", {"duration": 30, "steps": 2})
            assert text_of(await client.call_tool("get-sum", {"a": 1, "b": 2})).endswith("3.")
            # The server has this tool only where somebody answers.
            assert "trigger-elicitation-request" in names
            form = await asked(client, metacog, setting)
    finally:
        metacog.policy(default_tool_call="ask")
    assert form["kind"] == "question"


async def asked(client: Any, metacog: Any, setting: Any) -> Any:
    """Have the server ask for a form, and reject it; return the question."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "trigger-elicitation-request", {})
        question = await held(metacog, setting)
        await anyio.to_thread.run_sync(lambda: metacog.decide(question["id"], "reject"))
    return question


async def test_github(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(["mcp-server-github"]), mode="legacy") as client:
        issue = {"owner": "ann", "repo": "x", "title": "Hello"}
        metacog.decide_next("reject", setting.run, reason="Not in public.")
        assert "Not in public." in text_of(await client.call_tool("create_issue", issue))


def test_the_inspectors_command_line(metacog: Any, setting: Any) -> None:
    proxied = [each for each in setting.proxied(["mcp-server-everything"]) if each != "--"]
    handed = ("PYTHONPATH", "METACOG_URL", "METACOG_API_KEY", "XDG_STATE_HOME")  # it hands on what it is told to alone
    around = [word for name in handed for word in ("-e", f"{name}={setting.environment[name]}")]
    command = ["mcp-inspector", "--cli", *proxied, "--method", "tools/list", *around]
    done = subprocess.run(command, env=setting.environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert "echo" in {tool["name"] for tool in json.loads(done.stdout)["tools"]}
