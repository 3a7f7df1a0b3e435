"""Deciding several held items with one press, after reading each of them whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from metacog.db.ids import new_id
from metacog.heuristics.alike.differences import Column
from metacog.heuristics.effects.calls.reader import Reader
from metacog.models import Role
from patterns.models import ErrorPattern
from reviews.held import alike, approvers, decisions
from reviews.held.filters import Filters, named
from reviews.held.listing import PAGE, in_order, pending
from reviews.metrics import review_time
from reviews.models import HeldItem, Signal
from reviews.pages import call_desk
from reviews.pages.deciding import reason_form, reason_given, remember, why_not
from reviews.pages.person import PersonRequest, forbidden, number, visible_items
from reviews.presentation.approvals import needs
from reviews.presentation.calls.read import readers_of
from reviews.presentation.differences import headings, in_words
from reviews.presentation.explanation import parts, response_flags
from reviews.presentation.marks import marked
from reviews.records.reasons import PRESETS
from reviews.serializers import hesitation_for_people

# Characters of text on one page; what is beyond is decided by itself, since nobody reads a book to press once.
MOST_TEXT = 100_000
MOST_ITEMS = 200  # on one page
PAGE_OF_SEVERAL = "several"  # what its stamp says was shown


@require_safe
def together(request: PersonRequest) -> HttpResponse:
    """Show the selected items, each whole, without those that were decided meanwhile or are not theirs to decide."""
    wanted, left = _selected(request)
    return _page(request, wanted, left=left)


def _selected(request: PersonRequest) -> tuple[list[str], int]:
    """Return the ids of what is selected, with the near-duplicates of each row that stands for some (`group`), and how
    many there are beyond what one page takes.
    """
    wanted = request.GET.getlist("held")
    groups = [named(each) for each in request.GET.getlist("group")[:PAGE]]
    if not groups:
        return wanted, 0
    filters = replace(Filters.of(request.GET, request.user.teams, request.user.pk), alike="")
    keys = HeldItem.objects.filter(public_id__in=groups, team__in=request.user.teams).values("alike")
    same = in_order(pending(filters, request.user.teams).filter(alike__in=keys), filters)
    found = list(same.values_list("public_id", flat=True))
    every = list(dict.fromkeys([*wanted, *groups, *found]))
    return every[:MOST_ITEMS], max(0, len(every) - MOST_ITEMS)


@require_POST
def decide_together(request: PersonRequest) -> HttpResponse:
    """Decide what is ticked, each item for itself; say what was skipped, and why."""
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    shown = dict(_shown(raw) for raw in request.POST.getlist("item")[:MOST_ITEMS])
    ticked = visible_items(request).filter(public_id__in=shown)
    items = list(in_order(ticked.exclude(kind=HeldItem.Kind.QUESTION), filters))
    if asks := ticked.filter(kind=HeldItem.Kind.QUESTION).count():
        messages.warning(request, _left_out(asks))
    mine = set(request.user.teams_as(Role.REVIEWER).values_list("pk", flat=True))
    if any(held.team_id not in mine for held in items):
        return forbidden(request)
    verdict = request.POST.get("verdict", "")
    reasons = {held.pk: reason_given(request, held.agent) if verdict == "reject" else "" for held in items}
    problem = gettext("Select at least one item.") if not items else why_not(verdict, None, min(reasons.values()))
    if problem:
        return _page(request, request.POST.getlist("held"), ticked=shown, problem=problem)
    one_press, skipped, others, taken = new_id("press"), 0, 0, None
    passed = review_time.elapsed(request.POST.get("shown", ""), PAGE_OF_SEVERAL)
    each_ms = None if passed is None else passed // len(items)
    for held in items:
        version, digest = shown[held.public_id]
        # Neither does this page show an edit, nor does one press let words out before their calls.
        if verdict == "approve" and (approvers.is_edited(held) or approvers.waits(held)):
            others += 1
            continue
        try:
            taken, _ = decisions.decide_or_approve(  # again where the first answer was lost: the same stands
                held,
                request.user,
                verdict,
                reason=reasons[held.pk],
                circumstances=decisions.Circumstances(version, digest, each_ms, together=one_press),
            )
        except decisions.Standing:
            skipped += 1
        except decisions.NotApprover:
            others += 1
    if others:
        said = ngettext(
            "Skipped %(n)d item: others must approve it, it waits for tool calls, or it was edited. Open it on its "
            "own.",
            "Skipped %(n)d items: others must approve them, they wait for tool calls, or they were edited. Open "
            "each on its own.",
            others,
        )
        messages.warning(request, said % {"n": others})
    if skipped:
        said = ngettext(
            "Skipped %(n)d item: it was decided or changed meanwhile.",
            "Skipped %(n)d items: they were decided or changed meanwhile.",
            skipped,
        )
        messages.warning(request, said % {"n": skipped})
    answer = HttpResponseRedirect(reverse("queue") + replace(filters, alike="").query)
    return remember(request, answer, taken) if taken else answer


def _page(
    request: PersonRequest,
    wanted: list[str],
    *,
    ticked: dict[str, tuple[int, str]] | None = None,
    problem: str = "",
    left: int = 0,
) -> HttpResponse:
    filters = Filters.of(request.GET, request.user.teams, request.user.pk)
    waiting = visible_items(request).filter(
        public_id__in=[named(each) for each in wanted[:MOST_ITEMS]],
        state=HeldItem.State.PENDING,
        team__in=request.user.teams_as(Role.REVIEWER),
    )
    every = list(in_order(waiting, filters))
    found = [held for held in every if held.kind != HeldItem.Kind.QUESTION]
    asks = len(every) - len(found)
    whole, long = _of_one_page(_clusters(found))
    if not found:
        messages.info(request, _left_out(asks) if asks else gettext("Nothing that you selected is held any more."))
        return HttpResponseRedirect(reverse("queue") + filters.query)
    fired = Signal.objects.filter(response__in=[each.items[0].response_id for each in whole]).exclude(pattern=None)
    known = {signal.response_id: signal.pattern for signal in fired.select_related("pattern__record")}
    calls = (each.items[0] for each in whole if each.items[0].kind == HeldItem.Kind.TOOL_CALL)
    readers = readers_of(held.response for held in calls)
    context = {
        "filters": filters,
        "entries": [_entry(each, known, ticked, readers) for each in whole],
        "count": sum(len(each.items) for each in whole),
        "long": long,
        "left": left,
        "missing": len(set(wanted)) - len(found) - asks,
        "asks": _left_out(asks) if asks else "",
        "may_reveal": True,  # whoever decides
        "presets": PRESETS.items(),
        "given": reason_form(request),
        "is_rejecting": request.POST.get("verdict") == "reject" or "reject" in request.GET,
        "problem": problem,
        "shown": review_time.stamp(PAGE_OF_SEVERAL, request.POST.get("shown", "")),
    }
    return render(request, "reviews/together.html", context, status=422 if problem else 200)


def _left_out(asks: int) -> str:
    said = ngettext(
        "Left out %(n)d question: open it to answer it.",
        "Left out %(n)d questions: open each to answer it.",
        asks,
    )
    return said % {"n": asks}


class Cluster(NamedTuple):
    """An item, or several near-duplicates of which the text is shown once."""

    items: list[HeldItem]
    columns: list[Column]  # where they differ

    @property
    def size(self) -> int:
        """Return how many characters are to be read."""
        return len(self.items[0].text) + sum(len(value) for each in self.columns for value in each.values)


def _clusters(found: Sequence[HeldItem]) -> list[Cluster]:
    """Put near-duplicates together, where the first of them stood."""
    together: dict[object, list[HeldItem]] = {}
    for held in found:
        together.setdefault(("alike", held.alike) if held.alike is not None else held.pk, []).append(held)
    clusters = []
    for items in together.values():
        tool = items[0].call.name if items[0].kind == HeldItem.Kind.TOOL_CALL else None
        columns = alike.differing(tool, [(held.text, held.sha256) for held in items])
        if any(each.kind in ("text", "blanks", "rest") for each in columns):  # a key in common, and no shape
            clusters += [Cluster([held], []) for held in items]
        else:
            clusters.append(Cluster(items, columns))
    return clusters


def _of_one_page(clusters: Sequence[Cluster]) -> tuple[list[Cluster], list[HeldItem]]:
    """Return what one page shows, the first in any case, and what is too long to be read beside it."""
    left = MOST_TEXT
    whole: list[Cluster] = []
    long: list[HeldItem] = []
    for each in clusters:
        left -= each.size
        if not whole or left >= 0:
            whole.append(each)
        else:
            long += each.items
    return whole, long


def _entry(
    cluster: Cluster,
    known: Mapping[int, ErrorPattern | None],
    ticked: Mapping[str, tuple[int, str]] | None,
    readers: Mapping[tuple[int, int], Reader],
) -> dict[str, Any]:
    held = cluster.items[0]
    verdict, body = held.response.wire_verdict(), held.response.wire_body()
    is_call = held.kind == HeldItem.Kind.TOOL_CALL
    heads, hesitation = headings(cluster.columns), hesitation_for_people(held, verdict, body)
    return {
        "held": held,
        "text": None if is_call else marked(held, verdict, body),
        **(call_desk.shown(held, reader=readers[held.agent_id, held.response.policy_version]) if is_call else {}),
        "by_rule": is_call and held.call.hesitation is None,
        "response_flags": response_flags(verdict),
        "parts": parts(hesitation["signals"] if hesitation else [], known.get(held.response_id)),
        "user_message": body.get("user_message"),
        "ticked": ticked is None or held.public_id in ticked,
        "needs": needs(held),
        "differ": in_words(cluster.columns),
        "headings": heads,
        "rows": [
            (
                each,
                ticked is None or each.public_id in ticked,
                [(head, column.values[place]) for head, column in zip(heads, cluster.columns, strict=True)],
            )
            for place, each in enumerate(cluster.items)
        ]
        if len(cluster.items) > 1
        else [],
    }


def _shown(raw: str) -> tuple[str, tuple[int, str]]:
    """Read what a box says that was ticked: the item, and which version and text of it the person was shown."""
    held, _, rest = raw.partition(":")
    version, _, digest = rest.partition(":")
    return named(held), (number(version), digest)
