"""The page of what was searched for, from the header or with its own filters; and the same as a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django import forms
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from metacog.audit import log
from metacog.http.replica import may_be_late
from metacog.http.sealed import LONGEST, opened
from metacog.models import Agent
from metacog.pages.agent_choice import Choice, choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.held.quick import quick
from reviews.pages.person import PersonRequest
from reviews.presentation.effects import in_short
from reviews.presentation.look_alikes import first_mark
from reviews.records import effect_names
from reviews.search import export, indexing
from reviews.search.kinds import BY_NAME, KINDS
from reviews.search.search import MAX_FILTER, MAX_QUERY, Filters, Group, every, search

_WHOLE_ID = re.compile(r"[a-z]+_[0-9a-z]{26}")
_METADATA = "metadata."


class SearchForm(forms.Form):
    """The page's address as a form. What cannot be read is said beside its field, and does not narrow."""

    use_required_attribute = False

    q = forms.CharField(label=_("Words, session or id"), required=False, widget=forms.TextInput({"type": "search"}))
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("All")), *((kind.name, kind.title) for kind in KINDS)]
    )
    agent = forms.ChoiceField(label=_("Agent"), required=False)
    state = forms.ChoiceField(label=_("State"), required=False)
    session = forms.CharField(label=_("Session"), max_length=LONGEST, required=False)
    tool = forms.CharField(label=_("Tool"), max_length=255, required=False)
    effect = forms.ChoiceField(
        label=_("Effect"), required=False, choices=lambda: [("", _("Any")), *effect_names.choices()]
    )
    metadata = forms.CharField(
        label=_("Metadata"),
        max_length=MAX_FILTER,
        required=False,
        widget=forms.TextInput({"placeholder": "run=R2", "autocomplete": "off"}),
    )
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))
    until = forms.DateField(label=_("To"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))

    def __init__(self, *args: Any, agents: Choice, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.agents = {agent.public_id: agent for agent in agents.named}
        named = [("", _("Any")), *((agent.public_id, agents.name_of(agent)) for agent in agents.named)]
        self.fields["agent"].choices = named  # type: ignore[attr-defined]  # it is a ChoiceField
        self.fields["state"].choices = [  # type: ignore[attr-defined]
            ("", _("Any")),
            *dict(pair for kind in reversed(self._kinds()) if kind.states for pair in kind.states.choices).items(),
        ]

    def narrowing(self) -> list[forms.BoundField]:
        """Return the fields that stand behind a fold."""
        return [self[name] for name in self.fields if name not in ("q", "kind")]

    def _kinds(self) -> Sequence[Any]:
        kind = BY_NAME.get(self.data.get("kind", ""))
        return [kind] if kind else KINDS

    def clean_metadata(self) -> str:
        pair: str = self.cleaned_data["metadata"]
        if pair and not re.match(r"[^=]+=", pair):
            raise forms.ValidationError(_("Write a name and a value: run=R2."))
        return pair

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
        named = [
            f"{name.removeprefix(_METADATA)}={self.data[name]}" for name in self.data if name.startswith(_METADATA)
        ]
        return Filters(
            query=self.data.get("q", "").replace("\0", "").strip()[:MAX_QUERY],
            kind=told.get("kind", ""),
            agent=self.agents.get(told.get("agent", "")),
            session=opened(told.get("session", "")),
            state=told.get("state", ""),
            tool=told.get("tool", ""),
            effect=told.get("effect", ""),
            metadata=tuple(pair[:MAX_FILTER] for pair in (told.get("metadata", ""), *named) if pair),
            since=told.get("since"),
            until=told.get("until"),
        )


@require_safe
@may_be_late
def search_page(request: PersonRequest) -> HttpResponse:
    """List what holds the words; a whole id leads to its page at once."""
    form, filters, agents, unknown = _asked(request)
    before = request.GET.get("before", "")
    if before.isascii() and before.isdigit() and len(before) < 19:
        filters = replace(filters, before=int(before))
    groups = search(request.user.teams_as(), filters)
    if groups and not filters.narrows and _WHOLE_ID.fullmatch(filters.query):
        return redirect(groups[0].hits[0].url)
    query = request.GET.copy()
    query.pop("before", None)
    if query.pop("words", None) and filters.query:
        query["q"] = filters.query
    is_asked = bool(filters.query or filters.narrows or filters.kind)
    context = {
        "query_of_all": filters.query,
        "form": form,
        "choice": agents,
        "unknown_filters": unknown,
        "groups": [_shown(group, filters, query) for group in groups],
        "is_asked": is_asked,
        "is_narrowed": filters.narrows,
        "kind": BY_NAME.get(filters.kind),
        "is_later_page": filters.before is not None,
        "latest_url": f"?{query.urlencode()}",
        "export_query": query.urlencode() if is_asked else "",
        "behind": indexing.behind(),
        "section": "search",
    }
    return render(request, "reviews/search.html", context)


@require_safe
def palette(request: PersonRequest) -> HttpResponse:
    """Give the command palette the agents and held items that a few letters mean."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:MAX_QUERY]
    found = quick(request.user.teams_as(), query) if query else []
    hits = [{**hit._asdict(), "odd": first_mark(hit.calls, hit.text)} for hit in found]
    return render(request, "_palette_found.html", {"hits": hits})


@require_safe
def search_export(request: PersonRequest) -> StreamingHttpResponse:
    """Send all that is found as one file."""
    form, filters, _agents, unknown = _asked(request)
    if form.errors or unknown:  # a file has no place to say that it is not what was asked for
        raise Http404
    return export.as_file(
        "search",
        request.GET.get("format", export.CSV),
        export.HIT,
        export.of_hits(every(request.user.teams_as(), filters)),
    )


def _asked(request: PersonRequest) -> tuple[SearchForm, Filters, Choice, list[str]]:
    """Return the form as it was sent, what it asks for, the agents to choose from, and what of it is not known."""
    every_agent = Agent.objects.filter(team__in=request.user.teams_as()).order_by("name", "team__name")
    asked = request.GET.copy()
    # The list of agents, which hands on what else is asked for, has a `q` of its own.
    asked["q"] = asked["words"] = asked.get("q") or asked.get("words", "")
    found = choice("search", every_agent, asked, asked.get("agent", "")[:40])
    form = SearchForm(asked, agents=found)
    filters = form.filters()
    kinds = [BY_NAME[filters.kind]] if filters.kind else KINDS
    states = dict.fromkeys(value for kind in kinds if kind.states for value in kind.states.values)
    return (
        form,
        filters,
        found,
        unknown_filters(request.GET, agents=found.named, kind=BY_NAME, state=states, effect=effect_names.NAMES),
    )


def _shown(group: Group, filters: Filters, query: Any) -> dict[str, Any]:
    """Tell a group with the addresses of what else there is of it."""
    asked = query.copy()
    asked["kind"] = group.name
    all_url = f"?{asked.urlencode()}"
    if group.more is not None:
        asked["before"] = str(group.more)
    hits = [
        {
            **hit._asdict(),
            "odd": first_mark(hit.calls, "".join(text for text, _is_word in hit.text)),
            "effects": in_short(hit.effects),
        }
        for hit in group.hits
    ]
    return {
        **group._asdict(),
        "hits": hits,
        "all_url": "" if filters.kind else all_url,
        "next_url": f"{reverse('search')}?{asked.urlencode()}" if filters.kind and group.more is not None else "",
    }
