"""Pages about people, teams and agents: signing in, preferences, the team, agents and their keys."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.views.decorators.http import require_POST

sign_in = LoginView.as_view(redirect_authenticated_user=True)
sign_out = LogoutView.as_view()
set_password = login_not_required(
    PasswordResetConfirmView.as_view(post_reset_login=True, success_url=reverse_lazy("queue"))
)


@login_not_required
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=204)


def preferences(request: HttpRequest) -> HttpResponse:
    return render(request, "metacog/preferences.html")


def agents(request: HttpRequest) -> HttpResponse:
    return render(request, "metacog/agents.html")


def agent_new(request: HttpRequest) -> HttpResponse:
    return render(request, "metacog/agent_new.html")


def agent(request: HttpRequest, agent_id: str) -> HttpResponse:
    return render(request, "metacog/agent.html")


@require_POST
def agent_rotate(request: HttpRequest, agent_id: str) -> HttpResponse:
    return HttpResponse(status=204)


@require_POST
def agent_revoke(request: HttpRequest, agent_id: str) -> HttpResponse:
    return HttpResponse(status=204)


@require_POST
def agent_switch(request: HttpRequest, agent_id: str) -> HttpResponse:
    return HttpResponse(status=204)


def team(request: HttpRequest) -> HttpResponse:
    return render(request, "metacog/team.html")


@require_POST
def member_add(request: HttpRequest, team_id: int) -> HttpResponse:
    return HttpResponse(status=204)


@require_POST
def member_change(request: HttpRequest, membership_id: int) -> HttpResponse:
    return HttpResponse(status=204)


@require_POST
def member_remove(request: HttpRequest, membership_id: int) -> HttpResponse:
    return HttpResponse(status=204)


@require_POST
def member_link(request: HttpRequest, membership_id: int) -> HttpResponse:
    return HttpResponse(status=204)


@login_not_required
def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    return HttpResponse("Too many attempts. Try again later.", status=429)


@login_not_required
def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    return HttpResponse("This form was too old. Nothing was saved.", status=403)
