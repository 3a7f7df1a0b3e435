"""Flags of a row, and the places of their effects' objects, made ready."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..effect import KINDS, Kind, ObjectKind

FLAG_KEYS = frozenset({"only", "alone", "by", "takes", "glued", "objects", "code", "detail"})
VALUES = frozenset({"value", "@value", "value:"})  # places in the value of a flag
# Of a flag's value: a path unless it says otherwise.
PATH_EFFECTS = frozenset({"read", "write", "delete", "execute", "secret"})


class Place(NamedTuple):
    effect: Kind
    place: str | int | None
    optional: bool
    is_path: bool = False  # whatever the row's objects are


@dataclass(frozen=True, slots=True)
class Flag:
    effects: tuple[Place, ...] = ()
    takes: int = 0  # so many words behind it are its value; the last is the one that counts
    glued: bool = False  # a value stands only right behind it
    digits: bool = False  # and is only of digits: other flags may follow (`perl -l012ne`)
    only: tuple[Place, ...] | None = None
    alone: tuple[Place, ...] | None = None
    by: tuple[tuple[str, "Flag"], ...] = ()
    code: str = ""
    role: str = ""  # "cwd", "command", "run", "object"
    objects: ObjectKind | None = None
    detail: str = ""

    @property
    def harms(self) -> bool:
        return bool(self.by or self.code or self.role) or any(place.effect != "read" for place in self.effects)

    @property
    def matters(self) -> bool:
        return bool(self.effects or self.by or self.code or self.role)


NO_FLAG = Flag()


def flag_of(spec: Any) -> Flag:
    if isinstance(spec, str):
        if spec.startswith("code:"):
            return Flag(takes=1, code=spec[5:])
        return Flag(takes=spec != "command", role=spec)
    if not isinstance(spec, Mapping):
        return Flag(takes=int(spec))
    effects = effects_of({key: place for key, place in spec.items() if key not in FLAG_KEYS})
    by = tuple((glob, flag_of(inner)) for glob, inner in spec.get("by", {}).items())
    only = effects_of(spec["only"]) if "only" in spec else None
    alone = effects_of(spec["alone"]) if "alone" in spec else None
    places = [place for _, place, *_ in (*effects, *(only or ()), *(alone or ()))]
    glued, digits = bool(spec.get("glued", False)), spec.get("glued") == "digits"
    takes = not glued and (bool(by) or "code" in spec or any(place in VALUES for place in places))
    return Flag(
        effects,
        int(spec.get("takes", takes)),
        glued,
        digits,
        only,
        alone,
        by,
        str(spec.get("code", "")),
        objects=spec.get("objects"),
        detail=str(spec.get("detail", "")),
    )


def effects_of(spec: Mapping[str, Any]) -> tuple[Place, ...]:
    places = []
    for name, where in spec.items():
        effect = name.removesuffix("?")
        if effect not in KINDS:
            raise ValueError(f"no effect is called {effect}")
        for place in where if isinstance(where, list) else (where,):
            places.append(Place(effect, place, name.endswith("?"), _is_path(effect, place)))
    return tuple(places)


def _is_path(effect: Kind, place: str | int | None) -> bool:
    if not isinstance(place, str):
        return False
    is_value = place.startswith("-") or place.endswith("=")
    return place.startswith((".", "~")) or (is_value and effect in PATH_EFFECTS)
