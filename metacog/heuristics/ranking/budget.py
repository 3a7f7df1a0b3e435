"""The learned risk of each item of a response, and a review budget that holds the riskiest of what would pass."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ..hesitation.modulation import HELD_KINDS
from ..text.tags import TOOL_CALL, Item
from ..wire.assessment import ItemPart
from .around import Post, kinds_beside
from .features import Called, facts_in, see
from .orders import Orders


class Budget(NamedTuple):
    """What is left of a team's review budget for words, or of that for tool calls."""

    cut: float | None = None  # the risk from which it holds; None: it holds nothing
    left: int = 0  # items that it may still hold today
    again: Sequence[int] = ()  # indexes of calls that it held before and that wait: they take no room


class Ranking(NamedTuple):
    """The orders in force for an agent, and what is left of its team's review budgets."""

    orders: Orders
    agent: str = ""  # its id, as the models know it
    turns: int = 0  # of the session before the response
    words: Budget = Budget()
    calls: Budget = Budget()
    at: datetime | None = None  # when the response arrived

    def budget(self, *, is_call: bool) -> Budget:
        return self.calls if is_call else self.words


def rank_items(
    body: Mapping[str, Any],
    items: Sequence[Item],
    verdicts: Sequence[ItemPart],
    found: Mapping[str, Any],
    ranking: Ranking,
) -> list[ItemPart]:
    """Write into the verdicts the risk of what can be held; return those that a budget may hold, the riskiest first.

    `found` are the parts of the verdict on the response. What is held or denied stays so, and what was approved before
    passes.
    """
    question, post = body.get("user_message"), Post(body, found, ranking.turns, ranking.agent, ranking.at)
    risky: list[ItemPart] = []
    for item, verdict in zip(items, verdicts, strict=True):
        is_call = item.call is not None
        model = ranking.orders.of(is_call=is_call)
        if model is None or verdict["recognised"] or not (is_call or item.kind in HELD_KINDS):
            continue
        facts = facts_in(
            post,
            item.text,
            kind=item.kind,
            calls=[Called(item.call.name, item.call.arguments, verdict["effects"])] if item.call else (),
            metadata=item.metadata,
            beside=kinds_beside(verdicts, verdict["index"]),
        )
        risk = verdict["risk"] = model.risk(see(item.text, question or "", facts, signs=model.reads_signs))
        cut = ranking.budget(is_call=is_call).cut
        if verdict["disposition"] in ("pass", "mark") and cut is not None and risk >= cut:
            risky.append(verdict)
    return sorted(risky, key=lambda verdict: (-verdict["risk"], verdict["index"]))


def hold_riskiest(risky: Sequence[ItemPart], ranking: Ranking) -> None:
    """Hold as many of what `rank_items` gave as there is room for, but what was approved before."""
    for is_call in (False, True):
        budget = ranking.budget(is_call=is_call)
        own = [each for each in risky if not each["recognised"] and (each["kind"] == TOOL_CALL) == is_call]
        again = [each for each in own if each["index"] in budget.again]
        new = [each for each in own if each["index"] not in budget.again]
        for verdict in (*again, *new[: budget.left]):
            verdict["disposition"], verdict["text"], verdict["by_budget"] = "hold", None, True
