"""A private address is refused where it is entered: of an agent, a team's webhook, a team's chat."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from metacog import egress
from metacog.models import Agent, Channel
from metacog.runtime import checks
from reviews.models import TeamWebhook
from tests import team_settings
from tests.tables import table

Enter = Callable[[str], Any]

SAID = {
    "metacog.lan": ["192.168.7.7"],
    "split.example.org": ["93.184.215.14", "10.0.0.7"],
    "six.example.org": ["fd00::7"],
}


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        if host not in SAID:
            raise socket.gaierror
        four = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (at, port)) for at in SAID[host] if "." in at]
        six = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (at, port, 0, 0)) for at in SAID[host] if ":" in at]
        return [*four, *six]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture
def client(olga: Any, as_person: Any) -> Client:
    found: Client = as_person(olga)
    return found


@pytest.fixture
def doors(client: Client, aurora: Any, kuro: Any) -> dict[str, Enter]:
    agent = Agent.objects.get(public_id=kuro.id)
    named = {"name": "kuro", "language": "en"}

    def command(url: str) -> str:
        try:
            call_command("agent", "create", "scout", "--team", "Aurora", "--callback-url", url)
        except CommandError as error:
            return str(error)
        return ""

    return {
        "a new agent": lambda url: client.post(
            reverse("agent-new"), {"team": aurora.pk, "name": "scout", "language": "en", "callback_url": url}
        ),
        "an agent's page": lambda url: client.post(reverse("agent", args=[kuro.id]), named | {"callback_url": url}),
        "the admin": lambda url: client.post(
            reverse("admin:metacog_agent_change", args=[agent.pk]), named | {"callback_url": url, "enabled": "on"}
        ),
        "the command": command,
        "a team's webhook": lambda url: client.post(
            reverse("webhook-new", args=[aurora.pk]), {"url": url, "events": ["item.held"]}
        ),
        "a team's chat": lambda url: team_settings.save(client, aurora, **{"chat-url": url}),
    }


def stored() -> set[str]:
    urls = {*Agent.objects.values_list("callback_url", flat=True), *TeamWebhook.objects.values_list("url", flat=True)}
    return (urls | set(Channel.objects.values_list("hint", flat=True))) - {""}


def refused(doors: dict[str, Enter], host: str) -> None:
    for door, enter in doors.items():
        answer = enter(f"https://{host}/hook")
        said = answer if isinstance(answer, str) else answer.content.decode()
        what = "METACOG_CALLBACK_ALLOW=https://" if egress.barred(f"https://{host}/", look_up_seconds=1) else "address"
        assert what in said, (door, said)
        assert isinstance(answer, str) or answer.status_code in (200, 422), door
    assert not stored()


# One of each kind; `test_none_is_taken` has the rest of them by the door that shows no page.
@table(
    "host",
    ["[::1]", "169.254.169.254", "nas.home.arpa", "split.example.org", "0x7f000001", "127.0.0.1."],
    rolled_back=True,
)
def test_no_door_takes_it(doors: dict[str, Enter], host: str) -> None:
    refused(doors, host)


@table(
    "host",
    [
        "127.0.0.1", "localhost", "agent.localhost", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
        "10.0.0.7:8443", "100.64.0.1", "[fd00:ec2::254]", "printer.local", "agent.internal",
        "metacog.lan", "six.example.org:8443",
        "2130706433", "127.1", "0177.0.0.1", "①②⑦.⓪.⓪.①",
    ],
    rolled_back=True,
)  # fmt: skip
def test_none_is_taken(doors: dict[str, Enter], host: str) -> None:
    refused({"the command": doors["the command"]}, host)


@table("host", ["agent.example.org", "93.184.215.14", "[2606:4700::1111]:8443", "10.0.0.7:8443"], rolled_back=True)
def test_every_door_takes_what_is_public_allowed_or_not_known_yet(
    doors: dict[str, Enter], settings: Any, host: str
) -> None:
    settings.CALLBACK_ALLOW = {"https://10.0.0.7:8443"}
    for door, enter in doors.items():
        if door != "the command":  # the same agent as by the page
            answer = enter(f"https://{host}/hook")
            assert answer.status_code in (200, 302), (door, answer.content.decode())
    assert {f"https://{host}/hook"} <= stored()
    assert Channel.objects.get().hint.endswith("hook")


@pytest.mark.parametrize(("allowed", "found"), [(set(), 1), ({"http://127.0.0.1:9001"}, 0)])
def test_a_private_model_must_be_allowed_before_it_starts(settings: Any, allowed: set[str], found: int) -> None:
    settings.CHAIRMAN_URL, settings.CALLBACK_ALLOW = "http://127.0.0.1:9001/v1", allowed
    assert len(checks.chairman_address()) == found
