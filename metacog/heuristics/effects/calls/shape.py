"""What a grant for "the same kind of call" compares of calls that are no command."""

import json
from collections.abc import Mapping
from posixpath import dirname
from typing import Any
from urllib.parse import urlsplit

from ...text.strict_json import pointer
from ..effect import Effect
from .known import plain, words
from .told import Told

MAX_EFFECTS = 20
MAX_FLAG = 200  # characters of a value
_GRAVE = ("privilege", "publish", "irreversible", "execute", "install")


def shape_of(call: Told, arguments: Any) -> Mapping[str, Any] | None:
    """Give a call's shape: a command's or a statement's own, else which arguments it has and where its objects are.

    None where something is unknown, or where a free text decides what happens.
    """
    if call.decides or call.compound or not isinstance(arguments, Mapping):
        return None
    if any(effect.effect == "unknown" for effect in call.effects):
        return None
    effects = sorted({(effect.effect, place_of(effect)) for effect in call.effects})
    if len(effects) > MAX_EFFECTS:
        return None
    others = sorted(pointer([name]) for name in arguments)
    if not call.has_code:
        flags = _flags({kind for kind, _place in effects}, arguments, is_known=call.tool is not None)
        return {"arguments": others, "effects": [list(pair) for pair in effects], **({"flags": flags} if flags else {})}
    if len(call.shapes) != 1 or call.shapes[0] is None:
        return None
    cwd = call.settings.room.cwd
    return {**call.shapes[0], **({"cwd": cwd} if cwd else {})}


def _flags(kinds: set[str], arguments: Mapping[str, Any], *, is_known: bool) -> list[str]:
    """Give the values that say how it is done: numbers, true and false, roles, states; of rights and the like, all.

    Objects count whole, unless the tool is known: then what stands in them is.
    """
    if kinds <= {"read", "fetch"}:
        return []
    is_grave = not kinds.isdisjoint(_GRAVE)
    return sorted(
        f"{pointer([name])}={json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
        if isinstance(value, int | float)
        or (not is_known and _has_object(value))
        or (isinstance(value, str) and len(value) <= MAX_FLAG and (is_grave or plain(name) in words("flags")))
    )


def _has_object(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(map(_has_object, value)))


def place_of(effect: Effect) -> str:
    """Say where an effect's object is: in the workspace, in its folder, at its host, in its domain; else itself."""
    if effect.object is None:
        return ""
    if effect.of == "path" and effect.effect != "secret":
        return "workspace" if effect.inside else dirname(effect.object) or "."
    if effect.of == "url":
        parts = urlsplit(effect.object)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
    if effect.of == "address":
        return "@" + effect.object.rpartition("@")[2]
    return effect.object
