"""What the web server makes of connections before, between and behind requests, over a real socket."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from metacog import asgi, web
from reviews.models import AgentResponse

pytestmark = pytest.mark.django_db(transaction=True)

HEAD = "POST /api/v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SAID = '{"response": "in pieces"}'
CHUNKS = f"{len(SAID):x}\r\n{SAID}\r\n0\r\n\r\n"
LENGTH, CHUNKED = f"Content-Length: {len(SAID)}\r\n", "Transfer-Encoding: chunked\r\n"
HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
Heard = Callable[..., list[Any]]


@contextmanager
def serving() -> Iterator[Heard]:
    """Serve the site; give a function that sends texts on one connection and returns the answers until it closes.

    These are the statuses and, of the last answer, the problem document if it is one.
    """
    bound = web.listen("127.0.0.1", 0)
    server = web.server(asgi.application)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()

    def heard(*parts: str) -> list[Any]:
        with socket.create_connection(bound.getsockname(), timeout=10) as connection:
            for part in parts:
                connection.sendall(part.encode())
            raw = b""
            while block := connection.recv(65_536):
                raw += block
        answers = re.split(rb"HTTP/1\.1 (?=\d{3} )", raw)[1:]
        problem = [json.loads(answers[-1].partition(b"\r\n\r\n")[2])] if b"problem+json" in answers[-1] else []
        return [*(int(answer[:3]) for answer in answers), *problem]

    try:
        while not server.started and thread.is_alive():
            thread.join(0.01)
        yield heard
    finally:
        server.handle_exit(signal.SIGTERM, None)
        thread.join()


@pytest.fixture
def key(kuro: Any) -> str:
    return f"Authorization: Bearer {kuro.key}\r\n"


def test_a_request_that_two_readers_may_frame_in_two_ways_is_refused_whole(key: str) -> None:
    """A proxy in front might go by the other one, and take a part of the body for the next request."""
    framings = [
        (LENGTH + CHUNKED, CHUNKS),
        (CHUNKED + LENGTH, CHUNKS),
        ("Content-Length: 4\r\n" + CHUNKED, CHUNKS),
        (LENGTH + "Content-Length: 4\r\n", SAID),
        (f"Content-Length: +{len(SAID)}\r\n", SAID),
        ("Transfer-Encoding : chunked\r\n", CHUNKS),
        ("Transfer-Encoding:\x0bchunked\r\n", CHUNKS),
        (CHUNKED + "Transfer-Encoding: identity\r\n", CHUNKS),
        ("Transfer-Encoding: gzip, chunked\r\n", CHUNKS),
        (CHUNKED, f"{len(SAID):x}\n{SAID}\r\n0\r\n\r\n"),
    ]
    with serving() as heard:
        for framing, body in framings:
            status, problem = heard(f"{HEAD}{key}{framing}Connection: close\r\n\r\n{body}{HEALTH}")
            assert (status, problem["status"]) == (400, 400), framing
        assert not AgentResponse.objects.exists()
        for framing, body in ((LENGTH, SAID), (CHUNKED, CHUNKS)):
            assert heard(f"{HEAD}{key}{framing}Connection: close\r\n\r\n{body}") == [201]


def test_a_connection_without_a_request_is_open_only_so_long_and_so_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(web, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr(web, "IDLE_SECONDS", 1)
    with serving() as heard:
        for opening in ("", HEAD, HEAD + "X-Slow: "):
            assert heard(opening)[0] == 408
        assert heard(HEALTH, HEAD)[:2] == [200, 408]
        assert heard(HEAD + "X-Wide: " + "x" * web.HEAD_BYTES)[0] == 431
        assert heard(HEALTH) == [200]  # closed once it is idle
        monkeypatch.setattr(web.Protocol, "limit", 0)
        assert heard(HEALTH)[0] == 503


def test_who_is_still_sending_behind_an_answer_hears_it_and_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "LINGER_SECONDS", 0.2)
    head, large = f"{HEAD}Content-Length: 2000000\r\n", " " * 2_000_000
    closing = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
    with serving() as heard:
        assert heard(f"{head}Connection: close\r\n\r\n", large)[0] == 413
        assert heard(f"{head}\r\n", large[:500_000])[0] == 413
        assert heard(f"{head}\r\n{large}", closing) == [413, 200]
