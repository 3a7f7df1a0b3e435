"""Where a link that knows a pattern's public id leads: to the pattern's page."""

from __future__ import annotations

from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from patterns.models import ErrorPattern
from reviews.pages.person import PersonRequest


@require_safe
def show(request: PersonRequest, team_id: int, public_id: str) -> HttpResponseRedirect:
    """Lead to the page of a pattern of one of the person's teams."""
    visible = ErrorPattern.objects.filter(team__in=request.user.teams_as())
    pattern = get_object_or_404(visible, team=team_id, public_id=public_id)
    return HttpResponseRedirect(reverse("pattern", args=[pattern.pk]))
