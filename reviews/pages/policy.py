"""The policy page of an agent: its versions, what each changed, and what a change would have done."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from metacog import heuristics
from metacog.accounts import agents
from metacog.accounts.forms import SIGNALS
from metacog.accounts.policy_fields import SECTIONS, defaults, reset, sections
from metacog.accounts.policy_forms import JSON_FIELDS, PolicyForm, changes, filled_in, weight_field, with_own_defaults
from metacog.accounts.rule_forms import RuleTable, as_text, text_of, what_it_does
from metacog.heuristics.hesitation import thresholds, weight_fit
from metacog.heuristics.hesitation.weight_fit import Fit
from metacog.heuristics.stats.gate import Gate
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.rules import is_own
from metacog.heuristics.tool_calls.suggest import DecidedCall
from metacog.models import Agent, Policy, Role
from metacog.pages.packs import PackList
from patterns.patterns.scorer import as_scored, scorer_shown
from reviews.held import approvers
from reviews.held.calls import rule_changes
from reviews.held.calls.rule_changes import Listed, Waiting
from reviews.held.decisions import Change, Circumstances
from reviews.metrics import daily
from reviews.metrics.daily import Lift, Ratio
from reviews.models import FittedWeights
from reviews.pages.person import PersonRequest
from reviews.presentation.approvals import whom
from reviews.presentation.calls.fates import Line, call_rows
from reviews.presentation.calls.reading_forms import CHOICES, COLUMNS, ReadingList
from reviews.presentation.calls.rule_tallies import of_rule
from reviews.presentation.calls.waiting import settled, waiting_calls
from reviews.presentation.ratios import Share, lift, percent, ratio
from reviews.presentation.risk.rivals import RIVALS
from reviews.presentation.rule_words import in_words
from reviews.scoring.calls_preview import CallsPreview, calls_preview
from reviews.scoring.preview import DAYS, MOST_IN_PAGE, Preview, preview
from reviews.scoring.rule_suggestions import DAYS as DECIDED_DAYS
from reviews.scoring.rule_suggestions import suggestions

VERSIONS = 30  # shown, the newest
LIFT_DAYS = 90
ENOUGH_TO_DROP = 30  # decisions with a signal, and without, to see no difference: a share is known to ±18 points
NOT_FIRED = Lift(Ratio(0, 0), Ratio(0, 0))
DROP = "drop"
RESETS = ("reset", "default")  # to what is in force, to what a new agent has
RESETTABLE = {name for _title, names in SECTIONS.values() for name in names}
CALLS_SHOWN = 12  # of those behind a suggestion, the newest


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def policy(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Show an agent's policy; an owner tries a change out here, then puts it in force and says why.

    A draft is an address (`?threshold=35`, or `?from=2` for an earlier version) that can be handed on.
    It is saved only as it was shown with what it would have done.
    """
    seen = Agent.objects.filter(team__in=request.user.teams_as())
    agent = get_object_or_404(seen.select_related("team"), public_id=agent_id)
    is_owner = request.user.has_role(agent.team_id, Role.OWNER)
    if request.method == "POST" and request.POST.get("do") in ("save", "settle") and not is_owner:
        raise PermissionDenied(_("Only owners of the team can change its agents."))
    versions = list(
        Policy.objects.filter(agent=agent).select_related("created_by").order_by("-version")[: VERSIONS + 1]
    )
    current = next((each for each in versions if each.version == agent.policy_version), None)
    assert current is not None  # the highest is in force
    if request.method == "POST" and request.POST.get("do") == "settle":
        change = Change(current.created_by, policy_version=current.version)
        listed = Listed.read(request.POST.get("waiting", ""))
        count = rule_changes.settle([agent], listed, Circumstances(ordered_by=request.user, change=change))
        messages.success(request, settled(count))
        return redirect("policy", agent.public_id)
    values = _values(request, agent, versions, current)
    table, packs = _table(request, values), _packs(request, values)
    values["packs"] = packs.text
    reading = _reading(request, values)
    values |= {each.name: each.text for each in reading}
    form = PolicyForm(agent, values, table=table)
    for each in reading:
        if not each.is_json:
            form.fields[each.name].place_of = each.place_of  # type: ignore[attr-defined]  # it is a JsonField
    drafted = form.is_valid()
    for each in reading:
        for problem in each.problems:  # of a row that the value is without
            form.add_error(each.name, problem)
            drafted = False
    context: dict[str, Any] = {}
    is_saved = drafted and request.POST.get("do") == "save" and request.POST.get("seen") == _digest(form.instance)
    if is_saved and not form.cleaned_data["note"] and agents.changed_fields(current, form.instance):
        # Only people are asked: a file or an API that changes a policy may go without.
        form.add_error("note", _("Enter a reason for the change."))
        context["unexplained"] = True
    elif is_saved:
        try:
            listed = Listed.read(request.POST.get("waiting", "") if "settle" in request.POST else "")
            based_on = form.cleaned_data["based_on"]
            saved, decided = rule_changes.change_policy(agent, request.user, form.instance, listed, based_on=based_on)
        except agents.PolicyMoved:
            # Shown beside the version that came between; saving again is a decision that knows of it.
            values["based_on"] = current.version
            form = PolicyForm(agent, values, table=table)
            form.is_valid()
            context["moved"] = True
        else:
            messages.success(request, _("Policy %(version)d is now in force.") % {"version": saved.version})
            if listed:
                messages.success(request, settled(decided))
            return redirect("policy", agent.public_id)
    elif request.POST.get("do") == "save" and drafted:
        context["unseen"] = True
    is_later = drafted and request.method != "POST" and not request.GET  # the page asks for it once it is there
    if drafted and not is_later:
        context |= _told(agent, current, form)
    table.tell(in_words, [each.told for each in context.get("by_rule", ()) if each.rule and is_own(each.rule)])
    packs.tell(in_words)
    rules = form.instance.rules if drafted else current.rules
    context |= {
        "unmet": [(whom(named), count) for named, count in approvers.unmet(agent.team_id, rules)],
        "agent": agent,
        "is_later": is_later,
        "is_apart": False,  # of a part that is sent by itself
        "packs": packs,
        "reading": [(each, form[each.name]) for each in reading],
        "choices": CHOICES,
        "form": form,
        "values": values,
        "policy": current,
        "is_owner": is_owner,
        "table": table,
        "parts": sections(form, current, request.POST),
        "days": DAYS,
        "most": MOST_IN_PAGE,
        "section": "agents",
        "rules_url": reverse("policy", args=[agent.public_id]),
    }
    template = "reviews/_drafted.html" if request.htmx and not context.get("moved") else "reviews/policy.html"
    if request.htmx and request.htmx.target == "rules":
        template = "reviews/_rules.html"
    if request.htmx and request.htmx.target == "reading":
        template = "reviews/_reading.html"
    if template in ("reviews/policy.html", "reviews/_rules.html"):
        team_rules = [what_it_does(rule, in_words) for rule in scorer_shown(agent).policy.team_rules]
        context |= {"team_rules": team_rules, "suggested": _suggested(agent)}
    if template == "reviews/policy.html":
        context |= {"weights": _weights(form), "lift_days": LIFT_DAYS, "decided_days": DECIDED_DAYS}
        context |= {"versions": _history(versions), "fitted": _fitted(agent, current)}
    is_wrong = not drafted or context.get("unexplained")
    return render(request, template, context, status=409 if context.get("moved") else 422 if is_wrong else 200)


