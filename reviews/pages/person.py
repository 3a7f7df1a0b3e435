"""Who asks for a page, what they may see, and how they are refused."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext
from django_htmx.middleware import HtmxDetails

from metacog.db.prepared import written_once
from metacog.models import User
from reviews.models import HeldItem
from reviews.presentation.highlight import show


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in, which the middleware sees to."""

    user: User
    htmx: HtmxDetails


def visible_items(request: PersonRequest) -> QuerySet[HeldItem]:
    return _items([team.pk for team in request.user.teams])


def visible_item(request: PersonRequest, held_id: str) -> HeldItem | None:
    """Return a held item, read as `visible_items` are; None where there is none that this person sees."""
    return _with_id.first([team.pk for team in request.user.teams], held_id)


def visible_item_or_404(request: PersonRequest, held_id: str) -> HeldItem:
    if held := visible_item(request, held_id):
        return held
    raise Http404


def _items(teams: Any) -> QuerySet[HeldItem]:
    related = ("response__problem", "agent__team__asking", "call__outcome", "question", "terms")
    items = HeldItem.objects.select_related(*related)
    return items.filter(team__in=teams)


@written_once
def _with_id(teams: Any, public_id: Any) -> QuerySet[HeldItem]:
    return _items(teams).filter(public_id=public_id)


def number(raw: str) -> int:
    """Return a whole number as a form says it; -1 for anything else."""
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 10 else -1


def back(request: PersonRequest, otherwise: str) -> str:
    """Return the page on which a form stood that stands on several: the list of what is to do, or another by name."""
    return "to-do" if request.POST.get("back") == "to-do" else otherwise


def told_of(sentence: str, text: str, address: str) -> str:
    """Say what was done, with a link to what it was done to: the beginning of its text, escaped."""
    return format_html('{}{}<a href="{}">{}</a>', sentence, gettext(": "), address, show(Truncator(text).chars(80)))


def refused(form: BaseForm) -> int:
    """Return the status of a form that was not taken: how things stand is in its way (409), or it is out of shape."""
    return 409 if form.non_field_errors() else 422


def forbidden(request: PersonRequest) -> HttpResponse:
    return render(request, "reviews/forbidden.html", status=403)
