"""The OpenAI Agents SDK asks before it calls a tool: its own scripted model, its own runner, a real metacog."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, ItemHelpers, RunConfig, RunResult, RunState, ToolOutputText, WebSearchTool, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFunctionWebSearch
from openai.types.responses.response_function_web_search import ActionSearch

import metacog_client
from metacog_client import AsyncClient
from metacog_client.adapters.openai_agents import Gate, noted

MADE: list[tuple[str, float]] = []
QUIET = RunConfig(tracing_disabled=True)


@function_tool
def refund(order: str, eur: float) -> str:
    """Refund an order."""
    MADE.append((order, eur))
    return f"Refunded {eur:g} EUR."


@pytest.fixture(autouse=True)
def _nothing_is_made() -> None:
    MADE.clear()


def agent_of(gate: Gate, *, call_id: str = "call_1", eur: float = 900) -> tuple[Agent[Any], ScriptedModel]:
    model = ScriptedModel(
        [[function_call("refund", {"order": "4711", "eur": eur}, call_id=call_id)], [assistant_message("Done.")]]
    )
    return Agent(name="refunds", model=model, tools=[gate(refund)]), model


def gate_of(run: str, **options: Any) -> Gate:
    return Gate(AsyncClient(run=run, retry_seconds=options.pop("retry_seconds", 30.0)), **options)


async def played(run: str, **options: Any) -> tuple[RunResult, str]:
    """Run the agent, and return what came of it and what its model was told of the call."""
    gate = gate_of(run, **options)
    agent, model = agent_of(gate)
    result = await gate.run(agent, "Refund order 4711.", run_config=QUIET)
    return result, told(model)


def elsewhere(function: str, *given: Any) -> subprocess.Popen[str]:
    """Call a function of this file in another process; the last of what is given is its environment."""
    *arguments, environment = given
    script = f"import sys; sys.path[:0] = {sys.path!r}; import {Path(__file__).stem} as here"
    command = [sys.executable, "-c", f"{script}; here.{function}(*sys.argv[1:])", *arguments]
    return subprocess.Popen(command, env=environment, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)


def told(model: ScriptedModel) -> str:
    assert model.last_call
    outputs = [item for item in model.last_call.input if item.get("type") == "function_call_output"]
    return str(outputs[-1]["output"]) if outputs else ""


def told_of(arguments: Any, result: str) -> str:
    changed = json.dumps(arguments, separators=(",", ":"))
    return f"A reviewer changed this before it was allowed. The arguments are now {changed}.\n\n{result}"


def test_an_approved_call_is_made(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("approve", run)
    result, said = asyncio.run(played(run))
    deciding.join()
    assert (result.final_output, said, MADE) == ("Done.", "Refunded 900 EUR.", [("4711", 900)])


def test_an_edited_call_is_made_with_the_edited_arguments(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 90})
    _, said = asyncio.run(played(run))
    deciding.join()
    assert (said, MADE) == (told_of({"eur": 90, "order": "4711"}, "Refunded 90 EUR."), [("4711", 90)])


def test_what_became_of_an_approved_call_is_reported(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 90})
    asyncio.run(played(run))
    deciding.join()
    outcome = metacog.outcome(run)
    assert (outcome["status"], outcome["result"]) == ("done", "Refunded 90 EUR.")


def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, run: str) -> None:
    asyncio.run(played(run, deadline=0))
    assert "'eur'" in metacog.refusal(metacog.next_pending(run)["id"], {"order": "4711"})


def test_what_its_tools_gave_goes_along_with_the_next_call(metacog: Any, run: str) -> None:
    calls = [function_call("refund", {"order": "1", "eur": eur}, call_id=f"call_{eur}") for eur in (1, 2, 3)]
    gate, model = gate_of(run), ScriptedModel([calls[:2], calls[2:], [assistant_message("Done.")]])
    metacog.policy(default_tool_call="allow")
    try:
        asyncio.run(gate.run(Agent(name="refunds", model=model, tools=[gate(refund)]), "Refund.", run_config=QUIET))
    finally:
        metacog.policy(default_tool_call="ask")
    assert all(f"Refunded {eur} EUR." in metacog.given(run)[-1] for eur in (1, 2))


def test_what_openai_runs_by_itself_and_a_handoff_are_asked_by_nobody(metacog: Any, run: str) -> None:
    search = ActionSearch(type="search", query="refunds")
    searched = ResponseFunctionWebSearch(id="s", status="completed", type="web_search_call", action=search)
    gate, model = gate_of(run), ScriptedModel([[searched, function_call("transfer_to_till", {}, call_id="h")]])
    till = Agent(name="till", model=ScriptedModel([[assistant_message("Done.")]]))
    agent = Agent(name="desk", model=model, tools=[gate(refund), WebSearchTool()], handoffs=[till])
    result = asyncio.run(gate.run(agent, "Refund.", run_config=QUIET))
    assert (result.last_agent, result.final_output) == (till, "Done.")
    assert "web_search_call" in [getattr(each.raw_item, "type", "") for each in result.new_items]
    assert (metacog.pending(run), metacog.given(run)) == ([], [])  # as openai-agents 0.24 has it


@pytest.mark.parametrize("fails", ["in words", "in own words", "by raising"])
def test_a_call_that_failed_is_reported_as_failed(metacog: Any, run: str, fails: str) -> None:
    def broken(order: str, eur: float) -> str:
        raise ValueError("No such order.")

    own: dict[str, Any] = {"in own words": {"failure_error_function": lambda context, error: "It did not work."}}
    own["by raising"] = {"failure_error_function": None}
    gate = gate_of(run)
    agent, _ = agent_of(gate)
    agent.tools = [gate(function_tool(broken, name_override="refund", **own.get(fails, {})))]
    deciding = metacog.decide_next("approve", run)
    with contextlib.suppress(Exception):
        asyncio.run(gate.run(agent, "Refund order 4711.", run_config=QUIET))
    deciding.join()
    outcome = metacog.outcome(run)
    assert (outcome["status"], outcome["detail"]) == ("failed", "ValueError: No such order.")


@pytest.mark.parametrize(
    ("result", "outputs"),
    [
        ({"eur": 9}, "Edited.\n\n{'eur': 9}"),
        (ToolOutputText(text="Done."), ["Edited.", "Done."]),
        ([ToolOutputText(text="Done."), {"type": "text", "text": "Twice."}], ["Edited.", "Done.", "Twice."]),
    ],
)
def test_the_model_reads_of_an_edit_whatever_the_tool_returns(result: Any, outputs: Any) -> None:
    call = function_call("refund", {}, call_id="c")
    said: Any = ItemHelpers.tool_call_output_item(call, noted(result, "Edited."))["output"]
    assert (said if isinstance(said, str) else [part["text"] for part in said]) == outputs


def test_a_rejected_call_is_not_made_and_the_model_reads_why(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("reject", run, reason="It was refunded last week.")
    result, said = asyncio.run(played(run))
    deciding.join()
    assert (result.final_output, MADE) == ("Done.", [])
    assert "rejected" in said
    assert "It was refunded last week." in said


def test_an_expired_call_is_not_made(metacog: Any, run: str) -> None:
    _, said = asyncio.run(played(run, expires_in=1))
    assert ("expired" in said, MADE) == (True, [])


def test_nothing_is_made_while_metacog_is_down_unless_the_gate_says_so(metacog: Any, run: str) -> None:
    with metacog.down():
        _, said = asyncio.run(played(run, retry_seconds=0.2))
        assert ("could not be asked" in said, MADE) == (True, [])
        asyncio.run(played(run, retry_seconds=0.2, unreachable="allow"))
        assert MADE == [("4711", 900)]


def test_too_many_calls_wait_their_turn(metacog: Any, run: str) -> None:
    metacog.policy(rules=[{"tool": "refund", "do": "allow"}])
    try:
        with metacog.limit(1):
            for number in range(2):
                gate = gate_of(run)
                agent, _ = agent_of(gate, call_id=f"call_{number}", eur=number)
                asyncio.run(gate.run(agent, "Refund.", run_config=QUIET))
    finally:
        metacog.policy(rules=[])
    assert MADE == [("4711", 0), ("4711", 1)]


def test_a_rule_decides_without_a_person(metacog: Any, run: str) -> None:
    metacog.policy(rules=[{"tool": "refund", "where": {"/eur": {"gt": 500}}, "do": "deny", "reason": "Too much."}])
    try:
        _, said = asyncio.run(played(run))
    finally:
        metacog.policy(rules=[])
    assert ("Reason: Too much." in said, MADE) == (True, [])


def test_a_run_that_was_interrupted_goes_on_in_another_process(metacog: Any, run: str, tmp_path: Path) -> None:
    async def interrupted() -> RunResult:
        gate = gate_of(run, deadline=0)
        agent, _ = agent_of(gate)
        return await gate.run(agent, "Refund order 4711.", run_config=QUIET)

    result = asyncio.run(interrupted())
    assert len(result.interruptions) == 1
    (tmp_path / "state.json").write_text(json.dumps(result.to_state().to_json()))
    (held,) = metacog.pending(run)
    metacog.decide(held["id"], "edit", arguments={"order": "4711", "eur": 9})

    with elsewhere("go_on", run, str(tmp_path / "state.json"), metacog.environment) as process:
        said, _ = process.communicate()
    told_there = told_of({"eur": 9, "order": "4711"}, "Refunded 9 EUR.")
    assert (process.returncode, said) == (0, f"Done. [('4711', 9.0)] {told_there}\n")
    assert metacog.pending(run) == []


def go_on(run: str, path: str) -> None:
    """What the other process does."""

    async def resumed() -> None:
        gate = gate_of(run)
        agent = Agent(
            name="refunds", model=(model := ScriptedModel([[assistant_message("Done.")]])), tools=[gate(refund)]
        )
        state = await RunState.from_json(agent, json.loads(Path(path).read_text()))
        assert await gate.resolve(state)
        result = await gate.run(agent, state, run_config=QUIET)
        print(result.final_output, MADE, told(model))

    asyncio.run(resumed())


def test_a_process_that_was_killed_while_it_waited_starts_again(metacog: Any, run: str) -> None:
    script = (
        f"import sys; sys.path[:0] = {sys.path!r}; import test_openai_agents as here; here.wait_for_ever(sys.argv[1])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, run], env=metacog.environment, cwd=Path(__file__).parent
    ) as waiting:
        held = metacog.next_pending(run)
        waiting.kill()
    metacog.decide(held["id"], "approve")
    _, said = asyncio.run(played(run))
    assert (said, MADE) == ("Refunded 900 EUR.", [("4711", 900)])
    assert (metacog.pending(run), metacog.item(held["id"])["asks"]) == ([], 1)


def wait_for_ever(run: str) -> None:
    asyncio.run(played(run))


def test_without_interruptions_the_call_itself_waits(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("approve", run)
    _, said = asyncio.run(played(run, interrupt=False))
    deciding.join()
    assert (said, MADE) == ("Refunded 900 EUR.", [("4711", 900)])


def test_a_tool_that_needs_approval_is_always_held(metacog: Any, run: str) -> None:
    metacog.policy(rules=[{"tool": "*", "do": "allow"}])
    try:
        gate = gate_of(run, deadline=0)
        tool = function_tool(name_override="refund", needs_approval=True)(lambda order, eur: "made")
        model = ScriptedModel([[function_call("refund", {"order": "1", "eur": 1}, call_id="c")]])
        result = asyncio.run(gate.run(Agent(name="a", model=model, tools=[gate(tool)]), "Go.", run_config=QUIET))
    finally:
        metacog.policy(rules=[])
    assert len(result.interruptions) == len(metacog.pending(run)) == 1
    with pytest.raises(ValueError, match="is a function"):
        gate(function_tool(name_override="refund", needs_approval=lambda *_: True)(lambda order: "made"))


def test_the_example_runs(metacog: Any) -> None:
    deciding = metacog.decide_next("edit", "refund-4712", arguments={"order": "4712", "eur": 9})
    example = Path(__file__).parents[2] / "examples/openai_agents_refunds.py"
    environment = metacog.environment | {"PYTHONPATH": str(Path(metacog_client.__file__).parents[1])}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True)
    deciding.join()
    assert done.stdout.splitlines()[1:] == ["Refunding 9 EUR for order 4712.", "I have dealt with order 4712."], (
        done.stderr
    )
