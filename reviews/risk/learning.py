"""Learn from what people decided, once a day for each team, and put in force what passes the gate.

What teaches are released decisions of people on held items, and their judgements of spot checks, which stand for what
nobody looked at. What was undone, has expired, was decided by the agent itself or has been erased teaches nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Sum

from metacog.audit import audit
from metacog.heuristics.decided import belongs
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.ranking.features import Called, Seen
from metacog.heuristics.ranking.learning import Decided, Learned, in_words, learn
from metacog.heuristics.ranking.model import Model, thinned
from metacog.heuristics.ranking.orders import Orders
from metacog.heuristics.text.reading import seconds_to_read
from metacog.heuristics.text.tags import Item, items_of
from metacog.heuristics.wire.assessment import ItemPart
from metacog.models import Agent, Team
from reviews.isolation import by_itself, in_turn
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem, LearnedRisk, RiskModel, Sample
from reviews.risk import choices, in_force

__all__ = ["in_words", "learn_and_keep", "learn_due"]

AFRESH = timedelta(days=1)
TURN_SECONDS = 120.0  # in which a run begins with teams; it ends before the task's limit
MOST = 20_000  # decisions, the newest
ENOUGH_OF_AGENT = 200  # decisions from which an agent is learned for by itself
MOST_AGENTS = 20  # of a team, those with the most decisions
RECENT = timedelta(days=30)
MOST_RECENT = 5_000  # responses of those days whose risks are looked at, the newest
SPREAD = 1_000  # risks that stand for all of them
AT_ONCE = 100  # rows that are read together: a response may have a megabyte


class Text(NamedTuple):
    """A recent text that can be held, as the model sees it."""

    agent: int
    seen: Seen
    passed: bool  # nothing but a budget held it
    is_call: bool


def learn_due(now: datetime) -> int:
    """Learn for the teams of which was learned a day ago; return for how many. One that fails holds up no other."""
    fresh = LearnedRisk.objects.filter(team=OuterRef("pk"), agent=None, made_at__gt=now - AFRESH, made_at__lte=now)
    decided = Decision.objects.filter(held__team=OuterRef("pk"), by=Decision.By.PERSON, seq__isnull=False)
    began, learned = monotonic(), 0
    due = Team.objects.filter(Exists(decided)).exclude(Exists(fresh)).values_list("pk", flat=True)
    for key in in_turn("learn-risk", due):
        with by_itself("No risk learned for the team with the key %s", key):
            learn_and_keep(Team.objects.get(pk=key), now)
            learned += 1
        if monotonic() - began > TURN_SECONDS:
            break
    return learned


class Kept(NamedTuple):
    """What was learned of a team's words or tool calls, and the row that tells of it."""

    learned: Learned
    row: LearnedRisk


class OfKind(NamedTuple):
    """What was learned of a team's words, or of its tool calls; and of its agents' by themselves."""

    of_calls: bool
    of_team: Learned
    own: Mapping[int, Learned]  # by the keys of agents

    def model_for(self, agent: int | None) -> Model | None:
        """Return what orders for the team, or for one of its agents; None: nothing does, or the score alone."""
        if self.of_team.order in (None, "score"):
            return None
        own = self.own.get(agent) if agent else None
        return own.model if own and own.order == "learned" else self.of_team.model

    def is_used(self, agent: int | None) -> bool:
        """Say whether what was learned of the team, or of an agent alone, orders anything."""
        return self.model_for(agent) is not None and (agent is None or self.own[agent].order == "learned")


