"""Measure two machines that share a PostgreSQL and a broker, under eighty agents: all on this one machine.

    .venv/bin/python scripts/machines.py                    # with Redis and with RabbitMQ, 5 minutes
    .venv/bin/python scripts/machines.py --broker redis --rate 12 --seconds 60
    .venv/bin/python scripts/machines.py --broker redis --statements

Two `manage.py up` stand for the machines: two web processes, a worker and a beat each. A rate is posts a second of all
agents together; 0: each posts its next once the last is answered. PostgreSQL writes durably, as it is set up. CPU of a
post is that of each group of processes divided by the posts, what the worker does behind them included. Everything
shares the cores of this machine, with what posts and whatever else runs: CPU of a post says more than posts a second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import load
from tests.faults import site as sites
from tests.faults.servers import Broker, PostgreSQL, RabbitMQ, Redis, running, until

BROKERS: dict[str, type[Broker]] = {"redis": Redis, "rabbitmq": RabbitMQ}
GROUPS = ("web", "worker", "database", "broker")
CATCHING_UP_SECONDS = 120.0  # at most, behind a round
AGENTS = """
import json
from metacog.accounts.agents import create_agent
from metacog.models import Policy, Team
team = Team.objects.create(name="Load")
print(json.dumps([create_agent(team, f"load-{number}", None)[1] for number in range(%d)]))
Policy.objects.update(rate_per_second=10_000, rate_burst=1_000_000)
"""


@dataclass
class Round:
    """What one round of posts took."""

    seconds: float
    took: list[float]  # of each accepted post, in ms
    others: Counter[int]
    cpu: dict[str, float]  # seconds of each group
    behind: float  # seconds until the worker had caught up
    commits: int
    wal: int
    bytes: int  # by which the database grew
    waits: Counter[str]  # what the database's processes waited for, as often as it was seen
    connections: int

    def row(self, name: str, load_before: float) -> str:
        posts = len(self.took)
        each = " | ".join(f"{1_000 * self.cpu[group] / posts:.2f}" for group in GROUPS)
        whole = 1_000 * sum(self.cpu.values()) / posts
        late = self.took[posts * 99 // 100]
        return (
            f"| {name} | {posts / self.seconds:.0f} | {statistics.median(self.took):.0f} ms | {late:.0f} ms | {each} "
            f"| {whole:.1f} | {self.commits / posts:.1f} | {self.wal / posts / 1_000:.1f} KB "
            f"| {self.bytes / posts / 1_000:.1f} KB | {self.behind:.0f} s | {load_before:.1f} |"
        )


@dataclass
class Machines:
    """Two installations on one database and one broker, with the keys of agents."""

    sites: list[sites.Site]
    database: PostgreSQL
    broker: Broker
    keys: list[str] = field(default_factory=list)

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds of each group, those of processes that ended included."""
        found = dict.fromkeys(GROUPS, 0.0)
        for name, pid in (("database", self.database.server.get_pid()), ("broker", self.broker.process.pid)):
            found[name] = sum(seconds for _, seconds in _family(pid))
        for site in self.sites:
            for words, seconds in _family(site.up.pid):
                found["worker" if "celery" in words else "web"] += seconds
        return found

    def figures(self) -> tuple[int, int, int]:
        """Return how often the database committed, the bytes of its log, and its size."""
        query = (
            "SELECT xact_commit, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint, pg_database_size(datname) "
            "FROM pg_stat_database WHERE datname = current_database()"
        )
        [(commits, wal, size)] = self.sites[0].rows(query)
        return commits, wal, size

    def round(self, asked: load.Load) -> Round:
        done, waits, connections = Event(), Counter[str](), [0]
        look = Thread(target=_look, args=(self.database.url, done, waits, connections))
        cpu, before = self.cpu(), self.figures()
        look.start()
        with ThreadPoolExecutor(len(self.keys)) as pool:
            addresses = [f"http://127.0.0.1:{site.port}" for site in self.sites]
            each = list(
                pool.map(
                    lambda numbered: load.post(addresses[numbered[0] % len(addresses)], numbered[1], asked),
                    enumerate(self.keys),
                )
            )
        done.set()
        look.join()
        behind = self._catch_up()
        spent, after = self.cpu(), self.figures()
        commits, wal, size = (now - then for now, then in zip(after, before, strict=True))
        return Round(
            seconds=asked.seconds,
            took=sorted(1_000 * took for times, _ in each for took in times),
            others=sum((statuses for _, statuses in each), Counter()),
            cpu={name: spent[name] - cpu[name] for name in GROUPS},
            behind=behind, commits=commits, wal=wal, bytes=size, waits=waits, connections=connections[0],
        )  # fmt: skip

    def _catch_up(self) -> float:
        """Wait until the workers have nothing to do: 5 % of a core in two seconds. Return how long that took."""
        began = time.monotonic()
        while time.monotonic() - began < CATCHING_UP_SECONDS:
            spent, at = self.cpu()["worker"], time.monotonic()
            time.sleep(2)
            if (self.cpu()["worker"] - spent) / (time.monotonic() - at) < 0.05:
                return at - began
        return CATCHING_UP_SECONDS

    def statements(self, posts: int) -> Iterator[str]:
        """Say which statements the database spent most on."""
        yield "| calls a post | ms a post | rows a call | statement |\n|---|---|---|---|"
        query = (
            "SELECT calls, total_exec_time + total_plan_time, rows, query FROM pg_stat_statements "
            "ORDER BY 2 DESC LIMIT 12"
        )
        for calls, took, rows, sql in self.sites[0].rows(query):
            yield f"| {calls / posts:.2f} | {took / posts:.3f} | {rows / calls:.1f} | `{' '.join(sql.split())[:110]}` |"