def _values(request: PersonRequest, agent: Agent, versions: list[Policy], current: Policy) -> dict[str, Any]:
    """Return the form's values: as posted, else of the version asked for with what the address changes."""
    if request.method == "POST":
        unsaid = {
            "rules": text_of(current),
            "default_tool_call": current.default_tool_call,
            "elicitation": current.elicitation,
            **{name: as_text(getattr(current, name)) for name in JSON_FIELDS},
            "profile_shown": current.profile,
        }
        posted = unsaid | request.POST.dict() | {"based_on": request.POST.get("based_on", "")}
        do, _colon, name = posted.get("do", "").partition(":")
        if request.htmx:
            pass  # see _table
        elif do == DROP and name in SIGNALS:
            posted[weight_field(name)] = "0"
        elif do in RESETS and name in RESETTABLE:
            profile = posted.get("profile", "")
            usual = defaults(profile if profile in Policy.Profile.values else current.profile)
            posted[name] = reset(PolicyForm(agent), name, filled_in(current, based_on=0) if do == "reset" else usual)
        return with_own_defaults(posted, posted["profile_shown"])
    wanted = request.GET.get("from", "")
    base = next((each for each in versions if str(each.version) == wanted), current)
    values = filled_in(base, based_on=current.version)
    if base is current:
        values["note"] = ""
    else:
        values["note"] = _("Back to version %(version)d") % {"version": base.version}
    asked = {name: value for name, value in request.GET.items() if name in values and name != "based_on"}
    return with_own_defaults(values | asked, base.profile)


