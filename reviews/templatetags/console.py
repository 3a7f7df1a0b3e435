"""The console's filters and tags, as templates call them."""

from django import template

from metacog.heuristics.text.excerpts import said
from reviews.presentation import phrases
from reviews.presentation.reading.rendered import reading

register = template.Library()

for name in ("agent_name", "as_json", "as_text", "risk", "shown", "signal_class", "signal_title"):
    register.filter(name, getattr(phrases, name))
register.filter("said", said)
register.filter("person_title", phrases.person_name)

for name in ("ago", "code", "decided", "due", "gap", "looking", "person_name", "pieces", "who"):
    register.simple_tag(getattr(phrases, name), name=name)
register.simple_tag(reading)
