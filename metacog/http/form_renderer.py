"""How the fields of forms are written: inputs and selects by Python, to the byte as Django's templates do.

Django renders two templates for each choice of a select, of which a page has up to 600.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.forms import renderers, widgets
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

_INPUTS = {
    each.template_name
    for each in (
        widgets.TextInput, widgets.NumberInput, widgets.EmailInput, widgets.URLInput, widgets.PasswordInput,
        widgets.HiddenInput, widgets.DateInput, widgets.TimeInput, widgets.CheckboxInput,
    )
}  # fmt: skip


class Renderer(renderers.DjangoTemplates):
    def render(self, template_name: str, context: Any, request: Any = None) -> str:
        if template_name in _INPUTS:
            return mark_safe(_input(context["widget"]))
        if template_name == widgets.Select.template_name:
            return mark_safe(_select(context["widget"]))
        return super().render(template_name, context, request)


def _input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{_text(widget["value"])}"'
    kind, name = _text(widget["type"]), _text(widget["name"])
    return f'<input type="{kind}" name="{name}"{value}{_attributes(widget)}>'


def _select(widget: Mapping[str, Any]) -> str:
    parts = [f'<select name="{_text(widget["name"])}"{_attributes(widget)}>']
    for group, options, _number in widget["optgroups"]:
        if group:
            parts.append(f'\n  <optgroup label="{_text(group)}">')
        for option in options:
            value, label = _text(option["value"]), _text(option["label"])
            parts.append(f'\n  <option value="{value}"{_attributes(option)}>{label}</option>\n')
        if group:
            parts.append("\n  </optgroup>")
    parts.append("\n</select>")
    return "".join(parts)


def _attributes(widget: Mapping[str, Any]) -> str:
    return "".join(
        f" {_text(name)}" if value is True else f' {_text(name)}="{_text(value)}"'
        for name, value in widget["attrs"].items()
        if value is not False
    )


def _text(value: Any) -> str:
    return conditional_escape(value if isinstance(value, str) else str(value))
