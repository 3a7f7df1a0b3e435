"""Uploaded logs: what would have been held of them, before any agent is connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.accounts.rule_forms import as_text, pretty
from metacog.heuristics.tool_calls.pack import packs, with_pack, workspace_of
from metacog.heuristics.wire.assessment import HesitationPart
from metacog.models import Agent, Policy, Role, Team, TeamRules, User
from metacog.models.pack_words import ShownPack
from metacog.pages.unknown_filters import unknown_filters
from patterns.models import ErrorPattern
from reviews.held.filters import word
from reviews.logs import imports
from reviews.logs.by_pack import OTHER
from reviews.logs.formats import AUTO, NAMES
from reviews.logs.trial import Report, Tool
from reviews.models import HeldCall, LogImport, LogImportItem
from reviews.pages.person import PersonRequest
from reviews.presentation import arguments, highlight
from reviews.presentation.calls import log_packs
from reviews.presentation.calls.why_asked import why_asked
from reviews.presentation.explanation import TITLES, other_parts, parts, response_flags
from reviews.presentation.marks import paired
from reviews.presentation.rule_words import in_words

LISTED = 50  # logs, the newest
MOST_UNDER_WAY = 5  # of a team
TOOLS_SHOWN = 100
ITEMS_SHOWN = 50  # of a page
KINDS_SHOWN = 12  # of what a pack would have held; the others unfold

# Why records have no turn in them; what is not here is the log's own word for a kind of record.
SKIPPED: dict[str, Promise] = {
    "user": gettext_lazy("user's messages and tool results"),
    "system": gettext_lazy("system messages"),
    "tool": gettext_lazy("tool results"),
    "copy of an earlier line": gettext_lazy("copies of earlier records"),
    "copy of an earlier record": gettext_lazy("copies of earlier records"),
    "tool, of a call that was counted": gettext_lazy("steps of tool calls that were counted"),
    "assistant, without text or tool call": gettext_lazy("without text or tool call"),
    "llm, without text or tool call": gettext_lazy("without text or tool call"),
    "generation, without output": gettext_lazy("without text or tool call"),
    "written by Claude Code itself": gettext_lazy("written by Claude Code itself"),
    OTHER: gettext_lazy("others"),
}
REASONS: dict[str, Promise] = {
    "default": gettext_lazy("No rule matches the tool call, and the policy asks a person"),
    "rule": gettext_lazy("A rule asks a person"),
    "score": gettext_lazy("The score reaches the holding score"),
    "fault": gettext_lazy("A rule could not be checked"),
}


class LogForm(forms.Form):
    """Which log, and whose policy it is tried under."""

    upload = forms.FileField(
        label=gettext_lazy("File"),
        allow_empty_file=False,
        help_text=gettext_lazy(
            "At most 50 MB; may be compressed with gzip. Deleted once it has been read; its report, after 7 days."
        ),
    )
    under = forms.ChoiceField(
        label=gettext_lazy("Policy"),
        help_text=gettext_lazy("The team's active error patterns apply."),
    )
    format = forms.ChoiceField(label=gettext_lazy("Format"))
    keeps = forms.BooleanField(
        label=gettext_lazy("Keep the log's responses under this agent"),
        required=False,
        help_text=gettext_lazy(
            "So that you can search them, and test policies and error patterns on them. Nothing is held, nobody is "
            "notified."
        ),
    )

    def __init__(self, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams = person.teams_as(Role.CURATOR).order_by("name")
        self.teams: dict[str, Team] = {f"team:{team.pk}": team for team in teams}
        rows = Agent.objects.filter(team__in=list(self.teams.values())).select_related("team")
        self.agents: dict[str, Agent] = {agent.public_id: agent for agent in rows.order_by("team__name", "name")}
        is_one = len(self.teams) == 1
        new = [
            (name, _("A new agent") if is_one else _("A new agent of %(team)s") % {"team": team})
            for name, team in self.teams.items()
        ]
        known = [(public_id, person.name_of(agent)) for public_id, agent in self.agents.items()]
        under, format = self.fields["under"], self.fields["format"]
        under.choices = [*new, *known]  # type: ignore[attr-defined]
        format.choices = [(AUTO, _("Recognize automatically")), *NAMES.items()]  # type: ignore[attr-defined]
        self.fields["upload"].widget.attrs["accept"] = ".jsonl,.json,.ndjson,.csv,.gz,.txt,.log"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        upload, under = cleaned.get("upload"), cleaned.get("under", "")
        if upload and upload.size > imports.MAX_UPLOAD:
            self.add_error("upload", _too_large())
        agent: Agent | None = self.agents.get(under)
        team: Team | None = agent.team if agent else self.teams.get(under)
        if cleaned.get("keeps") and agent is None:
            self.add_error("keeps", _("Choose an agent to keep responses under."))
        under_way = LogImport.objects.filter(team=team, state__in=["uploading", "waiting", "running"])
        if team and under_way.count() >= MOST_UNDER_WAY:
            told = _("The team has %(count)d log imports under way. Wait until one is done.")
            self.add_error(None, told % {"count": MOST_UNDER_WAY})
        return cleaned | {"agent": agent, "team": team}


def _too_large() -> str:
    return _("The file is larger than %(most)d MB. Split it.") % {"most": imports.MAX_UPLOAD // 1_048_576}


def _logs(request: PersonRequest) -> QuerySet[LogImport]:
    seen = LogImport.objects.filter(team__in=request.user.teams_as(Role.CURATOR))
    return seen.select_related("team", "agent", "person")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_imports(request: PersonRequest) -> HttpResponse:
    """List the uploaded logs of the person's teams, and take another one in."""
    may_upload = request.user.teams_as(Role.CURATOR).exists()
    is_too_large = "metacog.refused" in request.META  # its body was not taken, so that this is a GET
    if request.method == "POST":
        if not may_upload:
            raise PermissionDenied(_("Only curators and owners of the team can import."))
        form = LogForm(request.user, request.POST, request.FILES)
        if form.is_valid():
            given = form.cleaned_data
            row = imports.take_in(
                request.user,
                given["team"],
                given["agent"],
                given["upload"],
                format=given["format"],
                keeps=given["keeps"],
            )
            return redirect("log-import", row.public_id)
    else:
        form = LogForm(request.user, initial={"under": request.GET.get("agent", "")})
    rows = _logs(request).defer("report", "cursor", "unread")[:LISTED] if may_upload else ()
    named = Agent.objects.filter(team__in=request.user.teams_as(Role.CURATOR), public_id=word(request.GET, "agent"))
    context = {
        "form": form,
        "rows": rows,
        "may_upload": may_upload,
        "too_large": _too_large() if is_too_large else "",
        "has_teams": len(request.user.teams) > 1,
        "unknown_filters": unknown_filters(request.GET, agents=named if "agent" in request.GET else []),
    }
    status = 413 if is_too_large else 422 if form.errors else 200
    return render(request, "reviews/log_imports.html", context, status=status)


