"""Where callbacks go: a web server on 127.0.0.1 that takes everything and keeps it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    origin: str
    status: int = 204  # what it answers
    seen: list[tuple[str, bytes]] = field(default_factory=list)  # (webhook-id, body), as they came

    @property
    def url(self) -> str:
        return f"{self.origin}/hook"

    def bodies(self) -> dict[str, set[bytes]]:
        """Return what came under each id."""
        found: dict[str, set[bytes]] = {}
        for name, body in list(self.seen):
            found.setdefault(name, set()).add(body)
        return found


@contextmanager
def listening() -> Iterator[Receiver]:
    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.seen.append((self.headers["webhook-id"], body))
            self.send_response(receiver.status)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield receiver
        finally:
            server.shutdown()
