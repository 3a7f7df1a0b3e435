"""Fit weights to what people said of an agent's responses, and keep what came of it for the policy page.

A verdict is a person's decision of a held item, or a person's judgement of a spot check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from metacog import heuristics
from metacog.db.rows import Readable
from metacog.heuristics.decided import belongs
from metacog.heuristics.hesitation import weight_fit
from metacog.heuristics.hesitation.weight_fit import Case, Fit, Signals
from metacog.models import Agent, AgentState, Policy
from reviews.isolation import by_itself, in_turn
from reviews.metrics import daily
from reviews.models import AgentResponse, Decision, DecisionVerdict, FittedWeights, HeldItem, Sample, Signal
from reviews.risk.in_force import Turns
from reviews.scoring.preview import DAYS, MOST

SINCE = timedelta(days=90)  # verdicts of responses that are older say little about an agent that goes on changing
MOST_DECISIONS = 10_000  # the newest
AFRESH = timedelta(days=1)
AGENTS_A_RUN = 5  # the worker has other things to do, and comes back


def fit_due(now: datetime) -> int:
    """Fit anew for agents whose weights were fitted a day ago or against another policy; return how many."""
    of_late = Q(fitted_weights__made_at__gt=now - AFRESH, fitted_weights__made_at__lte=now)
    is_fresh = of_late & Q(fitted_weights__policy_version=F("policy_version"))
    due = Agent.objects.exclude(is_fresh)
    fitted = 0
    for key in in_turn("fit-weights", due.values_list("pk", flat=True)):  # all: some may fail, every time
        with by_itself("No weights fitted for the agent with the key %s", key):
            fit_and_keep(Agent.objects.get(pk=key), now)
            fitted += 1
        if fitted == AGENTS_A_RUN:
            break
    return fitted


def fit_and_keep(agent: Agent, now: datetime) -> FittedWeights:
    """Fit an agent's weights, and keep what came of it in the place of what came of it last."""
    heard: int = AgentState.objects.values_list("decision_seq", flat=True).get(pk=agent.pk)
    values = {
        "found": fit(agent, now).as_dict(),
        "policy_version": agent.policy_version,
        "since": _first_day(now),
        "decision_seq": heard,
        "made_at": now,
    }
    return FittedWeights.objects.update_or_create(agent=agent, defaults=values)[0]


def fit(agent: Agent, now: datetime | None = None) -> Fit:
    """Fit weights to the verdicts of the last 90 days, the newest 10,000 decisions at most. Writes nothing.

    Responses that another profile judged are left out: its signals mean something else by the same names.
    """
    now = now or timezone.now()
    policy = Policy.objects.get(agent=agent, version=agent.policy_version)
    alike = Policy.objects.filter(agent=agent, profile=policy.profile).values("version")
    posted = AgentResponse.objects.posted().filter(agent=agent)
    responses = posted.filter(hesitation_score__isnull=False, policy_version__in=alike)
    rules = heuristics.Policy.from_dict(policy.as_dict())
    return weight_fit.fit(_cases(agent, responses, _first_day(now)), rules, _posted(responses, now))


def _first_day(now: datetime) -> date:
    return daily.day_of(now - SINCE)


def _cases(agent: Agent, responses: QuerySet[AgentResponse], since: date) -> list[Case]:
    """Return a case for each response: a response is held, and has its signals, as a whole."""
    decided = Decision.objects.filter(
        agent=agent,
        by=Decision.By.PERSON,
        seq__isnull=False,
        held__response__in=responses,
        held__response__received_at__gte=daily.start_of(since),
    ).exclude(held__kind__in=HeldItem.NO_WORDS)
    rejected: dict[int, bool] = {}
    metadata: dict[int, dict[str, Any]] = {}
    told = decided.order_by("-seq").values_list("held__response", "verdict", "held__metadata")
    for response, verdict, known in told[:MOST_DECISIONS]:
        rejected[response] = rejected.get(response, False) or verdict == DecisionVerdict.REJECT
        metadata[response] = known
    samples = list(Sample.objects.filter(agent=agent, day__gte=since, response__in=responses))
    judged = {sample.response_id: sample for sample in samples if sample.verdict}
    # Those that nobody judged are stood for by those that somebody did.
    share = sum(sample.stands_for for sample in judged.values()) / (sum(sample.stands_for for sample in samples) or 1)
    about: QuerySet[Any] = AgentResponse.objects.filter(pk__in=[*rejected, *judged])
    about = about.annotate(length=Length(Readable("body")))
    fired = _fired([*rejected, *judged])
    cases, turns = [], Turns()
    for row in about.only("agent_id", "session", "received_at", "erased_at"):
        key, sample = row.pk, judged.get(row.pk)
        cases.append(
            Case(
                at=row.received_at.timestamp(),
                signals=fired.get(key, frozenset()),
                is_wrong=sample.verdict == Sample.Finding.MISSED if sample else rejected[key],
                was_held=sample is None,
                stands_for=sample.stands_for / share if sample else 1.0,
                length=None if row.erased_at else row.length,
                turns=turns.before(row),
                belongs=belongs(row.session, metadata.get(key)),
            )
        )
    return cases


def _posted(responses: QuerySet[AgentResponse], now: datetime) -> Counter[Signals]:
    """Count what was posted in the last 30 days, the newest 5,000 at most, by the signals that fired."""
    recent = responses.filter(received_at__gte=now - timedelta(days=DAYS)).order_by("-received_at", "-id")
    keys = list(recent.values_list("pk", flat=True)[:MOST])
    fired = _fired(keys)
    return Counter(fired.get(key, frozenset()) for key in keys)


def _fired(responses: Iterable[int]) -> dict[int, Signals]:
    """Return which signals added to the score of each; a hint does not, whatever it would weigh."""
    names: dict[int, set[str]] = {}
    signals = Signal.objects.filter(response__in=list(responses), weight__gt=0).order_by()
    for response, name in signals.values_list("response", "type"):
        names.setdefault(response, set()).add(name)
    return {response: frozenset(found) for response, found in names.items()}
