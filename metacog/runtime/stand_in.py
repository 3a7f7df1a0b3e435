"""What answers at the address of `web` while its database is not prepared: it runs, and serves nobody yet."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

RETRY_AFTER_SECONDS = 5
DROPPED_BYTES = 1_048_576  # of a body that nobody reads, so that its sender reads the answer
SAID = "The database is not prepared for this version yet. Nothing was written; send it again later."
NOT_READY = {"status": "unavailable", "database": "not migrated"}


class _Handler(BaseHTTPRequestHandler):
    timeout = 5  # seconds for a client to send its request
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "metacog", ""
    probes: ClassVar[dict[str, tuple[int, dict[str, str]]]] = {
        "/healthz": (200, {"status": "ok"}),
        "/readyz": (503, NOT_READY),
    }

    def _answer(self) -> None:
        path = self.path.partition("?")[0]
        if path in self.probes:
            status, told = self.probes[path]
            self._send(status, "application/json", json.dumps(told))
        elif path.startswith("/api/"):
            problem = {
                "type": "about:blank",
                "title": "Service Unavailable",
                "status": 503,
                "detail": SAID,
                "errors": [],
            }
            self._send(503, "application/problem+json", json.dumps(problem))
        else:
            self._send(503, "text/plain; charset=utf-8", f"{SAID}\n")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer

    def _send(self, status: int, kind: str, text: str) -> None:
        length = self.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit():
            self.rfile.read(min(int(length), DROPPED_BYTES))
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", str(RETRY_AFTER_SECONDS))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: Any) -> None:
        pass  # whoever called has hung up


@contextmanager
def standing_in(host: str, port: int) -> Iterator[None]:
    """Answer at an address for as long as the block takes."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    server = type("_Server", (_Server,), {"address_family": family})((str(address[0]), port), _Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
