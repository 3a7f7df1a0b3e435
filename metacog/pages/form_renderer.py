"""Forms as Django draws them, but an input without the three templates that it has there: the policy's form has 54."""

from __future__ import annotations

from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.html import format_html

_TYPES = ("checkbox", "date", "email", "hidden", "number", "password", "search", "text", "time", "url")
INPUTS = frozenset(f"django/forms/widgets/{name}.html" for name in _TYPES)


class FormRenderer(DjangoTemplates):
    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        if template_name not in INPUTS:
            return super().render(template_name, context, request)
        widget = context["widget"]
        value = [] if widget["value"] is None else [("value", widget["value"])]
        attributes = [("type", widget["type"]), ("name", widget["name"]), *value, *widget["attrs"].items()]
        shape, told = "", []
        for name, given in attributes:
            if given is not False:
                shape += " {}" if given is True else ' {}="{}"'
                told += [name] if given is True else [name, given]
        return format_html(f"<input{shape}>", *told)
