"""/healthz, /readyz, /metrics: for those who run it."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from metacog.models import Heartbeat

pytestmark = pytest.mark.django_db


def test_the_process_is_healthy_without_a_database(monkeypatch):
    from django.db import connection

    monkeypatch.setattr(connection, "ensure_connection", lambda: 1 / 0)
    assert Client().get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("age", "status"), [(None, "degraded"), (timedelta(seconds=5), "ok"), (timedelta(minutes=5), "degraded")]
)
def test_it_is_ready_without_a_worker_and_says_so(age, status):
    if age is not None:
        Heartbeat.objects.create(name="worker", at=timezone.now() - age)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["database"]) == (200, status, "ok")


def test_it_is_not_ready_while_the_database_is_away(monkeypatch):
    from django.db import OperationalError

    def away(*args, **kwargs):
        raise OperationalError("no route")

    monkeypatch.setattr("metacog.health.Heartbeat.objects.filter", away)
    monkeypatch.setattr("metacog.health._migrated", True)
    assert Client().get("/readyz").status_code == 503


def test_the_metrics_count_what_is_there(kuro):
    kuro.hold("chat")
    kuro.hold("task")
    text = Client().get("/metrics").content.decode()
    assert "metacog_responses_total 2.0" in text
    assert 'metacog_held_items{kind="chat"} 1.0' in text
    assert 'metacog_held_items{kind="remember"} 0.0' in text


def test_the_metrics_are_for_this_machine_or_the_token_only(settings, db):
    assert Client().get("/metrics", REMOTE_ADDR="10.0.0.9").status_code == 403
    assert Client().get("/metrics", headers={"x-forwarded-for": "10.0.0.9"}).status_code == 403
    settings.METRICS_TOKEN = "figures"
    assert Client().get("/metrics").status_code == 403
    assert Client().get("/metrics", headers={"authorization": "Bearer figurez"}).status_code == 403
    token = {"authorization": "Bearer figures", "x-forwarded-for": "10.0.0.9"}
    assert Client().get("/metrics", headers=token).status_code == 200
