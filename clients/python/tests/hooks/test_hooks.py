"""The hooks of Claude Code and Codex, run as those run them, with inputs as they send them, against a real metacog."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tomllib

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
HOOK = [sys.executable, "-m", "metacog_client", "hook"]
EDITED = {
    "claude-code-bash": {"command": "npm publish --dry-run", "description": "Try it"},
    "codex-bash": {"command": "npm publish --dry-run"},
}
LONGEST = 30.0  # seconds, on a busy machine, to start a hook that gives up after a few
BOTH = pytest.mark.parametrize("recorded", ["claude-code-bash", "codex-bash"])


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what hooks remember out of the user's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


class Ran(NamedTuple):
    """How a hook ended, and what the program is told: `{}` where standard output was empty."""

    status: int
    told: dict[str, Any]
    error: str

    @property
    def does(self) -> str:
        return str(self.told.get("permissionDecision", "nothing"))

    @property
    def why(self) -> str:
        return str(self.told.get("permissionDecisionReason", ""))


def read(recorded: str, **changed: Any) -> dict[str, Any]:
    """Return a recorded input as a call that no other test has."""
    told: dict[str, Any] = json.loads((HERE / "recorded" / f"{recorded}.json").read_text())
    new = {"session_id": str(uuid.uuid4()), "tool_use_id": f"toolu_{uuid.uuid4().hex}"}
    return told | {name: value for name, value in new.items() if name in told} | changed


def begin(recorded: str, told: Any, *options: str, **surroundings: str) -> subprocess.Popen[bytes]:
    program = recorded.rpartition("-")[0] if recorded.startswith("claude") else "codex"
    process = subprocess.Popen(
        [*HOOK, program, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **surroundings},
    )  # fmt: skip
    assert process.stdin
    process.stdin.write(told if isinstance(told, bytes) else json.dumps(told).encode())
    process.stdin.close()
    process.stdin = None
    return process


def end(process: subprocess.Popen[bytes]) -> Ran:
    out, error = process.communicate(timeout=120)
    printed = json.loads(out) if out else {"hookSpecificOutput": {}}
    assert list(printed) == ["hookSpecificOutput"]
    told = printed["hookSpecificOutput"]
    assert told.get("hookEventName", "PreToolUse") == "PreToolUse"
    assert os.environ["METACOG_API_KEY"] not in out.decode() + error.decode()
    return Ran(process.returncode, told, error.decode())


def hook(recorded: str, told: Any, *options: str, **surroundings: str) -> Ran:
    return end(begin(recorded, told, *options, **surroundings))


@BOTH
def test_what_a_person_approves_is_let_through_as_it_is(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    deciding = metacog.decide_next("approve", call["session_id"])
    ran = hook(recorded, call)
    deciding.join()
    # To Codex an allow that changes nothing is an error, behind which it would do as it likes: it is told nothing.
    assert (ran.status, ran.does) == (0, "allow" if recorded.startswith("claude") else "nothing")
    assert "updatedInput" not in ran.told
    assert ran.error == ""


@pytest.mark.parametrize("default", ["ask", "allow"])
def test_strict_refuses_what_opens_a_session_to_type_into(metacog: Any, default: str) -> None:
    metacog.policy(default_tool_call=default)
    try:
        call = read("codex-bash", tool_input={"command": "python3"})
        ran = hook("codex-bash", call, "--strict")
        assert (ran.status, ran.does) == (0, "deny")
        assert ran.why.startswith("This opens a session to type into, which no hook sees, so it was not done.")
        assert metacog.pending(call["session_id"]) == []
        other = read("codex-bash", tool_input={"command": "python3 x.py"})
        deciding = default == "ask" and metacog.decide_next("approve", other["session_id"])
        assert hook("codex-bash", other, METACOG_HOOK_STRICT="1").does == "nothing"
        if deciding:
            deciding.join()
    finally:
        metacog.policy(default_tool_call="ask")


@BOTH
def test_what_a_person_edits_is_handed_back_whole(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    deciding = metacog.decide_next("edit", call["session_id"], arguments=EDITED[recorded], reason="Try first.")
    ran = hook(recorded, call)
    deciding.join()
    assert (ran.status, ran.does, ran.told["updatedInput"]) == (0, "allow", EDITED[recorded])
    assert "Try first." in ran.told["additionalContext"]


@BOTH
def test_what_a_person_rejects_is_denied_with_the_reason(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    deciding = metacog.decide_next("reject", call["session_id"], reason="Not on a Friday.")
    ran = hook(recorded, call)
    deciding.join()
    assert (ran.status, ran.does) == (0, "deny")
    assert "Not on a Friday." in ran.why


@BOTH
def test_what_expires_is_denied(metacog: Any, recorded: str) -> None:
    metacog.policy(expiry_seconds=1)
    try:
        ran = hook(recorded, read(recorded))
    finally:
        metacog.policy(expiry_seconds=604_800)
    assert (ran.status, ran.does) == (0, "deny")
    assert "expired" in ran.why


def test_nothing_runs_while_metacog_is_down(metacog: Any) -> None:
    with metacog.down():
        began = time.monotonic()
        running = [
            begin(each, read(each), "--timeout", "12", "--wait", "2") for each in ("claude-code-bash", "codex-bash")
        ]
        for ran in map(end, running):
            assert (ran.status, ran.does) == (0, "deny")
            assert ran.why.startswith("metacog could not be asked, so this was not done: ")
        assert time.monotonic() - began < LONGEST


@BOTH
def test_a_call_that_comes_too_often_waits_for_its_turn(metacog: Any, recorded: str) -> None:
    metacog.policy(default_tool_call="deny")
    try:
        with metacog.limit(1):
            running = [begin(recorded, read(recorded)) for _ in range(3)]
            ends = [end(each) for each in running]
            late = hook(recorded, read(recorded), "--wait", "1")
    finally:
        metacog.policy(default_tool_call="ask")
    assert [(ran.does, "a rule forbids" in ran.why) for ran in ends] == [("deny", True)] * 3
    assert (late.status, late.does) == (0, "deny")


@BOTH
def test_a_hook_that_was_killed_asks_about_the_same_item_again(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    killed = begin(recorded, call)
    held = metacog.next_pending(call["session_id"])
    killed.kill()
    killed.wait()
    again = begin(recorded, call)
    time.sleep(0.3)  # it asks again meanwhile, of which nothing can be seen: its item is the same
    metacog.decide(held["id"], "edit", arguments=EDITED[recorded])
    ran = end(again)
    assert ran.told["updatedInput"] == EDITED[recorded]
    assert metacog.pending(call["session_id"]) == []
    assert hook(recorded, call).told["updatedInput"] == EDITED[recorded]  # and once it is decided, too
    assert metacog.item(held["id"])["asks"] == 1


@BOTH
def test_what_nobody_decides_in_time_is_denied_before_the_hooks_own_timeout(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    began = time.monotonic()
    ran = hook(recorded, call, "--timeout", "8")  # enough for metacog's answer, too
    assert time.monotonic() - began < LONGEST
    assert (ran.status, ran.does) == (0, "deny")
    (held,) = metacog.pending(call["session_id"])
    assert (
        ran.why
        == f"Nobody has decided this in metacog within 4 s, so it was not done: {metacog.url}/queue/{held['id']}/"
    )


def test_a_server_that_accepts_and_says_nothing_makes_nobody_late() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        ran = hook("codex-bash", read("codex-bash"), "--timeout", "3", METACOG_URL=url)
    assert time.monotonic() - began < LONGEST
    assert (ran.status, ran.does) == (0, "deny")


def test_a_headless_call_is_deferred_and_decided_when_the_session_is_resumed(metacog: Any) -> None:
    call = read("claude-code-bash")
    ran = hook("claude-code-bash", call, "--late", "defer", "--wait", "2", CLAUDE_PROJECT_DIR="/home/dev/shop")
    assert (ran.status, ran.does) == (0, "defer")
    (held,) = metacog.pending(call["session_id"])
    # `claude -p --resume` tells of the same call in surroundings that need not be the same.
    del call["prompt_id"]
    resumed = call | {"cwd": "/home/dev", "permission_mode": "acceptEdits"}
    again = hook("claude-code-bash", resumed, "--late", "defer", "--wait", "2", CLAUDE_PROJECT_DIR="/home/dev/shop")
    assert again.does == "defer"
    assert [each["id"] for each in metacog.pending(call["session_id"])] == [held["id"]]
    metacog.decide(held["id"], "edit", arguments=EDITED["claude-code-bash"])
    done = hook("claude-code-bash", resumed, "--late", "defer", CLAUDE_PROJECT_DIR="/home/dev/shop")
    assert (done.does, done.told["updatedInput"]) == ("allow", EDITED["claude-code-bash"])


def test_nothing_is_deferred_where_it_might_run_all_the_same(metacog: Any) -> None:
    call = read("claude-code-bash", permission_mode="bypassPermissions")
    assert hook("claude-code-bash", call, "--late", "defer", "--wait", "2").does == "deny"


def test_whoever_sits_at_the_terminal_is_asked_and_the_item_withdrawn(metacog: Any) -> None:
    call = read("claude-code-bash")
    ran = hook("claude-code-bash", call, "--late", "ask", "--wait", "2")
    assert (ran.status, ran.does) == (0, "ask")
    assert metacog.pending(call["session_id"]) == []


@pytest.mark.parametrize("recorded", ["claude-code-write", "claude-code-mcp", "codex-apply-patch", "codex-mcp"])
def test_every_tools_arguments_come_before_the_person_whole(metacog: Any, recorded: str) -> None:
    call = read(recorded)
    deciding = metacog.decide_next("approve", call["session_id"])
    ran = hook(recorded, call, TRACEPARENT="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    deciding.join()
    assert ran.does == ("allow" if recorded.startswith("claude") else "nothing")


def test_what_is_no_text_that_could_be_shown_is_denied(metacog: Any) -> None:
    half = {"file_path": "/home/dev/shop/prices.csv", "content": "half of a pair: \ud83d"}
    ran = hook("claude-code-write", read("claude-code-write", tool_input=half))
    assert (ran.status, ran.does) == (0, "deny")


@pytest.mark.parametrize(
    ("recorded", "options", "does"),
    [
        ("claude-code-bash", (), "nothing"),
        ("claude-code-bash", ("--passed", "allow"), "allow"),
        ("codex-bash", ("--passed", "allow"), "nothing"),
    ],
)
def test_what_is_not_held_is_left_to_the_programs_own_rules(
    metacog: Any, recorded: str, options: tuple[str, ...], does: str
) -> None:
    metacog.policy(default_tool_call="allow")
    try:
        ran = hook(recorded, read(recorded), *options)
    finally:
        metacog.policy(default_tool_call="ask")
    assert (ran.status, ran.does, ran.error) == (0, does, "")


@pytest.mark.parametrize(
    ("told", "status", "says"),
    [
        (b"", 2, "its input is no JSON"),
        (b"[]", 2, "its input is no JSON object"),
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}, 2, "its input has no session_id"),
        (read("claude-code-bash", tool_input="rm"), 2, "its input has no tool_input"),
        (read("claude-code-stop"), 1, "is not one of PreToolUse, PostToolUse"),
    ],
)
def test_an_input_that_is_not_understood_lets_nothing_run(told: Any, status: int, says: str) -> None:
    for recorded in ("claude-code-bash", "codex-bash"):
        ran = hook(recorded, told)
        assert (ran.status, ran.told) == (status, {})
        assert says in ran.error
        assert ran.error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "surroundings", "says"),
    [
        ((), {"METACOG_URL": ""}, "There is no address (METACOG_URL) of metacog."),
        ((), {"METACOG_API_KEY": ""}, "There is no key (METACOG_API_KEY) of metacog."),
        (("--late", "later"), {}, "late is 'later', not deny or defer or ask."),
        ((), {"METACOG_HOOK_TIMEOUT": "ten"}, "timeout is 'ten', not a number of seconds."),
        (("--key-file", "/nowhere/key"), {}, "/nowhere/key cannot be read"),
        (("--unknown",), {}, "unrecognized arguments: --unknown"),
    ],
)
def test_settings_that_cannot_be_used_block_the_tool_and_say_why(
    options: tuple[str, ...], surroundings: Mapping[str, str], says: str
) -> None:
    ran = hook("claude-code-bash", read("claude-code-bash"), *options, **surroundings)
    assert (ran.status, ran.told) == (2, {})
    assert says in ran.error


def test_the_key_may_lie_in_a_file_and_a_wrong_one_is_not_repeated(metacog: Any, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{metacog.api_key}\n")
    call = read("claude-code-bash")
    deciding = metacog.decide_next("approve", call["session_id"])
    assert hook("claude-code-bash", call, "--key-file", str(file), METACOG_API_KEY="").does == "allow"
    deciding.join()
    ran = hook("claude-code-bash", call, METACOG_API_KEY="mck_of-somebody-else")
    assert (ran.status, ran.does) == (0, "deny")
    assert "mck_of" not in ran.why + ran.error


def test_a_hook_that_is_stopped_blocks_the_tool(metacog: Any) -> None:
    call = read("claude-code-bash")
    stopped = begin("claude-code-bash", call)
    metacog.next_pending(call["session_id"])
    stopped.send_signal(signal.SIGTERM)
    ran = end(stopped)
    assert (ran.status, ran.told) == (2, {})
    assert "stopped" in ran.error


@BOTH
def test_the_settings_that_are_printed_run_this_hook(metacog: Any, recorded: str) -> None:
    program = "codex" if recorded.startswith("codex") else "claude-code"
    here = os.environ | {"PYTHONPATH": str(SOURCE)}
    options = [program, "--timeout", "90"]
    printed = subprocess.run([*HOOK, *options, "--settings"], env=here, capture_output=True, text=True, check=True)
    again = subprocess.run([*HOOK, *options, "--settings"], env=here, capture_output=True, text=True, check=True)
    assert again.stdout == printed.stdout
    if program == "codex":
        told = tomllib.loads(printed.stdout)["hooks"]
        assert list(told) == ["PreToolUse", "PostToolUse"]
    else:
        told = json.loads(printed.stdout)["hooks"]
        assert list(told) == ["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    entry, *later = [group["hooks"][0] for (group,) in told.values()]
    for each in later:
        assert each["command"] == entry["command"].replace("|| exit 2", "|| exit 1")
    assert (entry["type"], entry["timeout"]) == ("command", 90)
    assert entry["command"].endswith(f"hook {program} --timeout 90 || exit 2")
    call = read(recorded)
    deciding = metacog.decide_next("edit", call["session_id"], arguments=EDITED[recorded])
    shell = subprocess.run(
        ["sh", "-c", entry["command"]], env=here, capture_output=True, input=json.dumps(call).encode()
    )
    deciding.join()
    assert json.loads(shell.stdout)["hookSpecificOutput"]["updatedInput"] == EDITED[recorded]
    gone = entry["command"].replace("metacog_client", "metacog_gone")
    assert subprocess.run(["sh", "-c", gone], env=here, capture_output=True, input=b"{}").returncode == 2


@pytest.mark.parametrize("program", ["claude-code", "codex"])
def test_little_is_imported_before_there_is_a_question(program: str) -> None:
    here = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [HOOK[0], "-X", "importtime", *HOOK[1:], program]
    ran = subprocess.run(command, env=here, capture_output=True, text=True, input="{}")
    assert "metacog_client.hooks.command" in ran.stderr
    assert not [name for name in ("django", "httpx2", "asyncio", "anyio") if f" {name}\n" in ran.stderr]


def test_it_says_whether_metacog_can_be_asked(metacog: Any) -> None:
    here = os.environ | {"PYTHONPATH": str(SOURCE)}
    told = subprocess.run([*HOOK, "claude-code", "--check"], env=here, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, f"metacog answers at {metacog.url}, and knows the key.\n")
    without = here | {"PATH": "/nowhere"}  # Codex runs no hook that it does not trust: who cannot ask it knows nothing
    told = subprocess.run([*HOOK, "codex", "--check"], env=without, capture_output=True, text=True)
    assert told.returncode == 1
    assert "there is no codex on the PATH" in told.stderr
    wrong = here | {"METACOG_API_KEY": "mck_of-somebody-else"}
    told = subprocess.run([*HOOK, "codex", "--check"], env=wrong, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("metacog cannot be asked: ")


def test_two_calls_that_are_the_same_need_an_approval_each(metacog: Any) -> None:
    first = read("claude-code-bash")
    second = first | {"tool_use_id": f"toolu_{uuid.uuid4().hex}"}
    running = [begin("claude-code-bash", first, "--wait", "60")]
    held = metacog.next_pending(first["session_id"])
    running.append(begin("claude-code-bash", second, "--wait", "60"))
    metacog.until(lambda: metacog.item(held["id"])["asks"] == 2, "it was not asked twice")
    metacog.decide(held["id"], "approve")
    metacog.decide_next("reject", first["session_id"])
    assert sorted(end(each).does for each in running) == ["allow", "deny"]


def after(call: dict[str, Any], event: str = "PostToolUse", **told: Any) -> dict[str, Any]:
    return call | {"hook_event_name": event} | told


def approved(metacog: Any, recorded: str) -> tuple[dict[str, Any], str]:
    """Return a call that its hook has let through, and its item."""
    call = read(recorded)
    running = begin(recorded, call)
    held = metacog.next_pending(call["session_id"])["id"]
    metacog.decide(held, "edit", arguments=EDITED[recorded])
    assert end(running).does == "allow"
    return call | {"tool_input": EDITED[recorded]}, held


@pytest.mark.parametrize(
    ("recorded", "event", "told", "status", "detail"),
    [
        ("claude-code-bash", "PostToolUse", {"tool_response": {"stdout": "ok", "interrupted": False}}, "done", ""),
        ("claude-code-bash", "PostToolUse", {"tool_response": {"interrupted": True}}, "failed", "interrupted"),
        ("claude-code-bash", "PostToolUseFailure", {"error": "Exit code 1\nno"}, "failed", "Exit code 1\nno"),
        ("codex-bash", "PostToolUse", {"tool_response": "Exit code: 0\nOutput:\nok"}, "done", "exit 0"),
        ("codex-bash", "PostToolUse", {"tool_response": '{"metadata": {"exit_code": 3}}'}, "failed", "exit 3"),
        ("codex-bash", "PostToolUse", {"tool_response": {"isError": True}}, "failed", ""),
        ("codex-bash", "PostToolUse", {"tool_response": "é" * 20_000}, "done", ""),
    ],
)
def test_what_became_of_an_approved_call_is_reported(
    metacog: Any, recorded: str, event: str, told: dict[str, Any], status: str, detail: str
) -> None:
    call, held = approved(metacog, recorded)
    for _ in range(2):  # told of again, it is reported already
        assert hook(recorded, after(call, event, **told)) == (0, {}, "")
    outcome = metacog.item(held)["outcome"]
    assert (outcome["status"], outcome["detail"]) == (status, detail)
    given = told.get("tool_response")
    assert outcome["result"] == given or (given.startswith(outcome["result"]) and len(outcome["result"]) > 5_000)


def test_a_report_that_fails_is_one_line_and_a_later_one_is_taken(metacog: Any) -> None:
    call, held = approved(metacog, "claude-code-bash")
    with metacog.down():
        ran = hook("claude-code-bash", after(call, tool_response={}))
    assert (ran.status, ran.told, ran.error.count("\n")) == (1, {}, 1)
    assert ran.error.startswith("metacog was not told what became of this call: ")
    assert hook("claude-code-bash", after(call, tool_response={})).status == 0
    assert metacog.item(held)["outcome"]["status"] == "done"


@BOTH
def test_of_a_call_that_nobody_approved_nothing_is_reported(metacog: Any, recorded: str) -> None:
    assert hook(recorded, after(read(recorded), tool_response="ok")) == (0, {}, "")
