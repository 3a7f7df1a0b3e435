"""Requests to an API that come as arguments: `{"method": "DELETE", "path": "/v1/users/7"}`."""

from collections.abc import Mapping
from typing import Any

from ..effect import KINDS, Kind
from .known import language_of, plain, words
from .names import named

_METHODS: Mapping[str, tuple[Kind, ...]] = {
    "GET": ("fetch",),
    "HEAD": ("fetch",),
    "OPTIONS": ("fetch",),
    "POST": ("write", "send"),
    "PUT": ("write", "send"),
    "PATCH": ("write", "send"),
    "DELETE": ("delete", "send"),
}
_ADDRESSES = ("url", "uri", "path", "endpoint", "route", "resource", "api_path", "request_path", "api_endpoint")


def done_by(node: Mapping[str, Any], said: frozenset[str]) -> tuple[Kind, ...] | None:
    """Give what a request does by its method and the words of its path; None: the object is none.

    `said` are the words of the tool's name: a tool that fetches, or is named after the web, sends what has a body.
    """
    names = {plain(key): value for key, value in node.items()}
    address = next((names[key] for key in _ADDRESSES if isinstance(names.get(key), str)), None)
    method = next(
        (value for key, value in names.items() if language_of(key) in ("method", "action") and isinstance(value, str)),
        "",
    ).upper()
    if address is None or (method not in _METHODS and words("web_words").isdisjoint(said)):
        return None
    if method not in _METHODS:
        has_body = any(key in words("body_keys") and names[key] not in (None, "", {}, []) for key in names)
        return ("write", "send") if has_body else None
    found = set(_METHODS[method])
    if method not in ("GET", "HEAD", "OPTIONS"):
        for step in address.split("?")[0].split("/"):
            does = named(step)
            found.update(kind for kind in does.effects if does.is_clear and kind not in ("read", "fetch"))
            found.update(kind for kind in named(f"create_{step}").effects if kind in ("pay", "privilege", "publish"))
    return tuple(kind for kind in KINDS if kind in found)
