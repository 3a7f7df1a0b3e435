"""The plays of adapters whose framework waits within a run; each framework's own tests are beside them.

A class of tests says how its framework plays: one agent, a model that says what a test has it say, the tool `refund`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import metacog_client

MADE: list[tuple[str, float]] = []
ONE = ({"order": "4711", "eur": 900.0},)
EDITED = 'A reviewer changed this before it was allowed. The arguments are now {"eur":90,"order":"4711"}.'
SOURCE = str(Path(metacog_client.__file__).parents[1])


def refund(order: str, eur: float) -> str:
    """Refund an order."""
    if eur < 0:
        raise ValueError("No such amount.")
    MADE.append((order, eur))
    return f"Refunded {eur:g} EUR."


class Plays:
    page = ""  # what the documentation's example has and no other has

    def play(self, run: str, calls: Any = ONE, *, retry_seconds: float = 30.0, **options: Any) -> str:
        """Have the model make these calls at once; return all that it was told then. `options` are the gate's.

        `then` of them are the calls that it makes one after the other once it has been told of those.
        """
        raise NotImplementedError  # each adapter has its own

    def begin(self, run: str, folder: str) -> None:
        """Play so that another process can go on."""
        self.play(run)

    def go_on(self, run: str, folder: str) -> str:
        return self.play(run)

    @pytest.fixture(autouse=True)
    def _nothing_is_made(self) -> None:
        MADE.clear()

    def test_an_approved_call_is_made_and_reported(self, metacog: Any, run: str) -> None:
        deciding = metacog.decide_next("approve", run)
        assert "Refunded 900 EUR." in self.play(run)
        deciding.join()
        assert MADE == [("4711", 900)]
        outcome = metacog.outcome(run)
        assert (outcome["status"], "Refunded 900 EUR." in str(outcome["result"])) == ("done", True)

    def test_an_edited_call_is_made_as_it_was_edited_and_the_model_reads_so(self, metacog: Any, run: str) -> None:
        deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 90})
        said = self.play(run)
        deciding.join()
        assert MADE == [("4711", 90)]
        assert EDITED in said
        assert "Refunded 90 EUR." in said

    def test_a_reviewer_sees_what_the_call_is(self, metacog: Any, run: str) -> None:
        assert "held for review" in self.play(run, deadline=0)
        item = metacog.next_pending(run)
        assert (item["name"], item["arguments"]) == ("refund", {"order": "4711", "eur": 900})
        assert "Refund an order." in item["description"]
        assert item["schema"]["properties"]["eur"]["type"] == "number"
        assert MADE == []

    def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(self, metacog: Any, run: str) -> None:
        self.play(run, deadline=0)
        assert "'eur'" in metacog.refusal(metacog.next_pending(run)["id"], {"order": "4711"})

    def test_what_its_tools_gave_goes_along_with_the_next_call(self, metacog: Any, run: str) -> None:
        metacog.policy(default_tool_call="allow")
        try:
            self.play(run, [{"order": "1", "eur": eur} for eur in (1.0, 2.0)], then=[{"order": "1", "eur": 3.0}])
        finally:
            metacog.policy(default_tool_call="ask")
        assert all(f"Refunded {eur} EUR." in metacog.given(run)[-1] for eur in (1, 2))

    def test_a_rejected_call_is_not_made_and_the_model_reads_why(self, metacog: Any, run: str) -> None:
        deciding = metacog.decide_next("reject", run, reason="It was refunded last week.")
        assert "It was refunded last week." in self.play(run)
        deciding.join()
        assert MADE == []

    def test_an_expired_call_is_not_made(self, metacog: Any, run: str) -> None:
        assert "it has expired" in self.play(run, expires_in=1)
        assert MADE == []

    def test_nothing_is_made_while_metacog_is_down_unless_the_gate_says_so(self, metacog: Any, run: str) -> None:
        with metacog.down():
            assert "could not be asked" in self.play(run, retry_seconds=0.2)
            assert MADE == []
            assert "Refunded" in self.play(f"{run}-2", retry_seconds=0.2, unreachable="allow")
        assert MADE == [("4711", 900)]

    def test_calls_at_once_each_have_their_own_decision_also_where_they_come_too_often(
        self, metacog: Any, run: str
    ) -> None:
        rules = [{"tool": "refund", "where": {"/eur": {"eq": 2}}, "do": "deny"}]
        metacog.policy(rules=rules, default_tool_call="allow")
        try:
            with metacog.limit(1):
                self.play(run, [{"order": "1", "eur": eur} for eur in (1.0, 2.0, 3.0)])
        finally:
            metacog.policy(rules=[], default_tool_call="ask")
        assert sorted(MADE) == [("1", 1), ("1", 3)]

    def test_a_call_that_failed_is_reported_as_failed(self, metacog: Any, run: str) -> None:
        deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": -1})
        assert "No such amount." in self.play(run)
        deciding.join()
        outcome = metacog.outcome(run)
        assert (outcome["status"], "No such amount." in outcome["detail"]) == ("failed", True)

    def test_only_the_named_tools_ask(self, metacog: Any, run: str) -> None:
        assert "Refunded 900 EUR." in self.play(run, tools=["another"])
        assert metacog.pending(run) == []

    def test_killed_while_it_waits_it_goes_on_with_the_same_held_item(
        self, metacog: Any, run: str, tmp_path: Path
    ) -> None:
        command = [sys.executable, "-c", ELSEWHERE, type(self).__module__, type(self).__name__, run, str(tmp_path)]
        surroundings = metacog.environment | {"PYTHONPATH": f"{SOURCE}:{Path(__file__).parents[1]}"}
        with subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) as waiting:
            held = metacog.next_pending(run)
            waiting.kill()
            assert waiting.stdout
            assert waiting.stdout.read() == ""
        metacog.decide(held["id"], "approve")
        assert "Refunded 900 EUR." in self.go_on(run, str(tmp_path))
        assert (MADE, metacog.pending(run)) == ([("4711", 900)], [])

    def test_the_example_of_the_documentation_runs(self, metacog: Any, tmp_path: Path) -> None:
        page = (Path(__file__).parents[4] / "docs" / "integrations.md").read_text()
        (code,) = re.findall(rf"```python\n([^`]*{self.page}[^`]*)```", page)
        (tmp_path / "agent.py").write_text(code)
        command = [sys.executable, "agent.py"]
        surroundings = metacog.environment | {"PYTHONPATH": SOURCE, "HOME": str(tmp_path)}
        deciding = metacog.decide_next("edit", "refund-4712", arguments={"order": "4712", "eur": 9})
        done = subprocess.run(command, env=surroundings, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        deciding.join()
        assert "Refunded 9 EUR." in done.stdout, done.stderr


ELSEWHERE = """
import importlib, sys
module, name, run, folder = sys.argv[1:]
here = importlib.import_module(module)
getattr(here, name)().begin(run, folder)
print(here.MADE)
"""
