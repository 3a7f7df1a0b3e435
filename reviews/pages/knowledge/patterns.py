"""The pages about error patterns: what is proposed, tried and active, each with its stats, and the steps between."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.heuristics.tool_calls.secrets import masked_call
from metacog.http import undoable
from metacog.models import AgentState, Role, User
from metacog.pages.unknown_filters import unknown_filters
from patterns.models import ErrorPattern
from patterns.patterns import lifecycle
from patterns.patterns.forms import NewForm, WrittenForm
from patterns.patterns.lifecycle import AFTER, NotDone, Unseen, digest
from reviews.held.filters import word
from reviews.learning import contrast, merging, pattern_stats, sweep, trials
from reviews.learning.backtest import TOO_OFTEN, Backtest, backtest
from reviews.learning.extract import Teacher
from reviews.learning.pattern_stats import Standing
from reviews.models import Decision, HeldItem, PatternOrigin
from reviews.pages.knowledge import proposals
from reviews.pages.knowledge.proposals import Evidence, Trial
from reviews.pages.person import PersonRequest, number
from reviews.presentation.marks import marks
from reviews.presentation.ratios import percent, ratio
from reviews.records import reasons
from reviews.scoring.preview import DAYS, MOST

State = ErrorPattern.State

PAGE = 30
LATEST = 10  # responses shown that a pattern fired on
ORIGINS = 20  # rows shown that taught it
ALIKE = 3  # other patterns shown that have one of its keywords
MAX_BECAUSE = 300
KNOWN = "error-pattern"  # the signal whose words another pattern has already


@require_safe
def patterns(request: PersonRequest) -> HttpResponse:
    """List the patterns of one state, each with its stats, the newest first; proposals by what is expected of them."""
    teams = request.user.teams_as()
    state, query, after, order = (word(request.GET, name) for name in ("state", "q", "after", "order"))
    if state not in State.values:
        state = State.PROPOSED
    if order not in proposals.ORDERS:
        order = proposals.ORDERS[0]
    rows = matching(ErrorPattern.objects.filter(team__in=teams), query)
    counts = dict(rows.order_by().values_list("state").annotate(Count("pk")))
    first, last = map(number, (after if "." in after else f"0.{after}").split(".", 1))
    shown: list[Any]
    if state == State.PROPOSED:
        among = rows.filter(state=state).values_list("pk", flat=True) if query else None
        groups = proposals.groups(list(request.user.teams), order, among)
        if last >= 0:
            groups = [group for group in groups if proposals.place(group, order) < (first, last)]
        shown, more = proposals.rows(groups[:PAGE]), len(groups) > PAGE
        following = "{}.{}".format(*proposals.place(groups[PAGE - 1], order)) if more else ""
    else:
        rows = rows.filter(state=state).select_related("team", "record", "merged_into")
        found = list((rows.filter(pk__lt=last) if last >= 0 else rows).order_by("-pk")[: PAGE + 1])
        posted = AgentState.objects.filter(agent__team__in=teams).order_by().values_list("agent__team")
        totals = dict(posted.annotate(Sum("responses")))
        shown = [_row(pattern, totals.get(pattern.team_id, 0)) for pattern in found[:PAGE]]
        following = f"0.{found[PAGE - 1].pk}" if len(found) > PAGE else ""
    next_page = request.GET.copy()
    next_page["after"] = following
    context = {
        "tabs": [(each, each.label, f"{counts.get(each, 0):,}", _address(each, query)) for each in State],
        "state": state,
        "order": order,
        "unknown_filters": unknown_filters(request.GET, state=State.values, order=proposals.ORDERS),
        "query": query,
        "rows": shown,
        "many_teams": len(request.user.teams) > 1,
        "may_change": request.user.teams_as(Role.CURATOR).exists(),
        "next_url": f"?{next_page.urlencode()}" if following else "",
        "days": DAYS,
        "section": "patterns",
    }
    return render(request, "reviews/patterns.html", context)


def matching(rows: QuerySet[ErrorPattern], query: str) -> QuerySet[ErrorPattern]:
    """Leave the patterns whose keywords or description hold what was searched for."""
    if not query:
        return rows
    # SQLite keeps JSON in ASCII, PostgreSQL as it is written.
    escaped = json.dumps(query)[1:-1]
    in_keywords = Q(words__icontains=query) | Q(words__icontains=escaped)
    return rows.annotate(words=Cast("keywords", TextField())).filter(in_keywords | Q(description__icontains=query))


def _address(state: str, query: str) -> str:
    return "?" + urlencode({"state": state, "q": query} if query else {"state": state})


def _row(pattern: ErrorPattern, responses: int) -> dict[str, Any]:
    standing = Standing.of(pattern, responses)
    return {
        "pattern": pattern,
        "standing": standing,
        "rate": ratio(standing.rate, digits=1),
        "precision": ratio(standing.precision),
    }


@require_POST
def patterns_decide(request: PersonRequest) -> HttpResponse:
    """Accept many proposals to shadow, or dismiss them, those that were shown as one together.

    What was decided before is left as it is, and said.
    """
    step, because = request.POST.get("step", ""), _because(request)
    if step == "merge":  # which is shown first
        shown = _shown_as_one(request)
        chosen = [key for lead, others in shown.items() for key in (lead, *others)]
        return redirect(f"{reverse('patterns-merge')}?{urlencode({'pk': chosen}, doseq=True)}")
    if step == "reopen":
        return _taken_back(request)
    if step not in ("try", "dismiss"):
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    if not request.user.teams_as(Role.CURATOR).exists():
        raise PermissionDenied(may_not())
    shown = _shown_as_one(request)
    wanted = [key for lead, others in shown.items() for key in (lead, *others)]
    mine = ErrorPattern.objects.filter(team__in=request.user.teams_as(Role.CURATOR)).in_bulk(wanted)
    done, skipped, problems, moved = 0, 0, dict[str, None](), list[int]()
    for lead, others in shown.items():
        group = [mine[key] for key in (lead, *others) if key in mine]
        waiting = [pattern for pattern in group if pattern.state == State.PROPOSED]
        skipped += bool(group) and not waiting
        try:
            done += _decide(waiting, step, request.user, because)
            moved += [pattern.pk for pattern in waiting]
        except NotDone as error:
            problems[str(error)] = None
    if done:
        if step == "try":
            told = ngettext("%(count)d proposal is in shadow now.", "%(count)d proposals are in shadow now.", done)
        else:
            told = ngettext("%(count)d proposal was dismissed.", "%(count)d proposals were dismissed.", done)
        if step == "try":
            messages.success(request, told % {"count": done})
        else:
            fields = [("step", "reopen"), ("back", word(request.POST, "back")), *(("pk", str(key)) for key in moved)]
            undoable.say(request, told % {"count": done}, reverse("patterns-decide"), *fields)
    if skipped:
        told = ngettext(
            "%(count)d was decided before and stays unchanged.",
            "%(count)d were decided before and stay unchanged.",
            skipped,
        )
        messages.info(request, told % {"count": skipped})
    for problem in problems:
        messages.warning(request, problem)
    if not (done or skipped or problems):
        messages.warning(request, _("Select some proposals first."))
    return redirect(_back(request))


def _taken_back(request: PersonRequest) -> HttpResponse:
    """Propose again what one press dismissed; what became of it since is left as it is."""
    mine = ErrorPattern.objects.filter(team__in=request.user.teams_as(Role.CURATOR), state=State.RETIRED)
    back = mine.filter(pk__in=[key for key in map(key_of, request.POST.getlist("pk")) if key])
    done = 0
    for pattern in back.exclude(dismissed_because="").order_by("pk"):
        with suppress(NotDone):  # somebody was faster
            lifecycle.take_step(pattern, "reopen", request.user)
            done += 1
    told = ngettext("%(count)d proposal is restored.", "%(count)d proposals are restored.", done)
    messages.success(request, told % {"count": done})
    return redirect(_back(request))


def _shown_as_one(request: PersonRequest) -> dict[int, list[int]]:
    """Return the proposals that were chosen, each with those that its row was said to stand for."""
    merged = dict(each.split(":", 1) for each in request.POST.getlist("merged") if ":" in each)
    shown = {}
    for chosen in map(key_of, request.POST.getlist("pk")):
        if chosen:
            keys = map(key_of, merged.get(str(chosen), "").split(",")[: merging.MOST_OTHERS])
            shown[chosen] = [key for key in keys if key]
    return shown


def key_of(raw: str) -> int:
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 19 else 0


def _decide(group: list[ErrorPattern], step: str, person: User, because: str) -> int:
    """Take a step with proposals that were shown as one: all or none. Raises NotDone."""
    if not group:
        return 0
    lead, *others = group
    with transaction.atomic():
        if step == "dismiss":
            for pattern in group:
                lifecycle.take_step(pattern, step, person, because=because)
        else:
            lifecycle.take_step(lifecycle.merge(lead, others, person) if others else lead, step, person)
    return 1


def _back(request: PersonRequest) -> str:
    """Return the address of the list that the form stood on, as it was asked for."""
    if request.POST.get("back") == "to-do":
        return reverse("to-do")
    asked = {name: value for name in ("q", "order") if (value := word(request.POST, name))}
    return reverse("patterns") + ("?" + urlencode({"state": str(State.PROPOSED), **asked}) if asked else "")


@require_POST
def patterns_apart(request: PersonRequest) -> HttpResponse:
    """Show merged proposals each by itself, or put them back with those like them."""
    if not request.user.teams_as(Role.CURATOR).exists():
        raise PermissionDenied(may_not())
    keys = [key for key in map(key_of, request.POST.getlist("pk")) if key]
    mine = ErrorPattern.objects.filter(team__in=request.user.teams_as(Role.CURATOR), pk__in=keys).order_by("pk")
    is_apart = request.POST.get("do") != "merge"
    if changed := lifecycle.set_apart(list(mine), request.user, is_apart=is_apart):
        if is_apart:
            told = ngettext("%(count)d proposal is separate now.", "%(count)d proposals are separate now.", changed)
        else:
            told = _("Merged with similar proposals again, if there are any.")
        messages.success(request, told % {"count": changed})
    return redirect(_back(request))


@require_POST
def pattern_apart(request: PersonRequest, pattern_id: int) -> HttpResponse:
    """Split a pattern into the proposals that were merged into it, or take back one merge: those that it named."""
    found = _visible(request, pattern_id)
    _may_change(request, found)
    among = [key for key in map(key_of, request.POST.getlist("pk")) if key]
    try:
        rows = lifecycle.take_apart(found, request.user, among=among or None)
    except NotDone as error:
        found.refresh_from_db()
        return _pattern_page(request, found, problem=str(error), status=409)
    contrast.count(found.team, [found.pk, *(row.pk for row in rows)])
    return _done(request, found.pk)


# -- one pattern -----------------------------------------------------------------------------------


@require_safe
def pattern(request: PersonRequest, pattern_id: int) -> HttpResponse:
    """Show a pattern: what it says, what taught it, what became of what it fired on; and what it would have done."""
    found = _visible(request, pattern_id)
    return _pattern_page(request, found, tried=found.keywords if "tried" in request.GET else None)


@require_POST
def pattern_step(request: PersonRequest, pattern_id: int) -> HttpResponse:
    """Take a step; one that makes it count shows first what it would have done."""
    found, step = _visible(request, pattern_id), request.POST.get("step", "")
    _may_change(request, found)
    if step not in AFTER:
        return HttpResponseBadRequest(_("Unknown step."), content_type="text/plain; charset=utf-8")
    try:
        lifecycle.take_step(found, step, request.user, because=_because(request), seen=request.POST.get("seen", ""))
    except Unseen:
        found.refresh_from_db()
        return _pattern_page(request, found, tried=found.keywords, notice="unseen")
    except NotDone as error:
        found.refresh_from_db()
        return _pattern_page(request, found, problem=str(error), status=409)
    return _done(request, found.pk)


@require_POST
def pattern_edit(request: PersonRequest, pattern_id: int) -> HttpResponse:
    """Show what a draft would have done, or save it; other keywords of an active pattern only as they were shown."""
    found = _visible(request, pattern_id)
    _may_change(request, found)
    form = WrittenForm(request.POST, stored=_words(found))
    if not form.is_valid():
        return _pattern_page(request, found, form=form, status=422)
    keywords = form.cleaned_data["keywords"]
    if request.POST.get("do") == "try":
        return _pattern_page(request, found, form=form, tried=keywords)
    try:
        lifecycle.edit(found, request.user, seen=request.POST.get("seen", ""), **form.cleaned_data)
    except Unseen:
        return _pattern_page(request, found, form=form, tried=keywords, notice="unseen")
    except NotDone as error:
        form.add_error(None, str(error))
        return _pattern_page(request, found, form=form, status=409)
    return _done(request, found.pk)


def _because(request: PersonRequest) -> str:
    """Return why a proposal is dismissed, as the form says it; PostgreSQL takes no NUL."""
    return request.POST.get("because", "").replace("\0", "").strip()[:MAX_BECAUSE]


def _done(request: PersonRequest, pattern_id: int) -> HttpResponse:
    if request.htmx:
        return _pattern_page(request, _visible(request, pattern_id), notice="saved")
    messages.success(request, _("Saved."))
    return redirect("pattern", pattern_id)


def _words(pattern: ErrorPattern) -> dict[str, Any]:
    return {"keywords": pattern.keywords, "description": pattern.description, "source": pattern.source}


def _pattern_page(
    request: PersonRequest,
    found: ErrorPattern,
    *,
    form: WrittenForm | None = None,
    tried: Sequence[str] | None = None,
    problem: str = "",
    notice: Literal["", "saved", "unseen"] = "",
    status: int = 200,
) -> HttpResponse:
    may_change = request.user.has_role(found.team_id, Role.CURATOR)
    record = _row(found, lifecycle.responses_of(found.team_id))
    fired = record["standing"].record.keywords if record["standing"].record else {}
    origins = list(found.origins.select_related("held", "response").order_by("-pk")[: ORIGINS + 1])
    tested = backtest(found.team, tried) if tried else None
    is_draft = tried is not None and list(tried) != found.keywords
    if tested and not is_draft:
        trials.keep({found.pk: tested}, {found.pk: found.keywords}, timezone.now())
    context = record | {
        "evidence": Evidence.of(found, fires_too_often=tested.fires_too_often if tested and not is_draft else None),
        # The safe step comes first where no backtest is shown, and where it fires too often.
        "is_safe_first": tested is None or is_draft or tested.fires_too_often,
        "keywords": [(keyword, fired.get(keyword)) for keyword in found.keywords],
        "alike": _alike(found, tried or found.keywords),
        "latest": pattern_stats.latest(found, LATEST) if record["standing"].record else [],
        "origins": origins[:ORIGINS],
        "merged": (merged := list(found.merged.order_by("pk"))),
        "undo": [each.pk for each in merged if str(each.pk) in request.GET.getlist("undo")],
        "has_more_origins": len(origins) > ORIGINS,
        "may_change": may_change,
        "steps": [step for step, (states, _after) in AFTER.items() if found.state in states],
        "form": form or WrittenForm(stored=_words(found)),
        "editing": form is not None,
        "backtest": backtest_told(tested) if tested else None,
        "trial": Trial.of(found),
        "is_draft": is_draft,
        "seen": digest(tried) if tried else "",
        "problem": problem,
        "saved": notice == "saved",
        "unseen": notice == "unseen",
        "max_because": MAX_BECAUSE,
        "days": DAYS,
        "most": f"{MOST:,}",
        "section": "patterns",
    }
    template = "reviews/_pattern.html" if request.htmx else "reviews/pattern.html"
    return render(request, template, context, status=status)


def _alike(found: ErrorPattern, keywords: Sequence[str]) -> QuerySet[ErrorPattern] | None:
    """Return the oldest others of the team that have one of these keywords, in either case, and are not part of it."""
    if not keywords:
        return None
    part_of = lifecycle.part_of(found.team_id)
    whole = part_of.get(found.pk, found.pk)
    merged = [whole, *(key for key, lead in part_of.items() if lead == whole)]
    rows = ErrorPattern.objects.filter(team=found.team_id).exclude(pk__in=merged)
    is_in = Q()
    for keyword in keywords:
        for is_ascii in (True, False):  # SQLite keeps JSON in ASCII, PostgreSQL as it is written
            is_in |= Q(words__icontains=json.dumps(keyword, ensure_ascii=is_ascii))
    return rows.annotate(words=Cast("keywords", TextField())).filter(is_in).order_by("pk")[:ALIKE]


def backtest_told(found: Backtest) -> dict[str, Any]:
    """Return what a backtest found, as the page says it."""
    outcomes = [
        (_("rejected"), found.outcomes["rejected"]),
        (_("approved with edits"), found.outcomes["edited"]),
        (_("approved"), found.outcomes["approved"]),
        (_("held, not decided by a person"), found.outcomes["unseen"]),
        (_("not held then, not reviewed"), found.outcomes["unheld"]),
    ]
    return {
        "found": found,
        "too_often": percent(TOO_OFTEN),
        "rate": ratio(found.rate, digits=1),
        "outcomes": [(name, f"{count:,}") for name, count in outcomes],
        "keywords": [(keyword, f"{count:,}") for keyword, count in found.keywords.most_common()],
    }


def _visible(request: PersonRequest, pattern_id: int) -> ErrorPattern:
    seen = ErrorPattern.objects.filter(team__in=request.user.teams_as())
    return get_object_or_404(
        seen.select_related("team", "record", "evidence", "trial", "created_by", "merged_into"), pk=pattern_id
    )


def _may_change(request: PersonRequest, found: ErrorPattern) -> None:
    if not request.user.has_role(found.team_id, Role.CURATOR):
        raise PermissionDenied(may_not())


def may_not() -> str:
    return _("Only curators and owners of the team can change error patterns.")


# -- writing one down ------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
def pattern_new(request: PersonRequest) -> HttpResponse:
    """Write a pattern down; `?decision=` fills the form from what was decided, which then has taught it."""
    teams = request.user.teams_as(Role.CURATOR)
    if not teams:
        raise PermissionDenied(may_not())
    decision = None
    if public_id := request.GET.get("decision"):
        decided = Decision.objects.select_related("held__response", "agent__team").filter(held__team__in=teams)
        decision = get_object_or_404(decided, public_id=public_id)
        teams = teams.filter(pk=decision.held.team_id)
        taught = PatternOrigin.objects.filter(kind=PatternOrigin.Kind.REJECTION, row=public_id).first()
        if taught:
            return redirect("pattern", taught.pattern_id)
    if request.method == "POST":
        form = NewForm(teams, request.POST)
        if form.is_valid():
            written = sweep.write_down(request.user, decision=decision, **form.cleaned_data)
            return redirect(reverse("pattern", args=[written.pk]) + "?tried=1")
    else:
        form = NewForm(teams, initial=_suggested(decision))
    held_text = ""
    if decision:
        is_call = decision.held.kind == HeldItem.Kind.TOOL_CALL
        held_text = masked_call(decision.held.text) if is_call else decision.held.text
    context = {"form": form, "decision": decision, "held_text": held_text, "section": "patterns"}
    return render(request, "reviews/pattern_new.html", context, status=422 if form.errors else 200)


def _suggested(decision: Decision | None) -> dict[str, Any]:
    if decision is None:
        return {"source": ErrorPattern.Source.EXTERNAL}
    teacher, held = Teacher(decision.agent), decision.held
    taught = teacher.from_decision(decision)
    keywords = taught.keywords if taught else []
    if not keywords and held.text and held.kind != HeldItem.Kind.TOOL_CALL:
        fired = marks(held, held.response.wire_verdict(), held.response.wire_body())
        keywords = teacher.for_person(decision, [mark.start for mark in fired if mark.type != KNOWN])
    _preset, own_words = reasons.parse(decision.reason)
    description = taught.description if taught else decision.reason if own_words else ""
    return {
        "keywords": keywords,
        "description": description[: ErrorPattern.MAX_DESCRIPTION],
        "source": ErrorPattern.Source.CORRECTION,
        "team": decision.held.team_id,
    }
