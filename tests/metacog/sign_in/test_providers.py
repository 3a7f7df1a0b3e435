"""Signing in by an OpenID Connect provider that runs on this machine for the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from metacog.accounts import members
from metacog.models import AuditEvent, Membership, User
from metacog.runtime import oidc
from tests.tables import table

PERSON = {
    "sub": "u-1",
    "preferred_username": "dana",
    "email": "dana@example.org",
    "email_verified": True,
    "name": "Dana Wu",
}


class Provider(ThreadingHTTPServer):
    """Says of whoever comes what `claims` has."""

    claims: dict[str, Any]
    is_broken = False

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        issuer = self.server.issuer
        if self.path == "/userinfo":
            return self.say(self.server.claims)
        names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
        return self.say({"issuer": issuer} | {name: f"{issuer}/{name.partition('_')[0]}" for name in names})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.is_broken:
            return self.say({"error": "server_error"}, 500)
        claims = {"iss": self.server.issuer, "aud": "metacog", "iat": 1, "exp": 2**33} | self.server.claims
        token = jwt.encode(claims, "a secret of the provider that has thirty-two bytes")
        return self.say({"access_token": "t", "token_type": "Bearer", "id_token": token})

    def say(self, body: Any, status: int = 200) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with Provider(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        problems: list[tuple[str, str]] = []
        env = {
            "METACOG_OIDC": "work",
            "METACOG_OIDC_WORK_ISSUER": server.issuer,
            "METACOG_OIDC_WORK_CLIENT_ID": "metacog",
            "METACOG_OIDC_WORK_CLIENT_SECRET": "s",
            "METACOG_OIDC_WORK_NAME": "Work ID",
            "METACOG_OIDC_WORK_GROUPS": "eng=reviewer@Aurora; leads=owner@Aurora; eng=viewer@Nowhere",
        }
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": oidc.apps(env, problems)}}
        settings.HAS_PROVIDERS = True
        assert problems == []
        server.claims = PERSON
        yield server
        server.shutdown()
        thread.join()


def come(provider: Provider, client: Client | None = None, process: str = "", **claims: Any) -> tuple[Client, Any]:
    client = client or Client()
    provider.claims = PERSON | claims
    away = client.get(f"/sign-in/with/work/?next=/agents/{process and '&process=' + process}")
    asked = parse_qs(urlsplit(away["Location"]).query)
    assert away["Location"].startswith(f"{provider.issuer}/authorization")
    assert "code_challenge" in asked
    return client, client.get(f"/sign-in/with/work/callback/?code=c&state={asked['state'][0]}")


def roles() -> list[tuple[str, str]]:
    return list(Membership.objects.filter(user__username="dana").values_list("team__name", "role"))


def test_groups_give_roles_change_them_and_take_them(provider: Provider, aurora: Any, olga: Any) -> None:
    assert "Sign in with Work ID" in Client().get("/sign-in/").content.decode()
    client, answer = come(provider, groups=["eng"])
    assert answer["Location"] == "/agents/"
    assert client.get("/queue/").status_code == 200
    assert roles() == [("Aurora", "reviewer")]
    assert str(User.objects.get(username="dana")) == "Dana Wu"
    come(provider, groups=["/leads", "eng"])
    assert roles() == [("Aurora", "owner")]
    come(provider, groups=["others"])
    assert roles() == []
    actions = AuditEvent.objects.filter(action__regex="^(member|role)-").order_by("pk").values_list("action", flat=True)
    assert list(actions)[-3:] == ["member-added", "role-changed", "member-removed"]


def test_what_an_owner_gave_stays_and_so_does_the_last_owner(provider: Provider, aurora: Any) -> None:
    come(provider, groups=["leads"])
    come(provider, groups=[])
    assert roles() == [("Aurora", "owner")], "the team would have none"
    dana = User.objects.get(username="dana")
    Membership.objects.filter(user=dana).delete()
    members.add_member(aurora, "dana", "curator", None)
    come(provider, groups=["eng"])
    assert roles() == [("Aurora", "curator")]


def test_nobody_comes_in_whom_no_group_lets_in(provider: Provider, aurora: Any) -> None:
    client, answer = come(provider, groups=["others"])
    assert answer.status_code == 403
    assert "none of your groups has a role" in answer.content.decode()
    assert client.get("/queue/").status_code == 302
    assert not User.objects.filter(username="dana").exists()


@table(
    ("password", "verified", "status", "connected"),
    [("", True, 302, True), ("", False, 403, False), ("her own long word", True, 403, False)],
    rolled_back=True,
)
def test_somebody_invited_is_known_by_an_address_that_the_provider_verified(
    provider: Provider, aurora: Any, password: str, verified: bool, status: int, connected: bool
) -> None:
    membership, _ = members.add_member(aurora, "d.wu", "reviewer", None, email="Dana@example.org")
    if password:
        membership.user.set_password(password)
        membership.user.save()
    _, answer = come(provider, email_verified=verified)
    assert answer.status_code == status
    assert SocialAccount.objects.filter(user=membership.user).exists() == connected


def test_somebody_with_a_password_connects_the_account_once_signed_in(
    provider: Provider, aurora: Any, alice: Any, as_person: Any
) -> None:
    client = as_person(alice)
    assert "Connect" in client.get("/preferences/security/").content.decode()
    _, answer = come(provider, client, process="connect")
    assert answer.status_code == 302
    client, answer = come(provider)
    assert client.get("/preferences/").content.decode().count("alice") or answer["Location"] == "/agents/"
    assert int(client.session["_auth_user_id"]) == alice.pk


def test_a_provider_that_fails_is_told_and_lets_nobody_in(provider: Provider, aurora: Any) -> None:
    provider.is_broken = True
    client, answer = come(provider, groups=["eng"])
    assert "Sign-in failed" in answer.content.decode()
    assert client.get("/queue/").status_code == 302
    assert Client().get("/sign-in/with/nowhere/").status_code == 404


@table(
    ("setting", "value", "said"),
    [
        ("", "Work!", "cannot be the name"),
        ("ISSUER", "", "ISSUER is not set"),
        ("ISSUER", "id.example.org", "not an address"),
        ("ISSUER", "http://id.example.org", "not https"),
        ("GROUPS", "eng=boss@Aurora", "gives no role"),
        ("GROUPS", "eng", "gives no role"),
    ],
)
def test_settings_that_are_wrong_are_named(setting: str, value: str, said: str) -> None:
    env = {"METACOG_OIDC": "work"} | {
        f"METACOG_OIDC_WORK_{part}": "x" for part in ("CLIENT_ID", "CLIENT_SECRET")
    } | {"METACOG_OIDC_WORK_ISSUER": "https://id.example.org/realms/work"}  # fmt: skip
    problems: list[tuple[str, str]] = []
    oidc.apps(env | {f"METACOG_OIDC{setting and '_WORK_'}{setting}": value}, problems)
    assert [said in problem for problem, _ in problems] == [True]
