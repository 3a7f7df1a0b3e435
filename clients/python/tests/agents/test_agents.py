"""Claude Code, Codex and OpenCode play with a real metacog before their tools: what runs, and what does not."""

from __future__ import annotations

import json
import os
import re
import signal
from typing import Any

import pytest

from metacog_client.hooks.dialects import REQUIRED

from .conftest import Agent, Start

EACH = pytest.mark.parametrize("name", ["claude-code", "codex", "opencode"])
HOOKED = pytest.mark.parametrize("name", ["claude-code", "codex"])


def touches(agent: Agent) -> list[list[Any]]:
    return [[agent.shell("touch made")]]


def made(agent: Agent) -> list[str]:
    return sorted(path.name for path in agent.folder.iterdir())


def held(metacog: Any, count: int = 1) -> list[dict[str, Any]]:
    """Wait until so many items are pending, all of this test: each decides all that it has held."""
    return list(metacog.until(lambda: (found := metacog.pending())[count - 1 :] and found, "nothing is held"))


@pytest.fixture(autouse=True)
def nothing_is_left(metacog: Any) -> Any:
    yield
    for item in metacog.pending():
        metacog.decide(item["id"], "reject")


@EACH
def test_an_approved_call_runs_and_what_became_of_it_is_reported(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches)
    running = agent.start()
    (item,) = held(metacog)
    assert made(agent) == []
    metacog.decide(item["id"], "approve")
    agent.end(running)
    assert made(agent) == ["made"]
    assert metacog.item(item["id"])["outcome"]["status"] == "done"


@EACH
def test_an_edited_call_runs_as_it_was_edited(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches)
    running = agent.start()
    (item,) = held(metacog)
    metacog.decide(item["id"], "edit", arguments=metacog.item(item["id"])["arguments"] | {"command": "touch edited"})
    agent.end(running)
    assert made(agent) == ["edited"]


@EACH
def test_a_rejected_call_does_not_run_and_the_model_reads_why(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches)
    running = agent.start()
    (item,) = held(metacog)
    metacog.decide(item["id"], "reject", reason="Not on a Friday.")
    agent.end(running)
    assert made(agent) == []
    assert "Not on a Friday." in agent.told


@EACH
def test_a_command_that_failed_is_reported_as_failed_where_the_program_tells(
    metacog: Any, agent_of: Start, name: str
) -> None:
    agent = agent_of(name, lambda agent: [[agent.shell("exit 3")]])
    running = agent.start()
    (item,) = held(metacog)
    metacog.decide(item["id"], "approve")
    agent.end(running)
    told = "done" if name == "codex" else "failed"  # Codex 0.171.0 tells its hook no exit status
    assert metacog.item(item["id"])["outcome"]["status"] == told


@EACH
def test_of_two_calls_at_once_each_gets_its_own_decision(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, lambda agent: [[agent.shell("touch first"), agent.shell("touch second")]])
    running = agent.start()
    for _ in range(2):
        item = metacog.item(held(metacog)[0]["id"])
        metacog.decide(item["id"], "approve" if "second" in item["arguments"]["command"] else "reject")
        metacog.until(lambda item=item: item["id"] not in [each["id"] for each in metacog.pending()], "not decided")
    agent.end(running)
    assert made(agent) == ["second"]


@EACH
def test_nothing_runs_while_metacog_is_down(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches, "--timeout", "20", "--wait", "2")
    with metacog.down():
        agent.run()
    assert made(agent) == []
    assert "could not be asked" in agent.told


@EACH
def test_what_nobody_decides_in_time_does_not_run(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches, "--wait", "4")
    agent.run()
    assert made(agent) == []
    assert re.search("nobody has decided (this|it)", agent.told, re.IGNORECASE)


@EACH
def test_a_call_of_an_mcp_server_is_held_with_its_arguments(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, lambda agent: [[agent.refund(900)]])
    running = agent.start()
    item = metacog.item(held(metacog)[0]["id"])
    assert (item["name"], item["arguments"]) == (agent.refund(900)[0].replace("/", "__"), {"eur": 900})
    assert agent.till == ""
    metacog.decide(item["id"], "edit", arguments={"eur": 9})
    agent.end(running)
    assert json.loads(agent.till) == {"eur": 9}


PATCH = "*** Begin Patch\n*** Add File: made\n+1\n*** End Patch\n"


def writes(agent: Agent) -> list[list[Any]]:
    if agent.name == "codex":
        return [[("apply_patch", {"$input": PATCH})]]
    if agent.name == "opencode":
        return [[("write", {"filePath": str(agent.folder / "made"), "content": "1\n"})]]
    return [[("Write", {"file_path": str(agent.folder / "made"), "content": "1\n"})]]


@EACH
def test_a_file_is_written_once_a_person_has_approved_it(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, writes)
    running = agent.start()
    (item,) = held(metacog)
    assert made(agent) == []
    metacog.decide(item["id"], "approve")
    agent.end(running)
    assert (agent.folder / "made").read_text() == "1\n"


