"""How an agent's second looks end, and how often they agree with people, behind the writes.

A second look is a response that replies to a held item before it is decided. Whoever calls `count` moves a cursor in
the same transaction, so that every decision counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import F, Sum

from metacog.heuristics.contradiction.contradictions import contradicts
from metacog.heuristics.stats.agreement import Agreement
from metacog.models import Agent
from reviews.metrics.daily import Ratio, day_of
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem, LookFigure

READ = 2_000  # characters of either text: a sweep compares hundreds
_OWN: dict[str, str] = {
    DecisionVerdict.APPROVE: "kept",
    DecisionVerdict.EDIT: "edited",
    DecisionVerdict.REJECT: "withdrew",
    DecisionVerdict.WITHDRAW: "withdrew",
}
COUNTS = ("kept", "edited", "withdrew", "looked", "contradicted", *Agreement._fields)

Ends = Mapping[tuple[date, str], Counter[str]]  # by the day its item was held, and the item's kind


def read(decisions: Sequence[Decision]) -> Ends:
    """Tell how the second looks at these items ended; `decisions` were released, and come with their items."""
    texts = _last_looks(decisions)
    ends: dict[tuple[date, str], Counter[str]] = {}
    for decision in decisions:
        held = decision.held
        if held.kind == HeldItem.Kind.QUESTION:
            continue
        counts = ends.setdefault((day_of(held.held_at), held.kind), Counter())
        if decision.by == Decision.By.AGENT:
            counts[_OWN[decision.verdict]] += 1
        said = texts.get(held.pk)
        if said is None or not held.text:  # no look, or erased
            continue
        takes_back = contradicts(held.text[:READ], said[:READ]) is not None
        counts["looked"] += 1
        counts["contradicted"] += takes_back
        if decision.by == Decision.By.PERSON:
            end = "rejected" if decision.verdict == DecisionVerdict.REJECT else "let_go"
            counts[f"{'back' if takes_back else 'stood'}_{end}"] += 1
    return ends


def _last_looks(decisions: Sequence[Decision]) -> dict[int, str]:
    """Return the text of the last look at each item before it was decided."""
    decided_at = {decision.held_id: decision.decided_at for decision in decisions}
    looks = AgentResponse.objects.filter(second_look_at__in=decided_at, erased_at=None).order_by("pk")
    last: dict[int, int] = {}
    for held, look, at in looks.values_list("second_look_at", "pk", "received_at"):
        if at <= decided_at[held]:
            last[held] = look
    bodies = AgentResponse.objects.only("body", "erased_at").in_bulk(last.values())
    return {held: bodies[look].wire_body()["response"] for held, look in last.items()}


def count(agent: Agent, ends: Ends) -> None:
    """Add to the agent's figures."""
    for (day, kind), counts in ends.items():
        if changed := {name: F(name) + number for name, number in counts.items() if number}:
            LookFigure.objects.get_or_create(agent=agent, day=day, kind=kind)
            LookFigure.objects.filter(agent=agent, day=day, kind=kind).update(**changed)


@dataclass(frozen=True)
class Record:
    """What became of an agent's second looks at one kind of item."""

    agent: Agent
    kind: str
    kept: int
    edited: int
    withdrew: int
    contradicted: Ratio  # of the items it looked at again
    both: Agreement

    @property
    def agreed(self) -> Ratio:
        return Ratio(self.both.agreed, self.both.items)

    @property
    def stood_rejected(self) -> Ratio:
        """Of what it stood by, what a person rejected: what releasing the kind to the agent would have let out."""
        return Ratio(self.both.stood_rejected, self.both.stood)


def records(agents: Collection[Agent], since: date, until: date = date.max) -> list[Record]:
    """Return the records of these agents' items held from `since` to `until`, by agent and kind. One query."""
    found = LookFigure.objects.filter(agent__in=agents, day__gte=since, day__lte=until).order_by()
    sums = found.values_list("agent", "kind").annotate(*(Sum(name) for name in COUNTS))
    rows = {(agent, kind): dict(zip(COUNTS, counts, strict=True)) for agent, kind, *counts in sums}
    return [
        Record(
            agent,
            kind,
            row["kept"],
            row["edited"],
            row["withdrew"],
            Ratio(row["contradicted"], row["looked"]),
            Agreement(*(row[name] for name in Agreement._fields)),
        )
        for agent in agents
        for kind in ("chat", "task", "remember")
        if (row := rows.get((agent.pk, kind)))
    ]
