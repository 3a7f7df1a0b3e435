"""The learned risk of each item of a response, and a review budget that holds the riskiest of what would pass."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ..hesitation.modulation import HELD_KINDS
from ..text.tags import Item
from ..wire.assessment import ItemPart
from .around import Post, kinds_beside
from .features import Called, facts_in, see
from .model import Model


class Ranking(NamedTuple):
    """A model in force for an agent, and what is left of its team's review budget."""

    model: Model
    agent: str = ""  # its id, as the model knows it
    turns: int = 0  # of the session before the response
    cut: float | None = None  # the risk from which the budget holds; None: it holds nothing
    left: int = 0  # items that it may still hold today
    at: datetime | None = None  # when the response arrived


def rank_items(
    body: Mapping[str, Any],
    items: Sequence[Item],
    verdicts: Sequence[ItemPart],
    found: Mapping[str, Any],
    ranking: Ranking,
) -> list[ItemPart]:
    """Write into the verdicts the risk of what can be held; return those that the budget may hold, the riskiest first.

    `found` are the parts of the verdict on the response. What is held stays held, a tool call is left to its rule, and
    what was approved before passes.
    """
    question, post = body.get("user_message"), Post(body, found, ranking.turns, ranking.agent, ranking.at)
    risky: list[ItemPart] = []
    for item, verdict in zip(items, verdicts, strict=True):
        if verdict["recognised"] or not (item.call or item.kind in HELD_KINDS):
            continue
        facts = facts_in(
            post,
            item.text,
            kind=item.kind,
            calls=[Called(item.call.name, item.call.arguments, verdict["effects"])] if item.call else (),
            metadata=item.metadata,
            beside=kinds_beside(verdicts, verdict["index"]),
        )
        risk = verdict["risk"] = ranking.model.risk(see(item.text, question or "", facts))
        can_be_held = item.call is None and verdict["disposition"] in ("pass", "mark")
        if can_be_held and ranking.cut is not None and risk >= ranking.cut:
            risky.append(verdict)
    return sorted(risky, key=lambda verdict: (-verdict["risk"], verdict["index"]))


def hold_riskiest(risky: Sequence[ItemPart], left: int) -> None:
    """Hold as many of what `rank_items` gave as there is room for, but what was approved before."""
    for verdict in [verdict for verdict in risky if not verdict["recognised"]][:left]:
        verdict["disposition"], verdict["text"], verdict["by_budget"] = "hold", None, True
