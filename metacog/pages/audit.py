"""The audit page: what happened in a person's teams, filtered, newest first; and the same as a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_safe

from metacog.accounts.forms import SIGNALS
from metacog.audit import chain, log, words
from metacog.audit.log import Events, Filters, Place
from metacog.models import Agent, AuditEvent, User
from metacog.pages.agent_choice import Choice, choice
from metacog.pages.unknown_filters import unknown_filters

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE = re.compile(r"([0-9]{1,17})-([0-9]{1,18})", re.ASCII)


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in, which the middleware sees to."""

    user: User


class FilterForm(forms.Form):
    """The page's address as a form. What cannot be read is said beside its field, and does not narrow."""

    use_required_attribute = False

    agent = forms.ChoiceField(label=_("Agent"), required=False)
    action = forms.CharField(
        label=_("Action"),
        max_length=40,
        required=False,
        widget=forms.TextInput(attrs={"list": "actions", "autocomplete": "off", "placeholder": "chat-held"}),
    )
    actor = forms.ChoiceField(
        label=_("Done by"), choices=[("", _("Anybody")), *AuditEvent.Actor.choices], required=False
    )
    object = forms.CharField(
        label=_("Id"),
        max_length=60,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "held_…"}),
    )
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))
    until = forms.DateField(label=_("To"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))

    def __init__(self, *args: Any, agents: Choice, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("Any")), *((agent.public_id, agents.name_of(agent)) for agent in agents.named)]
        self.fields["agent"].choices = choices  # type: ignore[attr-defined]  # it is a ChoiceField

    def clean_since(self) -> datetime | None:
        return self._moment("since")

    def clean_until(self) -> datetime | None:
        return self._moment("until", end=True)

    def _moment(self, name: str, *, end: bool = False) -> datetime | None:
        """Read a day as the person counts days."""
        day = self.cleaned_data[name]
        try:
            return log.moment(str(day), timezone.get_current_timezone(), end=end) if day else None
        except ValueError:  # the last and the first day there are
            raise forms.ValidationError(_("Enter a valid date.")) from None

    def filters(self) -> Filters:
        self.is_valid()
        told = self.cleaned_data
        return Filters(
            agent=told.get("agent", ""),
            action=told.get("action", ""),
            actor=told.get("actor", ""),
            object_id=told.get("object", ""),
            since=told.get("since"),
            until=told.get("until"),
        )


@require_safe
def audit(request: PersonRequest) -> HttpResponse:
    """Show what happened."""
    form, events, agents, unknown = _asked(request)
    rows, following = log.page(events, _place(request.GET.get("before", "")))
    here = {name: request.GET[name] for name in form.fields if form.cleaned_data.get(name)}
    query = urlencode(here)
    if following:
        here["before"] = f"{(following[0] - _EPOCH) // timedelta(microseconds=1)}-{following[1]}"
    context = {
        "form": form,
        "choice": agents,
        "rows": [_row(event) for event in rows],
        "actions": words.ACTIONS,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "unknown_filters": unknown,
        "is_later_page": "before" in request.GET,
        "latest_query": query,
        "next_query": urlencode(here) if following else "",
        "sealed_at": (latest := chain.latest_seal()) and latest.sealed_at,
        "teams": len({event.team_id for event in rows}),
    }
    return render(request, "metacog/audit.html", context)


@require_safe
def export(request: PersonRequest) -> StreamingHttpResponse:
    """Send the same events as JSON Lines, oldest first, as one file."""
    form, events, _agents, unknown = _asked(request)
    if form.errors or unknown:  # a file has no place to say that it is not what was asked for
        raise Http404
    name = f"audit-{timezone.now():%Y-%m-%d}.jsonl"
    return StreamingHttpResponse(
        log.lines(events),
        content_type="application/jsonl; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def _asked(request: PersonRequest) -> tuple[FilterForm, Sequence[Events], Choice, list[str]]:
    """Return the form as it was sent, the events it asks for among those the person may see, their agents, and what
    of it is not known, a sentence each.
    """
    ids = list(request.user.teams_as().values_list("pk", flat=True))
    # What belongs to no team, such as passwords and the first owner, is for superusers.
    teams = None if request.user.is_superuser else ids
    agents = Agent.objects.filter(team__in=ids).order_by("name", "pk")
    found = choice("audit", agents, request.GET, request.GET.get("agent", "")[:40])
    form = FilterForm(request.GET, agents=found)
    filters = form.filters()
    asked = {name: request.GET[name] for name in request.GET if name not in form.errors}  # those are told of already
    known: Sequence[str] = words.ACTIONS
    if filters.action and filters.action not in known:
        recorded = log.matching(Filters(action=filters.action), teams)
        if any(events.exists() for events in recorded):
            known = [filters.action]
        else:
            form.cleaned_data["action"] = ""
    unknown = unknown_filters(asked, action=known, agent=[filters.agent])
    return form, log.matching(form.filters(), teams), found, unknown


def _place(text: str) -> Place | None:
    found = _PLACE.fullmatch(text)
    try:
        return (_EPOCH + timedelta(microseconds=int(found[1])), int(found[2])) if found else None
    except OverflowError:
        return None


def _row(event: AuditEvent) -> dict[str, Any]:
    data = event.data
    return {
        "event": event,
        "sentence": words.tell(event),
        "score": data.get("score"),
        "signals": pgettext("list", ", ").join(str(SIGNALS.get(name, name)) for name in data.get("signals", [])),
        "url": _address(event),
        "details": [
            (name, ", ".join(map(str, value)) if isinstance(value, list) else value)
            for name, value in sorted(data.items())
            if value is not None and name not in ("score", "signals")
        ],
    }


def _address(event: AuditEvent) -> str:
    """Return the page of what the event is about, or nothing where it has none."""
    pages = {
        **{"held": "item", "resp": "response", "agt": "agent", "prob": "problem", "thr": "thread", "les": "lesson"},
        **{"mem": "memory", "ext": "extension", "refl": "reflection", "rsch": "research"},
    }
    for name in (event.object_id, str(event.data.get("held", ""))):
        page = pages.get(name.partition("_")[0])
        if page and "/" not in name:
            return reverse(page, args=[name])
    return ""
