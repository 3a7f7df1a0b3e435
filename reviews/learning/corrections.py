"""Take people's answers to "Was this a correction?", learn from them, and say what the detector is worth by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.contradiction.corrections import SURE
from metacog.heuristics.decided import belongs
from metacog.heuristics.ranking.learning import Decided, Learned, learn
from metacog.heuristics.stats import found
from metacog.heuristics.stats.found import Estimate, Group
from metacog.heuristics.stats.gate import Gate
from metacog.models import AgentState, AuditEvent, Team, User
from patterns.models import ErrorPattern
from reviews.isolation import by_itself, in_turn
from reviews.learning import hearing, sweep
from reviews.learning.extract import Teacher
from reviews.metrics.daily import ENOUGH
from reviews.models import CorrectedResponse, LearnedCorrections, PatternOrigin, PossibleCorrection
from reviews.scoring.history import count_again, heard, take_back_corrected

Answer = PossibleCorrection.Answer
SAID = (Answer.YES, Answer.NO)
ANSWERS = (*SAID, Answer.SKIP)  # that a person may give

COUNTED = hearing.ANSWERS_COUNT
LEARN_AFTER = timedelta(days=1)
MOST = 5_000  # answers that are learned from, the newest
# Recall is told once so many were answered of each kind of message that the detector leaves, but for a small share.
LEAST_LOOKED_AT, MOST_UNKNOWN = 20, 0.1


def waited_since() -> datetime:
    """Return from when on questions are still asked."""
    return timezone.now() - hearing.WAITS_FOR


def waiting(teams: Sequence[Team] | QuerySet[Team], since: Any = None) -> QuerySet[PossibleCorrection]:
    """Return the questions of these teams that nobody has answered yet, in the order in which they are asked.

    `since` as `waited_since`, the default.
    """
    since = since or waited_since()
    return PossibleCorrection.objects.filter(agent__team__in=teams, answer="", found_at__gte=since).order_by(
        "place", "id"
    )


def likely(teams: Sequence[Team] | QuerySet[Team], since: Any = None) -> QuerySet[PossibleCorrection]:
    """Return of these questions those whose message is likely a correction, the longest waiting first."""
    return waiting(teams, since).filter(is_likely=True).order_by("found_at", "id")


def answer(asked: PossibleCorrection, person: User, said: str) -> bool:
    """Write down what a person says of a message; who says so last is right. False: its texts were erased meanwhile.

    `asked` comes with its agent, response and the one before it.

    A correction teaches, by a "yes" where the detector did not take it for one: a pattern may be proposed, and the
    topics of the answer that it corrects are taken back. "No" takes both back again, the proposal only where nobody
    has touched it and nothing else taught it. To skip leaves it to the detector.
    """
    agent = asked.agent
    taught = None
    if said == Answer.YES and not (asked.counts or asked.response.erased_at or asked.before.erased_at):
        taught = Teacher(agent).from_message(asked.response, asked.response.wire_body(), asked.before)
    with transaction.atomic(durable=True):
        # In the order in which the sweep locks, too.
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        sweep.lock(agent.team)
        texts = PossibleCorrection.objects.select_for_update(of=("self",)).select_related("response", "before")
        row = texts.get(pk=asked.pk)
        if row.response.erased_at or row.before.erased_at:
            return False
        before = row.answer
        if (before, row.person_id) == (said, person.pk):
            return True
        counts = {Answer.YES: True, Answer.NO: False}.get(Answer(said), row.confidence >= SURE)
        row.answer, row.person, row.answered_at = said, person, timezone.now()
        if counts and not row.counts:
            if taught:
                sweep.propose(agent.team, taught, actor=person)
            row.took_back = take_back_corrected(state, row.before)
            corrected = {"team": agent.team, "by": row.response}
            CorrectedResponse.objects.get_or_create(response=row.before, defaults=corrected)
        elif row.counts and not counts:
            _take_out(row, person)
            CorrectedResponse.objects.filter(response=row.before, by=row.response).delete()
            if row.took_back:
                count_again(state, row.before)
                row.took_back = False
        if counts != row.counts:
            row.counts = counts
            state.save(update_fields=["topics"])
        row.save(update_fields=["answer", "person", "answered_at", "counts", "took_back"])
        audit.record(
            "correction-answered",
            row.public_id,
            actor=person,
            team=agent.team_id,
            agent=agent,
            before=before,
            after=said,
            response=row.response.public_id,
        )
    return True


def _take_out(row: PossibleCorrection, person: User) -> None:
    """Take a proposal back that this message alone taught, and that nobody has done anything with."""
    origin = origin_of(row)
    if origin is None or origin.pattern.state != ErrorPattern.State.PROPOSED or origin.pattern.created_by_id:
        return
    pattern, own = origin.pattern, ("pattern-proposed", "pattern-taught")
    if AuditEvent.objects.filter(object_id=pattern.public_id, team=pattern.team_id).exclude(action__in=own).exists():
        return
    if pattern.origins.exclude(pk=origin.pk).exists():
        origin.delete()
        return
    ErrorPattern.objects.filter(pk=pattern.pk).delete()  # with its origin; not delete(): no scorer is out of date
    audit.record(
        "pattern-withdrawn",
        pattern.public_id,
        actor=person,
        team=pattern.team_id,
        before=pattern.state,
        row=row.response.public_id,
    )


def origin_of(row: PossibleCorrection) -> PatternOrigin | None:
    """Return what the message of a question taught, with its pattern."""
    origins = PatternOrigin.objects.filter(kind=PatternOrigin.Kind.CORRECTION, row=row.response.public_id)
    return origins.select_related("pattern").first()


# -- what the answers say ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Worth:
    """What a detector is worth by a team's answers; with too few, nothing is told."""

    taken: int  # messages that it took for corrections and that were answered
    right: int  # of them, those that were
    corrections: int  # among all that were answered
    answered: int
    precision: Estimate | None
    recall: Estimate | None