def learn_and_keep(team: Team, now: datetime) -> list[Kept]:
    """Learn for a team and its agents, put in force what passes the gate, and rank anew what waits.

    Words and tool calls are learned of apart, as far as something was decided about them.
    """
    learned = [each for of_calls in (False, True) if (each := _learn(team, of_calls=of_calls)).of_team.decisions]
    learned = learned or [OfKind(False, learn(()), {})]
    texts = list(_recent(team, now))
    with transaction.atomic(durable=True):
        team = Team.objects.select_for_update().get(pk=team.pk)
        before = {False: team.risk_kind, True: team.risk_calls}
        row = _row(team, learned, None, now)
        kept = [Kept(each.of_team, _keep(team, None, each, row, texts, now)) for each in learned]
        rows = {agent: _row(team, learned, agent, now) for agent in {key for each in learned for key in each.own}}
        own = [_keep(team, agent, each, rows[agent], texts, now) for each in learned for agent in each.own]
        keys = [each.pk for each in (*(each.row for each in kept), *own)]
        LearnedRisk.objects.filter(team=team).exclude(pk__in=keys).delete()
        # The key of metadata stands in `found`.
        after = {
            each.of_calls: (each.of_team.order or "").partition(":")[0] for each in learned if each.model_for(None)
        }
        team.risk_kind, team.risk_calls = after.get(False, ""), after.get(True, "")
        team.risk_cut, team.risk_calls_cut = (choices.budget_cut(team, of_calls=each) for each in (False, True))
        team.risk_model = row.pk if row else None
        team.save(update_fields=["risk_kind", "risk_calls", "risk_cut", "risk_calls_cut", "risk_model"])
        Agent.objects.filter(team=team).update(risk_model=team.risk_model)
        for agent, model in rows.items():
            Agent.objects.filter(pk=agent).update(risk_model=model and model.pk)
        for each in learned:
            audit.record(
                "risk-of-calls-learned" if each.of_calls else "risk-learned",
                str(team.pk),
                actor=None,
                team=team,
                before=before[each.of_calls],
                after=after.get(each.of_calls, ""),
                decisions=each.of_team.decisions,
                model=row.public_id if row and each.model_for(None) else None,
            )
    _rank_anew(team)
    return kept


def _learn(team: Team, *, of_calls: bool) -> OfKind:
    decided = _decided(team, of_calls=of_calls)
    of_team = learn(each for some in decided.values() for each in some)
    own: dict[int, Learned] = {}
    if len(decided) > 1:
        for agent in sorted(decided, key=lambda each: (-len(decided[each]), each))[:MOST_AGENTS]:
            if len(decided[agent]) >= ENOUGH_OF_AGENT:
                own[agent] = learn(decided[agent], team=of_team.judged)
    return OfKind(of_calls, of_team, own)


def _row(team: Team, learned: Sequence[OfKind], agent: int | None, now: datetime) -> RiskModel | None:
    """Keep what orders the words and the calls of a team, or of one of its agents; None: nothing does."""
    models = {each.of_calls: each.model_for(agent) for each in learned}
    orders = Orders(models.get(False), models.get(True))
    if not (orders.words or orders.calls):
        return None
    defaults = {"document": orders.as_dict(), "made_at": now}
    return RiskModel.objects.get_or_create(team=team, public_id=orders.id, defaults=defaults)[0]


def _keep(
    team: Team, agent: int | None, of_kind: OfKind, row: RiskModel | None, texts: Sequence[Text], now: datetime
) -> LearnedRisk:
    learned = of_kind.of_team if agent is None else of_kind.own[agent]
    model = learned.model if of_kind.is_used(agent) else None
    passing = [
        model.risk(text.seen)
        for text in texts
        if model and text.passed and text.is_call == of_kind.of_calls and agent in (None, text.agent)
    ]
    about = {"team": team, "agent_id": agent, "of_calls": of_kind.of_calls}
    kept = LearnedRisk.objects.filter(**about).first() or LearnedRisk(**about)
    kept.found, kept.model, kept.made_at = learned.as_dict(), row if model else None, now
    kept.passing = {"days": RECENT.days, "items": len(passing), "risks": thinned(passing, SPREAD)}
    kept.save()
    return kept


def _rank_anew(team: Team) -> None:
    """Give what waits its risk by the models now in force."""
    waiting = HeldItem.objects.filter(team=team, state=HeldItem.State.PENDING, response__erased_at=None)
    waiting = waiting.exclude(kind=HeldItem.Kind.QUESTION)
    rows = waiting.select_related("agent", "response", "call").order_by("pk")
    counted = in_force.Turns()
    some: list[HeldItem] = []
    for item in rows.iterator(chunk_size=AT_ONCE):
        model = in_force.model_of(item.agent, is_call=item.kind == HeldItem.Kind.TOOL_CALL)
        item.risk = None
        if model:
            turns = counted.before(item.response)
            seen = in_force.seen_in(item.response, item.response.wire_body(), item, item.agent, turns, model=model)
            item.risk = model.risk(seen)
        item.risk_place = in_force.place(item.risk, item.hesitation_score, model)
        some.append(item)
        if len(some) == AT_ONCE:
            HeldItem.objects.bulk_update(some, ["risk", "risk_place"])
            some.clear()
    HeldItem.objects.bulk_update(some, ["risk", "risk_place"])


# -- what teaches ------------------------------------------------------------------------------------------------