def _table(request: PersonRequest, values: dict[str, Any]) -> RuleTable:
    """Return the rules as they were posted, with what a button of theirs does; else those of the values."""
    is_reset = request.POST.get("do") in ("reset:rules", "default:rules") and not request.htmx
    if request.method == "POST" and "rules_in" in request.POST and not is_reset:
        # With a preview htmx sends the button that has the focus, which nobody pressed.
        is_pressed = not request.htmx or request.htmx.target == "rules"
        do = request.POST.get("do", "") if is_pressed else ""
        table = RuleTable.posted(request.POST, do=do)
        if do.startswith("pack-"):  # its button is gone, and the page would stand elsewhere
            table.focus = "packs-title"
        return table
    return RuleTable([], text=values["rules"])


def _packs(request: PersonRequest, values: dict[str, Any]) -> PackList:
    """Return the packs as they were posted, with what a button of theirs does; else those of the values."""
    is_reset = request.POST.get("do") in ("reset:packs", "default:packs") and not request.htmx
    if request.method == "POST" and "packs_in" in request.POST and not is_reset:
        is_pressed = not request.htmx or request.htmx.target == "rules"
        return PackList.posted(request.POST, do=request.POST.get("do", "") if is_pressed else "")
    return PackList.of(values["packs"])


def _reading(request: PersonRequest, values: dict[str, Any]) -> list[ReadingList]:
    """Return how calls are read as it was posted, with what a button does; else as the values have it."""
    do = request.POST.get("do", "")
    is_pressed = not request.htmx or request.htmx.target == "reading"
    return [
        ReadingList.posted(name, request.POST, do=do if is_pressed else "")
        if f"{name}_in" in request.POST and (request.htmx or do not in (f"reset:{name}", f"default:{name}"))
        else ReadingList.of(name, values[name])
        for name in COLUMNS
    ]


class Weight(NamedTuple):
    """A weight of the form, and whether the team's decisions say that it may as well be 0."""

    signal: str
    title: Any
    field: BoundField
    is_idle: bool


def _weights(form: PolicyForm) -> list[Weight]:
    """Return the weights, each with what the team's decisions say of its signal as the field's help."""
    since = daily.day_of(timezone.now()) - timedelta(days=LIFT_DAYS - 1)
    found = daily.lifts(form.instance.agent.team, since)
    rows = []
    for (signal, title), bound in zip(SIGNALS.items(), form.weight_fields(), strict=True):
        told = found.get(signal, NOT_FIRED)
        bound.help_text = lift(told)
        is_counted = str(bound.value()) not in ("0", "")
        is_idle = told.high < 1 or (told.low <= 1 and min(told.fired.whole, told.rest.whole) >= ENOUGH_TO_DROP)
        rows.append(Weight(signal, title, bound, is_counted and told.is_enough and is_idle))
    return rows


