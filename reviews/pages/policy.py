"""The policy page of an agent: its versions, what each changed, and what a change would have done."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from metacog import heuristics
from metacog.accounts import agents
from metacog.accounts.forms import SIGNALS
from metacog.accounts.policy_forms import PolicyForm, changes, filled_in, weight_field, with_own_threshold
from metacog.heuristics.hesitation import fitting, thresholds
from metacog.heuristics.hesitation.fitting import Fit
from metacog.models import Agent, Policy, Role
from patterns.patterns.scorer import scorer_for
from reviews.models import FittedWeights
from reviews.pages.person import PersonRequest
from reviews.scoring.preview import DAYS, MOST, Preview, preview

VERSIONS = 30  # shown, the newest


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def policy(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Show an agent's policy; an owner tries a change out here, then puts it in force.

    A draft is an address (`?threshold=35`, or `?from=2` for an earlier version) that can be handed on.
    It is saved only as it was shown with what it would have done.
    """
    seen = Agent.objects.filter(team__in=request.user.teams_as())
    agent = get_object_or_404(seen.select_related("team"), public_id=agent_id)
    is_owner = request.user.has_role(agent.team_id, Role.OWNER)
    if request.method == "POST" and request.POST.get("do") == "save" and not is_owner:
        raise PermissionDenied(_("Only owners of the team can change its agents."))
    versions = list(
        Policy.objects.filter(agent=agent).select_related("created_by").order_by("-version")[: VERSIONS + 1]
    )
    current = next((each for each in versions if each.version == agent.policy_version), None)
    assert current is not None  # the highest is in force
    values = with_own_threshold(_values(request, versions, current), current)
    form = PolicyForm(agent, values)
    drafted = form.is_valid()
    context: dict[str, Any] = {}
    if drafted and request.POST.get("do") == "save" and request.POST.get("seen") == _digest(form.instance):
        try:
            saved = agents.add_policy(agent, request.user, form.instance, based_on=form.cleaned_data["based_on"])
        except agents.PolicyMoved:
            # Shown beside the version that came between; saving again is a decision that knows of it.
            values["based_on"] = current.version
            form = PolicyForm(agent, values)
            form.is_valid()
            context["moved"] = True
        else:
            messages.success(request, _("Policy %(version)d is in force.") % {"version": saved.version})
            return redirect("policy", agent.public_id)
    elif request.POST.get("do") == "save" and drafted:
        context["unseen"] = True
    if drafted:
        context |= _told(agent, current, form)
    context |= {
        "agent": agent,
        "form": form,
        "values": values,
        "policy": current,
        "is_owner": is_owner,
        "versions": _history(versions),
        "fitted": _fitted(agent, current),
        "days": DAYS,
        "most": MOST,
        "section": "agents",
    }
    template = "reviews/_preview.html" if request.htmx and not context.get("moved") else "reviews/policy.html"
    return render(request, template, context, status=409 if context.get("moved") else 200 if drafted else 422)


def _values(request: PersonRequest, versions: list[Policy], current: Policy) -> dict[str, Any]:
    """Return the form's values: as posted, else of the version asked for with what the address changes."""
    if request.method == "POST":
        return request.POST.dict() | {"based_on": request.POST.get("based_on", "")}
    wanted = request.GET.get("from", "")
    base = next((each for each in versions if str(each.version) == wanted), current)
    values = filled_in(base, based_on=current.version)
    if base is current:
        values["note"] = ""
    else:
        values["note"] = _("Back to version %(version)d") % {"version": base.version}
    return values | {name: value for name, value in request.GET.items() if name in values and name != "based_on"}


