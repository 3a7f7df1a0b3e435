"""The page on which an owner sets who is asked about held items; it shows every member who is on call."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from metacog.models import PersonNotices, PushDevice, Role, User
from metacog.notices import mail
from metacog.pages.teams.page import tabs
from reviews.asking import settings, words
from reviews.asking.forms import KINDS, AskingForm
from reviews.asking.rota import Rota
from reviews.asking.settings import Members, Settings
from reviews.models import TeamAsking
from reviews.outbox.notification_texts import at
from reviews.pages.person import PersonRequest


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def asking(request: PersonRequest, team_id: int) -> HttpResponse:
    """Show who is on call and who is asked; an owner changes all of it with one button."""
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    is_owner, now = request.user.has_role(team.pk, Role.OWNER), timezone.now()
    row = TeamAsking.objects.filter(team=team).first()
    given = row.settings if row else {}
    form = None
    if request.method == "POST":
        if not is_owner:
            raise PermissionDenied(_("Only owners of the team can change who is asked."))
        form = AskingForm(team, given, now, request.POST)
        if form.is_valid:
            if settings.save(team, request.user, form.given, now):
                messages.success(request, _("Saved."))
            return redirect("asking", team.pk)
    elif is_owner:
        form = AskingForm(team, given, now)
    members, rota = Members(team.pk), Settings.of(row).rota
    able = members.able
    names = {key: str(person) for key, person in able.items()}
    unmet = _Unmet(members, rota, now) if row else None
    on_call = unmet.people(key for key in rota.people if key in able) if unmet else None
    routes = [
        (words.route_in_words(each, KINDS, names), unmet and unmet.of(each["to"])) for each in given.get("routes", ())
    ]
    steps = [
        (each["after"], words.recipient(each["to"], names), unmet and unmet.of(each["to"]))
        for each in given.get("steps", ())
    ]
    for route, told in zip(form.routes.forms if form else (), routes, strict=False):  # and the one to fill in
        route.told, route.unmet = told
    for step, told_ in zip(form.steps.forms if form else (), steps, strict=False):
        step.unmet = told_[-1]
    is_wrong = request.method == "POST"
    context = {
        "team": team,
        "tabs": tabs(team, request.user, "asking"),
        "form": form,
        "is_wrong": is_wrong,
        "routes": routes,
        "steps": steps,
        "unmet_on_call": on_call,
        "has_mail": mail.is_set_up(),
        **_on_call(row, able),
    }
    return render(request, "reviews/asking.html", context, status=422 if is_wrong else 200)


def _on_call(row: TeamAsking | None, able: dict[int, User]) -> dict[str, Any]:
    """Return who is on call now and next, and until when, where the rota is kept."""
    rota = Settings.of(row).rota
    turn = rota.turn(timezone.now(), able)
    after = rota.person(turn.until, able) if turn.until else None
    with timezone.override(rota.zone):
        until = at(turn.until) if turn.until else ""
    return {
        "on_call": able.get(turn.person or 0),
        "until": until,
        "after": able.get(after or 0),
    }


class _Shown(NamedTuple):
    is_nobody: bool  # nobody of it can decide now
    people: list[User]  # whom no notice reaches


class _Unmet:
    """What is wrong with recipients: each, and each person, is named once, where the page names them first."""

    def __init__(self, members: Members, rota: Rota, now: datetime) -> None:
        self.members, self.rota, self.now = members, rota, now
        self.unreached = {person.pk: person for person in _unreached(members.able)}
        self.seen: set[str] = set()

    def of(self, to: str) -> _Shown | None:
        if to in self.seen:
            return None
        self.seen.add(to)
        named = self.people(self.members.of(to, self.rota, self.now))
        return named._replace(is_nobody=self.members.has_nobody(to, self.rota, self.now))

    def people(self, keys: Iterable[int]) -> _Shown:
        return _Shown(False, [self.unreached.pop(key) for key in keys if key in self.unreached])


def _unreached(able: dict[int, User]) -> list[User]:
    """Return whom no notice of this reaches, neither by mail nor on a device."""
    chosen = dict(PersonNotices.objects.filter(person__in=able).values_list("person", "mentions"))
    devices = PushDevice.objects.filter(person__in=able, person__push__mentions=True)
    reached = set(devices.values_list("person", flat=True))
    if mail.is_set_up():
        reached |= {key for key, person in able.items() if person.email and chosen.get(key, True)}
    return [person for key, person in able.items() if key not in reached]
