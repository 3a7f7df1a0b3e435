"""pydantic-ai asks before it calls a tool: its own function model, its own runner, a real metacog."""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from pydantic_ai import Agent, ModelRetry, UsageLimits
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.tools import DeferredToolRequests, Tool

import metacog_client
from metacog_client import AsyncClient
from metacog_client.adapters.pydantic_ai import Gate, noted

MADE: list[tuple[str, float]] = []
TOLD_OF = "A reviewer changed this before it was allowed. The arguments are now"
CALLS = [ToolCallPart("refund", {"order": "4711", "eur": 900}, tool_call_id="call_1")]


def refund(order: str, eur: float) -> str:
    """Refund an order."""
    MADE.append((order, eur))
    return f"Refunded {eur:g} EUR."


@pytest.fixture(autouse=True)
def _nothing_is_made() -> None:
    MADE.clear()


def told(messages: list[ModelMessage]) -> list[str]:
    """What the model was told of its calls."""
    return [str(part.content) for part in messages[-1].parts if part.part_kind == "tool-return"]


def agent_of(gate: Gate[Any], calls: list[ToolCallPart] = CALLS, tool: Any = refund) -> Agent[Any, Any]:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = told(messages)
        return ModelResponse([TextPart(" ".join(said))] if said else calls)

    output: Any = [str, DeferredToolRequests]
    return Agent(FunctionModel(model), tools=[tool], output_type=output, capabilities=[gate])


def gate_of(run: str, **options: Any) -> Gate[Any]:
    return Gate(AsyncClient(run=run, retry_seconds=options.pop("retry_seconds", 30.0)), **options)


def played(run: str, **options: Any) -> str:
    return str(agent_of(gate_of(run, **options)).run_sync("Refund order 4711.").output)


def test_an_approved_call_is_made(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("approve", run)
    assert played(run) == "Refunded 900 EUR."
    deciding.join()
    assert MADE == [("4711", 900)]


def test_an_edited_call_is_made_with_the_edited_arguments(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 90})
    assert played(run) == f'{TOLD_OF} {{"eur":90,"order":"4711"}}.\n\nRefunded 90 EUR.'
    deciding.join()
    assert MADE == [("4711", 90)]


def test_what_became_of_an_approved_call_is_reported(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 90})
    played(run)
    deciding.join()
    outcome = metacog.outcome(run)
    assert (outcome["status"], outcome["result"]) == ("done", "Refunded 90 EUR.")


def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, run: str) -> None:
    played(run, deadline=0)
    assert "'eur'" in metacog.refusal(metacog.next_pending(run)["id"], {"order": "4711"})


def test_what_its_tools_gave_goes_along_with_the_next_call(metacog: Any, run: str) -> None:
    calls = [ToolCallPart("refund", {"order": "1", "eur": eur}, tool_call_id=f"call_{eur}") for eur in (1, 2, 3)]

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = sum(isinstance(each, ModelResponse) for each in messages)
        return ModelResponse([calls[:2], calls[2:], [TextPart("Done.")]][turn])

    metacog.policy(default_tool_call="allow")
    try:
        Agent(FunctionModel(model), tools=[refund], capabilities=[gate_of(run)]).run_sync("Refund.")
    finally:
        metacog.policy(default_tool_call="ask")
    assert all(f"Refunded {eur} EUR." in metacog.given(run)[-1] for eur in (1, 2))


def test_what_the_models_provider_runs_is_asked_by_nobody(metacog: Any, run: str) -> None:
    offered: list[Any] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.extend(info.model_request_parameters.native_tools)
        call = NativeToolCallPart("web_search", {"query": "refunds"}, tool_call_id="s", provider_name="function")
        found = NativeToolReturnPart("web_search", {"hits": 3}, tool_call_id="s", provider_name="function")
        return ModelResponse([call, found, TextPart("Found 3.")])

    gate: Any = gate_of(run)
    agent = Agent(FunctionModel(model), tools=[refund], capabilities=[gate, NativeTool(WebSearchTool())])
    assert agent.run_sync("Search.").output == "Found 3."
    assert [type(each) for each in offered] == [WebSearchTool]
    assert (metacog.pending(run), metacog.given(run)) == ([], [])  # as pydantic-ai 2.68 has it


