"""What the log says of a link that does something for whoever has it, and of what is refused as suspicious."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from metacog.accounts import members
from metacog.notices import notices
from metacog.runtime.logs import Line
from reviews.models import HeldItem
from reviews.outbox import mail_links

pytestmark = pytest.mark.django_db


def test_it_names_the_item_of_a_link_and_never_its_secret(alice: Any, olga: Any, kuro: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    line = Line("%(message)s")
    for link in (
        mail_links.path(mail_links.link_to(alice, held, timezone.now())),
        notices.stop_link(alice),
        members.make_link(alice.memberships.get(), olga),
    ):
        path = link.removeprefix(settings.PUBLIC_URL)
        record = logging.LogRecord("django.request", logging.ERROR, "", 0, "%s: %s", ("Forbidden", path), None)
        (secret,) = [part for part in path.split("/") if len(part) > 35]
        said = line.format(record)
        assert said == f"Forbidden: {path.replace(secret, '…')}"
        assert (held.public_id in said) is (held.public_id in path)


def test_a_host_that_is_not_ours_takes_one_line_and_a_fault_its_traceback(client: Any, caplog: Any) -> None:
    with caplog.at_level(logging.ERROR):
        assert client.get("/sign-in/", headers={"host": "scanned.example"}).status_code == 400
    (record,) = caplog.records
    said = Line("%(name)s %(message)s").format(record)
    assert "scanned.example" in said
    assert "\n" not in said
    try:
        raise ValueError("ours")
    except ValueError as error:
        fault = logging.LogRecord("django.request", logging.ERROR, "", 0, "failed", (), (ValueError, error, None))
    assert "ValueError: ours" in Line("%(message)s").format(fault)


def test_it_is_how_every_line_is_written() -> None:
    written: Any = settings.LOGGING
    assert [handler["formatter"] for handler in written["handlers"].values()] == ["line"]
    assert written["formatters"]["line"]["()"] == f"{Line.__module__}.{Line.__qualname__}"