def _decided(team: Team, *, of_calls: bool = False) -> dict[int, list[Decided]]:
    """Return what was decided about words or tool calls, by agent: on held items; of words on spot checks, too."""
    found: dict[int, list[Decided]] = defaultdict(list)
    decisions = (
        Decision.objects.filter(
            held__team=team, by=Decision.By.PERSON, seq__isnull=False, held__response__erased_at=None
        )
        .exclude(verdict__in=(DecisionVerdict.WITHDRAW, DecisionVerdict.EXPIRE))
        .select_related("held__response", "held__call", "agent")
        .order_by("-decided_at", "-pk")
    )
    if of_calls:
        decisions = decisions.filter(held__kind=HeldItem.Kind.TOOL_CALL)
    else:
        decisions = decisions.exclude(held__kind__in=HeldItem.NO_WORDS)
    turns = in_force.Turns()
    for decision in decisions[:MOST].iterator(chunk_size=AT_ONCE):
        held, response, body = decision.held, decision.held.response, decision.held.response.wire_body()
        seen = in_force.seen_in(response, body, held, decision.agent, turns.before(response))
        found[decision.agent_id].append(
            Decided(
                seen,
                decision.verdict == DecisionVerdict.REJECT,
                decision.decided_at.timestamp(),
                _belongs(decision.agent_id, body),
                care=_care(decision.shown_ms, held.text),
                key=held.public_id,
                by=str(decision.person_id or ""),
            )
        )
    if of_calls:
        return found
    samples = Sample.objects.filter(agent__team=team, response__erased_at=None)
    shares = {
        agent: (judged or 0.0) / everything
        for agent, everything, judged in samples.order_by()
        .values("agent")
        .annotate(everything=Sum("stands_for"), judged=Sum("stands_for", filter=~Q(verdict="")))
        .values_list("agent", "everything", "judged")
    }
    judged = samples.exclude(verdict="").select_related("response", "agent").order_by("-judged_at", "-pk")[:MOST]
    for sample in judged.iterator(chunk_size=AT_ONCE):
        response, body = sample.response, sample.response.wire_body()
        post = in_force.post_of(response, body, sample.agent, turns.before(response))
        assert sample.judged_at
        found[sample.agent_id].append(
            Decided(
                in_force.see_in(post, *_as_one(response, body)),
                sample.verdict == Sample.Finding.MISSED,
                sample.judged_at.timestamp(),
                _belongs(sample.agent_id, body),
                stands_for=sample.stands_for / shares[sample.agent_id],
                was_held=False,
                key=sample.public_id,
            )
        )
    return found


def _belongs(agent: int, body: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what a text belongs to; two agents may use the same names."""
    return tuple(f"{agent} {name}" for name in belongs(body.get("session"), body.get("metadata")))


def _care(shown_ms: int | None, text: str) -> float:
    """Return how long a person had a text before them beside the time that reading it takes, up to 1."""
    if shown_ms is None:
        return 1.0
    return min(1.0, shown_ms / 1000 / max(1.0, seconds_to_read(text)))


def _items(response: AgentResponse, body: Mapping[str, Any]) -> list[tuple[Item, ItemPart]]:
    """Return what of a response can be held, with what the verdict says of it."""
    answers = response.wire_verdict()["items"]
    items = items_of(body, plain_text_as_chat=bool(answers))
    pairs = zip(items, answers, strict=False)
    return [(item, answer) for item, answer in pairs if item.call or item.kind in HELD_KINDS]


def _as_one(response: AgentResponse, body: Mapping[str, Any]) -> tuple[str, str]:
    """Return what people judge of a spot check as one text, and its kind."""
    words = [item for item, _ in _items(response, body) if not item.call]
    return "\n".join(item.text for item in words) or body["response"], words[0].kind if words else ""


def _recent(team: Team, now: datetime) -> Iterator[Text]:
    """Give the texts of the last 30 days that can be held, of the newest responses."""
    latest = AgentResponse.objects.filter(
        agent__team=team, received_at__gte=now - RECENT, hesitation_score__isnull=False, erased_at=None
    )
    turns = in_force.Turns()
    rows = latest.select_related("agent").order_by("-received_at", "-pk")[:MOST_RECENT]
    for response in rows.iterator(chunk_size=AT_ONCE):
        body = response.wire_body()
        post = in_force.post_of(response, body, response.agent, turns.before(response))
        for item, answer in _items(response, body):
            call = item.call
            calls = [Called(call.name, call.arguments, answer.get("effects", ()))] if call else []
            seen = in_force.see_in(post, item.text, item.kind, calls=calls, about=(answer["index"], item.metadata))
            passed = answer["disposition"] in ("pass", "mark") or answer.get("by_budget", False)
            yield Text(response.agent_id, seen, passed and not answer["recognised"], call is not None)
