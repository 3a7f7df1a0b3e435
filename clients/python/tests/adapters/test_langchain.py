"""LangChain's middleware: waiting in its process, and pausing by `interrupt` to go on in another."""

from __future__ import annotations

import asyncio
import contextlib
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
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from pydantic import BaseModel

from metacog_client import AsyncClient, BadSignature, Client, ToolCall, flows
from metacog_client.adapters.langchain import (
    Graph,
    MetacogMiddleware,
    NotYet,
    aresume_from_webhook,
    resume,
    resume_from_webhook,
    schema_of,
)

from .langchain_agent import GO, Calls, Scripted, agent, call, in_thread, ran, refunds

Play = Callable[..., list[ToolMessage]]
ONE: list[Calls] = [[call("4711", 20)]]
NOBODY = "http://127.0.0.1:9"  # listens there
AGENT = Path(__file__).with_name("langchain_agent.py")
EXAMPLES, SOURCES = AGENT.parents[2] / "examples", str(AGENT.parents[2] / "src")


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture(params=["sync", "async", "async, by threads"])
def play(request: pytest.FixtureRequest, ledger: Path, run: str) -> Play:
    """Run the agent to its end, and return what it was told of its calls."""

    def play(
        turns: list[Calls], url: str | None = None, retry_seconds: float = 20.0, **options: Any
    ) -> list[ToolMessage]:
        async def awaited() -> dict[str, Any]:
            of = AsyncClient if request.param == "async" else Client
            gate = MetacogMiddleware(of(url, retry_seconds=retry_seconds), **options)
            return await agent(gate, ledger, turns).ainvoke(GO, in_thread(run))

        if request.param == "sync":
            gate = MetacogMiddleware(Client(url, retry_seconds=retry_seconds), **options)
            result = agent(gate, ledger, turns).invoke(GO, in_thread(run))
        else:
            result = asyncio.run(awaited())
        assert result["messages"][-1].text == "done"
        return told(result)

    return play


def told(result: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def test_it_runs_an_approved_call(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("approve", run)
    [answer] = play(ONE)
    assert (answer.text, answer.status, ran(ledger)) == ("refunded 20 EUR for 4711", "success", ["4711 20"])


def test_it_reports_what_became_of_an_approved_call(metacog: Any, play: Play, run: str) -> None:
    metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 5})
    play(ONE)
    outcome = metacog.outcome(run)
    assert (outcome["status"], outcome["result"]) == ("done", "refunded 5 EUR for 4711")


@pytest.mark.parametrize("is_handled", [True, False])
def test_it_reports_a_call_that_failed(metacog: Any, run: str, is_handled: bool) -> None:
    @tool
    def refund(order: str, eur: int) -> str:
        """Refund an order."""
        raise ValueError("No such order.")

    gate = MetacogMiddleware(Client(run=run))
    node = ToolNode([refund], handle_tool_errors=is_handled, wrap_tool_call=gate.wrap_tool_call)
    graph = StateGraph(MessagesState).add_node("tools", node).set_entry_point("tools").compile()
    metacog.decide_next("approve", run)
    message = AIMessage("", tool_calls=[{"name": "refund", "args": {"order": "4711", "eur": 5}, "id": "call_1"}])
    with contextlib.suppress(ValueError):
        graph.invoke({"messages": [message]}, in_thread(run))
    outcome = metacog.outcome(run)
    assert (outcome["status"], "No such order." in outcome["detail"]) == ("failed", True)


def test_it_shows_the_reviewer_what_the_call_is_for(metacog: Any, ledger: Path, run: str) -> None:
    gate = MetacogMiddleware(deadline=0, expires_in=60)
    agent(gate, ledger, ONE).invoke(GO, in_thread(run))
    item = metacog.next_pending(run)
    assert item["description"] == "I refund what was promised."
    assert item["schema"]["properties"]["eur"]["type"] == "integer"
    assert item["metadata"]["thread_id"] == run


