"""Arguments that are code: shell, SQL, words of a command, Python, GraphQL, edits; read by their grammars."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import edits, paths, sql, urls
from ..effect import Command, Effect
from ..programs import Programs
from ..shell import read as read_shell
from ..shell import read_argv
from . import graphql

MAX_LENGTH = 262_144  # characters of one argument that is read as code
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k|a)?sh")
_MAKES_SHELL = re.compile(r"-[a-z]*c")
_CHANGES = re.compile(
    r"\b(create|merge|set|delete|detach|remove|drop|call|load|foreach|insert|add[ve]|property)\b", re.I
)


class Room(NamedTuple):
    """Where code runs: the table of programs, the workspace, and the directory if it is known."""

    programs: Programs
    workspace: str | None = None
    cwd: str | None = None
    is_elsewhere: bool = False  # on another machine: none of its paths is in the workspace


class Code(NamedTuple):
    """Code as it was read; `argument` is a pointer below the argument's own, where the code is a part of it."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[Command, ...] = ()
    is_simple: bool = False
    shape: Mapping[str, Any] | None = None
    argument: str = ""


UNREAD = Code((Effect("unknown", detail="cannot be read"),))


def read(language: str, value: Any, room: Room) -> Code | None:
    """Read an argument as code; None: it is no text, or list of texts, of that language."""
    kind, _, more = language.partition(":")
    if isinstance(value, str) and len(value) > MAX_LENGTH:
        return UNREAD
    if kind in ("shell", "argv", "program"):
        return _command(value, room, more)
    if not isinstance(value, str):
        return UNREAD if kind == "edits" and value else None
    if kind == "sql":
        found = sql.read(value, more or None)
        return Code(found.effects, found.commands, found.is_simple, found.shape)
    if kind == "code":
        return _program(more, value, room)
    if kind == "edits":  # in an argument called otherwise than a patch only as Codex marks one
        return UNREAD if more and not edits.is_marked(value) else _edits(value, room)
    if kind == "graphql":
        done = graphql.read(value)
        return UNREAD if done is None else Code(tuple(Effect(each, start=0, end=len(value)) for each in done))
    if kind == "graph":
        changes = _CHANGES.search(value)
        return Code((Effect("write"), Effect("delete"), Effect("unknown")) if changes else (Effect("read"),))
    if kind == "typed":
        unread = (Effect("execute", start=0, end=len(value)), Effect("unknown", start=0, end=len(value)))
        return Code(unread if value else (), is_simple=not value)
    return None


def _command(value: Any, room: Room, program: str) -> Code | None:
    if isinstance(value, str):
        begin = ""
        if program and not re.match(rf"\s*(?:[\w/.-]*/)?{re.escape(program)}(?:\s|$)", value):
            begin = f"{program} "
        return _moved(_shell(begin + value, room), len(begin))
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value) or not value:
        return None
    words: Sequence[str] = [program, *value] if program and value[0] != program else value
    if sum(map(len, words)) > MAX_LENGTH:
        return UNREAD
    if len(words) == 3 and _SHELLS.fullmatch(words[0]) and _MAKES_SHELL.fullmatch(words[1]):
        return _shell(words[2], room)._replace(argument="/2")
    found = read_argv(words, programs=room.programs, workspace=room.workspace, cwd=room.cwd)
    return _elsewhere(Code(found.effects, found.commands, found.is_simple, found.shape), room)


def _shell(text: str, room: Room) -> Code:
    found = read_shell(text, programs=room.programs, workspace=room.workspace, cwd=room.cwd)
    return _elsewhere(Code(found.effects, found.commands, found.is_simple, found.shape), room)


def _elsewhere(code: Code, room: Room) -> Code:
    if not room.is_elsewhere:
        return code
    effects = [each._replace(inside=False) if each.of == "path" else each for each in code.effects]
    return code._replace(effects=tuple(effects), commands=(), shape=None)


def _moved(code: Code, by: int) -> Code:
    """Take back what was put in front of a text."""
    if not by:
        return code
    effects = tuple(
        each
        if each.start is None or each.end is None
        else each._replace(start=None, end=None)
        if each.end <= by
        else each._replace(start=max(0, each.start - by), end=each.end - by)
        for each in code.effects
    )
    commands = tuple(
        each._replace(start=max(0, each.start - by), end=each.end - by) for each in code.commands if each.end > by
    )
    return code._replace(effects=effects, commands=commands)


def _program(language: str, text: str, room: Room) -> Code:
    """Read code that an interpreter runs, by way of a shell that hands it over."""
    if language in ("shell", "bash", "sh", "zsh"):
        return _shell(text, room)
    interpreter = {"python": "python3", "python3": "python3", "py": "python3"}.get(language)
    if interpreter is None:
        return Code(
            (Effect("execute", start=0, end=len(text)), Effect("unknown", detail="code", start=0, end=len(text)))
        )
    found = read_argv([interpreter, "-c", text], programs=room.programs, workspace=room.workspace, cwd=room.cwd)
    return _elsewhere(Code(found.effects), room)


def _edits(text: str, room: Room) -> Code:
    found = edits.read(text)
    if found is None:
        return UNREAD
    effects = []
    for edit in found:
        name = paths.normal(edit.path, cwd=room.cwd, workspace=room.workspace)
        inside = not urls.read(name) and paths.is_inside(name, [room.workspace or "."])
        effects.append(Effect(edit.kind, name, "path", inside, edit.start, edit.end))
        if paths.is_secret(name):
            effects.append(Effect("secret", name, "path", inside, edit.start, edit.end))
    return Code(tuple(effects), is_simple=True)
