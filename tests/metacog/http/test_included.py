"""A part of a page, and a value in it, is what Django itself makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.template import Engine
from django.template.base import NodeList, render_value_in_context
from django.template.context import Context
from django.utils import html
from django.utils.translation import gettext_lazy, override

from metacog.http.included import Value, format_html, format_html_join
from tests.tables import table

PARTS = {
    "plain": "{{ name }} {{ row }};{% firstof 'changed' as name %}",
    "cycled": "{% cycle 'odd' 'even' %};",
    "blocks": "{% extends 'frame' %}{% block inner %}{{ name }}{% endblock %}",
    "frame": "<{% block inner %}{% endblock %}>",
    "kept": "{% load i18n %}{% translate 'Queue' %}{{ name }}{% if is_on %}+{% endif %};",
    "deep": "{% if row < 3 %}{{ row }}{% include 'deep' with row=row|add:1 %}{% endif %}",
}
LOADERS: Any = [("django.template.loaders.locmem.Loader", PARTS)]
OURS = Engine(loaders=LOADERS, builtins=["metacog.http.included"], libraries={"i18n": "metacog.http.translated"})
DJANGOS = Engine(loaders=LOADERS)


@table(
    ("text", "shown"),
    [
        ("{% include 'plain' %}{{ name }}", "ada ;ada"),
        ("{% include 'plain' with name='bo' row=1 %}{{ row }}{{ name }}", "bo 1;ada"),
        ("{% for row in 'ab' %}{% include 'plain' %}{% endfor %}", "ada a;ada b;"),
        ("{% include 'plain' with row=2 only %}", " 2;"),
        ("{% for row in 'ab' %}{% include 'cycled' %}{% endfor %}", "odd;odd;"),
        ("{% block inner %}out{% endblock %}{% include 'blocks' %}", "out<ada>"),
        ("{% include 'deep' with row=0 %}", "012"),
        ("{% include which %}", "ada ;"),
        ("{% include 'PLAIN'|lower %}", "ada ;"),
    ],
)
def test_a_part_is_what_django_makes_of_it(text: str, shown: str) -> None:
    for engine in (DJANGOS, OURS):
        template = engine.from_string(text)
        for _ in range(2):  # what is looked up once is there the second time
            assert template.render(Context({"name": "ada", "which": "plain"})) == shown


def test_who_comes_while_a_part_is_looked_up_sees_what_the_first_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    template = OURS.from_string("{% for row in 'ab' %}{% include 'cycled' %}{% endfor %}")
    look, meanwhile = NodeList.get_nodes_by_type, []

    def look_and_let_another_in(nodes: NodeList, kind: Any) -> Any:
        monkeypatch.setattr(NodeList, "get_nodes_by_type", look)
        meanwhile.append(template.render(Context()))
        return look(nodes, kind)

    monkeypatch.setattr(NodeList, "get_nodes_by_type", look_and_let_another_in)
    assert [template.render(Context()), *meanwhile] == ["odd;odd;"] * 2


@pytest.mark.usefixtures("translated")
def test_a_kept_part_is_made_once_for_a_language_and_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, look = [], Engine.get_template
    monkeypatch.setattr(Engine, "get_template", lambda *asked: looked.append(asked) or look(*asked))
    template = OURS.from_string("{% kept 'kept' is_on=1 %}{% kept 'kept' is_on=on %}")
    shown = []
    for language in ("en", "zh-hant", "en"):
        with override(language):
            shown += [template.render(Context({"name": "ada", "on": on})) for on in (0, 1)]
    assert shown == ["Queue+;Queue;", "Queue+;Queue+;", "審核佇列+;審核佇列;", "審核佇列+;審核佇列+;", *shown[:2]]
    assert len(looked) == 4


def test_a_part_that_is_not_there_is_an_error() -> None:
    with pytest.raises(Exception, match="nowhere"):
        OURS.from_string("{% include 'nowhere' %}").render(Context())


VALUES: list[Any] = ["a <b>", html.format_html("<i>{}</i>", "&"), gettext_lazy("<x>"), 1234.5, None, ["<b>"]]


@pytest.mark.parametrize("is_escaped", [True, False])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_what_django_makes_of_it(value: Any, is_escaped: bool) -> None:
    context = Context({"value": value}, autoescape=is_escaped)
    template = OURS.from_string("{{ value }}")
    assert isinstance(template.nodelist[0], Value)
    assert template.render(context) == render_value_in_context(value, context)


@pytest.mark.parametrize("value", VALUES)
def test_html_is_put_together_as_django_does(value: Any) -> None:
    rows = [(value, "<"), ("", "")]
    joined = format_html_join(value, "<p>{}{}", rows)
    assert joined == html.format_html_join(value, "<p>{}{}", rows)
    put = format_html("<p>{}{to}", value, to=value)
    assert put == html.format_html("<p>{}{to}", value, to=value)
    assert (html.conditional_escape(joined), html.conditional_escape(put)) == (joined, put)  # it is not escaped again
