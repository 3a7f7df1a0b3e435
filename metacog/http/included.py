"""Django's tag for a part of a page, and its values, quicker.

What is included by a plain name is looked up once: Django looks for the template, and begins a state for its tags, each
time; a page includes up to two hundred parts. Of its thousand values most are texts, of which Django asks in fifteen
steps whether they are a time, a number, lazy or escaped already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from django.template import Context, Engine, Library, base
from django.template.base import Node, NodeList, Parser, Token, VariableNode, render_value_in_context
from django.template.defaulttags import CycleNode, IfChangedNode
from django.template.loader_tags import BlockNode, ExtendsNode, IncludeNode, do_include
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import trans_real

register = Library()
_WITH_STATE = (BlockNode, CycleNode, ExtendsNode, IfChangedNode)


def escaped(value: Any) -> str:
    kind = type(value)
    return escape(value) if kind is str else value if kind is SafeString else conditional_escape(value)


def format_html(form: str, *values: Any, **named: Any) -> str:
    """Do what Django's own does, for rows of which a page has many."""
    return SafeString(form.format(*map(escaped, values), **{name: escaped(value) for name, value in named.items()}))


def format_html_join(between: str, form: str, rows: Iterable[Sequence[Any]]) -> str:
    return SafeString(escaped(between).join([format_html(form, *row) for row in rows]))


class Value(VariableNode):
    """A variable in its place."""

    def render(self, context: Context) -> str:
        value: Any = self.filter_expression.resolve(context)
        kind = type(value)
        if kind is str and context.autoescape:
            return escape(value)
        return value if kind is SafeString else render_value_in_context(value, context)


base.VariableNode = Value  # type: ignore[misc]  # Django's parser takes it from there


class Part(IncludeNode):
    """A template in the place of the tag."""

    part: NodeList | None = None
    has_state = False

    def __init__(self, node: IncludeNode) -> None:
        vars(self).update(vars(node))

    def render(self, context: Context) -> Any:
        if self.part is None:
            assert context.template
            part = context.template.engine.get_template(str(self.template.var)).nodelist
            self.has_state = any(part.get_nodes_by_type(each) for each in _WITH_STATE)
            self.part = part  # last: another thread that finds it takes the state as it stands
        if self.has_state:
            return super().render(context)
        with context.push(**{name: value.resolve(context) for name, value in self.extra_context.items()}):
            return self.part.render(context)


@register.tag
def include(parser: Parser, token: Token) -> Node:
    node = do_include(parser, token)
    named = node.template
    return node if node.isolated_context or named.filters or not isinstance(named.var, str) else Part(node)


@register.simple_tag(takes_context=True)
def kept(context: Context, name: str, **given: object) -> str:
    """Include a part in which nothing varies but the language and these values: it is rendered once for each."""
    assert context.template
    return _kept(context.template.engine, name, trans_real.catalog(), **given)


@lru_cache(maxsize=32)
def _kept(engine: Engine, name: str, _catalog: object, **given: object) -> str:
    return engine.get_template(name).render(Context(given))
