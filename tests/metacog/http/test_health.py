"""/healthz, /readyz, /metrics: for those who run it."""

import re
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from metacog.audit import chain
from metacog.models import Agent, Heartbeat, User
from reviews.models import Delivery, Endpoint, HeldItem
from tests.tables import table

pytestmark = pytest.mark.django_db


def test_the_process_is_healthy_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import connection

    monkeypatch.setattr(connection, "ensure_connection", lambda: 1 / 0)
    assert Client().get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [("/healthz", "10.0.0.5:8000", 200), ("/readyz", "10.0.0.5:8000", 200), ("/readyz", "", 200),
     ("/metrics", "10.0.0.5:8000", 400), ("/queue/", "10.0.0.5:8000", 400)],
)  # fmt: skip
def test_a_load_balancer_asks_by_any_address_and_nobody_else_does(
    settings: Any, path: str, host: str, status: int
) -> None:
    settings.ALLOWED_HOSTS = ["metacog.example.org", "localhost"]
    assert Client().get(path, headers={"host": host}).status_code == status


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_a_post_is_told_that_it_may_only_read(path: str) -> None:
    answer = Client(enforce_csrf_checks=True).post(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("age", "status"),
    [(None, "degraded"), (timedelta(seconds=5), "ok"), (timedelta(minutes=5), "degraded"),
     (-timedelta(hours=1), "degraded")],
)  # fmt: skip
def test_it_is_ready_without_a_worker_and_says_so(age: Any, status: int) -> None:
    if age is not None:
        Heartbeat.objects.create(name="worker", at=timezone.now() - age)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["database"]) == (200, status, "ok")


@pytest.mark.parametrize(
    ("who", "age", "told"),
    [("alice", 5, ""), ("alice", 720, "has not run for 12 min"), ("alice", None, "has not run yet"),
     ("victor", 720, ""), ("staff", 720, "has not run for 12 min")],
)  # fmt: skip
def test_who_decides_is_told_on_every_page_that_the_worker_does_not_run(
    who: str, age: int | None, told: str, alice: Any, victor: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.held.counts.BEGAN", timezone.now())
    assert "has not run" not in as_person(alice).get("/queue/").content.decode(), "it may be starting with the server"
    monkeypatch.setattr("reviews.held.counts.BEGAN", timezone.now() - timedelta(minutes=2))
    person = {"alice": alice, "victor": victor, "staff": User.objects.create_user("staff", is_staff=True)}[who]
    if age is not None:
        Heartbeat.objects.create(name="worker", at=timezone.now() - timedelta(seconds=age))
    client = as_person(person)
    page, part = client.get("/queue/").content.decode(), client.get("/worker/state").content.decode()
    assert (told in page, "has not run" in page) == (True, bool(told))
    assert ("has not run" in part, "hx-get" in part) == (bool(told), bool(told)), "what runs again is asked no more"
    token = re.search(r'name="token" value="([^"]*)"', page)[1]
    assert client.get("/queue/changes", {"token": token}).status_code == 204
    Heartbeat.objects.all().delete()
    if age == 5:
        assert "has not run yet" in client.get("/queue/changes", {"token": token}).content.decode()


def test_it_is_not_ready_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("no route")

    monkeypatch.setattr("metacog.http.health.Heartbeat.objects.filter", away)
    monkeypatch.setattr("metacog.http.health._migrated", True)
    assert Client().get("/readyz").status_code == 503


def test_the_metrics_count_what_is_there(kuro: Any) -> None:
    kuro.hold("chat")
    kuro.hold("task")
    text = Client().get("/metrics").content.decode()
    assert "metacog_responses_total 2.0" in text
    assert 'metacog_held_items{kind="chat"} 1.0' in text
    assert 'metacog_held_items{kind="remember"} 0.0' in text


def figure(name: str) -> Any:
    """Return what /metrics says of one figure without labels."""
    text = Client().get("/metrics").content.decode()
    return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])


@pytest.mark.parametrize(("age", "low", "high"), [(None, inf, inf), (5, 5, 15), (300, 300, 310), (-30, 0, 0)])
def test_the_metrics_tell_how_long_ago_the_worker_was_seen(age: Any, low: int, high: int) -> None:
    if age is not None:
        Heartbeat.objects.create(name="worker", at=timezone.now() - timedelta(seconds=age))
    assert low <= figure("metacog_worker_seen_seconds") <= high


def test_the_metrics_tell_how_late_a_review_is(kuro: Any) -> None:
    assert figure("metacog_most_overdue_seconds") == 0
    first, second = kuro.hold("chat"), kuro.hold("task")
    assert (figure("metacog_overdue_items"), figure("metacog_most_overdue_seconds")) == (0, 0)
    for held, seconds in [(first, 60), (second, 7200)]:
        due_at = timezone.now() - timedelta(seconds=seconds)
        HeldItem.objects.filter(public_id=held).update(review_due_at=due_at)
    assert figure("metacog_overdue_items") == 2
    assert 7200 <= figure("metacog_most_overdue_seconds") < 7260