def _told(agent: Agent, current: Policy, form: PolicyForm) -> dict[str, Any]:
    """Return what the draft changes and what it would have done."""
    draft = form.instance
    rules, scorer = as_scored(agent, draft), scorer_shown(agent)
    drafted = scorer if rules == scorer.policy else scorer.with_policy(rules)
    found = preview(agent, scorer, rules, MOST_IN_PAGE)
    calls = calls_preview(agent, scorer, rules, MOST_IN_PAGE)
    return {
        "preview": found,
        "rows": _rows(found),
        "held": {"now": f"{found.now.held:,}", "then": f"{found.then.held:,}"},
        "calls": calls,
        "waiting": waiting_calls(Waiting.of({agent.pk: drafted}, [agent])),
        "call_rows": call_rows(calls.now, calls.then),
        "by_rule": [*_told_rules(calls)],
        "changed": changes(current, draft, in_words),
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
    draft["note"] = _("Weights fitted to %(count)d decisions") % {"count": found.verdicts}
    rules = {
        "fitted": _("Fitted weights"),
        "in_force": _("Version %(version)s") % {"version": current.version},
        "seed": _("Default weights"),
        "length": _("Length, longest first"),
    }
    return {
        "found": found,
        "row": row,
        "enough": weight_fit.ENOUGH,
        "of_each": weight_fit.ENOUGH_OF_EACH,
        "weights": [
            (SIGNALS[name], before[name], weight) for name, weight in found.weights.items() if weight or before[name]
        ],
        "caught": [(title, found.caught.get(name)) for name, title in rules.items()],
        "draft": "?" + urlencode(draft),
        "as_good": [str(RIVALS[name]) for name in Gate.from_dict(row.found["gate"]).as_good] if found.gate else [],
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
        Version(each, changes(before[place], each, in_words) if place < len(before) else [])
        for place, each in enumerate(shown)
    ]


def _rows(found: Preview) -> list[Line]:
    now, then = found.now, found.then
    lines = [
        (_("Responses that trigger"), now.triggered, then.triggered, False),
        (_("Items marked"), now.marked, then.marked, False),
        (_("Items held"), now.held, then.held, False),
        (_("rejected or withdrawn"), now.outcomes["rejected"], then.outcomes["rejected"], True),
        (_("approved with edits"), now.outcomes["edited"], then.outcomes["edited"], True),
        (_("approved"), now.outcomes["approved"], then.outcomes["approved"], True),
        (_("not decided"), now.outcomes["unseen"], then.outcomes["unseen"], True),
        (_("passed at the time, not reviewed"), now.outcomes["unheld"], then.outcomes["unheld"], True),
    ]
    return [Line.of(*line) for line in lines]


class ToldRule(NamedTuple):
    """A rule of the draft or its packs: which it is, and what it would have done with which outcome."""

    number: str
    rule: Any  # None: the default
    words: str
    told: str


def _told_rules(found: CallsPreview) -> Iterator[ToldRule]:
    """Give the draft's own rules, in order, and around them what of the team's, of packs and its default decided."""
    number = itertools.count(1)
    for tally in found.rules:
        rule = tally.rule
        if rule is None or not is_own(rule):
            if tally.calls:
                words = what_it_does(rule, in_words) if rule else ""
                yield ToldRule(_name_of(rule) if rule else "", rule, words, of_rule(tally))
        else:
            yield ToldRule(str(next(number)), rule, what_it_does(rule, in_words), of_rule(tally))


def _name_of(rule: Mapping[str, Any]) -> str:
    """Name a rule of a pack, or of the team."""
    return "{pack} {place}".format_map(rule) if "pack" in rule else _("Team %(place)s") % rule


class SuggestedCall(NamedTuple):
    """A call behind a suggestion on one line, the item that it was decided as last, and how many more were the same."""

    line: str
    held: str
    more: int


class Suggested(NamedTuple):
    """A rule that decisions speak for, as a question, with the calls and the draft."""

    rule: Any
    words: str
    share: Share
    low: str
    calls: list[SuggestedCall]
    draft: str


def _suggested(agent: Agent) -> list[Suggested]:
    in_force = scorer_shown(agent)
    found = []
    for each in suggestions(agent, in_force.rules):
        rules = list(in_force.policy.rules)
        rules.insert(each.place, each.rule)
        agreed, of = each.share
        note = _("People decided the same way %(agreed)s of %(of)s times") % {"agreed": agreed, "of": of}
        link = "?" + urlencode({"rules": as_text(rules), "note": note})
        share = ratio(Ratio(agreed, of))
        found.append(Suggested(each.rule, in_words(each.rule), share, percent(each.low), _calls(each.decided), link))
    return found


def _calls(decided: Sequence[DecidedCall]) -> list[SuggestedCall]:
    """Return the calls behind a suggestion, the latest first, those that are the same in one line."""
    held: dict[str, list[str]] = {}
    for call in reversed(decided):
        held.setdefault(secrets.line("", canonical(call.arguments)), []).append(call.held)
    return [SuggestedCall(line, ids[0], len(ids) - 1) for line, ids in list(held.items())[:CALLS_SHOWN]]
