"""The audit log: what happened in a person's teams, people's actions first, newest first; and the same as a file."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, localize
from django.utils.translation import get_language, gettext, override, pgettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from metacog.accounts.forms import SIGNALS
from metacog.audit import chain, log, menu, words
from metacog.audit.audit import KINDS
from metacog.audit.log import Events, Filters, Place
from metacog.http import csv_file
from metacog.http.included import escaped, format_html, format_html_join
from metacog.models import Agent, AuditEvent, User
from metacog.pages.agent_choice import Choice, choice
from metacog.pages.unknown_filters import unknown_filters

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_PEOPLE = 500  # members that the menu names
_PLACE = re.compile(r"([0-9]{1,17})-([0-9]{1,18})", re.ASCII)


class PersonRequest(HttpRequest):
    """A request of somebody who is signed in, which the middleware sees to."""

    user: User


EVERYBODY = "all"
ACTORS: dict[str, Any] = {
    "person": _("People"),
    "agent": _("Agents"),
    "system": _("System"),
    EVERYBODY: _("All events"),
}


ACTOR_KINDS: dict[str, Any] = dict(AuditEvent.Actor.choices)


class ActionSelect(forms.Select):
    """The menu of actions, of which there are two hundred: kept as it is written in each language."""

    asked = ""  # an action that may be of long ago

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        if value and not menu.is_known(value):
            self.choices = menu.choices(self.asked)
            return super().render(name, value, attrs, renderer)
        return _actions(get_language() or "", name, value, tuple(self.build_attrs(self.attrs, attrs).items()))


@lru_cache(maxsize=32)
def _actions(language: str, name: str, value: Any, attrs: Sequence[tuple[str, Any]]) -> Any:
    return forms.Select(choices=menu.choices()).render(name, value, dict(attrs))


class FilterForm(forms.Form):
    """The page's address as a form. What cannot be read is said beside its field, and does not narrow."""

    use_required_attribute = False

    agent = forms.ChoiceField(label=_("Agent"), required=False)
    person = forms.CharField(label=_("Person"), max_length=150, required=False, widget=forms.Select)
    action = forms.CharField(label=_("Action"), max_length=40, required=False, widget=ActionSelect)
    kind = forms.ChoiceField(label=_("Kind"), choices=menu.kinds, required=False)
    actor = forms.ChoiceField(choices=[("", ""), *ACTORS.items()], required=False, widget=forms.HiddenInput)
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

    def offer(self, people: Collection[str]) -> None:
        """Fill the menus; what the form asks for is in them, if its filter stands: who left, an action of long ago."""
        person, action = (self.cleaned_data.get(name, "") for name in ("person", "action"))
        names = sorted({*people, *([person] if person else [])})
        self.fields["person"].widget.choices = [("", _("Any")), *((each, each) for each in names)]
        self.fields["action"].widget.asked = action

    def clean_since(self) -> datetime | None:
        return self._moment("since")

    def clean_until(self) -> datetime | None:
        return self._moment("until", end=True)

    def clean(self) -> None:
        since, until = (self.cleaned_data.get(name) for name in ("since", "until"))
        if since and until and since >= until:
            self.add_error("until", _("The first day is after the last: filter ignored."))
            self.cleaned_data["since"] = None

    def _moment(self, name: str, *, end: bool = False) -> datetime | None:
        """Read a day as the person counts days."""
        day = self.cleaned_data[name]
        try:
            return log.moment(str(day), timezone.get_current_timezone(), end=end) if day else None
        except ValueError:  # the last and the first day there are
            raise forms.ValidationError(_("Enter a valid date.")) from None

    @property
    def shown_actor(self) -> str:
        """Return whose actions are shown: people's, unless one thing's history or one kind of event is asked for."""
        told = self.cleaned_data
        if told.get("person"):
            return str(AuditEvent.Actor.PERSON)
        is_narrow = any(told.get(name) for name in ("object", "action", "kind"))
        usual = EVERYBODY if is_narrow else AuditEvent.Actor.PERSON
        return str(told.get("actor") or usual)

    def filters(self, *, is_whole: bool = False) -> Filters:
        self.is_valid()
        told = self.cleaned_data
        return Filters(
            agent=told.get("agent", ""),
            actions=menu.actions(told.get("action", ""), told.get("kind", "")),
            actor="" if self.shown_actor == EVERYBODY else self.shown_actor,
            person=told.get("person", ""),
            object_id=told.get("object", ""),
            # One event for each import, unless its parts are asked for, as a file does.
            without=() if is_whole or told.get("action") or told.get("object") else menu.OF_IMPORTS,
            since=told.get("since"),
            until=told.get("until"),
        )


