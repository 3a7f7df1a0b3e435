"""The team's page in tabs: its people, its settings, and what hangs on it. All tabs come at once, and show one part."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from metacog.accounts import members, tokens
from metacog.accounts.forms import MemberForm, RolesForm, TeamForm
from metacog.accounts.notice_forms import ChannelForm
from metacog.models import Agent, MemberGroup, Membership, Notice, Role, Team, User
from metacog.notices import mail
from metacog.pages.account import Request

MOST_FAILING = 5
PEOPLE, DECIDING, NOTICES, WEBHOOKS, DATA = "people", "deciding", "notices", "webhooks", "data"
TABS: dict[str, Promise] = {
    PEOPLE: gettext_lazy("People"),
    DECIDING: gettext_lazy("Deciding"),
    NOTICES: gettext_lazy("Notices and chat"),
    WEBHOOKS: gettext_lazy("Webhooks"),
    DATA: gettext_lazy("Data"),
}
OF_OWNERS = (NOTICES, WEBHOOKS)
# Pages of their own, beside the tabs.
PAGES: dict[str, Promise] = {"asking": gettext_lazy("Who is asked"), "team-rules": gettext_lazy("Rules on tool calls")}


class Invitation(NamedTuple):
    """A link by which somebody sets a password, shown once."""

    link: str
    person: User


class Tab(NamedTuple):
    """One of the links at the top of the page."""

    name: str
    title: str | Promise
    url: str
    current: str = ""  # what `aria-current` says
    is_wrong: bool = False


class Posted(NamedTuple):
    """The settings as they were sent, to be corrected or confirmed."""

    form: TeamForm
    channel: ChannelForm
    roles: RolesForm
    shorter: int | None = None  # days after which texts would be erased, once that is confirmed

    @property
    def wrong(self) -> list[str]:
        """Return the tabs on which something is to be corrected, in their order."""
        return list(dict.fromkeys(tab for tab, _form, _name in self._faults()))

    def focus(self) -> None:
        """Begin at what is to be corrected first, which the Save at the foot of the page may cover otherwise."""
        for _tab, form, name in self._faults():
            if name in form.fields:
                form.fields[name].widget.attrs["autofocus"] = True
                return

    def _faults(self) -> list[tuple[str, forms.BaseForm, str]]:
        found: list[tuple[str, forms.BaseForm, str]] = [(tab_of(name), self.form, name) for name in self.form.errors]
        found += [(NOTICES, self.channel, name) for name in self.channel.errors]
        found += [(PEOPLE, self.roles, name) for name in self.roles.errors]
        return sorted(found, key=lambda each: list(TABS).index(each[0]))


def _shown(team: Team, person: User) -> list[str]:
    return [name for name in TABS if name not in OF_OWNERS or person.has_role(team.pk, Role.OWNER)]


def tab_of(field: str) -> str:
    """Return on which tab a field of the settings stands."""
    return {"hours": DECIDING, "days": DATA, "names_people": DATA}.get(field, NOTICES)


def tabs(team: Team, person: User, here: str, wrong: Collection[str] = ()) -> list[Tab]:
    """Return the links to the parts of a team's page, and to the pages beside it, as from `here`, one of them."""
    shown = _shown(team, person)
    found = [
        Tab(
            name,
            TABS[name],
            f"#tab-{name}" if here in TABS else page_of(team, name),
            "true" if name == here else "",
            name in wrong,
        )
        for name in shown
    ]
    beside = [(name, title, reverse(name, args=[team.pk])) for name, title in PAGES.items()]
    return found + [Tab(name, title, url, "page" if name == here else "") for name, title, url in beside]


@never_cache
@require_safe
def team(request: Request) -> HttpResponse:
    """Show who is in a team and what is set of it; its owners change both here."""
    return team_page(request, None)


