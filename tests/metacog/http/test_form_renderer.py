"""Fields are written to the byte as Django's own templates write them."""

from typing import Any

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from metacog.http.form_renderer import Renderer

CHOICES: Any = [
    ("", "–"),
    ("a&b", 'A "<b>"'),
    (3, gettext_lazy("Agents")),
    ("of", [("x", format_html("<i>{}</i>", "x")), (None, 5)]),
]
ATTRS: Any = {"id": "id_1", "class": 'a "b" <c>', "required": True, "disabled": False, "data-of": None, "min": 0.5}


@pytest.mark.parametrize(
    ("widget", "values"),
    [
        (forms.Select(choices=CHOICES), ["", "a&b", 3, "x", None, "of"]),
        (forms.Select(choices=[]), [None]),
        (forms.SelectMultiple(choices=CHOICES), [["a&b", 3]]),
        (forms.NullBooleanSelect(), [True, None]),
        (forms.RadioSelect(choices=CHOICES), ["a&b"]),
        (forms.CheckboxInput(), [True, False, "x"]),
        (forms.PasswordInput(render_value=True), ["secret"]),
        *[
            (each(), [None, "", 0, 1.5, "\"&<>'", format_html("{}", "&"), gettext_lazy("Agents")])
            for each in (forms.TextInput, forms.NumberInput, forms.EmailInput, forms.URLInput, forms.HiddenInput)
        ],
        (forms.Textarea(), ["a\n<b>", "", None, format_html("{}", "&")]),
        (forms.DateInput(), ["2026-02-24"]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_it_writes_what_django_writes(widget: forms.Widget, values: list[Any]) -> None:
    for value in values:
        ours, theirs = (widget.render("na<me", value, ATTRS, renderer()) for renderer in (Renderer, DjangoTemplates))
        assert ours == theirs
