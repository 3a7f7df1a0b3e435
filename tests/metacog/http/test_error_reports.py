"""What leaves for Sentry: where an error was, never a word of what was posted, typed or set."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import RequestFactory

from metacog.runtime import error_reports
from tests.conftest import Caller
from tests.tables import table

DSN = "https://public@sentry.example.org/7"
PRIVATE = ("s3cret-words", "mck_", "Bearer", "hunter22", "a-person@example.org", "x-forwarded", "198.51.100.7")


@pytest.fixture
def sent() -> Iterator[list[dict[str, Any]]]:
    """Have what the SDK would send put into a list."""
    import sentry_sdk
    from sentry_sdk.transport import Transport

    events: list[dict[str, Any]] = []

    class Kept(Transport):
        def capture_envelope(self, envelope: Any) -> None:
            events.extend(json.loads(item.get_bytes()) for item in envelope.items)

    with sentry_sdk.isolation_scope():
        error_reports.start(DSN, transport=Kept)
        yield events
        sentry_sdk.get_client().close()
        sentry_sdk.get_global_scope().set_client(None)


def test_an_error_of_our_own_is_told_without_what_was_posted(
    kuro: Caller, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(agent: object, raw: bytes, headers: object) -> None:
        hunter = "hunter22"
        raise ValueError(f"cannot read {raw!r} with {hunter}")

    monkeypatch.setattr("reviews.api.responses.receive", fail)
    headers = {"x-forwarded-for": "198.51.100.7", "cookie": "sessionid=s3cret-words", "x-request-id": "req-1"}
    answer = kuro.post("/responses?note=s3cret-words", {"response": "s3cret-words"}, **headers)
    assert answer.status_code == 500
    (event,) = sent
    raised = event["exception"]["values"][-1]
    assert (raised["type"], raised.get("value")) == ("ValueError", None)
    assert raised["stacktrace"]["frames"][-1]["function"] == "fail"
    assert event["tags"] == {"request_id": "req-1"}
    frames = [frame for each in event["exception"]["values"] for frame in each["stacktrace"]["frames"]]
    for frame in frames:  # lines of the code itself, this test's among them
        for name in ("context_line", "pre_context", "post_context"):
            frame.pop(name, None)
    assert not [word for word in PRIVATE if word in json.dumps(event)]


def test_a_logged_line_is_told_as_it_stands_in_the_code(sent: list[dict[str, Any]]) -> None:
    request = RequestFactory().post("/invite/" + "k" * 43 + "/?next=s3cret-words", {"password": "hunter22"})
    logging.getLogger("metacog").warning("A warning is no error.")
    logging.getLogger("django.security.DisallowedHost").error("Invalid host: s3cret-words")
    logging.getLogger("metacog").error(
        "%s cannot be used", "s3cret-words", extra={"request": request, "of": "hunter22"}
    )
    (event,) = sent
    assert event["logentry"] == {"message": "%s cannot be used"}
    assert event["request"] == {"method": "POST", "url": "/invite/…/"}
    assert not [word for word in PRIVATE if word in json.dumps(event)]


def test_the_systems_own_words_for_its_errors_are_told(sent: list[dict[str, Any]]) -> None:
    try:
        open("/nowhere/s3cret-words")  # noqa: SIM115
    except OSError:
        logging.getLogger("metacog").exception("A file failed")
    (event,) = sent
    assert event["exception"]["values"][-1]["value"] == "No such file or directory"
    assert "s3cret-words" not in event["exception"]["values"][-1]["value"]


def test_a_person_is_not_named(sent: list[dict[str, Any]]) -> None:
    import sentry_sdk

    sentry_sdk.set_user({"email": "a-person@example.org"})
    sentry_sdk.set_extra("typed", "hunter22")
    sentry_sdk.add_breadcrumb(message="s3cret-words")
    sentry_sdk.capture_message("hello")
    (event,) = sent
    assert not [word for word in PRIVATE if word in json.dumps(event)]


@table(
    "given, problems, doubts",
    [
        ("", 0, 0),
        (DSN, 0, 0),
        ("https://public@sentry.example.org:9000/prefix/7", 0, 0),
        ("https://sentry.example.org/7", 1, 0),
        ("https://public@sentry.example.org/", 1, 0),
        ("ftp://public@sentry.example.org/7", 1, 0),
        ("https://public@[::1/7", 1, 0),
    ],
)
def test_an_address_that_is_none_is_said_without_repeating_it(given: str, problems: int, doubts: int) -> None:
    said: list[tuple[str, str]] = []
    doubted: list[tuple[str, str]] = []
    assert error_reports.dsn({"SENTRY_DSN": given}, said, doubted) == ("" if problems else given)
    assert (len(said), len(doubted)) == (problems, doubts)
    assert not given or given not in str(said)


def test_a_missing_sdk_is_a_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    doubts: list[tuple[str, str]] = []
    monkeypatch.setattr(error_reports, "find_spec", lambda name: None)
    assert error_reports.dsn({"SENTRY_DSN": DSN}, [], doubts) == ""
    assert "not installed" in doubts[0][0]
