"""What chats send: who pressed what. Outside of the API of agents; the chat's own signature or token allows it."""

from __future__ import annotations

import logging
import secrets
import time

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from metacog.accounts import keys
from metacog.chats.setup import CHATS
from metacog.chats.shapes import Refused
from metacog.models import ChatApp
from reviews.pages.chats import presses

log = logging.getLogger(__name__)

_NOBODYS = secrets.token_urlsafe(32)  # takes the same work as a secret that a team has


@csrf_exempt  # no cookie plays a part: what the chat signed, or the token it sends, is what allows it
@login_not_required
@never_cache
@require_POST
def incoming(request: HttpRequest, team_id: int, kind: str) -> HttpResponse:
    """Do what somebody pressed in a team's chat. What is not authentic is 401, whatever ails it."""
    chat = CHATS.get(kind)
    if chat is None:
        return HttpResponse(status=404)
    if len(request.body) > settings.MAX_BODY_BYTES:
        return HttpResponse(status=413)
    app = ChatApp.objects.select_related("team").filter(team=team_id, kind=kind).first()
    secret = (keys.decrypted(app.secret_encrypted) if app else None) or _NOBODYS
    is_authentic = chat.is_authentic(secret, request.headers, request.body, time.time())
    if app is None or not is_authentic:
        return HttpResponse(status=401)
    press = chat.press(request.body)
    if press is None:
        return JsonResponse({})  # not for us: whoever sent it must not send it again
    try:
        return JsonResponse(chat.reply(app, press, presses.answer(app, press)))
    except Refused as refused:
        log.warning("A reply to %s could not be shown: %s", app.kind, refused.trouble)
        return JsonResponse({})
