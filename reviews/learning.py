"""Propose error patterns from what people and second looks teach (seed 000, "經驗累積"). A person confirms them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from metacog import audit
from metacog.heuristics.shadow import fold
from metacog.models import Team
from patterns.models import ErrorPattern, keyword_problems
from reviews.models import AgentResponse, HeldItem, PatternOrigin

State = ErrorPattern.State

MAX_PROPOSALS = 1_000  # that wait in one team; beyond, nobody reads them
MAX_QUOTE = 300


def propose(
    team: Team,
    *,
    keywords: Sequence[str],
    description: str,
    source: str,
    kind: str,
    row: str,
    response: AgentResponse | None = None,
    held: HeldItem | None = None,
    said: str = "",
    told: str = "",
    actor: audit.Actor = None,
) -> ErrorPattern | None:
    """Propose an error pattern, or join the proposal that has the same keywords; None where neither is wanted.

    `row` is the public id of what taught it, which does so once a `kind`; `said` and `told` are quotes, clipped and
    erased with the texts of `response` and `row`. Nothing is proposed that an active or shadow pattern would match
    anyway, or that was dismissed before. Activates nothing; in the caller's transaction, if there is one.
    """
    wanted = {fold(keyword) for keyword in keywords}
    if keyword_problems(list(keywords)):
        return None
    with transaction.atomic():
        # One proposal of a team after the other. No agent's post waits: a key that others point at stays free.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if PatternOrigin.objects.filter(kind=kind, row=row).exists():
            return None
        known = list(ErrorPattern.objects.filter(team=team).exclude(state=State.RETIRED, dismissed_because=""))
        if any(_says(each, wanted) for each in known):
            return None
        proposed = [each for each in known if each.state == State.PROPOSED]
        pattern = next((each for each in proposed if set(map(fold, each.keywords)) == wanted), None)
        is_new = pattern is None
        if pattern is None:
            if len(proposed) >= MAX_PROPOSALS:
                return None
            pattern = ErrorPattern(
                team=team,
                keywords=list(keywords),
                description=description[: ErrorPattern.MAX_DESCRIPTION],
                source=source,
                state=State.PROPOSED,
            )
            ErrorPattern.objects.bulk_create([pattern])  # not save(): no scorer is out of date
        PatternOrigin.objects.create(
            pattern=pattern,
            kind=kind,
            row=row,
            response=response,
            held=held,
            evidence={name: quote[:MAX_QUOTE] for name, quote in (("said", said), ("told", told)) if quote},
        )
        audit.record(
            "pattern-proposed" if is_new else "pattern-taught",
            pattern.public_id,
            actor=actor,
            team=team,
            before="" if is_new else State.PROPOSED,
            after=State.PROPOSED,
            kind=kind,
            row=row,
        )
    return pattern


def _says(known: ErrorPattern, wanted: set[str]) -> bool:
    """Tell whether a pattern settles the matter: it matches wherever the keywords do, or was dismissed with them."""
    own = {fold(keyword) for keyword in known.keywords}
    if known.state in (State.ACTIVE, State.SHADOW):
        return all(any(keyword in each for keyword in own) for each in wanted)
    return known.state == State.RETIRED and own == wanted
