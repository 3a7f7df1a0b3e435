"""What a team's owners set: on all tabs of its page with one button, and what asks for a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from metacog.accounts import consequences, members
from metacog.accounts.consequences import ReasonForm
from metacog.accounts.forms import RolesForm, TeamForm
from metacog.accounts.notice_forms import ChannelForm
from metacog.accounts.retention import set_retention
from metacog.models import Channel, Notice, Team, User
from metacog.notices import chat, notices
from metacog.pages.account import Request
from metacog.pages.confirming import Step, confirm
from metacog.pages.teams.page import (
    DATA,
    DECIDING,
    NOTICES,
    PEOPLE,
    TABS,
    Posted,
    has_older,
    last_owner,
    owned,
    page_of,
    team_page,
    to_team,
)

Trouble = Notice.Trouble


@never_cache
@require_POST
def team_settings(request: Request, team_id: int) -> HttpResponse:
    """Save what was changed on the tabs, all of it or nothing; a shorter retention erases, so it asks once more."""
    found = owned(request, team_id)
    form, channel = TeamForm(found, request.POST), ChannelForm(found, request.POST)
    roles = RolesForm(members.of_team(found), request.POST)
    if not form.is_valid() & channel.is_valid() & roles.is_valid():
        return team_page(request, found, posted=Posted(form, channel, roles))
    days = form.wanted(form.stored)["days"]
    is_shorter = days is not None and (found.retention_days is None or days < found.retention_days)
    if is_shorter and request.POST.get("sure") != "1" and has_older(found, days):
        return team_page(request, found, posted=Posted(form, channel, roles, days))
    changed: list[str] = []
    try:
        changed = _save(found, request.user, form, channel, roles)
    except members.LastOwner as error:
        roles.add_error(str(error.membership.pk), last_owner(error.membership))
    except ValidationError as error:
        channel.add_error(None, error)
    if roles.errors or channel.errors:
        return team_page(request, found, posted=Posted(form, channel, roles))
    if changed:
        messages.success(request, _("Saved."))
    if roles.gone:
        told = ngettext(
            "%(n)s person whose role you changed is no longer a member: nothing was changed for them.",
            "%(n)s people whose roles you changed are no longer members: nothing was changed for them.",
            roles.gone,
        )
        messages.warning(request, told % {"n": roles.gone})
    shown = request.POST.get("tab", "")  # only a script knows which one somebody was on
    return to_team(found, shown if shown in TABS else next(iter(changed), ""))


def _save(team: Team, actor: User, form: TeamForm, channel: ChannelForm, roles: RolesForm) -> list[str]:
    """Put it in force; return the tabs on which something changed. ValidationError of the chat's address; LastOwner."""
    wanted, of_chat = form.wanted(form.stored), channel.wanted(channel.stored)
    minutes = int(wanted["hours"] * 60) if wanted["hours"] != form.stored["hours"] else team.decide_within_minutes
    of_mail = {name: wanted[name] for name in ("mail_links", "mail_texts")}
    with transaction.atomic():
        changed = [
            (DECIDING, members.set_target(team, minutes, actor)),
            (NOTICES, notices.set_for_team(team, actor, **of_mail)),
            (NOTICES, channel.is_filled and notices.set_channel(team, actor, **of_chat)),
            (DATA, set_retention(team, wanted["days"], actor)),
            (DATA, members.set_names_people(team, wanted["names_people"], actor)),
            *((PEOPLE, members.change_role(each, role, actor)) for each, role in roles.changed),
        ]
    return [tab for tab, is_changed in changed if is_changed]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def team_second_factor(request: Request, team_id: int) -> HttpResponse:
    """Name what it takes away to require a second factor of the team, or to do so no longer, and do it for a reason."""
    found = owned(request, team_id)
    is_on = (request.POST if request.method == "POST" else request.GET).get("on") == "1"
    form = ReasonForm(request.POST) if request.method == "POST" else None
    if form is None or not form.is_valid():
        return confirm(request, _requirement(found, is_on), form)
    if members.set_requires_second_factor(found, is_on, request.user, form.cleaned_data["reason"]):
        messages.success(
            request, _("A second factor is required.") if is_on else _("A second factor is no longer required.")
        )
    return to_team(found)


def _requirement(team: Team, is_on: bool) -> Step:
    place: dict[str, Any] = {
        "whose": team.name,
        "undo": _("It can be switched back at any time."),
        "action_url": reverse("team-second-factor", args=[team.pk]),
        "cancel_url": page_of(team),
        "section": "team",
    }
    if is_on:
        return Step(
            title=_("Require a second factor in %(team)s") % {"team": team},
            consequences=consequences.of_requiring_second_factor(team),
            button=_("Require second factor"),
            hidden={"on": "1"},
            **place,
        )
    return Step(
        title=_("Stop requiring a second factor in %(team)s") % {"team": team},
        consequences=consequences.of_requiring_none(),
        button=_("Stop requiring it"),
        hidden={"on": "0"},
        **place,
    )


@require_POST
def channel_test(request: Request, team_id: int) -> HttpResponse:
    """Post a test message to the team's chat, and say what came of it."""
    found = owned(request, team_id)
    channel = get_object_or_404(Channel, team=found)
    with translation.override(channel.language):
        text = _("This is a test. Notices about held items are posted here.")
    if trouble := chat.post(channel, text):
        messages.error(request, _("The test message could not be sent: %(why)s") % {"why": Trouble(trouble).label})
    else:
        messages.success(request, _("The chat accepted the test message."))
    return to_team(found, NOTICES)


@require_POST
def channel_remove(request: Request, team_id: int) -> HttpResponse:
    """Tell the team's chat nothing more."""
    found = owned(request, team_id)
    if notices.remove_channel(found, request.user):
        messages.success(request, _("Nothing more is posted to the chat, and its address is deleted."))
    return to_team(found, NOTICES)