@pytest.mark.parametrize(
    ("raised", "detail"),
    [(ValueError("No such order."), "ValueError: No such order."), (ModelRetry("Try 4712."), "Try 4712.")],
)
def test_a_call_that_failed_is_reported_as_failed(metacog: Any, run: str, raised: Exception, detail: str) -> None:
    def refund(order: str, eur: float) -> str:
        raise raised

    deciding = metacog.decide_next("approve", run)
    with contextlib.suppress(Exception):
        agent_of(gate_of(run), tool=refund).run_sync("Refund order 4711.", usage_limits=UsageLimits(request_limit=1))
    deciding.join()
    outcome = metacog.outcome(run)
    assert (outcome["status"], detail in outcome["detail"]) == ("failed", True)


@pytest.mark.parametrize(
    ("result", "told_of"),
    [
        ({"eur": 9}, ["Edited.", {"eur": 9}]),
        (["a", 1], ["Edited.", "a", 1]),
        (ToolReturn("Done.", metadata=1), ToolReturn("Edited.\n\nDone.", metadata=1)),
    ],
)
def test_the_model_reads_of_an_edit_whatever_the_tool_returns(result: Any, told_of: Any) -> None:
    assert noted(result, "Edited.") == told_of


def test_a_rejected_call_is_not_made_and_the_model_reads_why(metacog: Any, run: str) -> None:
    deciding = metacog.decide_next("reject", run, reason="It was refunded last week.")
    assert "It was refunded last week." in played(run)
    deciding.join()
    assert MADE == []


def test_an_expired_call_is_not_made(metacog: Any, run: str) -> None:
    assert "expired" in played(run, options={"expires_in": 1})
    assert MADE == []


def test_nothing_is_made_while_metacog_is_down_unless_the_gate_says_so(metacog: Any, run: str) -> None:
    with metacog.down():
        assert "could not be asked" in played(run, retry_seconds=0.2)
        assert MADE == []
        assert played(run, retry_seconds=0.2, options={"unreachable": "allow"}) == "Refunded 900 EUR."


def test_too_many_calls_wait_their_turn(metacog: Any, run: str) -> None:
    calls = [ToolCallPart("refund", {"order": "1", "eur": n}, tool_call_id=f"call_{n}") for n in range(2)]
    metacog.policy(rules=[{"tool": "refund", "do": "allow"}])
    try:
        with metacog.limit(1):
            agent_of(gate_of(run), calls).run_sync("Refund twice.")
    finally:
        metacog.policy(rules=[])
    assert sorted(MADE) == [("1", 0), ("1", 1)]


def test_only_the_named_tools_ask_and_those_that_need_approval_always_do(metacog: Any, run: str) -> None:
    assert agent_of(gate_of(run, tools=["other"])).run_sync("Refund.").output == "Refunded 900 EUR."
    metacog.policy(rules=[{"tool": "*", "do": "allow"}])
    try:
        assert played(run) == "Refunded 900 EUR."
        needs = agent_of(gate_of(run, tools=[], deadline=0), tool=Tool(refund, requires_approval=True))
        assert "held for review" in needs.run_sync("Refund.").output
    finally:
        metacog.policy(rules=[])
    assert [each["name"] for each in metacog.pending(run)] == ["refund"]
    assert len(MADE) == 2


def test_of_two_equal_calls_one_approval_makes_one(metacog: Any, run: str) -> None:
    calls = [ToolCallPart("refund", {"order": "4711", "eur": 900}, tool_call_id=name) for name in "ab"]
    gate = gate_of(run, waits=False)
    result = agent_of(gate, calls).run_sync("Refund twice.")
    (held,) = metacog.pending(run)
    metacog.decide(held["id"], "approve")
    again = gate_of(run, deadline=0)
    results = asyncio.run(again.results(result.output))
    agent_of(gate).run_sync(message_history=result.all_messages(), deferred_tool_results=results)
    assert (len(MADE), len(metacog.pending(run))) == (1, 1)


