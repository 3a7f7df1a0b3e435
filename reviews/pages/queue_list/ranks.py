"""Why a row of the queue stands where it does in the order of the learned risk."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from reviews.learning import reason_groups
from reviews.models import HeldItem
from reviews.pages.person import PersonRequest, visible_item_or_404
from reviews.presentation.risk.standing import stands
from reviews.risk import in_force


@require_safe
def why_first(request: PersonRequest, held_id: str) -> HttpResponse:
    """Say in a line what raised an item's learned risk; the item's page says more. 204 where nothing is known."""
    held = visible_item_or_404(request, held_id)
    why = in_force.why(held) if held.state == HeldItem.State.PENDING else None
    if why is None:
        return HttpResponse(status=204)
    question = held.response.wire_body().get("user_message")
    found = stands(why, held, held.response.wire_verdict(), question, reason_groups.of_team(held.team_id))
    if not found.facts:
        return HttpResponse(status=204)
    return HttpResponse("\n".join([gettext("Raised by:"), *found.facts]), content_type="text/plain; charset=utf-8")
