"""Say in words why a held item stands where it does in the order of the learned risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from metacog.heuristics.wire.assessment import Verdict
from reviews.models import HeldItem
from reviews.presentation.explanation import FLAGS, LEVELS, TITLES
from reviews.presentation.highlight import LEARNED, Mark, Shown, show
from reviews.presentation.ratios import percent
from reviews.risk.in_force import Why


@dataclass(frozen=True)
class Stands:
    """What a page says of it."""

    kind: str  # heuristics.ranking.model.Kind
    decisions: str  # that it was learned from
    rank: str  # "" where too few texts are known
    chance: str  # "" where it may not be told in percent
    judged: str
    phrases: Sequence[Shown]
    facts: Sequence[str]
    marks: Sequence[Mark]  # of the phrases, in the item's text


def stands(why: Why, held: HeldItem, verdict: Verdict, question: str | None) -> Stands:
    """Put `why` into words; `verdict` and `question` are those of the item's response."""
    names = [name for name, _ in why.facts]
    tools = tuple(f"argument:{name.removeprefix('tool:')}/" for name in names if name.startswith("tool:"))
    # Where the tool itself is told, its arguments tell no more.
    facts = dict.fromkeys(_fact(name, held, verdict, question) for name in names if not name.startswith(tools))
    phrases = {reason.text.casefold(): reason.text for reason in reversed(why.reasons)}
    return Stands(
        kind=why.kind,
        decisions=f"{why.decisions:,}",
        rank="" if why.top is None else _rank(why.top),
        chance="" if why.chance is None else percent(why.chance),
        judged=f"{why.judged:,}",
        phrases=[show(text) for text in reversed(phrases.values())],
        facts=[fact for fact in facts if fact],
        # What goes through the whole text tells nothing apart in it.
        marks=[
            Mark(reason.start, reason.end, LEARNED)
            for reason in why.reasons
            if (reason.start, reason.end) != (0, len(held.text))
        ],
    )


def _rank(top: float) -> str:
    if top > 0.5:
        return gettext("Lower half of this agent's items")
    return gettext("Top %(share)s of this agent's items") % {"share": percent(max(1, math.ceil(100 * top)) / 100)}


def _fact(name: str, held: HeldItem, verdict: Verdict, question: str | None) -> str:
    """Say one of `heuristics.ranking.features.facts_of` in words; "" where it is unknown."""
    kind, _, which = name.partition(":")
    hesitation, quality = verdict["hesitation"], verdict["quality"]
    named = str(show(which))  # what cannot be seen is spelled out
    match kind:
        case "length":
            return gettext("its length (%(count)s characters)") % {"count": f"{len(held.text):,}"}
        case "turns":
            return gettext("its place in the session")
        case "question-length":
            count = {"count": f"{len(question or ''):,}"}
            return gettext("the length of the user's message (%(count)s characters)") % count
        case "score":
            return gettext("its score (%(score)s)") % {"score": hesitation["score"] if hesitation else 0}
        case "quality":
            return gettext("its quality (%(quality)s)") % {"quality": quality["score"] if quality else 0}
        case "stuck":
            return gettext("its stuck problem")
        case "signal":
            return gettext("the signal “%(name)s”") % {"name": TITLES.get(which, named)}
        case "flag":
            return gettext("the quality flag “%(name)s”") % {"name": FLAGS.get(which, named)}
        case "confidence":
            return gettext("its confidence: %(level)s") % {"level": LEVELS.get(which, named)}
        case "kind":
            return gettext("its kind (%(name)s)") % {"name": held.get_kind_display()}
        case "agent":
            return gettext("the agent %(name)s") % {"name": held.agent.name}
        case "tool":
            return gettext("the tool %(name)s") % {"name": named}
        case "argument":
            tool, _, key = named.partition("/")
            return gettext("the argument “%(key)s” of %(tool)s") % {"key": key, "tool": tool}
    return ""
