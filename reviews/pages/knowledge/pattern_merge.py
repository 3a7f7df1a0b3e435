"""Merge proposals that somebody chose: what the merged pattern would have done first, and the way back after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from metacog.heuristics.text.shadow import fold
from metacog.models import Role
from metacog.pages import confirming
from patterns.models import MAX_KEYWORDS, ErrorPattern
from patterns.patterns import lifecycle
from patterns.patterns.lifecycle import NotDone
from reviews.learning import contrast
from reviews.learning.backtest import backtest
from reviews.learning.merging import MOST_OTHERS
from reviews.pages.knowledge import proposals
from reviews.pages.knowledge.patterns import backtest_told, key_of, may_not
from reviews.pages.knowledge.proposals import Evidence
from reviews.pages.person import PersonRequest
from reviews.scoring.preview import DAYS, MOST

UNDO = "undo-merge"  # the form on the page of what was merged


@require_http_methods(["GET", "HEAD", "POST"])
def merge(request: PersonRequest) -> HttpResponse:
    """Show the chosen proposals as one, with its backtest, and merge them once that is confirmed."""
    if not request.user.teams_as(Role.CURATOR).exists():
        raise PermissionDenied(may_not())
    given = request.POST if request.method == "POST" else request.GET
    chosen = _chosen(request, given.getlist("pk"))
    if len(chosen) < 2 or len({pattern.team_id for pattern in chosen}) > 1:
        messages.info(request, _("Select at least two proposals of one team."))
        return redirect(f"{reverse('patterns')}?state=proposed")
    lead = next((each for each in chosen if each.pk == key_of(given.get("lead", ""))), chosen[0])
    others = [each for each in chosen if each.pk != lead.pk]
    keywords = _keywords([lead, *others])
    problem = ""
    if len(keywords) > MAX_KEYWORDS:
        problem = _("At most %(most)d keywords per pattern.") % {"most": MAX_KEYWORDS}
    elif request.method == "POST":
        try:
            lifecycle.merge(lead, others, request.user)
        except NotDone as error:
            problem = str(error)
        else:
            told = ngettext("%(count)d proposal was merged.", "%(count)d proposals were merged.", len(chosen))
            confirming.done(request, told % {"count": len(chosen)}, UNDO)
            contrast.count(lead.team, [lead.pk])
            back = urlencode({"undo": [each.pk for each in others]}, doseq=True)
            return redirect(f"{reverse('pattern', args=[lead.pk])}?tried=1&{back}")
    context: dict[str, Any] = {
        "rows": proposals.singles(chosen),
        "lead": lead,
        "keywords": keywords,
        "problem": problem,
        "days": DAYS,
        "most": f"{MOST:,}",
        "section": "patterns",
    }
    if not problem:
        tested = backtest(lead.team, keywords)
        found = contrast.expected(lead.team, [each.pk for each in chosen], keywords)
        context["backtest"] = backtest_told(tested)
        context["evidence"] = Evidence.of_counts(found, fires_too_often=tested.fires_too_often)
    return render(request, "reviews/pattern_merge.html", context, status=409 if problem else 200)


def _chosen(request: PersonRequest, keys: Sequence[str]) -> list[Any]:
    """Return the proposals of these keys that this person may merge, in the order in which they were chosen."""
    wanted = [key for key in map(key_of, keys[: MOST_OTHERS + 1]) if key]
    seen = ErrorPattern.objects.filter(team__in=request.user.teams_as(Role.CURATOR), state=ErrorPattern.State.PROPOSED)
    found = proposals.with_evidence(seen).in_bulk(wanted)
    return [found[key] for key in dict.fromkeys(wanted) if key in found]


def _keywords(chosen: Sequence[ErrorPattern]) -> list[str]:
    """Return the keywords of all, as merging puts them together."""
    known: dict[str, str] = {}
    for pattern in chosen:
        for keyword in pattern.keywords:
            known.setdefault(fold(keyword), keyword)
    return list(known.values())