def elsewhere(function: str, *given: Any) -> subprocess.Popen[str]:
    """Call a function of this file in another process; the last of what is given is its environment."""
    *arguments, environment = given
    script = f"import sys; sys.path[:0] = {sys.path!r}; import {Path(__file__).stem} as here"
    command = [sys.executable, "-c", f"{script}; here.{function}(*sys.argv[1:])", *arguments]
    return subprocess.Popen(command, env=environment, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("verdict", "more", "said"),
    [
        (
            "edit",
            {"arguments": {"order": "4711", "eur": 9}},
            f'{TOLD_OF} {{"eur":9,"order":"4711"}}.\n\nRefunded 9 EUR. [(\'4711\', 9.0)]',
        ),
        ("reject", {"reason": "No."}, "Not done: a reviewer rejected this. Reason: No. Do not try the same again"),
    ],
)
def test_a_run_that_ended_with_requests_goes_on_in_another_process(
    metacog: Any, run: str, tmp_path: Path, verdict: str, more: Any, said: str
) -> None:
    result = agent_of(gate_of(run, waits=False)).run_sync("Refund order 4711.")
    (held,) = metacog.pending(run)
    (tmp_path / "messages").write_bytes(result.all_messages_json())
    (tmp_path / "requests").write_bytes(REQUESTS.dump_json(result.output))
    metacog.decide(held["id"], verdict, **more)
    with elsewhere("go_on", run, str(tmp_path), metacog.environment) as process:
        printed, _ = process.communicate()
    assert (process.returncode, printed.startswith(said)) == (0, True), printed
    assert metacog.pending(run) == []


REQUESTS = TypeAdapter(DeferredToolRequests)


def go_on(run: str, folder: str) -> None:
    """What the other process does."""
    gate = gate_of(run)
    messages = ModelMessagesTypeAdapter.validate_json(Path(folder, "messages").read_bytes())
    results = asyncio.run(gate.results(REQUESTS.validate_json(Path(folder, "requests").read_bytes())))
    print(agent_of(gate).run_sync(message_history=messages, deferred_tool_results=results).output, MADE)


def test_a_process_that_was_killed_while_it_waited_starts_again(metacog: Any, run: str) -> None:
    with elsewhere("played", run, metacog.environment) as waiting:
        held = metacog.next_pending(run)
        waiting.kill()
    metacog.decide(held["id"], "approve")
    assert played(run) == "Refunded 900 EUR."
    assert (len(MADE), metacog.pending(run)) == (1, [])


def test_the_program_of_the_documentation_runs(metacog: Any, tmp_path: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "integrations.md").read_text()
    (code,) = re.findall(r"```python\n([^`]*pydantic_ai[^`]*)```", page)
    environment = metacog.environment | {"PYTHONPATH": str(Path(metacog_client.__file__).parents[1])}
    deciding = metacog.decide_next("edit", "refund-4712", arguments={"order": "4712", "eur": 9})
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    deciding.join()
    assert "Refunded 9 EUR." in done.stdout, done.stderr


def test_the_example_runs(metacog: Any) -> None:
    deciding = metacog.decide_next("edit", "refund-4712", arguments={"order": "4712", "eur": 9})
    example = Path(__file__).parents[2] / "examples/pydantic_ai_refunds.py"
    environment = metacog.environment | {"PYTHONPATH": str(Path(metacog_client.__file__).parents[1])}
    done = subprocess.run([sys.executable, example], env=environment, capture_output=True, text=True)
    deciding.join()
    assert done.stdout.splitlines()[1:] == [
        "Refunding 9 EUR for order 4712.",
        f'About order 4712: {TOLD_OF} {{"eur":9,"order":"4712"}}.',
        "",
        "Refunded 9 EUR.",
    ], done.stderr
