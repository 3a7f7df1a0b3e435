"""The console's filters and tags, as templates call them."""

from typing import Any

from django import template
from django.utils import timezone
from django.utils.translation import gettext

from metacog.audit.words import closed_around
from metacog.db.rows import COUNTED
from metacog.http.undoable import undo_of
from metacog.pages.navigation import Link, by_key, entries, tabs
from reviews.demo import fill
from reviews.held.counts import ToDo
from reviews.presentation import phrases
from reviews.presentation.calls.answer_form import answer_text
from reviews.presentation.ratios import percent
from reviews.presentation.reading.rendered import reading
from reviews.presentation.statistics.plainly import behind, confidence, plainly
from reviews.records.reasons import described

register = template.Library()

for name in ("agent_name", "as_text", "began", "risk", "shown", "signal_class", "signal_title"):
    register.filter(name, getattr(phrases, name))
register.filter("person_title", phrases.person_name)
register.filter(described)
register.filter(percent)
register.filter(answer_text)
register.filter(plainly)
register.filter(behind)
register.filter(confidence)

for name in (
    "ago",
    "at",
    "at_second",
    "code",
    "code_lines",
    "decided",
    "due",
    "expires_in",
    "gap",
    "limits",
    "looking",
    "named",
    "person_name",
    "pieces",
    "quoted",
    "with_code",
):
    register.simple_tag(getattr(phrases, name), name=name)
register.simple_tag(reading)


@register.simple_tag
def kind_from(kind: str, agent: str) -> str:
    """Name an item by its kind and agent."""
    return closed_around(gettext("%(kind)s from %(agent)s") % {"kind": kind, "agent": agent}, kind)


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> dict[str, list[Link]]:
    """Return the entries of the navigation and the pages beside this one, with how much waits."""
    match, to_do = context["request"].resolver_match, context["to_do"]
    name, waiting = (match and match.url_name) or "", to_do() if callable(to_do) else to_do
    if name == "knowledge-import":  # below the page whose rows it brings
        name = f"import-{match.kwargs['import_kind']}"
    return {"entries": entries(name, waiting), "tabs": tabs(name, waiting)}


register.filter(undo_of)
register.simple_tag(by_key, name="pages_by_key")


@register.filter
def counted(number: int) -> str:
    """Write a number that was counted up to a bound."""
    return f"{min(number, COUNTED):,}{'+' if number > COUNTED else ''}"


@register.simple_tag
def demo_fills() -> bool:
    """Say whether the history of a demo is being invented: what waits then is of a past that goes on."""
    return fill.is_unfinished()


@register.filter
def worker_away(waiting: ToDo) -> str:
    """Say that the worker does not run, and for how long; nothing while it does, and to whom it is nothing."""
    if not waiting.is_worker_away:
        return ""
    if waiting.worker_at is None:
        return gettext("The worker has not run yet: decisions are saved, but nothing is sent.")
    seconds = abs(int((timezone.now() - waiting.worker_at).total_seconds()))
    told = gettext("The worker has not run for %(time)s: decisions are saved, but nothing is sent.")
    return told % {"time": phrases.rounded(seconds)}