@never_cache
@require_safe
def log_import(request: PersonRequest, log_id: str) -> HttpResponse:
    """Show how far a log is read, and what of it would have been held."""
    row: LogImport = get_object_or_404(_logs(request).defer("cursor"), public_id=log_id)
    report = Report.from_json(row.report) if row.report else Report()
    tried = row.policy_version or 0
    versions = {tried, row.agent.policy_version} if row.agent else set()
    policies = {each.version: each for each in Policy.objects.filter(agent=row.agent_id, version__in=versions)}
    first = number if (number := _number(request.GET.get("from", ""))) > 0 else 1
    items = list(row.items.filter(number__gte=first).defer("body", "verdict")[: ITEMS_SHOWN + 1])
    context = {
        "log": row,
        "report": report,
        "done": round(100 * row.read_bytes / row.size) if row.size else 0,
        **_packs(report, row, policies.get(row.agent.policy_version) if row.agent else None, word(request.GET, "pack")),
        "headline": headline(report),
        "besides": _besides(report),
        "reasons": _reasons(report),
        "signals": [(TITLES.get(name, name), count) for name, count in report.signals.most_common()],
        "rules": _rules(report, row, policies.get(tried)),
        "tools": _tools(report, row, policies.get(row.agent.policy_version) if row.agent else None),
        "more_tools": max(0, len(report.tools) - TOOLS_SHOWN),
        **_default(report, row),
        "drafts": _drafts(report, row),
        "items": items[:ITEMS_SHOWN],
        "first_url": reverse("log-import", args=[row.public_id]) if first > 1 else "",
        "next_url": f"?from={items[ITEMS_SHOWN].number}#held" if len(items) > ITEMS_SHOWN else "",
        "most_items": imports.MOST_ITEMS,
        "most_alike": imports.MOST_ALIKE,
        "unread": [(line, _(sentence) % names if names else _(sentence)) for line, sentence, names in row.unread],
        "skipped": _skipped(report),
        "skipped_total": report.skipped.total(),  # a template would look "total" up in the Counter: 0
        "format": NAMES.get(row.format, ""),
        "may_own": request.user.has_role(row.team_id, Role.OWNER),
    }
    return render(request, "reviews/_log_report.html" if request.htmx else "reviews/log_import.html", context)


