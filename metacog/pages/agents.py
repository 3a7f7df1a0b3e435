"""The pages about agents: which there are, one of them, its keys and switches, and adding one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Case, Count, F, OuterRef, Prefetch, Q, QuerySet, Subquery, Value, When
from django.db.models.lookups import GreaterThan
from django.http import Http404, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog import egress, heuristics
from metacog.accounts import agents, consequences, keys
from metacog.accounts.agents import MAX_NAME
from metacog.accounts.consequences import DisableForm, ReasonForm
from metacog.accounts.forms import (
    KINDS,
    PARTS,
    RELEASED_BY,
    SIGNALS,
    ChangeAgentForm,
    HandcardForm,
    NewAgentForm,
    PackForm,
)
from metacog.db.rows import COUNTED, CountUpTo, Row
from metacog.heuristics.effects.pointers import MAX_LENGTH
from metacog.heuristics.hesitation import thresholds
from metacog.heuristics.policy.policy import NEVER
from metacog.heuristics.tool_calls.pack import packs
from metacog.http import once
from metacog.models import Agent, AgentKey, AuditEvent, Policy, Role, Team, User, pack_words
from metacog.pages import agent_choice
from metacog.pages.account import Request
from metacog.pages.confirming import Step, confirm, done
from metacog.pages.unknown_filters import unknown_filters

PAGE = 50
LATEST = 100  # responses whose tags are looked at
RECENT = 200  # responses that an agent's firing rate is counted over
POLICIES_SHOWN = 10


@require_safe
def agent_list(request: Request) -> HttpResponse:
    """List the agents of the person's teams, a page at a time, with what each is up to.

    `q` is looked for in their names. With `to`, the name of a page, an agent is looked for to be shown there: the one
    that is meant leads there at once.
    """
    asked = {name: request.GET.get(name, "").strip()[:MAX_NAME] for name in ("q", "to", "after")}
    query, to = asked["q"], asked["to"] if asked["to"] in agent_choice.PAGES else ""
    mine = Agent.objects.filter(team__in=request.user.teams_as())
    kept = agent_choice.kept(to, request.GET) if to else {}
    if to and not query:
        return redirect(_address(to, **kept))
    if to and not asked["after"] and (one := agent_choice.meant(mine, query)):
        return redirect(_address(to, **kept, agent=one.public_id))
    following = agent_choice.of_name(mine, query)
    if last := mine.filter(public_id=asked["after"]).select_related("team").first() if asked["after"] else None:
        place = Row(Value(last.team.name), Value(last.name))
        following = following.filter(GreaterThan(Row(F("team__name"), F("name")), place))
    # Which they are first: else what each is up to is read of all that follow.
    pks = list(following.order_by("team__name", "name").values_list("pk", flat=True)[: PAGE + 1])
    live = Prefetch("keys", AgentKey.objects.filter(revoked_at=None), to_attr="live_keys")
    found = (
        Agent.objects.filter(pk__in=pks[:PAGE])
        .select_related("team", "state")
        .prefetch_related(live)
        .annotate(last_post_at=_last_post(), pending=_pending())
        .order_by("team__name", "name")
    )
    here = {"q": query, "to": to} | kept
    handed_on: dict[str, Any] = {name: [request.GET[name]] for name in kept}  # that page says what it does not know
    context = {
        "agents": list(found),
        "may_add": any(request.user.has_role(team.pk, Role.OWNER) for team in request.user.teams),
        "may_import": any(request.user.has_role(team.pk, Role.CURATOR) for team in request.user.teams),
        "many_teams": len(request.user.teams) > 1,
        "query": query,
        "unknown_filters": unknown_filters(request.GET, to=agent_choice.PAGES, **handed_on),
        "to": to,
        "kept": kept,
        "to_url": f"{reverse(to)}?{urlencode(kept | {'agent': ''})}" if to else "",
        "first_url": _address("agents", **here) if last else "",
        "next_url": _address("agents", **here, after=found[PAGE - 1].public_id) if len(pks) > PAGE else "",
    }
    return render(request, "metacog/agents.html", context)


def _address(page: str, **asked: str) -> str:
    given = {name: value for name, value in asked.items() if value}
    return reverse(page) + (f"?{urlencode(given)}" if given else "")


def _last_post() -> Subquery:
    # By time, of which only the agents' own index knows: by id, PostgreSQL would read all agents' rows from the end.
    return Subquery(_rows("responses", OuterRef("pk")).order_by("-received_at").values("received_at")[:1])


def _pending() -> CountUpTo:
    waiting = _rows("held_items", OuterRef("pk")).filter(state="pending").order_by()
    return CountUpTo(waiting.values("pk")[: COUNTED + 1])


def _rows(relation: str, agent: Agent | OuterRef) -> QuerySet[Any]:
    """Return what belongs to an agent by the relation's name: reviews stands above this package."""
    model: Any = Agent._meta.get_field(relation).related_model
    return model.objects.filter(agent=agent)  # type: ignore[no-any-return]  # it is found by name, so its type is Any


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agent_new(request: Request) -> HttpResponse:
    """Add an agent, and show its key and secret this once."""
    owned = request.user.teams_as(Role.OWNER)
    if not owned:
        raise PermissionDenied(_("Only owners of a team can add agents."))
    form = NewAgentForm(owned, request.POST if request.method == "POST" else None, initial=_asked_for(request, owned))
    if form.is_valid():
        if once.is_repeated(request):
            return redirect("agents")
        try:
            created, api_key, secret = agents.create_agent(actor=request.user, **form.wanted())
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _agent_page(request, created, fresh=(api_key, secret))
    context = {"form": form, "teams": owned, "packs": pack_words.shown(), "chosen": form["pack"].value()}
    return render(request, "metacog/agent_new.html", context, status=422 if form.errors else 200)


