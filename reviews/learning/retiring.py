"""What a team may switch off: signals, patterns and rules that its last decisions say hold nothing worth holding.

Counted with each look at the team's decisions (contrast.py) and kept with it; people press, nothing goes by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from metacog import heuristics
from metacog.accounts import agents
from metacog.heuristics.hesitation.modulation import HELD_KINDS
from metacog.heuristics.policy.policy import NEVER
from metacog.heuristics.stats.intervals import wilson
from metacog.heuristics.text.canonical_json import canonical
from metacog.models import Agent, Policy, Team, User
from patterns.models import ErrorPattern, PatternRecord
from reviews.metrics.daily import Lift, Ratio
from reviews.models import ContrastLook, Decision, DecisionVerdict, HeldItem, Signal

NEWEST = 500  # decisions of a team about words, and as many about tool calls
ENOUGH, ENOUGH_FIRED = 200, 30  # of these in all, and of those that a signal fired on
ENOUGH_OF_ONE = 20  # decisions about what one pattern or rule held
WORTH_HAVING = 1.25  # times as often as all that was decided: a signal whose whole interval lies below has no lift
RECENT = timedelta(days=30)
KNOWN = "error-pattern"  # its patterns are judged one by one
MOST_SHOWN = 5  # patterns, and rules, of one team


@dataclass(frozen=True)
class Offer:
    """What one team may switch off: each entry as it was counted, of what is still in force."""

    team: Team
    signals: Sequence[Mapping[str, Any]] = ()  # name, fired, rejected, rest, with `agents`: those of whom it weighs
    no_longer: int = 0  # items of 30 days that would not have been held without these signals
    of_these: int = 0  # of them, those that people rejected
    patterns: Sequence[Mapping[str, Any]] = ()  # pk, decided, rejected, base, no_longer, with `pattern`
    rules: Sequence[Mapping[str, Any]] = ()  # rule, asked, rejected, base, agent's key


def found(team: Team, now: datetime) -> dict[str, Any]:
    """Count what a team may switch off, as JSON."""
    words = _decisions(team).exclude(held__kind__in=HeldItem.NO_WORDS).values_list("held__response", "verdict")
    decided = [(response, verdict == DecisionVerdict.REJECT) for response, verdict in words[:NEWEST]]
    base = Ratio(sum(rejected for _response, rejected in decided), len(decided))
    signals = _signals(decided, base) if base.whole >= ENOUGH else []
    recent = _Recent(team, now)
    patterns = [
        {"pk": record.pattern_id, "decided": record.decided, "rejected": record.rejected, "base": _of(base)}
        | {"no_longer": len(recent.without(set(), record.pattern_id))}
        for record in PatternRecord.objects.filter(pattern__team=team, pattern__state=ErrorPattern.State.ACTIVE)
        if record.decided >= ENOUGH_OF_ONE and wilson(record.rejected, record.decided)[1] < base.rate
    ]
    names = {each["name"] for each in signals}
    no_longer = recent.without(names) if names else []
    return {
        "signals": signals,
        "no_longer": [len(no_longer), sum(no_longer)],
        "patterns": patterns,
        "rules": list(_rules(team)),
    }


def _decisions(team: Team) -> Any:
    return (
        Decision.objects.filter(held__team=team, by=Decision.By.PERSON, seq__isnull=False, undone_at=None)
        .exclude(verdict__in=(DecisionVerdict.WITHDRAW, DecisionVerdict.EXPIRE))
        .order_by("-decided_at", "-pk")
    )


def calls_decided(team: Team, since: datetime | None = None) -> Any:
    """Return the decisions about tool calls, all or since a time."""
    calls = _decisions(team).filter(held__kind=HeldItem.Kind.TOOL_CALL)
    return calls.filter(decided_at__gt=since) if since else calls


def _of(ratio: Ratio) -> list[int]:
    return [ratio.part, ratio.whole]


def _signals(decided: Sequence[tuple[int, bool]], base: Ratio) -> list[dict[str, Any]]:
    fired: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    of_response: dict[int, set[str]] = {}
    rows = Signal.objects.filter(response__in={response for response, _ in decided}, weight__gt=0).exclude(type=KNOWN)
    for response, name in rows.order_by().values_list("response", "type"):
        of_response.setdefault(response, set()).add(name)
    for response, is_rejected in decided:
        for name in of_response.get(response, ()):
            fired[name] += 1
            rejected[name] += is_rejected
    return [
        {"name": name, "fired": count, "rejected": rejected[name], "rest": _of(lift.rest)}
        for name, count in sorted(fired.items())
        if count >= ENOUGH_FIRED
        for lift in [Lift(Ratio(rejected[name], count), base)]
        if lift.is_enough and lift.low <= 1 and lift.high < WORTH_HAVING
    ]


class _Recent:
    """The words held in the last days, with what they would score without some signals."""

    def __init__(self, team: Team, now: datetime) -> None:
        items = HeldItem.objects.words().filter(team=team, held_at__gte=now - RECENT, kind__in=HELD_KINDS)
        rows = items.values_list("response", "agent", "hesitation_score", "state")
        self._items = [(*row, state == HeldItem.State.REJECTED) for *row, state in rows if row[2] is not None]
        self._fired: dict[int, list[tuple[str, int, int | None]]] = {}
        responses = {response for response, *_rest in self._items}
        signals = Signal.objects.filter(response__in=responses, weight__gt=0).order_by()
        for response, name, weight, pattern in signals.values_list("response", "type", "weight", "pattern"):
            self._fired.setdefault(response, []).append((name, weight, pattern))
        self._hold_at = {agent: policy.hold_at for agent, policy in _policies(team).items()}

    def without(self, names: Collection[str], pattern: int | None = None) -> list[bool]:
        """Give for each item that would not be held without them whether people rejected it."""
        freed: list[bool] = []
        for response, agent, score, rejected in self._items:
            hold_at = self._hold_at.get(agent, NEVER)
            less = sum(
                weight
                for name, weight, of in self._fired.get(response, ())
                if name in names or (pattern is not None and of == pattern)
            )
            if less and score >= hold_at > score - less:
                freed.append(bool(rejected))
        return freed


def _policies(team: Team) -> dict[int, heuristics.Policy]:
    """Return the policies in force of a team's agents, by the agent's key."""
    rows = Policy.objects.filter(agent__team=team, version=F("agent__policy_version"))
    return {row.agent_id: heuristics.Policy.from_dict(row.as_dict()) for row in rows}


def _rules(team: Team) -> Iterator[dict[str, Any]]:
    """Give the rules that ask about what people hardly ever reject, beside all calls that they were asked about."""
    calls = _decisions(team).filter(held__kind=HeldItem.Kind.TOOL_CALL, held__call__rule__isnull=False)
    rows = calls.values_list("verdict", "agent__public_id", "held__call__rule")[:NEWEST]
    told = [(verdict == DecisionVerdict.REJECT, agent, rule) for verdict, agent, rule in rows]
    base = Ratio(sum(rejected for rejected, _agent, _rule in told), len(told))
    by_rule: dict[tuple[str, str], list[bool]] = {}
    rules: dict[str, Any] = {}
    for rejected, agent, rule in told:
        key = canonical(rule)
        rules[key] = rule
        by_rule.setdefault((agent, key), []).append(rejected)
    for (agent, key), outcomes in sorted(by_rule.items()):
        if len(outcomes) >= ENOUGH_OF_ONE and wilson(sum(outcomes), len(outcomes))[1] < base.rate:
            counts = {"asked": len(outcomes), "rejected": sum(outcomes), "base": _of(base)}
            yield {"rule": rules[key], "agent": agent, **counts}


def offered(teams: Sequence[Team]) -> list[Offer]:
    """Return what these teams may switch off and have not since; three queries."""
    looks = {look.team_id: look.retiring for look in ContrastLook.objects.filter(team__in=teams) if look.retiring}
    if not looks:
        return []
    keys = [each["pk"] for look in looks.values() for each in look["patterns"]]
    active = ErrorPattern.objects.filter(state=ErrorPattern.State.ACTIVE).in_bulk(keys)
    weighing: dict[tuple[int, str], list[Agent]] = {}
    policies = Policy.objects.filter(agent__team__in=looks, version=F("agent__policy_version")).select_related("agent")
    for row in policies.order_by("agent__name", "agent"):
        for name, weight in heuristics.Policy.from_dict(row.as_dict()).weights.items():
            if weight:
                weighing.setdefault((row.agent.team_id, name), []).append(row.agent)
    offers = []
    for team in teams:
        if look := looks.get(team.pk):
            signals = [
                each | {"agents": agents}
                for each in look["signals"]
                if (agents := weighing.get((team.pk, each["name"])))
            ]
            patterns = [each | {"pattern": active[each["pk"]]} for each in look["patterns"] if each["pk"] in active]
            if signals or patterns or look["rules"]:
                no_longer, of_these = look["no_longer"]
                offers.append(
                    Offer(team, signals, no_longer, of_these, patterns[:MOST_SHOWN], look["rules"][:MOST_SHOWN])
                )
    return offers


def switch_off(team: Team, person: User, names: Collection[str]) -> tuple[list[str], list[Policy]]:
    """Give each agent's policy a version in which these signals weigh nothing, as far as they are offered.

    Returns the signals, and the versions. Raises agents.PolicyMoved where somebody changed one meanwhile: then none is.
    """
    off = [each["name"] for offer in offered([team]) for each in offer.signals if each["name"] in names]
    saved = []
    with transaction.atomic():
        for agent in Agent.objects.filter(team=team).order_by("pk"):
            before = Policy.objects.select_related("agent").get(agent=agent, version=agent.policy_version)
            own = heuristics.Policy.from_dict(before.as_dict()).weights
            if less := {name: 0 for name in off if own.get(name)}:
                draft = _like(before, gettext("Signals that do not point to mistakes switched off"))
                draft.weights = {**own, **less}
                saved.append(agents.add_policy(agent, person, draft, based_on=before.version))
    return off, saved


def switch_on(team: Team, person: User, versions: Mapping[int, int]) -> list[Policy]:
    """Give each agent's policy, by the agent's key, a version that is as the one before this version was.

    Raises agents.PolicyMoved where one is no longer in force: then nothing is changed.
    """
    saved = []
    with transaction.atomic():
        for agent in Agent.objects.filter(team=team, pk__in=versions).order_by("pk"):
            based_on = versions[agent.pk]
            if not (before := Policy.objects.filter(agent=agent, version=based_on - 1).first()):
                raise agents.PolicyMoved
            draft = _like(before, gettext("As in version %(version)s") % {"version": before.version})
            saved.append(agents.add_policy(agent, person, draft, based_on=based_on))
    return saved


def _like(before: Policy, note: str) -> Policy:
    return Policy(**before.as_dict() | {"marks": before.marks}, note=note)
