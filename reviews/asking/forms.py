"""What an owner fills in of who is asked: the rota, who stands in, the routes, the steps. One form, one save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from metacog.accounts.rule_forms import (
    EFFECT_NAMES,
    NUMERIC,
    OPERATOR_NAMES,
    Condition,
    NotANumber,
    as_typed,
)
from metacog.accounts.times.time_zones import time_zones
from metacog.heuristics.effects.pointers import MAX_LENGTH
from metacog.models import MemberGroup, Team
from metacog.refusals import translated
from reviews.asking.rota import Rota, Span
from reviews.asking.routes import CURRENCY
from reviews.asking.settings import (
    CHAT,
    GROUP,
    LONGEST,
    MOST_INSTEAD,
    MOST_PEOPLE,
    MOST_ROUTES,
    MOST_STEPS,
    ON_CALL,
    OWNERS,
    PERSON,
    Members,
    errors_in,
)
from reviews.asking.words import recipient
from reviews.models import HeldItem

LINES = 3  # conditions of a route
MOMENT = "%Y-%m-%dT%H:%M"
WEEKDAYS = [
    gettext_lazy("Monday"),
    gettext_lazy("Tuesday"),
    gettext_lazy("Wednesday"),
    gettext_lazy("Thursday"),
    gettext_lazy("Friday"),
    gettext_lazy("Saturday"),
    gettext_lazy("Sunday"),
]
OF = {
    "where": gettext_lazy("Argument"),
    "amount": gettext_lazy("Amount"),
    "metadata": gettext_lazy("Metadata"),
}
NOBODY = ("", "–")
# As the queue has them; Chinese says beside what an agent's tag is called what it is.
KINDS = {
    **{kind.value: kind.label for kind in HeldItem.Kind},
    HeldItem.Kind.CHAT.value: pgettext_lazy("kind of item", "CHAT"),
    HeldItem.Kind.REMEMBER.value: pgettext_lazy("kind of item", "REMEMBER"),
    HeldItem.Kind.TASK.value: pgettext_lazy("kind of item", "TASK"),
}

Choices = list[tuple[str, Any]]
Lines = list[list[forms.BoundField]]


def recipients(team: Team, members: Members, named: Sequence[str]) -> Choices:
    """Return whom notices may go to; what is `named` is among it, though it is there no more."""
    names = {key: str(person) for key, person in members.able.items()}
    groups = MemberGroup.objects.filter(team=team).values_list("name", flat=True)
    found = [ON_CALL, OWNERS, *([CHAT] if members.has_chat else []), *(f"{GROUP}{name}" for name in groups)]
    found += [f"{PERSON}{key}" for key in members.able]
    return [(to, recipient(to, names)) for to in dict.fromkeys([*found, *named])]


class RotaForm(forms.Form):
    """The order of people, and when one hands over to the next."""

    weekday = forms.TypedChoiceField(
        label=gettext_lazy("Handover on"), coerce=int, choices=list(enumerate(WEEKDAYS)), initial=0
    )
    hour = forms.TypedChoiceField(
        label=gettext_lazy("Hour"), coerce=int, choices=[(hour, f"{hour:02}:00") for hour in range(24)], initial=9
    )
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"))
    tells = forms.BooleanField(label=gettext_lazy("Tell the person who goes on call"), required=False)
    begins = forms.DateField(widget=forms.HiddenInput)  # of the week in which the first was on call as it was shown

    def __init__(self, rota: Rota, people: Choices, now: datetime, data: QueryDict | None = None) -> None:
        self.rota, self.now = rota, now
        order = [str(key) for key in rota.in_order(now)]
        initial = {name: getattr(rota, name) for name in ("weekday", "hour", "time_zone", "tells")}
        super().__init__(data, prefix="rota", initial={**initial, "begins": rota.last_handover(now)})
        zone = self.fields["time_zone"]
        assert isinstance(zone, forms.ChoiceField)
        zone.choices = time_zones(rota.time_zone)
        places = min(len(order) + 2, MOST_PEOPLE)
        if data is not None:
            places = max(places, sum(name.startswith("rota-person") for name in data))
        for place in range(min(places, MOST_PEOPLE)):
            label = _("On call now") if place == 0 else _("Then")
            initial_key = order[place] if place < len(order) else ""
            choices = [NOBODY, *people, *self._gone(initial_key, people)]
            self.fields[f"person{place}"] = forms.ChoiceField(
                label=label, choices=choices, initial=initial_key, required=False
            )

    @staticmethod
    def _gone(key: str, people: Choices) -> Choices:
        return [(key, recipient(f"{PERSON}{key}", {}))] if key and key not in dict(people) else []

    @property
    def people(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("person")]

    @property
    def given(self) -> dict[str, Any]:
        """Return the rota as settings have it."""
        found = self.cleaned_data
        keys = [found[bound.name] for bound in self.people]
        rota = Rota(weekday=found["weekday"], hour=found["hour"], time_zone=found["time_zone"])
        begins: date = found["begins"] if found["begins"].weekday() == rota.weekday else rota.last_handover(self.now)
        return {
            "people": [int(key) for key in dict.fromkeys(keys) if key],
            "weekday": rota.weekday,
            "hour": rota.hour,
            "time_zone": rota.time_zone,
            "begins": begins.isoformat(),
            "tells": found["tells"],
        }


class _Moment(forms.DateTimeField):
    """A day and an hour, where the rota is kept."""

    def __init__(self, label: Any) -> None:
        widget = forms.DateTimeInput(format=MOMENT, attrs={"type": "datetime-local"})
        super().__init__(label=label, widget=widget, input_formats=[MOMENT])


class InsteadForm(forms.Form):
    """Somebody else on call for a while."""

    person = forms.ChoiceField(label=gettext_lazy("On call instead"))
    begin = _Moment(pgettext_lazy("a span of time", "From"))
    end = _Moment(pgettext_lazy("a span of time", "Until"))

    def __init__(self, *args: Any, people: Choices, **options: Any) -> None:
        super().__init__(*args, **options)
        _choose(self, "person", [NOBODY, *people])

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        if not self.errors and found and found["begin"] >= found["end"]:
            self.add_error("end", _("It must end after it begins."))
        return found

    @property
    def given(self) -> dict[str, Any]:
        begin, end = (self.cleaned_data[name].astimezone(UTC).isoformat() for name in ("begin", "end"))
        return {"person": int(self.cleaned_data["person"]), "from": begin, "until": end}


class RouteForm(forms.Form):
    """Which items go to whom."""

    told = ""  # the route as it is in force, in a sentence

    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"), required=False, choices=[("", gettext_lazy("any")), *KINDS.items()]
    )
    tool = forms.CharField(label=gettext_lazy("Tool"), required=False, max_length=MAX_LENGTH)
    effects = forms.MultipleChoiceField(
        label=gettext_lazy("It does any of"),
        required=False,
        choices=list(EFFECT_NAMES.items()),
        widget=forms.CheckboxSelectMultiple,
    )
    to = forms.ChoiceField(label=gettext_lazy("Goes to"))

    def __init__(self, *args: Any, to: Choices, **options: Any) -> None:
        super().__init__(*args, **options)
        _choose(self, "to", [NOBODY, *to])
        self.fields["tool"].widget.attrs = {"placeholder": "mcp__bank__*", "autocomplete": "off", "spellcheck": "false"}
        for line in range(LINES):
            self.fields[f"of{line}"] = forms.ChoiceField(
                label=_("Condition on"), choices=list(OF.items()), initial="where", required=False
            )
            self.fields[f"place{line}"] = forms.CharField(
                label=_("Name or currency"), required=False, max_length=MAX_LENGTH
            )
            self.fields[f"operator{line}"] = forms.ChoiceField(
                label=_("Operator"), choices=list(OPERATOR_NAMES.items()), initial="eq", required=False
            )
            self.fields[f"value{line}"] = forms.CharField(label=_("Value"), required=False, max_length=MAX_LENGTH)

    @property
    def lines(self) -> tuple[Lines, Lines]:
        """Return the fields of each condition: of those that say something, and of the others."""
        lines = [[self[f"{name}{line}"] for name in ("of", "place", "operator", "value")] for line in range(LINES)]
        used: Lines = [line for line in lines if line[1].value() or line[3].value()]
        return used, [line for line in lines if line not in used]

    @property
    def given(self) -> dict[str, Any]:
        """Return the route as settings have it."""
        found = self.cleaned_data
        route: dict[str, Any] = {name: found[name] for name in ("kind", "tool") if found[name]}
        if found["effects"]:
            route["effects"] = {"any": found["effects"]}
        for line in range(LINES):
            of, place, operator, typed = (found[f"{name}{line}"] for name in ("of", "place", "operator", "value"))
            if not typed.strip():
                continue
            value = Condition(place, operator, typed).parsed()
            if of == "amount":
                route.setdefault(of, {}).update({operator: value} | ({CURRENCY: place.upper()} if place else {}))
            else:
                route.setdefault(of, {}).setdefault(_pointer(place), {})[operator] = value
        return {**route, "to": found["to"]}

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        for line in range(LINES):
            is_named = found.get(f"place{line}") and found.get(f"of{line}") != "amount"
            if is_named and not found.get(f"value{line}", "").strip():
                self.add_error(f"value{line}", _("Give a value."))
            operator, typed = found.get(f"operator{line}") or "eq", found.get(f"value{line}", "")
            try:
                value = Condition("", operator, typed).parsed() if typed.strip() else 0
                if found.get(f"of{line}") == "amount" and operator in (*NUMERIC, "eq", "ne") and isinstance(value, str):
                    self.add_error(f"value{line}", _("Enter a number, such as 1000 or 99.50."))
            except NotANumber as error:
                self.add_error(f"value{line}", str(error))
            except ValueError:
                self.add_error(f"value{line}", _("This is not JSON. Write a text without brackets or quotes."))
        return found


class StepForm(forms.Form):
    """After how many minutes without a decision who is asked next."""

    after = forms.IntegerField(label=gettext_lazy("After (minutes)"), min_value=1, max_value=LONGEST)
    to = forms.ChoiceField(label=gettext_lazy("Then ask"))

    def __init__(self, *args: Any, to: Choices, **options: Any) -> None:
        super().__init__(*args, **options)
        _choose(self, "to", [NOBODY, *to])

    @property
    def given(self) -> dict[str, Any]:
        return {"after": self.cleaned_data["after"], "to": self.cleaned_data["to"]}


class AskingForm:
    """All of it: as it is in force, or as it was sent."""

    def __init__(self, team: Team, given: Mapping[str, Any], now: datetime, data: QueryDict | None = None) -> None:
        members, rota = Members(team.pk), Rota.of(given.get("rota", {}))
        people: Choices = [(str(key), str(person)) for key, person in members.able.items()]
        routes, steps = given.get("routes", []), given.get("steps", [])
        to = recipients(team, members, [each["to"] for each in (*routes, *steps)])
        self.rota = RotaForm(rota, people, now, data)
        typed = data.get("rota-time_zone", "") if data is not None else ""
        with timezone.override(Rota(time_zone=typed).zone if typed else rota.zone):
            spans = [_span(span) for span in rota.spans if span.end > now]
            self.instead = _formset(InsteadForm, "instead", MOST_INSTEAD, data, spans, people=people)
            is_valid = data is not None and self.rota.is_valid() & self.instead.is_valid()
        self.routes = _formset(RouteForm, "route", MOST_ROUTES, data, [_typed(each) for each in routes], to=to)
        self.steps = _formset(StepForm, "step", MOST_STEPS, data, steps, to=to)
        self.is_valid = is_valid and self.routes.is_valid() & self.steps.is_valid() and self._routes_are_right()

    @property
    def given(self) -> dict[str, Any]:
        """Return the settings; only of a form that is valid."""
        rota = self.rota.given
        if instead := [form.given for form in _filled(self.instead)]:
            rota["instead"] = instead
        return {
            "rota": rota if rota["people"] or instead else {},
            "routes": [form.given for form in _filled(self.routes)],
            "steps": [form.given for form in _filled(self.steps)],
        }

    def _routes_are_right(self) -> bool:
        filled = _filled(self.routes)
        found = errors_in([form.given for form in filled])
        for loc, detail in found:
            filled[int(loc[0])].add_error(None, translated(detail))
        return not found


def _formset(
    form: type[forms.Form], prefix: str, most: int, data: QueryDict | None, initial: Sequence[Any], **choices: Choices
) -> BaseFormSet[Any]:
    """Return a form for each row, and one more while there may be more."""
    made = formset_factory(
        form, can_order=form is RouteForm, can_delete=True, max_num=most, validate_max=True, absolute_max=most
    )
    return made(data, prefix=prefix, initial=initial, form_kwargs=choices)


def _filled(formset: BaseFormSet[Any]) -> list[Any]:
    """Return the forms that say something and are not to be removed, in their order."""
    if formset.can_order:
        return formset.ordered_forms
    return [form for form in formset.forms if form.cleaned_data and not form.cleaned_data["DELETE"]]


def _choose(form: forms.Form, name: str, choices: Choices) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


def _span(span: Span) -> dict[str, Any]:
    begin, end = (f"{timezone.localtime(moment):{MOMENT}}" for moment in (span.begin, span.end))
    return {"person": span.person, "begin": begin, "end": end}


def _typed(route: Mapping[str, Any]) -> dict[str, Any]:
    """Return a route as somebody would fill it in."""
    amount = dict(route.get("amount", {}))
    currency = amount.pop(CURRENCY, "")
    asked = [
        *(
            ("where", place, name, value)
            for place, each in route.get("where", {}).items()
            for name, value in each.items()
        ),
        *(("amount", currency, name, value) for name, value in amount.items()),
        *(
            ("metadata", place, name, value)
            for place, each in route.get("metadata", {}).items()
            for name, value in each.items()
        ),
    ]
    typed: dict[str, Any] = {name: route.get(name, "") for name in ("kind", "tool", "to")}
    typed["effects"] = route.get("effects", {}).get("any", [])
    for line, (of, place, operator, value) in enumerate(asked):
        typed |= {f"of{line}": of, f"place{line}": place, f"operator{line}": operator}
        typed[f"value{line}"] = as_typed(operator, value)
    return typed


def _pointer(place: str) -> str:
    return place if place.startswith("/") else f"/{place}"
