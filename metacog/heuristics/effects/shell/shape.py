"""The shape of one simple command: what a grant for "the same kind of command" compares."""

from collections.abc import Sequence
from posixpath import dirname
from typing import Any

from ..effect import Effect
from ..programs import Applied


def shape(applied: Sequence[tuple[Applied, Sequence[Effect]]]) -> dict[str, Any] | None:
    """Program, subcommand, flags and effects by place of their objects; None for code or a second command."""
    if not applied or any(one.code or one.stdin for one, _ in applied) or not all(one.wraps for one, _ in applied[:-1]):
        return None
    last = applied[-1][0]
    if last.wraps:
        return None
    found: dict[str, Any] = {
        "program": " ".join(one.program for one, _ in applied),
        "subcommand": last.subcommand,
        "flags": sorted({flag for one, _ in applied for flag, _ in one.flags}),
        "effects": sorted({(effect.effect, _place(effect)) for _, effects in applied for effect in effects}),
    }
    found["effects"] = [list(pair) for pair in found["effects"]]
    if last.script:
        found["arguments"] = [word.text for word in last.operands]
        if any(not word.exact for word in last.operands):
            return None
    return found


def _place(effect: Effect) -> str:
    """Where the object is: in the workspace, its directory, its host, or itself."""
    if effect.object is None:
        return ""
    if effect.of == "path":
        return "workspace" if effect.inside else dirname(effect.object) or "."
    if effect.of == "url":
        return _host(effect.object)
    return effect.object


def _host(url: str) -> str:
    scheme, colons, rest = url.partition("://")
    return (rest if colons else scheme).split("/")[0].rsplit("@")[-1].lower()
