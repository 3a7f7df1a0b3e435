"""The page on which an owner sets up a chat in which the team decides."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from metacog.chats import setup
from metacog.chats.forms import ChatForm
from metacog.chats.shapes import Card, Refused
from metacog.chats.slack import manifest
from metacog.models import ChatApp, ChatUser, Role, Team
from metacog.notices.chat import inert
from metacog.pages.account import Request
from reviews.chats import cards
from reviews.models import ChatCard

Kind, Trouble = ChatApp.Kind, ChatApp.Trouble


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def chat(request: Request, team_id: int, kind: str) -> HttpResponse:
    """Show how a chat is set up, and set it up."""
    team = _owned(request, team_id, kind)
    app = ChatApp.objects.filter(team=team, kind=kind).first()
    if request.method != "POST":
        return _page(request, team, kind, app, ChatForm(kind, app))
    form = ChatForm(kind, app, request.POST)
    if not form.is_valid():
        return _page(request, team, kind, app, form, status=422)
    saved, changed = setup.save(team, kind, request.user, setup.Entered(**form.cleaned_data))
    if changed:
        messages.success(request, _("Saved."))
        if {"texts", "language"} & set(changed):
            cards.show_anew(saved)
        _introduce(request, saved)
    return redirect("chat", team.pk, kind)


@require_POST
def test(request: Request, team_id: int, kind: str) -> HttpResponse:
    """Post a test message to the channel, and say what came of it."""
    team = _owned(request, team_id, kind)
    app = get_object_or_404(ChatApp.objects.select_related("team"), team=team, kind=kind)
    if _introduce(request, app):
        with translation.override(app.language):
            card = Card(_("metacog: test"), [inert(_("This is a test. Held items are posted here to be decided."))])
        try:
            setup.CHATS[kind].send(app, card)
        except Refused as refused:
            _failed(request, app, refused)
        else:
            setup.works(app)
            messages.success(request, _("The chat accepted the test message."))
    return redirect("chat", team.pk, kind)


@require_POST
def remove(request: Request, team_id: int, kind: str) -> HttpResponse:
    """Post no more, and forget token, secret and who is whom there."""
    team = _owned(request, team_id, kind)
    app = get_object_or_404(ChatApp.objects.select_related("team"), team=team, kind=kind)
    try:
        setup.CHATS[kind].leave(app)
    except Refused:
        messages.info(request, _("The chat could not be notified. Anything it still sends is refused."))
    setup.remove(app, request.user)
    messages.success(request, _("Nothing more is posted to %(chat)s.") % {"chat": app})
    return redirect("chat", team.pk, kind)


@require_POST
def disconnect(request: Request, team_id: int, kind: str, user_id: int) -> HttpResponse:
    """Have a chat user decide as a member no more."""
    team = _owned(request, team_id, kind)
    users = ChatUser.objects.select_related("app__team", "person").filter(app__team=team, app__kind=kind)
    setup.disconnect(get_object_or_404(users, pk=user_id), request.user)
    messages.success(request, _("The chat user is disconnected."))
    return redirect("chat", team.pk, kind)


def _introduce(request: Request, app: ChatApp) -> bool:
    """Ask the chat what it calls the app, and say so where it does not answer."""
    try:
        name = setup.CHATS[app.kind].introduce(app, setup.incoming_url(app.team_id, app.kind))
    except Refused as refused:
        _failed(request, app, refused)
        return False
    setup.works(app, name=name)
    return True


def _failed(request: Request, app: ChatApp, refused: Refused) -> None:
    ChatApp.objects.filter(pk=app.pk).update(trouble=refused.trouble)
    said = {"chat": app, "why": Trouble(refused.trouble).label}
    messages.error(request, _("%(chat)s did not accept that: %(why)s") % said)


def _owned(request: Request, team_id: int, kind: str) -> Team:
    """Return a team of the person's own; 404 for a stranger, 403 for a role too low."""
    if kind not in Kind.values:
        raise Http404
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    if not request.user.has_role(team.pk, Role.OWNER):
        raise PermissionDenied(_("Only owners of the team can set up its chats."))
    return team


def _page(
    request: Request, team: Team, kind: str, app: ChatApp | None, form: forms.BaseForm, status: int = 200
) -> HttpResponse:
    url = setup.incoming_url(team.pk, kind)
    context: dict[str, Any] = {
        "team": team,
        "kind": kind,
        "title": Kind(kind).label,
        "app": app,
        "form": form,
        "incoming_url": url,
        "is_reachable": settings.PUBLIC_URL.startswith("https://"),
        "new_app_url": _new_app_url(url) if kind == Kind.SLACK else "",
        "users": ChatUser.objects.filter(app=app).select_related("person") if app else (),
        "given_up": ChatCard.objects.filter(app=app, is_over=True).exclude(trouble="").count() if app else 0,
        "section": "team",
    }
    return render(request, "reviews/chat.html", context, status=status)


def _new_app_url(incoming_url: str) -> str:
    """Return where Slack makes an app of our manifest, with this installation's address in it."""
    return "https://api.slack.com/apps?" + urlencode(
        {"new_app": "1", "manifest_json": json.dumps(manifest(incoming_url))}
    )
