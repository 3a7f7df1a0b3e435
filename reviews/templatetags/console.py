"""The console's filters and tags, as templates call them."""

from django import template

from metacog.heuristics.text.excerpts import said
from reviews.held.counts import COUNTED
from reviews.presentation import phrases

register = template.Library()

for name in ("agent_name", "as_json", "as_text", "risk", "shown", "signal_class", "signal_title"):
    register.filter(name, getattr(phrases, name))
register.filter("said", said)
register.filter("person_title", phrases.person_name)

for name in ("ago", "code", "decided", "due", "gap", "looking", "person_name", "pieces", "who"):
    register.simple_tag(getattr(phrases, name), name=name)


@register.filter
def counted(number: int) -> str:
    """Write a number that was counted up to a bound."""
    return f"{COUNTED:,}+" if number > COUNTED else str(number)
