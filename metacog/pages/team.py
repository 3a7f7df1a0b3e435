"""The page about a team: who is in it, how long its texts are kept, what mail about it may hold, and its chat."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.accounts import consequences, members, tokens
from metacog.accounts.consequences import ReasonForm
from metacog.accounts.forms import MemberForm, NamesForm, RetentionForm, RoleForm, TargetForm
from metacog.accounts.notice_forms import ChannelForm, TeamNoticesForm
from metacog.accounts.retention import set_retention
from metacog.http import once
from metacog.models import Agent, Channel, MemberGroup, Membership, Notice, PersonalToken, Role, Team, User
from metacog.notices import chat, mail, notices
from metacog.pages.account import Request, no_passwords
from metacog.pages.confirming import Step, confirm, done
from metacog.pages.tokens import Place, restored, revoke_page

Trouble = Notice.Trouble

MOST_FAILING = 5


class Invitation(NamedTuple):
    """A link by which somebody sets a password, shown once."""

    link: str
    person: User


@never_cache
@require_safe
def team(request: Request) -> HttpResponse:
    """Show who is in a team; an owner adds, changes and removes members here."""
    return _team_page(request, None)


@never_cache
@require_POST
def member_add(request: Request, team_id: int) -> HttpResponse:
    """Add somebody; a new person's one-time link is shown this once."""
    found = _owned(request, team_id)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            membership, is_new = members.add_member(found, actor=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if is_new and not settings.SSO_ONLY:
                link = members.make_link(membership, request.user)
                return _team_page(request, found, invitation=Invitation(link, membership.user))
            messages.success(request, _("%(name)s was added to the team.") % {"name": membership.user})
            return _to_team(found)
    return _team_page(request, found, form=form)


@require_POST
def member_change(request: Request, membership_id: int) -> HttpResponse:
    """Give a member another role."""
    membership = _membership(request, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(_("Unknown role."), content_type="text/plain; charset=utf-8")
    try:
        if members.change_role(membership, form.cleaned_data["role"], request.user):
            messages.success(request, _("The role of %(name)s is changed.") % {"name": membership.user})
    except members.LastOwner:
        messages.error(request, _last_owner(membership))
    return _to_team(membership.team)


@never_cache
@require_safe
def member_confirm(request: Request, membership_id: int) -> HttpResponse:
    """Name what taking a member out of the team takes away; ask why."""
    return confirm(request, _removal(_membership(request, membership_id)))


def _removal(membership: Membership) -> Step:
    return Step(
        title=_("Remove %(name)s from %(team)s") % {"name": membership.user, "team": membership.team},
        whose=membership.team.name,
        consequences=consequences.of_removing(membership, timezone.now()),
        undo=_("For 30 days they can be restored with the same role."),
        button=_("Remove member"),
        action_url=reverse("member-remove", args=[membership.pk]),
        cancel_url=f"{reverse('team')}?team={membership.team_id}",
        section="team",
    )


@require_POST
def member_remove(request: Request, membership_id: int) -> HttpResponse:
    """Take a member out of the team."""
    membership = _membership(request, membership_id)
    person = membership.user.pk
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return confirm(request, _removal(membership), form)
    try:
        members.remove_member(membership, request.user, form.cleaned_data["reason"])
        told = _("%(name)s was removed from the team.") % {"name": membership.user}
        done(request, told, f"restore-member-{person}")
    except members.LastOwner:
        messages.error(request, _last_owner(membership))
    return _to_team(membership.team)


@require_POST
def member_restore(request: Request, team_id: int) -> HttpResponse:
    """Put somebody back who was taken out of the team of late."""
    found = _owned(request, team_id)
    person = request.POST.get("person", "")
    is_number = person.isascii() and person.isdigit() and len(person) < 18
    restored = members.restore_member(found, int(person), request.user) if is_number else None
    if restored:
        said = {"name": restored.user, "role": restored.get_role_display()}
        messages.success(request, _("%(name)s was restored: %(role)s.") % said)
    else:
        messages.info(
            request, _("Nobody was restored: the person is in the team already, or was removed too long ago.")
        )
    return _to_team(found)


@never_cache
@require_POST
def member_link(request: Request, membership_id: int) -> HttpResponse:
    """Make a member a new link to set a password, shown this once."""
    membership = _membership(request, membership_id)
    if settings.SSO_ONLY:
        return no_passwords(request)
    if once.is_repeated(request):
        return _to_team(membership.team)
    try:
        link = members.make_link(membership, request.user)
    except members.NotTheirs:
        messages.error(
            request,
            _("%(name)s also belongs to teams you do not own, so only an administrator can create that link.")
            % {"name": membership.user},
        )
        return _to_team(membership.team)
    return _team_page(request, membership.team, invitation=Invitation(link, membership.user))


@never_cache
@require_POST
def team_retention(request: Request, team_id: int) -> HttpResponse:
    """Set how long the team's texts are kept; a shorter time erases, so it asks once more."""
    found = _owned(request, team_id)
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


@never_cache
@require_POST
def team_notices(request: Request, team_id: int) -> HttpResponse:
    """Set what mail about the team's items may hold."""
    found = _owned(request, team_id)
    form = TeamNoticesForm(request.POST)
    if form.is_valid() and notices.set_for_team(found, request.user, **form.cleaned_data):
        messages.success(request, _("Saved."))
    return _to_team(found)


@require_POST
def team_names(request: Request, team_id: int) -> HttpResponse:
    """Set whether the team's agents are told who decided."""
    found = _owned(request, team_id)
    form = NamesForm(request.POST)
    if form.is_valid() and members.set_names_people(found, form.cleaned_data["names_people"], request.user):
        messages.success(request, _("Saved."))
    return _to_team(found)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team_second_factor(request: Request, team_id: int) -> HttpResponse:
    """Name what it takes away to require a second factor of the team, or to do so no longer, and do it for a reason."""
    found = _owned(request, team_id)
    is_on = (request.POST if request.method == "POST" else request.GET).get("on") == "1"
    form = ReasonForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return confirm(request, _requirement(found, is_on), form)
    if members.set_requires_second_factor(found, is_on, request.user, form.cleaned_data["reason"]):
        messages.success(
            request, _("A second factor is required.") if is_on else _("A second factor is no longer required.")
        )
    return _to_team(found)


def _requirement(team: Team, is_on: bool) -> Step:
    place: dict[str, Any] = {
        "whose": team.name,
        "undo": _("It can be switched back at any time."),
        "action_url": reverse("team-second-factor", args=[team.pk]),
        "cancel_url": _page_of(team),
        "section": "team",
    }
    if is_on:
        return Step(
            title=_("Require a second factor of %(team)s") % {"team": team},
            consequences=consequences.of_requiring_second_factor(team),
            button=_("Require second factor"),
            hidden={"on": "1"},
            **place,
        )
    return Step(
        title=_("Require no second factor of %(team)s") % {"team": team},
        consequences=consequences.of_requiring_none(),
        button=_("Stop requiring it"),
        hidden={"on": "0"},
        **place,
    )


@never_cache
@require_POST
def team_target(request: Request, team_id: int) -> HttpResponse:
    """Set within which time the team means to decide what is held."""
    found = _owned(request, team_id)
    form = TargetForm(request.POST)
    if not form.is_valid():
        return _team_page(request, found, target=form)
    if members.set_target(found, form.minutes, request.user):
        messages.success(request, _("Saved."))
    return _to_team(found)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def member_token_revoke(request: Request, team_id: int, token_id: int) -> HttpResponse:
    """Name what ending an access token of a member takes away, and end it for a reason."""
    found = _owned(request, team_id)
    token, url = _token_of(found, token_id), reverse("member-token-revoke", args=[team_id, token_id])
    return revoke_page(request, token, Place(url, _page_of(found), found.name, "team", found))


@require_POST
def member_token_restore(request: Request, team_id: int, token_id: int) -> HttpResponse:
    """Let an access token of a member work again."""
    found = _owned(request, team_id)
    return restored(request, _token_of(found, token_id), _page_of(found), found)


def _token_of(team: Team, token_id: int) -> PersonalToken:
    of_members = PersonalToken.objects.select_related("person").filter(person__memberships__team=team)
    return get_object_or_404(of_members, pk=token_id)


@never_cache
@require_POST
def team_channel(request: Request, team_id: int) -> HttpResponse:
    """Set the chat that is told what waits for the team."""
    found = _owned(request, team_id)
    form = ChannelForm(found, request.POST)
    if form.is_valid():
        try:
            if notices.set_channel(found, request.user, **form.cleaned_data):
                messages.success(request, _("Saved."))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _to_team(found)
    return _team_page(request, found, channel=form)


@require_POST
def channel_test(request: Request, team_id: int) -> HttpResponse:
    """Post a test message to the team's chat, and say what came of it."""
    found = _owned(request, team_id)
    channel = get_object_or_404(Channel, team=found)
    with translation.override(channel.language):
        text = _("This is a test. Notices about held items are posted here.")
    if trouble := chat.post(channel, text):
        messages.error(request, _("The test message failed: %(why)s") % {"why": Trouble(trouble).label})
    else:
        messages.success(request, _("The chat accepted the test message."))
    return _to_team(found)


@require_POST
def channel_remove(request: Request, team_id: int) -> HttpResponse:
    """Tell the team's chat nothing more."""
    found = _owned(request, team_id)
    if notices.remove_channel(found, request.user):
        messages.success(request, _("Nothing more is posted to the chat, and its address is deleted."))
    return _to_team(found)


def _team_page(
    request: Request,
    chosen: Team | None,
    *,
    form: forms.Form | None = None,
    retention: forms.Form | None = None,
    shorter: int | None = None,
    invitation: Invitation | None = None,
    **given: forms.BaseForm,
) -> HttpResponse:
    """Show the page, with what was `given` back of the forms `channel` and `target`."""
    teams = list(request.user.teams_as())
    wanted = request.GET.get("team", "")
    if chosen is None and wanted:
        chosen = next((each for each in teams if str(each.pk) == wanted), None)
        if chosen is None:
            raise Http404
    if chosen is None and teams:
        chosen = teams[0]
    is_owner = chosen is not None and request.user.has_role(chosen.pk, Role.OWNER)
    sent = Notice.objects.filter(state=Notice.State.SENT)
    context = {
        "teams": teams,
        "team": chosen,
        "members": Membership.objects.filter(team=chosen).select_related("user").order_by("user__username"),
        "may_change": is_owner,
        "groups": [
            (group, {each.pk for each in group.members.all()})
            for group in MemberGroup.objects.filter(team=chosen).prefetch_related("members")
        ],
        "has_passwords": not settings.SSO_ONLY,
        "roles": Role.choices,
        "form": form or MemberForm(),
        "retention": retention or RetentionForm(initial={"days": chosen and chosen.retention_days}),
        "shorter": shorter,
        "older": shorter and _older(chosen, shorter),
        "link": invitation and invitation.link,
        "linked": invitation and invitation.person,
        "notices": TeamNoticesForm(
            initial={name: getattr(chosen, name, False) for name in TeamNoticesForm.base_fields}
        ),
        "target": given.get("target") or TargetForm(initial={"hours": _hours(chosen)}),
        "names": NamesForm(initial={"names_people": chosen is not None and chosen.names_people}),
        "tokens": tokens.live_tokens_of(chosen) if chosen else (),
        "restorable_tokens": tokens.restorable(request.user, timezone.now()).filter(person__memberships__team=chosen)
        if is_owner and chosen
        else (),
        "channel": given.get("channel") or ChannelForm(chosen),
        "has_mail": mail.is_set_up(),
        "mailed": chosen and sent.filter(person__memberships__team=chosen).first(),
        "chatted": chosen and sent.filter(team=chosen).first(),
        "failing": _failing(chosen),
        "removed": members.removed_from(chosen, timezone.now()) if is_owner and chosen else (),
        "section": "team",
    }
    is_wrong = form or given or (retention and retention.errors)
    return render(request, "metacog/team.html", context, status=422 if is_wrong else 200)


def _hours(team: Team | None) -> Decimal | None:
    """Return the target for deciding as the form has it: 4, or 1.5."""
    return (Decimal(team.decide_within_minutes) / 60).quantize(Decimal("0.01")).normalize() + 0 if team else None


def _failing(team: Team | None) -> QuerySet[Notice]:
    """Return what did not reach members or the chat lately, latest first."""
    ours = Notice.objects.filter(Q(team=team) | Q(person__memberships__team=team)).exclude(trouble="")
    return ours.exclude(state=Notice.State.SENT).select_related("person")[:MOST_FAILING]


def _older(team: Team | None, days: int) -> int:
    """Count the team's responses that are older and still have their text."""
    responses: Any = Agent._meta.get_field("responses").related_model
    before = timezone.now() - timedelta(days=days)
    count: int = responses.objects.filter(agent__team=team, received_at__lt=before, erased_at=None).count()
    return count


@require_POST
def group_save(request: Request, team_id: int) -> HttpResponse:
    """Make a group of members, put others into it, or remove it."""
    found = _owned(request, team_id)
    name = " ".join(request.POST.get("name", "").split())
    chosen = [int(each) for each in request.POST.getlist("member") if each.isascii() and each.isdigit()]
    group = MemberGroup.objects.filter(team=found, name=name).first()
    if "remove" in request.POST:
        if group:
            members.remove_group(group, request.user)
            messages.success(request, _("The group “%(name)s” is removed.") % {"name": name})
        return _to_team(found)
    if "new" in request.POST and group:
        messages.error(request, _("A group with this name exists already: nothing was changed."))
        return _to_team(found)
    try:
        if members.save_group(found, name, chosen, request.user):
            messages.success(request, _("The group “%(name)s” is saved.") % {"name": name})
    except ValidationError:
        messages.error(request, _("Give the group a name of at most 100 characters: nothing was changed."))
    return _to_team(found)


def _owned(request: Request, team_id: int) -> Team:
    """Return a team of the person's own; 404 for a stranger, 403 for a role too low."""
    found = get_object_or_404(request.user.teams_as(), pk=team_id)
    _check_owner(request, found)
    return found


def _membership(request: Request, membership_id: int) -> Membership:
    seen = Membership.objects.filter(team__in=request.user.teams_as())
    membership = get_object_or_404(seen.select_related("team", "user"), pk=membership_id)
    _check_owner(request, membership.team)
    return membership


def _check_owner(request: Request, team: Team) -> None:
    if not request.user.has_role(team.pk, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can change its members."))


def _to_team(team: Team) -> HttpResponse:
    return redirect(_page_of(team))


def _page_of(team: Team) -> str:
    return f"{reverse('team')}?team={team.pk}"


def _last_owner(membership: Membership) -> str:
    return _("%(name)s is the last owner of %(team)s. Make somebody else an owner first: nothing was changed.") % {
        "name": membership.user,
        "team": membership.team,
    }