@require_safe
def audit(request: PersonRequest) -> HttpResponse:
    """Show what happened."""
    form, events, agents, unknown = _asked(request)
    rows, following = log.page(events, _place(request.GET.get("before", "")))
    here = {name: form.data[name] for name in form.fields if form.cleaned_data.get(name)}
    here["actor"] = form.shown_actor
    query, comma = urlencode(here), gettext(", ")
    others = {name: value for name, value in here.items() if name not in ("actor", "person")}
    names = _names(rows)
    if following:
        here["before"] = f"{(following[0] - _EPOCH) // timedelta(microseconds=1)}-{following[1]}"
    context = {
        "form": form,
        "choice": agents,
        "rows": [_row(event, comma, names) for event in rows],
        "actors": [
            (name, "?" + urlencode({"actor": actor, **others}), actor == form.shown_actor)
            for actor, name in ACTORS.items()
        ],
        "everybody": "" if form.shown_actor == EVERYBODY else "?" + urlencode({"actor": EVERYBODY, **others}),
        "is_filtered": any(request.GET.get(name) for name in form.fields if name != "actor"),
        "unknown_filters": unknown,
        "is_later_page": "before" in request.GET,
        "latest_query": query,
        "next_query": urlencode(here) if following else "",
        "sealed_at": (latest := chain.latest_seal()) and latest.sealed_at,
        "teams": len({event.team_id for event in rows}),
    }
    return render(request, "metacog/audit.html", context)


