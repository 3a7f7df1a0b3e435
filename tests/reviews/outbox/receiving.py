"""A receiver that does as it is told, and what an agent is owed."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

Handler = BaseHTTPRequestHandler
Behaviour = Callable[[Handler], None]


@dataclass
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A web server on 127.0.0.1. `answers` are statuses or functions, used up one by one; then `then`."""

    url: str = ""
    answers: list[int | Behaviour] = field(default_factory=list)
    then: int | Behaviour = 204
    seen: list[Seen] = field(default_factory=list)
    under_way: set[Handler] = field(default_factory=set)
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/hook")

    @property
    def ids(self) -> list[str]:
        return [seen.headers["webhook-id"] for seen in self.seen]

    def handle(self, handler: Handler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self.lock:
            self.seen.append(Seen(handler.path, headers, body))
            answer = self.answers.pop(0) if self.answers else self.then
            self.under_way.add(handler)
            self.most_at_once = max(self.most_at_once, len(self.under_way))
        try:
            if callable(answer):
                answer(handler)
            else:
                handler.send_response(answer)
                handler.send_header("Content-Length", "0")
                handler.end_headers()
        finally:
            self.under_way.discard(handler)


@contextlib.contextmanager
def listening(tls: Any = None) -> Iterator[Receiver]:
    receiver = Receiver()

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(OSError):  # whoever called may have hung up
                receiver.handle(self)

        do_GET = do_POST

        def send_response(self, *args: Any) -> None:
            receiver.under_way.discard(self)  # whoever has the answer calls again, maybe before this thread goes on
            super().send_response(*args)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Answering)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/hook"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    serving.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


NOW = timezone.now()


def at(caller: Any, url: str) -> Any:
    """Give the agent this callback address and return its row."""
    from metacog.models import Agent

    agent = Agent.objects.get(public_id=caller.id)
    agent.callback_url = url
    agent.save(update_fields=["callback_url"])
    return agent


def owe(agent: Any, count: int = 1, **fields: Any) -> list[Any]:
    """Put deliveries into the agent's outbox, due at NOW."""
    from reviews.models import Delivery

    return Delivery.objects.bulk_create(
        Delivery(
            agent=agent,
            type="item.decided",
            body=json.dumps({"type": "item.decided", "data": {"n": n, "text": "快取 “ok” 🙂"}}, ensure_ascii=False),
            **{"created_at": NOW, "next_attempt_at": NOW, **fields},
        )
        for n in range(count)
    )