def _asked_for(request: Request, owned: Iterable[Team]) -> dict[str, Any]:
    """Return what the address fills in: a team that is the person's, a pack that there is, and its folder."""
    team, pack = request.GET.get("team", ""), request.GET.get("pack", "")
    asked: dict[str, Any] = {"workspace": request.GET.get("workspace", "")[:MAX_LENGTH]}
    if named := next((each for each in owned if str(each.pk) == team), None):
        asked["team"] = named.pk
    return asked | ({"pack": pack} if pack in packs() else {})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: Request, agent_id: str) -> HttpResponse:
    """Show an agent: state, keys, firing rate and policy; an owner may change it here."""
    if request.method != "POST":
        return _agent_page(request, _agent(request, agent_id, Role.VIEWER))
    found = _agent(request, agent_id, Role.OWNER)
    form = ChangeAgentForm(request.POST)
    if form.is_valid():
        try:
            agents.change(found, request.user, **form.wanted(found))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, _("Saved."))
            return redirect("agent", found.public_id)
    return _agent_page(request, found, form=form)


@never_cache
@require_POST
def agent_rotate(request: Request, agent_id: str) -> HttpResponse:
    """Issue a key and secret beside those there are, and show them this once. Where that ends one it takes a reason."""
    found = _agent(request, agent_id, Role.OWNER)
    form = ReasonForm(request.POST)
    revokes = AgentKey.objects.filter(agent=found, revoked_at=None).count() >= keys.MOST_LIVE
    if revokes and not form.is_valid():
        return confirm(request, _step(found, "issue-key"), form)
    if once.is_repeated(request):
        return redirect("agent", found.public_id)
    because = form.cleaned_data["reason"] if revokes else ""
    return _agent_page(request, found, fresh=agents.rotate(found, request.user, because))


STEPS = {"enabled": "disable", "hesitation_enabled": "hesitation-off"}  # by the switch: the dangerous side of it


