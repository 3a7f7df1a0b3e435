"""What happens to every request before and after its view."""

from __future__ import annotations

import logging
import re
import secrets
import zoneinfo
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy

from metacog.audit import audit
from metacog.http import failures
from metacog.http.problems import Problem, answer, at
from metacog.models import User
from metacog.models.people import LONG_AGO
from metacog.unreadable import UnreadablePolicy

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

log = logging.getLogger("metacog")

View = Callable[[HttpRequest], HttpResponse]
AWAY = (OperationalError, InterfaceError)  # the database cannot take it now; the pool's time-out is among them
RETRY_AFTER_SECONDS = 5
PROBES = ("/healthz", "/readyz")
# As some proxies write an address: 192.0.2.7:5678, [2001:db8::1]:5678, [2001:db8::1], also in double quotes.
_WITH_PORT = re.compile(r'\A"?(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)"?\Z', re.ASCII)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def RequestId(get_response: View) -> View:
    """Give each request an id, the caller's own where it is harmless, for audit events and errors; count failures."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        name = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        token = audit.request_id.set(name)
        try:
            response = get_response(request)
        finally:
            audit.request_id.reset(token)
        response["X-Request-Id"] = name
        if response.status_code >= 500:
            failures.count(response.status_code)
        return response

    return middleware


def Probes(get_response: View) -> View:
    """Let load balancers ask by whatever address they know this machine by: the answer names and links nothing."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info in PROBES:
            request.META["HTTP_HOST"] = "localhost"
        return get_response(request)

    return middleware


class Api:
    """Answer what agents send, every error as a problem document. The layers behind this one are for people.

    Refused here for people too: an address with a NUL character (PostgreSQL takes none, SQLite does), and a body that
    metacog/asgi.py did not get, or not whole.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/api/"):
            response = self._answer(request)
            response["Content-Length"] = str(len(response.content))
            return response
        try:
            request.get_host()
        except DisallowedHost:
            host = {"host": _host_that_is_not_ours(request)}
            if has_not_come(request):
                return in_words(request, gettext_lazy("Unknown address"), 400)
            return _page(request, "metacog/host_not_allowed.html", host, 400)
        if _nul_in(request):
            return HttpResponse("There is nothing at an address with a NUL character.\n", status=404)
        if refused := request.META.get("metacog.refused"):
            if refused.status == 413 and request.path_info in settings.UPLOADS_TO_DISK:
                request.method = "GET"  # the form's own page says it
                return self.get_response(request)
            if refused.status != 413:
                return in_words(request, _REFUSED.get(refused.status, _INCOMPLETE), refused.status, refused.headers)
            shown = {"most": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}
            return _page(request, "metacog/body_refused.html", shown, 413)
        if has_not_come(request):
            try:
                resolve(request.path_info)
            except Resolver404:
                return in_words(request, gettext_lazy("Page not found"), 404)
        return self.get_response(request)

    def _answer(self, request: HttpRequest) -> HttpResponse:
        try:
            if place := _nul_in(request):
                raise at(place, "An address cannot hold a NUL character.") if place == "/query" else NOWHERE
            request.get_host()
            if refused := request.META.get("metacog.refused"):
                raise refused
            if request.method == "HEAD":
                request.method = "GET"  # the server leaves out the body
            translation.activate("en")
            match = request.resolver_match = _call_at(request.path_info)
            response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        except Problem as problem:
            return answer(problem)
        except Http404:
            return answer(NOWHERE)
        except AWAY as error:
            log.error("%s %s: the database is away: %s", request.method, request.path, error)
            return answer(database_away())
        except DisallowedHost:
            detail = f"metacog does not answer under the name {_host_that_is_not_ours(request)!r}."
            return answer(Problem(400, detail + " Call it by a name in METACOG_ALLOWED_HOSTS, or add this one there."))
        except SuspiciousOperation as error:
            log.error("%s %s: %s", request.method, request.path, error)
            return answer(Problem(400, "The request could not be answered."))
        except Exception as error:  # agents are answered a problem document, whatever fails
            if _lacks_tables(error):
                log.error("%s %s: the database is of another version: %s", request.method, request.path, error)
                return answer(database_away())
            log.exception("%s %s failed", request.method, request.path)
            return answer(Problem(500, "Something went wrong here. Nothing was written; send it again later."))
        if response.status_code >= 400 and "problem+json" not in response.get("Content-Type", ""):
            return answer(_as_problem(request, response))
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Turn a database that is away, and a policy that cannot be read, into 503 for people as well."""
        if isinstance(exception, AWAY) or _lacks_tables(exception):
            log.error("%s %s: the database is away: %s", request.method, request.path, exception)
            return _away_page()
        if isinstance(exception, UnreadablePolicy):
            what = {"policy": exception.policy, "rules": exception.rules}
            return render(request, "metacog/unreadable.html", what, status=503)
        return None


