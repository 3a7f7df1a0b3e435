"""Deciding several held items with one press, after reading each of them whole."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from metacog.db.ids import new_id
from metacog.models import Role
from patterns.models import ErrorPattern
from reviews.held import decisions
from reviews.held.listing import PAGE, Filters, in_order, named
from reviews.metrics import review_time
from reviews.models import HeldItem, Signal
from reviews.pages import call_desk
from reviews.pages.deciding import reason_form, reason_given, why_not
from reviews.pages.person import PersonRequest, forbidden, number, visible_items
from reviews.presentation.explanation import parts, tag_flags
from reviews.presentation.marks import marked
from reviews.presentation.reasons import PRESETS
from reviews.serializers import signals_of

# Characters of text on one page; what is beyond is decided by itself, since nobody reads a book to press once.
MOST_TEXT = 100_000
PAGE_OF_SEVERAL = "several"  # what its stamp says was shown


@require_safe
def together(request: PersonRequest) -> HttpResponse:
    """Show the selected items, each whole, without those that were decided meanwhile or are not theirs to decide."""
    return _page(request, request.GET.getlist("held"))


@require_POST
def decide_together(request: PersonRequest) -> HttpResponse:
    """Decide what is ticked, each item for itself; say what was skipped, and why."""
    filters = Filters.of(request.GET, request.user.teams)
    shown = dict(_shown(raw) for raw in request.POST.getlist("item")[:PAGE])
    items = list(in_order(visible_items(request).filter(public_id__in=shown), filters))
    mine = set(request.user.teams_as(Role.REVIEWER).values_list("pk", flat=True))
    if any(held.team_id not in mine for held in items):
        return forbidden(request)
    verdict = request.POST.get("verdict", "")
    reasons = {held.pk: reason_given(request, held.agent) if verdict == "reject" else "" for held in items}
    problem = gettext("Tick at least one item.") if not items else why_not(verdict, None, min(reasons.values()))
    if problem:
        return _page(request, request.POST.getlist("held"), ticked=shown, problem=problem)
    one_press, skipped = new_id("press"), 0
    passed = review_time.elapsed(request.POST.get("shown", ""), PAGE_OF_SEVERAL)
    each_ms = None if passed is None else passed // len(items)
    for held in items:
        version, digest = shown[held.public_id]
        try:
            decisions.decide(  # again where the first answer was lost or nobody waited for it: the same stands
                held,
                request.user,
                verdict,
                reason=reasons[held.pk],
                circumstances=decisions.Circumstances(version, digest, each_ms, together=one_press),
            )
        except decisions.Standing:
            skipped += 1
    if skipped:
        said = ngettext(
            "%(n)d item was decided or changed meanwhile, and was left as it is.",
            "%(n)d items were decided or changed meanwhile, and were left as they are.",
            skipped,
        )
        messages.warning(request, said % {"n": skipped})
    return HttpResponseRedirect(reverse("queue") + filters.query)


def _page(
    request: PersonRequest,
    wanted: list[str],
    *,
    ticked: dict[str, tuple[int, str]] | None = None,
    problem: str = "",
) -> HttpResponse:
    filters = Filters.of(request.GET, request.user.teams)
    waiting = visible_items(request).filter(
        public_id__in=[named(each) for each in wanted[:PAGE]],
        state=HeldItem.State.PENDING,
        team__in=request.user.teams_as(Role.REVIEWER),
    )
    found = list(in_order(waiting, filters))
    left = MOST_TEXT
    whole: list[HeldItem] = []
    long: list[HeldItem] = []
    for held in found:
        left -= len(held.text)
        (whole if not whole or left >= 0 else long).append(held)
    if not found:
        messages.info(request, gettext("Nothing of what you selected waits any more."))
        return HttpResponseRedirect(reverse("queue") + filters.query)
    fired = Signal.objects.filter(response__in=[held.response_id for held in whole]).exclude(pattern=None)
    known = {signal.response_id: signal.pattern for signal in fired.select_related("pattern__record")}
    context = {
        "filters": filters,
        "entries": [
            _entry(held, known.get(held.response_id), ticked is None or held.public_id in ticked) for held in whole
        ],
        "long": long,
        "missing": len(set(wanted)) - len(found),
        "may_reveal": True,  # whoever decides
        "presets": PRESETS.items(),
        "given": reason_form(request),
        "is_rejecting": request.POST.get("verdict") == "reject",
        "problem": problem,
        "shown": review_time.stamp(PAGE_OF_SEVERAL, request.POST.get("shown", "")),
    }
    return render(request, "reviews/together.html", context, status=422 if problem else 200)


def _entry(held: HeldItem, known: ErrorPattern | None, is_ticked: bool) -> dict[str, Any]:
    verdict, body = held.response.wire_verdict(), held.response.wire_body()
    is_call = held.kind == HeldItem.Kind.TOOL_CALL
    return {
        "held": held,
        "text": None if is_call else marked(held, verdict, body),
        **(call_desk.shown(held) if is_call else {}),
        "by_rule": is_call and held.call.hesitation is None,
        "tag_flags": tag_flags(verdict),
        "parts": parts(signals_of(held, verdict), known),
        "user_message": body.get("user_message"),
        "ticked": is_ticked,
    }


def _shown(raw: str) -> tuple[str, tuple[int, str]]:
    """Read what a box says that was ticked: the item, and which version and text of it the person was shown."""
    held, _, rest = raw.partition(":")
    version, _, digest = rest.partition(":")
    return named(held), (number(version), digest)
