"""Django's tags for translations, quicker where what they say is the same for everybody who reads one language.

A page says some two hundred sentences without a variable in them; Django goes through its catalogs for each, each time.
"""

from __future__ import annotations

from typing import Any

from django.template import Context, Library
from django.template.base import FilterExpression, Node, Parser, Token, TokenType
from django.templatetags import i18n
from django.utils.translation import trans_real

register = Library()
register.tags.update(i18n.register.tags)
register.filters.update(i18n.register.filters)
del register.tags["language"]  # all of a page is in one


class Sentence(Node):
    """What a tag says, kept by the catalog of the language that is active."""

    child_nodelists = ()

    def __init__(self, node: i18n.TranslateNode | i18n.BlockTranslateNode) -> None:
        self.node, self.asvar = node, node.asvar
        self.node.asvar = None
        self.said: dict[object, str] = {}

    def render(self, context: Context) -> str:
        page: dict[Any, Any] = context.render_context.dicts[0]
        catalog = page.get(Sentence) or page.setdefault(Sentence, trans_real.catalog())
        said = self.said.get(catalog)
        if said is None:
            said = self.node.render(context)
            if isinstance(catalog, trans_real.DjangoTranslation):  # of no language there is another each time
                self.said[catalog] = said
        if self.asvar:
            context[self.asvar] = said
            return ""
        return said


class Text(i18n.BlockTranslateNode):
    """What a tag with variables says; its sentence is put together once, not each time."""

    def __init__(self, node: i18n.BlockTranslateNode) -> None:
        vars(self).update(vars(node))
        self.kept: dict[int, tuple[str, list[str]]] = {}

    def render_token_list(self, tokens: list[Token]) -> tuple[str, list[str]]:
        if id(tokens) not in self.kept:  # one of its own two
            self.kept[id(tokens)] = super().render_token_list(tokens)
        sentence, names = self.kept[id(tokens)]
        return sentence, [*names]  # which is added to


@register.tag("translate")
@register.tag("trans")
def translate(parser: Parser, token: Token) -> Node:
    node = i18n.do_translate(parser, token)
    is_fixed = isinstance(node, i18n.TranslateNode) and _is_fixed(node.filter_expression, node.message_context)
    return Sentence(node) if is_fixed else node


@register.tag("blocktranslate")
@register.tag("blocktrans")
def block_translate(parser: Parser, token: Token) -> Node:
    node = i18n.do_block_translate(parser, token)
    varies = node.extra_context or node.plural or any(part.token_type != TokenType.TEXT for part in node.singular)
    return Text(node) if varies or node.asvar or not _is_fixed(node.message_context) else Sentence(node)


def _is_fixed(*expressions: Any) -> bool:
    """Say whether these are literals, without a filter."""
    return all(each is None or (_is_literal(each) and not each.filters) for each in expressions)


def _is_literal(expression: FilterExpression) -> bool:
    variable: Any = expression.var
    return isinstance(variable, str) or getattr(variable, "literal", None) is not None
