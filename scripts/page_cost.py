"""What the pages cost: queries, steps of SQLite's virtual machine, and CPU time, on a copy of a data folder.

    METACOG_DATA_DIR=COPY .venv/bin/python scripts/page_cost.py [--person NAME] [--repeat N]

The first decision in the queue is made, so never on real data. CPU time is the median of the repeats; steps are of one
request, and depend on nothing but the rows (`-` on PostgreSQL).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
EACH = 100  # steps between two looks


def measured(ask: Callable[[], Any], repeat: int) -> tuple[int, int | None, float]:
    """Return queries and steps of a request, and its median CPU time in milliseconds."""
    from django.db import connection

    looks: list[None] = []
    queries: list[str] = []

    def count(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        queries.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(lambda: looks.append(None), EACH)
        answer = ask()
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(None, 0)
    assert getattr(answer, "status_code", 200) == 200, answer
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        ask()
        times.append(time.process_time() - begun)
    steps = len(looks) * EACH if connection.vendor == "sqlite" else None
    return len(queries), steps, statistics.median(times) * 1000 if times else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--person", default="admin")
    parser.add_argument("--repeat", type=int, default=30)
    options = parser.parse_args()

    import django

    django.setup()
    from django.test import Client

    from metacog.models import Agent, User
    from patterns.patterns import exchange
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
        "queue, decided": "/queue/?state=decided",
        "item": f"/queue/{first.public_id}/",
        "responses": "/responses/",
        "response": f"/responses/{latest.public_id}/",
        "statistics": "/statistics/",
        "spot checks": "/spot-checks/",
        "corrections": "/corrections/",
        "agents": "/agents/",
        "agent": f"/agents/{agent.public_id}/",
        "search, beginning of an id": f"/search/?q={first.public_id[:9]}",
    }
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
    todo["an agent's GET /patterns"] = (lambda: exchange.give(agent.team), options.repeat)
    print(f"{AgentResponse.objects.count():,} responses; {HeldItem.objects.count():,} held, {number:,} wait")
    print(f"{'':28}{'queries':>8}{'steps':>12}{'CPU ms':>8}")
    for name, (ask, repeat) in todo.items():
        if repeat:
            ask()  # templates and statements are read once
        queries, steps, milliseconds = measured(ask, repeat)
        cpu = f"{milliseconds:.1f}" if repeat else "-"
        print(f"{name:28}{queries:>8}{'-' if steps is None else f'{steps:,}':>12}{cpu:>8}", flush=True)


if __name__ == "__main__":
    main()
