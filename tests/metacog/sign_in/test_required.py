"""What an owner requires of the team's people, and the operator of all: a second factor, no passwords, short tokens."""

from __future__ import annotations

import runpy
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core.management import call_command
from django.db.models import F
from django.test import Client

from metacog.accounts import members, tokens
from metacog.management.commands import up
from metacog.models import AuditEvent, Membership, PersonalToken, Team, User
from metacog.settings import BASE_DIR
from tests.metacog.sign_in.stub import Provider, come
from tests.tables import table

QUEUE, API = "/queue/", "/api/v1/review/queue"


def program_of(person: User, days: int = 7) -> Client:
    _, text = tokens.issue(person, name="t", scopes=["read"], days=days)
    return Client(headers={"authorization": f"Bearer {text}"})


# -- a second factor -------------------------------------------------------------------------------


def test_an_owner_requires_a_second_factor_for_a_reason(olga: Any, alice: Any, aurora: Any, as_person: Any) -> None:
    address = f"/team/{aurora.pk}/second-factor"
    owner, member = as_person(olga), as_person(alice)
    assert f'href="{address}?on=1"' in owner.get("/team/").content.decode()
    page = owner.get(f"{address}?on=1").content.decode()
    assert "alice" in page
    assert "access tokens are refused" in page
    assert owner.post(address, {"on": "1", "reason": ""}).status_code == 422
    assert member.post(address, {"on": "1", "reason": "r"}).status_code == 403
    assert not Team.objects.get(pk=aurora.pk).requires_second_factor
    owner.post(address, {"on": "1", "reason": "Phished twice"})
    assert Team.objects.get(pk=aurora.pk).requires_second_factor
    Authenticator.objects.create(user=olga, type="totp", data={"secret": "x"})
    owner.post(address, {"on": "0", "reason": "Over"})
    told = AuditEvent.objects.filter(action__endswith="required", team=aurora).order_by("pk")
    assert [(each.action, each.data["because"]) for each in told] == [
        ("second-factor-required", "Phished twice"),
        ("second-factor-not-required", "Over"),
    ]


def test_members_without_one_do_nothing_else_first(alice: Any, aurora: Any, as_person: Any, bob: Any) -> None:
    client, program = as_person(alice), program_of(alice)
    members.set_requires_second_factor(aurora, True, None, "")
    for answer in (client.get(QUEUE), client.get("/preferences/"), client.post("/preferences/tokens"), client.get("/")):
        assert answer["Location"] == "/preferences/security/"
    assert client.get(QUEUE, headers={"hx-request": "true"})["HX-Redirect"] == "/preferences/security/"
    assert client.get("/admin/")["Location"] == "/preferences/security/"
    assert "Aurora requires a second factor" in client.get("/preferences/security/").content.decode()
    refused = program.get(API)
    assert refused.status_code == 403
    assert "requires a second factor" in refused.json()["detail"]
    alice.set_password("alice-password")
    alice.save()
    client = as_person(alice)
    client.post("/preferences/security/again/", {"password": "alice-password"})
    assert client.get("/preferences/security/app/").status_code == 200
    Authenticator.objects.create(user=alice, type="totp", data={"secret": "x"})
    assert [client.get(QUEUE).status_code, program.get(API).status_code] == [200, 200]
    Membership.objects.filter(user=bob).delete()
    assert as_person(bob).get("/team/").status_code == 200, "in no team that requires it"
    assert client.post("/sign-out/").status_code == 302


@table(("amr", "status"), [(["pwd", "mfa"], 200), (["pwd"], 302), ("mfa", 302), (None, 302)], rolled_back=True)
def test_a_provider_that_asked_for_more_than_one_factor_counts(
    provider: Provider, aurora: Any, amr: Any, status: int
) -> None:
    members.set_requires_second_factor(aurora, True, None, "")
    provider.id_token = {"amr": amr}
    client, _ = come(provider, groups=["eng"])
    program = program_of(User.objects.get(username="dana"))
    assert client.get(QUEUE).status_code == status
    assert program.get(API).status_code == (200 if status == 200 else 403)


# -- no passwords ----------------------------------------------------------------------------------


