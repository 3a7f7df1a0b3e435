"""CrewAI's hooks: they wait, and what they refuse does not run."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai.tools import tool

from metacog_client import Client
from metacog_client.adapters.crewai import Gate

from .crewai_agent import Calls, Scripted, crew, ran

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:crewai")  # of itself
Play = Callable[..., list[str]]
ONE: list[Calls] = [[{"order": "4711", "eur": 20}]]
NOBODY = "http://127.0.0.1:9"  # listens there
AGENT = Path(__file__).with_name("crewai_agent.py")
EXAMPLE, SOURCES = AGENT.parents[2] / "examples" / "crewai_refunds.py", str(AGENT.parents[2] / "src")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def gated(run: str, url: str | None = None, retry_seconds: float = 20.0, **options: Any) -> Gate:
    return Gate(Client(url, run=run, retry_seconds=retry_seconds), **options)


@pytest.fixture(params=["sync", "async", "in a thread", "writes its calls"])
def play(request: pytest.FixtureRequest, ledger: Path, run: str) -> Play:
    """Run the crew to its end, and return all that its model was told."""

    def play(turns: list[Calls], **options: Any) -> list[str]:
        model = Scripted(model="scripted", turns=turns, writes=request.param == "writes its calls")
        with gated(run, **options):
            if request.param == "async":
                result = asyncio.run(crew(model, ledger).akickoff())
            elif request.param == "in a thread":
                result = asyncio.run(crew(model, ledger).kickoff_async())
            else:
                result = crew(model, ledger).kickoff()
        assert str(result) == "done"
        return model.heard

    return play


def said(heard: list[str], words: str) -> bool:
    return any(words in each for each in heard)


def test_it_runs_an_approved_call(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("approve", run)
    assert said(play(ONE), "refunded 20 EUR for 4711")
    assert ran(ledger) == ["4711 20"]


@pytest.mark.parametrize(
    ("eur", "status", "words"), [(20, "done", "refunded 20 EUR"), (0, "failed", "Nothing to refund.")]
)
def test_it_reports_what_became_of_an_approved_call(
    metacog: Any, play: Play, run: str, eur: int, status: str, words: str
) -> None:
    metacog.decide_next("approve", run)
    play([[{"order": "4711", "eur": eur}]])
    outcome = metacog.outcome(run)
    assert outcome["status"] == status
    assert words in (outcome["detail"] if status == "failed" else outcome["result"])


def test_it_shows_the_reviewer_what_the_call_is_for(metacog: Any, ledger: Path, run: str) -> None:
    with gated(run, deadline=0):
        crew(Scripted(model="scripted", turns=ONE), ledger).kickoff()
    item = metacog.next_pending(run)
    assert (item["name"], item["arguments"]) == ("refund", {"order": "4711", "eur": 20})
    assert item["description"] == "cashier: Refund what was promised."
    assert item["schema"]["properties"]["eur"]["type"] == "integer"


def test_it_runs_an_edited_call_with_the_reviewers_arguments(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 5}, reason="Only the shipping.")
    heard = play(ONE)
    assert ran(ledger) == ["4711 5"]
    assert said(heard, "Only the shipping.")
    assert said(heard, "refunded 5 EUR for 4711")


def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, ledger: Path, run: str) -> None:
    @tool("refund")
    def refund(order: str, eur: int) -> str:
        """Refund an order."""
        return ""

    with gated(run, deadline=0):
        crew(Scripted(model="scripted", turns=ONE), ledger, refund).kickoff()
    assert "'eur'" in metacog.refusal(metacog.next_pending(run)["id"], {"order": "4711"})


def test_what_its_tools_gave_goes_along_with_the_next_call(metacog: Any, play: Play, run: str) -> None:
    metacog.policy(default_tool_call="allow")
    try:
        play([[{"order": "1", "eur": eur}] for eur in (1, 2, 3)])
    finally:
        metacog.policy(default_tool_call="ask")
    before_first, first, second = metacog.given(run)
    assert before_first == ""
    assert ("refunded 1 EUR" in first, "refunded 2 EUR" in second, "refunded 1 EUR" in second) == (True, True, False)


def test_a_crew_outside_of_the_gate_is_asked_by_nobody(metacog: Any, ledger: Path, run: str) -> None:
    with gated(run):
        pass
    crew(Scripted(model="scripted", turns=ONE), ledger).kickoff()
    assert (ran(ledger), metacog.pending(run)) == (["4711 20"], [])


def test_it_does_not_run_a_rejected_call(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("reject", run, reason="Not without a receipt.")
    heard = play(ONE)
    assert ran(ledger) == []
    assert said(heard, "Not without a receipt.")
    assert not said(heard, "blocked by hook")


def test_it_does_not_run_a_call_that_nobody_decided(metacog: Any, play: Play, ledger: Path) -> None:
    assert said(play(ONE, expires_in=1), "expired")
    assert ran(ledger) == []


def test_it_does_not_run_a_call_that_is_decided_too_late(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    assert said(play(ONE, deadline=0.1), "held for review")
    assert ran(ledger) == []
    assert len(metacog.pending(run)) == 1


def test_it_runs_nothing_while_metacog_is_down_but_what_may(play: Play, ledger: Path) -> None:
    assert said(play(ONE, url=NOBODY, retry_seconds=0.5), "could not be asked")
    assert ran(ledger) == []
    play(ONE, url=NOBODY, retry_seconds=0.5, run_when_unreachable={"refund"})
    assert ran(ledger) == ["4711 20"]


def test_it_runs_nothing_when_asking_itself_fails(
    metacog: Any, ledger: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("a mistake in the client")

    monkeypatch.setattr(Client, "gate", broken)
    model = Scripted(model="scripted", turns=ONE)
    with gated(run):
        crew(model, ledger).kickoff()
    assert ran(ledger) == []
    assert said(model.heard, "a mistake in the client")


def test_it_asks_again_where_it_asked_too_often(metacog: Any, ledger: Path, run: str) -> None:
    person = approve(metacog, run, 2)
    with metacog.limit(1), gated(run):
        crew(
            Scripted(model="scripted", turns=[[{"order": "4711", "eur": 20}, {"order": "4712", "eur": 30}]]), ledger
        ).kickoff()
    person.join()
    assert ran(ledger) == ["4711 20", "4712 30"]


def test_it_asks_about_the_calls_of_a_message_at_once(metacog: Any, ledger: Path, run: str) -> None:
    person = approve(metacog, run, 8)  # CrewAI has 8 threads for them
    with gated(run):
        turns = [[{"order": str(order), "eur": 20} for order in range(8)]]
        crew(Scripted(model="scripted", turns=turns), ledger).kickoff()
    person.join()
    assert ran(ledger) == [f"{order} 20" for order in range(8)]


def approve(metacog: Any, run: str, count: int) -> threading.Thread:
    def decide() -> None:
        metacog.until(lambda: len(metacog.pending(run)) == count, "all are held while none is decided")
        for item in metacog.pending(run):
            metacog.decide(item["id"], "approve")

    person = threading.Thread(target=decide)
    person.start()
    return person


def test_an_approval_is_of_one_call(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    def decide() -> None:
        for verdict in ("approve", "reject"):
            metacog.decide_next(verdict, run).join()

    person = threading.Thread(target=decide)
    person.start()
    play([*ONE, *ONE])
    person.join()
    assert ran(ledger) == ["4711 20"]


def test_it_does_not_run_a_call_without_arguments_that_was_to_have_some(
    metacog: Any, play: Play, ledger: Path, run: str
) -> None:
    metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 5})
    heard = play([[{}]])
    assert ran(ledger) == []
    assert said(heard, '"eur": 5')


def test_it_asks_only_about_the_tools_it_is_given_and_only_within_its_block(
    metacog: Any, play: Play, ledger: Path, run: str
) -> None:
    play(ONE, tools=["another"])
    crew(Scripted(model="scripted", turns=ONE), ledger).kickoff()
    assert (ran(ledger), metacog.pending(run)) == (["4711 20", "4711 20"], [])


@pytest.mark.parametrize("decided", ["after it is started again", "while it is dead"])
def test_killed_while_it_waits_it_finds_its_held_item_again(metacog: Any, ledger: Path, run: str, decided: str) -> None:
    def start() -> subprocess.Popen[bytes]:
        turns = [[{"order": "4711", "eur": 20}, {"order": "4712", "eur": 30}]]
        environment = metacog.environment | {"PYTHONPATH": SOURCES}
        return subprocess.Popen([sys.executable, str(AGENT), str(ledger), run, json.dumps(turns)], env=environment)

    first = start()
    metacog.until(lambda: len(metacog.pending(run)) == 2, "both are held")
    held = [item["id"] for item in metacog.pending(run)]
    first.send_signal(signal.SIGKILL)
    first.wait()
    if decided == "while it is dead":
        for each in held:
            metacog.decide(each, "approve")
    again = start()
    if decided != "while it is dead":
        time.sleep(8)  # long enough to ask again
        assert [item["id"] for item in metacog.pending(run)] == held
        for each in held:
            metacog.decide(each, "approve")
    assert again.wait(120) == 0
    assert (ran(ledger), metacog.pending(run)) == (["4711 20", "4712 30"], [])


def test_the_example_runs(metacog: Any) -> None:
    deciding = metacog.decide_next("edit", "refund-4712", arguments={"order": "4712", "eur": 9})
    environment = metacog.environment | {"PYTHONPATH": SOURCES, "CREWAI_DISABLE_TELEMETRY": "true"}
    done = subprocess.run([sys.executable, EXAMPLE], env=environment, capture_output=True, text=True)
    deciding.join()
    assert "Refunding 9 EUR for order 4712." in done.stdout.splitlines(), done.stderr
    assert done.stdout.splitlines()[-1] == "Refunded 9 EUR."
