"""What the queue's page shows of its filters: menus, fields, and a pill for what is typed that takes it away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django.forms.utils import flatatt
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext

from metacog.models import User
from reviews.held.filters import FILTERS, Filters, Typed, Words


def of_list(filters: Filters, person: User) -> dict[str, Any]:
    """Return it for the template."""
    values = {name: getattr(filters, name) for name in FILTERS}
    menus = [
        {"name": name, "value": values[name], "menu": each.menu, "choices": each.menu.choices(person, values[name])}
        for name, each in FILTERS.items()
        if each.menu and each.of in ("", filters.state)
    ]
    typed = [(name, each.typed) for name, each in FILTERS.items() if each.typed]
    parts = [(label, [_input(*each, filters.fields) for each in part]) for label, part in groupby(typed, _part)]
    return {"menus": menus, "typed_filters": parts, "chips": _chips(filters, typed)}


def _part(named: tuple[str, Typed]) -> Words:
    return named[1].together


def _input(name: str, typed: Typed, values: dict[str, str]) -> tuple[Words, str]:
    return typed.label, flatatt({**typed.attributes, "name": name, "value": values.get(name, "")})


def _chips(filters: Filters, typed: Sequence[tuple[str, Typed]]) -> list[tuple[str | Promise, str, str]]:
    """Return what is typed and what a link asks for: a name, a value, and the address without it."""
    base = reverse("queue")
    chips: list[tuple[str | Promise, str, str]] = [
        (each.pill, value, base + filters.but(**{name: ""}).query)
        for name, each in typed
        if (value := getattr(filters, name))
    ]
    if filters.alike:
        chips.append((gettext("near-duplicates of"), filters.alike[-6:], base + filters.but(alike="").query))
    for pair in filters.metadata:
        others = tuple(each for each in filters.metadata if each != pair)
        chips.append((*pair, base + filters.but(metadata=others).query))
    return chips
