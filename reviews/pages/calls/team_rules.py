"""The page of a team's rules on tool calls: its versions, and what a change would have done to all its agents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from metacog.accounts import agents as accounts
from metacog.accounts.rule_forms import RuleTable, as_text, rule_changes, what_it_does
from metacog.models import Role, Team, TeamRules
from metacog.pages.teams.page import tabs
from reviews.held import approvers
from reviews.held.calls import rule_changes as waiting_calls_of
from reviews.held.calls.rule_changes import Listed, Waiting
from reviews.held.decisions import Change, Circumstances
from reviews.pages.person import PersonRequest
from reviews.presentation.approvals import whom
from reviews.presentation.calls.fates import call_rows
from reviews.presentation.calls.rule_tallies import of_rule
from reviews.presentation.calls.waiting import settled, waiting_calls
from reviews.presentation.rule_words import in_words
from reviews.scoring.preview import DAYS, MOST_IN_PAGE
from reviews.scoring.team_drafts import TeamDraft

VERSIONS = 30  # shown, the newest
MAX_NOTE = 300


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team_rules(request: PersonRequest, team_id: int) -> HttpResponse:
    """Show a team's rules; an owner tries a change out here, then puts it in force and says why.

    A draft is saved only as it was shown with what it would have done.
    """
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    is_owner = request.user.has_role(team.pk, Role.OWNER)
    do = request.POST.get("do", "")
    if do in ("save", "settle") and not is_owner:
        raise PermissionDenied(_("Only owners of the team can change its rules."))
    rows = TeamRules.objects.filter(team=team).select_related("created_by").order_by("-version")
    versions = list(rows[: VERSIONS + 1])
    current = next((each for each in versions if each.version == team.rules_version), TeamRules(team=team, version=0))
    if do == "settle":
        return _settle(request, team, current)
    table, note = _table(request, versions, current), request.POST.get("note", "").strip()[:MAX_NOTE]
    context: dict[str, Any] = {"based_on": request.POST.get("based_on") or str(current.version)}
    if do == "save" and table.rules is not None:
        changed = table.compact != as_text(current.rules)
        if request.POST.get("seen") != _digest(table.rules):
            context["unseen"] = True
        elif not note and changed:
            context["unexplained"] = True
        else:
            listed = Listed.read(request.POST.get("waiting", "") if "settle" in request.POST else "")
            if saved := _save(request, team, table.rules, note, context["based_on"]):
                change = Change(request.user, rules_version=saved.version)
                messages.success(
                    request, _("Version %(version)d of the team's rules is now in force.") % {"version": saved.version}
                )
                if listed:
                    agents = team.agents.select_related("team")
                    messages.success(
                        request, settled(waiting_calls_of.settle(agents, listed, Circumstances(change=change)))
                    )
                return redirect("team-rules", team.pk)
            context |= {"moved": True, "based_on": str(current.version)}
    if table.rules is not None:
        context |= _told(team, current, table.rules)
    table.tell(in_words, [told for _rule, told in context.get("by_rule", ())])
    rules = current.readable if table.rules is None else table.rules
    context |= {
        "tabs": tabs(team, request.user, "team-rules"),
        "team": team,
        "rules": current,
        "table": table,
        "note": note,
        "is_owner": is_owner,
        "versions": _history(versions),
        "rules_url": reverse("team-rules", args=[team.pk]),
        "unmet": [(whom(named), count) for named, count in approvers.unmet(team.pk, rules)],
        "days": DAYS,
        "section": "team",
    }
    template = "reviews/team_rules.html"
    if request.htmx and not context.get("moved"):
        is_table = request.htmx.target == "rules"
        template = "reviews/_team_rules_edited.html" if is_table else "reviews/_team_rules_drafted.html"
    status = 409 if context.get("moved") else 422 if table.rules is None or context.get("unexplained") else 200
    return render(request, template, context, status=status)


def _settle(request: PersonRequest, team: Team, current: TeamRules) -> HttpResponse:
    """Decide pending calls by the version in force."""
    change = Change(current.created_by, rules_version=current.version)
    listed, how = Listed.read(request.POST.get("waiting", "")), Circumstances(ordered_by=request.user, change=change)
    messages.success(request, settled(waiting_calls_of.settle(team.agents.select_related("team"), listed, how)))
    return redirect("team-rules", team.pk)


def _save(request: PersonRequest, team: Team, rules: Sequence[Any], note: str, based_on: str) -> TeamRules | None:
    """Put rules in force; None where another version came into force meanwhile."""
    seen = int(based_on) if based_on.isdecimal() and len(based_on) < 10 else -1
    try:
        return accounts.change_team_rules(team, request.user, rules, note, based_on=seen)
    except accounts.PolicyMoved:
        return None


def _table(request: PersonRequest, versions: Sequence[TeamRules], current: TeamRules) -> RuleTable:
    """Return the rules as they were posted, with what a button of theirs does; else those of a version."""
    if "rules_in" in request.POST:
        # With a preview htmx sends the button that has the focus, which nobody pressed.
        is_pressed = not request.htmx or request.htmx.target == "rules"
        return RuleTable.posted(request.POST, do=request.POST.get("do", "") if is_pressed else "")
    wanted = request.GET.get("from", "")
    base = next((each for each in versions if str(each.version) == wanted), current)
    return RuleTable([], text=request.GET.get("rules") or as_text(base.rules))


def _told(team: Team, current: TeamRules, rules: Sequence[Any]) -> dict[str, Any]:
    """Return what the draft changes, what it would have done, and the pending calls that it decides."""
    draft = TeamDraft.of(team, rules)
    found = draft.preview(MOST_IN_PAGE)
    return {
        "calls": found,
        "call_rows": call_rows(found.now, found.then),
        "by_rule": [(what_it_does(tally.rule or {}, in_words), of_rule(tally)) for tally in found.rules[:-1]],
        "changed": rule_changes(current.readable, rules, in_words),
        "waiting": waiting_calls(Waiting.of(draft.scorers, draft.agents)),
        "seen": _digest(rules),
    }


def _digest(rules: Sequence[Any]) -> str:
    """Name a draft by all that would be in force with it."""
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()


class Version(NamedTuple):
    """A version of a team's rules, what it changed of the one before, and all its rules in words."""

    given: TeamRules
    changes: list[tuple[str, str, str]]


def _history(versions: Sequence[TeamRules]) -> list[Version]:
    """Pair each version with what it changed of the one before; the oldest read only serves as that."""
    before = [each.readable for each in versions[1:]]
    if len(versions) <= VERSIONS:
        before.append([])
    return [
        Version(each, rule_changes(was, each.readable, in_words))
        for each, was in zip(versions[:VERSIONS], before, strict=False)
    ]
