"""`metacog mcp`: metacog's tools for MCP clients, by standard input and output or by streamable HTTP."""

from __future__ import annotations

import argparse
import asyncio
import hmac
import ipaddress
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..async_client import AsyncClient
from ..errors import MetacogError
from ..journal import Journal, usual_path, usual_session

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PORT = 8651
PATH = "/mcp"
MIN_TOKEN = 32  # characters
RETRY_SECONDS = 10.0  # a client waits about a minute for a tool


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    try:
        return asyncio.run(_run(options))
    except MetacogError as error:
        print(f"metacog mcp: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="metacog mcp",
        description="Serves metacog's tools to an MCP client. Reads METACOG_URL and METACOG_API_KEY.",
    )
    parser.add_argument("--http", action="store_true", help=f"by streamable HTTP at {PATH}, not by standard input")
    parser.add_argument(
        "--host", default="127.0.0.1", help="to listen on (%(default)s); others demand METACOG_MCP_TOKEN"
    )
    parser.add_argument("--port", type=int, default=PORT, help="to listen on (%(default)s)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="HOST[:PORT]", help="by which clients call this server"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="ORIGIN", help="of pages that may call this server"
    )
    parser.add_argument(
        "--session",
        default=os.environ.get("METACOG_SESSION"),
        help="that the requests belong to (METACOG_SESSION; else made from this machine and this folder)",
    )
    parser.add_argument(
        "--state", type=Path, default=usual_path("mcp"), metavar="FILE", help="of what was asked (%(default)s)"
    )
    options = parser.parse_args(arguments)
    options.session = options.session or usual_session("mcp")
    options.token = os.environ.get("METACOG_MCP_TOKEN", "")
    if options.http and (fault := _fault(options)):
        parser.error(fault)
    return options


def _fault(options: argparse.Namespace) -> str:
    if options.token and len(options.token) < MIN_TOKEN:
        return f"METACOG_MCP_TOKEN needs at least {MIN_TOKEN} characters"
    if is_loopback(options.host):
        return ""
    if not options.token:
        return f"set METACOG_MCP_TOKEN to listen on {options.host}: whoever reaches it asks in the agent's name"
    if not options.allow_host:
        return f"say by --allow-host how clients call {options.host}"
    return ""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _run(options: argparse.Namespace) -> int:
    try:
        from .tools import Desk, server_of
    except ImportError as error:
        if not (error.name or "").startswith(("mcp", "pydantic")):
            raise
        print('metacog mcp: this needs the SDK: pip install "mcp>=2.3,<3"', file=sys.stderr)
        return 1
    journal = Journal(options.state)
    if journal.fault:
        print(f"metacog mcp: what is asked is not kept across restarts ({journal.fault})", file=sys.stderr)
    async with AsyncClient(run=options.session, retry_seconds=RETRY_SECONDS) as client:
        server = server_of(Desk(client, journal, options.session))
        if not options.http:
            await server.run_stdio_async()
            return 0
        return await _serve(http_app(server, options), options)


def http_app(server: Any, options: argparse.Namespace) -> ASGIApp:
    """Put the host, the origin and the token before the tools: a page that the user looks at is no client."""
    from mcp.server.transport_security import TransportSecuritySettings

    host = f"[{options.host}]" if ":" in options.host else options.host
    own = ["127.0.0.1", "localhost", "[::1]", *([host] if host not in ("127.0.0.1", "localhost", "[::1]") else [])]
    hosts = [f"{name}:{options.port}" for name in own] if is_loopback(options.host) else []
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *options.allow_host],
        allowed_origins=[*(f"http://{each}" for each in hosts), *options.allow_origin],
    )
    app: ASGIApp = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return Guard(app, options.token) if options.token else app


class Guard:
    """Lets nothing through but what brings the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"This server wants its token (METACOG_MCP_TOKEN)."})

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._wanted)


async def _serve(app: ASGIApp, options: argparse.Namespace) -> int:
    import uvicorn

    config = uvicorn.Config(
        app, host=options.host, port=options.port, log_level="warning", server_header=False, timeout_graceful_shutdown=3
    )
    server = uvicorn.Server(config)
    print(f"metacog mcp: http://{options.host}:{options.port}{PATH}", file=sys.stderr, flush=True)
    await server.serve()
    return 0 if server.started else 1
