"""Keep a backtest with each proposed pattern, so that a list of them can say what each would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic

from django.db.models import F, Q

from metacog.models import Team
from patterns.models import ErrorPattern
from patterns.patterns.lifecycle import digest
from reviews.isolation import by_itself, in_turn
from reviews.learning.backtest import Backtest, backtests
from reviews.models import ProposalTrial

State = ErrorPattern.State

AGAIN = timedelta(days=1)  # after which a proposal that still waits is tried anew
AT_ONCE = 50  # proposals of one team in one reading of its responses; what they came to is kept before the next
MOST_READINGS = 4  # of one team in a run
TURN_SECONDS = 20.0  # in which a run begins with teams


def try_due(now: datetime) -> int:
    """Try proposals that were not tried yet, or not for a day, the newest first; return how many."""
    began, tried = monotonic(), 0
    for team in in_turn("try-proposals", Team.objects.filter(patterns__state=State.PROPOSED).distinct()):
        with by_itself("No proposals tried in the team with the key %s", team.pk):
            for _ in range(MOST_READINGS):
                done = _try(team, now)
                tried += done
                if done < AT_ONCE or monotonic() - began > TURN_SECONDS:
                    break
        if monotonic() - began > TURN_SECONDS:
            break
    return tried


def _try(team: Team, now: datetime) -> int:
    rows = ErrorPattern.objects.filter(team=team, state=State.PROPOSED).exclude(keywords=[])
    is_old = Q(trial=None) | Q(trial__at__lt=now - AGAIN) | Q(trial__at__gt=now)
    known = rows.annotate(tried_with=F("trial__keywords_sha256"), is_old=is_old).order_by("-pk")
    due = {
        pk: keywords
        for pk, keywords, tried_with, old in known.values_list("pk", "keywords", "tried_with", "is_old")
        if old or tried_with != digest(keywords)
    }
    chosen = dict(list(due.items())[:AT_ONCE])
    if not chosen:
        return 0
    return keep(backtests(team, chosen), chosen, now)


def keep(found: Mapping[int, Backtest], keywords: Mapping[int, Sequence[str]], now: datetime) -> int:
    """Keep the backtests of proposals, by their keys; return of how many. What was decided meanwhile needs none."""
    there = set(ErrorPattern.objects.filter(state=State.PROPOSED, pk__in=found).values_list("pk", flat=True))
    fields = ["keywords_sha256", "responses", "fired", "held", "more", "rejected", "edited", "approved", "at"]
    ProposalTrial.objects.bulk_create(
        [
            ProposalTrial(
                pattern_id=pk,
                keywords_sha256=digest(keywords[pk]),
                responses=each.responses,
                fired=each.fired,
                held=each.held,
                more=each.outcomes["unheld"],
                rejected=each.outcomes["rejected"],
                edited=each.outcomes["edited"],
                approved=each.outcomes["approved"],
                at=now,
            )
            for pk, each in found.items()
            if pk in there
        ],
        update_conflicts=True,
        unique_fields=["pattern"],
        update_fields=fields,
        batch_size=200,
    )
    return len(there)