def team_page(
    request: Request,
    chosen: Team | None,
    *,
    form: forms.Form | None = None,
    posted: Posted | None = None,
    invitation: Invitation | None = None,
) -> HttpResponse:
    """Show the page of the team that is chosen, else of the address's, else of the person's first with agents."""
    teams = request.user.teams
    wanted = request.GET.get("team", "")
    if chosen is None and wanted:
        chosen = next((each for each in teams if str(each.pk) == wanted), None)
        if chosen is None:
            raise Http404
    chosen = chosen or request.user.team_shown()
    context: dict[str, Any] = {"teams": teams, "team": chosen, "section": "team", "pills_url": reverse("team")}
    if chosen:
        context |= _of_team(request, chosen, posted)
        context |= {"form": form or MemberForm(), "link": invitation and invitation.link}
        context["linked"] = invitation and invitation.person
    is_wrong = form or (posted and posted.wrong)
    return render(request, "metacog/team.html", context, status=422 if is_wrong else 200)


def _of_team(request: Request, team: Team, posted: Posted | None) -> dict[str, Any]:
    is_owner, now = request.user.has_role(team.pk, Role.OWNER), timezone.now()
    sent = Notice.objects.filter(state=Notice.State.SENT)
    wrong = posted.wrong if posted else []
    if posted:
        posted.focus()
    shorter = posted.shorter if posted else None
    here = next(iter(wrong), DATA if shorter else request.GET.get("tab", ""))
    here = here if here in _shown(team, request.user) else PEOPLE
    shown = tabs(team, request.user, here, wrong)
    roles = posted.roles if posted else RolesForm(members.of_team(team))
    return {
        "tabs": shown,
        "tab": here,
        "wrong": [each for each in shown if each.is_wrong],
        "members": [member for member, _role in roles.rows],
        "member_rows": roles.rows,
        "may_change": is_owner,
        "groups": [
            (group, {each.pk for each in group.members.all()})
            for group in MemberGroup.objects.filter(team=team).prefetch_related("members")
        ],
        "has_passwords": not settings.SSO_ONLY,
        "settings": posted.form if posted else TeamForm(team),
        "channel": posted.channel if posted else ChannelForm(team),
        "is_posted": posted is not None,
        "shorter": shorter,
        "older": shorter and _older(team, shorter),
        "tokens": tokens.live_tokens_of(team),
        "restorable_tokens": tokens.restorable(request.user, now).filter(person__memberships__team=team)
        if is_owner
        else (),
        "has_mail": mail.is_set_up(),
        "mailed": sent.filter(person__memberships__team=team).first(),
        "chatted": sent.filter(team=team).first(),
        "failing": _failing(team),
        "removed": members.removed_from(team, now) if is_owner else (),
    }


def _failing(team: Team) -> QuerySet[Notice]:
    """Return what did not reach members or the chat lately, latest first."""
    ours = Notice.objects.filter(Q(team=team) | Q(person__memberships__team=team)).exclude(trouble="")
    return ours.exclude(state=Notice.State.SENT).select_related("person")[:MOST_FAILING]


def _older(team: Team, days: int) -> int:
    """Count the team's responses that are older and still have their text."""
    responses: Any = Agent._meta.get_field("responses").related_model
    before = timezone.now() - timedelta(days=days)
    count: int = responses.objects.filter(agent__team=team, received_at__lt=before, erased_at=None).count()
    return count


def has_older(team: Team, days: int) -> bool:
    """Tell whether any text may be older: a response, or in a team that is as old something else."""
    return bool(_older(team, days)) or team.created_at < timezone.now() - timedelta(days=days)


def owned(request: Request, team_id: int) -> Team:
    """Return a team of the person's own; 404 for a stranger, 403 for a role too low."""
    found = get_object_or_404(request.user.teams_as(), pk=team_id)
    check_owner(request, found)
    return found


def check_owner(request: Request, team: Team) -> None:
    if not request.user.has_role(team.pk, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can change its members."))


def last_owner(membership: Membership) -> str:
    return _("%(name)s is the last owner of %(team)s. Make somebody else an owner first: nothing was changed.") % {
        "name": membership.user,
        "team": membership.team,
    }


def to_team(team: Team, tab: str = "") -> HttpResponse:
    return redirect(page_of(team, tab))


def page_of(team: Team, tab: str = "") -> str:
    """Return the address of a team's page; of one of its tabs."""
    return f"{reverse('team')}?team={team.pk}{f'&tab={tab}' if tab else ''}"
