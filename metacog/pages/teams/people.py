"""Who is in a team, in which groups, and with which access tokens."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog.accounts import consequences, members
from metacog.accounts.consequences import ReasonForm
from metacog.accounts.forms import MemberForm
from metacog.http import once
from metacog.models import MemberGroup, Membership, PersonalToken, Team
from metacog.pages.account import Request, no_passwords
from metacog.pages.confirming import Step, confirm, done
from metacog.pages.teams.page import Invitation, check_owner, last_owner, owned, page_of, team_page, to_team
from metacog.pages.tokens import Place, restored, revoke_page


@never_cache
@require_POST
def member_add(request: Request, team_id: int) -> HttpResponse:
    """Add somebody; a new person's one-time link is shown this once."""
    found = owned(request, team_id)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            membership, is_new = members.add_member(found, actor=request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            if is_new and not settings.SSO_ONLY:
                link = members.make_link(membership, request.user)
                return team_page(request, found, invitation=Invitation(link, membership.user))
            messages.success(request, _("%(name)s was added to the team.") % {"name": membership.user})
            return to_team(found)
    return team_page(request, found, form=form)


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
        messages.error(request, last_owner(membership))
    return to_team(membership.team)


@require_POST
def member_restore(request: Request, team_id: int) -> HttpResponse:
    """Put somebody back who was taken out of the team of late."""
    found = owned(request, team_id)
    person = request.POST.get("person", "")
    is_number = person.isascii() and person.isdigit() and len(person) < 18
    restored = members.restore_member(found, int(person), request.user) if is_number else None
    if restored:
        said = {"name": restored.user, "role": restored.get_role_display()}
        messages.success(request, _("%(name)s was restored: %(role)s.") % said)
    else:
        messages.info(
            request, _("Nobody was restored: the person is already in the team, or was removed too long ago.")
        )
    return to_team(found)


@never_cache
@require_POST
def member_link(request: Request, membership_id: int) -> HttpResponse:
    """Make a member a new link to set a password, shown this once."""
    membership = _membership(request, membership_id)
    if settings.SSO_ONLY:
        return no_passwords(request)
    if once.is_repeated(request):
        return to_team(membership.team)
    try:
        link = members.make_link(membership, request.user)
    except members.NotTheirs:
        messages.error(
            request,
            _("%(name)s also belongs to teams you do not own, so only an administrator can create that link.")
            % {"name": membership.user},
        )
        return to_team(membership.team)
    return team_page(request, membership.team, invitation=Invitation(link, membership.user))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def member_token_revoke(request: Request, team_id: int, token_id: int) -> HttpResponse:
    """Name what ending an access token of a member takes away, and end it for a reason."""
    found = owned(request, team_id)
    token, url = _token_of(found, token_id), reverse("member-token-revoke", args=[team_id, token_id])
    return revoke_page(request, token, Place(url, page_of(found), found.name, "team", found))


@require_POST
def member_token_restore(request: Request, team_id: int, token_id: int) -> HttpResponse:
    """Let an access token of a member work again."""
    found = owned(request, team_id)
    return restored(request, _token_of(found, token_id), page_of(found), found)


def _token_of(team: Team, token_id: int) -> PersonalToken:
    of_members = PersonalToken.objects.select_related("person").filter(person__memberships__team=team)
    return get_object_or_404(of_members, pk=token_id)


@require_POST
def group_save(request: Request, team_id: int) -> HttpResponse:
    """Make a group of members, put others into it, or remove it."""
    found = owned(request, team_id)
    name = " ".join(request.POST.get("name", "").split())
    chosen = [int(each) for each in request.POST.getlist("member") if each.isascii() and each.isdigit()]
    group = MemberGroup.objects.filter(team=found, name=name).first()
    if "remove" in request.POST:
        if group:
            members.remove_group(group, request.user)
            messages.success(request, _("The group “%(name)s” is removed.") % {"name": name})
        return to_team(found)
    if "new" in request.POST and group:
        messages.error(request, _("A group with this name already exists. Nothing was changed."))
        return to_team(found)
    try:
        if members.save_group(found, name, chosen, request.user):
            messages.success(request, _("The group “%(name)s” is saved.") % {"name": name})
    except ValidationError:
        messages.error(request, _("Nothing was changed. Give the group a name of at most 100 characters."))
    return to_team(found)


def _membership(request: Request, membership_id: int) -> Membership:
    seen = Membership.objects.filter(team__in=request.user.teams_as())
    membership = get_object_or_404(seen.select_related("team", "user"), pk=membership_id)
    check_owner(request, membership.team)
    return membership