def test_a_schema_of_any_size_is_handed_on_and_a_large_one_is_named() -> None:
    schema = {"type": "object", "properties": {"eur": {"type": "number", "description": "x" * 65_536}}}
    large = StructuredTool.from_function(lambda: "", name="x", description="x", args_schema=schema)
    assert flows.schema_of(ToolCall("x", {}, "1", schema_of(large))) == {"schema_omitted": True}


def test_it_runs_an_edited_call_with_the_reviewers_arguments(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 5}, reason="Only the shipping.")
    [answer] = play(ONE)
    assert ran(ledger) == ["4711 5"]
    note, result = answer.text.split("\n\n")
    assert result == "refunded 5 EUR for 4711"
    assert "Only the shipping." in note
    assert '{"eur":5,"order":"4711"}' in note


def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, ledger: Path, run: str) -> None:
    agent(MetacogMiddleware(deadline=0), ledger, ONE).invoke(GO, in_thread(run))
    assert "'eur'" in metacog.refusal(metacog.next_pending(run)["id"], {"order": "4711"})


@pytest.mark.parametrize("awaits", [False, True])
def test_what_its_tools_gave_goes_along_with_the_next_call(metacog: Any, ledger: Path, run: str, awaits: bool) -> None:
    @tool
    def look(order: str) -> str:
        """Look up an order."""
        return "It cost 41 EUR."

    looks = {"name": "look", "args": {"order": "1"}, "id": "b"}  # which nobody is asked about
    model = Scripted(turns=[[call("1", 1, "a"), looks], [call("1", 2, "c")]])
    graph = create_agent(model, [refunds(ledger), look], middleware=[MetacogMiddleware(tools=["refund"])])
    metacog.policy(default_tool_call="allow")
    try:
        asyncio.run(graph.ainvoke(GO, in_thread(run))) if awaits else graph.invoke(GO, in_thread(run))
    finally:
        metacog.policy(default_tool_call="ask")
    assert sorted(metacog.given(run)[-1].splitlines()) == [
        "It cost 41 EUR.",
        "[look]",
        "[refund]",
        "refunded 1 EUR for 1",
    ]


def test_what_the_models_provider_runs_is_asked_by_nobody(metacog: Any, ledger: Path, run: str) -> None:
    class Searches(Scripted):
        def _generate(self, messages: Any, *more: Any, **options: Any) -> ChatResult:
            call = {"type": "server_tool_call", "name": "web_search", "args": {"query": "refunds"}, "id": "s"}
            found = {"type": "server_tool_result", "tool_call_id": "s", "status": "success", "output": {"hits": 3}}
            blocks: list[Any] = [call, found, {"type": "text", "text": "Found 3."}]
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content_blocks=blocks))])

    tools = [refunds(ledger), {"type": "web_search_preview"}]
    result = create_agent(Searches(turns=[]), tools, middleware=[MetacogMiddleware()]).invoke(GO, in_thread(run))
    assert result["messages"][-1].text == "Found 3."
    assert (metacog.pending(run), metacog.given(run)) == ([], [])


