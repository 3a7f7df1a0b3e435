"""How the fields of forms are written: inputs and selects by Python, to the byte as Django's templates do.

Django renders two templates for each choice of a select, of which a page has up to 600.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.forms import renderers, widgets
from django.utils.html import format_html, format_html_join

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
    value = "" if widget["value"] is None else format_html(' value="{}"', widget["value"])
    return format_html(
        '<input type="{}" name="{}"{}{}>', widget["type"], widget["name"], value, _attributes(widget["attrs"])
    )


def _select(widget: Mapping[str, Any]) -> str:
    groups = format_html_join("", "{}", ((_group(name, options),) for name, options, _ in widget["optgroups"]))
    return format_html('<select name="{}"{}>{}\n</select>', widget["name"], _attributes(widget["attrs"]), groups)


def _group(name: Any, options: Sequence[Mapping[str, Any]]) -> str:
    told = format_html_join(
        "",
        '\n  <option value="{}"{}>{}</option>\n',
        ((option["value"], _attributes(option["attrs"]), option["label"]) for option in options),
    )
    return format_html('\n  <optgroup label="{}">{}\n  </optgroup>', name, told) if name else told


def _attributes(attributes: Mapping[str, Any]) -> str:
    given = [(name, value) for name, value in attributes.items() if value is not False]
    return format_html_join("", "{}", ((_attribute(name, value),) for name, value in given)) if given else ""


def _attribute(name: str, value: Any) -> str:
    return format_html(" {}", name) if value is True else format_html(' {}="{}"', name, value)
