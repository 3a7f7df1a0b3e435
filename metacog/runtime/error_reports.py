"""Errors of our own, told to Sentry where SENTRY_DSN names one (the extra `sentry`): where, never with what.

An event is made anew of what may leave: no body, text, argument, variable, header, address of a person or secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from metacog import __version__
from metacog.runtime.logs import without_secrets

KEPT = ("event_id", "timestamp", "platform", "level", "logger", "release", "environment", "server_name", "sdk")
CODE = ("context_line", "pre_context", "post_context")
OF_FRAME = (*CODE, "filename", "abs_path", "function", "module", "lineno", "in_app")
CONTEXTS = ("runtime", "os")
_HOW = "Install sentry-sdk (the extra sentry), or unset SENTRY_DSN."


def dsn(environ: Mapping[str, str], problems: list[tuple[str, str]], doubts: list[tuple[str, str]]) -> str:
    """Return where errors are sent; "" for nowhere, having said among `problems` or `doubts` (what, hint) why."""
    given = environ.get("SENTRY_DSN", "").strip()
    if not given:
        return ""
    try:
        parts = urlsplit(given)
        is_dsn = parts.scheme in ("http", "https") and parts.username and parts.hostname and parts.port != 0
    except ValueError:
        is_dsn = False
    if not is_dsn or not re.fullmatch(r"/(?:[!-~]+/)?[0-9]+", parts.path):
        problems.append(("SENTRY_DSN is not an address that can be used.", "Copy it whole: https://KEY@HOST/NUMBER."))
        return ""
    if find_spec("sentry_sdk") is None:
        doubts.append(("SENTRY_DSN is set, but Sentry's SDK is not installed here: no errors are sent.", _HOW))
        return ""
    return given


def start(to: str, **options: Any) -> None:
    """Have each error that is logged, or ends a thread or process, sent `to` a DSN; `options` are the SDK's."""
    import logging

    import sentry_sdk
    from sentry_sdk.integrations import atexit, dedupe, excepthook, threading
    from sentry_sdk.integrations import logging as logged

    # Not the SDK's integration for Django: it wraps the answer, which metacog/asgi.py reads, and 500s are logged.
    sentry_sdk.init(
        dsn=to,
        release=f"metacog@{__version__}",
        default_integrations=False,
        integrations=[
            logged.LoggingIntegration(level=None, event_level=logging.ERROR),
            excepthook.ExcepthookIntegration(),
            threading.ThreadingIntegration(),
            dedupe.DedupeIntegration(),
            atexit.AtexitIntegration(callback=lambda pending, timeout: None),  # which writes to the terminal
        ],
        before_send=scrubbed,
        before_send_transaction=lambda event, hint: None,
        before_breadcrumb=lambda crumb, hint: None,
        include_local_variables=False,
        max_request_body_size="never",
        auto_session_tracking=False,
        spotlight=False,
        **options,
    )


def scrubbed(event: Any, hint: Any) -> Any:
    """Return an event of what may leave; None where it is a caller's affair, or told already."""
    logger, raised = event.get("logger") or "", (event.get("exception") or {}).get("values")
    if logger.startswith("django.security.") or (logger == "django.request" and not raised):
        return None
    kept: dict[str, Any] = {name: event[name] for name in KEPT if name in event}
    kept["contexts"] = {name: each for name, each in (event.get("contexts") or {}).items() if name in CONTEXTS}
    if said := (event.get("logentry") or {}).get("message"):
        kept["logentry"] = {"message": without_secrets(said)}  # as it stands in the code, without what is put into it
    if raised:
        errors = _errors(hint)
        kept["exception"] = {"values": [_exception(each, errors) for each in raised]}
    if request := getattr(hint.get("log_record"), "request", None):
        kept["request"] = {"method": request.method, "url": without_secrets(request.path)}
    if said := _request_id():
        kept["tags"] = {"request_id": said}
    return kept


def _exception(raised: Mapping[str, Any], errors: Mapping[str, str]) -> dict[str, Any]:
    """Return an exception without its words, which may repeat a text; of the system's errors with the system's."""
    kept = {name: raised[name] for name in ("type", "module") if raised.get(name)}
    if words := errors.get(raised.get("type") or ""):
        kept["value"] = words
    if mechanism := raised.get("mechanism"):
        kept["mechanism"] = {name: mechanism[name] for name in ("type", "handled") if name in mechanism}
    frames = (raised.get("stacktrace") or {}).get("frames") or ()
    kept["stacktrace"] = {"frames": [{name: frame[name] for name in OF_FRAME if name in frame} for frame in frames]}
    return kept


def _errors(hint: Mapping[str, Any]) -> dict[str, str]:
    """Return the system's words for those errors that are its own, by their type."""
    found, error = dict[str, str](), (hint.get("exc_info") or (None, None, None))[1]
    while error is not None and len(found) < 10:
        if isinstance(error, OSError) and error.strerror:
            found[type(error).__name__] = error.strerror
        error = error.__cause__ or error.__context__
    return found


def _request_id() -> str:
    from metacog.audit import audit

    return audit.request_id.get("")
