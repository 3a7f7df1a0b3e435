"""Clients that connect and then hardly send anything, hundreds at once, with no proxy in front."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from tests.faults import site as sites
from tests.faults.away import post
from tests.faults.servers import fail, say, until
from tests.faults.site import Answer

BODIES, HEADS, IDLE = 400, 400, 600
PLAYED_SECONDS = 45.0  # longer than any of them is borne
PAUSE_SECONDS = 5.0  # before who was refused connects anew: it is their number that is played, not their haste
WITHIN_SECONDS = 1.0  # 99 of 100 calls

POST = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n{more}"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class Slow:
    """Clients that keep their connections for as long as they are let, and then connect anew."""

    def __init__(self, port: int, openings: list[bytes]) -> None:
        self.port, self.openings = port, openings
        self.open = 0
        self.ended: Counter[str] = Counter()  # by what they heard: a status, or nothing

    async def one(self, opening: bytes) -> None:
        while True:
            writer, heard = None, b""
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(opening)
                self.open += 1
                try:
                    heard = await reader.read(4096)
                    self.ended[heard[9:12].decode() or "closed"] += 1
                    await reader.read()  # until the other end closes
                finally:
                    self.open -= 1
            if writer is not None:
                writer.close()
            await asyncio.sleep(PAUSE_SECONDS if heard else 0.1)

    async def all(self, until_told: threading.Event) -> None:
        clients = [asyncio.ensure_future(self.one(opening)) for opening in self.openings]
        while not until_told.is_set():
            await asyncio.sleep(0.1)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


@contextmanager
def connected(port: int, openings: list[bytes]) -> Iterator[Slow]:
    slow, told = Slow(port, openings), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(slow.all(told)))
    thread.start()
    try:
        yield slow
    finally:
        told.set()
        thread.join()


def openings(key: str, csrf: str) -> list[bytes]:
    """Return what the clients send: bodies of one byte without and with a key, half forms, half heads, nothing."""
    bodies = [
        POST.format(path="/api/v1/responses", kind=JSON, more="Content-Length: 1000\r\n\r\n{"),
        POST.format(path="/api/v1/responses", kind=JSON, more="Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"),
        POST.format(
            path="/api/v1/responses", kind=JSON, more=f"Authorization: Bearer {key}\r\nContent-Length: 9\r\n\r\n{{"
        ),
        POST.format(path="/sign-in/", kind=FORM, more=f"Cookie: csrftoken={csrf}\r\nContent-Length: 1000\r\n\r\nc"),
    ]
    sent = [bodies[number % len(bodies)] for number in range(BODIES)]
    sent += ["POST /api/v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "] * HEADS + [""] * IDLE
    return [opening.encode() for opening in sent]


def on_sqlite(folder: Path) -> str:
    """Post, read pages and ask the probes while all of them are connected."""
    with sites.running(folder / "data") as site:
        agent, cookies = site.create_agent(), site.sign_in()
        signed_in = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        calls: dict[str, Callable[[int], Answer]] = {
            "posts": lambda number: post(site, agent, f"post-{number}"),
            "pages": lambda number: site.request("GET", "/queue/", None, signed_in),
            "probes": lambda number: site.get("/healthz"),
        }
        took: dict[str, list[float]] = {kind: [] for kind in calls}
        others: Counter[int] = Counter()
        with connected(site.port, openings(agent["api_key"], cookies["csrftoken"])) as slow:
            wanted = BODIES // 2 + HEADS + IDLE  # the other bodies are refused at once, and come again
            until(lambda: slow.open >= wanted, 30, f"{wanted} clients are connected")
            say(f"{slow.open} slow clients are connected")
            began, least = time.monotonic(), slow.open
            for number in count():
                for kind, call in calls.items():
                    sent = time.monotonic()
                    answer = call(number)
                    took[kind].append(time.monotonic() - sent)
                    others[answer.status] += answer.status not in (200, 201)
                least = min(least, slow.open)
                if time.monotonic() - began > PLAYED_SECONDS:
                    break
        most = {kind: sorted(times)[len(times) * 99 // 100] for kind, times in took.items()}
        late = [f"{kind} took {seconds:.2f} s" for kind, seconds in most.items() if seconds > WITHIN_SECONDS]
        missing = {"401", "408"} - set(slow.ended)
        fail(
            "; ".join(late),
            f"other answers: {dict(+others)}" if +others else "",
            f"of the slow clients nobody heard {missing}: {dict(slow.ended)}" if missing else "",
        )
    answers = ", ".join(f"{len(times)} {kind}, 99 % within {most[kind]:.2f} s" for kind, times in took.items())
    heard = ", ".join(f"{times} {status}" for status, times in sorted(slow.ended.items()))
    return f"{answers}, beside {least} slow clients or more; those heard: {heard}"
