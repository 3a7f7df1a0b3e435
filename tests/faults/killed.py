"""Processes that are killed in the middle of their work."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path

from tests.faults import site as sites
from tests.faults.receiver import listening
from tests.faults.servers import PostgreSQL, Redis, running, say
from tests.faults.site import Site
from tests.faults.traffic import Traffic, account

POSTS, DECISIONS = 1_000, 500
EVERY = 120  # accepted posts and decisions
SETTINGS = {"undo_seconds": "1", "review_seconds": "1", "callback_schedule": ",".join(["1"] * 60)}


def on_sqlite(folder: Path) -> str:
    return kill_again_and_again(folder, "", "")


def on_postgresql(folder: Path) -> str:
    with running(PostgreSQL, folder) as database, running(Redis, folder) as broker:
        return kill_again_and_again(folder, database.url, broker.url)


def kill_again_and_again(folder: Path, database_url: str, broker_url: str) -> str:
    """Kill web, worker and both in turn, while a thousand posts and five hundred decisions come in."""
    with (
        listening() as receiver,
        sites.running(folder / "data", database_url, broker_url, callback_allow=receiver.origin, **SETTINGS) as site,
    ):
        traffic = Traffic([site], site.create_agent(receiver.url), POSTS, DECISIONS)
        done = threading.Event()
        killed: list[str] = []
        killer = threading.Thread(target=kill, args=(site, traffic, done, killed))
        killer.start()
        try:
            traffic.run()
        finally:
            done.set()
            killer.join()
        counted = account(traffic, receiver)
    times = ", ".join(f"{name} {killed.count(name)}" for name in ("web", "worker", "both"))
    return f"kill -9 {len(killed)} times ({times}); {counted}"


def kill(site: Site, traffic: Traffic, done: threading.Event, killed: list[str]) -> None:
    targets = [("web", ["metacog.web"]), ("worker", ["worker"]), ("both", ["metacog.web", "worker"])]
    for kills in count(1):
        while len(traffic.accepted) + len(traffic.decided) < kills * EVERY:
            if done.wait(0.01):
                return
        name, words = targets[kills % 3]
        processes = sum(site.kill(word) for word in words)
        killed.append(name)
        posts, decisions = len(traffic.accepted), len(traffic.decided)
        say(f"after {posts} posts and {decisions} decisions: kill -9 of {name} ({processes} processes)")
