"""Which person a chat user is: opening a link shows, posting says so, and either side takes it back."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from metacog.chats import setup
from metacog.models import ChatUser
from metacog.pages.account import Request


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: Request, token: str) -> HttpResponse:
    """Ask whoever is signed in whether they are a chat user, and have that user decide as them."""
    link = setup.read_link(token)
    if link is None or not request.user.teams_as().filter(pk=link.app.team_id).exists():
        raise Http404
    context = {"link": link, "token": token, "section": "preferences"}
    if request.method != "POST":
        return render(request, "reviews/chat_connect.html", context)
    try:
        setup.connect(link, request.user)
    except setup.Taken:
        return render(request, "reviews/chat_connect.html", {**context, "is_taken": True}, status=409)
    messages.success(request, _("You decide in %(chat)s as yourself from now on.") % {"chat": link.app})
    return redirect("preferences")


@require_POST
def disconnect(request: Request, user_id: int) -> HttpResponse:
    """Have a chat user decide as the person who is signed in no more."""
    mine = ChatUser.objects.select_related("app__team", "person").filter(person=request.user)
    setup.disconnect(get_object_or_404(mine, pk=user_id), request.user)
    messages.success(request, _("The chat user is disconnected."))
    return redirect("preferences")
