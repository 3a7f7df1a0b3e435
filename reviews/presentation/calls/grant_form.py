"""Grants as pages show them: the form beside Approve, and the rows of what was given."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.grants import MATCHES, SCOPES, Match, Scope, unfit
from metacog.models import Role, User
from reviews.held import grants
from reviews.held.calls import passing
from reviews.models import CallGrant, HeldItem
from reviews.presentation.calls.grant_words import in_words, until_when, what, where, why_not

TONIGHT = "tonight"
QUICK = "grant_again"  # by one press: the same call for ten minutes, whatever else the form says
SECONDS = {"10m": 600, "1h": 3600, "7d": 7 * 86_400, "30d": 30 * 86_400}
UNTIL: Mapping[str, Promise] = {
    "10m": _("for 10 minutes"),
    "1h": _("for 1 hour"),
    TONIGHT: _("until tonight"),
    "7d": _("for 7 days"),
    "30d": _("for 30 days"),
}
TITLES: Mapping[Match, Promise] = {
    "shape": _("Calls like this"),
    "call": _("The same call"),
    "tool": _("All calls of the tool"),
}
State = CallGrant.State
_VERSION = re.compile(r"[0-9]{1,9}")


class Offer(NamedTuple):
    """One way in which a call can be granted: what passes, how often that was asked, and why not, if it cannot be."""

    match: Match
    title: str
    words: str
    asked: int
    in_session: int
    why_not: str
    is_chosen: bool


def form_of(held: HeldItem, posted: Mapping[str, str], *, with_waiting: bool = False) -> dict[str, Any]:
    """Return what the form beside Approve has, as it was posted; {} where no grant can let such calls pass.

    The calls that wait and would pass, too, are asked for once the form is opened: each of them is read for it.
    """
    found = grants.asked(held, held.call.arguments)
    if grants.why_none(found):
        return {}
    counts = grants.count(held, found, timezone.now())
    unfits = {match: unfit(match, found.call, found.reading) for match in MATCHES}
    possible = [match for match in ("shape", "call") if unfits[match] is None]
    is_final = any(each.effect == "irreversible" for each in found.reading.effects)
    chosen = posted.get("grant_match", possible[-1] if is_final else possible[0])
    offers = [
        Offer(
            match,
            str(title),
            what(match, held.call.name, held.call.arguments, found.reading.shape),
            counts.of(match, "agent"),
            counts.of(match, "session"),
            why_not(*no) if (no := unfits[match]) else "",
            match == chosen,
        )
        for match, title in TITLES.items()
    ]
    until, scope = posted.get("grant_until", TONIGHT), posted.get("grant_scope", "session")
    words = next((each.words for each in offers if each.is_chosen), "")
    return {
        "offers": offers,
        "waiting": (),
        **(_waiting(held, found) if with_waiting else {"some_wait": passing.may_wait(held)}),
        "can_again": unfits["call"] is None,
        "is_bounded": counts.is_bounded,
        "days": grants.COUNTED_DAYS,
        "scopes": [(each, where(each, held.agent.name), each == scope) for each in SCOPES],
        "until": [(value, title, value == until) for value, title in UNTIL.items()],
        "uses": posted.get("grant_uses", ""),
        "most_uses": grants.MOST_USES,
        "is_open": posted.get("grant") == "1" or with_waiting,
        "words": gettext(", ").join([words, where(scope, held.agent.name), str(UNTIL.get(until, ""))]),
    }


def waiting_of(held: HeldItem) -> dict[str, Any]:
    """Return what the form beside Approve has of the calls that wait."""
    found = grants.asked(held, held.call.arguments)
    return {} if grants.why_none(found) else _waiting(held, found)


def _waiting(held: HeldItem, found: grants.Asked) -> dict[str, Any]:
    """Return the calls that wait and that one of the grants would let pass, too, and how many each would."""
    now = timezone.now()
    rows = passing.waiting(held, found, now)
    counts = Counter(by for row in rows for by in row.by)
    return {
        "waiting": [
            {
                "id": row.held.public_id,
                "version": row.held.version,
                "line": secrets.line(row.held.call.name, canonical(row.held.call.arguments)) or row.held.call.name,
                "held_at": row.held.held_at,
                "when": _places(row.by),
            }
            for row in rows
        ],
        "waiting_counts": [(_places([by]), n) for by, n in sorted(counts.items())],
        "waiting_when": _places(counts),
    }


def _places(by: Iterable[tuple[Match, Scope]]) -> str:
    """Name choices of the form as its style sheet does."""
    return " ".join(sorted(f"{match}-{scope}" for match, scope in by))


def released(posted: QueryDict) -> Mapping[str, int | None]:
    """Return the waiting calls that are to be released with a grant, as they were listed: ids, and their versions."""
    if posted.get("grant") != "1" or posted.get("grant_release") != "1" or posted.get(QUICK):
        return {}
    listed = (each.rpartition(".") for each in posted.getlist("grant_waiting")[: passing.MOST])
    return {public_id: int(version) for public_id, _dot, version in listed if _VERSION.fullmatch(version)}


def wanted(posted: Mapping[str, str], *, is_edited: bool) -> grants.Wanted | None:
    """Return the grant that a posted approval asks for; None: none. Raises NotGranted."""
    if posted.get("grant") != "1" and not posted.get(QUICK):
        return None
    if is_edited:  # the form said what passes of the call as it came
        raise grants.NotGranted("", gettext("A grant covers only the original call. Approve the edit without a grant."))
    if posted.get(QUICK):
        return grants.Wanted(seconds=SECONDS["10m"])  # the very call, in its session
    until, typed = posted.get("grant_until", ""), posted.get("grant_uses", "").strip()
    scope = next((each for each in SCOPES if each == posted.get("grant_scope")), None)
    match = next((each for each in MATCHES if each == posted.get("grant_match")), None)
    uses = (int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else -1) if typed else None
    if scope is None or match is None or until not in UNTIL:
        raise grants.NotGranted("", gettext("Choose what passes, where, and until when."))
    if uses is not None and not 1 <= uses <= grants.MOST_USES:
        told = gettext("Enter a number of uses from 1 to %(most)s, or leave it empty.")
        raise grants.NotGranted("/uses", told % {"most": f"{grants.MOST_USES:,}"})
    if until == TONIGHT:
        zone = timezone.get_current_timezone()
        return grants.Wanted(scope, match, grants.tonight(timezone.now(), zone), uses)
    return grants.Wanted(scope, match, None, uses, SECONDS[until])


class Row(NamedTuple):
    """A grant of the list: what it lets pass, how it stands, and what its reader may do with it."""

    grant: CallGrant
    words: str
    state: CallGrant.State
    session: str  # "" where it is in all of them
    ended_at: datetime | None
    can_withdraw: bool
    can_restore: bool


def rows_of(person: User, found: Iterable[CallGrant]) -> list[Row]:
    """Return grants that were read by `told` as pages show them to somebody."""
    now, rows = timezone.now(), []
    for grant in found:
        state, may = grant.state(now), person.has_role(grant.held.team_id, Role.REVIEWER)
        is_over = state in (State.WITHDRAWN, State.USED_UP, State.EXPIRED)
        ended_at = grant.withdrawn_at or (grant.used_at if state == State.USED_UP else grant.until)
        rows.append(
            Row(
                grant,
                in_words(grant, until_when(grant.until)),
                state,
                grant.held.response.session if grant.scope == CallGrant.Scope.SESSION else "",
                ended_at if is_over else None,
                may and not is_over,
                may and grants.is_restorable(grant, person, now),
            )
        )
    return rows
