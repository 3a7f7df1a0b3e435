"""Forms as Django draws them, but an input without the three templates that it has there: the policy's form has 54."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

_TYPES = ("checkbox", "date", "email", "hidden", "number", "password", "search", "text", "time", "url")
INPUTS = frozenset(f"django/forms/widgets/{name}.html" for name in _TYPES)


class FormRenderer(DjangoTemplates):
    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        if template_name not in INPUTS:
            return super().render(template_name, context, request)
        widget = context["widget"]
        value = [] if widget["value"] is None else [("value", widget["value"])]
        return _tag([("type", widget["type"]), ("name", widget["name"]), *value, *widget["attrs"].items()])


def _tag(attributes: Iterable[tuple[str, Any]]) -> str:
    written = [
        conditional_escape(name) if value is True else f'{conditional_escape(name)}="{conditional_escape(value)}"'
        for name, value in attributes
        if value is not False
    ]
    return mark_safe(f"<input {' '.join(written)}>")
