"""The door: read a whole tool call, its name and each of its arguments as what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ..text.strict_json import pointer
from . import amounts, mail, sql, urls
from .effect import KINDS, Command, Effect, Kind, ObjectKind, Reading
from .names import Named, named, split

MAX_DEPTH = 12
MAX_PARTS = 2_000  # of a call's arguments: values and names
MAX_CODE = 262_144  # characters of one argument that is read as code
MAX_OBJECTS = 200  # that one effect is said of
_PATH = re.compile(r"[~/.]|[\w.-]+[/\\]|[A-Za-z]:\\|[\w-]+\.\w{1,5}$")
_HTTP = {
    "get": ("fetch",),
    "head": ("fetch",),
    "options": ("fetch",),
    "trace": ("fetch",),
    "post": ("write", "send"),
    "put": ("write", "send"),
    "patch": ("write", "send"),
    "delete": ("delete", "send"),
}
_OBJECTS: dict[Kind, tuple[ObjectKind, ...]] = {
    "read": ("path", "table", "name"),
    "write": ("path", "table", "name"),
    "delete": ("path", "table", "url", "name"),
    "fetch": ("url", "host"),
    "send": ("address", "url", "host", "name"),
    "pay": ("amount",),
}
Place = tuple[str | int, ...]


@cache
def _known() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("known.json").read_bytes())
    data["keys"] = {
        key: language
        for language, keys in data["arguments"].items()
        if language != "source"
        for key in reversed(keys.split())
    }
    return data


@dataclass(slots=True)
class _Target:
    """Something that an argument names, which the call's effects are on; `effect` where the argument itself says it."""

    object: str
    of: ObjectKind
    place: Place
    start: int | None = None
    end: int | None = None
    inside: bool | None = None
    detail: str = ""
    effect: Kind | None = None


@dataclass(slots=True)
class _Scope:
    """What is done, and to what: a call's, or that of one operation in a list of them."""

    effects: tuple[Kind, ...] = ()
    is_clear: bool = False
    targets: list[_Target] = field(default_factory=list)


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
        self._readers = [
            (tool, {tuple(_names(place)): language for place, language in places.items()})
            for tool, places in (readers or {}).items()
        ]
        self._programs = programs
        self._workspace = workspace
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
        """Read a call; what cannot be read is `unknown`, never an exception."""
        try:
            return _Call(self, name).read(arguments)
        except Exception:  # whatever a grammar stumbles over: nobody may pass by making it stumble
            return Reading((Effect("unknown", detail="cannot be read"),))

    def given(self, name: str) -> dict[tuple[str, ...], str]:
        """Give what the policy says of a tool's arguments."""
        found: dict[tuple[str, ...], str] = {}
        for tool, places in self._readers:
            if fnmatchcase(name, tool):
                found |= {place: language for place, language in places.items() if place not in found}
        return found


