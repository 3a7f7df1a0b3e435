"""Django's tag for a part of a page, quicker: what is included by a plain name is looked up once.

Django looks for the template, and begins a state for its tags, each time; a page includes up to two hundred parts.
"""

from __future__ import annotations

from typing import Any

from django.template import Context, Library
from django.template.base import Node, NodeList, Parser, Token
from django.template.defaulttags import CycleNode, IfChangedNode
from django.template.loader_tags import BlockNode, ExtendsNode, IncludeNode, do_include

register = Library()
_WITH_STATE = (BlockNode, CycleNode, ExtendsNode, IfChangedNode)


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
