"""Signing in by an OpenID Connect provider that runs on this machine for the test."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from metacog.accounts import members
from metacog.management.commands import up
from metacog.models import AuditEvent, Membership, User
from metacog.runtime import oidc
from metacog.sign_in import providers
from tests.metacog.sign_in.stub import PERSON, Provider, back, come
from tests.tables import table

PASSWORD = "alice-password"


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


@table(
    ("claims", "status"),
    [
        ({"email_verified": "true"}, 302),
        ({"email_verified": "false"}, 403),
        ({"email_verified": 1}, 403),
        ({"email_verified": "yes"}, 403),
        ({"email_verified": "True"}, 403),
        ({"email_verified": None}, 403),
        ({"email_verified": ["true"]}, 403),
        ({"email_verified": True, "email": ["dana@example.org"]}, 403),
        ({"sub": ""}, 401),
        ({"sub": None}, 401),
        ({"sub": 7}, 401),
        ({"sub": ["u-1"]}, 401),
        ({"sub": "u" * 192}, 401),
        ({"sub": "u\0"}, 401),
        ({"sub": "u\ud800"}, 401),
        ({"name": "Da\0na"}, 401),
    ],
    rolled_back=True,
)
def test_what_the_provider_claims_is_taken_as_it_is_meant(
    provider: Provider, aurora: Any, claims: dict[str, Any], status: int
) -> None:
    members.add_member(aurora, "d.wu", "owner", None, email="dana@example.org")
    client, answer = come(provider, **claims)
    assert answer.status_code == status
    said = {302: "", 403: "No access" if "email" in claims else "has not verified", 401: "Sign-in failed"}
    assert said[status] in answer.content.decode()
    assert (client.get("/queue/").status_code == 200) == (status == 302)
    assert SocialAccount.objects.exists() == (status == 302)


@table(
    ("id_token", "header", "status"),
    [
        ({}, {}, 302),
        ({}, {"alg": "none"}, 401),
        ({}, {"alg": "HS256"}, 401),
        ({}, {"kid": "second"}, 401),
        ({"sub": "u-2"}, {}, 401),
        ({"nonce": "another"}, {}, 401),
        ({"nonce": "missing"}, {}, 401),
        ({"nonce": 7}, {}, 401),
        ({"iss": "https://id.example.org"}, {}, 401),
        ({"aud": "another"}, {}, 401),
        ({"aud": ["metacog", "another"]}, {}, 401),
        ({"aud": ["metacog", "another"], "azp": "another"}, {}, 401),
        ({"aud": ["metacog", "another"], "azp": "metacog"}, {}, 302),
        ({"exp": 1}, {}, 401),
        ({"exp": "missing"}, {}, 401),
        ({"iat": 2**33}, {}, 401),
        ({"iat": "missing"}, {}, 401),
    ],
    rolled_back=True,
)
def test_an_id_token_is_believed_that_the_provider_signed_for_this_very_sign_in(
    provider: Provider, aurora: Any, id_token: dict[str, Any], header: dict[str, Any], status: int
) -> None:
    provider.reset()
    provider.id_token, provider.header = id_token, header
    client, answer = come(provider, groups=["eng"])
    assert answer.status_code == status
    assert (client.get("/queue/").status_code == 200) == (status == 302)


def test_a_key_that_the_provider_changes_to_is_fetched_and_an_unknown_one_not_for_ever(
    provider: Provider, aurora: Any
) -> None:
    assert come(provider, groups=["eng"])[1].status_code == 302
    provider.key = "second"
    assert come(provider, groups=["eng"])[1].status_code == 302
    asked = provider.keys_asked
    provider.header = {"kid": "third"}
    assert [come(provider, groups=["eng"])[1].status_code for _ in range(3)] == [401] * 3
    assert provider.keys_asked == asked


def test_a_provider_with_another_issuer_than_configured_is_not_gone_to(
    provider: Provider, aurora: Any, caplog: Any
) -> None:
    provider.document = {"issuer": "https://id.example.org"}
    answer = Client().get("/sign-in/with/work/")
    assert answer.status_code == 401
    assert "Sign-in failed" in answer.content.decode()
    said = f"METACOG_OIDC_WORK_ISSUER is {provider.issuer}, but the provider there calls itself https://id.example.org."
    assert said in caplog.messages[-1]
    assert [problem.msg for problem in providers.check()] == [said]
    with pytest.raises(SystemExit, match="calls itself"):
        up.check_providers()
    provider.document = {}
    assert providers.check() == []


def test_a_provider_that_is_away_stops_no_start(provider: Provider, capsys: Any) -> None:
    provider.is_broken = True
    up.check_providers()
    assert f"{provider.issuer} cannot be asked who it is" in capsys.readouterr().err


def test_an_answer_nobody_asked_for_is_none(provider: Provider, aurora: Any, as_person: Any, alice: Any) -> None:
    client, _ = come(provider, groups=["eng"])
    for state in ("", "x", "&state=x"):
        assert client.get(f"/sign-in/with/work/callback/?code=c&state={state}").status_code == 401
    there = Client()
    url = there.get("/sign-in/with/work/?auth_params=redirect_uri%3Dhttps%3A%2F%2Fevil.example&scope=admin")["Location"]
    assert "evil" not in url
    assert "admin" not in url
    assert back(provider, Client(), url).status_code == 401, "of another browser"


@pytest.fixture
def alice(alice: Any) -> Any:
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def signed_in(again: bool = True) -> Client:
    client = Client()
    client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    if again:
        client.post("/preferences/security/again/", {"password": PASSWORD})
    return client


def connect(provider: Provider, client: Client, **claims: Any) -> Any:
    """Go as far as the page that says what is about to be connected."""
    page = client.post("/preferences/security/accounts/work/connect").content.decode()
    url = re.search(r'content="0; url=([^"]+)"', page)
    assert url
    provider.claims = PERSON | claims
    return back(provider, client, url[1].replace("&amp;", "&"))


def test_an_account_of_a_provider_is_connected_by_hand_and_disconnected(provider: Provider, alice: Any) -> None:
    client = signed_in()
    assert ">Connect</button>" in client.get("/preferences/security/").content.decode()
    assert connect(provider, client)["Location"] == "/preferences/security/accounts/"
    assert not SocialAccount.objects.exists(), "not before the page was read"
    page = client.get("/preferences/security/accounts/").content.decode()
    for part in ("dana@example.org", "Dana Wu", "<code>u-1</code>", provider.issuer, "<b>alice</b>"):
        assert part in page
    client.post("/preferences/security/accounts/")
    there, answer = come(provider)
    assert answer["Location"] == "/agents/"
    assert int(there.session["_auth_user_id"]) == alice.pk
    account = SocialAccount.objects.get(user=alice)
    assert "dana@example.org" in client.get("/preferences/security/").content.decode()
    client.post(f"/preferences/security/accounts/{account.pk}/disconnect")
    assert come(provider)[1].status_code == 403
    told = AuditEvent.objects.filter(action__startswith="identity-").order_by("pk")
    assert [(each.action, each.actor, each.data["identity"]) for each in told] == [
        ("identity-connected", "alice", "dana@example.org"),
        ("identity-disconnected", "alice", "dana@example.org"),
    ]


def test_nothing_is_connected_by_a_link_or_without_the_password(provider: Provider, alice: Any) -> None:
    client = signed_in()
    assert client.get("/sign-in/with/work/?process=connect")["Location"] == "/queue/"
    assert client.get("/preferences/security/accounts/work/connect").status_code == 405
    assert client.get("/preferences/security/accounts/")["Location"] == "/preferences/security/"
    url = Client().get("/sign-in/with/work/?process=connect")["Location"]
    assert back(provider, client, url).status_code == 401
    late = signed_in(again=False)
    asked = late.post("/preferences/security/accounts/work/connect")
    assert asked["Location"].startswith("/preferences/security/again/")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    assert strict.post("/preferences/security/accounts/work/connect").status_code == 403
    assert not SocialAccount.objects.exists()


def test_an_identity_of_another_person_and_the_last_way_in_stay(
    provider: Provider, aurora: Any, alice: Any, bob: Any
) -> None:
    client = signed_in()
    connect(provider, client)
    SocialAccount.objects.create(user=bob, provider="work", uid="u-1")
    bob.set_unusable_password()
    bob.save()
    page = client.post("/preferences/security/accounts/", follow=True).content.decode()
    assert "belongs to another person" in page
    there, _ = come(provider)
    account = SocialAccount.objects.get()
    page = there.post(f"/preferences/security/accounts/{account.pk}/disconnect", follow=True).content.decode()
    assert "your only way to sign in" in page
    assert SocialAccount.objects.get().user == bob


def test_a_provider_that_fails_is_told_and_lets_nobody_in(provider: Provider, aurora: Any) -> None:
    client = Client()
    url = client.get("/sign-in/with/work/")["Location"]
    provider.is_broken = True
    answer = back(provider, client, url)
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
