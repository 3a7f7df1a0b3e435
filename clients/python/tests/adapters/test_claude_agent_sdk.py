"""The Claude Agent SDK asks before its agent uses a tool: its own Claude Code, a scripted model, a real metacog."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

import metacog_client
from metacog_client import AsyncClient
from metacog_client.adapters.claude_agent_sdk import Gate

CLIENTS = Path(__file__).parents[3]
sys.path.insert(0, str(CLIENTS / "testing"))

from models import Model  # noqa: E402 - found by the line above

MADE: list[dict[str, Any]] = []
REFUND = "mcp__till__refund"


@tool("refund", "Refund an order.", {"eur": float})
async def refund(given: dict[str, Any]) -> dict[str, Any]:
    MADE.append(given)
    if given["eur"] < 0:
        raise ValueError("No such amount.")
    return {"content": [{"type": "text", "text": f"Refunded {given['eur']:g} EUR."}]}


@pytest.fixture
def model() -> Iterator[Model]:
    MADE.clear()
    model = Model([[(REFUND, {"eur": 900})]])
    yield model
    model.close()


@pytest.fixture
def session() -> str:
    return str(uuid.uuid4())


def options_of(url: str, home: str, session: str, **more: Any) -> ClaudeAgentOptions:
    surroundings = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CONFIG_DIR": home}
    surroundings |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    till = create_sdk_mcp_server("till", tools=[refund])
    return ClaudeAgentOptions(
        **{"allowed_tools": [REFUND], **more},
        mcp_servers={"till": till},
        env=surroundings,
        cwd=home,
        setting_sources=[],
        session_id=session,
    )


async def running(options: ClaudeAgentOptions) -> ResultMessage:
    async def prompt() -> Any:  # can_use_tool wants a stream
        yield {"type": "user", "message": {"role": "user", "content": "Refund the order."}}

    async for message in query(prompt=prompt(), options=options):
        if isinstance(message, ResultMessage):
            result = message
    return result


def played(url: str, home: Path, session: str, gate: dict[str, Any] | None = None, **more: Any) -> ResultMessage:
    async def run() -> ResultMessage:
        async with AsyncClient(retry_seconds=more.pop("retry_seconds", 30.0)) as client:
            hooks = {} if "can_use_tool" in more else {"hooks": Gate(client, **(gate or {})).hooks}
            if "can_use_tool" in more:
                more["can_use_tool"] = Gate(client, session=session).can_use_tool
            return await running(options_of(url, str(home), session, **hooks, **more))

    return asyncio.run(run())


def told(model: Model) -> str:
    """The text of the last results that the model was given."""
    return str(model.requests)


def test_an_approved_call_is_made_and_reported(metacog: Any, model: Model, tmp_path: Path, session: str) -> None:
    deciding = metacog.decide_next("approve", session)
    played(model.url, tmp_path, session)
    deciding.join()
    assert MADE == [{"eur": 900}]
    outcome = metacog.outcome(session)
    assert (outcome["status"], "Refunded 900 EUR." in str(outcome["result"])) == ("done", True)


def test_an_edited_call_is_made_as_it_was_edited_and_the_model_reads_so(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    deciding = metacog.decide_next("edit", session, arguments={"eur": 90})
    played(model.url, tmp_path, session)
    deciding.join()
    assert MADE == [{"eur": 90}]
    assert re.search(r"A reviewer changed this before it was allowed.*eur.*90", told(model))


def test_a_rejected_call_is_not_made_and_the_model_reads_why(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    deciding = metacog.decide_next("reject", session, reason="It was refunded last week.")
    played(model.url, tmp_path, session)
    deciding.join()
    assert MADE == []
    assert "It was refunded last week." in told(model)


def test_an_expired_call_is_not_made(metacog: Any, model: Model, tmp_path: Path, session: str) -> None:
    played(model.url, tmp_path, session, {"expires_in": 1})
    assert MADE == []
    assert "it has expired" in told(model)


def test_what_nobody_decides_in_time_is_not_made(metacog: Any, model: Model, tmp_path: Path, session: str) -> None:
    played(model.url, tmp_path, session, {"deadline": 4})
    assert MADE == []
    assert f"{metacog.url}/queue/{metacog.pending(session)[0]['id']}" in told(model)


def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    schema = {"type": "object", "properties": {"eur": {"type": "number"}}, "required": ["eur"]}
    played(model.url, tmp_path, session, {"deadline": 4, "schemas": {REFUND: schema}})
    assert "'eur'" in metacog.refusal(metacog.pending(session)[0]["id"], {})


def test_what_its_tools_gave_goes_along_with_the_next_call(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    model.turns = [[(REFUND, {"eur": 1}), (REFUND, {"eur": 2})], [(REFUND, {"eur": 3})]]
    metacog.policy(default_tool_call="allow")
    try:
        played(model.url, tmp_path, session)
    finally:
        metacog.policy(default_tool_call="ask")
    _, second, third = metacog.given(session)  # Claude Code 2.1.332 makes them one after the other
    assert ("Refunded 1 EUR." in second, "Refunded 2 EUR." in third) == (True, True)


def test_nothing_is_made_while_metacog_is_down_unless_the_gate_says_so(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    with metacog.down():
        played(model.url, tmp_path, session, retry_seconds=0.2)
        assert MADE == []
        assert "could not be asked" in told(model)
        played(model.url, tmp_path, str(uuid.uuid4()), {"unreachable": "allow"}, retry_seconds=0.2)
        assert MADE == [{"eur": 900}]


def test_too_many_calls_wait_their_turn_and_each_has_its_own_decision(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    model.turns = [[(REFUND, {"eur": eur}) for eur in (1, 2, 3)]]
    metacog.policy(rules=[{"tool": REFUND, "where": {"/eur": {"eq": 2}}, "do": "deny"}], default_tool_call="allow")
    try:
        with metacog.limit(1):
            played(model.url, tmp_path, session)
    finally:
        metacog.policy(rules=[], default_tool_call="ask")
    assert sorted(each["eur"] for each in MADE) == [1, 3]


def test_a_call_that_failed_is_reported_as_failed(metacog: Any, model: Model, tmp_path: Path, session: str) -> None:
    deciding = metacog.decide_next("edit", session, arguments={"eur": -1})
    played(model.url, tmp_path, session)
    deciding.join()
    outcome = metacog.outcome(session)
    assert (outcome["status"], "No such amount." in outcome["detail"]) == ("failed", True)


def test_claude_codes_own_permissions_decide_what_is_not_held(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    metacog.policy(default_tool_call="allow")
    try:
        played(model.url, tmp_path, session, disallowed_tools=[REFUND])
        assert MADE == []
        played(model.url, tmp_path, str(uuid.uuid4()), {"passed": "allow"}, allowed_tools=[])
    finally:
        metacog.policy(default_tool_call="ask")
    assert MADE == [{"eur": 900}]


@pytest.mark.parametrize("verdict", ["edit", "reject"])
def test_it_asks_only_where_claude_code_would_ask(
    metacog: Any, model: Model, tmp_path: Path, session: str, verdict: str
) -> None:
    more: dict[str, Any] = {"arguments": {"eur": 9}} if verdict == "edit" else {}
    deciding = metacog.decide_next(verdict, session, **more)
    played(model.url, tmp_path, session, allowed_tools=[], can_use_tool=True)
    deciding.join()
    assert [each["eur"] for each in MADE] == ([9] if verdict == "edit" else [])
    played(model.url, tmp_path, str(uuid.uuid4()), can_use_tool=True)  # allowed by a rule of its own: nobody is asked
    assert MADE[-1:] == [{"eur": 900}]


def elsewhere(url: str, home: str, session: str) -> None:
    """What the process that is killed does."""
    played(url, Path(home), session)
    print(MADE)


def test_a_process_that_is_killed_while_it_waits_has_made_nothing(
    metacog: Any, model: Model, tmp_path: Path, session: str
) -> None:
    folders = [*sys.path, str(Path(__file__).parent)]
    script = f"import sys; sys.path[:0] = {folders}; import {Path(__file__).stem} as here"
    command = [sys.executable, "-c", f"{script}; here.elsewhere(*sys.argv[1:])", model.url, str(tmp_path), session]
    with subprocess.Popen(command, env=metacog.environment, stdout=subprocess.PIPE, text=True) as waiting:
        held = metacog.next_pending(session)
        waiting.kill()
        assert waiting.stdout
        assert waiting.stdout.read() == ""
    metacog.decide(held["id"], "approve")
    played(model.url, tmp_path, str(uuid.uuid4()), {"deadline": 0})  # another session is another question
    assert MADE == []


def test_the_example_of_the_documentation_runs(metacog: Any, model: Model, tmp_path: Path) -> None:
    page = (CLIENTS.parent / "docs" / "integrations.md").read_text()
    (code,) = re.findall(r"```python\n([^`]*claude_agent_sdk[^`]*)```", page)
    surroundings = metacog.environment | {"PYTHONPATH": str(Path(metacog_client.__file__).parents[1])}
    surroundings |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "HOME": str(tmp_path)}
    surroundings["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    model.turns = [[("Bash", {"command": "touch made"})]]
    with subprocess.Popen([sys.executable, "-c", code], env=surroundings, cwd=tmp_path) as running:
        held = metacog.until(lambda: [each for each in metacog.pending() if each["name"] == "Bash"], "nothing is held")
        assert not (tmp_path / "made").exists()
        metacog.decide(held[0]["id"], "approve")
    assert running.returncode == 0
    assert (tmp_path / "made").exists()
