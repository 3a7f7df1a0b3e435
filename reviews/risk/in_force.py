"""The model of risk in force for an agent, and what it says of an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import F, Q

from metacog.heuristics.parts import MANY_TURNS
from metacog.heuristics.ranking.around import Post, kinds_beside
from metacog.heuristics.ranking.features import Called, Seen, facts_in, see
from metacog.heuristics.ranking.model import Fact, Model, Reason
from metacog.heuristics.ranking.orders import Orders
from metacog.heuristics.stats.gate import CALIBRATED
from metacog.models import Agent
from reviews.models import AgentResponse, HeldItem, LearnedRisk, RiskModel

MOST_FACTS = 20  # of an item, from which pages choose


class Why(NamedTuple):
    """Why an item stands where it does in the learned order."""

    kind: str  # of the model: heuristics.ranking.model.Kind
    decisions: int  # that it was learned from
    chance: float | None  # of being rejected, where that was found to be calibrated
    judged: int  # decisions that judged the model
    reasons: Sequence[Reason]  # phrases of the item's text; of a tool call none, which may be secret
    facts: Sequence[tuple[str, Fact]]  # by name, with what is known of each
    usual: float  # the share of all these decisions that were rejections


@lru_cache(32)  # 0.5 MB a model
def _orders(key: int) -> Orders | None:
    document = RiskModel.objects.filter(pk=key).values_list("document", flat=True).first()
    return Orders.from_dict(document) if document else None


def orders_of(agent: Agent) -> Orders | None:
    """Return the orders in force, kept by their key: they never change."""
    return _orders(agent.risk_model) if agent.risk_model else None


def model_of(agent: Agent, *, is_call: bool) -> Model | None:
    """Return the model in force for an agent's words, or for its tool calls."""
    orders = orders_of(agent)
    return orders.of(is_call=is_call) if orders else None


def orders_named(team_id: int, public_id: str) -> Orders | None:
    """Return the orders that a verdict names."""
    key = RiskModel.objects.filter(team=team_id, public_id=public_id).values_list("pk", flat=True).first()
    return _orders(key) if key else None


def place(risk: float | None, score: int, model: Model | None) -> int:
    """Return where an item stands in the learned order, the least first; by its score where no model ranked it.

    Words and calls stand there by their places among their like: a risk of one says nothing of the other.
    """
    if risk is None or model is None:
        return round(1000 * (1 - score / 100))
    return round(1000 * model.place(risk))


def seen_in(
    response: AgentResponse,
    body: Mapping[str, Any],
    item: HeldItem,
    agent: Agent,
    turns: int,
    *,
    model: Model | None = None,
) -> Seen:
    """Return what a ranker sees of a held item; `response` with its verdict. `model` is to rank it, else a new one."""
    calls = []
    if item.kind == HeldItem.Kind.TOOL_CALL:
        calls = [Called(item.call.name, item.call.arguments, item.call.effects)]
    post = post_of(response, body, agent, turns)
    signs = model is not None and model.reads_signs
    return see_in(post, item.text, item.kind, calls=calls, about=(item.index, item.metadata), signs=signs)


def post_of(response: AgentResponse, body: Mapping[str, Any], agent: Agent, turns: int) -> Post:
    """Return what is known of a response, `turns` after its session began."""
    return Post(body, response.wire_verdict(), turns, agent.public_id, response.received_at)


def see_in(
    post: Post,
    text: str,
    kind: str,
    *,
    calls: Sequence[Called] = (),
    about: tuple[int, Mapping[str, Any]] | None = None,
    signs: bool = False,
) -> Seen:
    """Return what a ranker sees of a text of a post; `about` is the index and the metadata of an item."""
    beside = kinds_beside(post.verdict["items"], about[0]) if about else None
    facts = facts_in(post, text, kind=kind, calls=calls, metadata=about and about[1], beside=beside)
    return see(text, post.body.get("user_message") or "", facts, signs=signs)


class Turns:
    """How many responses each session had before one of it, up to `MANY_TURNS`."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, str], list[int]] = {}

    def before(self, response: AgentResponse) -> int:
        if not response.session:
            return 0
        key = (response.agent_id, response.session)
        if key not in self._first:
            rows = AgentResponse.objects.filter(agent=response.agent_id, session=response.session)
            self._first[key] = list(rows.order_by("pk").values_list("pk", flat=True)[:MANY_TURNS])
        return sum(pk < response.pk for pk in self._first[key])


def why(item: HeldItem) -> Why | None:
    """Say why an item stands where it does, by the model in force now; None where there is none, or no text."""
    agent, response, is_call = item.agent, item.response, item.kind == HeldItem.Kind.TOOL_CALL
    orders = orders_of(agent)
    model = orders.of(is_call=is_call) if orders else None
    if orders is None or model is None or response.erased_at or not item.text:
        return None
    seen = seen_in(response, response.wire_body(), item, agent, Turns().before(response), model=model)
    learned = learned_for(agent, is_call=is_call and not orders.are_one)
    gate = (learned.found.get("gate") if learned else None) or {}
    risk = model.risk(seen)
    is_calibrated = model.kind == "learned" and gate.get("calibration_error", 1.0) <= CALIBRATED
    return Why(
        kind=model.kind,
        decisions=model.cases,
        chance=risk if is_calibrated else None,
        judged=gate.get("decisions", 0),
        reasons=[] if is_call else model.because(seen, item.text),
        facts=[(name, model.facts[name]) for name, _ in model.because_of(seen, MOST_FACTS)],
        usual=model.rejected / model.cases if model.cases else 0.0,
    )


def learned_for(agent: Agent, *, is_call: bool) -> LearnedRisk | None:
    """Return what the model in force for an agent came from: its own learning, else its team's."""
    found = LearnedRisk.objects.filter(Q(agent=agent) | Q(agent=None), team=agent.team_id, of_calls=is_call)
    return found.exclude(model=None).order_by(F("agent").asc(nulls_last=True)).first()
