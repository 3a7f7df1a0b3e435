"""One web process: uvicorn on a socket that it is given, with bounds on what a connection may take before its request
is there (docs/decisions/0021).

    python -m metacog.web FD
"""

from __future__ import annotations

import asyncio
import json
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from importlib import import_module
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from metacog.runtime import start

BACKLOG = 1024  # connections that the system keeps until they are accepted
CONNECTIONS = 4096  # of one process, at most
HEAD_BYTES = 65_536  # of a request's line and headers
HEAD_SECONDS = 15.0  # for all of them, from the connection or the first byte of a later request
IDLE_SECONDS = 15.0  # between two requests of a connection
LINGER_SECONDS = 2.0  # for whoever is still sending to read a refusal
DATE_SECONDS = 1.0  # between two changes of the date in the headers
STOP_SECONDS = 6  # for what is being answered when the process is told to stop

TOLD = {
    400: "What was sent is no HTTP/1.1 request that can be told from its neighbors. Nothing was written.",
    408: f"The headers did not arrive within {HEAD_SECONDS:g} seconds. Nothing was written; send it again.",
    431: f"The line and headers of a request are larger than {HEAD_BYTES:,} bytes. Nothing was written.",
    503: "Too many connections are open. Nothing was written; send it again later.",
}


class Protocol(HttpToolsProtocol):
    """One connection. llhttp refuses what two readers could frame in two ways: that is its 400."""

    limit = CONNECTIONS
    _timer: asyncio.TimerHandle | None = None  # while a request's headers are awaited, or a refusal is read
    _head_bytes = 0
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limit:
            self._refuse(503)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        if self._timer is not None and not self._is_refused:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._end_timer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        if self.cycle.more_body:  # the rest of it could pass for a request
            self.transport.close()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int) -> None:
        """Answer what is no request for the application, unless amid an answer, and close once that could be read."""
        self._end_timer()
        self._is_refused = True
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
            return
        title = HTTPStatus(status).phrase
        problem = {"type": "about:blank", "title": title, "status": status, "detail": TOLD[status], "errors": []}
        body = json.dumps(problem)
        lines = [
            f"HTTP/1.1 {status} {title}", "Content-Type: application/problem+json", f"Content-Length: {len(body)}",
            "Connection: close", *(["Retry-After: 5"] if status == 503 else []), "", body,
        ]  # fmt: skip
        self.transport.write("\r\n".join(lines).encode())
        self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)


class Server(uvicorn.Server):
    """uvicorn's, which looks ten times a second whether it was told to stop: most of what an idle process did."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._wake: Callable[[], object] = lambda: None

    async def main_loop(self) -> None:
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(told.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(told.wait(), DATE_SECONDS)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._wake()


def server(application: Any) -> Server:
    """Return a server of an ASGI application, for `run` or `serve` with sockets."""
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.levelno >= logging.ERROR)
    return Server(
        uvicorn.Config(
            application,
            http=Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # metacog.http reads what it may trust of them
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=int(IDLE_SECONDS),
            timeout_graceful_shutdown=STOP_SECONDS,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address, which the processes that are given it share."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(address)
    bound.set_inheritable(True)
    return bound


def allow_connections() -> int:
    """Return how many connections a process may have: each is an open file, and as many are left for the rest."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS if most == resource.RLIM_INFINITY else min(2 * CONNECTIONS, most)
    if 0 <= soft < wanted:  # often 1024
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted // 2


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):  # which uvicorn raises again once it has stopped
        signal.signal(number, lambda number, frame: sys.exit(0))
    Protocol.limit = allow_connections()
    with start.imports():
        from metacog.asgi import application  # Django is set up there

        import_module("metacog.urls")
    server(application).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])


if __name__ == "__main__":
    main()
