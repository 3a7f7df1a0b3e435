"""Django's admin in our dress, open to whoever curates or owns a team."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from metacog.models import Role


class ConsoleSite(AdminSite):
    """The admin of everything at /admin/; what each person finds there is up to `ScopedAdmin`."""

    site_title = _("metacog admin")
    site_header = _("metacog admin")
    index_title = _("What would you like to change?")
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_authenticated and user.teams_as(Role.CURATOR).exists()

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Leave signing in to the console's own page, which is throttled."""
        if request.user.is_authenticated:
            return redirect("queue")
        after = request.GET.get("next") or reverse("admin:index")
        return redirect(f"{reverse('sign-in')}?{urlencode({'next': after})}")
