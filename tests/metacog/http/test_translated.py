"""What templates say is kept by language, and only where nothing in it varies."""

from __future__ import annotations

import pytest
from django.template import Context, Engine, Template
from django.utils.translation import override

DJANGO = Engine(libraries={"i18n": "django.templatetags.i18n"})
SAID = [
    ("{% translate 'Queue' %}", ["Queue", "審核佇列", "Queue"]),
    ("{% translate 'Queue' as q %}<{{ q }}>", ["<Queue>", "<審核佇列>", "<Queue>"]),
    ("{% translate 'The end' context 'of a text' %}", ["The end", "已到結尾", "The end"]),
    ("{% blocktranslate trimmed %}\n Nothing is held.\n{% endblocktranslate %}", None),
    ("{% blocktranslate trimmed asvar it %}\n Nothing is held. <b>\n{% endblocktranslate %}{{ it }}", None),
    ("{% translate word %}{% translate 'Queue'|upper %}{% translate word|default:'x' %}", None),
    ("{% blocktranslate trimmed with seal=word %}under seal {{ seal }}{% endblocktranslate %}", None),
    ("{% blocktranslate count n=n %}{{ n }} item{% plural %}{{ n }} items{% endblocktranslate %}", None),
    ("{% translate '100 % <b>' %}{% translate 'Queue' noop %}", None),
]


@pytest.mark.parametrize(("source", "wanted"), SAID)
@pytest.mark.usefixtures("translated")
def test_it_says_what_django_says_in_each_language(source: str, wanted: list[str] | None) -> None:
    source = "{% load i18n %}" + source
    ours, theirs = Template(source), DJANGO.from_string(source)
    for turn, language in enumerate(("en", "zh-hant", "en")):
        for word, n in (("Queue", 1), ("Held", 2)):
            with override(language):
                shown = ours.render(Context({"word": word, "n": n}))
                assert shown == theirs.render(Context({"word": word, "n": n}))
            assert wanted is None or shown == wanted[turn]
