"""How the fields of forms are written: inputs, text areas and selects by Python, to the byte as Django's templates do.

Django renders two templates for each choice of a select, of which a page has up to 600.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.forms import renderers, widgets

from .included import escaped

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
            return _input(context["widget"])
        if template_name == widgets.Select.template_name:
            return _select(context["widget"])
        if template_name == widgets.Textarea.template_name:
            return _textarea(context["widget"])
        return super().render(template_name, context, request)


def _input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{escaped(widget["value"])}"'
    what = f'type="{escaped(widget["type"])}" name="{escaped(widget["name"])}"'
    return f"<input {what}{value}{_attributes(widget['attrs'])}>"


def _textarea(widget: Mapping[str, Any]) -> str:
    text = escaped(widget["value"]) if widget["value"] else ""
    return f'<textarea name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>\n{text}</textarea>'


def _select(widget: Mapping[str, Any]) -> str:
    groups = "".join([_group(name, options) for name, options, _ in widget["optgroups"]])
    return f'<select name="{escaped(widget["name"])}"{_attributes(widget["attrs"])}>{groups}\n</select>'


def _group(name: Any, options: Sequence[Mapping[str, Any]]) -> str:
    told = "".join(map(_option, options))
    return f'\n  <optgroup label="{escaped(name)}">{told}\n  </optgroup>' if name else told


def _option(option: Mapping[str, Any]) -> str:
    value, attributes = escaped(option["value"]), _attributes(option["attrs"])
    return f'\n  <option value="{value}"{attributes}>{escaped(option["label"])}</option>\n'


def _attributes(attributes: Mapping[str, Any]) -> str:
    return "".join([
        f" {escaped(name)}" if value is True else f' {escaped(name)}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not False
    ])  # fmt: skip
