"""Pages about people, teams and agents: signing in, preferences, the team, agents and their keys."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from axes.helpers import get_client_ip_address, get_cool_off
from axes.models import AccessAttempt
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import (
    INTERNAL_RESET_SESSION_TOKEN,
    LoginView,
    LogoutView,
    PasswordResetConfirmView,
)
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views import i18n
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from metacog import agents as changes
from metacog import audit, heuristics, members
from metacog.forms import (
    KINDS,
    RELEASED_BY,
    SIGNALS,
    AgentForm,
    MemberForm,
    NewAgentForm,
    PasswordForm,
    PreferencesForm,
    RetentionForm,
    RoleForm,
    SignInForm,
)
from metacog.heuristics import thresholds
from metacog.models import Agent, AgentKey, Language, Membership, Policy, Role, Team, User
from metacog.retention import set_retention

RECENT = 200  # responses that an agent's firing rate is counted over
BANDS = ((0, 0), (1, 29), (30, 49), (50, 100))
POLICIES_SHOWN = 10
YEAR = 365 * 24 * 3600


class Request(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


# -- signing in ------------------------------------------------------------------------------------


class SignIn(LoginView):
    """Django's, except that it never leads back to itself."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, *args: Any) -> str:
        url = super().get_redirect_url(*args)
        return "" if urlsplit(url).path in (reverse("sign-in"), reverse("sign-out")) else url


class SetPassword(PasswordResetConfirmView):
    """The one-time link: opening it changes nothing, so that a mail scanner cannot use it up."""

    template_name = "registration/set_password.html"
    token_generator = members.link_tokens
    post_reset_login = True
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"
    success_url = reverse_lazy("queue")

    def form_valid(self, form: Any) -> HttpResponse:
        link = reverse("set-password", args=[self.kwargs["uidb64"], self.request.session[INTERNAL_RESET_SESSION_TOKEN]])
        with transaction.atomic():
            response = super().form_valid(form)
            audit.record("password-set", str(form.user.pk), actor=form.user, team=None)
        kept = settings.DATA_DIR / "first-owner-link"
        if kept.exists() and kept.read_text().strip().endswith(link):
            kept.unlink(missing_ok=True)
        return response


sign_in = SignIn.as_view()
sign_out = login_not_required(LogoutView.as_view())
set_password = SetPassword.as_view()


def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Answer a sign-in after too many wrong ones; called by django-axes."""
    minutes = 1
    cool_off = get_cool_off(request)
    attempt = (
        AccessAttempt.objects.filter(
            username=request.POST.get("username", ""), ip_address=get_client_ip_address(request)
        )
        .order_by("-attempt_time")
        .first()
    )
    if attempt and cool_off:
        left = attempt.attempt_time + cool_off - timezone.now()
        minutes = max(1, math.ceil(left.total_seconds() / 60))
    context = {"minutes": minutes, "next": request.POST.get("next", "")}
    response = render(request, "registration/locked_out.html", context, status=429)
    response["Retry-After"] = str(minutes * 60)
    return response


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose token no longer holds; Django's CSRF_FAILURE_VIEW."""
    return render(request, "metacog/form_too_old.html", status=403)


# -- preferences -----------------------------------------------------------------------------------


@sensitive_post_parameters()
@never_cache
def preferences(request: Request) -> HttpResponse:
    """Let somebody set how the console looks to them, and change their password."""
    user = request.user
    wants_password = request.method == "POST" and "old_password" in request.POST
    wants_form = request.method == "POST" and not wants_password
    # A copy, so that a form that is refused does not dress this very page.
    form = PreferencesForm(request.POST if wants_form else None, instance=User.objects.get(pk=user.pk))
    password_form = PasswordForm(user, request.POST if wants_password else None)
    if wants_form and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        response = redirect("preferences")
        _remember(response, settings.LANGUAGE_COOKIE_NAME, form.instance.language)
        _remember(response, "theme", form.instance.theme)
        return response
    if wants_password and password_form.is_valid():
        with transaction.atomic():
            password_form.save()
            audit.record("password-changed", str(user.pk), actor=user, team=None)
        update_session_auth_hash(request, user)
        messages.success(request, _("The password is changed; everywhere else you are signed out."))
        return redirect("preferences")
    context = {"form": form, "password_form": password_form}
    return render(request, "metacog/preferences.html", context, status=200 if request.method == "GET" else 422)


