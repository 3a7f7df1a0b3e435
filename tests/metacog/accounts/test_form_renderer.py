"""Inputs are drawn as Django's own templates draw them."""

from __future__ import annotations

from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from metacog.pages.form_renderer import INPUTS, FormRenderer
from tests.tables import table

ODD = "<\"a\" & 'b'>"


@table(
    ("name", "value", "attrs"),
    [
        ("empty", None, {}),
        (ODD, ODD, {ODD: ODD, "placeholder": gettext_lazy("Reason")}),
        ("number", 0, {"min": 0, "step": 0.01, "required": True, "disabled": False, "id": "id_number"}),
        ("safe", mark_safe("&lt;"), {"title": mark_safe("&amp;"), "checked": True, "none": None, "blank": ""}),
    ],
)
def test_an_input_is_as_django_has_it(name: str, value: Any, attrs: dict[str, Any]) -> None:
    for template in INPUTS:
        widget = {"type": "text", "name": name, "value": value, "attrs": attrs}
        drawn = [renderer.render(template, {"widget": widget}) for renderer in (FormRenderer(), DjangoTemplates())]
        assert drawn[0] == drawn[1]
