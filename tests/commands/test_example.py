"""The example agent: it is killed while it waits, and goes on from the webhook in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metacog.models import Agent
from reviews.held import decisions
from reviews.models import HeldItem
from reviews.outbox import deliveries
from tests.faults.servers import free_port

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def running(command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "examples/refund_agent.py"), command],
        env=os.environ | environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_it_goes_on_in_another_process(
    kuro: Any, alice: Any, live_server: Any, settings: Any, tmp_path: Path, undo_at_once: None
) -> None:
    settings.DATA_DIR = tmp_path
    port, state = free_port(), tmp_path / "refunds.json"
    settings.CALLBACK_ALLOW = frozenset({f"http://127.0.0.1:{port}"})
    Agent.objects.update(callback_url=f"http://127.0.0.1:{port}/")
    told = {"api_key": kuro.key, "signing_secret": kuro.secret}
    (tmp_path / "agent.json").write_text(json.dumps(told))
    where = {
        "METACOG_URL": live_server.url,
        "AGENT_FILE": str(tmp_path / "agent.json"),
        "STATE_FILE": str(state),
        "LISTEN_PORT": str(port),
    }
    with running("ask", **where) as asking:
        assert asking.stdout
        while not asking.stdout.readline().endswith("waiting\n"):
            assert asking.poll() is None
    first, second, third = HeldItem.objects.order_by("pk")
    with running("listen", **where) as listening:
        assert listening.stdout
        assert "Listening" in listening.stdout.readline()
        decisions.decide(first, alice, "approve")
        decisions.decide(second, alice, "edit", edit=decisions.Arguments({"order": "4712", "eur": 90}))
        decisions.decide(third, alice, "reject", reason="It was refunded last week.")
        until(lambda: deliveries.deliver_due() == 0)
        until(lambda: sum("became" in each for each in json.loads(state.read_text()).values()) == 3)
    became = [(each["became"], each.get("made_with")) for each in json.loads(state.read_text()).values()]
    assert became == [
        ("approve", {"order": "4711", "eur": 20, "note": "The parcel came two days late."}),
        ("edit", {"order": "4712", "eur": 90}),
        ("reject", None),
    ]
    with running("ask", **where) as asking:
        assert asking.wait(120) == 0, "there is nothing left to do"