def _told(agent: Agent, current: Policy, form: PolicyForm) -> dict[str, Any]:
    """Return what the draft changes and what it would have done."""
    draft = form.instance
    rules = heuristics.Policy.from_dict(draft.as_dict())
    found = preview(agent, scorer_for(agent), rules)
    return {
        "preview": found,
        "rows": _rows(found),
        "changed": changes(current, draft),
        "draft": draft,
        "seen": _digest(draft),
        "link": "?" + urlencode(_unlike(form.cleaned_data, current)),
        "reached": sum(count for score, count in found.scores.items() if score >= current.hold_at),
        "suggestion": thresholds.suggest(found.scores.elements(), current.threshold, current.hold_at),
    }


def _unlike(draft: dict[str, Any], current: Policy) -> dict[str, Any]:
    """Return what of a draft differs from the version in force, for the draft's address."""
    stored = filled_in(current, based_on=draft["based_on"])
    changed = {name: value for name, value in draft.items() if value != stored[name]}
    return {name: "" if value is None else value for name, value in changed.items()}


def _digest(draft: Policy) -> str:
    """Name a draft by all that would be in force with it."""
    return hashlib.sha256(json.dumps(draft.as_dict(), sort_keys=True).encode()).hexdigest()


def _fitted(agent: Agent, current: Policy) -> dict[str, Any]:
    """Return what the worker last found when it fitted weights to people's verdicts; {} when it has not yet."""
    row = FittedWeights.objects.filter(agent=agent, policy_version=current.version).first()
    if row is None:
        return {}
    found = Fit(**row.found)
    before = heuristics.Policy.from_dict(current.as_dict()).weights
    draft: dict[str, Any] = {weight_field(name): weight for name, weight in found.weights.items()}
    draft |= {"threshold": found.threshold, "hold_at": found.hold_at}
    draft["note"] = _("Fitted to %(count)d verdicts") % {"count": found.verdicts}
    rules = {
        "fitted": _("The fitted weights"),
        "in_force": _("Policy %(version)s") % {"version": current.version},
        "seed": _("The weights of a new agent"),
        "length": _("Plain length, the longest first"),
    }
    return {
        "found": found,
        "row": row,
        "enough": fitting.ENOUGH,
        "of_each": fitting.ENOUGH_OF_EACH,
        "weights": [
            (SIGNALS[name], before[name], weight) for name, weight in found.weights.items() if weight or before[name]
        ],
        "caught": [(title, found.caught.get(name)) for name, title in rules.items()],
        "draft": "?" + urlencode(draft),
    }


class Version(NamedTuple):
    """A version of a policy, and what it changed of the one before: label, old and new value."""

    policy: Policy
    changes: list[tuple[str, str, str]]


def _history(versions: list[Policy]) -> list[Version]:
    """Pair each version with what it changed of the one before; the oldest read only serves as that."""
    shown = versions[:VERSIONS]
    before = versions[1:]
    return [
        Version(each, changes(before[place], each) if place < len(before) else [])
        for place, each in enumerate(shown)
    ]


class Line(NamedTuple):
    """A line of the comparison: what is counted, in force, with the draft, and the difference."""

    name: str
    now: str
    then: str
    change: str
    within: bool  # it is a part of the line above


def _rows(found: Preview) -> list[Line]:
    now, then = found.now, found.then
    lines = [
        (_("Responses that trigger"), now.triggered, then.triggered, False),
        (_("Items marked"), now.marked, then.marked, False),
        (_("Items held"), now.held, then.held, False),
        (_("of them rejected or withdrawn"), now.outcomes["rejected"], then.outcomes["rejected"], True),
        (_("approved after an edit"), now.outcomes["edited"], then.outcomes["edited"], True),
        (_("approved"), now.outcomes["approved"], then.outcomes["approved"], True),
        (_("nobody decided"), now.outcomes["unseen"], then.outcomes["unseen"], True),
        (_("passed then, nobody looked"), now.outcomes["unheld"], then.outcomes["unheld"], True),
    ]
    return [
        Line(name, f"{was:,}", f"{will:,}", _signed(will - was), within)
        for name, was, will, within in lines
    ]


def _signed(number: int) -> str:
    return f"+{number:,}" if number > 0 else f"−{-number:,}" if number else "–"
