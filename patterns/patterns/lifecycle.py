"""What may be done with an error pattern: proposed → shadow → active → retired, each step by a person, on record.

What an active pattern matches counts in a verdict, so its keywords go live only as they were shown with what they
would have done. A pattern's record counts for the keywords it has: with others it begins anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Sum
from django.dispatch import Signal
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metacog.audit import audit
from metacog.heuristics.text.shadow import is_blank
from metacog.models import AgentState, Team, User
from patterns.models import MAX_PATTERNS, ErrorPattern, PatternRecord, keyword_problems, touch

State = ErrorPattern.State

MAX_SHADOW = 100  # of one team: each is looked for in every response, behind the writes
# Sent with `pattern` in the transaction in which it becomes a proposal; apps above this one listen.
proposed = Signal()
WORKING = (State.SHADOW, State.ACTIVE)  # their matches are counted

# From which states a step may be taken, and what the pattern is then.
AFTER: Mapping[str, tuple[tuple[State, ...], State]] = {
    "try": ((State.PROPOSED,), State.SHADOW),
    "activate": ((State.PROPOSED, State.SHADOW), State.ACTIVE),
    "retire": ((State.SHADOW, State.ACTIVE), State.RETIRED),
    "dismiss": ((State.PROPOSED,), State.RETIRED),
    "reopen": ((State.RETIRED,), State.PROPOSED),
}
_DONE = {
    "try": "pattern-tried",
    "activate": "pattern-activated",
    "retire": "pattern-retired",
    "dismiss": "pattern-dismissed",
    "reopen": "pattern-reopened",
}
_NOT_FROM: Mapping[str, Promise] = {
    "try": gettext_lazy("Only a proposal can be tried out; this pattern is not one (any more)."),
    "activate": gettext_lazy("Only a proposal or a pattern in shadow can be made active."),
    "retire": gettext_lazy("Only a pattern in shadow or an active one can be retired."),
    "dismiss": gettext_lazy("Only a proposal can be dismissed; this pattern is not one (any more)."),
    "reopen": gettext_lazy("Only a retired pattern can be proposed again."),
}


class NotDone(Exception):
    """Nothing was changed; `str()` says why, in a sentence for people."""


class Unseen(NotDone):
    """These keywords would go live, and what they would have done was not shown."""

    def __init__(self) -> None:
        super().__init__(_("Look first at what it would have done with exactly these keywords."))


def digest(keywords: Sequence[str]) -> str:
    """Name keywords, so that what was shown of them can be told apart from what was not."""
    return hashlib.sha256(json.dumps(list(keywords), ensure_ascii=False).encode()).hexdigest()


def add(team: Team, actor: audit.Actor, *, keywords: list[str], description: str, source: str) -> ErrorPattern:
    """Write a pattern down, as a proposal. Raises NotDone."""
    _check(keywords)
    with transaction.atomic():
        pattern = ErrorPattern(
            team=team,
            keywords=keywords,
            description=description,
            source=source,
            state=State.PROPOSED,
            created_by=actor if isinstance(actor, User) else None,
        )
        ErrorPattern.objects.bulk_create([pattern])  # not save(): no scorer is out of date
        audit.record("pattern-added", pattern.public_id, actor=actor, team=team, after=pattern.state)
        proposed.send(ErrorPattern, pattern=pattern)
    return pattern


def take_step(
    pattern: ErrorPattern, step: str, actor: audit.Actor, *, because: str = "", seen: str = ""
) -> ErrorPattern:
    """Move a pattern from one state to another, and return it as it is then.

    `because` goes with "dismiss", which wants one; `seen` with "activate": the `digest` of the keywords whose effect
    was shown. Raises NotDone. Whether the actor may is the caller's to check.
    """
    now = timezone.now()
    with transaction.atomic():
        pattern = _locked(pattern)
        states, after = AFTER[step]
        before = State(pattern.state)
        if before not in states:
            raise NotDone(str(_NOT_FROM[step]))
        if after != State.RETIRED:
            _check(pattern.keywords)
        if step == "dismiss" and is_blank(because):
            raise NotDone(_("Say why it is dismissed: it is not proposed again."))
        if step == "activate" and seen != digest(pattern.keywords):
            raise Unseen
        _make_sure_of_room(pattern, after)
        pattern.state, pattern.dismissed_because = after, because if step == "dismiss" else ""
        _write(pattern, ["state", "dismissed_because"], is_live=State.ACTIVE in (before, after))
        if before == State.PROPOSED and after in WORKING:
            restart([pattern], now)
        elif step == "retire":
            PatternRecord.objects.filter(pattern=pattern).update(seen_to=responses_of(pattern.team_id))
        data = {"keywords_sha256": seen} if step == "activate" else {}
        _record(_DONE[step], pattern, actor, before, **data)
        if after == State.PROPOSED:
            proposed.send(ErrorPattern, pattern=pattern)
    return pattern


def edit(
    pattern: ErrorPattern,
    actor: audit.Actor,
    *,
    keywords: list[str],
    description: str,
    source: str,
    seen: str = "",
) -> ErrorPattern:
    """Change what a pattern says, and return it as it is then; with other keywords its record begins anew.

    `seen` as for `take_step`, where an active pattern gets other keywords. Raises NotDone.
    """
    _check(keywords)
    with transaction.atomic():
        pattern = _locked(pattern)
        wanted = {"keywords": keywords, "description": description, "source": source}
        fields = [name for name, value in wanted.items() if getattr(pattern, name) != value]
        if not fields:
            return pattern
        is_active = pattern.state == State.ACTIVE
        if "keywords" in fields and is_active and seen != digest(keywords):
            raise Unseen
        data: dict[str, object] = {"fields": fields}
        if "keywords" in fields:
            data |= {"keywords_sha256": digest(keywords), "before_sha256": digest(pattern.keywords)}
            data |= _record_so_far(pattern)
        for name in fields:
            setattr(pattern, name, wanted[name])
        _write(pattern, fields, is_live=is_active)
        if "keywords" in fields and pattern.state in WORKING:
            restart([pattern], timezone.now())
        _record("pattern-changed", pattern, actor, State(pattern.state), **data)
    return pattern


def restart(patterns: Sequence[ErrorPattern], now: datetime) -> None:
    """Begin the record of patterns anew, in the transaction that put them to work or changed their keywords."""
    seen = {team_id: responses_of(team_id) for team_id in {pattern.team_id for pattern in patterns}}
    rows = [PatternRecord(pattern=each, since=now, seen_from=seen[each.team_id]) for each in patterns]
    fields = [field.name for field in PatternRecord._meta.concrete_fields if not field.primary_key]
    PatternRecord.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["pattern"], update_fields=fields, batch_size=500
    )


def responses_of(team_id: int) -> int:
    """Count the responses that a team's agents have posted."""
    posted = AgentState.objects.filter(agent__team=team_id).aggregate(total=Sum("responses"))["total"]
    return int(posted or 0)


