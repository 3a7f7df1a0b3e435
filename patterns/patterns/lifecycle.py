"""What may be done with an error pattern: proposed → shadow → active → retired, each step by a person, on record.

What an active pattern matches counts in a verdict, so its keywords go live only as they were shown with what they
would have done. A pattern's record counts for the keywords it has: with others it begins anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Sum
from django.dispatch import Signal
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metacog.audit import audit
from metacog.heuristics.text.shadow import fold, is_blank
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
    "try": gettext_lazy("Only a proposal can be accepted to shadow; this pattern is no longer one."),
    "activate": gettext_lazy("Only a proposal or a pattern in shadow can be activated."),
    "retire": gettext_lazy("Only a pattern in shadow or an active one can be retired."),
    "dismiss": gettext_lazy("Only a proposal can be dismissed; this pattern is no longer one."),
    "reopen": gettext_lazy("Only a retired pattern can be proposed again."),
}


class NotDone(Exception):
    """Nothing was changed; `str()` says why, in a sentence for people."""


class Unseen(NotDone):
    """These keywords would go live, and what they would have done was not shown."""

    def __init__(self) -> None:
        super().__init__(_("Read the backtest of exactly these keywords first."))


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
            raise NotDone(_("Give a reason for the dismissal: a dismissed proposal is not made again."))
        if step == "activate" and seen != digest(pattern.keywords):
            raise Unseen
        _make_sure_of_room(pattern, after)
        pattern.state, pattern.dismissed_because = after, because if step == "dismiss" else ""
        fields = ["state", "dismissed_because"]
        if step == "reopen" and pattern.merged_into_id:
            pattern.merged_into, pattern.merged_keywords, pattern.is_apart = None, [], True
            fields += ["merged_into", "merged_keywords", "is_apart"]
        _write(pattern, fields, is_live=State.ACTIVE in (before, after))
        if before == State.PROPOSED and after in WORKING:
            restart([pattern], now)
        elif step == "retire":
            PatternRecord.objects.filter(pattern=pattern).update(seen_to=responses_of(pattern.team_id))
        data = {"keywords_sha256": seen} if step == "activate" else {}
        _record(_DONE[step], pattern, actor, before, **data)
        if after == State.PROPOSED:
            proposed.send(ErrorPattern, pattern=pattern)
    return pattern


def merge(lead: ErrorPattern, others: Sequence[ErrorPattern], actor: audit.Actor) -> ErrorPattern:
    """Have one proposal take the keywords of others of its team, which are retired; return it. Raises NotDone."""
    with transaction.atomic():
        lead = _locked(lead)
        keys = {each.pk for each in others} - {lead.pk}
        rows = list(ErrorPattern.objects.filter(pk__in=keys, team=lead.team_id).order_by("pk"))
        if any(row.state != State.PROPOSED for row in (lead, *rows)):
            raise NotDone(_("One of the merged proposals was decided meanwhile. Reload the list."))
        keywords = list(lead.keywords)
        for row in rows:
            known = set(map(fold, keywords))
            row.merged_keywords = [keyword for keyword in row.keywords if fold(keyword) not in known]
            keywords += row.merged_keywords
            row.state, row.merged_into = State.RETIRED, lead
        _check(keywords)
        before, lead.keywords = digest(lead.keywords), keywords
        _write(lead, ["keywords"], is_live=False)
        ErrorPattern.objects.bulk_update(rows, ["state", "merged_into", "merged_keywords"])
        merged = [row.public_id for row in rows]
        told = {"keywords_sha256": digest(keywords), "before_sha256": before, "count": len(rows)}
        _record("pattern-merged", lead, actor, State.PROPOSED, merged=merged, **told)
    return lead


def part_of(team_id: int) -> dict[int, int]:
    """Return which pattern each one of a team is part of now, by keys: those that were merged, at whatever remove."""
    rows = ErrorPattern.objects.filter(team=team_id, merged_into__isnull=False).order_by()
    into = {key: lead for key, lead in rows.values_list("pk", "merged_into") if lead}
    found = {}
    for key, lead in into.items():
        while lead in into:
            lead = into[lead]
        found[key] = lead
    return found


def take_apart(
    lead: ErrorPattern, actor: audit.Actor, *, among: Collection[int] | None = None
) -> list[ErrorPattern]:
    """Take back what `merge` did to a proposal or a pattern in shadow; return what is proposed again.

    `among` are the keys of those that one merge brought, which is undone as if it had not been; else each is shown by
    itself from now on. Raises NotDone.
    """
    with transaction.atomic():
        lead = _locked(lead)
        if lead.state not in (State.PROPOSED, State.SHADOW):
            raise NotDone(_("Only a proposal or a pattern in shadow can be split. Edit its keywords instead."))
        brought_in = ErrorPattern.objects.filter(merged_into=lead, state=State.RETIRED)
        rows = list((brought_in if among is None else brought_in.filter(pk__in=among)).order_by("pk"))
        brought = {fold(keyword) for row in rows for keyword in row.merged_keywords}
        own = [keyword for keyword in lead.keywords if fold(keyword) not in brought]
        if not rows:
            raise NotDone(_("Nothing is merged into this pattern."))
        if not own:
            raise NotDone(_("All remaining keywords came from merged proposals. Edit its keywords instead."))
        before, lead.keywords = digest(lead.keywords), own
        lead.is_apart |= among is None
        _write(lead, ["keywords", "is_apart"], is_live=False)
        for row in rows:
            row.state, row.merged_into, row.merged_keywords = State.PROPOSED, None, []
            row.is_apart |= among is None
        ErrorPattern.objects.bulk_update(rows, ["state", "merged_into", "merged_keywords", "is_apart"])
        if lead.state == State.SHADOW:
            restart([lead], timezone.now())
        told = {"keywords_sha256": digest(own), "before_sha256": before, "count": len(rows)}
        _record("pattern-taken-apart", lead, actor, State(lead.state), **told)
    return rows


def set_apart(patterns: Sequence[ErrorPattern], actor: audit.Actor, *, is_apart: bool) -> int:
    """Show proposals each by itself, or merged with their like again; return how many changed."""
    changed = 0
    with transaction.atomic():
        for pattern in patterns:
            row = _locked(pattern)
            if row.state == State.PROPOSED and row.is_apart != is_apart:
                row.is_apart = is_apart
                _write(row, ["is_apart"], is_live=False)
                _record("pattern-shown-apart" if is_apart else "pattern-shown-merged", row, actor, State.PROPOSED)
                changed += 1
    return changed


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
            sentence = _("The team has %(most)d active patterns, which is the limit. Retire some first.")
        else:
            sentence = _(
                "The team has %(most)d patterns in shadow, which is the limit. Activate or retire some first."
            )
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
