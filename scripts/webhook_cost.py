"""Measure what the whole webhook costs, also with a learned risk and with the plain ORM, against a bare view.

    .venv/bin/python scripts/webhook_cost.py [--turns N]
    .venv/bin/python scripts/webhook_cost.py --served SECONDS [--turns N] [--postgresql]

All are called in this process as a web server calls them (WSGI), in turns of 100 posts, on a SQLite database of its
own, with `--postgresql` on a server of its own, which writes durably, or on the empty one that METACOG_DATABASE_URL
names. The bare view has no middleware, reads the body as JSON and writes it into two rows of two tables in one
transaction. CPU is this process's; what PostgreSQL uses comes on top, for all.

With `--served` by `manage.py up` instead, and the bare view by the same server in one process, both posted to by one
agent and by eight at once, in turns of so many seconds: the CPU of web and worker for a post. The worker is given
15 seconds after each turn to catch up, which count. What posts takes a share of the machine.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

ADDRESS = "/api/v1/responses"
POSTS = 100  # in a turn
AGENTS = 20
AT_ONCE = (1, 8)  # agents that post to a server
CATCHING_UP_SECONDS = 15.0  # for the worker, after a turn
BARE = "--bare"  # serve the bare view on the socket with this number


def bare_view() -> Any:
    """Return a handler with nothing but the bare view, and make its tables."""
    from django.core.handlers.wsgi import WSGIHandler
    from django.db import connection, models, transaction
    from django.http import HttpRequest, JsonResponse
    from django.test import override_settings
    from django.urls import path

    class BareResponse(models.Model):  # noqa: DJ008 - nobody sees it
        body = models.TextField()
        received_at = models.DateTimeField(auto_now_add=True)

        class Meta:
            app_label = "metacog"

    class BareItem(models.Model):  # noqa: DJ008 - as above
        response = models.ForeignKey(BareResponse, models.CASCADE)
        text = models.TextField()

        class Meta:
            app_label = "metacog"

    with connection.schema_editor() as editor:
        editor.create_model(BareResponse)
        editor.create_model(BareItem)

    def bare(request: HttpRequest) -> JsonResponse:
        body = json.loads(request.body)
        with transaction.atomic():
            response = BareResponse._default_manager.create(body=request.body.decode())
            BareItem._default_manager.create(response=response, text=body["items"][0]["text"])
        return JsonResponse({"id": response.pk}, status=201)

    with override_settings(MIDDLEWARE=[f"{__name__}.BareUrls"]):
        BareUrls.urls = type("urls", (), {"urlpatterns": [path(ADDRESS.removeprefix("/"), bare)]})
        return WSGIHandler()


def set_up(folder: str) -> None:
    os.environ |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "DJANGO_SETTINGS_MODULE": "metacog.settings"}
    import django

    django.setup()


def main(folder: str, turns: int) -> None:
    set_up(folder)
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from metacog.accounts.agents import create_agent
    from metacog.heuristics.ranking.features import see
    from metacog.heuristics.ranking.model import Case, Model
    from metacog.models import Agent, Policy, Team
    from reviews.models import RiskModel
    from scripts import load

    call_command("migrate", verbosity=0)

    webhook, without_anything = WSGIHandler(), bare_view()
    document = Model.learn([Case(see(text, "", {}), text in "ab") for text in "abcdef"]).as_dict()
    keys = {}
    for ranked in (False, True):
        team = Team.objects.create(name=f"Timed {ranked}", risk_budget=1, risk_budget_holds=True, risk_cut=1.0)
        keys[ranked] = [create_agent(team, f"timed-{number}", None)[1] for number in range(AGENTS)]
        model = RiskModel(team=team, public_id=document["id"], document=document, made_at=timezone.now())
        model.save()
        Agent.objects.filter(team=team).update(risk_model=model.pk if ranked else None)
    Policy.objects.update(rate_per_second=10_000, rate_burst=1_000_000)
    chance = random.Random(20260224)

    def environ(address: str, is_ranked: bool) -> dict[str, Any]:
        body = load.body(2_600, chance)
        return {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": address,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "HTTP_HOST": "127.0.0.1:8000",
            "REMOTE_ADDR": "127.0.0.1",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": "application/json",
            "HTTP_AUTHORIZATION": f"Bearer {chance.choice(keys[is_ranked])}",
            "HTTP_X_REQUEST_ID": uuid.uuid4().hex,
        }

    def with_plain_orm(*request: Any) -> Any:
        settings.PREPARED = False
        try:
            return webhook(*request)
        finally:
            settings.PREPARED = True

    def turn(name: str, handler: Callable[..., Any], address: str) -> tuple[float, list[float]]:
        """Return the CPU of one post on average, and the wall times of all, in ms."""
        requests = [environ(address, name == "ranked") for _ in range(POSTS)]
        took = []
        statuses = set()
        cpu = time.process_time()
        for request in requests:
            began = time.perf_counter()
            answer = handler(request, lambda status, _: statuses.add(status))
            answer.close()
            took.append(1_000 * (time.perf_counter() - began))
        cpu = time.process_time() - cpu
        if statuses != {"201 Created"}:
            raise SystemExit(f"{address} answered {statuses}.")
        return 1_000 * cpu / POSTS, took

    contenders = (
        ("webhook", webhook, ADDRESS),
        ("ranked", webhook, ADDRESS),
        ("plain ORM", with_plain_orm, ADDRESS),
        ("bare view", without_anything, ADDRESS),
    )
    cpus: dict[str, list[float]] = {name: [] for name, _, _ in contenders}
    waits: dict[str, list[float]] = {name: [] for name, _, _ in contenders}
    for number in range(turns + 1):
        for name, handler, address in contenders:
            cpu, took = turn(name, handler, address)
            if number:  # the first turn warms up
                cpus[name].append(cpu)
                waits[name] += took
    print(f"{connection.vendor}, {turns} turns of {POSTS} posts of 2.6 KB:")
    for name, found in waits.items():
        found.sort()
        print(
            f"{name:10} CPU {statistics.median(cpus[name]):.2f} ms; "
            f"wall median {statistics.median(found):.2f} ms, 99 % within {found[len(found) * 99 // 100]:.2f} ms"
        )
    *ours, (_, theirs) = cpus.items()
    for name, mine in ours:
        low, middle, high = statistics.quantiles([one / other for one, other in zip(mine, theirs, strict=True)], n=4)
        print(f"{name:10} ratio in CPU {middle:.2f} (quartiles {low:.2f} and {high:.2f})")


def serve_bare_view(number: int) -> None:
    set_up(os.environ["METACOG_DATA_DIR"])
    from metacog import asgi, web

    asgi.django = bare_view()
    web.server(asgi.application).run(sockets=[socket.socket(fileno=number)])


def served(folder: str, turns: int, seconds: float) -> None:
    """Measure what a post costs the processes of `manage.py up`, beside the bare view."""
    set_up(folder)
    from django.db import connection

    from metacog import web
    from metacog.accounts.agents import create_agent
    from metacog.models import Policy, Team
    from scripts import load

    ours, theirs = (web.listen("127.0.0.1", 0) for _ in range(2))
    port, bare_port = (each.getsockname()[1] for each in (ours, theirs))
    ours.close()
    theirs.listen()  # who comes before it serves waits
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port)]
    up = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert up.stdout
    next(line for line in up.stdout if "is ready" in line)
    bare = subprocess.Popen([sys.executable, __file__, BARE, str(theirs.fileno())], pass_fds=[theirs.fileno()])
    try:
        team = Team.objects.create(name="Timed")
        keys = [create_agent(team, f"timed-{number}", None)[1] for number in range(max(AT_ONCE))]
        Policy.objects.update(rate_per_second=10_000, rate_burst=1_000_000)

        def turn(port: int, at_once: int, seconds: float) -> list[float]:
            """Post; return how long each took, in ms."""
            with ThreadPoolExecutor(at_once) as pool:
                address = f"http://127.0.0.1:{port}"
                each = list(pool.map(lambda key: load.post(address, key, load.Load(seconds)), keys[:at_once]))
            if others := sum((statuses for _, statuses in each), Counter()):
                raise SystemExit(f"Otherwise answered: {dict(others)}")
            return sorted(1_000 * took for times, _ in each for took in times)

        for number in (port, bare_port):
            turn(number, max(AT_ONCE), 1)  # warms up
        for at_once in AT_ONCE:
            costs: dict[str, list[float]] = {"web": [], "worker": [], "bare view": []}
            waits: list[float] = []
            for _ in range(turns):
                before = cpu(up.pid)
                took = turn(port, at_once, seconds)
                time.sleep(CATCHING_UP_SECONDS)
                after = cpu(up.pid)
                for name in ("web", "worker"):
                    costs[name].append(1_000 * (after[name] - before[name]) / len(took))
                waits += took
                began = cpu(bare.pid)["web"]
                posts = len(turn(bare_port, at_once, seconds))
                costs["bare view"].append(1_000 * (cpu(bare.pid)["web"] - began) / posts)
            whole = [web + worker for web, worker in zip(costs["web"], costs["worker"], strict=True)]
            ratio = statistics.median(one / other for one, other in zip(whole, costs["bare view"], strict=True))
            waits.sort()
            costs |= {"whole": whole}
            told = ", ".join(f"{name} {statistics.median(each):.2f} ms" for name, each in costs.items())
            print(
                f"{connection.vendor}, {at_once} at once: CPU of a post: {told}; whole to bare view {ratio:.2f}; "
                f"{len(waits) / turns / seconds:.0f} a second, median {statistics.median(waits):.0f} ms, "
                f"99 % within {waits[len(waits) * 99 // 100]:.0f} ms",
                flush=True,
            )
    finally:
        for process in (bare, up):
            process.terminate()
            process.wait()


def cpu(pid: int) -> dict[str, float]:
    """Return the CPU seconds of a process and all below it, the worker's apart."""
    found = {"web": 0.0, "worker": 0.0}
    for process in (each := psutil.Process(pid), *each.children(recursive=True)):
        times = process.cpu_times()
        found["worker" if "celery" in process.cmdline() else "web"] += times.user + times.system
    return found


class BareUrls:
    """Middleware that leads to the bare view, and does nothing else."""

    urls: Any = None

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        request.urlconf = self.urls
        return self.get_response(request)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--served", type=float, metavar="SECONDS")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument(BARE, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare is not None:
        serve_bare_view(options.bare)
        sys.exit()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, ExitStack() as stack:
        if options.postgresql:
            from tests.faults.servers import PostgreSQL, running

            os.environ["METACOG_DATABASE_URL"] = stack.enter_context(running(PostgreSQL, Path(scratch))).url
        if options.served:
            served(scratch, options.turns, options.served)
        else:
            main(scratch, options.turns)
