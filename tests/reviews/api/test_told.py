"""Figures that an agent was given earlier in a session need no source; whatever scores a response again knows that."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from metacog import heuristics
from metacog.models import Agent, Policy
from patterns.patterns.scorer import scorer_for
from reviews.held import decisions
from reviews.learning.backtest import backtest
from reviews.models import AgentResponse, HeldItem
from reviews.scoring.preview import preview
from reviews.scoring.replay import Replayer
from tests.tables import table

PRICE = "It costs $189.50."


@pytest.fixture(autouse=True)
def sources_are_wanted(kuro: Any) -> None:
    Policy.objects.update(profile="aware", weights={"no-source": 50})


def is_held(kuro: Any, response: str = PRICE, **fields: Any) -> bool:
    disposition: str = kuro.respond(response, **fields)["items"][0]["disposition"]
    return disposition == "hold"


@table("field", ["user_message", "command_output"], rolled_back=True)
def test_figures_given_earlier_in_the_session_need_no_source(kuro: Any, field: str) -> None:
    kuro.respond("", items=[], session="s1", **{field: '{"price": 189.5}'})
    for number in range(6):
        kuro.respond(f"Step {number}.", session="s1", user_message="Go on.")
    assert not is_held(kuro, session="s1")
    assert is_held(kuro, "It costs $188.50.", session="s1")
    assert is_held(kuro, session="s2")


def test_what_belongs_to_no_session_has_no_earlier(kuro: Any) -> None:
    kuro.respond("", items=[], user_message="189.5")
    assert is_held(kuro)


def test_what_was_erased_is_forgotten(kuro: Any) -> None:
    kuro.respond("", items=[], session="s1", user_message="189.5")
    AgentResponse.objects.update(body="", history="", erased_at=timezone.now())
    assert is_held(kuro, session="s1")


@table("policy", [{"profile": "seed"}, {"weights": {"no-source": 0}}], rolled_back=True)
def test_nothing_is_remembered_for_who_does_not_ask(kuro: Any, policy: dict[str, Any]) -> None:
    Policy.objects.update(**policy)
    for _ in range(2):
        kuro.respond("Done.", session="s1", user_message="189.5")
    assert "189.5" not in "".join(AgentResponse.objects.values_list("history", flat=True))


class TestScoredAgain:
    """The same price twice, known to the second response only; a third names another."""

    @pytest.fixture(autouse=True)
    def talk(self, kuro: Any) -> None:
        for session, response in (("s2", PRICE), ("s1", "Let me see."), ("s1", PRICE), ("s1", "It costs $7.90.")):
            kuro.respond(response, session=session, user_message="189.5" if response == "Let me see." else "And?")

    def test_a_replay_is_equal(self) -> None:
        replayer = Replayer()
        rows = AgentResponse.objects.select_related("agent__team").order_by("pk")
        assert [replayer.replay(row).is_equal for row in rows] == [True] * 4

    def test_rescoring_changes_nothing(self) -> None:
        out = io.StringIO()
        call_command("rescore", stdout=out)
        assert "4 responses; what would change: nothing" in out.getvalue()

    def test_a_draft_is_tried_on_the_same(self) -> None:
        agent = Agent.objects.select_related("team").get()
        scorer = scorer_for(agent)
        found = preview(agent, scorer, heuristics.Policy.from_dict({**scorer.policy.as_dict(), "hold_at": 40}))
        assert (found.now.held, found.then.held) == (2, 2)

    def test_so_is_a_pattern(self, aurora: Any) -> None:
        found = backtest(aurora, ["it costs"])
        assert (found.fired, found.held, found.marked) == (3, 2, 1)

    def test_an_edit_may_say_what_was_given_earlier(self, alice: Any) -> None:
        held = HeldItem.objects.select_related("response", "agent__team").get(response__session="s1")
        with pytest.raises(decisions.StillRisky):
            decisions.decide(held, alice, "edit", edit="It costs $188.50.")
        decisions.decide(held, alice, "edit", edit=PRICE)