def _family(pid: int) -> Iterator[tuple[list[str], float]]:
    """Give the command line of a process and of all below it, and the CPU seconds of each with its ended children."""
    first = psutil.Process(pid)
    for process in (first, *first.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            yield process.cmdline(), sum(process.cpu_times()[:4])


def _look(url: str, done: Event, waits: Counter[str], connections: list[int]) -> None:
    """Look five times a second what the database's processes do."""
    with psycopg.connect(url, autocommit=True) as database:
        while not done.wait(0.2):
            found = database.execute(
                "SELECT coalesce(wait_event_type || ': ' || wait_event, 'working'), count(*), max(all_of) FROM ("
                "SELECT *, count(*) OVER () AS all_of FROM pg_stat_activity WHERE backend_type = 'client backend') a "
                "WHERE state <> 'idle' AND pid <> pg_backend_pid() GROUP BY 1"
            ).fetchall()
            for what, count, connected in found:
                waits[what] += count
                connections[0] = max(connections[0], connected)


@contextmanager
def machines(broker: str, agents: int, *, with_statements: bool) -> Iterator[Machines]:
    with tempfile.TemporaryDirectory(prefix="metacog-machines-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with running(PostgreSQL, folder) as database, running(BROKERS[broker], folder) as queue:
            if with_statements:
                with psycopg.connect(database.url, autocommit=True) as connection:
                    connection.execute("ALTER SYSTEM SET shared_preload_libraries = pg_stat_statements")
                    connection.execute("ALTER SYSTEM SET pg_stat_statements.track_planning = on")
                database.take_away()
                database.give_back()
                with psycopg.connect(database.url, autocommit=True) as connection:
                    connection.execute("CREATE EXTENSION pg_stat_statements")
            with (
                sites.running(folder / "one", database.url, queue.url) as one,
                sites.running(folder / "other", database.url, queue.url) as other,
            ):
                keys = json.loads(one.manage("shell", "--verbosity", "0", "-c", AGENTS % agents))
                until(lambda: one.get("/readyz").status == other.get("/readyz").status == 200, 60, "both are ready")
                yield Machines([one, other], database, queue, keys)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--broker", choices=BROKERS, action="append", help="both unless given")
    parser.add_argument("--agents", type=int, default=80)
    parser.add_argument("--rate", type=float, action="append", help="posts a second; 0, 12 and 36 unless given")
    parser.add_argument("--seconds", type=float, default=30, help="of a round (%(default)g)")
    parser.add_argument("--held", type=float, default=0.03, help="share of posts that are held (%(default)s)")
    parser.add_argument("--statements", action="store_true", help="say what the database spends its time on")
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores for all of it; {options.agents} agents, posts of 2.6 KB, {options.held:.0%} held\n\n"
        "| broker, posts a second asked | posts a second | half within | 99% within | "
        "CPU of a post, ms: web | worker | database | broker | all | commits a post | log | growth | caught up after | "
        "load before |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for name in options.broker or BROKERS:
        with machines(name, options.agents, with_statements=options.statements) as both:
            both.round(load.Load(3))  # warms up
            if options.statements:
                both.sites[0].rows("SELECT pg_stat_statements_reset()")
            lines: list[Any] = []
            posts = 0
            for rate in options.rate or (0.0, 12.0, 36.0):
                before = os.getloadavg()[0]
                pause = options.agents / rate if rate else 0.0
                found = both.round(load.Load(options.seconds, held=options.held, pause=pause))
                posts += len(found.took)
                print(found.row(f"{name}, {f'{rate:g}' if rate else 'as fast as answered'}", before), flush=True)
                seen = sum(found.waits.values())
                shares = ", ".join(f"{what} {count / seen:.0%}" for what, count in found.waits.most_common(4))
                lines.append(
                    f"{name}: the database's processes: {shares}; at most {found.connections} connections; "
                    f"otherwise answered: {dict(found.others) or 'none'}"
                )
            lines += both.statements(posts) if options.statements else ()
            print("", *lines, "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
