"""The server behind the proxy: a process that is spoken to by its pipes, or an address."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from . import wire
from .relay import PROTOCOL_VERSION

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.message import SessionMessage

CHUNK = 65_536
MAX_LINE = 64 * 1_048_576
LEAVE_SECONDS = 3.0  # for the process to end, after its input was closed and again after it was asked to
CONNECT_SECONDS = 30.0
OURS = ("METACOG_API_KEY", "METACOG_MCP_TOKEN")  # the agent's key is none of the server's business

FromServer = Callable[[bytes], Awaitable[None]]


class Failed(Exception):
    """The server cannot be started or reached; the text is a sentence."""


class Upstream(Protocol):
    async def send(self, message: wire.Message) -> None: ...

    def finish(self) -> None: ...

    async def receive(self, from_server: FromServer) -> int:
        """Give each of its lines to `from_server` until there are no more; return the exit status."""
        ...


class Process:
    """A server that is started for this client and ends with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._turn = asyncio.Lock()

    async def send(self, message: wire.Message) -> None:
        pipe = self._process.stdin
        assert pipe
        async with self._turn:
            with contextlib.suppress(ConnectionError):  # it is gone, which `receive` tells
                pipe.write(wire.write(message))
                await pipe.drain()

    async def receive(self, from_server: FromServer) -> int:
        assert self._process.stdout
        stream = self._process.stdout
        async for line in lines(lambda: stream.read(CHUNK)):
            await from_server(line)
        return await self._process.wait()

    def finish(self) -> None:
        """Tell it that there is nothing more to come: it answers what it has, and ends."""
        if self._process.stdin:
            with contextlib.suppress(ConnectionError):
                self._process.stdin.close()

    async def leave(self) -> None:
        """End it as the protocol says: close its input, then ask, then kill."""
        self.finish()
        for number in (signal.SIGTERM, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM):
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._process.wait(), LEAVE_SECONDS)
                return
            self._signal(number)
        await self._process.wait()

    def _signal(self, number: int) -> None:
        """To it and all that it has started, as npx and uvx do."""
        with contextlib.suppress(ProcessLookupError):
            if sys.platform != "win32":
                os.killpg(self._process.pid, number)
            else:
                self._process.terminate()


@contextlib.asynccontextmanager
async def started(command: Sequence[str]) -> AsyncIterator[Process]:
    # On Windows npx and its like are found by their endings only.
    found = shutil.which(command[0]) or command[0]
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    try:
        process = await asyncio.create_subprocess_exec(
            found,
            *command[1:],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=sys.platform != "win32",
        )
    except OSError as error:
        raise Failed(f"{command[0]} cannot be started: {error.strerror or error}.") from None
    server = Process(process)
    try:
        yield server
    finally:
        await server.leave()


async def lines(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    """Give lines of any length up to MAX_LINE; what stands behind the last end of a line is none."""
    rest = bytearray()
    while chunk := await read():
        rest += chunk
        if b"\n" not in chunk:
            if len(rest) > MAX_LINE:
                raise Failed(f"There is a line of more than {MAX_LINE:,} bytes.")
            continue
        *whole, last = bytes(rest).split(b"\n")
        rest = bytearray(last)
        for line in whole:
            yield line + b"\n"


class Address:
    """A server that speaks streamable HTTP; the SDK's transport carries the messages."""

    def __init__(self, read: Any, write: Any, tools: Callable[[], Mapping[str, wire.Message]]) -> None:
        self._read, self._write, self._tools = read, write, tools
        self._version: str | None = None  # as agreed in the handshake of protocols before 2026-07-28
        self._initializing: Any = None

    async def send(self, message: wire.Message) -> None:
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import jsonrpc_message_adapter
        from pydantic import ValidationError

        if message.get("method") == "initialize":
            self._initializing = message.get("id")
        try:
            parsed = jsonrpc_message_adapter.validate_python(message)
        except ValidationError:
            raise wire.Unclear("The message is no request, notification or answer.") from None
        metadata = ClientMessageMetadata(headers=self._headers(message))
        await self._write.send(SessionMessage(parsed, metadata))

    def _headers(self, message: wire.Message) -> dict[str, str]:
        """Say in the headers what the message says, as the protocol's version in it demands."""
        from mcp.shared import inbound

        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(PROTOCOL_VERSION) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return {inbound.MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        method = message.get("method", "")
        headers = {inbound.MCP_PROTOCOL_VERSION_HEADER: version, inbound.MCP_METHOD_HEADER: method}
        name = params.get(inbound.NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[inbound.MCP_NAME_HEADER] = inbound.encode_header_value(name)
        if method == wire.CALL:
            schema = self._tools().get(params["name"], {}).get("inputSchema")
            if schema and inbound.find_invalid_x_mcp_header(schema) is None:
                headers |= inbound.mcp_param_headers(inbound.x_mcp_header_map(schema), params.get("arguments") or {})
        return headers

    async def receive(self, from_server: FromServer) -> int:
        async for item in self._read:
            if isinstance(item, Exception):
                print(f"metacog mcp-proxy: {item}", file=sys.stderr)
                continue
            self._note(item)
            await from_server(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        return 0

    def finish(self) -> None:
        """Leaving is what ends its session."""

    def _note(self, item: SessionMessage) -> None:
        from mcp_types import JSONRPCResponse

        if isinstance(item.message, JSONRPCResponse) and item.message.id == self._initializing:
            version = item.message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None


@contextlib.asynccontextmanager
async def connected(
    url: str, headers: Mapping[str, str], tools: Callable[[], Mapping[str, wire.Message]], auth: Any = None
) -> AsyncIterator[Address]:
    try:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client
    except ImportError:
        raise Failed('A server at an address needs the SDK: pip install "mcp>=2.3,<3".') from None

    class Answering(httpx2.AsyncClient):
        """Answers for a server that cannot be reached: that request fails, and the next may not."""

        async def send(self, request: httpx2.Request, **more: Any) -> httpx2.Response:
            try:
                return await super().send(request, **more)
            except httpx2.TransportError as error:
                text = f"The server behind the proxy cannot be reached ({type(error).__name__})."
                return httpx2.Response(502, json=wire.error(None, wire.INTERNAL_ERROR, text), request=request)

    # Once connected, a call may take as long as it likes: its client decides when to give up.
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    async with (
        Answering(headers=dict(headers), timeout=timeout, auth=auth) as http,
        streamable_http_client(url, http_client=http) as (read, write),
    ):
        yield Address(read, write, tools)


def header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Read `Name: value`, with ${NAME} of the environment put in: a command line is no place for a secret."""

    def value_of(match: re.Match[str]) -> str:
        if (value := environment.get(match[1])) is None:
            raise Failed(f"--header names {match[1]}, which is not in the environment.")
        return value

    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Failed(f"--header {text!r} is not written Name: value.")
    return name.strip(), re.sub(r"\$\{(\w+)\}", value_of, value.strip())
