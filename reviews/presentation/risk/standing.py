"""Say in words why a held item stands where it does in the order of the learned risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from metacog.heuristics.ranking.around import HOURS, METADATA, key_of, values_given, values_in
from metacog.heuristics.ranking.features import object_fact, place_in
from metacog.heuristics.ranking.model import MOST_REASONS, Fact
from metacog.heuristics.stats.intervals import wilson
from metacog.heuristics.tool_calls.secrets import masked, masked_effects
from metacog.heuristics.wire.assessment import Assessment, EffectPart
from reviews.held.similar import Near, near
from reviews.learning.reason_groups import Phrase, phrases_in
from reviews.models import HeldItem
from reviews.presentation.explanation import FLAGS, LEVELS, TITLES
from reviews.presentation.highlight import LEARNED, Mark, Shown, show
from reviews.presentation.ratios import percent
from reviews.risk.in_force import Why

# What a call does that has an effect, and what kind of thing it does it to.
_DOES: dict[str, Promise] = {
    "read": pgettext_lazy("what a call does", "reads"),
    "write": pgettext_lazy("what a call does", "writes"),
    "delete": pgettext_lazy("what a call does", "deletes"),
    "execute": pgettext_lazy("what a call does", "runs code"),
    "fetch": pgettext_lazy("what a call does", "fetches from the network"),
    "send": pgettext_lazy("what a call does", "sends data out"),
    "install": pgettext_lazy("what a call does", "installs packages"),
    "publish": pgettext_lazy("what a call does", "publishes"),
    "privilege": pgettext_lazy("what a call does", "uses or grants higher privileges"),
    "secret": pgettext_lazy("what a call does", "uses secrets"),
    "pay": pgettext_lazy("what a call does", "moves money"),
    "irreversible": pgettext_lazy("what a call does", "cannot be undone"),
    "unknown": pgettext_lazy("what a call does", "cannot be read for certain"),
}
_THINGS: dict[str, Promise] = {
    "path": pgettext_lazy("object of a call", "file or folder"),
    "url": pgettext_lazy("object of a call", "web address"),
    "host": pgettext_lazy("object of a call", "host"),
    "address": pgettext_lazy("object of a call", "mail address"),
    "amount": pgettext_lazy("object of a call", "amount"),
    "table": pgettext_lazy("object of a call", "table"),
    "package": pgettext_lazy("object of a call", "package"),
    "program": pgettext_lazy("object of a call", "program"),
    "ref": pgettext_lazy("object of a call", "branch or tag"),
    "name": pgettext_lazy("object of a call", "name"),
}
KINDS: dict[str, Promise | str] = dict(HeldItem.Kind.choices)
_SAID: dict[str, Promise] = {
    "errors": gettext_lazy("the errors in its turn"),
    "command-failed": gettext_lazy("its command failed"),
    "tests-failed": gettext_lazy("failed tests"),
    "second-look": gettext_lazy("a second look at a held item"),
    "cycle": gettext_lazy("the agent’s cycle"),
    "retrieval": gettext_lazy("a weak match in its memory"),
}
_MISSING: dict[str, Promise] = {
    "figures": gettext_lazy("figures that are not in the command’s output"),
    "names": gettext_lazy("names that are not in the command’s output"),
    "quotes": gettext_lazy("quotes that are not in the command’s output"),
}
_NUMBERS = (
    "length",
    "turns",
    "question-length",
    "score",
    "quality",
    "stuck",
    "errors",
    "tests-failed",
    "cycle",
    "retrieval",
)  # facts that a text has more or less of


@dataclass(frozen=True)
class Stands:
    """What a page says of it."""

    kind: str  # heuristics.ranking.model.Kind
    by: str  # the key of metadata that it is by, alone
    decisions: str  # that it was learned from
    rank: str  # "" where no model has ranked it
    chance: str  # "" where it may not be told in percent
    judged: str
    phrases: Sequence[tuple[Shown, str]]  # each with what was decided about texts that hold it
    facts: Sequence[str]
    usual: str  # the share that is rejected of all; "" where no fact has a share of its own
    near: Near | None
    marks: Sequence[Mark]  # of the phrases, in the item's text


def stands(why: Why, held: HeldItem, verdict: Assessment, question: str | None, kept: Mapping[str, Any]) -> Stands:
    """Put `why` into words; `verdict` and `question` are those of the item's response, `kept` of its team's reasons.

    Of its phrases those are told that hold for its agent by themselves; where none does, what was decided about the
    items most like it.
    """
    facts: dict[str, bool] = {}  # whether each has counts of its own
    for name, fact in _telling(why):
        if told := _counted(name, fact, _fact(name, held, verdict, question)):
            facts.setdefault(told, _has_counts(name, fact))
    shown = [*facts][:MOST_REASONS]
    is_words = held.kind not in HeldItem.NO_WORDS
    phrases = phrases_in(held.text, held.agent_id, kept) if is_words else []
    return Stands(
        kind=why.kind,
        by=why.kind.partition(METADATA)[2],
        decisions=f"{why.decisions:,}",
        rank=_rank(held),
        chance="" if why.chance is None else percent(why.chance),
        judged=f"{why.judged:,}",
        phrases=[(show(phrase.text), _held_by(phrase)) for phrase in phrases],
        facts=shown,
        usual=percent(why.usual) if any(facts[fact] for fact in shown) else "",
        near=None if phrases else near(held, kept["told" if is_words else "calls"]),
        marks=[Mark(phrase.start, phrase.end, LEARNED) for phrase in phrases],
    )


def _held_by(phrase: Phrase) -> str:
    """Say what was decided about the texts that hold a phrase, and about their like."""
    return gettext("%(rejected)s of %(cases)s rejected, of texts like these %(usual)s") % {
        "rejected": f"{phrase.rejected:,}",
        "cases": f"{phrase.cases:,}",
        "usual": percent(phrase.usual),
    }


def _rank(held: HeldItem) -> str:
    if (top := held.top_share) is None:
        return ""
    if held.kind == HeldItem.Kind.TOOL_CALL:
        return gettext("Top %(share)s%% of the tool calls that people decided") % {"share": top}
    return gettext("Top %(share)s%% of the items that people decided") % {"share": top}


def _telling(why: Why) -> list[tuple[str, Fact]]:
    """Leave out what tells no more than another fact, and what is not clearly rejected oftener than all.

    That is the effect of a call where a narrower fact about it has the very same decisions, and the arguments of a tool
    that is told itself. A fact may raise a risk beside others though it is rejected less than all: that is no reason.
    """
    tools = tuple(f"argument:{name.removeprefix('tool:')}/" for name, _ in why.facts if name.startswith("tool:"))
    narrower = {
        (name.partition(" ")[0], fact.cases, fact.rejected)
        for name, fact in why.facts
        if name.startswith("effect:") and " " in name
    }
    return [
        (name, fact)
        for name, fact in why.facts
        if not name.startswith(tools)
        and (name, fact.cases, fact.rejected) not in narrower
        and not (_has_counts(name, fact) and wilson(fact.rejected, fact.cases)[0] <= why.usual)
    ]


def _has_counts(name: str, fact: Fact) -> bool:
    """Tell whether a text has a fact or has it not: then it is known how many that have it were rejected."""
    return bool(fact.cases) and name not in _NUMBERS and not name.startswith(("beside:", "missing:"))


def _counted(name: str, fact: Fact, told: str) -> str:
    """Say beside a fact how many of the decisions that have it were rejections."""
    if not told or not _has_counts(name, fact):
        return told
    if key_of(name):
        share = {"fact": told, "share": percent(fact.rejected / fact.cases), "cases": f"{fact.cases:,}"}
        return gettext("%(fact)s: %(share)s rejected, n = %(cases)s") % share
    counts = {"fact": told, "rejected": f"{fact.rejected:,}", "cases": f"{fact.cases:,}"}
    return gettext("%(fact)s: %(rejected)s of %(cases)s rejected") % counts


def _fact(name: str, held: HeldItem, verdict: Assessment, question: str | None) -> str:
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
        case "effect":
            return _effect(which)
        case "object":
            return _object(name, held)
        case "metadata":
            return _value(name, held)
        case "given":
            return _given(name, held)
    return _around(kind, which, held)


def _value(name: str, held: HeldItem) -> str:
    """Name a value of metadata, which the item itself has; secrets are masked."""
    for value, hidden in zip(values_in(held.metadata), values_in(masked(held.metadata)), strict=False):
        if value.fact == name:
            return f"{show(hidden.key)} {show(hidden.value)}"
    return ""


def _given(name: str, held: HeldItem) -> str:
    """Name the value of an argument, which the call itself has; secrets are masked."""
    if held.kind != HeldItem.Kind.TOOL_CALL:
        return ""
    tool, arguments = held.call.name, held.call.arguments
    for value, hidden in zip(values_given(arguments), values_given(masked(arguments)), strict=False):
        if value.given_to(tool) == name:
            shown = {"key": show(hidden.key), "tool": show(tool), "value": show(hidden.value)}
            return gettext("the argument “%(key)s” of %(tool)s (%(value)s)") % shown
    return ""


def _around(kind: str, which: str, held: HeldItem) -> str:
    """Say one of `heuristics.ranking.around.around` in words."""
    match kind:
        case "beside":
            return gettext("also in the response: %(kind)s") % {"kind": KINDS.get(which, which)}
        case "command":
            return gettext("the command %(name)s") % {"name": show(which)}
        case "hour":
            hours = {"from": f"{which}:00", "to": f"{int(which) + HOURS:02}:00"}
            return gettext("posted between %(from)s and %(to)s UTC") % hours
        case "missing":
            return str(_MISSING.get(which, ""))
    return str(_SAID.get(kind, ""))


def _effect(which: str) -> str:
    effect, _, thing = which.partition(" ")
    of, _, where = thing.partition(" ")
    told = {"does": str(_DOES.get(effect, "")), "thing": str(_THINGS.get(of, of))}
    if not told["does"] or not of:
        return told["does"]
    match where:
        case "outside":
            return gettext("%(does)s outside the project") % told
        case "inside":
            return gettext("%(does)s in the project") % told
    return gettext("%(does)s (%(thing)s)") % told


def _object(name: str, held: HeldItem) -> str:
    """Name the place that a fact is about, which the item's own effects know; secrets are masked."""
    if held.kind != HeldItem.Kind.TOOL_CALL:
        return ""
    effects = held.call.effects
    for part, hidden in zip(effects, masked_effects(effects, held.call.arguments), strict=True):
        if part.get("of") and object_fact(part) == name:
            told = {"does": _DOES[part["effect"]], "thing": show(place_in(cast("EffectPart", hidden)))}
            return gettext("%(does)s (%(thing)s)") % told
    return ""
