"""Measure what the whole webhook costs, also with a learned risk and with the plain ORM, against a bare view.

    .venv/bin/python scripts/webhook_cost.py [--turns N]

All are called in this process as a web server calls them (WSGI), in turns of 100 posts, on a SQLite database of its
own or the empty one that METACOG_DATABASE_URL names. The bare view has no middleware, reads the body as JSON and writes
it into two rows of two tables in one transaction. CPU is this process's; what PostgreSQL uses comes on top, for all.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

POSTS = 100  # in a turn
AGENTS = 20


def main(folder: str, turns: int) -> None:
    os.environ |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "DJANGO_SETTINGS_MODULE": "metacog.settings"}
    import django

    django.setup()
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler
    from django.core.management import call_command
    from django.db import connection, models, transaction
    from django.http import HttpRequest, JsonResponse
    from django.test import override_settings
    from django.urls import path
    from django.utils import timezone

    from metacog.accounts.agents import create_agent
    from metacog.heuristics.ranking.features import see
    from metacog.heuristics.ranking.model import Case, Model
    from metacog.models import Agent, Policy, Team
    from reviews.models import RiskModel
    from scripts import load

    call_command("migrate", verbosity=0)

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

    webhook = WSGIHandler()
    with override_settings(MIDDLEWARE=[f"{__name__}.BareUrls"]):
        BareUrls.urls = type("urls", (), {"urlpatterns": [path("bare", bare)]})
        without_anything = WSGIHandler()

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
        ("webhook", webhook, "/api/v1/responses"),
        ("ranked", webhook, "/api/v1/responses"),
        ("plain ORM", with_plain_orm, "/api/v1/responses"),
        ("bare view", without_anything, "/bare"),
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch, options.turns)