@EACH
def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, writes)
    running = agent.start()
    item = metacog.item(held(metacog)[0]["id"])
    needed = "command" if name == "codex" else "content"
    left = {key: value for key, value in item["arguments"].items() if key != needed}
    assert f"'{needed}'" in metacog.refusal(item["id"], left)
    metacog.decide(item["id"], "reject")
    agent.end(running)


def test_what_claude_codes_tools_cannot_do_without_is_known(agent_of: Start) -> None:
    agent = agent_of("claude-code", touches, "--wait", "1")
    agent.run()
    offered = {each["name"]: sorted(each["input_schema"].get("required", [])) for each in agent.offered}
    known = {name: sorted(needed) for name, needed in REQUIRED.items() if name in offered}
    assert known == {name: offered[name] for name in known}
    assert {"Bash", "Edit", "Read", "Write"} <= known.keys()


def test_what_opencodes_tools_gave_goes_along_with_the_next_call(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("opencode", lambda agent: [[agent.shell("echo 41"), agent.shell("echo 42")], touches(agent)[0]])
    rules = [{"tool": "bash", "where": {"/command": {"glob": "echo *"}}, "do": "allow"}]
    metacog.policy(rules=rules)
    try:
        running = agent.start()
        item = metacog.item(held(metacog)[0]["id"])
    finally:
        metacog.policy(rules=[])
    assert all(f"[bash]\n{number}" in metacog.given(item["metadata"]["run"])[-1] for number in (41, 42))
    metacog.decide(item["id"], "reject")
    agent.end(running)


@EACH
def test_an_agent_that_is_killed_while_it_waits_has_run_nothing(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches)
    running = agent.start()
    (item,) = held(metacog)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    metacog.decide(item["id"], "approve")
    assert made(agent) == []


@EACH
def test_what_it_logs_is_read_by_import_log(metacog: Any, agent_of: Start, name: str) -> None:
    agent = agent_of(name, lambda agent: [[agent.shell("rm -rf build"), agent.refund(9)], touches(agent)[0]])
    metacog.policy(rules=[{"tool": "*", "do": "allow"}])
    try:
        agent.run()
    finally:
        metacog.policy(rules=[])
    told = metacog.trial(*agent.logs)
    assert [(file["format"], file["unread"]) for file in told["files"]] == [(name, 0)]
    names = ["bash" if name == "opencode" else "Bash", agent.refund(9)[0].replace("/", "__")]
    assert {tool["name"]: tool["calls"] for tool in told["tools"]} == {names[0]: 2, names[1]: 1}
    assert (told["answers"], told["workspace"]) == (1, str(agent.folder))
    assert told["kinds"]["delete inside"] == 1


def test_claude_code_defers_a_call_and_goes_on_when_it_is_resumed(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("claude-code", touches, "--late", "defer", "--wait", "4")
    told = json.loads(agent.run())
    assert told["stop_reason"] == "tool_deferred"
    (item,) = held(metacog)
    assert made(agent) == []
    metacog.decide(item["id"], "approve")
    agent.run("--resume", agent.session)
    assert made(agent) == ["made"]


def test_codex_runs_every_tool_without_a_hook_that_it_does_not_trust_and_the_check_says_so(
    metacog: Any, agent_of: Start
) -> None:
    agent = agent_of("codex", touches, trusted=False)
    told = agent.ask_hook("--check")
    assert told.returncode == 1
    assert "does not trust the hook" in told.stderr
    agent.run()
    assert made(agent) == ["made"]  # Codex 0.171.0 skips it without a word
    agent.trust()
    assert agent.ask_hook("--check").returncode == 0
    settings = agent.home / ".codex" / "config.toml"
    whole = settings.read_text()
    for changed, says in (
        (whole.replace("hook codex || exit 2", "hook codex --wait 9 || exit 2"), "since it was changed"),
        (whole.replace("timeout = 600", "timeout = 60"), "since it was changed"),
        (whole + "enabled = false\n", ""),
        (whole + "[features]\nhooks = false\n", "has no hook"),
        (whole + "x = [\n", "cannot read its settings"),
    ):
        settings.write_text(changed)
        told = agent.ask_hook("--check")
        assert (told.returncode, says in told.stderr) == (1 if says else 0, True), told.stderr


def test_the_settings_of_codex_stay_as_they_are_trusted(agent_of: Start) -> None:
    agent = agent_of("codex", touches)
    again = agent.ask_hook("--settings")
    assert again.stdout in (agent.home / ".codex" / "config.toml").read_text()
    assert again.stderr == "Codex has this hook already (trusted): do not add it again.\n"
    other = agent.ask_hook("--settings", "--strict")
    assert "--strict || exit 2" in other.stdout
    assert "trust this one anew" in other.stderr


@HOOKED
def test_a_hook_that_is_later_than_its_timeout_stops_nothing(agent_of: Start, name: str) -> None:
    agent = agent_of(name, touches, trusted=False)
    command = re.compile(r"""(\bcommand"?\s*[:=]\s*["'])[^\n]* \|\| exit 2""")
    late = command.sub(r"\1touch ../late; sleep 30 # hook codex", agent.settings.read_text())
    agent.settings.write_text(re.sub(r"(timeout\W+)600", r"\g<1>2", late))
    if name == "codex":
        agent.trust()
    agent.run()
    assert ((agent.home / "late").exists(), made(agent)) == (True, ["made"])


def test_claude_code_runs_every_tool_where_its_settings_switch_hooks_off(agent_of: Start) -> None:
    agent = agent_of("claude-code", touches)
    (agent.folder / ".claude").mkdir()
    (agent.folder / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    agent.run()
    assert made(agent) == [".claude", "made"]


@pytest.mark.parametrize("name", ["claude-code", "opencode"])
def test_no_tool_types_into_a_session_asks_for_a_terminal_or_runs_at_the_provider(
    metacog: Any, agent_of: Start, name: str
) -> None:
    agent = agent_of(name, touches, "--wait", "1")
    agent.run()
    assert all("input_schema" in tool for tool in agent.offered)  # else it would be one of the model's provider
    taken = {word for tool in agent.offered for word in (tool["name"], *tool["input_schema"].get("properties", {}))}
    assert {word for word in taken if re.search("stdin|tty|pty|terminal|input|chars", word)} == set()


def test_what_codexs_provider_searches_reaches_no_hook(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("codex", lambda agent: [[("$web_search", {"query": "refunds"})]])
    assert "web_search" in agent.run()
    assert "web_search" in [each["type"] for each in agent.offered]
    assert metacog.pending() == []
    agent.settings.write_text('web_search = "disabled"\n' + agent.settings.read_text())
    agent.run()
    assert "web_search" not in [each["type"] for each in agent.offered]


def test_claude_codes_search_is_a_tool_of_its_own(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("claude-code", lambda agent: [[("WebSearch", {"query": "refunds"})]])
    running = agent.start()
    (item,) = held(metacog)
    assert item["name"] == "WebSearch"
    metacog.decide(item["id"], "reject")
    agent.end(running)


def typed(agent: Agent) -> list[list[Any]]:
    opened = agent.shell("bash -i", tty=True, yield_time_ms=500)
    return [[opened], [("write_stdin", {"session_id": "$session", "chars": "touch typed; exit\n"})]]


def test_what_codex_types_into_a_session_reaches_no_hook_and_the_item_says_so(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("codex", typed)
    running = agent.start()
    item = metacog.item(held(metacog)[0]["id"])
    assert "opens a session to type into" in [each.get("detail") for each in item["effects"]]
    assert "tty" not in item["arguments"]  # which Codex does not tell of either
    metacog.decide(item["id"], "approve")
    agent.end(running)
    assert made(agent) == ["typed"]  # Codex 0.171.0 asks nobody about write_stdin


def test_strict_opens_no_session(metacog: Any, agent_of: Start) -> None:
    metacog.policy(default_tool_call="allow")
    try:
        agent = agent_of("codex", typed, "--strict")
        agent.run()
    finally:
        metacog.policy(default_tool_call="ask")
    assert made(agent) == []
    assert "opens a session to type into, which no hook sees" in agent.told


def test_a_tool_of_opencode_that_throws_is_reported_as_failed(metacog: Any, agent_of: Start) -> None:
    agent = agent_of("opencode", lambda agent: [[("read", {"filePath": str(agent.folder / "nothing")})]])
    running = agent.start()
    (item,) = held(metacog)
    metacog.decide(item["id"], "approve")
    agent.end(running)
    outcome = metacog.until(lambda: metacog.item(item["id"])["outcome"], "nothing is reported")
    assert (outcome["status"], "not found" in outcome["detail"]) == ("failed", True)


def test_opencode_goes_on_without_a_plugin_and_its_settings_then_refuse_every_tool(agent_of: Start) -> None:
    agent = agent_of("opencode", touches)
    for broken in ('import "nothing";', "export const Metacog = () => { throw new Error('broken'); };"):
        agent.plugin.write_text(broken)
        agent.run()
        assert made(agent) == []
    settings = agent.home / ".config" / "opencode" / "opencode.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "permission": {}}))
    agent.run()
    assert made(agent) == ["made"]  # OpenCode 1.18.33 says a line in its log


def test_a_tool_of_opencode_may_run_while_metacog_is_down_where_the_plugin_says_so(
    metacog: Any, agent_of: Start
) -> None:
    agent = agent_of("opencode", touches, "--wait", "1")
    agent.plugin.write_text(agent.plugin.read_text().replace("deadline", 'unreachable: "allow", deadline'))
    with metacog.down():
        agent.run()
    assert made(agent) == ["made"]


def test_opencode_without_an_address_of_metacog_runs_nothing(agent_of: Start) -> None:
    agent = agent_of("opencode", touches)
    agent.run(METACOG_API_KEY="")
    assert made(agent) == []