@never_cache
@require_safe
def log_item(request: PersonRequest, log_id: str, number: int) -> HttpResponse:
    """Show one item of a log as the queue would have shown it."""
    row: LogImport = get_object_or_404(_logs(request).defer("cursor", "report", "unread"), public_id=log_id)
    item = get_object_or_404(LogImportItem, log=row, number=number)
    body, verdict = item.body, item.verdict
    told, sent = paired(verdict, body)[item.index]
    hesitation: HesitationPart | None = told.get("hesitation") if sent.call else verdict["hesitation"]
    signals = hesitation["signals"] if hesitation else []
    pattern = None
    if hesitation and hesitation["matched_pattern_ids"]:
        matched = ErrorPattern.objects.filter(team=row.team_id, public_id=hesitation["matched_pattern_ids"][0])
        pattern = matched.first()
    whole = body["response"] if body["response"] != sent.text else ""
    context: dict[str, Any] = {
        "log": row,
        "item": item,
        "kind": item.kind.upper().replace("_", " "),
        "user_message": body.get("user_message"),
        "session": body.get("session"),
        "at": body.get("occurred_at"),
        "hesitation": hesitation,
        "parts": parts(signals, pattern),
        **other_parts(verdict),
        "next_cycle": None,
        "stuck": None,
        "response_flags": response_flags(verdict),
        "whole": highlight.show(whole) if whole else None,
        "others": LogImportItem.objects.filter(log=row, number__in=[number - 1, number + 1]).values_list(
            "number", flat=True
        ),
        **_made_rule(row, item),
    }
    if sent.call:
        call = HeldCall(
            name=sent.call.name,
            arguments=sent.call.arguments,
            rule=told.get("rule"),
            fault=told.get("fault", ""),
            hesitation=told.get("hesitation"),
        )
        context |= {"call": call, "fields": arguments.table(sent.call.arguments), "why_asked": why_asked(call)}
    else:
        marks = highlight.of_item(signals, item.index, sent.text, sent.start, sent.end)
        context |= {"text": highlight.show(sent.text, marks)}
    return render(request, "reviews/log_item.html", context)


@require_POST
def log_delete(request: PersonRequest, log_id: str) -> HttpResponse:
    """Delete a log with its report before its time."""
    row = get_object_or_404(_logs(request).defer("report", "cursor", "unread"), public_id=log_id)
    imports.delete(row, request.user)
    messages.success(request, _("The log and its report are deleted."))
    return redirect("log-imports")


def _packs(report: Report, row: LogImport, policy: Policy | None, name: str) -> dict[str, Any]:
    """Return what the log's calls would do, and what a pack would have held of them; {} of a log without calls."""
    if not report.packs:
        return {}
    tally = log_packs.chosen(report, name, [each["name"] for each in policy.packs] if policy else [])
    told: dict[str, Any] = {"calls_do": log_packs.what_calls_do(report), "packs": log_packs.rows(report)}
    told["answers"] = log_packs.what_of_answers(report)
    if tally is None:
        return told
    pack, found = packs()[tally.pack], log_packs.kinds(report, tally.pack)
    more = tally.asked + tally.denied - sum(each.kind.calls for each in found)
    told |= {"pack": ShownPack(pack), "pack_does": log_packs.what_a_pack_does(report, tally)}
    told |= {"kinds": found[:KINDS_SHOWN], "more_kinds": found[KINDS_SHOWN:], "more_calls": more}
    return told | {"pack_url": _pack_url(report, row, policy, tally.pack)}


def _pack_url(report: Report, row: LogImport, policy: Policy | None, pack: str) -> str:
    """Return where an owner makes an agent with a pack, or drafts a policy that has it."""
    if row.agent is None:
        asked = {"team": row.team_id, "pack": pack, "workspace": report.workspace}
        return reverse("agent-new") + "?" + urlencode({name: value for name, value in asked.items() if value})
    if policy is None or pack in [each["name"] for each in policy.packs]:
        return ""
    given = as_text(with_pack(policy.packs, pack, workspace_of(policy.packs) or report.workspace or None))
    return reverse("policy", args=[row.agent.public_id]) + "?" + urlencode({"packs": given, "note": _note(row)})


def _note(row: LogImport) -> str:
    return (_("From the log %(file)s") % {"file": row.file_name})[:300]


def headline(report: Report) -> str:
    """Say how much of a log would have been held."""
    calls = ngettext("%(count)s tool call", "%(count)s tool calls", report.calls) % {"count": f"{report.calls:,}"}
    answers = ngettext("%(count)s answer", "%(count)s answers", report.answers) % {"count": f"{report.answers:,}"}
    told = {"calls": calls, "answers": answers, "held": f"{report.held:,}"}
    if not report.held:
        return _("Of %(calls)s and %(answers)s, none would have been held.") % told
    return _("Of %(calls)s and %(answers)s, %(held)s would have been held.") % told