class _Kind(NamedTuple):
    """What questions have in common that were asked with one chance, and in one part of the list."""

    is_taken: bool  # by the detector
    is_heard: bool  # it heard something
    is_first: bool
    has_rank: bool
    stands_for: float


@dataclass
class _Counted:
    stands_for: float = 0.0  # all of them
    answers: Counter[str] = field(default_factory=Counter)


def worth(teams: Iterable[Team], since: datetime) -> dict[int, tuple[Worth, Worth | None]]:
    """Say by team what the detector is worth, and what was learned, where that ranked messages. One query."""
    rows = PossibleCorrection.objects.filter(agent__team__in=teams, found_at__gte=since).order_by()
    told = rows.annotate(is_taken=Q(confidence__gte=SURE), is_heard=Q(confidence__gt=0), has_rank=Q(rank__isnull=False))
    counted: dict[int, dict[_Kind, _Counted]] = {}
    for row in told.values("agent__team", "answer", *_Kind._fields).annotate(count=Count("pk"), sum=Sum("stands_for")):
        kind = _Kind(**{name: row[name] for name in _Kind._fields})
        group = counted.setdefault(row["agent__team"], {}).setdefault(kind, _Counted())
        group.stands_for += row["sum"]
        group.answers[row["answer"]] += row["count"]
    found_by = {}
    for team, groups in counted.items():
        detector = [_group(group, kind.is_taken) for kind, group in groups.items()]
        ranked = [_group(group, kind.is_first) for kind, group in groups.items() if kind.has_rank]
        found_by[team] = _worth(detector), _worth(ranked) if ranked else None
    return found_by


def _group(counted: _Counted, is_taken: bool) -> Group:
    return Group(counted.stands_for, counted.answers[Answer.YES], counted.answers[Answer.NO], is_taken)


def _worth(groups: list[Group]) -> Worth:
    taken = sum(group.right + group.wrong for group in groups if group.is_taken)
    corrections = sum(group.right for group in groups)
    left = [group for group in groups if not group.is_taken]
    unknown = sum(group.stands_for for group in left if group.right + group.wrong < LEAST_LOOKED_AT)
    is_known = unknown <= MOST_UNKNOWN * sum(group.stands_for for group in left)
    return Worth(
        taken=taken,
        right=sum(group.right for group in groups if group.is_taken),
        corrections=corrections,
        answered=sum(group.right + group.wrong for group in groups),
        precision=found.precision(groups) if taken >= ENOUGH else None,
        recall=found.recall(groups) if corrections >= ENOUGH and is_known else None,
    )


# -- learning --------------------------------------------------------------------------------------------------------


def learn_due(now: datetime) -> int:
    """Learn from each team's answers, once a day where there are new ones; return for how many teams that was done."""
    said = Q(agents__possible_corrections__answer__in=SAID)
    teams = Team.objects.annotate(last=Max("agents__possible_corrections__answered_at", filter=said))
    made_at = F("learned_corrections__made_at")
    is_new = Q(learned_corrections=None) | Q(last__gt=made_at, learned_corrections__made_at__lte=now - LEARN_AFTER)
    is_new |= Q(learned_corrections__made_at__gt=now)  # the clock was set back since
    learned = 0
    for team in in_turn("learn-corrections", teams.exclude(last=None).filter(is_new)):
        with by_itself("No order of corrections learned for the team with the key %s", team.pk):
            _learn(team, now)
            learned += 1
    return learned


def _learn(team: Team, now: datetime) -> None:
    came = learn(_decided(team))
    is_used = came.order == "learned"
    detector, _ = worth([team], now - COUNTED).get(team.pk, (None, None))
    LearnedCorrections.objects.update_or_create(
        team=team,
        defaults={
            "found": came.as_dict(),
            "model": came.model.as_dict() if is_used else None,
            "cut": _cut(came, detector.precision) if is_used and detector else None,
            "made_at": now,
        },
    )


def _decided(team: Team) -> list[Decided]:
    rows = PossibleCorrection.objects.filter(
        agent__team=team, answer__in=SAID, response__erased_at=None, before__erased_at=None
    )
    newest = list(rows.order_by("-answered_at").values_list("pk", flat=True)[:MOST])
    told = []
    texts = PossibleCorrection.objects.filter(pk__in=newest).select_related("response", "before")
    for row in texts.iterator(chunk_size=100):
        body, before = row.response.wire_body(), row.before.wire_body()
        said = heard(body, before)
        if said is None or row.answered_at is None:
            continue
        told.append(
            Decided(
                hearing.seen_in(body, before["response"], said),
                row.answer == Answer.YES,
                row.answered_at.timestamp(),
                belongs(row.response.session, body.get("metadata")),
                stands_for=row.stands_for,
                key=row.public_id,
            )
        )
    return told


def _cut(came: Learned, detector: Estimate | None) -> float | None:
    """Return the rank from which as many are corrections, among the answers that judged, as of what the detector takes.

    None where no rank is high enough for that, or the detector's precision is not known.
    """
    gate: Gate | None = came.gate
    if gate is None or detector is None:
        return None
    cut, right, whole = None, 0.0, 0
    for said, share, _count in reversed(gate.bins):  # of nearly equal weight
        right, whole = right + share, whole + 1
        if right / whole >= detector.rate:
            cut = said
    return cut
