"""The door: read a whole tool call, its name and each of its arguments as what it is."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from .. import built
from ..effect import BUILT, Effect, Reading
from ..pointers import at, names_of
from ..programs import Programs
from ..servers import is_trusted, server_of
from .call import Call
from .code import Room
from .known import Steps
from .shape import shape_of
from .told import Settings, Told

_UNREAD = Reading((Effect("unknown", detail="cannot be read"),), frozenset([""]))


class Reader:
    """Reads calls under a policy's settings; built once, then unchanged, so that threads may share it."""

    def __init__(
        self,
        *,
        readers: Mapping[str, Mapping[str, str]] | None = None,
        programs: Sequence[Mapping[str, Any]] = (),
        workspace: str | None = None,
        trusted: Sequence[str] = (),
    ) -> None:
        """Take a policy's `readers`, `programs` and trusted servers, and the folder that paths are relative to."""
        self.settings = repr((readers or {}, programs, workspace, trusted))
        self._readers = [
            (tool, {tuple(names_of(place) or ()): language for place, language in places.items()})
            for tool, places in (readers or {}).items()
        ]
        self._room = Room(Programs(programs), workspace)
        self._trusted = tuple(trusted)

    def read(
        self,
        name: str,
        arguments: Any,
        *,
        schema: Mapping[str, Any] | None = None,
        description: str | None = None,
        hints: Mapping[str, Any] | None = None,
    ) -> Reading:
        """Read a call; what cannot be read is `unknown`, never an exception.

        `hints` are the tool's MCP annotations: they add effects, and take some away for a server that is trusted.
        """
        try:
            call = Call(name, Settings(self._room, self._given(name)), schema, description or "")
            call.read(arguments, name[len(name) - len(_own(name)) :])
            if hints:
                _hint(call, hints, is_trusted=is_trusted(name, self._trusted))
            effects = [
                self._marked(effect, arguments) if effect.effect == "delete" else effect for effect in call.effects
            ]
            return Reading(
                tuple(dict.fromkeys(effects)),
                frozenset(call.compound),
                shape_of(call, arguments),
                tuple(call.commands),
            )
        except Exception:  # whatever a grammar stumbles over: nobody may pass by making it stumble
            return _UNREAD

    def _marked(self, effect: Effect, arguments: Any) -> Effect:
        """Mark a delete of what a build makes again."""
        if effect.of != "path" or effect.detail or not effect.inside:
            return effect
        _, text = at(arguments, names_of(effect.argument) or ())
        beside = text if isinstance(text, str) else ""
        is_output = built.is_output(effect.object or "", self._room.workspace, beside)
        return effect._replace(detail=BUILT) if is_output else effect

    def _given(self, name: str) -> dict[Steps, str]:
        """Give what the policy says of a tool's arguments."""
        found: dict[Steps, str] = {}
        for tool, places in self._readers:
            if fnmatchcase(name, tool):
                found |= {place: language for place, language in places.items() if place not in found}
        return found


def _own(name: str) -> str:
    """Give a tool's name without its server."""
    server = server_of(name)
    return name[name.index(server) + len(server) :].lstrip("_:/#") if server else name


def _hint(call: Told, hints: Mapping[str, Any], *, is_trusted: bool) -> None:
    kinds = {effect.effect for effect in call.effects}
    if is_trusted and hints.get("readOnlyHint") is True and not call.has_code:
        call.effects = [Effect("read") if each.effect not in ("read", "fetch") else each for each in call.effects]
        return
    if hints.get("destructiveHint") is True and "delete" not in kinds:
        call.effects.append(Effect("delete", detail="destructiveHint"))
    if hints.get("readOnlyHint") is False and kinds <= {"read", "fetch"}:
        call.effects.append(Effect("write", detail="readOnlyHint"))
    if hints.get("openWorldHint") is True and not kinds & {"fetch", "send", "publish"}:
        call.effects.append(Effect("fetch" if kinds <= {"read"} else "send", detail="openWorldHint"))
