"""Several workers, and workers that die, played for real on PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone

from metacog.models import AuditEvent
from reviews.models import Delivery
from reviews.outbox import deliveries
from tests.reviews.outbox.receiving import owe

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def many_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sweeps of one process run side by side, as those of several machines do."""
    monkeypatch.setattr(deliveries, "turn", lambda _name: nullcontext(True))


def side_by_side(count: int, call: Callable[[], Any]) -> list[Any]:
    barrier = threading.Barrier(count)

    def run(_: Any) -> Any:
        barrier.wait()
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_four_workers_send_a_hundred_deliveries_once_each(agent: Any, receiver: Any, many_machines: None) -> None:
    owe(agent, 100)
    while Delivery.objects.filter(state="waiting").exists():
        side_by_side(4, deliveries.deliver_due)
    assert set(Counter(receiver.ids).values()) == {1}
    assert len(receiver.seen) == 100
    assert Delivery.objects.filter(state="delivered", attempts=1).count() == 100
    assert AuditEvent.objects.filter(action="callback-delivered").count() == 100


def test_the_bound_of_an_agent_holds_over_all_workers(agent: Any, receiver: Any, many_machines: None) -> None:
    gate = threading.Barrier(deliveries.AGENT_SLOTS)

    def together(handler: Any) -> None:
        gate.wait(5)
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    receiver.then = together
    owe(agent, 5 * deliveries.AGENT_SLOTS)
    while Delivery.objects.filter(state="waiting").exists():
        side_by_side(4, deliveries.deliver_due)
    assert receiver.most_at_once == deliveries.AGENT_SLOTS
    assert set(Counter(receiver.ids).values()) == {1}


def worker() -> subprocess.Popen[bytes]:
    """Start a process that sweeps once, on this test's database."""
    named = connection.settings_dict
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "metacog.settings",
        "PYTHONPATH": str(django_settings.BASE_DIR),
        "METACOG_DATA_DIR": str(django_settings.DATA_DIR),
        "METACOG_SECRET_KEY": str(django_settings.SECRET_KEY),
        "METACOG_CALLBACK_ALLOW": ",".join(django_settings.CALLBACK_ALLOW),
        "METACOG_DATABASE_URL": f"postgresql://{named['USER']}:{quote(named['PASSWORD'], safe='')}@/"
        f"{named['NAME']}?host={quote(named['HOST'], safe='')}" + (f"&port={named['PORT']}" if named["PORT"] else ""),
    }
    code = "import django; django.setup(); from reviews.outbox import deliveries; deliveries.deliver_due()"
    return subprocess.Popen([sys.executable, "-c", code], env=environment)


def test_what_a_killed_worker_was_sending_is_sent_after_its_lease(agent: Any, receiver: Any) -> None:
    let_go = threading.Event()
    receiver.answers = [lambda handler: let_go.wait(120)]
    owe(agent)
    process = worker()
    try:
        give_up = time.monotonic() + 120
        while not receiver.seen and process.poll() is None and time.monotonic() < give_up:
            let_go.wait(0.02)
        assert len(receiver.seen) == 1, "it was killed in the middle of a send"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    let_go.set()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert deliveries.deliver_due() == 0, "the dead worker's lease still runs, its turn does not"
    assert delivery.leased_until > timezone.now()
    assert deliveries.deliver_due(delivery.leased_until + timedelta(milliseconds=1)) == 1
    assert Delivery.objects.get().state == "delivered"
    assert len(set(receiver.ids)) == 1
    assert receiver.seen[0].body == receiver.seen[1].body
