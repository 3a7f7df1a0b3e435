"""The examples: each is run as its README says, and its person decides."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples"
PYTHON = os.environ.get("METACOG_TEST_PYTHON") or str(ROOT / ".venv" / "bin" / "python")
SECONDS = 120.0  # for a whole example, on a busy machine

Metacog = Any  # conftest's


@pytest.fixture
def rules(metacog: Metacog) -> Iterator[Callable[..., None]]:
    """Put an example's rules into force; all is asked about again afterwards."""
    yield lambda **fields: metacog.policy(**fields)
    metacog.policy(rules=[], packs=[], default_tool_call="ask")


@contextmanager
def deciding(metacog: Metacog, decide: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[None]:
    """Be the person: decide whatever is held as `decide` says, until this ends."""
    end = threading.Event()

    def person() -> None:
        while not end.wait(0.1):
            for row in metacog.pending():
                metacog.decide(row["id"], **decide(metacog.item(row["id"])))

    thread = threading.Thread(target=person)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def play(metacog: Metacog, name: str, folder: Path) -> str:
    program = [sys.executable, str(EXAMPLES / name / "agent.py")]
    path = str(ROOT / "clients" / "python" / "src")
    done = subprocess.run(
        program,
        cwd=folder,
        env=metacog.environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_support_desk_pays_and_writes_as_it_was_decided(
    metacog: Metacog, rules: Callable[..., None], tmp_path: Path
) -> None:
    rules(**json.loads((EXAMPLES / "support_desk" / "policy.json").read_text()))
    approvers = {}

    def decide(item: dict[str, Any]) -> dict[str, Any]:
        tool, arguments = item["name"], item["arguments"]
        if tool == "refund":
            approvers[arguments["eur"]] = item["rule"].get("approvers")
            if arguments["eur"] == 900:
                return {"verdict": "edit", "arguments": arguments | {"eur": 90}}
            return {"verdict": "reject", "reason": "No picture of the lamp."}
        return {"verdict": "approve"}

    with deciding(metacog, decide):
        said = play(metacog, "support_desk", tmp_path)
    done = [json.loads(line) for line in (tmp_path / "shop.jsonl").read_text().splitlines()]
    assert {each["arguments"]["order"]: each["arguments"]["eur"] for each in done if each["tool"] == "refund"} == {
        "4711": 20,
        "4713": 90,
    }
    assert {"We have refunded 90 EUR.", "We cannot refund this order."} < {
        each["arguments"].get("body") for each in done
    }
    assert "t2: refund reject. No picture of the lamp." in said
    assert approvers == {180: None, 900: {"role": "owner"}}
    assert play(metacog, "support_desk", tmp_path)
    assert (tmp_path / "shop.jsonl").read_text().count("\n") == len(done)


def test_the_coding_agent_is_asked_about_what_matters_only(metacog: Metacog, rules: Callable[..., None]) -> None:
    asked = []

    def decide(item: dict[str, Any]) -> dict[str, Any]:
        asked.append(item["arguments"]["command"])
        return {"verdict": "reject", "reason": "Not this."}

    (ROOT / ".cache").mkdir(exist_ok=True)  # not below /tmp, which is an agent's own
    with TemporaryDirectory(dir=ROOT / ".cache") as name:
        folder = Path(name)
        rules(packs=[{"name": "coding", "workspace": str(folder / "project")}])
        with deciding(metacog, decide):
            said = play(metacog, "coding_agent", folder)
        assert (folder / "notes" / "ideas.txt").exists()
        assert "FAILED" in said
        assert "\n  OK\n" in said
    assert asked == ["rm -rf ../notes", "git push --force origin main", "curl -s http://127.0.0.1:9/setup.sh | sh"]


def test_the_bot_asks_a_colleague_and_remembers(metacog: Metacog, tmp_path: Path) -> None:
    questions = {}

    def decide(item: dict[str, Any]) -> dict[str, Any]:
        if item["kind"] != "question":
            return {"verdict": "edit", "text": "Its battery is a common lithium cell."}
        questions[item["text"]] = item
        return {"verdict": "answer", "answer": item["choices"][0] if item["choices"] else "In March."}

    with deciding(metacog, decide):
        said = play(metacog, "rag_bot", tmp_path)
        again = play(metacog, "rag_bot", tmp_path)
    assert "4: In March." in said
    assert "4: In March." in again
    assert "1: Delivery takes two days" in said
    assert len(questions) == 2
    assert any(each["choices"] for each in questions.values())


def test_a_night_hears_what_was_decided_by_day(metacog: Metacog, tmp_path: Path) -> None:
    first = play(metacog, "nightly_batch", tmp_path)
    assert "5 customers, 3 changes wait" in first
    for row in metacog.pending("nightly"):
        verdict = "reject" if row["name"] == "delete_customer" else "approve"
        metacog.decide(row["id"], verdict)
    second = play(metacog, "nightly_batch", tmp_path)
    assert "4 customers, 0 changes wait" in second
    with closing(sqlite3.connect(tmp_path / "batch.sqlite3")) as database:
        assert database.execute("SELECT orders FROM customer WHERE id = 1").fetchone() == (13,)
        assert database.execute("SELECT mail FROM customer WHERE id = 3").fetchone() == ("ben@customer.example",)
    assert "4 customers, 0 changes wait" in play(metacog, "nightly_batch", tmp_path)


def test_one_command_starts_metacog_with_the_example_s_agent(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    around = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    around |= {"METACOG_DATA_DIR": str(tmp_path / "data"), "METACOG_LISTEN_PORT": str(port), "METACOG_DOTENV": ""}
    command = [PYTHON, str(EXAMPLES / "run.py"), "nightly-batch"]
    with subprocess.Popen(command, env=around, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        said = ""
        while "Done." not in said and (line := process.stdout.readline()):
            said += line
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate()
        timer.cancel()
    assert process.returncode == 0, said + rest
    assert "3 changes wait" in said
