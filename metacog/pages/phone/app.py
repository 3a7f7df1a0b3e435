"""What makes the console an app that can be installed. Nothing of it says or keeps anything of a person or a team."""

from __future__ import annotations

import hashlib
import json

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from metacog.models import Language

PAPER = "#fbfaf8"  # tokens.css
ICONS = (("app-192", "192x192", "any"), ("app-512", "512x512", "any"), ("maskable-512", "512x512", "maskable"))
SHEETS = ("tokens.css", "console.css", "manage.css")  # of the offline page


@login_not_required
@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Tell a browser how the app is called, looks and begins (W3C's Web Application Manifest)."""
    with translation.override(_language(request)):
        found = {
            "id": "/",
            "name": "metacog",
            "short_name": "metacog",
            "description": _("Decide what your agents hold back."),
            "lang": translation.get_language(),
            "start_url": reverse("queue"),
            "scope": "/",
            "display": "standalone",
            "background_color": PAPER,
            "theme_color": PAPER,
            "icons": [
                {"src": _icon(name), "sizes": sizes, "type": "image/png", "purpose": purpose}
                for name, sizes, purpose in ICONS
            ],
            "shortcuts": [
                {"name": _("Queue"), "url": reverse("queue")},
                {"name": _("To do"), "url": reverse("to-do")},
            ],
        }
    return HttpResponse(json.dumps(found, ensure_ascii=False), content_type="application/manifest+json")


@login_not_required
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Give the service worker, with what it keeps: the page that says there is no connection, and its style sheets."""
    page = f"{reverse('offline')}?language={_language(request)}"
    kept = {
        "page": page,
        "files": [static(f"metacog/{name}") for name in SHEETS],
        "icon": _icon("app-192"),
        "badge": _icon("badge-96"),
    }
    said = f"{kept}{_offline(request).content.decode()}"
    kept["cache"] = f"offline-{hashlib.sha256(said.encode()).hexdigest()[:16]}"  # another page, another cache
    script = f"self.KEPT = {json.dumps(kept)};\nimportScripts({json.dumps(static('metacog/service_worker.js'))});\n"
    return HttpResponse(script, content_type="text/javascript; charset=utf-8")


@login_not_required
@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the page that a device keeps for when there is no connection."""
    return _offline(request)


def _offline(request: HttpRequest) -> HttpResponse:
    with translation.override(_language(request)):
        return render(None, "metacog/offline.html")  # nobody's request: it is kept on devices


def _language(request: HttpRequest) -> str:
    """Return the language of the page that asks; a browser asks for these by itself, without its cookies."""
    asked = request.GET.get("language", "")
    return asked if asked in Language.values else translation.get_language_from_request(request)


def _icon(name: str) -> str:
    return static(f"metacog/icons/{name}.png")
