"""Access tokens: made and shown once on a person's page, revoked there or by an owner, dead with their rights."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import tokens
from metacog.models import AuditEvent, Membership, PersonalToken, Team, User
from tests import team_settings
from tests.conftest import Caller
from tests.tables import table


def made(client: Client, *scopes: str, **data: Any) -> Any:
    form = {"token-name": "night shift", "token-scopes": scopes or ("read", "decide"), "token-days": 30}
    return client.post(reverse("token-new"), form | data)


def text_in(page: Any) -> str:
    return re.findall(r'id="new-token" class="secret">(mcp_[\w-]{43})<', page.content.decode())[0]


def status(text: str) -> int:
    return Caller("", text, "").get("/review/queue").status_code


def test_a_token_is_shown_once_and_kept_as_its_hash(alice: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(alice)
    page = made(client)
    text = text_in(page)
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert f"Authorization: Bearer {text}" in page.content.decode()
    again = client.get(reverse("preferences")).content.decode()
    assert text not in again
    assert "night shift" in again
    assert f"{text[:8]}…" in again
    token = PersonalToken.objects.get()
    assert token.token_sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert token.scopes == ["read", "decide"]
    assert timedelta(days=29) < token.expires_at - timezone.now() <= timedelta(days=30)
    event = AuditEvent.objects.get(action="token-created")
    assert (event.actor, event.team, event.data["name"]) == ("alice", aurora, "night shift")
    assert text not in str(event.data)
    assert status(text) == 200


@table(
    ("field", "value"),
    [("token-name", " "), ("token-scopes", ()), ("token-scopes", ("own",)), ("token-days", 3650)],
    rolled_back=True,
)
def test_it_refuses_what_no_token_can_be(alice: Any, as_person: Any, field: str, value: Any) -> None:
    answer = made(as_person(alice), **{field: value})
    assert answer.status_code == 422
    assert "errorlist" in answer.content.decode()
    assert not PersonalToken.objects.exists()


def test_a_person_has_twenty_live_tokens_at_most(alice: Any, as_person: Any) -> None:
    for _ in range(PersonalToken.MOST_LIVE):
        token, _text = tokens.issue(alice, name="x", scopes=["read"], days=7)
    assert "20 active tokens" in made(as_person(alice)).content.decode()
    tokens.revoke(token, alice)
    assert made(as_person(alice)).status_code == 200


def test_a_revoked_token_is_refused_and_no_longer_listed(alice: Any, bob: Any, as_person: Any) -> None:
    client = as_person(alice)
    text = text_in(made(client))
    address = reverse("token-revoke", args=[PersonalToken.objects.get().pk])
    assert as_person(bob).post(address).status_code == 404
    assert status(text) == 200
    assert "Programs that use it are refused at once" in client.get(address).content.decode()
    assert client.post(address).status_code == 422, "it takes a reason"
    assert client.post(address, {"reason": "leaked"}).status_code == 302
    assert status(text) == 401
    assert text[:8] not in client.get(reverse("preferences")).content.decode()
    assert AuditEvent.objects.get(action="token-revoked").data["because"] == "leaked"
    assert AuditEvent.objects.get(action="token-revoked").actor == "alice"


def test_an_expired_token_is_refused(alice: Any, as_person: Any) -> None:
    text = text_in(made(as_person(alice)))
    PersonalToken.objects.update(expires_at=timezone.now())
    assert status(text) == 401


def test_tokens_of_a_disabled_person_stop_at_once(alice: Any, as_person: Any) -> None:
    text = text_in(made(as_person(alice)))
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert status(text) == 401


def test_an_owner_sees_and_revokes_members_tokens(
    alice: Any, olga: Any, mallory: Any, carla: Any, aurora: Any, borealis: Any, as_person: Any
) -> None:
    text = text_in(made(as_person(alice)))
    page = as_person(olga).get(reverse("team")).content.decode()
    assert "night shift" in page
    assert text[:8] not in page
    for stranger in (carla, mallory):
        assert "night shift" not in as_person(stranger).get(reverse("team")).content.decode()
    token = PersonalToken.objects.get()
    theirs = reverse("member-token-revoke", args=[borealis.pk, token.pk])
    assert as_person(mallory).post(theirs).status_code == 404
    assert status(text) == 200
    ours = reverse("member-token-revoke", args=[aurora.pk, token.pk])
    assert as_person(olga).post(ours, {"reason": "x"}).status_code == 302
    assert status(text) == 401
    event = AuditEvent.objects.get(action="token-revoked")
    assert (event.actor, event.team, event.data["person"]) == ("olga", aurora, "alice")


def test_whoever_revoked_a_token_restores_it_for_a_day_and_nobody_else_does(
    alice: Any, olga: Any, aurora: Any, as_person: Any
) -> None:
    text = text_in(made(as_person(alice)))
    token = PersonalToken.objects.get()
    own, owners = reverse("token-restore", args=[token.pk]), reverse("member-token-restore", args=[aurora.pk, token.pk])

    def revoke(person: Any, address: str) -> None:
        answer = as_person(person).post(address, {"reason": "x"}, follow=True)
        assert f'form="restore-token-{token.pk}">Undo</button>' in answer.content.decode()
        assert f'id="restore-token-{token.pk}"' in answer.content.decode()
        assert status(text) == 401

    def restore(person: Any, address: str) -> int:
        as_person(person).post(address)
        return status(text)

    revoke(alice, reverse("token-revoke", args=[token.pk]))
    assert restore(olga, owners) == 401, "its person ended it, perhaps since it leaked"
    assert restore(alice, own) == 200
    revoke(olga, reverse("member-token-revoke", args=[aurora.pk, token.pk]))
    assert restore(alice, own) == 401
    assert "Restore token" not in as_person(alice).get(reverse("preferences")).content.decode()
    PersonalToken.objects.update(revoked_at=timezone.now() - tokens.RESTORABLE_FOR)
    assert restore(olga, owners) == 401, "too late"
    PersonalToken.objects.update(revoked_at=timezone.now())
    assert restore(olga, owners) == 200
    assert AuditEvent.objects.filter(action="token-restored").count() == 2


def test_it_is_written_down_once_a_minute_that_a_token_was_used(alice: Any, as_person: Any) -> None:
    text = text_in(made(as_person(alice)))
    assert PersonalToken.objects.get().last_used_at is None
    status(text)
    first = PersonalToken.objects.get().last_used_at
    assert first
    status(text)
    assert PersonalToken.objects.get().last_used_at == first
    earlier = first - tokens.USED_AGAIN
    PersonalToken.objects.update(last_used_at=earlier)
    status(text)
    assert PersonalToken.objects.get().last_used_at > earlier


def test_twenty_calls_a_second_and_no_more(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _token, text = tokens.issue(alice, name="x", scopes=["read"], days=7)
    clock = [1_800_000_000.0]
    monkeypatch.setattr("metacog.accounts.tokens.time.time", lambda: clock[0])
    assert [status(text) for _ in range(22)] == [200] * 20 + [429] * 2
    clock[0] += 0.1
    assert [status(text) for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("seconds", [1, 2, 10, 60, 3600])
def test_a_clock_that_is_set_back_refuses_a_token_for_a_second_or_two(
    alice: Any, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    _token, text = tokens.issue(alice, name="x", scopes=["read"], days=7)
    clock = [1_800_000_000.0]
    monkeypatch.setattr("metacog.accounts.tokens.time.time", lambda: clock[0])
    assert [status(text) for _ in range(21)] == [200] * 20 + [429]
    clock[0] -= seconds
    seen = []
    for _ in range(5):
        seen.append(status(text))
        clock[0] += 1
    assert seen[2:] == [200] * 3, seen


def test_an_owner_lets_agents_be_told_who_decided(olga: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(olga)
    for ticked in ("on", "on", None):
        team_settings.save(client, aurora, names_people=ticked)
        assert Team.objects.get(pk=aurora.pk).names_people == bool(ticked)
    events = AuditEvent.objects.filter(action__startswith="names-people").order_by("pk")
    assert [event.action for event in events] == ["names-people-on", "names-people-off"]


def test_who_left_every_team_sees_nothing_by_a_token(alice: Any, kuro: Any, as_person: Any) -> None:
    held, text = kuro.hold(), text_in(made(as_person(alice)))
    program = Caller("", text, "")
    assert [item["id"] for item in program.get("/review/queue").json()["items"]] == [held]
    Membership.objects.filter(user=alice).delete()
    assert program.get("/review/queue").json()["items"] == []
    assert program.post(f"/review/held/{held}/decision", {"verdict": "approve"}).status_code == 404


def test_the_form_sent_again_makes_no_second_token(alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    shown = re.search(r'name="once" value="([^"]+)"', client.get(reverse("preferences")).content.decode())
    assert shown
    assert made(client, once=shown[1]).status_code == 200
    again = made(client, once=shown[1])
    assert again["Location"] == reverse("preferences")
    assert "sent twice" in client.get(again["Location"]).content.decode()
    assert PersonalToken.objects.count() == 1
    made(client, once="another form")
    assert PersonalToken.objects.count() == 2