_call_at = lru_cache(maxsize=256)(resolve)  # most agents call a few addresses over and over

NOWHERE = Problem(404, "There is nothing at this address. The calls are listed at /api/v1/docs.")


def _nul_in(request: HttpRequest) -> str:
    if "\0" in request.path_info:
        return "/path"
    return "/query" if "\0" in unquote_plus(request.META.get("QUERY_STRING", "")) else ""


def _lacks_tables(error: Exception) -> bool:
    """Say whether a table or column is missing in PostgreSQL; SQLite's error of that is among AWAY.

    So it is between a restored back-up, or a database that was changed over, and `migrate`.
    """
    return isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", "") in ("42P01", "42703")


def database_away() -> Problem:
    return Problem(
        503,
        "The database cannot take this now. Nothing was written; send it again later.",
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def _away_page() -> HttpResponse:
    # Without the request, whose session and person are in the database.
    return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def _host_that_is_not_ours(request: HttpRequest) -> str:
    host: str = request.META.get("HTTP_HOST", "")[:255]
    log.error("%s %s: the host %r is not in METACOG_ALLOWED_HOSTS", request.method, request.path, host)
    return host


_INCOMPLETE = gettext_lazy("Nothing was saved: the form arrived incomplete. Go back and send it again.")
_REFUSED = {503: gettext_lazy("Nothing was saved: too much is being sent. Go back and send it again in a minute.")}


def has_not_come(request: HttpRequest) -> bool:
    """Say whether only the headers of a form are here: then `in_words` answers, since a page costs more than it did."""
    return "metacog.ahead" in request.META


def in_words(
    request: HttpRequest, said: StrOrPromise, status: int, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Answer with a sentence, in the browser's language, and no page."""
    with translation.override(translation.get_language_from_request(request)):
        kind = "text/plain; charset=utf-8"
        return HttpResponse(f"{said}\n", status=status, content_type=kind, headers=headers)


def _page(request: HttpRequest, template: str, shown: dict[str, Any], status: int) -> HttpResponse:
    """Show a page that asks for no session; in the browser's language, since nobody is known yet."""
    with translation.override(translation.get_language_from_request(request)):
        return HttpResponse(render_to_string(template, shown), status=status)


def _as_problem(request: HttpRequest, response: HttpResponse) -> Problem:
    if response.status_code == 404:
        return NOWHERE
    if response.status_code == 405:
        allowed = re.sub(r"\bGET\b", "GET, HEAD", response.get("Allow", ""))
        return Problem(405, f"This address takes {allowed or 'other methods'} only.", headers={"Allow": allowed})
    return Problem(response.status_code, "The request could not be answered.")


def Private(get_response: View) -> View:
    """Keep what agents and people are answered out of every cache, unless a view says how it may be kept privately."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.path_info not in PROBES and "private" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "private, no-store"
        return response

    return middleware


def ContentSecurityPolicy(get_response: View) -> View:
    """Allow our own files and nothing else: no inline script or style, no frame, no other host."""
    policy = (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; worker-src 'self'; "
        "manifest-src 'self'; form-action 'self'; frame-ancestors 'none'"
    )

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.setdefault("Content-Security-Policy", policy)
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response

    return middleware


class SignInRequired(LoginRequiredMiddleware):
    """Ask people to sign in, wherever a view does not say otherwise."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        """Come back to the page a form stood on: the form's own address takes no GET.

        Of a decision to its item. `unsaved` has the sign-in say what was lost.
        """
        if request.method in ("GET", "HEAD"):
            return super().handle_no_permission(request, view_func)
        match = request.resolver_match
        assert match is not None  # a view was found
        if match.url_name == "decide":
            back = resolve_url("item", **match.kwargs) + (f"?{request.GET.urlencode()}" if request.GET else "")
        else:
            back = _page_of_form(request)
        lost = "decision" if match.url_name in ("decide", "decide-together") else "form"
        return HttpResponseRedirect(f"{redirect_to_login(back).url}&unsaved={lost}")


def _page_of_form(request: HttpRequest) -> str:
    try:
        page = urlsplit(request.headers.get("Referer", ""))
    except ValueError:  # it is no address
        page = urlsplit("")
    here = page.path if page.netloc == request.get_host() else ""
    return here + (f"?{page.query}" if here and page.query else "")


def client_address(request: HttpRequest) -> str:
    """Return where a request comes from: the proxy's word where a proxy ends TLS, else the peer.

    Of an IPv6 address the network: whoever has one address there has 2**64, and could guess from each of them.
    """
    said = request.headers.get("X-Forwarded-For", "") if settings.HTTPS else ""
    # The last entry is the one our own proxy added; those before it are the client's to write.
    for address in (said.rpartition(",")[2].strip(), request.META.get("REMOTE_ADDR", "")):
        with suppress(ValueError):  # none
            found = ip_address(_WITH_PORT.sub(r"\1\2", address))
            if isinstance(found, IPv6Address):
                found = found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64)
            return str(found)
    return ""


def SignInAgain(get_response: View) -> View:
    """Send the whole page to the sign-in when a fragment was asked for and the session has ended."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if (
            getattr(request, "htmx", False)
            and isinstance(response, HttpResponseRedirect)
            and response.url.partition("?")[0] == resolve_url(settings.LOGIN_URL)
        ):
            if request.method not in ("GET", "HEAD"):  # the form's page is known, and what it lost
                return HttpResponse(status=204, headers={"HX-Redirect": response.url})
            here = request.headers.get("HX-Current-URL", "")
            path = "/" + here.split("/", 3)[3] if here.count("/") >= 3 else "/"
            return HttpResponse(status=204, headers={"HX-Redirect": f"{redirect_to_login(path).url}&unsaved=nothing"})
        return response

    return middleware


def Person(get_response: View) -> View:
    """Use the signed-in person's own language and time zone; where they have chosen none, the browser's."""

    def middleware(request: HttpRequest) -> HttpResponse:
        try:
            user = request.user if request.user.is_authenticated else None  # the first look at the database
        except AWAY as error:
            log.error("%s %s: the database is away: %s", request.method, request.path, error)
            return _away_page()
        if user is not None:
            zone = user.time_zone or request.COOKIES.get("time_zone", "")[:64]
            try:
                timezone.activate(zoneinfo.ZoneInfo(zone))
            except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # a cookie may name a folder of zones
                timezone.deactivate()
            else:
                if zone != user.time_zone:  # mails need it, too
                    User.objects.filter(pk=user.pk, time_zone="").update(time_zone=zone, report_at=LONG_AGO)
            if user.language:
                translation.activate(user.language)
        try:
            return get_response(request)
        finally:
            timezone.deactivate()

    return middleware


def TypedAddress(get_response: View) -> View:
    """Lead whoever opens the address of a form by itself to the page the form stands on."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 405 or request.method not in ("GET", "HEAD"):
            return response
        page = render(request, "405.html", {"page": _page_above(request)}, status=405)
        page["Allow"] = response["Allow"]
        return page

    return middleware


def _page_above(request: HttpRequest) -> str:
    """Return the nearest address above whose page is about the same thing; "/" has one at last."""
    assert request.resolver_match is not None  # a view has answered
    path = request.path_info
    while True:
        path = path.rstrip("/").rpartition("/")[0] + "/"
        with suppress(Resolver404):
            if resolve(path).kwargs.items() <= request.resolver_match.kwargs.items():
                return path
