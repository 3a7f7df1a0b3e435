"""What happens to those who are not signed in (any more)."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory

from metacog.http.middleware import client_address
from tests.tables import table

pytestmark = pytest.mark.django_db


def test_the_language_can_be_chosen_before_signing_in() -> None:
    client = Client()
    answer = client.post("/language/", {"language": "zh-hant", "next": "/sign-in/"})
    assert answer.status_code == 302
    assert client.get("/sign-in/")["Content-Language"] == "zh-hant"


def test_a_form_sent_after_the_session_ended_leads_back_to_its_page() -> None:
    answer = Client().post("/agents/agt_x/rotate", headers={"referer": "http://testserver/agents/agt_x/?a=b"})
    assert parse_qs(urlsplit(answer.headers["Location"]).query)["next"] == ["/agents/agt_x/?a=b"]


@table("referer", ["http://elsewhere.example/agents/", "", "nonsense"])
def test_it_leads_nowhere_else(referer: str) -> None:
    answer = Client().post("/agents/agt_x/rotate", headers={"referer": referer})
    assert "elsewhere" not in answer.headers["Location"]
    assert parse_qs(urlsplit(answer.headers["Location"]).query).get("next", [""]) == [""]


def test_a_fragment_asked_for_after_the_session_ended_sends_the_whole_page_to_the_sign_in() -> None:
    headers = {"hx-request": "true", "hx-current-url": "http://testserver/queue/?order=age"}
    answer = Client().get("/queue/changes", headers=headers)
    assert answer.status_code == 204
    assert parse_qs(urlsplit(answer["HX-Redirect"]).query)["next"] == ["/queue/?order=age"]


@pytest.mark.parametrize(
    ("https", "forwarded", "expected"),
    [
        (True, "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        (True, "6.6.6.6, 203.0.113.9:5678", "203.0.113.9"),
        (True, "[2001:db8:1:2::7]:80", "2001:db8:1:2::"),
        (True, '"[2001:db8:1:2::7]"', "2001:db8:1:2::"),
        (True, "[::1]:80", "::"),
        (True, "203.0.113.9:x", "10.0.0.1"),
        (True, "", "10.0.0.1"),
        (False, "203.0.113.9", "10.0.0.1"),
    ],
)
def test_the_address_is_the_proxys_word_only_where_there_is_a_proxy(
    settings: Any, https: Any, forwarded: Any, expected: Any
) -> None:
    settings.HTTPS = https
    request = RequestFactory().get("/", headers={"x-forwarded-for": forwarded} if forwarded else {})
    request.META["REMOTE_ADDR"] = "10.0.0.1"
    assert client_address(request) == expected


@table(
    ("address", "expected"),
    [
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("::1", "::"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_all_addresses_of_one_ipv6_network_have_their_guesses_together(address: str, expected: Any) -> None:
    request = RequestFactory().get("/")
    request.META["REMOTE_ADDR"] = address
    assert client_address(request) == expected


@pytest.mark.parametrize("asked_by", ["django.contrib.auth.middleware.get_user", "metacog.models.User.teams_as"])
def test_a_database_that_is_away_is_told_on_a_page_that_needs_none(
    olga: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch, asked_by: str
) -> None:
    def away(*args: Any) -> None:
        raise OperationalError("no connection")

    client = as_person(olga)
    monkeypatch.setattr(asked_by, away)  # before the view, and in it
    answer = client.get("/agents/", headers={"accept-language": "zh-TW"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert '<html lang="zh-hant">' in answer.content.decode()
    assert "<h1>Database unreachable</h1>" in answer.content.decode()