def test_where_only_providers_let_people_in_no_password_does(
    provider: Provider, alice: Any, olga: Any, aurora: Any, as_person: Any, settings: Any
) -> None:
    alice.set_password("alice-password")
    alice.save()
    link = members.make_link(Membership.objects.get(user=alice), olga).split("/", 3)[3]
    before, owner = Client(), as_person(olga)
    before.post("/sign-in/", {"username": "alice", "password": "alice-password"})
    assert before.get(QUEUE).status_code == 200
    settings.SSO_ONLY = True
    page = Client().get("/sign-in/").content.decode()
    assert 'type="password"' not in page
    assert "Sign in with Work ID" in page
    answers = [
        Client().post("/sign-in/", {"username": "alice", "password": "alice-password"}),
        Client().get(f"/{link}"),
        Client().post("/sign-in/passkey/"),
    ]
    assert [answer.status_code for answer in answers] == [403] * 3
    assert before.get(QUEUE).status_code == 302, "what began by a password is over"
    assert owner.get(QUEUE).status_code == 302
    client, _ = come(provider, email="lea@example.org", preferred_username="lea", sub="u-9", groups=["leads"])
    assert 'name="old_password"' not in client.get("/preferences/").content.decode()
    assert client.post("/preferences/", {"old_password": "x", "new_password1": "y"}).status_code == 403
    added = client.post(f"/team/{aurora.pk}/members", {"username": "nina", "email": "n@example.org", "role": "viewer"})
    assert added.status_code == 302
    page = client.get("/team/").content.decode()
    assert "New link" not in page
    membership = Membership.objects.get(user__username="nina")
    assert client.post(f"/team/members/{membership.pk}/link").status_code == 403
    assert come(provider, email="n@example.org", sub="u-10")[1].status_code == 302


def test_an_account_that_somebody_signs_in_to_is_not_taken_by_its_address(provider: Provider, aurora: Any) -> None:
    for number, password in enumerate(("", "a long password")):
        membership, _ = members.add_member(aurora, f"p-{number}", "viewer", None, email=f"p{number}@example.org")
        person = membership.user
        if password:
            person.set_password(password)
            person.save()
        else:
            SocialAccount.objects.create(user=person, provider="work", uid="another")
        _, answer = come(provider, email=f"p{number}@example.org", sub=f"n-{number}", groups=["leads"])
        assert answer.status_code == 403
        assert "There is already an account with your address here" in answer.content.decode()
    call_command("second_factor", "p-1", "--password")
    assert come(provider, email="p1@example.org", sub="n-1")[1].status_code == 302
    assert AuditEvent.objects.filter(action="password-removed").count() == 1


def test_the_first_owner_comes_by_a_group(provider: Provider, db: None, settings: Any, tmp_path: Any) -> None:
    settings.SSO_ONLY, settings.DATA_DIR, settings.ADMIN_PASSWORD = True, tmp_path, "a long password here"
    assert up.first_owner() == "The first owner of Aurora is the first person to sign in from the group leads."
    assert not User.objects.exists()
    assert list(tmp_path.iterdir()) == []
    Team.objects.update(name="Aurora")
    come(provider, groups=["leads"])
    assert Membership.objects.get().role == "owner"
    assert up.first_owner() == ""
    User.objects.all().delete()
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["grants"] = []
    assert "No group gives the role owner" in up.first_owner()


# -- tokens ----------------------------------------------------------------------------------------


def test_a_token_lives_no_longer_than_the_operator_lets_it(alice: Any, as_person: Any, settings: Any) -> None:
    old = program_of(alice, days=365)
    assert old.get(API).status_code == 200
    PersonalToken.objects.update(created_at=F("created_at") - timedelta(days=15))
    settings.TOKEN_DAYS = 14
    assert old.get(API).status_code == 401
    client = as_person(alice)
    page = client.get("/preferences/").content.decode()
    assert [f'value="{days}"' in page for days in (7, 14, 30, 90, 365)] == [True, True, False, False, False]
    data = {"token-name": "n", "token-scopes": "read", "token-days": "30"}
    assert client.post("/preferences/tokens", data).status_code == 422
    assert client.post("/preferences/tokens", data | {"token-days": "14"}).status_code == 200
    tokens.issue(alice, name="t", scopes=["read"], days=365)
    lives = [token.expires_at - token.created_at for token in PersonalToken.objects.order_by("-pk")[:2]]
    assert lives == [timedelta(days=14)] * 2


@table(
    ("name", "value", "said"),
    [
        ("SSO_ONLY", "1", "METACOG_SSO_ONLY is 1, but METACOG_OIDC names no provider"),
        ("SSO_ONLY", "yes", "METACOG_SSO_ONLY is 'yes', which is neither on nor off."),
        ("TOKEN_DAYS", "0", "METACOG_TOKEN_DAYS is '0', not a number of days."),
        ("TOKEN_DAYS", "4000", "METACOG_TOKEN_DAYS is '4000', not a number of days."),
        ("TOKEN_DAYS", "-1", "METACOG_TOKEN_DAYS is '-1', not a number of days."),
    ],
)
def test_settings_that_are_wrong_are_named(name: str, value: str, said: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"METACOG_{name}", value)
        read = runpy.run_path(str(BASE_DIR / "metacog" / "settings.py"))
    assert [said in problem for problem, _ in read["CONFIG_PROBLEMS"]] == [True]
