"""Two hundred agents wait for a decision each while another posts at full speed."""

from __future__ import annotations

import asyncio
import json
import statistics
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

from tests.faults import site as sites
from tests.faults.servers import PostgreSQL, fail, running, say, until
from tests.faults.site import Site

WAITING = 200
CONNECTIONS = 4  # that post
ROUNDS, ROUND_SECONDS = 5, 4.0  # without and with the waiting, in turn
MOST_SLOWER = 0.10  # of the posts
SOON_SECONDS = 2.0  # from the release of a decision to the last who waited for it, on a busy machine

SETTLED_SECONDS = 1.0  # after the last of them connected


class Waiting:
    """Clients that wait for one item each, and ask again when their time is over."""

    def __init__(self, port: int, key: str, items: Sequence[str]) -> None:
        self.port = port
        self.requests = [
            (
                f"GET /api/v1/held/{held}?wait=60 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Authorization: Bearer {key}\r\nConnection: close\r\n\r\n"
            ).encode()
            for held in items
        ]
        self.open = 0
        self.heard: list[float] = []  # when each heard of a decision
        self.others = 0

    async def one(self, request: bytes) -> None:
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
            writer.write(request)
            self.open += 1
            try:
                answer = await reader.read()
            finally:
                self.open -= 1
                writer.close()
            if b'"state": "approved"' in answer:
                self.heard.append(time.time())
                return
            self.others += b" 200 " not in answer[:20]

    async def all(self, told: threading.Event) -> None:
        clients = [asyncio.ensure_future(self.one(request)) for request in self.requests]
        while not told.is_set() and not all(client.done() for client in clients):
            await asyncio.sleep(0.05)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


@contextmanager
def connected(port: int, key: str, items: Sequence[str]) -> Iterator[Waiting]:
    waiting, told = Waiting(port, key, items), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(waiting.all(told)))
    thread.start()
    try:
        until(lambda: waiting.open == WAITING, 30, f"{WAITING} clients wait")
        yield waiting
    finally:
        told.set()
        thread.join()


def posted(port: int, key: str, seconds: float) -> int:
    """Post on a few connections as fast as they are answered; return how many were accepted."""

    def one(_number: int) -> int:
        connection, end = HTTPConnection("127.0.0.1", port, timeout=30), time.monotonic() + seconds
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        for done in count():
            if time.monotonic() > end:
                connection.close()
                return done
            body = json.dumps({"id": str(uuid.uuid4()), "response": "The disk may be full.", "items": []})
            connection.request("POST", "/api/v1/responses", body, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 201, answer.status
        raise AssertionError

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sum(pool.map(one, range(CONNECTIONS)))


def cpu_seconds(site: Site) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in site.processes("metacog.web"))


def measured(site: Site, key: str) -> tuple[float, float, int]:
    """Return posts a second, the web server's CPU seconds in all, and posts."""
    began, cpu = time.monotonic(), cpu_seconds(site)
    posts = posted(site.port, key, ROUND_SECONDS)
    return posts / (time.monotonic() - began), cpu_seconds(site) - cpu, posts


def played(site: Site) -> str:
    agent = site.create_agent()
    key = agent["api_key"]
    fast = "from metacog.models import Policy; Policy.objects.update(rate_per_second=100000, rate_burst=1000000)"
    site.manage("shell", "-c", fast)  # before its first post: the web server has read no policy yet
    calls = [{"kind": "tool_call", "name": "pay", "arguments": {"eur": number}} for number in range(WAITING)]
    told = site.call(key, "POST", "/responses", {"response": "", "session": "s", "items": calls}).json
    items = [item["held"] for item in told["items"]]
    held = items[0]
    posted(site.port, key, 2.0)  # so that all is warm
    alone, beside, idle = [], [], []
    for _ in range(ROUNDS):
        alone.append(measured(site, key))
        with connected(site.port, key, items) as waiting:
            time.sleep(SETTLED_SECONDS)
            cpu, began = cpu_seconds(site), time.monotonic()
            time.sleep(ROUND_SECONDS / 2)  # they wait, and nothing else happens
            idle.append((cpu_seconds(site) - cpu) / (time.monotonic() - began))
            beside.append(measured(site, key))
            assert waiting.open == WAITING, waiting.open
    ratios = [with_them[0] / without[0] for without, with_them in zip(alone, beside, strict=True)]
    rates = [f"{without[0]:.0f} and {with_them[0]:.0f}" for without, with_them in zip(alone, beside, strict=True)]
    say(f"posts a second without and with them: {', '.join(rates)}")
    with connected(site.port, key, [held] * WAITING) as waiting:
        cookies = site.sign_in()
        item = site.call(key, "GET", f"/held/{held}").json
        form = {"verdict": "approve", "version": str(item["version"]), "sha256": item["sha256"]}
        assert site.submit(cookies, f"/queue/{held}/decide", form).status == 302
        until(lambda: len(waiting.heard) == WAITING, 30, "all who waited heard of the decision")
    released = site.call(key, "GET", "/decisions").json["items"][0]["decided_at"]
    last = max(waiting.heard) - time_of(released)
    slower = 1 - statistics.median(ratios)
    fail(
        f"posting is slower by {slower:.0%}" if slower > MOST_SLOWER else "",
        f"the last heard {last:.2f} s after the decision" if last > SOON_SECONDS else "",
        f"{waiting.others} of those who waited heard something else" if waiting.others else "",
    )
    cpu_of = [cpu / posts * 1000 for _, cpu, posts in (*alone, *beside)]
    return (
        f"posting with {WAITING} waiting is {1 - slower:.2f} times as fast as without (median of {ROUNDS} rounds, "
        f"{min(ratios):.2f} to {max(ratios):.2f}; {statistics.median(a[0] for a in alone):.0f} posts a second); "
        f"{statistics.median(cpu_of):.1f} ms of CPU a post; {WAITING} who wait cost {statistics.median(idle):.1%} of a "
        f"core; the last of them heard {last:.2f} s after the decision"
    )


def time_of(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def on_sqlite(folder: Path) -> str:
    with sites.running(folder / "data", undo_seconds="0") as site:
        return played(site)


def on_postgresql(folder: Path) -> str:
    with (
        running(PostgreSQL, folder) as database,
        sites.running(folder / "data", database.url, undo_seconds="0") as site,
    ):
        return played(site)