class _Call:
    def __init__(self, reader: Reader, name: str) -> None:
        self.reader = reader
        self.named: Named = named(name)
        self.given = reader.given(name)
        self.effects: list[Effect] = []
        self.commands: list[Command] = []
        self.compound: set[str] = set()
        self.scope = _Scope(self.named.effects, self.named.is_clear)
        self.left = MAX_PARTS
        self.has_code = False

    def read(self, arguments: Any) -> Reading:
        self._walk(arguments, (), "", {}, self.scope)
        self._say(self.scope)
        if self.left <= 0:
            self.effects.append(Effect("unknown", detail="too many arguments"))
        return Reading(tuple(dict.fromkeys(self.effects)), frozenset(self.compound), None, tuple(self.commands))

    def _walk(self, value: Any, place: Place, key: str, beside: Mapping[str, Any], scope: _Scope) -> None:
        self.left -= 1
        if self.left <= 0 or len(place) > MAX_DEPTH:
            self.left = 0
            return
        language = self._language(place, key, value)
        if language and self._has_read(language, value, place, key, beside, scope):
            return
        if isinstance(value, Mapping):
            scope = self._scope_of(value, place, scope)
            for name, part in value.items():
                self._walk(part, (*place, str(name)), str(name), value, scope)
        elif isinstance(value, list | tuple):
            for at, part in enumerate(value):
                self._walk(part, (*place, at), key, beside, scope)

    def _language(self, place: Place, key: str, value: Any) -> str | None:
        for names, language in self.given.items():
            if len(names) == len(place) and all(
                name in ("*", str(step)) for name, step in zip(names, place, strict=True)
            ):
                return language
        return _guess(key) if place else None

    def _has_read(
        self, language: str, value: Any, place: Place, key: str, beside: Mapping[str, Any], scope: _Scope
    ) -> bool:
        kind, _, more = language.partition(":")
        if kind in ("shell", "sql", "argv", "code"):
            if isinstance(value, str) or kind in ("argv", "shell"):
                self._code(kind, value, more, place)
                return True
            return False
        if kind == "amount":
            if (amount := amounts.read(value, key, beside)) is None:
                return False
            scope.targets.append(_Target(str(amount), "amount", place))
            return True
        if not isinstance(value, str):
            return False
        if kind == "mail":
            scope.targets += [
                _Target(each.address, "address", place, each.start, each.end, None, each.detail)
                for each in mail.read(value)
            ]
        elif kind == "url" and (address := urls.read(value)):
            scope.targets.append(_Target(address.text, "url", place, 0, len(value), None, address.detail))
        elif kind == "host" and urls.is_host(value):
            scope.targets.append(_Target(value, "host", place, 0, len(value)))
        elif kind == "path" or (kind == "path?" and _PATH.match(value) and not urls.read(value)):
            scope.targets.append(_Target(value, "path", place, 0, len(value), False))
        elif kind in KINDS:
            scope.targets.append(_Target(value, "name", place, 0, len(value), effect=kind))
        elif kind not in ("text", "path?", "url", "host"):
            return False
        return True

    def _code(self, kind: str, value: Any, more: str, place: Place) -> None:
        self.has_code = True
        argument, at = pointer(place), len(self.effects)
        if kind != "sql":
            self.compound.add(argument)
            self.effects.append(Effect("unknown", argument=argument, detail="cannot be read"))
            return
        found = sql.read(value, more or None)
        self.effects += [effect._replace(argument=argument) for effect in found.effects]
        self.commands += [
            Command(argument, command.start, command.end, tuple(at + place for place in command.effects))
            for command in found.commands
        ]
        if not found.is_simple:
            self.compound.add(argument)

    def _scope_of(self, node: Mapping[str, Any], place: Place, scope: _Scope) -> _Scope:
        return scope

    def _say(self, scope: _Scope) -> None:
        """Say what is done, once for each object that it may be done to."""
        said = False
        for kind in scope.effects:
            if kind == "execute" and self.has_code:
                continue
            fitting = [each for each in scope.targets if each.of in _OBJECTS.get(kind, ())]
            if kind == "read" and not fitting:
                fitting = [each for each in scope.targets if each.of in ("url", "host")]
                kind = "fetch" if fitting else kind
            said = True
            if not fitting:
                self.effects.append(Effect(kind))
            for target in fitting[:MAX_OBJECTS]:
                self.effects.append(_effect(kind, target))
        for target in scope.targets:
            if target.effect:
                said = True
                self.effects.append(_effect(target.effect, target))
        if not said and not self.has_code:
            self.effects.append(Effect("unknown", detail="unknown tool"))


def _effect(kind: Kind, target: _Target) -> Effect:
    return Effect(
        kind, target.object, target.of, target.inside, target.start, target.end, pointer(target.place), target.detail
    )


@lru_cache(maxsize=4096)
def _guess(key: str) -> str | None:
    keys: Mapping[str, str] = _known()["keys"]
    return keys.get("_".join(split(key))) or keys.get(key.lower())


def _names(place: str) -> Iterator[str]:
    for name in place.split("/")[1:]:
        yield name.replace("~1", "/").replace("~0", "~")
