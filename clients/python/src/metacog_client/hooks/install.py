"""The settings by which Claude Code and Codex run the hook."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from argparse import Namespace

from . import codex
from .dialects import DIALECTS, EVENT

AFTER_SECONDS = 20  # for a hook that says what became of a call
BEFORE_FAILS, AFTER_FAILS = " || exit 2", " || exit 1"


def settings_of(given: Namespace, arguments: list[str]) -> tuple[str, str]:
    """Return the program's settings that run this very command before each tool, and after it; and what to say of them.

    A hook that cannot be started, or fails before it can say so, would let the tool run: `|| exit 2` does not. What
    fails after the tool was used is told to a person, and no more.
    """
    command = shlex.join([*this_program(), "hook", *(each for each in arguments if each != "--settings")])
    dialect, said = DIALECTS[given.program], ""
    timeout = int(float(given.timeout or dialect.timeout))
    if given.program == "codex":
        before, said = codex.known(command + BEFORE_FAILS, timeout, os.getcwd())
        command = before.removesuffix(BEFORE_FAILS)
    hooks = {EVENT: (command + BEFORE_FAILS, timeout)}
    hooks |= dict.fromkeys(dialect.after, (command + AFTER_FAILS, AFTER_SECONDS))
    if given.program == "codex":
        told = "".join(
            f"[[hooks.{event}]]\n[[hooks.{event}.hooks]]\n"
            f'type = "command"\ncommand = {json.dumps(told)}\ntimeout = {seconds}\n'
            for event, (told, seconds) in hooks.items()
        )
        return told, said
    entries = {
        event: [{"matcher": "*", "hooks": [{"type": "command", "command": told, "timeout": seconds}]}]
        for event, (told, seconds) in hooks.items()
    }
    return json.dumps({"hooks": entries}, indent=2) + "\n", said


def this_program() -> list[str]:
    """Return how this program is called from anywhere: by its name where the PATH has it, else by its place."""
    path = os.path.abspath(sys.argv[0])
    folder, name = os.path.split(path)
    if name == "__main__.py":  # `python -m …`
        return [sys.executable, "-m", os.path.basename(folder)]
    if (found := shutil.which(name)) and os.path.samefile(found, path):
        return [name]
    return [path] if os.access(path, os.X_OK) and not name.endswith(".py") else [sys.executable, path]
