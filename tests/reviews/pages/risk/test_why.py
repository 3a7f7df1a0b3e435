"""Why an item stands where it does in the order of the learned risk, as its page says it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from metacog.heuristics.ranking.model import Fact
from metacog.models import Agent, Team
from reviews.models import ContrastLook, HeldItem
from tests.reviews.pages.risk.learned import keep, learned


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def test_it_names_its_rank_and_marks_the_phrases_that_raise_it(client: Any, aurora: Any, kuro: Any) -> None:
    held = kuro.hold()
    assert "<h2>Learned risk" not in client.get(f"/queue/{held}/").content.decode()
    keep(aurora, learned(), calibration_error=0.2)
    phrase = {"text": "cache", "rejected": 14, "cases": 16, "usual": 0.3}
    agents = [Agent.objects.get(public_id=kuro.id).pk]
    look = ContrastLook.objects.create(team=aurora, at=timezone.now(), texts=40, reasons={"told": [], "phrases": []})
    for found_in, is_told in (([], False), (agents, True)):
        look.reasons["phrases"] = [{**phrase, "agents": found_in}]
        look.save()
        page = client.get(f"/queue/{held}/").content.decode()
        section = re.search(r"<section[^>]*><h2>Learned risk.*?</section>", page, re.DOTALL)[0]
        assert ("<q>cache</q>: 14 of 16 rejected, of texts like these 30%" in section) == is_told
    assert "Learned from 400 decisions" in section
    assert "People reject about" not in section  # not calibrated: a rank only
    # The phrase is marked in the text in its own way, within it the error pattern that fired on one of its words.
    text = re.search(r'id="text"[^>]*>(.*?)</div>', page, re.DOTALL)[1]
    marks = re.findall(r'<mark\s+class="([^"]*)"\s+title="([^"]*)"', text)
    assert [kind for kind, _ in marks if "learned" in kind or "pattern" in kind] == ["signal s-pattern", "learned"]
    assert marks[-2][1] == marks[-1][1]
    assert "raises the learned risk:)" in text


def test_a_percentage_is_told_where_it_was_checked(client: Any, aurora: Any, kuro: Any) -> None:
    held = kuro.hold()
    keep(aurora, learned(), calibration_error=0.03)
    page = html.unescape(client.get(f"/queue/{held}/").content.decode())
    assert re.search(r"People reject about \d+% of such items \(checked on n\s=\s360 decisions\)", page)


def test_where_length_orders_as_well_that_is_what_it_says(client: Any, aurora: Any, kuro: Any) -> None:
    text = "The cause is clearly the cache. " * 20
    held = kuro.respond(text)["items"][0]["held"]
    keep(aurora, learned("length"))
    HeldItem.objects.update(risk=0.7, risk_place=41)
    page = client.get(f"/queue/{held}/").content.decode()
    assert re.search(r'</b> <span class="quiet">ordered by length\s*</span>', page)
    assert "its length (640 characters)" in page
    assert "Ordered by length alone: on 400 decisions of your team nothing that was learned did clearly better." in page
    assert "no judgment: what stands lower may do more harm." in page
    assert "<q>" not in re.search(r"<h2>Learned risk.*?</section>", page, re.DOTALL)[0]


def test_a_question_has_no_risk_and_is_named_as_such(client: Any, aurora: Any, kuro: Any) -> None:
    keep(aurora, learned())
    held = kuro.respond("", items=[{"kind": "question", "text": "Which account?"}])["items"][0]["held"]
    page = client.get(f"/queue/{held}/").content.decode()
    assert "<h2>Learned risk" not in page
    assert "to look again at what is held: Question" in page


def test_what_the_budget_alone_held_says_so(client: Any, aurora: Any, kuro: Any) -> None:
    held, told = kuro.hold(), "Held by the review budget: no signal and no rule held it."
    assert told not in client.get(f"/queue/{held}/").content.decode()
    HeldItem.objects.update(by_budget=True)
    assert told in client.get(f"/queue/{held}/").content.decode()


def test_the_facts_are_told_in_plain_words(client: Any, aurora: Any, kuro: Any) -> None:
    from reviews.models import RiskModel

    held = kuro.hold(user_message="Why is it slow?")
    row = keep(aurora, learned())
    agent = Agent.objects.get(public_id=kuro.id)
    facts = {
        f"agent:{kuro.id}": "the agent kuro",
        "score": "its score (50)",
        "signal:error-pattern": "the signal “Error pattern”",
        "kind:chat": "its kind (CHAT)",
        "question-length": "the length of the user&#x27;s message (15 characters)",
    }
    often, seldom = Fact(3.0, 0.0, 100, 90), Fact(9.0, 0.0, 100, 5)
    counted = {"kind:chat": often, "signal:error-pattern": seldom, "score": seldom}
    share = f"{100 * learned().rejected / 400:.0f}%"
    for known, lines, heading in (
        (dict.fromkeys(facts, Fact(3.0, 0.0)), set(facts.values()), "What raises its risk:"),
        (counted, {"its score (50)", "its kind (CHAT): 90 of 100 rejected"},
         f"What raises its risk (of all, {share} were rejected):"),
    ):  # fmt: skip
        document = replace(learned().model, facts=known).as_dict()
        name = f"risk_of_{len(known)}"
        model = RiskModel.objects.create(team=aurora, public_id=name, document=document, made_at=row.made_at)
        Agent.objects.filter(pk=agent.pk).update(risk_model=model.pk)
        page = client.get(f"/queue/{held}/").content.decode()
        told = re.search(r"<h2>Learned risk.*?</section>", page, re.DOTALL)[0]
        assert lines == set(re.findall(r"<li>([^<]*)</li>", told))
        assert heading in " ".join(told.split())


def test_a_row_in_this_order_shows_its_rank_and_says_why_once_it_is_asked(
    client: Any, aurora: Any, kuro: Any, as_person: Any, mallory: Any
) -> None:
    held = kuro.respond("The cause is clearly the cache. " * 20)["items"][0]["held"]
    assert client.get(f"/queue/{held}/why").status_code == 204, "nothing is known"
    keep(aurora, learned("length"))
    Team.objects.update(risk_kind="length")
    own = f"/queue/{held}/"
    assert 'class="rank"' not in client.get("/queue/").content.decode(), "no model ranked it"
    assert "that people decided" not in client.get(own).content.decode()
    HeldItem.objects.update(risk=0.7, risk_place=41)
    page = client.get("/queue/").content.decode()
    assert f'data-why="/queue/{held}/why">top 5%</span>' in page
    assert "<b>Top 5% of the items that people decided</b>" in client.get(own).content.decode(), "as the row"
    assert 'class="rank"' not in client.get("/queue/?order=risk").content.decode()
    assert client.get(f"/queue/{held}/why").content.decode() == "Raised by:\nits length (640 characters)"
    assert as_person(mallory).get(f"/queue/{held}/why").status_code == 404
