"""The settings by which Claude Code and Codex run the hook."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from argparse import Namespace

from .dialects import DIALECTS


def settings_of(given: Namespace, arguments: list[str]) -> str:
    """Return the program's settings that run this very command before each tool.

    A hook that cannot be started, or fails before it can say so, would let the tool run: `|| exit 2` does not.
    """
    command = (
        f"{shlex.join([*this_program(), 'hook', *(each for each in arguments if each != '--settings')])} || exit 2"
    )
    timeout = int(float(given.timeout or DIALECTS[given.program].timeout))
    if given.program == "codex":
        return (
            "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n"
            f'type = "command"\ncommand = {json.dumps(command)}\ntimeout = {timeout}\n'
        )
    hook = {"type": "command", "command": command, "timeout": timeout}
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}, indent=2) + "\n"


def this_program() -> list[str]:
    """Return how this program is called from anywhere: by its name where the PATH has it, else by its place."""
    path = os.path.abspath(sys.argv[0])
    folder, name = os.path.split(path)
    if name == "__main__.py":  # `python -m …`
        return [sys.executable, "-m", os.path.basename(folder)]
    if (found := shutil.which(name)) and os.path.samefile(found, path):
        return [name]
    return [path] if os.access(path, os.X_OK) and not name.endswith(".py") else [sys.executable, path]
