"""How second looks end, and whether they agree with people: what is counted, and what the page says of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from metacog.models import Agent
from reviews.held import decisions
from reviews.learning import sweep
from reviews.metrics import agreement, daily
from reviews.models import AgentResponse, HeldItem, LookFigure
from tests.conftest import NOON
from tests.tables import table

BACK = "I was wrong: it was not the cache."
STANDS = "I looked again, and the metrics say the same."


def counts() -> dict[str, int]:
    sweep.learn()
    row = LookFigure.objects.values(*agreement.COUNTS).first() or {}
    return {name: number for name, number in row.items() if number}


@pytest.fixture
def look(kuro: Any, alice: Any, undo_at_once: None) -> Any:
    """Return a function that has an item held, looked at again in so many words, and decided."""

    def play(said: str | None, verdict: str, *, by: Any = alice, kind: str = "chat") -> HeldItem:
        held = HeldItem.objects.get(public_id=kuro.hold(kind))
        if said is not None:
            kuro.respond(said, items=[], replies_to_held=held.public_id)
        decisions.decide(held, by, verdict, edit="Perhaps it is." if verdict == "edit" else None, reason="because")
        return held

    return play


@table(
    ("said", "verdict", "counted"),
    [
        (STANDS, "approve", {"looked": 1, "stood_let_go": 1}),
        (STANDS, "edit", {"looked": 1, "stood_let_go": 1}),
        (STANDS, "reject", {"looked": 1, "stood_rejected": 1}),
        (BACK, "approve", {"looked": 1, "contradicted": 1, "back_let_go": 1}),
        (BACK, "reject", {"looked": 1, "contradicted": 1, "back_rejected": 1}),
        (None, "reject", {}),
    ],
    rolled_back=True,
)
def test_a_look_is_set_against_what_a_person_decided(
    look: Any, said: str | None, verdict: str, counted: dict[str, int]
) -> None:
    look(said, verdict)
    assert counts() == counted


@table(
    ("verdict", "name"),
    [("approve", "kept"), ("edit", "edited"), ("withdraw", "withdrew"), ("reject", "withdrew")],
    rolled_back=True,
)
def test_what_the_agent_decides_itself_is_counted_by_its_end(look: Any, kuro: Any, verdict: str, name: str) -> None:
    look(BACK, verdict, by=Agent.objects.get(public_id=kuro.id))
    assert counts() == {name: 1, "looked": 1, "contradicted": 1}


def test_what_is_said_after_the_decision_is_no_second_look(look: Any, kuro: Any, noon: Any) -> None:
    held = look(None, "approve")
    noon.at += timedelta(seconds=1)
    kuro.respond(held.text, replies_to_held=held.public_id)
    assert counts() == {}


def test_the_last_look_counts(look: Any, kuro: Any, alice: Any) -> None:
    held = HeldItem.objects.get(public_id=kuro.hold())
    for said in (STANDS, BACK):
        kuro.respond(said, items=[], replies_to_held=held.public_id)
    decisions.decide(held, alice, "reject", reason="because")
    assert counts() == {"looked": 1, "contradicted": 1, "back_rejected": 1}


def test_a_decision_counts_once_however_often_it_is_swept(look: Any) -> None:
    look(STANDS, "approve")
    counts()
    assert counts() == {"looked": 1, "stood_let_go": 1}


def test_a_decision_that_can_be_undone_does_not_count_yet(look: Any, settings: Any) -> None:
    settings.UNDO_SECONDS = 10
    look(STANDS, "approve")
    assert counts() == {}


@pytest.mark.parametrize("gone", ["what was said", "what was held"])
def test_an_erased_text_is_no_second_look(look: Any, gone: str) -> None:
    look(STANDS, "approve")
    if gone == "what was said":
        AgentResponse.objects.update(erased_at=NOON, body="")
    else:
        HeldItem.objects.update(text="")
    assert counts() == {}


class TestThePage:
    @pytest.fixture
    def figure(self, kuro: Any, posted: Any) -> Any:
        """Return a function that writes an agent's figures of second looks."""
        posted(kuro, NOON)
        daily.count_days(NOON)

        def write(**numbers: Any) -> None:
            told = {"agent": Agent.objects.get(public_id=kuro.id), "day": NOON.date(), "kind": "chat"}
            LookFigure.objects.create(**told | numbers)

        return write

    def page(self, as_person: Any, person: Any, query: str = "") -> str:
        answer = as_person(person).get("/statistics/" + query).content.decode().replace("\N{NO-BREAK SPACE}", " ")
        shown = re.sub(r' ?<abbr class="aside" tabindex="0" title="([^"]*)">±</abbr>', r" (\1)", answer)
        return " ".join(shown.split())

    def test_it_says_so_when_nobody_looked_again(self, as_person: Any, alice: Any, figure: Any) -> None:
        figure(day=NOON.date() - timedelta(days=40), kept=3)
        assert "No agent took a second look" in self.page(as_person, alice)

    def test_it_tells_each_kind_with_counts_and_intervals(self, as_person: Any, alice: Any, figure: Any) -> None:
        own = {"kept": 4, "edited": 2, "withdrew": 5}
        figure(**own, looked=40, contradicted=10, stood_let_go=25, stood_rejected=5, back_rejected=10)
        figure(kind="remember", looked=3, stood_let_go=3)
        page = self.page(as_person, alice)
        assert '11 <span class="quiet">kept 4, edited 2, withdrew 5</span>' in page
        assert '25% <span class="quiet">10 of 40</span> (95% CI 14–40%)' in page
        assert '17% <span class="quiet">5 of 30</span> (95% CI 7–34%)' in page
        assert '3 of 3 <span class="quiet">too few for a share</span>' in page
        assert "43 items that both decided on" in page
        assert "Agents and people agreed on 38 of 43 items (88%" in page
        assert "From 50 items on, this says whether that is more than chance" in page

    def test_for_one_agent_it_says_who_releases_a_kind_and_what_that_would_let_out(
        self, as_person: Any, alice: Any, kuro: Any, figure: Any
    ) -> None:
        figure(stood_let_go=18, stood_rejected=2)
        figure(kind="remember", stood_let_go=1, stood_rejected=1)
        figure(kind="task", kept=1)
        page = self.page(as_person, alice, f"?agent={kuro.id}")
        assert (
            "CHAT is released by: a person or the agent. People rejected 2 of 20 that the agent kept "
            "(10%) (95% CI 3–30%)." in page
        )
        assert "REMEMBER is released by: only a person. People rejected 1 of 2 that the agent kept, too" in page
        assert "No person has decided an item of this kind that the agent kept." in page

    @pytest.mark.parametrize(
        ("counts", "said", "behind"),
        [
            ((20, 5, 10, 15), "That is more than chance alone would give.", "0.40, 95% CI 0.15 to 0.65"),
            ((5, 20, 15, 10), "That is less than chance alone would give.", "−0.40, 95% CI −0.65 to −0.15"),
            ((13, 12, 12, 13), "That may be chance alone.", "0.04, 95% CI −0.24 to 0.32"),
            ((26, 14, 16, 21), "That may be chance alone.", "0.22, 95% CI 0.00 to 0.44"),  # nought has no sign
        ],
    )
    def test_it_tells_chance_from_fifty_items_on_and_names_the_measure_behind_a_mark(
        self, as_person: Any, alice: Any, figure: Any, counts: Sequence[int], said: str, behind: str
    ) -> None:
        names = ("stood_let_go", "stood_rejected", "back_let_go", "back_rejected")
        figure(looked=sum(counts), **dict(zip(names, counts, strict=True)))
        assert f"{said} (Cohen's kappa {behind}:" in self.page(as_person, alice).replace("&#x27;", "'")

    def test_a_stranger_sees_nothing_of_it(
        self, as_person: Any, mallory: Any, other: Any, posted: Any, figure: Any
    ) -> None:
        posted(other, NOON)
        daily.count_days(NOON)
        figure(kept=77)
        page = self.page(as_person, mallory)
        assert "No agent took a second look" in page
        assert "kept 77" not in page