@require_safe
def export(request: PersonRequest, form: str = "jsonl") -> StreamingHttpResponse:
    """Send the same events, oldest first, as one file: JSON Lines or CSV."""
    given = request.GET.copy()
    given.setdefault("actor", EVERYBODY)  # a file leaves nobody out unless it is asked to
    filters, events, _agents, unknown = _asked(request, given)
    if filters.errors or unknown or form not in FORMATS:  # a file has no place to say that it is not what was asked for
        raise Http404
    name = f"audit-{timezone.now():%Y-%m-%d}.{form}"
    return StreamingHttpResponse(
        log.lines(events) if form == "jsonl" else _csv_lines(events, get_language() or "en"),
        content_type=FORMATS[form],
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


FORMATS = {"jsonl": "application/jsonl; charset=utf-8", "csv": "text/csv; charset=utf-8"}
COLUMNS = (
    *("ts", "action", "actor_kind", "actor", "team", "agent", "object", "before", "after", "score", "signals"),
    *("cycleId", "id", "request_id", "seal", "data"),
)


def _csv_lines(parts: Sequence[Events], language: str) -> Iterator[str]:
    """Yield the events as lines of CSV, each with its sentence in the reader's language."""
    yield _csv([*COLUMNS[:1], "told", *COLUMNS[1:]])
    for event in log.oldest_first(parts):
        line = log.as_line(event)
        line |= {"signals": " ".join(line["signals"]), "data": json.dumps(line["data"], ensure_ascii=False)}
        with override(language):  # the page's own is over when the file is sent
            told = words.tell(event)
        yield _csv([line["ts"], told, *("" if line[name] is None else line[name] for name in COLUMNS[1:])])


def _csv(row: Sequence[Any]) -> str:
    file = io.StringIO()
    csv_file.write(file, [row])
    return file.getvalue()


def _asked(
    request: PersonRequest, given: QueryDict | None = None
) -> tuple[FilterForm, Sequence[Events], Choice, list[str]]:
    """Return the form as it was sent, the events it asks for among those the person may see, their agents, and what
    of it is not known, a sentence each.
    """
    is_file = given is not None
    given = (given or request.GET).copy()
    done, kind = menu.parts_of(given.get("action", ""))
    if kind in KINDS:  # an event's own action is both
        given["action"], given["kind"] = done, kind
    ids = list(request.user.teams_as().values_list("pk", flat=True))
    # What belongs to no team, such as passwords and the first owner, is for superusers.
    teams = None if request.user.is_superuser else ids
    agents = Agent.objects.filter(team__in=ids).order_by("name", "pk")
    found = choice("audit", agents, request.GET, request.GET.get("agent", "")[:40])
    members = User.objects.filter(memberships__team__in=ids).order_by("username").distinct()
    people = list(members.values_list("username", flat=True)[:MOST_PEOPLE])
    unknown_person: list[str] = []
    form = FilterForm(given, agents=found)
    filters = form.filters()
    told = [field.name for field in form.visible_fields() if field.errors]  # beside them
    asked = {name: str(given[name]) for name in given if name not in told}
    action = form.cleaned_data.get("action", "")
    known: Collection[str] = {*words.ACTIONS, *menu.NAMED, *menu.DONE}
    if action and action not in known:
        recorded = log.matching(Filters(actions=[action]), teams)
        if any(events.exists() for events in recorded):
            known = [action]
        else:
            form.cleaned_data["action"] = ""
    if filters.person and filters.person not in people:
        recorded = log.matching(Filters(person=filters.person), teams)
        if not any(events.exists() for events in recorded):
            form.cleaned_data["person"] = ""
            unknown_person = [gettext("Unknown person: filter ignored.")]
    form.offer(people)
    names = {"actor": _("actor")}
    unknown = unknown_filters(asked, action=known, agent=[filters.agent], kind=KINDS, actor=ACTORS, names=names)
    return form, log.matching(form.filters(is_whole=is_file), teams), found, [*unknown_person, *unknown]


def _place(text: str) -> Place | None:
    found = _PLACE.fullmatch(text)
    try:
        return (_EPOCH + timedelta(microseconds=int(found[1])), int(found[2])) if found else None
    except OverflowError:
        return None


def _names(events: Sequence[AuditEvent]) -> dict[str, str]:
    """Return the names of the people that these events name, by their user names, as far as they gave any."""
    named = {event.actor for event in events if event.actor_kind == AuditEvent.Actor.PERSON}
    named |= {str(event.data["person"]) for event in events if event.data.get("person")}
    people = User.objects.filter(username__in={"", *named}).exclude(first_name="", last_name="")
    return {person.username: person.get_full_name() for person in people}


def _row(event: Any, comma: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return what a row says, in words: what its template works out, a page waits for fifty times."""
    data, local, seal = event.data, timezone.localtime(event.at), event.seal
    if event.actor in names:  # the user name is what the log has
        data = {"actor": event.actor, **data}
    return {
        "event": event,
        "iso": f"{local:%Y-%m-%dT%H:%M:%S.%f%z}",
        "day": _day(local.date(), get_language() or ""),
        "time": f"{local:%H:%M:%S}",
        "actor_kind": str(ACTOR_KINDS.get(event.actor_kind, event.actor_kind)),
        "action": menu.name_of(event.action),
        "sentence": words.tell(event, names),
        "score": data.get("score"),
        "signals": pgettext("list", ", ").join(str(SIGNALS.get(name, name)) for name in data.get("signals", [])),
        "url": _address(event),
        "agent": event.agent and _link(event.agent.public_id, event.agent.name),
        "seal": seal and gettext("under seal %(seal)s") % {"seal": localize(seal)},
        "details": format_html_join(
            "",
            "<dt><code>{}</code></dt><dd>{}</dd>",
            (
                (
                    name,
                    format_html_join(comma, "{}", [(_detail(event, each),) for each in value])
                    if isinstance(value, list)
                    else _detail(event, value),
                )
                for name, value in sorted(data.items())
                if value is not None and name not in ("score", "signals")
            ),
        ),
    }


@lru_cache(maxsize=256)
def _day(day: date, language: str) -> str:
    """Write a day in the language that is active; a page has the same few days in all its rows."""
    return date_format(day, "DATE_FORMAT")


@lru_cache(maxsize=256)
def _link(public_id: str, name: str) -> str:
    """Link to an agent; a page has the same few in all its rows."""
    return format_html('<a href="{}">{}</a>', page_of(public_id), name)


def _detail(event: AuditEvent, value: Any) -> str:
    """Write one value of an event's data, with a link to the page of what it names."""
    shown = escaped(localize(value))
    url = _page_in(event, str(value))
    return format_html('<a href="{}">{}</a>', url, shown) if url else shown


# The page of what an id names, by its prefix; and of what an action is about, by its beginning.
PAGES = {
    **{"held": "item", "resp": "response", "agt": "agent", "prob": "problem", "thr": "thread", "les": "lesson"},
    **{"mem": "memory", "ext": "extension", "refl": "reflection", "rsch": "research", "wh": "webhook"},
}
ASKED_FOR = {"smp": ("spot-checks", "sample"), "cor": ("corrections", "question")}
# On which tab of the team's page stands what an action is about, by its beginning; the longer one first.
ON_TAB = {
    **dict.fromkeys(("team-notices-", "channel-", "chat-changed", "chat-removed"), "notices"),
    **dict.fromkeys(("retention-", "names-people-"), "data"),
    "decide-within-": "deciding",
    **dict.fromkeys(("team-", "member-", "role-", "group-", "token-"), "people"),
    **dict.fromkeys(("second-factor-required", "second-factor-not-required"), "people"),
}
BESIDE_TABS = {"team-rules-changed": "team-rules", "asking-changed": "asking"}


def page_of(name: str) -> str:
    """Return the page of what has this id, or nothing where it has none."""
    prefix = name.partition("_")[0]
    if "/" in name or prefix == name:
        return ""
    if prefix in PAGES:
        return reverse(PAGES[prefix], args=[name])
    if prefix == "imp":  # what it wrote
        return f"{reverse('audit')}?{urlencode({'object': name})}"
    if prefix in ASKED_FOR:
        page, parameter = ASKED_FOR[prefix]
        return f"{reverse(page)}?{urlencode({parameter: name})}"
    return ""


def _page_in(event: AuditEvent, name: str) -> str:
    """Return the page of what an event's details name."""
    if event.action == "patterns-imported" and event.team_id and name in event.data["ids"]:
        return reverse("pattern-by-id", args=[event.team_id, name])
    return page_of(name)


def _address(event: AuditEvent) -> str:
    """Return the page of what the event is about, or nothing where it has none."""
    if event.action.endswith("s-imported"):
        return reverse(event.action.removesuffix("-imported"))
    if event.action.startswith("pattern-") and event.team_id and event.object_id:
        return reverse("pattern-by-id", args=[event.team_id, event.object_id])
    if event.action == "policy-changed":
        return reverse("policy", args=[event.object_id])
    if event.action in ("learned-risk-chosen", "risk-learned", "risk-of-calls-learned") and event.team_id:
        return f"{reverse('learned-risk')}?team={event.team_id}"
    if event.team_id and event.action in BESIDE_TABS:
        return reverse(BESIDE_TABS[event.action], args=[event.team_id])
    tab = next((tab for beginning, tab in ON_TAB.items() if event.action.startswith(beginning)), "")
    if event.team_id and tab:
        return f"{reverse('team')}?{urlencode({'team': event.team_id, 'tab': tab})}"
    if event.action.startswith("view-"):
        return reverse("queue")
    return page_of(event.object_id) or page_of(str(event.data.get("held", "")))
