"""Commands that open a shell, an interpreter or a client to type into: what is typed there is no call of its own.

Codex's `write_stdin`, for one, never reaches a hook, so the command that opens the session is the last that is seen.
"""

import re
from collections.abc import Mapping
from typing import Any

from ..programs import Applied
from .state import Given

OPENS = "opens a session to type into"
_TERMINAL = frozenset({"tty", "pty", "use_pty", "usePty"})  # arguments of tools that run a command
_ASKED_FOR = frozenset({"-i", "--interactive", "-t", "--tty"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose"})
_INTERPRETERS = ("python", "pypy", "ipython", "node", "php", "ruby", "perl", "lua", "deno", "bun")
# Whose row in the table says `unknown` where they are given nothing to do.
_CLIENTS = """
    ssh slogin mosh telnet nc ncat netcat socat sftp ftp tftp ncftp lftp smbclient cadaver redis-cli valkey-cli
    keydb-cli mongosh mongo gdb lldb pdb sudo doas su runuser pkexec login tmux screen zellij script expect docker
    podman nerdctl kubectl oc vagrant minikube colima multipass lxc eb cf railway tailscale heroku fly flyctl gcloud
    vi vim nvim view ed ex emacs rails manage.py django-admin flask artisan iex erl
"""
CLIENTS = frozenset(_CLIENTS.split())
_TYPED_INTO = CLIENTS | _CONTAINERS
EDITORS = frozenset({"vi", "vim", "nvim"})
QUITS = re.compile(r"(?:.*\|\s*)?(?:wqa?|x|xa|xit|q|qa|qall|wqall|quit)!?\s*", re.DOTALL)


def opens(applied: Applied, given: Given | None) -> bool:
    """Whether a command that is given nothing to read and nothing to run waits for what is typed."""
    program = applied.program
    if program in EDITORS:  # whatever it is given, it goes on unless that ends it
        looks = all(found.effect == "read" for found in applied.found)
        return not (looks or any(QUITS.fullmatch(word.text) for _, word in applied.code))
    if given is not None:
        return False
    if program == "iex" and applied.runs:  # whatever it runs, it goes on unless that ends it
        return not any("System.halt" in word.text for command in applied.runs for word in command)
    if program in {"clojure", "clj"} and not (applied.flags or applied.operands):
        return True
    if applied.runs or applied.code or applied.stdin:
        return False
    if not (program in _TYPED_INTO or program.startswith(_INTERPRETERS)):
        return False
    flags = {flag for flag, _ in applied.flags}
    if "-N" in flags:
        return False
    if program in _CONTAINERS and not flags.isdisjoint(_ASKED_FOR):
        return applied.subcommand.split(" ")[-1] in ("run", "exec", "start", "debug")
    is_unknown = any(found.effect == "unknown" and found.word is None and not found.detail for found in applied.found)
    return is_unknown and (program in CLIENTS or ("-i" in flags and program.startswith(_INTERPRETERS)))


def terminals(arguments: Mapping[str, Any]) -> list[str]:
    """Name the arguments that ask for a terminal to run a command in: `{"cmd": "ls", "tty": true}`."""
    return [key for key, value in arguments.items() if value is True and key in _TERMINAL]