def test_it_does_not_run_a_rejected_call(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    metacog.decide_next("reject", run, reason="Not without a receipt.")
    [answer] = play(ONE)
    assert (answer.status, ran(ledger)) == ("error", [])
    assert "Not without a receipt." in answer.text


def test_it_does_not_run_a_call_that_nobody_decided(metacog: Any, play: Play, ledger: Path) -> None:
    [answer] = play(ONE, expires_in=1)
    assert (answer.status, ran(ledger)) == ("error", [])
    assert "expired" in answer.text


def test_it_does_not_run_a_call_that_is_decided_too_late(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    [answer] = play(ONE, deadline=0.1)
    assert (answer.status, ran(ledger)) == ("error", [])
    assert "held for review" in answer.text
    assert len(metacog.pending(run)) == 1


def test_it_runs_nothing_while_metacog_is_down_but_what_may(play: Play, ledger: Path) -> None:
    [refused] = play(ONE, url=NOBODY, retry_seconds=0.5)
    assert (refused.status, ran(ledger)) == ("error", [])
    assert "could not be asked" in refused.text
    [answer] = play(ONE, url=NOBODY, retry_seconds=0.5, run_when_unreachable={"refund"})
    assert (answer.status, ran(ledger)) == ("success", ["4711 20"])


def test_it_asks_again_where_it_asked_too_often(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    def decide() -> None:
        metacog.until(lambda: len(metacog.pending(run)) == 2, "both are held")
        for item in metacog.pending(run):
            metacog.decide(item["id"], "approve")

    person = threading.Thread(target=decide)
    person.start()
    with metacog.limit(1):
        play([[call("4711", 20), call("4712", 30, "call_1")]])
    person.join()
    assert ran(ledger) == ["4711 20", "4712 30"]


def test_it_asks_about_all_calls_of_a_message_at_once(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    calls = [call(f"{order}", 20, f"call_{order}") for order in range(12)]  # more than there are threads

    def decide() -> None:
        metacog.until(lambda: len(metacog.pending(run)) == 12, "12 are held while none is decided")
        for item in metacog.pending(run):
            order = metacog.item(item["id"])["arguments"]["order"]
            metacog.decide(item["id"], "approve" if int(order) % 2 else "reject")

    person = threading.Thread(target=decide)
    person.start()
    answers = play([calls], deadline=60)
    person.join()
    assert [answer.status for answer in answers] == ["error", "success"] * 6
    assert sorted(ran(ledger), key=lambda line: int(line.split()[0])) == [f"{order} 20" for order in range(1, 12, 2)]


def test_an_approval_is_of_one_call_even_where_a_model_counts_from_0_again(
    metacog: Any, play: Play, ledger: Path, run: str
) -> None:
    def decide() -> None:
        for verdict in ("approve", "reject"):
            metacog.decide_next(verdict, run).join()

    person = threading.Thread(target=decide)
    person.start()
    answers = play([*ONE, *ONE])
    person.join()
    assert [answer.status for answer in answers] == ["success", "error"]
    assert ran(ledger) == ["4711 20"]


def test_it_asks_only_about_the_tools_it_is_given(metacog: Any, play: Play, ledger: Path, run: str) -> None:
    play(ONE, tools=["another"])
    assert (ran(ledger), metacog.pending(run)) == (["4711 20"], [])


def test_it_asks_nobody_about_the_form_of_the_last_answer(metacog: Any, ledger: Path, run: str) -> None:
    class Answer(BaseModel):
        words: str

    turns = [[call("4711", 20), {"name": "Answer", "args": {"words": "done"}, "id": "call_1"}]]
    graph = create_agent(
        Scripted(turns=turns),
        agent_tools(ledger),
        middleware=[MetacogMiddleware(deadline=0)],
        response_format=ToolStrategy(Answer),
    )
    graph.invoke(GO, in_thread(run))
    assert [item["name"] for item in map(metacog.item, (each["id"] for each in metacog.pending(run)))] == ["refund"]


def test_it_stands_before_the_tools_of_a_graph_of_ones_own(metacog: Any, ledger: Path, run: str) -> None:
    gate, model = MetacogMiddleware(), Scripted(turns=ONE)
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode(agent_tools(ledger), wrap_tool_call=gate.wrap_tool_call))
    builder.add_edge("__start__", "model")
    builder.add_edge("model", "tools")
    metacog.decide_next("edit", run, arguments={"order": "4711", "eur": 5})
    builder.compile().invoke(GO, in_thread(run))  # type: ignore[arg-type]  # a dict is a state
    assert ran(ledger) == ["4711 5"]


def agent_tools(ledger: Path) -> list[BaseTool]:
    from .langchain_agent import refunds

    return [refunds(ledger)]


# In processes that are killed


class Process:
    """The agent in a process of its own."""

    def __init__(self, metacog: Any, pause: str, folder: Path, thread: str, turns: list[Calls]) -> None:
        arguments = [pause, str(folder / "threads.sqlite"), str(folder / "ledger"), thread, json.dumps(turns)]
        environment = metacog.environment | {"PYTHONPATH": SOURCES}
        self.process = subprocess.Popen([sys.executable, str(AGENT), *arguments], env=environment)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        assert self.process.wait(120) == 0


@pytest.mark.parametrize("decided", ["after it is started again", "while it is dead"])
def test_killed_while_it_waits_it_finds_its_held_item_again(metacog: Any, ledger: Path, run: str, decided: str) -> None:
    turns = [[call("4711", 20), call("4712", 30, "call_1")]]
    first = Process(metacog, "wait", ledger.parent, run, turns)
    metacog.until(lambda: len(metacog.pending(run)) == 2, "both are held")
    held = [item["id"] for item in metacog.pending(run)]
    first.kill()
    if decided == "while it is dead":
        for each in held:
            metacog.decide(each, "approve")
    again = Process(metacog, "wait", ledger.parent, run, turns)
    if decided != "while it is dead":
        time.sleep(2)  # long enough to ask again
        assert [item["id"] for item in metacog.pending(run)] == held
        for each in held:
            metacog.decide(each, "approve")
    again.end()
    assert (ran(ledger), metacog.pending(run)) == (["4711 20", "4712 30"], [])


# Paused, and going on in this process


@pytest.fixture
def paused(metacog: Any, ledger: Path, run: str) -> Callable[[list[Calls]], list[dict[str, Any]]]:
    """Run the agent in a process that ends, and return what is held of it."""

    def paused(turns: list[Calls]) -> list[dict[str, Any]]:
        Process(metacog, "interrupt", ledger.parent, run, turns).end()
        found: list[dict[str, Any]] = metacog.pending(run)
        assert ran(ledger) == []
        return found

    return paused


def saved(ledger: Path) -> Any:
    return SqliteSaver.from_conn_string(str(ledger.parent / "threads.sqlite"))


def gated(ledger: Path, turns: list[Calls], checkpointer: Any) -> Graph:
    return agent(MetacogMiddleware(Client(retry_seconds=1), pause="interrupt"), ledger, turns, checkpointer)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("verdict", "more", "lines", "words"),
    [
        ("approve", {}, ["4711 20"], "refunded 20"),
        ("edit", {"arguments": {"order": "4711", "eur": 5}}, ["4711 5"], "refunded 5"),
        ("reject", {"reason": "Not without a receipt."}, [], "Not without a receipt."),
    ],
)
def test_a_webhook_goes_on_with_a_thread_of_another_process(
    metacog: Any,
    ledger: Path,
    run: str,
    paused: Any,
    way: str,
    verdict: str,
    more: dict[str, Any],
    lines: list[str],
    words: str,
) -> None:
    def go_on(headers: dict[str, str], body: bytes) -> dict[str, Any] | None:
        if way == "sync":
            with saved(ledger) as checkpointer:
                return resume_from_webhook(gated(ledger, ONE, checkpointer), headers, body, metacog.signing_secret)

        async def awaited() -> dict[str, Any] | None:
            async with AsyncSqliteSaver.from_conn_string(str(ledger.parent / "threads.sqlite")) as checkpointer:
                graph = gated(ledger, ONE, checkpointer)
                return await aresume_from_webhook(graph, headers, body, metacog.signing_secret)

        return asyncio.run(awaited())

    [item] = paused(ONE)
    with metacog.webhooks() as came:
        metacog.decide(item["id"], verdict, **more)
        headers, body = came.get(timeout=120)
    with pytest.raises(BadSignature):
        go_on(headers, body + b" ")
    assert ran(ledger) == []
    result = go_on(headers, body)
    assert result is not None
    assert result["messages"][-1].text == "done"
    assert words in told(result)[0].text
    assert go_on(headers, body) is None  # sent twice, it is done once
    assert ran(ledger) == lines


def test_an_expired_call_goes_on_by_webhook_too(metacog: Any, ledger: Path, run: str) -> None:
    with metacog.webhooks() as came:
        gate = MetacogMiddleware(pause="interrupt", expires_in=1)
        graph = agent(gate, ledger, ONE, InMemorySaver())
        assert "__interrupt__" in graph.invoke(GO, in_thread(run))
        headers, body = came.get(timeout=120)
    result = resume_from_webhook(graph, headers, body, metacog.signing_secret)
    assert result is not None
    assert "expired" in told(result)[0].text
    assert ran(ledger) == []


def test_the_calls_of_a_message_go_on_one_by_one(metacog: Any, ledger: Path, run: str, paused: Any) -> None:
    turns = [[call(str(order), 20, f"call_{order}") for order in range(3)]]
    held = paused(turns)
    assert len(held) == 3
    with saved(ledger) as checkpointer:
        graph = gated(ledger, turns, checkpointer)
        for item in (held[1], held[2], held[0]):
            metacog.decide(item["id"], "approve")
            [decision] = [each for each in Client().decisions(session=run) if each["held"] == item["id"]]
            before = len(ran(ledger))
            assert resume(graph, decision) is not None
            assert len(ran(ledger)) == before + 1
        assert graph.get_state(in_thread(run)).next == ()
    assert ran(ledger) == ["0 20", "1 20", "2 20"]


def test_one_approval_of_two_equal_calls_runs_one_of_them(metacog: Any, ledger: Path, run: str) -> None:
    turns = [[call("4711", 20), call("4711", 20, "call_1")]]
    graph = gated(ledger, turns, InMemorySaver())
    graph.invoke(GO, in_thread(run))
    [item] = metacog.pending(run)
    metacog.decide(item["id"], "approve")
    resume(graph, Client().decisions(session=run)[0])
    assert ran(ledger) == ["4711 20"]
    [item] = metacog.pending(run)
    metacog.decide(item["id"], "reject")
    result = resume(graph, Client().decisions(session=run)[-1])
    assert result is not None
    assert sorted(answer.status for answer in told(result)) == ["error", "success"]
    assert ran(ledger) == ["4711 20"]


@pytest.mark.parametrize("answer", [True, {"type": "approve"}, {"decisions": [{"type": "approve"}]}])
def test_nobody_approves_a_call_by_what_they_resume_it_with(metacog: Any, ledger: Path, run: str, answer: Any) -> None:
    graph = gated(ledger, ONE, InMemorySaver())
    graph.invoke(GO, in_thread(run))
    for _ in range(2):
        assert "__interrupt__" in graph.invoke(Command(resume=answer), in_thread(run))
    assert ran(ledger) == []
    metacog.decide(metacog.next_pending(run)["id"], "approve")
    assert resume(graph, Client().decisions(session=run)[0]) is not None
    assert ran(ledger) == ["4711 20"]


def test_a_thread_does_not_go_on_while_metacog_is_down(metacog: Any, ledger: Path, run: str) -> None:
    gate = MetacogMiddleware(Client(retry_seconds=0.5), pause="interrupt", run_when_unreachable={"refund"})
    graph = agent(gate, ledger, ONE, InMemorySaver())
    graph.invoke(GO, in_thread(run))
    metacog.decide(metacog.next_pending(run)["id"], "reject")
    [decision] = Client().decisions(session=run)
    with metacog.down(), pytest.raises(NotYet):
        resume(graph, decision)
    result = resume(graph, decision)
    assert result is not None
    assert [answer.status for answer in told(result)] == ["error"]
    assert ran(ledger) == []


@pytest.mark.parametrize("fails", [False, True])
def test_a_thread_does_not_go_on_while_another_tool_of_it_runs_or_has_failed(
    metacog: Any, ledger: Path, run: str, fails: bool
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Take some time."""
        begun.set()
        go_on.wait(120)
        with ledger.open("a") as file:
            file.write("slow\n")
        if fails:
            raise RuntimeError("too slow")
        return "slow"

    turns = [[call("4711", 20), {"name": "slow", "args": {}, "id": "call_1"}]]
    gate = MetacogMiddleware(pause="interrupt", tools={"refund"})
    graph = create_agent(
        Scripted(turns=turns), [*agent_tools(ledger), slow], middleware=[gate], checkpointer=InMemorySaver()
    )

    def begin() -> None:
        if fails:
            with pytest.raises(RuntimeError):
                graph.invoke(GO, in_thread(run))
        else:
            graph.invoke(GO, in_thread(run))

    process = threading.Thread(target=begin)
    process.start()
    begun.wait(120)
    metacog.decide(metacog.next_pending(run)["id"], "approve")
    [decision] = Client().decisions(session=run)
    with pytest.raises(NotYet):
        resume(graph, decision)
    go_on.set()
    process.join()
    if fails:
        with pytest.raises(NotYet, match="too slow"):
            resume(graph, decision)
        assert ran(ledger) == ["slow"]
    else:
        assert resume(graph, decision) is not None
        assert ran(ledger) == ["4711 20", "slow"]


def test_a_decision_of_no_thread_is_nothing_to_do(metacog: Any, ledger: Path, run: str) -> None:
    graph = gated(ledger, ONE, InMemorySaver())
    decision = {"held": "held_1", "metadata": {"run": run}}
    assert resume(graph, decision) is None
    with pytest.raises(NotYet):  # its first process may not have written it down yet
        resume(graph, decision | {"metadata": {"thread_id": run, "tool_call_id": "call_0"}})


# The examples


def example(metacog: Any, folder: Path, name: str, *arguments: str) -> subprocess.Popen[str]:
    environment = metacog.environment | {"PYTHONPATH": SOURCES, "METACOG_SIGNING_SECRET": metacog.signing_secret}
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def test_the_example_runs(metacog: Any, ledger: Path) -> None:
    process = example(metacog, ledger.parent, "langchain_refunds.py")
    order = {"order": "4712", "eur": 900}

    def asked() -> list[dict[str, Any]]:  # not what another test left
        return [each for each in metacog.pending() if metacog.item(each["id"])["arguments"] == order]

    (item,) = metacog.until(asked, "it is held")
    metacog.decide(item["id"], "edit", arguments={"order": "4712", "eur": 9})
    lines = process.communicate(timeout=120)[0].splitlines()
    assert "Refunding 9 EUR for order 4712." in lines
    assert lines[-1] == "I have dealt with order 4712."


def test_the_example_of_two_processes_runs(metacog: Any, ledger: Path) -> None:
    def asked(order: str) -> str:
        process = example(metacog, ledger.parent, "langgraph_webhook.py", "ask", order)
        assert process.communicate(timeout=120)[0].startswith("Held: http")
        assert process.returncode == 0
        held: str = metacog.pending(f"refund-{order}")[0]["id"]
        return held

    before, after = asked("4713"), asked("4714")
    metacog.decide(before, "approve")
    metacog.callback(metacog.callback_url)
    port = metacog.callback_url.rpartition(":")[2]
    listening = example(metacog, ledger.parent, "langgraph_webhook.py", "listen", port)
    try:
        assert listening.stdout
        lines = iter(listening.stdout.readline, "")
        assert {next(lines) for _ in range(3)} >= {"Refunding 900 EUR for order 4713.\n", "Order 4713 is done.\n"}
        metacog.decide(after, "edit", arguments={"order": "4714", "eur": 5})
        assert [next(lines), next(lines)] == ["Refunding 5 EUR for order 4714.\n", "Order 4714 is done.\n"]
    finally:
        metacog.callback("")
        listening.terminate()
        listening.wait()
