"""Envoy's external authorization, in both of its forms: the request itself (HTTP), and a CheckRequest as JSON (gRPC's).

https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/ext_authz_filter. Envoy AI Gateway sends the
same for an MCPRoute's `securityPolicy.extAuth`, as agentgateway does. The decision is the answer's status.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from django.http import HttpRequest
from pydantic import Field

from metacog.heuristics.wire import wire
from metacog.http.problems import Problem, at
from reviews.gateways import mcp
from reviews.gateways.asked import Asked, Call, Sent, named, shaped

NAME = "Envoy's ext_authz"
HTTP_CALL = "http_request"  # the tool that a request is a call of which is none of MCP's
SESSION = "mcp-session-id"
PARTIAL = "x-envoy-auth-partial-body"
_OF_A_URL = {ord(sign): quote(sign) for sign in "?#%"}


class Http(Sent):
    method: str = Field(max_length=32)
    path: str
    host: str = ""
    scheme: str = ""
    headers: dict[str, str] = {}
    body: str = ""
    raw_body: str = ""


class Request(Sent):
    http: Http


class Attributes(Sent):
    request: Request


class CheckRequest(Sent):
    """Envoy's CheckRequest, written as JSON."""

    attributes: Attributes


class Passing(NamedTuple):
    """A request that waits at Envoy."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def is_check(sent: Any) -> bool:
    return isinstance(sent, dict) and "attributes" in sent


def read_check(sent: Any) -> Asked:
    http = shaped(sent, CheckRequest, NAME).attributes.request.http
    headers = {name.lower(): value for name, value in http.headers.items()}
    try:
        body = base64.b64decode(http.raw_body, validate=True) if http.raw_body else http.body.encode()
    except binascii.Error:
        raise at("/attributes/request/http/raw_body", "must be base64") from None
    return read(Passing(http.method, _url(http.scheme, http.host, http.path), headers, body))


def passing(request: HttpRequest, path: str) -> Passing:
    """Return the request that Envoy asks about by sending it on, behind its path_prefix."""
    query = f"?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else ""
    scheme = request.headers.get("x-forwarded-proto", "")
    headers = {name.lower(): value for name, value in request.headers.items()}
    url = _url(scheme, request.get_host(), f"/{_readable(request, path)}{query}")
    return Passing(request.META["REQUEST_METHOD"], url, headers, request.body)


def _readable(request: HttpRequest, path: str) -> str:
    """Return the end of a request's path, read but for what would be another path then: `a%2Fb` is not `a/b`."""
    before, sent = request.path.removesuffix(path), request.META.get("REQUEST_URI", "")
    if not sent.startswith(before):
        return path.translate(_OF_A_URL)
    return "/".join(map(_part, sent.removeprefix(before).split("/")))


def _part(sent: str) -> str:
    read = unquote(sent)
    return sent if "\ufffd" in read else read.translate(_OF_A_URL | {ord("/"): "%2F"})


def _url(scheme: str, host: str, path: str) -> str:
    return f"{scheme or 'http'}://{host}{path}" if host else path


def read(request: Passing) -> Asked:
    """Read what a request would do: MCP messages by their calls of tools; any other is a call by itself."""
    if request.headers.get(PARTIAL, "").lower() == "true":
        raise Problem(413, "Envoy sent only the beginning of the body. Raise max_request_bytes of its ext_authz.")
    sent = _json(request)
    calls: tuple[Call, ...]
    if request.method == "POST" and mcp.is_message(sent):
        calls = mcp.calls(sent)
    else:
        arguments = {"method": request.method, "url": request.url} | ({} if sent is None else {"body": sent})
        calls = (Call(HTTP_CALL, arguments, named(request.headers.get("x-request-id"))),)
    metadata = {"url": request.url, "request": request.headers.get("x-request-id")}
    return Asked("envoy", named(request.headers.get(SESSION)), calls, (), metadata)


def _json(request: Passing) -> Any:
    """Return what a body holds: its JSON, or else its text."""
    if not request.body:
        return None
    try:
        return wire.load(request.body)
    except wire.Refused as error:
        if request.body.lstrip()[:1] in (b"{", b"["):  # it may be JSON to somebody else
            raise Problem(422, f"This body is read in one way only by nobody: {error.detail}") from None
    try:
        return request.body.decode()
    except UnicodeDecodeError:
        raise Problem(422, "The body is neither JSON nor text, so nobody could tell what it does.") from None
