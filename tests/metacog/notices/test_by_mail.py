"""Links in a mail: opening one changes nothing, posting decides, and nobody but its person can."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core import signing
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.models import AuditEvent, Membership, Team, User
from reviews.held import decisions
from reviews.models import Decision, HeldItem
from reviews.outbox import mail_links
from tests import team_settings
from tests.metacog.notices.conftest import DAY, HOUR, hold, sweep, tell
from tests.tables import table

SIGNER = signing.Signer(salt=mail_links.SALT)

pytestmark = pytest.mark.django_db


@pytest.fixture
def links_allowed(aurora: Any) -> None:
    Team.objects.update(mail_links=True)


@pytest.fixture
def mailed(alice: Any, kuro: Any, links_allowed: None) -> str:
    """The path of a link, as it stood in a mail to alice."""
    tell(alice)
    now = timezone.now()
    hold(kuro, now - HOUR)
    [message] = sweep(now)
    (path,) = re.findall(r"https://metacog.example.org(/queue/\S+/by-mail/\S+)", message.body)
    return path


def visitor() -> Client:
    """Somebody with the link and nothing else."""
    return Client(enforce_csrf_checks=True)


def form(**fields: str) -> dict[str, str]:
    return {"sha256": HeldItem.objects.get().sha256} | fields


def everything() -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    return {
        model.__name__: list(model._default_manager.order_by("pk").values())
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table in connection.introspection.table_names()
    }


@pytest.mark.parametrize("method", ["get", "head"])
def test_opening_it_shows_the_whole_item_and_changes_no_row(mailed: str, method: str) -> None:
    before = everything()
    answer = getattr(visitor(), method)(mailed)
    assert answer.status_code == 200
    assert everything() == before
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert not answer.cookies, "neither a session nor a token of forms"
    if method == "get":
        page = answer.content.decode()
        assert "The cause is <mark" in page
        assert "Error pattern" in page
        assert "Decide as alice" in page


def test_posting_approves_as_the_person_and_can_be_undone_for_seconds(mailed: str, alice: Any) -> None:
    client = visitor()
    answer = client.post(mailed, form(verdict="approve"))
    assert (answer.status_code, answer["Location"]) == (302, mailed)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.person, decision.released_at) == ("approve", alice, None)
    event = AuditEvent.objects.get(action="chat-approved")
    assert (event.actor, event.data["via"]) == ("alice", "mail")
    page = client.get(mailed).content.decode()
    assert "approved by you" in page
    assert 'name="verdict"' not in page
    answer = client.post(f"{mailed}/undo")
    assert (answer.status_code, HeldItem.objects.get().state) == (302, "pending")
    assert AuditEvent.objects.get(action="chat-decision-undone").data["via"] == "mail"
    assert "Decide as alice" in client.get(answer["Location"]).content.decode()
    assert "This item changed since the email was sent." in client.get(mailed).content.decode()
    assert client.post(mailed, form(verdict="approve")).status_code == 409
    assert client.post(answer["Location"], form(verdict="reject", preset="wrong")).status_code == 302
    assert Decision.objects.latest("pk").reason == "Wrong"
    assert client.post(f"{mailed}/undo").status_code == 409, "each link undoes what it decided"
    assert client.get(reverse("queue")).status_code == 302, "the link signs nobody in"


def test_it_is_too_late_to_undo_what_was_released(mailed: str, undo_at_once: None) -> None:
    client = visitor()
    client.post(mailed, form(verdict="approve"))
    assert f"{mailed}/undo" not in client.get(mailed).content.decode()
    Decision.objects.update(released_at=None)  # its time is over, and nobody has come by to release it
    assert f"{mailed}/undo" not in client.get(mailed).content.decode()
    answer = client.post(f"{mailed}/undo")
    assert (answer.status_code, HeldItem.objects.get().state) == (409, "approved")
    assert "too late to undo" in answer.content.decode()


def test_a_rejection_wants_a_reason(mailed: str) -> None:
    answer = visitor().post(mailed, form(verdict="reject", reason=" "))
    assert (answer.status_code, HeldItem.objects.get().state) == (422, "pending")
    assert "Give a reason" in answer.content.decode()
    assert visitor().post(mailed, form(verdict="edit")).status_code == 422


def test_what_another_decided_is_shown_and_stands(mailed: str, bob: Any) -> None:
    decisions.decide(HeldItem.objects.get(), bob, "reject", reason="not <b>measured</b>")
    assert "rejected by Bob" in visitor().get(mailed).content.decode()
    answer = visitor().post(mailed, form(verdict="approve"))
    page = answer.content.decode()
    assert (answer.status_code, HeldItem.objects.get().state) == (409, "rejected")
    assert "This item was already decided. Your action changed nothing." in answer.content.decode()
    assert "not &lt;b&gt;measured&lt;/b&gt;" in page
    assert "/undo" not in page
    assert visitor().post(f"{mailed}/undo").status_code == 409


def test_a_text_that_is_not_the_one_shown_is_not_approved(mailed: str) -> None:
    answer = visitor().post(mailed, form(verdict="approve", sha256="0" * 64))
    assert (answer.status_code, HeldItem.objects.get().state) == (409, "pending")


@table("why", ["viewer", "left", "inactive", "links off"], rolled_back=True)
def test_who_may_no_longer_decide_sees_nothing_of_the_item(mailed: str, alice: Any, why: str) -> None:
    if why == "viewer":
        Membership.objects.filter(user=alice).update(role="viewer")
    elif why == "left":
        Membership.objects.filter(user=alice).delete()
    elif why == "inactive":
        User.objects.filter(pk=alice.pk).update(is_active=False)
    else:
        Team.objects.update(mail_links=False)
    for answer in (visitor().get(mailed), visitor().post(mailed, form(verdict="approve"))):
        assert answer.status_code == 403
        assert "kuro" not in answer.content.decode()
    assert HeldItem.objects.get().state == "pending"


@table(
    "why",
    ["tampered", "another item", "another person", "another address", "unsigned", "other salt"],
    rolled_back=True,
)
def test_a_link_that_is_not_theirs_is_none(mailed: str, alice: Any, mallory: Any, kuro: Any, why: str) -> None:
    held, token = mailed.split("/")[2], mailed.split("/")[-1]
    if why == "tampered":
        said, _, rest = token.partition(":")
        token = f"{said[:-1]}{'A' if said[-1] != 'A' else 'B'}:{rest}"
    elif why == "another item":
        held = kuro.hold()
    elif why == "another person":
        said = SIGNER.unsign_object(token)
        token = SIGNER.sign_object([mallory.pk, *said[1:]])
    elif why == "another address":
        User.objects.filter(pk=alice.pk).update(email="elsewhere@example.org")
    elif why == "unsigned":
        token = "x"
    else:
        token = signing.Signer(salt="notices.stop").sign_object(SIGNER.unsign_object(token))
    for answer in (
        visitor().get(f"/queue/{held}/by-mail/{token}"),
        visitor().post(f"/queue/{held}/by-mail/{token}", {"verdict": "approve"}),
        visitor().post(f"/queue/{held}/by-mail/{token}/undo"),
    ):
        assert answer.status_code == 404
        assert "kuro" not in answer.content.decode()
    assert set(HeldItem.objects.values_list("state", flat=True)) == {"pending"}


def test_a_link_of_somebody_in_another_team_opens_nothing(mailed: str, mallory: Any) -> None:
    link = mail_links.link_to(mallory, HeldItem.objects.get(), timezone.now())
    answer = visitor().get(mail_links.path(link))
    assert answer.status_code == 403
    assert "kuro" not in answer.content.decode()


def test_a_wrong_signature_costs_no_query(mailed: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert visitor().get(mailed[:-4] + "AAAA").status_code == 404


@table(("expires", "good_for"), [(3 * DAY, 3 * DAY), (30 * DAY, 7 * DAY)], rolled_back=True)
def test_it_ends_with_the_item_or_after_seven_days(
    alice: Any, kuro: Any, expires: timedelta, good_for: timedelta
) -> None:
    kuro.hold()
    now = timezone.now()
    HeldItem.objects.update(expires_at=now + expires)
    held = HeldItem.objects.get()
    token = mail_links.path(mail_links.link_to(alice, held, now)).split("/")[-1]
    assert mail_links.read(held.public_id, token, now + good_for - timedelta(seconds=2))
    assert mail_links.read(held.public_id, token, now + good_for) is None


def test_nobodys_session_plays_a_part(mailed: str, mallory: Any, as_person: Any) -> None:
    client = as_person(mallory)
    page = client.get(mailed).content.decode()
    assert "Decide as alice" in page
    assert "mallory" not in page.casefold()
    client.post(mailed, form(verdict="approve"))
    assert Decision.objects.get().person.username == "alice"


@table("field", ["mail_links", "mail_texts"], rolled_back=True)
def test_a_mail_holds_what_the_owner_lets_out(
    olga: Any, alice: Any, aurora: Any, kuro: Any, as_person: Any, field: str
) -> None:
    tell(alice)
    now = timezone.now()
    for _ in range(2):  # the same again is no change
        assert team_settings.save(as_person(olga), aurora, **{field: "on"}).status_code == 302
    hold(kuro, now - HOUR)
    [message] = sweep(now)
    assert ("/by-mail/" in message.body) == (field == "mail_links")
    assert ("The cause is clearly the cache." in message.body) == (field == "mail_texts")
    event = AuditEvent.objects.get(action="team-notices-changed")
    assert (event.team, event.data["fields"], event.data[field]) == (aurora, [field], True)


def test_hostile_texts_and_names_are_only_text_in_a_mail(alice: Any, kuro: Any) -> None:
    from metacog.models import Agent
    from patterns.models import ErrorPattern

    Team.objects.update(mail_texts=True)
    Agent.objects.update(name="k\u202eoruk <b>@all</b>")
    ErrorPattern.objects.update(description="see https://evil.example/x or www.evil.example")
    text = "<a href='https://evil.example'>clearly</a> the cache\r\nBcc: x@evil.example\u200b" + "!" * 300
    tell(alice)
    kuro.hold()
    HeldItem.objects.update(text=text)
    now = timezone.now() + HOUR
    [message] = sweep(now)
    html = message.alternatives[0][0]
    assert message.message()["Subject"] == "metacog: 1 new held item, score 50"
    assert set(message.message().keys()) >= {"Subject", "From", "To"}
    assert "Bcc" not in message.message()
    for body in (message.body, html):
        assert "\u202e" not in body
        assert "\u200b" not in body
        assert "U+202E" in body
        assert not re.search(r"(https?://|www\.|@)(?:evil|all)", body)
        assert "!" * 200 not in body
    assert "<a href='" not in html
    assert "&lt;b&gt;" in html


def test_the_team_page_and_the_figures_tell_what_did_not_get_through(
    olga: Any, alice: Any, kuro: Any, as_person: Any, smtp: Any
) -> None:
    tell(alice)
    now = timezone.now()
    hold(kuro, now - HOUR)
    smtp.answers["RCPT"] = "550 no such person"
    sweep(now)
    said = "alice: The mail server refuses this address. It will be tried again."
    page = " ".join(as_person(olga).get(reverse("team")).content.decode().split())
    assert said in page
    assert "metacog_notices_failing 1.0" in Client().get(reverse("metrics")).content.decode()
    assert "Failed notices" not in as_person(alice).get(reverse("team")).content.decode()