@never_cache
@require_safe
def agent_confirm(request: Request, agent_id: str, step: str) -> HttpResponse:
    """Name what disabling an agent, switching its hesitation off or ending keys of it takes away; ask why."""
    found = _agent(request, agent_id, Role.OWNER)
    if step not in (*STEPS.values(), "issue-key", "revoke-keys"):
        raise Http404
    if step == "revoke-keys" and AgentKey.objects.filter(agent=found, revoked_at=None).count() < 2:
        return _nothing_to_revoke(request, found)
    return confirm(request, _step(found, step), blank=_form(found, step))


def _form(agent: Agent, step: str, data: QueryDict | None = None) -> ReasonForm:
    return DisableForm(agent, data) if step == "disable" else ReasonForm(data)


def _pause_step(agent: Agent) -> Step:
    return Step(
        title=_("Pause agent %(agent)s") % {"agent": agent.name},
        whose=agent.name,
        consequences=consequences.of_pausing(agent, timezone.now()),
        undo=_("It can be resumed at any time."),
        button=_("Pause agent"),
        action_url=reverse("agent-pause", args=[agent.public_id]),
        cancel_url=reverse("agent", args=[agent.public_id]),
        section="agents",
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def agent_pause(request: Request, agent_id: str) -> HttpResponse:
    """Have all that an agent posts held, for a while or until it is resumed; reviewers may, with a reason."""
    found = _agent(request, agent_id, Role.REVIEWER)
    if request.method != "POST":
        return confirm(request, _pause_step(found), blank=consequences.PauseForm(found))
    form = consequences.PauseForm(found, request.POST)
    if not form.is_valid():
        return confirm(request, _pause_step(found), form)
    reason = form.cleaned_data["reason"]
    agents.pause(found, request.user, reason, form.until)
    told = _("The agent is paused.")
    if form.cleaned_data.get("withdraw"):
        count = agents.withdraw_items(found, request.user, reason)
        withdrawn = ngettext("%(count)s held item was withdrawn.", "%(count)s held items were withdrawn.", count)
        told = f"{told} {withdrawn % {'count': f'{count:,}'}}"
    done(request, told, "undo-pause")
    return redirect("agent", found.public_id)


@require_POST
def agent_resume(request: Request, agent_id: str) -> HttpResponse:
    """Let the policy decide again about what an agent posts."""
    found = _agent(request, agent_id, Role.REVIEWER)
    if agents.resume(found, request.user):
        messages.success(request, _("The agent is resumed: its policy decides again."))
    return redirect("agent", found.public_id)


def _step(agent: Agent, step: str) -> Step:
    now, name = timezone.now(), {"agent": agent.name}
    page = reverse("agent", args=[agent.public_id])
    switch = reverse("agent-switch", args=[agent.public_id])
    if step == "disable":
        return Step(
            title=_("Disable agent %(agent)s") % name,
            whose=agent.name,
            consequences=consequences.of_disabling(agent, now),
            undo=_("It can be enabled again at any time, with the same keys."),
            button=_("Disable agent"),
            action_url=switch,
            cancel_url=page,
            section="agents",
            hidden={"field": "enabled", "on": "0"},
        )
    if step == "hesitation-off":
        return Step(
            title=_("Switch hesitation off for %(agent)s") % name,
            whose=agent.name,
            consequences=consequences.of_hesitation_off(agent, now),
            undo=_("It can be switched on again at any time. Responses posted meanwhile stay unscored."),
            button=_("Switch hesitation off"),
            action_url=switch,
            cancel_url=page,
            section="agents",
            hidden={"field": "hesitation_enabled", "on": "0"},
        )
    if step == "issue-key":
        return Step(
            title=_("Issue another key for %(agent)s") % name,
            whose=agent.name,
            consequences=consequences.of_issuing(agent),
            undo=_("For 24 hours the revoked key can be restored, with its secret, once only one other key is live."),
            button=_("Issue key and revoke the oldest"),
            action_url=reverse("agent-rotate", args=[agent.public_id]),
            cancel_url=page,
            section="agents",
            hidden={once.FIELD: once.value()},
        )
    return Step(
        title=_("Revoke the older keys of %(agent)s") % name,
        whose=agent.name,
        consequences=consequences.of_revoking(agent),
        undo=_("For 24 hours a revoked key can be restored, with its secret."),
        button=_("Revoke older keys"),
        action_url=reverse("agent-revoke", args=[agent.public_id]),
        cancel_url=page,
        section="agents",
    )


@require_POST
def agent_revoke(request: Request, agent_id: str) -> HttpResponse:
    """End all keys but the newest."""
    found = _agent(request, agent_id, Role.OWNER)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return confirm(request, _step(found, "revoke-keys"), form)
    if ended := agents.revoke(found, request.user, form.cleaned_data["reason"]):
        told = ngettext("%(count)s older key is revoked.", "%(count)s older keys are revoked.", ended)
        last = AgentKey.objects.filter(agent=found).exclude(revoked_at=None).order_by("-revoked_at", "-pk").first()
        done(request, told % {"count": ended}, f"restore-{last.pk if last else 0}")
        return redirect("agent", found.public_id)
    return _nothing_to_revoke(request, found)


def _nothing_to_revoke(request: Request, agent: Agent) -> HttpResponse:
    messages.info(request, _("There was no older key to revoke."))
    return redirect("agent", agent.public_id)


@require_POST
def key_restore(request: Request, agent_id: str, key_id: int) -> HttpResponse:
    """Take a key again that was revoked a while ago."""
    found = _agent(request, agent_id, Role.OWNER)
    key = get_object_or_404(AgentKey, pk=key_id, agent=found)
    try:
        if keys.restore(found, key, request.user):
            messages.success(request, _("The key %(key)s works again, with its secret.") % {"key": key})
    except keys.NotRestored:
        told = _("The key was not restored: it was revoked more than 24 hours ago, or two keys are live already.")
        messages.error(request, told)
    return redirect("agent", found.public_id)


@require_POST
def agent_switch(request: Request, agent_id: str) -> HttpResponse:
    """Let an agent in or refuse it; score what it posts or only store it. Off takes a reason."""
    found = _agent(request, agent_id, Role.OWNER)
    switches = {"enabled": agents.set_enabled, "hesitation_enabled": agents.switch_hesitation}
    name, on = request.POST.get("field", ""), request.POST.get("on")
    if name not in switches or on not in ("0", "1"):
        return HttpResponseBadRequest(_("Unknown switch."), content_type="text/plain; charset=utf-8")
    form = _form(found, STEPS[name], request.POST)
    if on == "0" and not form.is_valid():
        return confirm(request, _step(found, STEPS[name]), form)
    because = form.cleaned_data["reason"] if on == "0" else ""
    if switches[name](found, request.user, on == "1", because):
        told = {
            ("enabled", "0"): _("The agent is disabled."),
            ("enabled", "1"): _("The agent is enabled, with the same keys."),
            ("hesitation_enabled", "0"): _("Hesitation is off."),
            ("hesitation_enabled", "1"): _("Hesitation is on."),
        }[name, on]
        if name == "enabled":
            told = f"{told} {_withdrawn(found, request.user, form, on)}".strip()
        if on == "0":
            done(request, told, f"undo-{STEPS[name]}")
        else:
            messages.success(request, told)
    return redirect("agent", found.public_id)


def _withdrawn(agent: Agent, person: User, form: ReasonForm, on: str) -> str:
    """Withdraw what waits of an agent that is disabled, where that is wanted; say what that came to, now or then."""
    if on == "1":
        count = agents.stay_withdrawn(agent)
        told = ngettext("%(count)s item stays withdrawn.", "%(count)s items stay withdrawn.", count)
    elif form.cleaned_data.get("withdraw"):
        count = agents.withdraw_items(agent, person, form.cleaned_data["reason"])
        told = ngettext("%(count)s held item was withdrawn.", "%(count)s held items were withdrawn.", count)
    else:
        return ""
    return told % {"count": f"{count:,}"} if count else ""


@require_POST
def agent_pack(request: Request, agent_id: str) -> HttpResponse:
    """Put a pack into an agent's policy, as its next version; an earlier version takes it back."""
    found = _agent(request, agent_id, Role.OWNER)
    form, based_on = PackForm(request.POST), request.POST.get("based_on", "")
    if not form.is_valid() or not based_on.isdecimal():
        messages.error(request, _("Nothing was changed: choose a pack, and a folder of at most 500 characters."))
        return redirect("agent", found.public_id)
    (pack,) = form.packs()
    try:
        saved = agents.apply_pack(found, request.user, pack, based_on=int(based_on))
    except agents.PolicyMoved:
        messages.error(request, _("Another version has come into force since. Nothing was changed."))
    else:
        title = next(each.title for each in pack_words.shown() if each.name == pack["name"])
        told = {"version": saved.version, "pack": title}
        messages.success(request, _("%(pack)s is now in force, as policy %(version)d.") % told)
        return redirect("policy", found.public_id)  # which lists the pending calls that it decides
    return redirect("agent", found.public_id)


@require_POST
def agent_handcard(request: Request, agent_id: str) -> HttpResponse:
    """Write what the chairman should keep in mind about an agent."""
    seen = Agent.objects.filter(team__in=request.user.teams_as())
    found = get_object_or_404(seen.select_related("team", "state"), public_id=agent_id)
    if not request.user.has_role(found.team_id, Role.CURATOR):
        raise PermissionDenied(_("Only curators and owners of the team can change handcards."))
    form = HandcardForm(request.POST, stored={"handcard": found.handcard})
    if not form.is_valid():
        return _agent_page(request, found, handcard=form)
    if agents.set_handcard(found, request.user, form.cleaned_data["handcard"]):
        messages.success(request, _("Saved."))
    return redirect("agent", found.public_id)


def _agent(request: Request, agent_id: str, role: Role) -> Agent:
    """Return an agent of the person's own teams; 404 for a stranger, 403 for a role too low."""
    seen = Agent.objects.filter(team__in=request.user.teams_as())
    found = get_object_or_404(seen.select_related("team", "state"), public_id=agent_id)
    if not request.user.has_role(found.team_id, role):
        raise PermissionDenied(_("Only owners of the team can change its agents."))
    return found


def _agent_page(
    request: Request,
    found: Agent,
    *,
    form: ChangeAgentForm | None = None,
    handcard: HandcardForm | None = None,
    fresh: tuple[str, str] | None = None,
) -> HttpResponse:
    policies = list(
        Policy.objects.filter(agent=found).select_related("created_by").order_by("-version")[:POLICIES_SHOWN]
    )
    policy = next(policy for policy in policies if policy.version == found.policy_version)
    rules = heuristics.Policy.from_dict(policy.as_dict())
    own_keys, now = list(AgentKey.objects.filter(agent=found).order_by("-pk")[:POLICIES_SHOWN]), timezone.now()
    live = sum(key.revoked_at is None for key in own_keys)
    stored = {"name": found.name, "language": found.language, "callback_url": found.callback_url}
    context = {
        "agent": found,
        "barred": egress.barred(found.callback_url) if found.callback_url else "",
        "may_change": request.user.has_role(found.team_id, Role.OWNER),
        "may_curate": request.user.has_role(found.team_id, Role.CURATOR),
        "form": form or ChangeAgentForm(initial=stored),
        "handcard": handcard or HandcardForm(stored={"handcard": found.handcard}),
        "fresh": fresh,
        "for_coding": any(each["name"] in pack_words.FOR_CODING for each in policy.packs),
        "base_url": settings.PUBLIC_URL,
        "keys": own_keys,
        "live": live,
        "restorable": [key.pk for key in own_keys if keys.is_restorable(key, now)],
        "is_full": live >= keys.MOST_LIVE,
        "is_paused": found.is_paused(now),
        "may_pause": request.user.has_role(found.team_id, Role.REVIEWER),
        "switched": {} if found.enabled and found.hesitation_enabled and not found.is_paused(now) else _switched(found),
        "policy": policy,
        "policies": policies,
        "weights": [(label, rules.weights[signal]) for signal, label in SIGNALS.items()],
        "release": [(label, RELEASED_BY[policy.release.get(kind, "person")]) for kind, label in KINDS.items()],
        "parts": [(label, rules.parts[part]) for part, label in PARTS.items()],
        "review_after": duration(policy.review_seconds),
        "expires_after": duration(policy.expiry_seconds),
        "section": "agents",
        "has_patterns": _has_patterns(found.team_id),
        **firing_rate(found, policy),
        "tags": _tags(found),
    }
    return render(request, "metacog/agent.html", context, status=422 if form or handcard else 200)


def _switched(agent: Agent) -> dict[str, AuditEvent]:
    """Return who switched what off last, and why."""
    actions = {"agent-disabled": "disabled", "hesitation-off": "hesitation", "agent-paused": "paused"}
    events = AuditEvent.objects.filter(agent=agent, action__in=actions).order_by("at", "pk")
    return {actions[event.action]: event for event in events}


def _has_patterns(team_id: int) -> bool:
    patterns: Any = Team._meta.get_field("patterns").related_model  # stands above this package
    return bool(patterns.objects.filter(team=team_id, state="active").exists())


def _tags(agent: Agent) -> dict[str, int]:
    """Count the agent's last responses, those with a flag on their tags, and those in a language nobody reads here.

    One query.
    """
    recent = _rows("responses", agent).order_by("-received_at").values("pk", "flagged", "unread")[:LATEST]
    found: dict[str, int] = recent.aggregate(
        responses=Count("pk"),
        flagged=Count("pk", filter=Q(flagged=True)),
        unread=Count("pk", filter=Q(unread=True)),
    )
    return found


def firing_rate(agent: Agent, policy: Policy) -> dict[str, Any]:
    """Count the agent's last scored responses: all, in the bands that the policy parts them into, and what it holds."""
    latest = _rows("responses", agent).order_by("-received_at")
    # In these nothing is marked or held. A quotation mark within a text is escaped in JSON: only the items match.
    is_empty = Case(When(Q(hesitation_score__gte=policy.threshold) & Q(verdict__contains='"items": []'), then=True))
    recent = latest.values_list("hesitation_score", is_empty)[:RECENT]
    scored = [(score, is_empty) for score, is_empty in recent if score is not None]
    scores = [score for score, _is_empty in scored]
    edges = sorted({0, 1, policy.threshold, policy.hold_at, NEVER})
    bands = [
        {
            "low": low,
            "high": end - 1,
            "count": len(within),
            "share": len(within) / len(scores) if scores else 0,
            "width": round(100 * len(within) / len(scores)) if scores else 0,
            "empty": sum(map(bool, within)),
        }
        for low, end in pairwise(edges)
        for within in [[is_empty for score, is_empty in scored if low <= score < end]]
    ]
    return {
        "scored": len(scores),
        "bands": bands,
        "would_hold": sum(score >= policy.hold_at for score in scores),
        "suggestion": thresholds.suggest(scores, policy.threshold, policy.hold_at),
    }


def duration(seconds: int) -> str:
    """Say a length of time in the largest unit that it is a whole number of."""
    if seconds % 86400 == 0:
        return ngettext("%(count)d day", "%(count)d days", seconds // 86400) % {"count": seconds // 86400}
    if seconds % 3600 == 0:
        return ngettext("%(count)d hour", "%(count)d hours", seconds // 3600) % {"count": seconds // 3600}
    if seconds % 60 == 0:
        return ngettext("%(count)d minute", "%(count)d minutes", seconds // 60) % {"count": seconds // 60}
    return ngettext("%(count)d second", "%(count)d seconds", seconds) % {"count": seconds}
