"""What pages and calls cost: queries, steps of SQLite's virtual machine and time, on a copy of a data folder.

    METACOG_DATA_DIR=COPY .venv/bin/python scripts/page_cost.py [--person NAME] [--repeat N] [--worst STEPS] [NAME …]

The first decision in the queue is made and an agent gets a key, so never on real data. Times are medians of the
repeats; steps are of one request, and depend on nothing but the rows (`-` on PostgreSQL). With NAMES only what begins
with one. `--worst` tells each statement of so many steps. scripts/large_database.py makes a large database to ask.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
EACH = 100  # steps between two looks


@dataclass
class Cost:
    """What one request costs."""

    queries: int
    steps: int  # of all its statements
    wall: float  # milliseconds, the median of the repeats
    cpu: float
    statements: list[tuple[int, str]]  # each with its steps


def measured(ask: Callable[[], Any], repeat: int) -> Cost:
    from django.db import connection

    looks: list[None] = []
    statements: list[tuple[int, str]] = []

    def count(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        statements.append((len(looks), sql))  # a statement's rows are read after it began, until the next one
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(lambda: looks.append(None), EACH)
        answer = ask()
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(None, 0)
    assert getattr(answer, "status_code", 200) == 200, answer
    cpu, wall = [], []
    for _ in range(repeat):
        begun = time.process_time(), time.perf_counter()
        ask()
        cpu.append(time.process_time() - begun[0])
        wall.append(time.perf_counter() - begun[1])
    walls, cpus = (statistics.median(times) * 1000 if times else float("nan") for times in (wall, cpu))
    ends = [begun for begun, _ in statements[1:]] + [len(looks)]
    each = [((end - begun) * EACH, sql) for (begun, sql), end in zip(statements, ends, strict=True)]
    return Cost(len(statements), len(looks) * EACH, walls, cpus, each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--person", default="admin")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--worst", type=int, metavar="STEPS")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    import django

    django.setup()
    from django.db import connection
    from django.test import Client

    from metacog.accounts.agents import rotate
    from metacog.models import Agent, User
    from reviews.held.decisions import settle
    from reviews.models import AgentResponse, HeldItem

    person = User.objects.get(username=options.person)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    swap = {"hx-request": "true", "hx-current-url": "http://127.0.0.1/queue/"}
    waiting = HeldItem.objects.filter(state="pending", team__in=person.teams).order_by("-hesitation_score", "-id")
    number = waiting.count()
    first, deep = waiting[0], waiting[number * 3 // 4]
    agent = Agent.objects.select_related("team").get(pk=first.agent_id)
    latest = AgentResponse.latest_of(agent)[0]
    pages = {
        "queue": "/queue/",
        "deep in the queue": f"/queue/?after={deep.public_id}",
        "queue, one signal": "/queue/?signal=absolute-claim",
        "queue, a rare signal": "/queue/?signal=overconfidence",
        "queue, one kind": "/queue/?kind=tool_call",
        "queue, one agent": f"/queue/?agent={agent.public_id}",
        "queue, decided": "/queue/?state=decided",
        "queue, decided by a person": f"/queue/?state=decided&by={person.pk}",
        "item": f"/queue/{first.public_id}/",
        "responses": "/responses/",
        "responses of an agent": f"/responses/?agent={agent.public_id}",
        "response": f"/responses/{latest.public_id}/",
        "statistics": "/statistics/",
        "statistics, review time": "/statistics/review-time/",
        "statistics, learned risk": "/statistics/risk/",
        "spot checks": "/spot-checks/",
        "corrections": "/corrections/",
        "agents": "/agents/",
        "agent": f"/agents/{agent.public_id}/",
        "policy": f"/agents/{agent.public_id}/policy/",
        "policy, with its preview": f"/agents/{agent.public_id}/policy/?from={agent.policy_version}",
        "context of an agent": f"/agents/{agent.public_id}/context/",
        "audit log": "/audit/",
        "audit log of people": "/audit/?actor=person",
        "audit log of the system": "/audit/?actor=system",
        "audit log of an action": "/audit/?action=chat-rejected",
        "audit log of an agent": f"/audit/?agent={agent.public_id}",
        "audit log of an agent, people": f"/audit/?agent={agent.public_id}&actor=person",
        "patterns": "/patterns/",
        "deliveries": "/deliveries/",
        "stuck": "/stuck/",
        "threads": "/threads/",
        "memory": "/memory/",
        "lessons": "/lessons/",
        "reflections": "/reflections/",
        "research": "/research/",
        "extensions": "/extensions/",
        "team": "/team/",
        "preferences": "/preferences/",
        "search, words": "/search/?q=retention",
        "search, beginning of an id": f"/search/?q={first.public_id[:9]}",
        "metrics": "/metrics",
    }
    calls = {
        "GET /patterns": "/patterns",
        "GET /decisions?after=0": "/decisions?after=0",
        "GET /context": "/context",
        "GET /held": "/held?state=pending",
        "GET /problems": "/problems",
        "GET /threads": "/threads",
        "GET /memory?q=": "/memory?q=retention",
    }
    key, _ = rotate(agent, person)
    bearer = {"authorization": f"Bearer {key}"}
    form = {"verdict": "approve", "version": first.version, "sha256": first.sha256}
    todo: dict[str, tuple[Callable[[], Any], int]] = {
        name: (partial(client.get, address), options.repeat) for name, address in pages.items()
    }
    todo["item, swapped in"] = (lambda: client.get(f"/queue/{first.public_id}/", headers=swap), options.repeat)
    todo["poll that finds news"] = (lambda: client.get("/queue/changes?token=", headers=swap), options.repeat)
    todo["decision, and the next"] = (
        lambda: client.post(f"/queue/{first.public_id}/decide", form, headers=swap), 0,
    )  # fmt: skip
    todo["before an agent's call"] = (lambda: settle(agent), options.repeat)
    for name, address in calls.items():
        todo[name] = partial(client.get, f"/api/v1{address}", headers=bearer), options.repeat
    print(f"{AgentResponse.objects.count():,} responses; {HeldItem.objects.count():,} held, {number:,} wait")
    print(f"{'':32}{'queries':>8}{'steps':>12}{'ms':>8}{'CPU ms':>8}")
    for name, (ask, repeat) in todo.items():
        if options.names and not name.startswith(tuple(options.names)):
            continue
        if repeat:
            ask()  # templates and statements are read once
        cost = measured(ask, repeat)
        steps = f"{cost.steps:,}" if connection.vendor == "sqlite" else "-"
        print(f"{name:32}{cost.queries:>8}{steps:>12}{cost.wall:>8.1f}{cost.cpu:>8.1f}", flush=True)
        for number, sql in cost.statements:
            if options.worst and number >= options.worst:
                print(f"    {number:,}: {sql[:60]} … {sql[sql.find(' FROM ') + 1 :]}")


if __name__ == "__main__":
    main()
