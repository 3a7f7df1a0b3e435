"""Give an agent the pack that fits its calls, with one press from its page."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from metacog.accounts import agents
from metacog.accounts.forms import PackForm
from metacog.models import Agent, Role
from reviews.pages.person import PersonRequest


@require_POST
def apply_pack(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Put a pack into an agent's policy, as its next version; an earlier version takes it back."""
    seen = Agent.objects.filter(team__in=request.user.teams_as())
    agent = get_object_or_404(seen.select_related("team"), public_id=agent_id)
    if not request.user.has_role(agent.team_id, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can change its agents."))
    form, based_on = PackForm(request.POST), request.POST.get("based_on", "")
    if not form.is_valid() or not based_on.isdecimal():
        messages.error(request, _("Nothing was changed: choose a pack, and a folder of at most 500 characters."))
        return redirect("agent", agent.public_id)
    (pack,) = form.packs()
    try:
        saved = agents.apply_pack(agent, request.user, pack, based_on=int(based_on))
    except agents.PolicyMoved:
        messages.error(request, _("Another version came into force meanwhile. Nothing was changed."))
    else:
        told = {"version": saved.version, "pack": dict(form.fields["pack"].choices)[pack["name"]]}  # type: ignore[attr-defined]
        messages.success(request, _("%(pack)s is now in force, as policy %(version)d.") % told)
    return redirect("agent", agent.public_id)