@login_not_required
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Go light, dark or as the device, here and wherever the person signs in."""
    theme = request.POST.get("theme", "")
    if theme not in User.Theme.values:
        return HttpResponseBadRequest(_("There is no such theme."), content_type="text/plain; charset=utf-8")
    if isinstance(request.user, User):
        User.objects.filter(pk=request.user.pk).update(theme=theme)
    response = redirect(_safe_next(request))
    _remember(response, "theme", theme)
    return response


@login_not_required
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Speak another language, here and wherever the person signs in."""
    language = request.POST.get("language", "")
    if isinstance(request.user, User) and language in Language.values:
        User.objects.filter(pk=request.user.pk).update(language=language)
    return i18n.set_language(request)


def _safe_next(request: HttpRequest) -> str:
    url = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return url if is_ours else reverse("queue")


def _remember(response: HttpResponse, name: str, value: str) -> None:
    """Keep a choice for when nobody is signed in; the empty choice is the browser's own."""
    if value:
        response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.HTTPS, httponly=True)
    else:
        response.delete_cookie(name, samesite="Lax")


# -- agents ----------------------------------------------------------------------------------------


def agents(request: Request) -> HttpResponse:
    """List the agents of the person's teams, with what each is up to."""
    live = Prefetch("keys", AgentKey.objects.filter(revoked_at=None), to_attr="live_keys")
    found = (
        Agent.objects.filter(team__in=request.user.teams_as())
        .select_related("team", "state")
        .prefetch_related(live)
        .annotate(last_post_at=_last_post(), pending=_pending())
        .order_by("team__name", "name")
    )
    context = {"agents": found, "may_add": request.user.teams_as(Role.OWNER).exists()}
    return render(request, "metacog/agents.html", context)


def _last_post() -> Subquery:
    return Subquery(_rows("responses", OuterRef("pk")).order_by("-pk").values("received_at")[:1])


def _pending() -> Subquery:
    waiting = _rows("held_items", OuterRef("pk")).filter(state="pending", closed_at=None).order_by()
    return Subquery(waiting.values("agent").annotate(number=Count("pk")).values("number"))


def _rows(relation: str, agent: Agent | OuterRef) -> QuerySet[Any]:
    """Return what belongs to an agent by the relation's name: reviews stands above this package."""
    model: Any = Agent._meta.get_field(relation).related_model
    return model.objects.filter(agent=agent)  # type: ignore[no-any-return]


