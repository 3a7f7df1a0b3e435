"""What the rows of the queue's list say, in words: their template only writes them down.

A list has fifty rows, and what a template works out in each of them is what a page waits for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict

from django.urls import reverse
from django.utils.translation import gettext, ngettext, pgettext

from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.tool_calls.secrets import line, masked_text
from metacog.http.included import format_html
from metacog.models import Role, User
from reviews.held.listing import CLIP
from reviews.models import HeldItem
from reviews.presentation.approvals import in_row
from reviews.presentation.differences import in_words
from reviews.presentation.effects import in_short
from reviews.presentation.highlight import show
from reviews.presentation.look_alikes import name_shown, row_mark
from reviews.presentation.phrases import (
    Became,
    ago,
    became,
    decided,
    due_in,
    expires_in,
    is_of_days,
    looking,
    pieces,
    risk,
)

APPROVED = (HeldItem.State.APPROVED, HeldItem.State.EDITED)


class Entry(TypedDict):
    """One row."""

    id: str
    url: str
    mark: str  # the score, or that a rule asks
    by_rule: bool  # a rule asks about it, whatever it would score
    risk: str
    rank: str  # where it stands by its learned risk, in a list in that order; empty in others
    why: str  # the address that says why
    agent: str
    disabled: str  # that its agent is
    team: str  # where this person is in several: agents of two teams may bear one name
    kind: str
    tool: str  # the name of a tool call's
    needs: str  # approvals of others, or of tool calls
    odd: str  # what is to be known of the letters of its name, its arguments' names and hosts
    effects: str  # of a tool call, the gravest of them
    clip: str
    time: str  # since it was decided, else until it expires
    held_on: str  # the day, of what waits for a day or longer
    due: str  # until it should be decided; empty of what is decided
    count: int  # near-duplicates that it stands for, with itself; 1: none
    differ: str  # in what those differ
    alike: str  # where they are listed
    together: str  # where they are decided together
    select: str  # what the box says that selects it; empty where there is none
    decided: str
    became: Became | None  # of an approved tool call
    looking: str
    cycle: str
    opened: bool
    assignee: str
    comments: str


def _clip(row: Any, decision: Any) -> str:
    """Return the line of an item: what was released of it, where that is an edit."""
    clip: str = row.clip if decision is None or decision.edited is None else decision.edited
    if row.call_name:
        return line(row.call_name, clip)
    return without_tags(masked_text(clip, is_cut=len(clip) >= CLIP)) if clip.strip() else ""


def entries(
    rows: Sequence[Any],
    user: User,
    *,
    opened: str,
    query: str,
    first: str = "",
    is_ranked: bool = False,
    edits: Mapping[int, int] | None = None,
) -> list[Entry]:
    """Return what the rows of `queue.page` say to `user`, who has one item open.

    `query` is that of the list, `first` that of its first page; it `is_ranked` in the order of the learned risk.
    `edits` are the bits of what calls would do as decisions edited them, by the decision's key.
    """
    edits = edits or {}
    before, after = reverse("item", args=["_"]).split("_")  # found once: it costs as much as to write a row
    rule, question = gettext("Call"), pgettext("a row's mark", "Asks")
    select_all, listed = gettext("Select all %(n)s alike: %(kind)s from %(agent)s"), reverse("queue")
    select, cycle, comma = gettext("Select %(kind)s from %(agent)s"), gettext("cycle %(cycle)s"), gettext(", ")
    targets = {team.pk: timedelta(minutes=team.decide_within_minutes) for team in user.teams}
    together, empty = reverse("together"), gettext("(empty text)")
    disabled, top, held = gettext("disabled"), pgettext("rank", "top %(share)s%%"), gettext("held {day}")
    team_names = {team.pk: team.name for team in user.teams} if len(user.teams) > 1 else {}
    found = []
    for row in rows:
        kind, is_pending = row.get_kind_display(), row.state == HeldItem.State.PENDING
        decision = None if is_pending else next(iter(row.standing), None)
        bits = edits.get(decision.pk, row.effect_bits) if decision else row.effect_bits
        group, share = row.group, row.top_share if is_ranked and is_pending else None
        joined = f"{first}&" if first else "?"
        may_select = is_pending and user.has_role(row.team_id, Role.REVIEWER)
        entry: Entry = {
            "id": row.public_id,
            "url": f"{before}{row.public_id}{after}{query}",
            "mark": question
            if row.kind == HeldItem.Kind.QUESTION
            else rule
            if row.by_rule
            else f"{row.hesitation_score}",
            "by_rule": row.by_rule,
            "risk": "r0 rule" if row.by_rule else risk(row.hesitation_score),
            "rank": top % {"share": share} if share else "",
            "why": f"{before}{row.public_id}{after}why" if share else "",
            "agent": row.agent_name,
            "disabled": "" if row.agent_enabled else disabled,
            "team": team_names.get(row.team_id, ""),
            "kind": kind,
            "tool": pieces(name_shown(row.call_name)) if row.call_name else "",
            "needs": in_row(row) if is_pending else "",
            "effects": in_short(bits or 0),
            "odd": row_mark(row.call_name or "", row.clip),
            "clip": pieces(show(_clip(row, decision) or empty)),
            "time": ago(decision.decided_at) if decision else expires_in(row.expires_at, row.held_at),
            "held_on": format_html(held, day=ago(row.held_at)) if is_pending and is_of_days(row.held_at) else "",
            "due": due_in(row.held_at + targets[row.team_id]) if is_pending else "",
            "count": group.size if group else 1,
            "differ": in_words(group.differs) if group and is_pending else "",
            "alike": f"{listed}{joined}alike={row.public_id}" if group and is_pending else "",
            "together": f"{together}{joined}group={row.public_id}" if group and may_select else "",
            "select": (select_all if group else select)
            % {"kind": kind, "agent": row.agent_name, "n": group and group.size}
            if may_select
            else "",
            "decided": decided(decision, user) + comma if decision else "",
            "became": became(row.closed_at, row.outcome_status, row.outcome_at, row.outcome_detail or "")
            if row.call_name and row.state in APPROVED
            else None,
            "looking": looking(row.lookers) if row.lookers else "",
            "cycle": "" if row.cycle is None else cycle % {"cycle": row.cycle},
            "opened": row.public_id == opened,
            "assignee": f"@{row.assignee}" if row.assignee else "",
            "comments": said_of(row.comments_count) if row.comments_count else "",
        }
        found.append(entry)
    return found


def said_of(count: int) -> str:
    return ngettext("%(count)s comment", "%(count)s comments", count) % {"count": count}