def _besides(report: Report) -> list[str]:
    told = []
    if report.denied:
        sentence = ngettext(
            "%(count)s more tool call would have been denied by a rule.",
            "%(count)s more tool calls would have been denied by a rule.",
            report.denied,
        )
        told.append(sentence % {"count": f"{report.denied:,}"})
    if report.marked:
        sentence = ngettext(
            "%(count)s more answer would have been marked.",
            "%(count)s more answers would have been marked.",
            report.marked,
        )
        told.append(sentence % {"count": f"{report.marked:,}"})
    if report.repeated:
        sentence = ngettext(
            "%(count)s of the held tool calls repeats an earlier one of its session: while that is pending, no new item.",  # noqa: E501
            "%(count)s of the held tool calls repeat an earlier one of their session: while that is pending, no new item.",  # noqa: E501
            report.repeated,
        )
        told.append(sentence % {"count": f"{report.repeated:,}"})
    return told


def _reasons(report: Report) -> list[tuple[str, int]]:
    return [(str(REASONS[reason]), count) for reason, count in report.reasons.most_common()]


def _skipped(report: Report) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for kind, count in report.skipped.most_common():
        name = str(SKIPPED.get(kind, kind))
        counts[name] = counts.get(name, 0) + count
    return list(counts.items())


@dataclass(frozen=True)
class RuleRow:
    """A rule that matched, and what it would have done."""

    place: int
    words: str
    calls: int
    held: int
    denied: int


def _rules(report: Report, row: LogImport, policy: Policy | None) -> list[RuleRow]:
    rules = [*TeamRules.given(row.team_id, row.rules_version), *(policy.rules if policy else ())]
    found = sorted((int(place), each) for place, each in report.rules.items())
    return [
        RuleRow(place, in_words(rules[place - 1]), each.calls, each.held, each.denied)
        for place, each in found
        if place <= len(rules)
    ]


@dataclass(frozen=True)
class ToolRow:
    """A tool, what would have become of its calls, and where a rule for it is made."""

    name: str
    tool: Tool
    deny_url: str

    @property
    def if_scored(self) -> int:
        return self.tool.held - self.tool.by_default + self.tool.if_scored


def _tools(report: Report, row: LogImport, policy: Policy | None) -> list[ToolRow]:
    found = sorted(report.tools.items(), key=lambda each: (-each[1].held, -each[1].calls, each[0]))[:TOOLS_SHOWN]
    return [
        ToolRow(name, tool, _denied(row, policy, name) if tool.by_default and name != OTHER else "")
        for name, tool in found
    ]


def _denied(row: LogImport, policy: Policy | None, tool: str) -> str:
    """Return the address of the agent's policy with a rule more that denies a tool, for an owner to look at and save.

    None is drafted that allows: nobody has approved the calls of a log.
    """
    if row.agent is None or policy is None:
        return ""
    rules = as_text([*policy.rules, {"tool": _literal(tool), "do": "deny"}])
    return reverse("policy", args=[row.agent.public_id]) + "?" + urlencode({"rules": rules, "note": _note(row)})


def _literal(tool: str) -> str:
    """Write a tool's name as a pattern that matches it alone."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in tool)


def _drafts(report: Report, row: LogImport) -> str:
    """Return rules for the policy of an agent that is to be added, as its page takes them; "" where there is one."""
    found = [name for name, tool in report.tools.items() if tool.by_default and name != OTHER][:TOOLS_SHOWN]
    if row.agent or not found:
        return ""
    return pretty([{"tool": _literal(name), "do": "ask"} for name in sorted(found)])


def _default(report: Report, row: LogImport) -> dict[str, Any]:
    """Return what scoring the tool calls that no rule matches would change, and where that is set."""
    by_default = sum(tool.by_default for tool in report.tools.values())
    if not by_default:
        return {}
    scored = sum(tool.if_scored for tool in report.tools.values())
    url = reverse("policy", args=[row.agent.public_id]) + "?default_tool_call=score" if row.agent else ""
    signals = [(TITLES.get(name, name), count) for name, count in report.signals_if_scored.most_common()]
    return {"by_default": by_default, "if_scored": scored, "scored_signals": signals, "score_url": url}


def _made_rule(row: LogImport, item: LogImportItem) -> dict[str, str]:
    if item.reason != "default" or row.agent is None:
        return {}
    policy = Policy.objects.filter(agent=row.agent, version=row.agent.policy_version).first()
    return {"deny_url": _denied(row, policy, item.name)}


def _number(raw: str) -> int:
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 7 else 0