def _locked(pattern: ErrorPattern) -> ErrorPattern:
    # The team first, as whoever proposes does: room is counted under its lock. No agent's post waits for it.
    Team.objects.select_for_update(no_key=True).get(pk=pattern.team_id)
    return ErrorPattern.objects.select_related("team").get(pk=pattern.pk)


def _check(keywords: Sequence[str]) -> None:
    if problems := keyword_problems(keywords):
        raise NotDone(" ".join(problems))


def _make_sure_of_room(pattern: ErrorPattern, after: State) -> None:
    most = {State.ACTIVE: MAX_PATTERNS, State.SHADOW: MAX_SHADOW}.get(after)
    if most and ErrorPattern.objects.filter(team=pattern.team_id, state=after).count() >= most:
        if after == State.ACTIVE:
            sentence = _("The team has %(most)d active patterns, the most there can be. Retire some first.")
        else:
            sentence = _("The team tries out %(most)d patterns, the most there can be at once. Decide on some first.")
        raise NotDone(sentence % {"most": most})


def _write(pattern: ErrorPattern, fields: list[str], *, is_live: bool) -> None:
    ErrorPattern.objects.filter(pk=pattern.pk).update(**{name: getattr(pattern, name) for name in fields})
    if is_live:
        touch(pattern.team_id, [pattern])


def _record_so_far(pattern: ErrorPattern) -> dict[str, int]:
    names = ("fired", "held", "rejected", "edited", "approved")
    return PatternRecord.objects.filter(pattern=pattern).values(*names).first() or {}


def _record(action: str, pattern: ErrorPattern, actor: audit.Actor, before: State, **data: object) -> None:
    audit.record(
        action,
        pattern.public_id,
        actor=actor,
        team=pattern.team_id,
        before=before,
        after=pattern.state,
        **data,
    )