@pytest.mark.parametrize(
    ("state", "waiting", "given_up"), [("waiting", 1, 0), ("exhausted", 0, 1), ("delivered", 0, 0)]
)
def test_the_metrics_tell_callbacks_that_wait_from_those_given_up(
    kuro: Any, state: str, waiting: Any, given_up: Any
) -> None:
    Delivery.objects.create(agent=Agent.objects.get(), type="item.decided", body="{}", state=state)
    assert figure("metacog_deliveries_waiting") == waiting
    assert figure("metacog_deliveries_given_up") == given_up


@table(("off_at", "url", "off"), [("now", "same", 1), (None, "same", 0), ("now", "former", 0)], rolled_back=True)
def test_the_metrics_count_the_addresses_that_are_switched_off(kuro: Any, off_at: Any, url: str, off: Any) -> None:
    Agent.objects.update(callback_url="http://agent.example/same")
    Endpoint.objects.create(
        agent=Agent.objects.get(), url=f"http://agent.example/{url}", off_at=timezone.now() if off_at else None
    )
    assert figure("metacog_endpoints_off") == off


def test_the_metrics_count_what_the_worker_has_not_sealed(kuro: Any) -> None:
    kuro.respond()
    assert figure("metacog_unsealed_events") > 0
    chain.seal()
    assert figure("metacog_unsealed_events") == 0


def test_the_metrics_count_the_answers_that_metacog_failed(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kuro: Any
) -> None:
    from django.db import OperationalError

    settings.DATA_DIR = tmp_path

    def failed(status: int) -> Any:
        text = Client().get("/metrics").content.decode()
        return float(re.search(rf'^metacog_failed_answers_total{{status="{status}"}} (\S+)$', text, re.MULTILINE)[1])

    assert (failed(500), failed(503)) == (0, 0)

    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("no route")

    with monkeypatch.context() as patch:
        patch.setattr("reviews.api.responses.receive", away)
        assert [kuro.post("/responses", {"response": "x"}).status_code for _ in range(2)] == [503, 503]
        patch.setattr("reviews.api.responses.receive", lambda *args: 1 / 0)
        assert kuro.post("/responses", {"response": "x"}).status_code == 500
    assert kuro.post("/responses", []).status_code == 422
    assert (failed(500), failed(503)) == (1, 2)


def test_operators_are_told_of_every_metric_and_of_no_other(kuro: Any) -> None:
    kuro.respond("確実にキャッシュが原因です。疑う余地はありません。")  # which no rule reads
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    there = re.findall(r"^(metacog_\w+)", Client().get("/metrics").content.decode(), re.MULTILINE)
    assert set(re.findall(r"(?<!#)metacog_[a-z_]+\b(?!-)", page)) == set(there)  # but anchors and files


def test_the_metrics_are_for_this_machine_or_the_token_only(settings: Any, db: None) -> None:
    assert Client().get("/metrics", REMOTE_ADDR="10.0.0.9").status_code == 403
    assert Client().get("/metrics").status_code == 200
    for name in (
        *("X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via"),
        *("X-Real-IP", "True-Client-IP", "CF-Connecting-IP"),
    ):
        assert Client().get("/metrics", headers={name: "1.1 proxy"}).status_code == 403, name
    settings.METRICS_TOKEN = "figures"
    assert Client().get("/metrics").status_code == 403
    assert Client().get("/metrics", headers={"authorization": "Bearer figurez"}).status_code == 403
    token = {"authorization": "Bearer figures", "x-forwarded-for": "10.0.0.9"}
    assert Client().get("/metrics", headers=token).status_code == 200


def test_no_cache_keeps_what_agents_and_people_are_answered(kuro: Any, alice: Any, as_person: Any) -> None:
    kept = {
        path: client.get(path)["Cache-Control"]
        for client, paths in (
            (as_person(alice), ("/queue/", "/statistics/", "/audit/", "/nothing/")),
            (Client(), ("/sign-in/", "/queue/", "/metrics", "/api/v1/openapi.json", "/api/v1/held")),
        )
        for path in paths
    }
    assert all("private" in said and "no-store" in said for said in kept.values()), kept
    assert kuro.post("/responses", {"response": "x"})["Cache-Control"] == "private, no-store"
    assert kuro.get("/patterns")["Cache-Control"] == "private, no-cache"  # asked for again by its ETag
    assert not [path for path in ("/healthz", "/readyz") if "Cache-Control" in Client().get(path)]
