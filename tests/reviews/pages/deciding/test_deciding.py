"""Deciding through the page: bound to what was shown, once, and by those who may."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from reviews import tasks
from reviews.models import Decision, HeldItem
from tests.tables import table

HELD = "The cause is clearly the cache."


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def test_an_approval_goes_on_to_the_next_item(client: Any, kuro: Any, decide: Any) -> None:
    first, second = kuro.hold(), kuro.hold()
    assert decide(client, second).headers["Location"] == f"/queue/{first}/"
    assert decide(client, first).headers["Location"] == "/queue/"
    assert HeldItem.objects.filter(state="approved").count() == 2


def test_it_goes_on_within_the_filters(client: Any, kuro: Any) -> None:
    chat, _, later = kuro.hold("chat"), kuro.hold("remember"), kuro.hold("chat")
    held = HeldItem.objects.get(public_id=later)
    form = {"verdict": "approve", "version": held.version, "sha256": held.sha256}
    answer = client.post(f"/queue/{later}/decide?kind=chat", form)
    assert answer.headers["Location"] == f"/queue/{chat}/?kind=chat"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_same_text_from_the_form_is_an_approval(client: Any, kuro: Any, decide: Any, ends: str) -> None:
    text = f"\n{HELD}{ends}Sure.{ends}"
    held = kuro.respond(HELD, items=[{"kind": "chat", "text": text}])["items"][0]["held"]
    decide(client, held, text=text.replace("\r\n", "\n").replace("\n", "\r\n"))
    assert Decision.objects.get().verdict == "approve"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_edit_keeps_the_line_ends_of_the_text(client: Any, kuro: Any, decide: Any, ends: str) -> None:
    held = kuro.respond(HELD, items=[{"kind": "chat", "text": f"{HELD}{ends}Sure."}])["items"][0]["held"]
    decide(client, held, text="It may be the store.\r\nNot measured.")
    decision = Decision.objects.get()
    assert (decision.verdict, decision.text) == ("edit", f"It may be the store.{ends}Not measured.")


def test_a_text_that_begins_with_a_line_end_keeps_it_in_the_field(client: Any, kuro: Any) -> None:
    held = kuro.respond(HELD, items=[{"kind": "chat", "text": f"\n{HELD}"}])["items"][0]["held"]
    # HTML drops one line end after <textarea>.
    assert f">\n\n{HELD}</textarea>" in client.get(f"/queue/{held}/").content.decode()


@pytest.mark.parametrize("htmx", [False, True])
def test_a_risky_edit_is_refused_with_its_score_until_it_is_insisted_on(
    client: Any, kuro: Any, decide: Any, htmx: bool
) -> None:
    held = kuro.hold()
    answer = decide(client, held, text=f"{HELD} Really.", htmx=htmx)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "The edited text scores 50" in page
    assert f">\n{HELD} Really.</textarea>" in page
    assert "choose “Approve with edits anyway” below" in page
    assert not Decision.objects.exists()
    decide(client, held, text=f"{HELD} Really.", accept_risk="1", htmx=htmx)
    assert Decision.objects.get().text == f"{HELD} Really."


@pytest.mark.parametrize("htmx", [False, True])
def test_a_decision_after_anothers_shows_what_stands_and_keeps_the_text(
    client: Any, as_person: Any, bob: Any, kuro: Any, decide: Any, htmx: bool
) -> None:
    held = kuro.hold()
    decide(as_person(bob), held, "reject", reason="Nobody measured it.")
    answer = decide(client, held, text="My own words.", htmx=htmx)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "rejected by Bob" in page
    assert "Nobody measured it." in page
    assert "My own words." in page
    assert "Your action changed nothing." in page
    assert "Your text is still in the field." in page
    assert 'id="approve"' not in page
    assert Decision.objects.get().person == bob


@pytest.mark.parametrize("is_undone", [False, True])
def test_a_reason_that_was_not_taken_is_given_back(
    client: Any, as_person: Any, bob: Any, kuro: Any, decide: Any, is_undone: bool
) -> None:
    held = kuro.hold()
    too_long = decide(client, held, "reject", preset="tone", reason="<b> " + "x" * 10_000).content.decode()
    assert "The reason is too long" in too_long
    assert 'value="tone" checked' in too_long
    assert "data-posted>\n&lt;b&gt; xxx" in too_long
    decide(as_person(bob), held)
    if is_undone:
        as_person(bob).post(f"/decisions/{Decision.objects.get().public_id}/undo")
    form = {"version": 1, "preset": "wrong", "reason": "Nobody measured it."}
    page = decide(client, held, "reject", **form).content.decode()
    assert ("data-posted>\nNobody measured it.</textarea>" in page) == is_undone
    assert ("Your reason, which was not sent:" in page) != is_undone
    assert (">Wrong<span" in page) != is_undone
    assert "Nobody measured it." in page


def test_a_reason_of_several_lines_is_as_long_as_it_is_typed(client: Any, kuro: Any, decide: Any) -> None:
    reason = "No.\n" * 2_500
    decide(client, kuro.hold(), "reject", reason=reason.replace("\n", "\r\n"))
    assert Decision.objects.get().reason == reason.strip()


def test_a_decision_about_an_outdated_item_is_refused(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    for stale in ({"version": 7}, {"version": ""}, {"sha256": "0" * 64}, {"sha256": ""}):
        answer = decide(client, held, **stale)
        assert answer.status_code == 409
        assert "This item changed while you had it open" in answer.content.decode()
    assert not Decision.objects.exists()


def test_the_same_decision_twice_is_one(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    assert decide(client, held).status_code == 302
    assert decide(client, held).status_code == 302
    assert Decision.objects.count() == 1


def test_a_rejection_needs_a_reason(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    answer = decide(client, held, "reject", reason=" \u200b ")
    assert answer.status_code == 422
    assert "Give a reason" in answer.content.decode()
    assert decide(client, held, "reject", preset="nonsense").status_code == 422
    decide(client, held, "reject", preset="tone")
    assert Decision.objects.get().reason == "Tone"


@table(
    "fields",
    [{"verdict": "withdraw"}, {"verdict": ""}, {"text": "a\0b"}, {"verdict": "reject", "reason": "\0"}],
    rolled_back=True,
)
def test_what_no_form_of_ours_sends_is_refused(client: Any, kuro: Any, decide: Any, fields: Any) -> None:
    held = kuro.hold()
    assert decide(client, held, **({"verdict": "approve"} | fields)).status_code == 422
    assert not Decision.objects.exists()


def test_an_undo_brings_the_item_back(client: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    page = client.get(decide(client, held).headers["Location"]).content.decode()
    undo = f"/decisions/{Decision.objects.get().public_id}/undo"
    assert undo in page
    assert client.post(undo).headers["Location"] == f"/queue/{held}/"
    assert client.post(undo).headers["Location"] == f"/queue/{held}/"
    assert HeldItem.objects.get().state == "pending"


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=8)])
def test_deciding_goes_on_where_the_clock_was_set_back(
    client: Any, kuro: Any, decide: Any, noon: Any, back: timedelta
) -> None:
    decide(client, kuro.hold(), "reject", reason="Not measured.")
    noon.at -= back
    tasks.settle()
    assert len(kuro.get("/decisions?after=0").json()["items"]) == 1
    held = kuro.hold()
    decide(client, held, "reject", reason="Not measured.")
    undo = f"/decisions/{Decision.objects.get(held__public_id=held).public_id}/undo"
    assert undo in client.get("/queue/").content.decode()
    assert client.post(undo).headers["Location"] == f"/queue/{held}/"
    decide(client, held, "reject", reason="Not measured.")
    tasks.settle()
    assert len(kuro.get("/decisions?after=0").json()["items"]) == 1, "it rests"
    noon.at += timedelta(seconds=10)
    assert len(kuro.get("/decisions?after=0").json()["items"]) == 2


def test_an_undo_tells_of_itself_and_not_of_what_was_decided_later_elsewhere(
    client: Any, kuro: Any, decide: Any
) -> None:
    first, second = kuro.hold(), kuro.hold()
    decide(client, first)
    undo = f"/decisions/{Decision.objects.get().public_id}/undo"
    decide(client, second)
    page = client.post(undo, headers={"HX-Request": "true"}).content.decode()
    assert "Undone:" in page
    assert "Approved “" not in page


def test_a_decision_of_nobody_signed_in_leads_to_the_sign_in_which_says_so_and_back_to_the_item(
    kuro: Any, decide: Any
) -> None:
    held, nobody = kuro.hold(), Client()
    for is_htmx in (False, True):
        answer = decide(nobody, held, htmx=is_htmx)
        address = answer["HX-Redirect"] if is_htmx else answer["Location"]
        assert address == f"/sign-in/?next=/queue/{held}/&unsaved=decision"
    page = nobody.get(address).content.decode()
    assert "You were signed out. The decision was not saved; sign in and decide again." in page
    assert not Decision.objects.exists()


def test_after_an_undo_the_decision_before_can_be_undone(client: Any, kuro: Any, decide: Any) -> None:
    held = [kuro.hold() for _ in range(2)]
    for each in held:
        decide(client, each)
    undo = re.compile(r'action="(/decisions/[^"]+/undo)"')
    for each in reversed(held):
        page = client.get("/queue/").content.decode()
        assert client.post(undo.search(page)[1]).headers["Location"] == f"/queue/{each}/"
    page = client.get("/queue/").content.decode()
    assert "Undone:" in page
    assert not undo.search(page)


def test_an_undo_that_comes_too_late_says_so(client: Any, kuro: Any, decide: Any, undo_at_once: None) -> None:
    decide(client, kuro.hold())
    answer = client.post(f"/decisions/{Decision.objects.get().public_id}/undo")
    assert answer.status_code == 409
    assert "too late to undo" in answer.content.decode()


def test_nobody_undoes_anothers_decision(
    client: Any, as_person: Any, bob: Any, mallory: Any, kuro: Any, decide: Any
) -> None:
    decide(client, kuro.hold())
    undo = f"/decisions/{Decision.objects.get().public_id}/undo"
    assert as_person(bob).post(undo).status_code == 404
    assert as_person(mallory).post(undo).status_code == 404
    assert HeldItem.objects.get().state == "approved"


def test_a_viewer_reads_and_does_not_decide(as_person: Any, victor: Any, kuro: Any, decide: Any) -> None:
    held = kuro.hold()
    viewer = as_person(victor)
    page = viewer.get(f"/queue/{held}/").content.decode()
    assert 'id="approve"' not in page
    assert "Only reviewers can decide" in page
    answer = decide(viewer, held)
    assert answer.status_code == 403
    assert "Nothing was decided" in answer.content.decode()
    assert not Decision.objects.exists()


def test_a_stranger_finds_nothing_to_decide(as_person: Any, mallory: Any, kuro: Any, decide: Any) -> None:
    assert decide(as_person(mallory), kuro.hold()).status_code == 404


def test_a_swap_brings_the_next_item_and_the_list(client: Any, kuro: Any, decide: Any) -> None:
    first, second = kuro.hold(), kuro.hold()
    answer = decide(client, second, htmx=True)
    page = answer.content.decode()
    assert answer.headers["HX-Push-Url"] == f"/queue/{first}/"
    assert f'data-held="{first}"' in page
    assert "<html" not in page
    assert 'data-title="(1) Queue"' in page


def test_after_the_last_item_with_some_filters_none_is_left(client: Any, kuro: Any) -> None:
    held, htmx = HeldItem.objects.get(public_id=kuro.hold()), {"hx-request": "true"}
    told = "No items left with these filters"
    form = {"verdict": "approve", "version": held.version, "sha256": held.sha256}
    nothing = client.get("/queue/?kind=task")
    shown = client.get(f"/queue/{held.public_id}/next?kind=chat&now=1", headers=htmx)
    swapped = client.post(f"/queue/{held.public_id}/decide?kind=chat", form, headers=htmx)
    assert [told in answer.content.decode() for answer in (nothing, shown, swapped)] == [False, True, True]


def test_deciding_takes_a_post_with_a_token(alice: Any, kuro: Any) -> None:
    from django.test import Client

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    held = kuro.hold()
    assert strict.get(f"/queue/{held}/decide").status_code == 405
    assert strict.post(f"/queue/{held}/decide", {"verdict": "approve"}).status_code == 403


def test_the_cost_of_an_item_is_fixed(client: Any, kuro: Any, django_assert_max_num_queries: Any) -> None:
    held = kuro.hold()
    for _ in range(3):
        kuro.respond("On second thought, no.", replies_to_held=held)
    with django_assert_max_num_queries(18):
        client.get(f"/queue/{held}/", headers={"hx-request": "true"})
