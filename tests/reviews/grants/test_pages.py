"""Grants on the console: the form beside Approve, what it made on the item, and the page that lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.models import AuditEvent
from reviews.models import CallGrant, Decision, HeldItem
from tests.conftest import Caller
from tests.reviews.grants.test_api import REFUND, ask, passes
from tests.tables import table

pytestmark = pytest.mark.usefixtures("undo_at_once")
FORM = {"grant": "1", "grant_match": "call", "grant_scope": "session", "grant_until": "10m", "grant_uses": ""}


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def page_of(client: Any, held: str) -> str:
    return " ".join(client.get(f"/queue/{held}/").content.decode().split())


def decide(client: Any, held: str, **form: str | Sequence[str]) -> Any:
    item = HeldItem.objects.get(public_id=held)
    return client.post(
        f"/queue/{held}/decide", {"verdict": "approve", "version": item.version, "sha256": item.sha256} | form
    )


def given(client: Any, kuro: Caller, **form: str) -> CallGrant:
    held = ask(kuro, call_id="first")["held"]
    assert decide(client, held, **FORM | form).status_code == 302
    return CallGrant.objects.get(held__public_id=held)


def test_one_press_allows_the_same_call_for_ten_minutes_whatever_the_form_says(client: Any, kuro: Any) -> None:
    held = ask(kuro, call_id="first")["held"]
    page = page_of(client, held)
    assert "Approve, and the same call for 10 minutes" in page
    decide(client, held, **FORM | {"grant_scope": "agent", "grant_until": "7d", "grant_again": "1"})
    grant = CallGrant.objects.get(held__public_id=held)
    assert (grant.match, grant.scope, grant.most_uses) == ("call", "session", None)
    assert timedelta(0) < grant.until - timezone.now() < timedelta(minutes=11)


class TestTheForm:
    def test_it_says_what_would_pass_how_often_that_was_asked_and_why_no_more(self, client: Any, kuro: Any) -> None:
        for command in ("git push", "git pull"):
            ask(kuro, arguments={"command": command}, session="s2")
        page = page_of(client, ask(kuro)["held"])
        form = page.split('id="granting"')[1].split("</details>")[0]
        assert "exactly <code>Bash git push</code>" in form
        assert "asked 2× in 30 days, 1× in this session" in form
        assert "not possible for this call. The tool takes free text: /command." in form
        assert re.search(r'value="tool"[^>]* disabled', form)
        assert "in all sessions of kuro" in form
        assert re.search(r"Passes without asking:.*in this session, until tonight", form, re.DOTALL)

    @pytest.mark.parametrize(
        ("command", "chosen"), [("git push", "shape"), ("aws s3 rm --recursive s3://shop-backups/2025", "call")]
    )
    def test_it_begins_with_calls_like_this_but_for_one_that_nothing_undoes(
        self, client: Any, kuro: Any, command: str, chosen: str
    ) -> None:
        page = page_of(client, ask(kuro, arguments={"command": command})["held"])
        assert re.findall(r'name="grant_match" value="(\w+)"[^>]* checked', page) == [chosen]

    def test_nobody_is_offered_it_who_may_not_decide_nor_where_a_rule_would_beat_it(
        self, client: Any, as_person: Any, kuro: Any, victor: Any
    ) -> None:
        from tests.reviews.api.test_tool_calls import ruled

        held = ask(kuro)["held"]
        assert "granting" not in page_of(as_person(victor), held)
        ruled(kuro, {"tool": "Bash", "do": "ask", "approvers": {"people": 2}})
        assert "granting" not in page_of(client, held)
        assert "granting" not in page_of(client, kuro.hold()), "words"

    def test_the_bar_says_that_it_was_given_and_that_undo_ends_it(self, client: Any, kuro: Any, settings: Any) -> None:
        settings.UNDO_SECONDS = 30
        given(client, kuro)
        assert re.search(r"Approved and granted .*Undo both", page_of(client, kuro.hold()))
        decision = Decision.objects.get()
        client.post(f"/decisions/{decision.public_id}/undo")
        assert "Undone, with the grant:" in page_of(client, kuro.hold())
        decide(client, ask(kuro, call_id="again")["held"], **FORM)
        client.post(f"/grants/{CallGrant.objects.latest('pk').public_id}/withdraw")
        page = page_of(client, kuro.hold())
        assert re.search(r"data-announce\s*>\s*Approved\s", page), "only the approval is left to undo"
        assert "Undo both" not in page
        decide(client, ask(kuro, call_id="first")["held"])
        assert "rant" not in page_of(client, kuro.hold()).partition('id="told"')[2].partition("</form>")[0]

    def test_only_its_box_gives_a_grant(self, client: Any, kuro: Any) -> None:
        decide(client, ask(kuro)["held"], **{name: value for name, value in FORM.items() if name != "grant"})
        assert not CallGrant.objects.exists()

    def test_what_it_says_is_what_is_given(self, client: Any, kuro: Any) -> None:
        grant = given(client, kuro, grant_scope="agent", grant_uses="20")
        assert (grant.match, grant.scope, grant.most_uses, grant.person.username) == ("call", "agent", 20, "alice")
        assert grant.granted_at
        assert timedelta(seconds=590) < grant.until - grant.granted_at <= timedelta(seconds=600)
        assert passes(kuro, session="s9")

    def test_all_calls_of_a_tool_without_free_text(self, client: Any, kuro: Any) -> None:
        held = ask(kuro, **REFUND)["held"]
        assert "every call of <code>refund</code>" in page_of(client, held)
        decide(client, held, **FORM | {"grant_match": "tool"})
        assert passes(kuro, name="refund", arguments={"charge_id": "ch_9", "amount": 1})

    def test_it_offers_to_release_what_waits_and_would_pass(self, client: Any, kuro: Any) -> None:
        first, same, other = (
            ask(kuro, arguments={"command": command}, session=session)["held"]
            for command, session in (("git push a b", "s1"), ("git push a c", "s1"), ("git push a d", "s2"))
        )
        assert f'hx-get="/queue/{first}/grant-waiting"' in page_of(client, first)
        form = client.get(f"/queue/{first}/grant-waiting").content.decode()
        without_script = client.get(f"/queue/{first}/?grant=1").content.decode()
        assert all(page.count('name="grant_waiting"') == 2 for page in (form, without_script))
        assert re.search(r'data-when="shape-session"> ?1 waiting call would pass, too', form)
        assert re.search(r'data-when="shape-agent"> ?2 waiting calls would pass, too', form)
        for held, when in ((same, "shape-agent shape-session"), (other, "shape-agent")):
            version = HeldItem.objects.get(public_id=held).version
            assert re.search(rf'<li data-when="{when}">\s*<input[^>]*value="{held}.{version}"', form)
        listed = [f"{held}.{HeldItem.objects.get(public_id=held).version}" for held in (same, other)]
        decide(client, first, **FORM | {"grant_match": "shape", "grant_release": "1", "grant_waiting": listed})
        states = dict(HeldItem.objects.values_list("public_id", "state"))
        assert [states[held] for held in (first, same, other)] == ["approved", "approved", "pending"]
        assert "waiting-too" not in page_of(client, other), "nothing else waits"

    def test_it_releases_only_what_was_listed_as_it_was(self, client: Any, kuro: Any) -> None:
        first, same, next_one = (ask(kuro, arguments={"command": f"git push a {at}"})["held"] for at in "bcd")
        listed = [f"{same}.9", f"{next_one}.x", f"{next_one}.{'1' * 5_000}", "held_x.1"]
        decide(client, first, **FORM | {"grant_match": "shape", "grant_release": "1", "grant_waiting": listed})
        assert HeldItem.objects.filter(state="pending").count() == 2
        assert "Approved" in client.get("/queue/").content.decode().split('id="told"')[1]

    @table(
        "form",
        [{"grant_match": "tool"}, {"grant_match": ""}, {"grant_scope": "team"}, {"grant_until": "ever"}]
        + [{"grant_uses": uses} for uses in ("0", "10001", "-1", "many")],
        rolled_back=True,
    )
    def test_what_cannot_be_granted_decides_nothing_and_leaves_the_form_open(
        self, client: Any, kuro: Any, form: dict[str, str]
    ) -> None:
        held = ask(kuro)["held"]
        answer = decide(client, held, **FORM | form)
        assert answer.status_code == 422
        assert "Nothing was decided:" in answer.content.decode()
        assert '<details class="grant" id="granting" open' in answer.content.decode()
        assert HeldItem.objects.get(public_id=held).state == "pending"

    def test_the_next_item_has_the_form_closed_and_untouched(self, client: Any, kuro: Any) -> None:
        first, second = ask(kuro)["held"], ask(kuro, arguments={"command": "rm x"})["held"]
        item = HeldItem.objects.get(public_id=first)
        form = {"verdict": "approve", "version": item.version, "sha256": item.sha256, "grant_uses": "20"} | FORM
        answer = client.post(f"/queue/{first}/decide", form, headers={"hx-request": "true"}).content.decode()
        assert f"/queue/{second}/decide" in answer
        assert '<details class="grant" id="granting">' in answer
        assert not re.search(r'id="grant"[^>]*checked', answer)

    def test_an_edit_takes_none(self, client: Any, kuro: Any) -> None:
        held = ask(kuro)["held"]
        answer = decide(client, held, editor="json", json='{"command": "git pull"}', **FORM)
        assert answer.status_code == 422
        assert HeldItem.objects.get(public_id=held).state == "pending"


class TestTheItem:
    def test_it_shows_the_grant_its_uses_and_its_end(
        self, client: Any, as_person: Any, kuro: Any, victor: Any, mallory: Any
    ) -> None:
        grant = given(client, kuro)
        passes(kuro)
        held, path = grant.held.public_id, f"/grants/{grant.public_id}/withdraw"
        page = page_of(client, held)
        assert "Such calls pass without asking: exactly <code>Bash git push</code>, in this session, until" in page
        assert "used 1 time" in page
        assert path in page
        assert path not in page_of(as_person(victor), held)
        for person, status in ((victor, 403), (mallory, 404)):
            assert as_person(person).post(path).status_code == status
        assert client.post(path, {"back": "item"}).url == f"/queue/{held}/"
        assert "Restore grant" in page_of(client, held)
        assert not passes(kuro)

    def test_a_grant_ends_with_an_approval_that_is_undone(self, client: Any, kuro: Any, settings: Any) -> None:
        settings.UNDO_SECONDS = 60
        grant = given(client, kuro)
        assert "Such calls pass without asking:" in page_of(client, grant.held.public_id)
        client.post(f"/decisions/{grant.held.decisions.get().public_id}/undo")
        assert "Grant" in page_of(client, grant.held.public_id)
        assert "pass without asking:" not in page_of(client, grant.held.public_id).split('id="granting"')[0]

    def test_a_call_that_passed_by_it_says_so_on_its_response(self, client: Any, kuro: Any) -> None:
        grant = given(client, kuro)
        item = {"kind": "tool_call", "name": "Bash", "arguments": {"command": "git push"}, "call_id": "b"}
        response = kuro.respond("", session="s1", items=[item])["id"]
        page = client.get(f"/responses/{response}/").content.decode()
        assert re.search(rf'href="/queue/{grant.held.public_id}/"\s*>\s*passed by a grant', page)


class TestTheList:
    def test_it_has_what_is_in_force_and_what_ended_of_ones_teams(
        self, client: Any, as_person: Any, kuro: Any, mallory: Any
    ) -> None:
        grant = given(client, kuro, grant_uses="3")
        passes(kuro)
        page = client.get("/grants/").content.decode()
        assert "exactly <code>Bash git push</code>, in this session, until" in page
        assert "used 1 of 3 times" in page
        assert "Alice" in page
        assert grant.public_id not in as_person(mallory).get("/grants/").content.decode()
        assert client.get("/grants/?agent=agt_x").content.decode().count("Unknown agent") == 1
        client.post(f"/grants/{grant.public_id}/withdraw")
        assert grant.public_id not in client.get("/grants/").content.decode()
        assert grant.public_id in client.get(f"/grants/?state=ended&agent={kuro.id}").content.decode()

    def test_who_withdrew_one_restores_it_for_a_day(self, client: Any, as_person: Any, kuro: Any, bob: Any) -> None:
        grant = given(client, kuro, grant_until="7d")
        client.post(f"/grants/{grant.public_id}/withdraw")
        path = f"/grants/{grant.public_id}/restore"
        as_person(bob).post(path)
        assert not passes(kuro), "another's"
        CallGrant.objects.update(withdrawn_at=timezone.now() - timedelta(hours=25))
        client.post(path)
        assert not passes(kuro), "too late"
        CallGrant.objects.update(withdrawn_at=timezone.now() - timedelta(hours=23))
        client.post(path)
        assert passes(kuro)
        told = ["tool_call-grant-given", "tool_call-grant-withdrawn", "tool_call-grant-restored"]
        assert list(AuditEvent.objects.filter(action__in=told).order_by("pk").values_list("action", flat=True)) == told

    def test_it_takes_as_many_queries_for_many_as_for_one(
        self, client: Any, kuro: Any, django_assert_max_num_queries: Any, django_assert_num_queries: Any
    ) -> None:
        given(client, kuro)
        client.get("/grants/")
        with django_assert_max_num_queries(30) as counted:
            client.get("/grants/")
        few = len(counted.captured_queries)
        for number in range(3):
            held = ask(kuro, arguments={"command": f"git push {number}"})["held"]
            decide(client, held, **FORM)
        with django_assert_num_queries(few):
            client.get("/grants/")
