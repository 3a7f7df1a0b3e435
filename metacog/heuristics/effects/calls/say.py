"""What a call does, by its name and by what its arguments say of that, once for each object that it may be done to."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...text.strict_json import pointer
from .. import paths
from ..effect import KINDS, Effect, Kind, ObjectKind
from .known import Sign, language_of, plain, signs, words
from .names import named
from .told import READING, Place, Scope, Target, Told
from .web import done_by

MAX_OBJECTS = 200  # that one effect is said of
_OBJECTS: Mapping[Kind, tuple[ObjectKind, ...]] = {
    "read": ("path", "table", "name"),
    "write": ("path", "table", "url", "name"),
    "delete": ("path", "table", "url", "name"),
    "irreversible": ("path", "table", "url", "name"),
    "fetch": ("url", "host"),
    "send": ("address", "url", "host", "name"),
    "publish": ("path", "url", "name"),
    "secret": ("path", "name"),
    "privilege": ("name",),
    "execute": ("path", "name"),
    "install": ("name",),
    "pay": ("amount", "name"),
}


def scope_of(call: Told, node: Mapping[str, Any], place: Place, scope: Scope) -> Scope:
    """Give the scope of an object: its own where it says what is done, `{"op": "delete", …}`."""
    if call.tool is not None or call.settings.given:
        return scope
    if (done := done_by(node, call.said)) is not None:
        call.is_web = True
        if place or not (call.named.is_clear and words("web_words").isdisjoint(call.named.words)):
            return _own(call, scope, done, place)
        scope.effects = tuple(kind for kind in KINDS if kind in {*scope.effects, *done})
        return scope
    action = next(
        (value for key, value in node.items() if language_of(key) == "action" and isinstance(value, str)), None
    )
    if action is None or len(action) > 100:
        return scope
    does = named(action)
    if not place and call.named.is_clear:
        if does.is_clear and not READING.issuperset(does.effects):
            scope.effects = tuple(kind for kind in KINDS if kind in {*scope.effects, *does.effects})
        return scope
    if not does.is_clear and place:
        return scope
    own = _own(call, scope, does.effects if does.is_clear else ("unknown",), place)
    own.nouns |= frozenset(does.words)
    return own


def _own(call: Told, scope: Scope, effects: tuple[Kind, ...], place: Place) -> Scope:
    if not place:
        scope.effects, scope.is_clear = effects, "unknown" not in effects
        return scope
    call.scopes.append(Scope(effects, True, scope.nouns))
    call.is_told = True
    return call.scopes[-1]


def take_signs(call: Told, key: str, value: Any, scope: Scope) -> None:
    """Take what single values say: `acl: public-read`, `resourceType: secret`."""
    name, said = plain(key), str(value).lower()[:40] if isinstance(value, str | bool) else ""
    for sign in signs():
        if name in sign.keys and said and (said in sign.values or "*" in sign.values):
            scope.effects = _more(scope.effects, sign)


def _more(effects: tuple[Kind, ...], sign: Sign) -> tuple[Kind, ...]:
    more = set(effects)
    if not effects or READING.issuperset(effects):
        more.update(sign.reads)
    else:
        more.update(sign.effects)
    if "delete" in effects:
        more.update(sign.deletes)
    return tuple(kind for kind in KINDS if kind in more)


def take_back_if_tried(call: Told, arguments: Mapping[str, Any]) -> None:
    """Take back what the arguments say is only tried, where the tool's schema knows of that."""
    properties = call.schema.get("properties") if isinstance(call.schema, Mapping) else None
    if isinstance(properties, Mapping) and any(
        plain(key) in words("dry") and key in properties and value in (True, "client", "server", "All", "all")
        for key, value in arguments.items()
    ):
        call.scope.effects, call.scope.is_clear = ("read",), True


def say(call: Told, scope: Scope) -> None:
    """Say what is done, once for each object that it may be done to."""
    given = bool(call.settings.given)
    effects = () if given and (call.has_code or not scope.is_clear) else scope.effects
    if call.has_code and scope is call.scope:
        effects = tuple(kind for kind in effects if kind not in ("execute", "read"))
    told = len(call.effects)
    for kind in effects:
        _say_kind(call, kind, scope)
    for target in scope.targets:
        if target.effect:
            _effect(call, target.effect, target)
        elif target.of == "path" and not READING.issuperset(effects) and not _fits(call, target, effects):
            _effect(call, "read", target)
    is_done = (len(call.effects) > told and scope.is_clear) or any(target.effect for target in scope.targets)
    is_done |= call.has_code and _is_code_tool(call)
    if scope is call.scope and not is_done and not call.is_told and "unknown" not in effects:
        call.effects.append(Effect("unknown", detail="unknown tool"))


def _is_code_tool(call: Told) -> bool:
    return (
        call.named.is_clear
        or not words("shellish").isdisjoint(call.said)
        or not words("databases").isdisjoint(call.said)
        or bool(call.program())
        or call.tool is not None
        or bool(call.settings.given)
    )


def _fits(call: Told, target: Target, effects: Sequence[Kind]) -> bool:
    return any(target.of in _OBJECTS.get(kind, ()) for kind in effects)


def _say_kind(call: Told, kind: Kind, scope: Scope) -> None:
    free = [target for target in scope.targets if target.effect is None]
    suited = [target for target in free if target.of in _OBJECTS.get(kind, ())]
    addresses = [target for target in free if target.of in ("url", "host")]
    if kind == "read" and addresses and not any(target.of == "path" for target in suited):
        kind, suited = "fetch", addresses
    others = [target for target in suited if target.of != "name"]
    if not others:
        best = min((target.rank for target in suited), default=0)
        others = [target for target in suited if target.rank == best]
    if kind == "fetch" and not suited and (files := [target for target in free if target.of == "path"]):
        call.effects.append(Effect("fetch"))
        kind, others = "write", files
    for target in others[:MAX_OBJECTS]:
        is_read = target.is_source and kind == "write" and call.named.verb in words("copies")
        _effect(call, "read" if is_read else kind, target)
    if not others:
        call.effects.append(Effect(kind))


def _effect(call: Told, kind: Kind, target: Target) -> None:
    call.effects.append(
        Effect(
            kind,
            target.object,
            target.of,
            target.inside,
            target.start,
            target.end,
            pointer(target.place),
            target.detail,
        )
    )
    if target.of == "path" and (paths.is_secret(target.object) or _is_searched(call, kind, target)):
        call.effects.append(call.effects[-1]._replace(effect="secret"))


def _is_searched(call: Told, kind: Kind, target: Target) -> bool:
    """Whether a tool looks into all files below a folder that holds keys."""
    return (
        kind == "read"
        and not target.inside
        and not {"grep", "search"}.isdisjoint(call.said)
        and paths.holds_secrets(target.object)
    )
