"""Why people reject: the reasons they typed as headings, the phrases that hold, and items like one."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts.retention import set_retention
from metacog.models import Policy
from reviews import retention
from reviews.held import decisions, similar
from reviews.learning import contrast, reason_groups
from reviews.models import AgentResponse, ContrastLook, Decision, HeldItem

PLACES = ("Porto", "Graz", "Cork", "Lyon", "Ghent", "Turku", "Leeds", "Bremen", "Basel", "Kyoto", "Malmo", "Izmir")
DATE = "It is clearly the cache. Your parcel to {} has guaranteed delivery by tomorrow noon."
FINE = "It is clearly the cache. The manual for {} is in the box, on page seven."


@pytest.fixture
def decided(kuro: Any, alice: Any, undo_at_once: None) -> None:
    """Twelve rejections, ten of them for one reason in two wordings, and as many approvals."""
    Policy.objects.update(hold_at=30)
    for number, place in enumerate(PLACES):
        reason = "promises a date" if number < 6 else "Promised a date!" if number < 10 else "wrong order"
        for text, verdict, how in ((DATE, "reject", {"reason": reason}), (FINE, "approve", {})):
            (item,) = kuro.respond(text.format(place), session=f"{place} {verdict}")["items"]
            decisions.decide(HeldItem.objects.get(public_id=item["held"]), alice, verdict, **how)
    contrast.look_due(timezone.now())


def test_typed_reasons_are_headings_with_their_counts(decided: None, alice: Any, as_person: Any) -> None:
    page = html.unescape(as_person(alice).get("/statistics/risk/").content.decode())
    told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "Rejected for" in told
    assert "promises a date (10)" in told
    assert "wrong order (2)" in told
    assert re.search(r"Newest:\s*(<a [^>]*>1</a>), (<a [^>]*>2</a>), (<a [^>]*>3</a>)<", page)


def test_a_phrase_holds_by_itself_from_ten_rejections_on(decided: None, aurora: Any, kuro: Any) -> None:
    kept = reason_groups.of_team(aurora)
    (phrase,) = kept["phrases"]
    assert "guaranteed delivery" in phrase["text"], "the place, the cache and what it goes with are none"
    assert (phrase["rejected"], phrase["cases"]) == (12, 12)
    agent = HeldItem.objects.latest("pk").agent_id
    text = "Yes: Guaranteed delivery by tomorrow noon."
    (found,) = reason_groups.phrases_in(text, agent, kept)
    assert text[found.start : found.end].casefold() == phrase["text"]
    assert reason_groups.phrases_in(text, agent + 1, kept) == [], "it was not found in another agent's"


def test_else_it_says_what_was_decided_of_the_items_most_like_it(decided: None, aurora: Any, kuro: Any) -> None:
    kept = reason_groups.of_team(aurora)
    (item,) = kuro.respond(DATE.format("Oslo"))["items"]
    alike = HeldItem.objects.get(public_id=item["held"])
    found = similar.near(alike, kept["told"])
    assert found
    assert (found.of, found.reason) == (9, "promises a date")
    assert found.rejected == len(found.items) >= 7
    (item,) = kuro.respond("Clearly something of an entirely different kind, about penguins and the cache.")["items"]
    assert similar.near(HeldItem.objects.get(public_id=item["held"]), kept["told"]) is None
    Decision.objects.filter(held__public_id__in=found.items[2:]).update(verdict="approve")
    assert similar.near(alike, kept["told"]) is None, "most of those like it were approved"


def test_what_people_said_goes_with_the_texts_and_is_counted_anew(decided: None, aurora: Any, olga: Any) -> None:
    assert ContrastLook.objects.get().reasons["told"]
    set_retention(aurora, 30, olga)
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=40))
    HeldItem.objects.update(closed_at=timezone.now() - timedelta(days=40))
    retention.erase()
    assert ContrastLook.objects.get().reasons is None
    contrast.look_due(timezone.now() + timedelta(hours=1))
    assert ContrastLook.objects.get().reasons == {"told": [], "calls": [], "phrases": []}


def test_a_secret_in_a_reason_is_in_no_heading(kuro: Any, alice: Any, undo_at_once: None) -> None:
    secret = "ghp_" + "b7Qd2XkT9wLmR4vNcY8sHfJ6" + "pZ3aE5gU1iKo"
    Policy.objects.update(rules=[{"tool": "*", "do": "ask"}])
    for number in range(3):
        call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": f"make step-{number}"}}
        (item,) = kuro.respond("", items=[call])["items"]
        reason = f"shows the token {secret}"
        decisions.decide(HeldItem.objects.get(public_id=item["held"]), alice, "reject", reason=reason)
    contrast.look_due(timezone.now())
    kept = str(ContrastLook.objects.get().reasons)
    assert "shows the token" in kept
    assert secret not in kept
