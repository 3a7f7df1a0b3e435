"""What an argument names that a call is about: paths, addresses, hosts, amounts, names."""

import re
from collections.abc import Mapping
from typing import Any

from .. import paths, urls
from ..effect import ObjectKind
from . import amounts, mail
from .known import language_of, plain, words
from .told import Place, Scope, Target, Told

MAX_NAME = 300  # characters of an object's name
_PATH = re.compile(r"[~/.]|[\w.-]+[/\\]|[A-Za-z]:\\|[\w-]+\.\w{1,5}$")


def targets_of(call: Told, kind: str, value: str, place: Place) -> list[Target] | None:
    """Read what a text of this kind names; None: such a text names nothing."""
    read = {"mail": _mail, "search": _search, "url": _url, "urls": _urls, "host": _host, "path": _path}
    if kind == "path?":
        return _path(call, value, place, is_sure=False)
    return read[kind](call, value, place) if kind in read else None


def take_amount(call: Told, value: Any, place: Place, beside: Mapping[str, Any], scope: Scope) -> bool:
    in_minor = not words("minor").isdisjoint(call.said)
    if (amount := amounts.read(value, str(place[-1]) if place else "", beside, in_minor=in_minor)) is None:
        return False
    end = len(value) if isinstance(value, str) else None
    scope.targets.append(Target(str(amount), "amount", place, None if end is None else 0, end))
    return True


def _mail(call: Told, value: str, place: Place) -> list[Target]:
    found = [
        Target(each.address, "address", place, each.start, each.end, None, each.detail) for each in mail.read(value)
    ]
    if not found and plain(str(place[-1] if place else "")) in ("to", "recipient", "recipients", "cc", "bcc"):
        found = [Target(value[:MAX_NAME], "name", place, 0, len(value))]
    return found


def _url(call: Told, value: str, place: Place) -> list[Target]:
    if address := urls.read(value):
        start = len(value) - len(value.lstrip())
        of: ObjectKind = "url"
        if address.scheme == "file":
            return _path(call, value[len("file://") :], place)
        return [Target(address.text, of, place, start, len(value.rstrip()), None, address.detail)]
    return _host(call, value, place)


def _search(call: Told, value: str, place: Place) -> list[Target]:
    return [Target(value[:MAX_NAME], "name", place, 0, len(value))]


def _urls(call: Told, value: str, place: Place) -> list[Target]:
    return [
        Target(address.text, "url", place, each.start(), each.end(), None, address.detail, "fetch")
        for each in re.finditer(r"https?://[^\s\"'<>]+", value)
        if (address := urls.read(each[0]))
    ] or [Target(value[:MAX_NAME], "name", place, 0, len(value), effect="unknown")]


def _host(call: Told, value: str, place: Place) -> list[Target]:
    if not urls.is_host(value):
        return []
    name, details = urls.read_host(re.sub(r":\d{1,5}$", "", value))
    return [Target(name, "host", place, 0, len(value), None, ", ".join(details))]


def _path(call: Told, value: str, place: Place, *, is_sure: bool = True) -> list[Target]:
    if urls.read(value) or "\n" in value or (not is_sure and not _PATH.match(value)):
        return _url(call, value, place) if urls.read(value) else []
    if call.tool is None and not call.settings.given and _is_remote(call):
        return [Target(value[:MAX_NAME], "name", place, 0, len(value), rank=1)]
    if call.is_web and place and plain(str(place[-1])) == "path":
        return [Target(value[:MAX_NAME], "name", place, 0, len(value))]
    room = call.settings.room
    name = paths.normal(value, cwd=room.cwd, workspace=room.workspace)
    inside = "\\" not in name and ":" not in name[:3] and paths.is_inside(name, [room.workspace or "."])
    is_source = plain(str(next((step for step in reversed(place) if isinstance(step, str)), ""))) in words("sources")
    return [Target(name[:MAX_NAME], "path", place, 0, len(value), inside, is_source=is_source)]


def _is_remote(call: Told) -> bool:
    return not words("remote").isdisjoint(call.said) or call.is_told


def take_name(call: Told, key: str, value: str | int, place: Place, scope: Scope) -> None:
    """Take an argument that names what the call is about: `bucket`, `order_id`, `name`, `ids`."""
    name = plain(key).removesuffix("s")
    if place and isinstance(place[-1], int) and len(place) > 3:
        return
    if language_of(key) not in (None, "mail", "path?", "host"):
        return
    rank = None
    stem = re.sub(r"_(?:id|name|arn|identifier|key|number|slug|uuid|ref)$", "", name)
    if stem in scope.nouns or f"{stem}s" in scope.nouns:
        rank = 0
    elif name in ("id", "name", "arn", "identifier", "uuid", "key", "slug", "channel", "resource", "target"):
        rank = 1
    elif stem != name:
        rank = 2
    if rank is not None and (text := str(value)[:MAX_NAME]):
        end = len(value) if isinstance(value, str) else None
        scope.targets.append(Target(text, "name", place, None if end is None else 0, end, rank=rank))
