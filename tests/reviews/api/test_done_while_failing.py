"""What is said to be done beside a failed command: held, and known to whatever scores the response again."""

from __future__ import annotations

import io
from typing import Any

from django.core.management import call_command

from metacog import heuristics
from metacog.models import Agent, Policy
from patterns.patterns.scorer import scorer_for
from reviews.held import decisions
from reviews.learning.backtest import backtest
from reviews.models import AgentResponse, HeldItem, Signal
from reviews.scoring.preview import preview
from reviews.scoring.replay import Replayer

FIXED = "The lock is fixed."


def test_it_is_held_and_whatever_scores_it_again_knows_what_failed(kuro: Any) -> None:
    Policy.objects.update(profile="aware", weights={"done-while-failing": 50})
    failed, worked = (kuro.respond(FIXED, command="pytest -x", command_failed=is_so) for is_so in (True, False))
    (signal,) = failed["hesitation"]["signals"]
    assert signal["detail"] == "says “fixed” while the command failed: pytest -x"
    assert signal["spans"] == [{"start": 12, "end": 17, "text": "fixed"}]
    assert [verdict["items"][0]["disposition"] for verdict in (failed, worked)] == ["hold", "pass"]
    assert Signal.objects.get().type == "done-while-failing"

    assert all(Replayer().replay(row).is_equal for row in AgentResponse.objects.select_related("agent__team"))
    out = io.StringIO()
    call_command("rescore", stdout=out)
    assert "2 responses; what would change: nothing" in out.getvalue()

    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    scorer = scorer_for(agent)
    found = preview(agent, scorer, heuristics.Policy.from_dict({**scorer.policy.as_dict(), "hold_at": 51}))
    assert (found.now.held, found.then.held) == (1, 0)
    assert (found.scores, backtest(agent.team, ["lock"]).held) == ({50: 1, 0: 1}, 1)

    held = HeldItem.objects.select_related("agent__team", "response").get()
    edits = [decisions.score_edit(held, text) for text in ("All is done.", "Not done.")]
    assert [edit and edit.hesitation.score for edit in edits] == [50, 0]
