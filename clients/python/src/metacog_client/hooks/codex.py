"""What Codex itself says of its hooks: it skips those that nobody has trusted, or that have changed, without a word."""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from typing import IO, Any

ANSWER_SECONDS = 30.0
BEFORE, AFTER = "preToolUse", "postToolUse"
OURS = re.compile(r"\bhook codex\b")
EVERYTHING = (None, "", "*", ".*")  # matchers of every tool
TRUSTED = ("trusted", "managed")


class NotAsked(Exception):
    """Codex did not say which hooks it runs; the sentence says why."""


def hooks(folder: str) -> list[Mapping[str, Any]]:
    """Return the hooks that run metacog's as `codex app-server` lists them for a folder; NotAsked where it does not."""
    program = shutil.which("codex")
    if program is None:
        raise NotAsked("there is no codex on the PATH")
    try:
        entry = asked(program, folder)["data"][0]
        if entry["errors"]:
            raise NotAsked(f"it cannot read its settings: {entry['errors'][0]['message']}")
        return [hook for hook in entry["hooks"] if OURS.search(hook.get("command") or "")]
    except (OSError, KeyError, IndexError, TypeError, AttributeError):
        raise NotAsked("this release does not list its hooks in a way that is known here") from None


def asked(program: str, folder: str) -> Any:
    """Start `codex app-server`, and give what its `hooks/list` answers."""
    # A group of its own: npm's `codex` starts another program, which would live on with our pipe.
    process = subprocess.Popen(
        [program, "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    lines: queue.Queue[bytes | None] = queue.Queue()
    reader = threading.Thread(target=collect, args=(process.stdout, lines))
    reader.start()
    try:
        return answered(process.stdin, lines, folder)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        reader.join()
        process.communicate()


def answered(into: IO[bytes], lines: queue.Queue[bytes | None], folder: str) -> Any:
    for message in (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "metacog", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [folder]}},
    ):
        into.write(json.dumps(message).encode() + b"\n")
    into.flush()
    for told in messages(lines):
        if told.get("id") in (1, 2) and "error" in told:
            raise NotAsked(f"it answers {told['error'].get('message')}")
        if told.get("id") == 2:
            return told["result"]
    raise NotAsked(f"codex app-server gave no answer within {ANSWER_SECONDS:.0f} s, or ended")


def collect(out: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    for line in out:
        lines.put(line)
    lines.put(None)


def messages(lines: queue.Queue[bytes | None]) -> Iterator[dict[str, Any]]:
    """Give what comes within the time; what is no JSON object is left out."""
    end = time.monotonic() + ANSWER_SECONDS
    while (left := end - time.monotonic()) > 0:
        try:
            line = lines.get(timeout=left)
        except queue.Empty:
            return
        if line is None:
            return
        try:
            told = json.loads(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            yield told


def fault(hook: Mapping[str, Any], timeout: float) -> str:
    """Say why Codex would run a tool without this hook's answer; "" where it would not."""
    if hook["trustStatus"] not in TRUSTED:
        changed = " since it was changed" if hook["trustStatus"] == "modified" else ""
        return f"Codex does not trust the hook{changed}, and runs each tool without it: trust it in codex, by /hooks"
    if hook["enabled"] is not True:
        return "The hook is switched off in Codex, which runs each tool without it: switch it on in codex, by /hooks"
    if hook.get("async"):
        return "The hook is run in the background (async), where it holds nothing"
    if hook["timeoutSec"] < timeout:
        return f"Codex waits {hook['timeoutSec']} s for the hook, and runs the tool before it answers ({timeout:.0f} s)"
    if not hook["command"].rstrip().endswith("|| exit 2"):
        return "The hook's command does not end in `|| exit 2`: where it cannot start, Codex runs the tool"
    return ""


def check(timeout: float) -> tuple[list[str], list[str]]:
    """Ask Codex whether its hook holds each call in this folder: what is well, and what is not.

    `timeout` is the hook's own, in seconds, unless its command has one.
    """
    folder = os.getcwd()
    try:
        found = hooks(folder)
        before = [hook for hook in found if hook["eventName"] == BEFORE]
        if not before:
            return [], [f"Codex has no hook in {folder} that asks metacog before a tool: add what --settings prints"]
        faults = [fault(hook, timeout_of(hook["command"], timeout)) for hook in before]
        if all(faults):
            return [], faults
        good = before[faults.index("")]
        told = [f"Codex runs the hook before each tool in {folder}, and trusts it"]
        if good["matcher"] not in EVERYTHING:
            told = [f"Codex runs the hook before tools that are called {good['matcher']}, and trusts it"]
        if not any(hook["eventName"] == AFTER and not fault_after(hook) for hook in found):
            told.append("What becomes of a call is not reported: Codex does not run the hook after a tool")
        return told, []
    except NotAsked as why:
        return [], [f"Codex could not be asked whether it runs the hook: {why}"]
    except (KeyError, TypeError, ValueError):
        return [], ["Codex could not be asked whether it runs the hook: what it says of it is not known here"]


def fault_after(hook: Mapping[str, Any]) -> bool:
    return hook["trustStatus"] not in TRUSTED or hook["enabled"] is not True


def timeout_of(command: str, timeout: float) -> float:
    """Read the `--timeout` of a hook's command."""
    words = shlex.split(command)
    for at, word in enumerate(words):
        if word == "--timeout" and at + 1 < len(words):
            return float(words[at + 1])
        if word.startswith("--timeout="):
            return float(word.partition("=")[2])
    return timeout


def known(command: str, timeout: int, folder: str) -> tuple[str, str]:
    """Return the command of the hook that Codex has, where it does the same as `command`, and a word about trust.

    Codex trusts a command letter by letter, with its timeout. One with the same options whose program is still there
    stays as it is, from wherever `--settings` was run.
    """
    try:
        found = [hook for hook in hooks(folder) if hook["eventName"] == BEFORE]
    except NotAsked as why:
        return command, f"Codex runs this once you have trusted it, in /hooks (it could not be asked: {why})."
    options = command.partition("hook codex")[2]
    for hook in found:
        if hook["command"].partition("hook codex")[2] == options and runs(hook["command"]):
            if hook["timeoutSec"] == timeout:
                return hook["command"], f"Codex has this hook already ({hook['trustStatus']}): do not add it again."
            command = hook["command"]
    if found:
        return command, "Codex has another command or timeout: trust this one anew, in /hooks, or it is not run."
    return command, "Codex runs this once you have trusted it, in /hooks; `hook codex --check` says whether it does."


def runs(command: str) -> bool:
    words = shlex.split(command)
    return bool(words) and shutil.which(words[0]) is not None