@never_cache
def agent_new(request: Request) -> HttpResponse:
    """Add an agent, and show its key and secret this once."""
    owned = request.user.teams_as(Role.OWNER)
    if not owned:
        raise PermissionDenied(_("Only owners of a team can add agents."))
    form = NewAgentForm(owned, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            created, api_key, secret = changes.create_agent(actor=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _agent_page(request, created, fresh=(api_key, secret))
    context = {"form": form, "teams": owned}
    return render(request, "metacog/agent_new.html", context, status=422 if form.errors else 200)


@never_cache
def agent(request: Request, agent_id: str) -> HttpResponse:
    """Show an agent: state, keys, firing rate and policy; an owner may change it here."""
    if request.method != "POST":
        return _agent_page(request, _agent(request, agent_id, Role.VIEWER))
    found = _agent(request, agent_id, Role.OWNER)
    form = AgentForm(request.POST)
    if form.is_valid():
        try:
            changes.change(found, request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, _("Saved."))
            return redirect("agent", found.public_id)
    return _agent_page(request, found, form=form)


@never_cache
@require_POST
def agent_rotate(request: Request, agent_id: str) -> HttpResponse:
    """Issue a key and secret beside those there are, and show them this once."""
    found = _agent(request, agent_id, Role.OWNER)
    return _agent_page(request, found, fresh=changes.rotate(found, request.user))


@require_POST
def agent_revoke(request: Request, agent_id: str) -> HttpResponse:
    """End all keys but the newest."""
    found = _agent(request, agent_id, Role.OWNER)
    if changes.revoke(found, request.user):
        messages.success(request, _("The older keys and secrets have ended. Only the newest is taken now."))
    else:
        messages.info(request, _("There was no older key to end."))
    return redirect("agent", found.public_id)


@require_POST
def agent_switch(request: Request, agent_id: str) -> HttpResponse:
    """Let an agent in or refuse it; score what it posts or only store it."""
    found = _agent(request, agent_id, Role.OWNER)
    switches = {"enabled": changes.set_enabled, "hesitation_enabled": changes.switch_hesitation}
    switch, on = switches.get(request.POST.get("field", "")), request.POST.get("on")
    if switch is None or on not in ("0", "1"):
        return HttpResponseBadRequest(_("There is no such switch."), content_type="text/plain; charset=utf-8")
    if switch(found, request.user, on == "1"):
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
    request: Request, found: Agent, *, form: AgentForm | None = None, fresh: tuple[str, str] | None = None
) -> HttpResponse:
    policies = list(
        Policy.objects.filter(agent=found).select_related("created_by").order_by("-version")[:POLICIES_SHOWN]
    )
    policy = next(policy for policy in policies if policy.version == found.policy_version)
    rules = heuristics.Policy.from_dict(policy.as_dict())
    keys = list(AgentKey.objects.filter(agent=found).order_by("-pk")[:POLICIES_SHOWN])
    stored = {"name": found.name, "language": found.language, "callback_url": found.callback_url}
    context = {
        "agent": found,
        "may_change": request.user.has_role(found.team_id, Role.OWNER),
        "may_curate": request.user.has_role(found.team_id, Role.CURATOR),
        "form": form or AgentForm(initial=stored),
        "fresh": fresh,
        "base_url": settings.PUBLIC_URL,
        "keys": keys,
        "live": sum(key.revoked_at is None for key in keys),
        "policy": policy,
        "policies": policies,
        "weights": [(label, rules.weights[signal]) for signal, label in SIGNALS.items()],
        "release": [(label, RELEASED_BY[policy.release.get(kind, "person")]) for kind, label in KINDS.items()],
        "review_after": duration(policy.review_seconds),
        "expires_after": duration(policy.expiry_seconds),
        "section": "agents",
        "has_patterns": _has_patterns(found.team_id),
        **firing_rate(found, policy),
    }
    return render(request, "metacog/agent.html", context, status=422 if form else 200)


def _has_patterns(team_id: int) -> bool:
    patterns: Any = Team._meta.get_field("patterns").related_model  # stands above this package
    return bool(patterns.objects.filter(team=team_id, state="active").exists())


def firing_rate(agent: Agent, policy: Policy) -> dict[str, Any]:
    """Count the agent's last responses by score: what was scored, in bands, and what would be held."""
    recent = _rows("responses", agent).order_by("-pk").values_list("hesitation_score", flat=True)[:RECENT]
    scores = [score for score in recent if score is not None]
    bands = [
        {"low": low, "high": high, "count": count, "share": round(100 * count / len(scores)) if scores else 0}
        for low, high in BANDS
        for count in [sum(low <= score <= high for score in scores)]
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


# -- the team --------------------------------------------------------------------------------------


@never_cache
def team(request: Request) -> HttpResponse:
    """Show who is in a team; an owner adds, changes and removes members here."""
    return _team_page(request, None)


@never_cache
@require_POST
def member_add(request: Request, team_id: int) -> HttpResponse:
    """Add somebody; a new person's one-time link is shown this once."""
    found = get_object_or_404(request.user.teams_as(), pk=team_id)
    _check_owner(request, found)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            membership, is_new = members.add_member(found, actor=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if is_new:
                link = members.make_link(membership, request.user)
                return _team_page(request, found, link=link, linked=membership.user)
            messages.success(request, _("%(name)s is in the team now.") % {"name": membership.user})
            return _to_team(found)
    return _team_page(request, found, form=form)


@require_POST
def member_change(request: Request, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    membership = _membership(request, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(_("There is no such role."), content_type="text/plain; charset=utf-8")
    try:
        if members.change_role(membership, form.cleaned_data["role"], request.user):
            messages.success(request, _("The role of %(name)s is changed.") % {"name": membership.user})
    except members.LastOwner:
        messages.error(request, _last_owner(membership))
    return _to_team(membership.team)


@require_POST
def member_remove(request: Request, membership_id: int) -> HttpResponse:
    """Take a member out of the team."""
    membership = _membership(request, membership_id)
    try:
        members.remove_member(membership, request.user)
        messages.success(request, _("%(name)s is no longer in the team.") % {"name": membership.user})
    except members.LastOwner:
        messages.error(request, _last_owner(membership))
    return _to_team(membership.team)


@never_cache
@require_POST
def member_link(request: Request, membership_id: int) -> HttpResponse:
    """Make a member a new link to set a password, shown this once."""
    membership = _membership(request, membership_id)
    try:
        link = members.make_link(membership, request.user)
    except members.NotTheirs:
        messages.error(
            request,
            _("%(name)s also belongs to teams you do not own, so only an administrator can make that link.")
            % {"name": membership.user},
        )
        return _to_team(membership.team)
    return _team_page(request, membership.team, link=link, linked=membership.user)


@never_cache
@require_POST
def team_retention(request: Request, team_id: int) -> HttpResponse:
    """Set how long the team's texts are kept; a shorter time erases, so it asks once more."""
    found = get_object_or_404(request.user.teams_as(), pk=team_id)
    _check_owner(request, found)
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return _team_page(request, found, retention=form)
    days = form.cleaned_data["days"]
    is_shorter = days is not None and (found.retention_days is None or days < found.retention_days)
    if is_shorter and request.POST.get("sure") != "1":
        return _team_page(request, found, retention=form, shorter=days)
    if set_retention(found, days, request.user):
        messages.success(request, _("Saved."))
    return _to_team(found)


def _team_page(
    request: Request,
    chosen: Team | None,
    *,
    form: forms.Form | None = None,
    retention: forms.Form | None = None,
    shorter: int | None = None,
    link: str = "",
    linked: User | None = None,
) -> HttpResponse:
    teams = list(request.user.teams_as())
    wanted = request.GET.get("team", "")
    if chosen is None and wanted:
        chosen = next((each for each in teams if str(each.pk) == wanted), None)
        if chosen is None:
            raise Http404
    if chosen is None and teams:
        chosen = teams[0]
    context = {
        "teams": teams,
        "team": chosen,
        "members": Membership.objects.filter(team=chosen).select_related("user").order_by("user__username"),
        "may_change": chosen is not None and request.user.has_role(chosen.pk, Role.OWNER),
        "roles": Role.choices,
        "form": form or MemberForm(),
        "retention": retention or RetentionForm(initial={"days": chosen and chosen.retention_days}),
        "shorter": shorter,
        "older": shorter and _older(chosen, shorter),
        "link": link,
        "linked": linked,
        "section": "team",
    }
    is_wrong = form or (retention and retention.errors)
    return render(request, "metacog/team.html", context, status=422 if is_wrong else 200)


def _older(team: Team | None, days: int) -> int:
    """Count the team's responses that are older and still have their text."""
    responses: Any = Agent._meta.get_field("responses").related_model
    before = timezone.now() - timedelta(days=days)
    count: int = responses.objects.filter(agent__team=team, received_at__lt=before, erased_at=None).count()
    return count


def _membership(request: Request, membership_id: int) -> Membership:
    seen = Membership.objects.filter(team__in=request.user.teams_as())
    membership = get_object_or_404(seen.select_related("team", "user"), pk=membership_id)
    _check_owner(request, membership.team)
    return membership


def _check_owner(request: Request, team: Team) -> None:
    if not request.user.has_role(team.pk, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can change who is in it."))


def _to_team(team: Team) -> HttpResponse:
    return redirect(f"{reverse('team')}?team={team.pk}")


def _last_owner(membership: Membership) -> str:
    return _("%(name)s is the last owner of %(team)s. Make somebody else an owner first: nothing was changed.") % {
        "name": membership.user,
        "team": membership.team,
    }
