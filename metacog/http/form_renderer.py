"""How the fields of forms are written: inputs and selects by Python, to the byte as Django's templates do.

Django renders two templates for each choice of a select, of which a page has up to 600.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from django.forms import renderers, widgets
from django.utils.functional import Promise
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
            return _input(context["widget"])
        if template_name == widgets.Select.template_name:
            return _select(context["widget"])
        return super().render(template_name, context, request)


def _input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{_escaped(widget["value"])}"'
    named = f'type="{_escaped(widget["type"])}" name="{_escaped(widget["name"])}"'
    return mark_safe(f"<input {named}{value}{_attributes(widget['attrs'])}>")


def _select(widget: Mapping[str, Any]) -> str:
    groups = "".join([_group(name, options) for name, options, _ in widget["optgroups"]])
    return mark_safe(f'<select name="{_escaped(widget["name"])}"{_attributes(widget["attrs"])}>{groups}\n</select>')


def _group(name: Any, options: Sequence[Mapping[str, Any]]) -> str:
    told = "".join([_option(option) for option in options])
    return f'\n  <optgroup label="{_escaped(name)}">{told}\n  </optgroup>' if name else told


def _option(option: Mapping[str, Any]) -> str:
    attributes = _attributes(option["attrs"])
    return f'\n  <option value="{_escaped(option["value"])}"{attributes}>{_escaped(option["label"])}</option>\n'


def _attributes(attributes: Mapping[str, Any]) -> str:
    return "".join([_attribute(name, value) for name, value in attributes.items() if value is not False])


def _attribute(name: str, value: Any) -> str:
    return f" {_escaped(name)}" if value is True else f' {_escaped(name)}="{_escaped(value)}"'


def _escaped(value: Any) -> str:
    """Return what `conditional_escape` gives, for a seventh of its calls: a menu has hundreds of choices."""
    text = str(value) if isinstance(value, Promise) else value
    return str(text.__html__()) if hasattr(text, "__html__") else escape(str(text))
