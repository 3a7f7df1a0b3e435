"""Say in what a similar item differs from the one that is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.utils.translation import ngettext

from metacog.heuristics.tool_calls import secrets
from reviews.held.alike import differing
from reviews.held.similar import READ, Similar
from reviews.models import Decision, HeldItem
from reviews.presentation.differences import from_this
from reviews.presentation.reading.word_changes import stretches


class Alike(NamedTuple):
    """A similar item, as the page tells it."""

    decision: Decision
    held: str
    clip: str
    differs: str


def alikes(held: HeldItem, found: Iterable[Similar]) -> list[Alike]:
    """Return what the page says of similar items: of a near-duplicate what differs, of another in how many words."""
    tool: Any = held.call.name if held.kind == HeldItem.Kind.TOOL_CALL else None
    own = held.text[:READ], held.sha256
    return [
        Alike(
            each.decision,
            each.held,
            secrets.excerpt(held.kind, tool, each.text),
            from_this(differing(tool, [own, (each.text, each.sha256)]))
            if each.is_near or tool
            else _in_words(own[0], each.text),
        )
        for each in found
    ]


def _in_words(one: str, other: str) -> str:
    """Say in how many words two texts differ: a word in the place of another is one."""
    count, changed = 0, Counter[str]()
    for kind, words in [*stretches(one, other), ("same", [])]:
        if kind == "same":
            count += max(changed.values(), default=0)
            changed.clear()
        else:
            changed[kind] += sum(any(map(str.isalnum, word)) for word in words)
    return ngettext("differs in %(n)s word", "differs in %(n)s words", count) % {"n": count}
