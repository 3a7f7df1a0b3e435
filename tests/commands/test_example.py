"""The example agent: it is killed while it waits, goes on in another process, and pays once whatever is deleted."""

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
from reviews.models import CallOutcome, HeldItem
from reviews.outbox import deliveries
from tests.faults.servers import free_port

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "examples/refund_agent.py"), *command],
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


def ask(where: dict[str, str], *more: str) -> str:
    """Have it ask until nothing is left to do, and return what it said."""
    with running("ask", *more, **where) as asking:
        said, _ = asking.communicate(timeout=120)
        assert asking.returncode == 0, said
        return said


@pytest.fixture
def where(kuro: Any, live_server: Any, settings: Any, tmp_path: Path, undo_at_once: None) -> dict[str, str]:
    """Return the environment of the example's processes; what it keeps lies in `tmp_path`."""
    settings.DATA_DIR = tmp_path
    port = free_port()
    settings.CALLBACK_ALLOW = frozenset({f"http://127.0.0.1:{port}"})
    Agent.objects.update(callback_url=f"http://127.0.0.1:{port}/")
    told = {"api_key": kuro.key, "signing_secret": kuro.secret}
    (tmp_path / "agent.json").write_text(json.dumps(told))
    return {
        "METACOG_URL": live_server.url,
        "AGENT_FILE": str(tmp_path / "agent.json"),
        "STATE_FILE": str(tmp_path / "refunds.json"),
        "BANK_FILE": str(tmp_path / "bank.jsonl"),
        "LISTEN_PORT": str(port),
    }


def test_it_goes_on_in_another_process_and_pays_once(where: dict[str, str], alice: Any, tmp_path: Path) -> None:
    state, bank = tmp_path / "refunds.json", tmp_path / "bank.jsonl"
    with running("ask", **where) as asking:
        assert asking.stdout
        while not asking.stdout.readline().endswith("waiting\n"):
            assert asking.poll() is None
    first, second, third = HeldItem.objects.order_by("pk")
    with running("listen", **where) as listening:
        assert listening.stdout
        assert "Listening" in listening.stdout.readline()
        decisions.decide(first, alice, "approve")
        less = decisions.Arguments({"order": "4712", "eur": 90})
        decisions.decide(second, alice, "edit", edit=less, accept_risk=True)
        decisions.decide(third, alice, "reject", reason="It was refunded last week.")
        until(lambda: deliveries.deliver_due() == 0)
        until(lambda: sum("became" in each for each in json.loads(state.read_text()).values()) == 3)
        until(lambda: CallOutcome.objects.count() == 2)
    became = [(each["became"], each.get("made_with")) for each in json.loads(state.read_text()).values()]
    assert became == [
        ("approve", {"order": "4711", "eur": 20, "note": "The parcel came two days late."}),
        ("edit", {"order": "4712", "eur": 90}),
        ("reject", None),
    ]
    paid = bank.read_text()
    assert sorted(json.loads(line)["eur"] for line in paid.splitlines()) == [20, 90]
    assert ask(where) == "nothing left to do\n"

    state.unlink()  # the walk from its beginning: the same calls, which were decided and made
    assert ask(where).count("made before") == 2
    assert bank.read_text() == paid
    assert HeldItem.objects.count() == 3

    with running("ask", "4714=12", **where) as asking:
        until(lambda: HeldItem.objects.count() == 4)
        decisions.decide(HeldItem.objects.latest("pk"), alice, "approve")
        assert asking.wait(120) == 0
    assert json.loads(bank.read_text().splitlines()[-1])["order"] == "4714"
    assert bank.read_text().startswith(paid)


def test_killed_between_paying_and_telling_it_pays_once(where: dict[str, str], alice: Any, tmp_path: Path) -> None:
    bank = tmp_path / "bank.jsonl"
    bank.write_text(json.dumps({"key": "refund-4711", "order": "4711", "eur": 20}) + "\n")  # all that was written
    with running("ask", **where) as asking:
        until(lambda: HeldItem.objects.count() == 3)
        for held in HeldItem.objects.all():
            decisions.decide(held, alice, "approve" if "4711" in held.text else "reject", reason="no")
        assert asking.wait(120) == 0
    assert len(bank.read_text().splitlines()) == 1
    assert CallOutcome.objects.get().result == {"payment": 1}


@pytest.mark.parametrize(
    ("command", "name", "text", "said"),
    [
        ("ask", "agent.json", None, "cannot be read"),
        ("ask", "agent.json", "", "is empty"),
        ("listen", "agent.json", "", "is empty"),
        ("ask", "agent.json", "CommandError: There is", "cannot be read"),
        ("ask", "agent.json", "[]", "is no JSON object"),
        ("ask", "agent.json", '{"api_key": "mc_1"}', "has no signing_secret"),
        ("ask", "refunds.json", '{"refund-4711": {', "cannot be read"),
    ],
)
def test_a_file_that_is_not_whole_is_named_in_a_sentence_and_left_as_it_is(
    tmp_path: Path, command: str, name: str, text: str | None, said: str
) -> None:
    (tmp_path / "agent.json").write_text('{"api_key": "mc_1", "signing_secret": "whsec_1"}')
    path = tmp_path / name
    path.unlink(missing_ok=True) if text is None else path.write_text(text)
    files = {each: str(tmp_path / each) for each in ("agent.json", "refunds.json", "bank.jsonl")}
    env = {"AGENT_FILE": files["agent.json"], "STATE_FILE": files["refunds.json"], "BANK_FILE": files["bank.jsonl"]}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/refund_agent.py"), command],
        env=os.environ | env | {"METACOG_URL": "http://127.0.0.1:9"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{path} {said}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "what was asked before is kept" in done.stderr
    assert (path.read_text() if path.exists() else None) == text
    assert not (tmp_path / "bank.jsonl").exists()
