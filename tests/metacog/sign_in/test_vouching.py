"""What becomes of people whom their provider removes, signs out or says nothing more of."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db.models import F
from django.test import Client

from metacog.accounts import keys, members, tokens
from metacog.models import AuditEvent, Identity, Membership, User
from metacog.sign_in import vouching
from tests.metacog.sign_in.stub import Provider, come
from tests.tables import table

LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
MINUTES = timedelta(minutes=1)


def role() -> str:
    return "".join(Membership.objects.filter(user__username="dana").values_list("role", flat=True))


def later(by: timedelta) -> None:
    """Have so much time gone by since the provider was asked."""
    names = ("confirmed_at", "asked_at", "holds_until")
    Identity.objects.update(**{name: F(name) - by for name in names})


def token_of(person: User) -> Client:
    _, text = tokens.issue(person, name="t", scopes=["read"], days=7)
    return Client(headers={"authorization": f"Bearer {text}"})


@pytest.fixture
def dana(provider: Provider, aurora: Any) -> Any:
    """Come by a group, with a browser and a program."""
    provider.refresh_token = "r"
    browser, _ = come(provider, groups=["eng"])
    return browser, token_of(User.objects.get(username="dana"))


def reads(dana: Any) -> list[int]:
    browser, program = dana
    return [browser.get("/queue/").status_code, program.get("/api/v1/review/queue").status_code]


def test_somebody_removed_at_the_provider_loses_role_session_and_tokens_within_the_hour(
    provider: Provider, dana: Any
) -> None:
    stored = Identity.objects.get().refresh_token_encrypted
    assert stored
    assert provider.refresh_token not in stored
    assert reads(dana) == [200, 200]
    later(30 * MINUTES)
    vouching.sweep()
    assert (role(), reads(dana)) == ("reviewer", [200, 200])
    provider.is_gone = True
    vouching.sweep()
    assert (role(), reads(dana)) == ("reviewer", [200, 200]), "asked not long ago"
    later(30 * MINUTES)
    vouching.sweep()
    assert (role(), reads(dana)) == ("", [302, 403])
    assert AuditEvent.objects.filter(action="identity-refused", data__person="dana").count() == 1
    assert AuditEvent.objects.filter(action="member-removed").count() == 1
    provider.is_gone = False
    browser, _ = come(provider, dana[0], groups=["eng"])
    assert (role(), reads((browser, dana[1]))) == ("reviewer", [200, 200])


def test_groups_are_asked_again(provider: Provider, dana: Any) -> None:
    for groups, expected in ((["leads"], "owner"), (["eng", "leads"], "owner"), ([], "owner"), (["eng"], "reviewer")):
        provider.claims = provider.claims | {"groups": groups}
        later(30 * MINUTES)
        if expected == "reviewer":
            members.add_member(Membership.objects.get().team, "olga", "owner", None)
        vouching.sweep()
        assert role() == expected, groups
    provider.claims = provider.claims | {"groups": ["others"]}
    later(30 * MINUTES)
    vouching.sweep()
    assert role() == ""
    assert reads(dana)[0] == 200, "the provider still knows the person"


def test_where_the_provider_cannot_be_asked_its_word_holds_an_hour(provider: Provider, aurora: Any) -> None:
    browser, _ = come(provider, groups=["eng"])
    program = token_of(User.objects.get(username="dana"))
    later(59 * MINUTES)
    vouching.sweep()
    assert (role(), reads((browser, program))) == ("reviewer", [200, 200])
    later(2 * MINUTES)
    assert program.get("/api/v1/review/queue").json()["items"] == []
    assert role() == "", "taken by whoever looks first, should no worker run"
    answer = browser.get("/queue/?order=age")
    assert answer["Location"] == "/sign-in/with/work/?next=%2Fqueue%2F%3Forder%3Dage"
    posted = browser.post("/theme", {"theme": "dark"})
    assert posted.status_code == 302
    come(provider, browser, groups=["eng"])
    assert (role(), reads((browser, program))) == ("reviewer", [200, 200])


def test_a_provider_that_is_away_is_waited_for_some_hours(provider: Provider, dana: Any) -> None:
    provider.is_broken = True
    for _ in range(7):  # half an hour each
        later(30 * MINUTES)
        vouching.sweep()
    assert (role(), reads(dana)) == ("reviewer", [200, 200])
    for _ in range(2):
        later(30 * MINUTES)
        vouching.sweep()
    assert (role(), reads(dana)[0]) == ("", 302)


@table(
    ("told", "role_after"),
    [
        ({"sub": "u-2"}, ""),
        ({"sub": ""}, ""),
        ({}, "reviewer"),
    ],
    rolled_back=True,
)
def test_who_the_provider_tells_of_is_who_was_asked_about(
    provider: Provider, dana: Any, told: dict[str, Any], role_after: str
) -> None:
    before = provider.claims
    provider.refresh_token = keys.decrypted(Identity.objects.get().refresh_token_encrypted) or ""
    provider.claims = provider.claims | told
    later(30 * MINUTES)
    vouching.sweep()
    later(31 * MINUTES)
    vouching.sweep()
    provider.claims = before
    assert role() == role_after


def test_an_owners_role_stays_and_its_sessions_end(provider: Provider, aurora: Any) -> None:
    members.add_member(aurora, "dana", "curator", None, email="dana@example.org")
    provider.refresh_token = "r"
    browser, _ = come(provider)
    program = token_of(User.objects.get(username="dana"))
    provider.is_gone = True
    later(30 * MINUTES)
    vouching.sweep()
    assert (role(), reads((browser, program))) == ("curator", [302, 403])


def logout(provider: Provider, header: dict[str, Any] | None = None, **claims: Any) -> int:
    now = int(time.time())
    about = {
        "iss": provider.issuer, "aud": "metacog", "iat": now, "exp": now + 120, "jti": "j", "events": {LOGOUT: {}},
    } | claims  # fmt: skip
    token = provider.token({k: v for k, v in about.items() if v is not None}, **{"typ": "logout+jwt", **(header or {})})
    return Client().post("/sign-in/with/work/logout/", {"logout_token": token}).status_code


@table(
    ("header", "claims", "status", "ended"),
    [
        ({}, {"sub": "u-1"}, 200, [True, True]),
        ({}, {"sid": "s-1"}, 200, [True, False]),
        ({}, {"sub": "u-1", "sid": "s-2"}, 200, [False, True]),
        ({"typ": "JWT"}, {"sub": "u-1"}, 400, [False, False]),
        ({}, {"sub": "another"}, 200, [False, False]),
        ({}, {"sub": 7}, 400, [False, False]),
        ({}, {}, 400, [False, False]),
        ({}, {"sub": "u-1", "events": {}}, 400, [False, False]),
        ({}, {"sub": "u-1", "events": None}, 400, [False, False]),
        ({}, {"sub": "u-1", "nonce": "n"}, 400, [False, False]),
        ({}, {"sub": "u-1", "jti": None}, 400, [False, False]),
        ({}, {"sub": "u-1", "iss": "https://id.example.org"}, 400, [False, False]),
        ({}, {"sub": "u-1", "aud": "another"}, 400, [False, False]),
        ({}, {"sub": "u-1", "exp": 1}, 400, [False, False]),
        ({}, {"sub": "u-1", "exp": None, "iat": 1}, 400, [False, False]),
        ({"alg": "none"}, {"sub": "u-1"}, 400, [False, False]),
        ({"alg": "HS256"}, {"sub": "u-1"}, 400, [False, False]),
    ],
    rolled_back=True,
)
def test_a_provider_ends_sessions_by_a_token_that_it_signed(
    provider: Provider, aurora: Any, header: Any, claims: Any, status: int, ended: list[bool]
) -> None:
    browsers = []
    for sid in ("s-1", "s-2"):
        provider.id_token = {"sid": sid}
        browsers.append(come(provider, groups=["eng"])[0])
    assert logout(provider, header, **claims) == status
    assert [browser.get("/queue/").status_code == 302 for browser in browsers] == ended


def test_a_logout_token_works_once_and_has_the_provider_asked(provider: Provider, dana: Any) -> None:
    assert [logout(provider, sub="u-1"), logout(provider, sub="u-1")] == [200, 400]
    provider.is_gone = True
    vouching.sweep()
    assert (role(), reads(dana)) == ("", [302, 403])
    assert Client().post("/sign-in/with/work/logout/", {"logout_token": "x"}).status_code == 400
    assert Client().post("/sign-in/with/work/logout/").status_code == 400
    assert Client().post("/sign-in/with/nowhere/logout/").status_code == 404
    cache.clear()
