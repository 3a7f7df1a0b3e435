"""`metacog mcp-proxy`: another MCP server, with the gate before each of its tools."""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ..async_client import AsyncClient
from ..errors import MetacogError
from ..journal import Journal, usual_path, usual_session
from . import upstream
from .definitions import Definitions
from .elicitation import People
from .gate import Gate
from .relay import Relay
from .sign_in import signing_in

FLAGS = ("-h", "--help", "--skip-read-only")  # options that take no value
WAIT_SECONDS = 50.0  # below the minute after which many clients give up
USAGE = "metacog mcp-proxy [options] [--] COMMAND …\n       metacog mcp-proxy [options] URL"


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    try:
        return asyncio.run(_run(options))
    except (MetacogError, upstream.Failed) as error:
        print(f"metacog mcp-proxy: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="metacog mcp-proxy",
        allow_abbrev=False,
        usage=USAGE,
        description="Asks metacog before each tool call of an MCP server; all else passes through. Reads METACOG_URL "
        "and METACOG_API_KEY. What cannot be asked about is not called.",
    )
    parser.add_argument("--name", help="of the server: the policy's rules see its tools as mcp__NAME__TOOL")
    parser.add_argument("--prefix", help="put before the tool's name in place of mcp__NAME__")
    parser.add_argument(
        "--session",
        default=os.environ.get("METACOG_SESSION"),
        help="that the calls belong to (METACOG_SESSION; else made from this machine, this folder and the server)",
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="for a decision, before the model is told to call again (%(default)g)",
    )
    parser.add_argument(
        "--expires-in",
        type=int,
        metavar="SECONDS",
        help="after which a call that nobody decided expires (the policy's)",
    )
    parser.add_argument(
        "--skip-read-only", action="store_true", help="do not ask about tools that the server itself calls read-only"
    )
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="for a URL; ${VARIABLE} is put in from the environment",
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=usual_path("mcp-proxy"),
        metavar="FILE",
        help="of calls that were asked about (%(default)s)",
    )
    parser.add_argument(
        "--changed",
        choices=("hold", "tell"),
        default="hold",
        help="what to do about a tool that its server describes otherwise than before: hold its calls until one is "
        "approved (the default), or only tell people of it",
    )
    parser.add_argument(
        "--sign-in",
        type=int,
        metavar="PORT",
        help="sign in to the server of a URL with the browser (OAuth), which comes back to this port of this machine; "
        "what comes of it is kept beside --state",
    )
    parser.add_argument(
        "--elicitation",
        choices=("agent", "people"),
        help="who answers what the server asks the user: the user of the MCP client, or people in metacog (as the "
        "agent's policy says)",
    )
    ours, server = _parted(arguments)
    options = parser.parse_args(ours)
    options.url, options.command = None, server
    if server and server[0].startswith(("http://", "https://")):
        options = parser.parse_args([*ours, *server[1:]])  # options may stand behind a URL, too
        options.url, options.command = server[0], []
    if not server:
        parser.error("give either COMMAND … or a URL")
    if (options.header or options.sign_in) and not options.url:
        parser.error(f"{'--header' if options.header else '--sign-in'} is for a URL")
    if not 0 <= options.wait <= 86_400:
        parser.error("--wait is a number of seconds, at most 86400")
    if options.expires_in is not None and options.expires_in < 1:
        parser.error("--expires-in is a number of seconds, at least 1")
    if options.prefix is None:
        options.prefix = f"mcp__{options.name}__" if options.name else ""
    if not options.session:
        what = [options.prefix, options.url or "", *options.command]
        options.session = usual_session(f"mcp-proxy-{options.name or 'server'}", *what)
    return options


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the options from the server: at `--`, or without it (some who start this leave it out) at the first word."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        at += 1 if arguments[at] in FLAGS or "=" in arguments[at] else 2
    return [*arguments[:at]], [*arguments[at + (arguments[at : at + 1] == ["--"]) :]]


async def _run(options: argparse.Namespace) -> int:
    journal = Journal(options.state)
    if journal.fault:
        print(f"metacog mcp-proxy: what is asked is not kept across restarts ({journal.fault})", file=sys.stderr)
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            AsyncClient(run=options.session, deadline=options.wait, retry_seconds=min(30.0, max(options.wait, 1.0)))
        )
        server_name = "\0".join([options.prefix, options.url or "", *options.command])
        gate = Gate(
            client,
            journal,
            options.session,
            Definitions(journal, server_name),
            options.prefix,
            options.wait,
            options.expires_in,
            options.changed == "hold",
        )
        server: upstream.Upstream
        if options.url:
            headers = dict(upstream.header(text, os.environ) for text in options.header)
            auth = None
            if options.sign_in:
                asking = signing_in(options.url, options.state.parent, options.sign_in)
                auth = await stack.enter_async_context(asking)
            connecting = upstream.connected(options.url, headers, lambda: relay.tools, auth)
            server = await stack.enter_async_context(connecting)
        else:
            server = await stack.enter_async_context(upstream.started(options.command))
        output = Output()
        stack.push_async_callback(output.finish)
        named = options.name or options.url or options.command[0]
        people = People(client, journal, options.session, named, options.wait, options.elicitation)
        relay = Relay(gate, output.send, server.send, options.skip_read_only, people)
        stack.push_async_callback(relay.close)
        return await _between(relay, server)


async def _between(relay: Relay, server: upstream.Upstream) -> int:
    """Carry messages until one of the two sides has ended; return the exit status."""

    async def read_client() -> None:
        async for line in upstream.lines(Input().read):
            if line.strip():
                await relay.from_client(line)

    client = asyncio.create_task(read_client())
    received = asyncio.create_task(server.receive(relay.from_server))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, client.cancel)
    try:
        await asyncio.wait((client, received), return_when=asyncio.FIRST_COMPLETED)
        if received.done():
            return received.result()
        await relay.close()
        server.finish()
        if isinstance(server, upstream.Process) and not client.cancelled():
            await asyncio.wait((received,), timeout=upstream.LEAVE_SECONDS)  # its last answers
        if not client.cancelled():
            client.result()
        return 0
    finally:
        client.cancel()
        received.cancel()
        await asyncio.gather(client, received, return_exceptions=True)
        relay.end()


class Input:
    """Standard input, read in a thread: it may be a file, a pipe or a console, on any system.

    By its number: a thread that still reads when the program ends must hold no lock of Python's.
    """

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(1)
        threading.Thread(target=self._read, args=[asyncio.get_running_loop()], daemon=True).start()

    async def read(self) -> bytes:
        return await self._chunks.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        chunk = b"more"
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):  # the loop has ended meanwhile
            while chunk:
                try:
                    chunk = os.read(0, upstream.CHUNK)
                except OSError:
                    chunk = b""
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), loop).result()


class Output:
    """Standard output, written in a thread: a client that does not read holds up nothing but its answers."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(64)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, args=[asyncio.get_running_loop()], daemon=True)
        self._thread.start()

    async def send(self, line: bytes) -> None:
        await self._room.acquire()
        self._lines.put(line)

    async def finish(self) -> None:
        """Give what is left a moment to be read."""
        self._lines.put(b"")
        end = time.monotonic() + upstream.LEAVE_SECONDS
        while self._thread.is_alive() and time.monotonic() < end:
            await asyncio.sleep(0.01)

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            while line := self._lines.get():
                with contextlib.suppress(OSError):  # the client is gone; its input ends, too
                    while line:
                        line = line[os.write(1, line) :]
                loop.call_soon_threadsafe(self._room.release)
