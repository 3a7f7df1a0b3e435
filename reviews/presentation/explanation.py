"""Say in words why something was held: the parts of its score, and each signal's own record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext, pgettext_lazy

from metacog.accounts.forms import RESPONSE_FLAGS, SIGNALS
from metacog.heuristics.hesitation.seed import MAX_SCORE
from metacog.heuristics.signals.spec import SignalPart
from metacog.heuristics.wire.assessment import Assessment, EvaluationPart, HesitationPart
from patterns.models import ErrorPattern, ThreadStep
from reviews.models import AgentResponse, HeldItem, Signal
from reviews.presentation.engine_words import sign, translated, translated_reason
from reviews.presentation.highlight import Shown, show
from reviews.records.reasons import described

TITLES = SIGNALS
FLAGS = {
    "empty": gettext_lazy("Says nothing"),
    "off-topic": gettext_lazy("Barely about the message"),
    "question-unanswered": gettext_lazy("Question not addressed"),
    "language-mismatch": gettext_lazy("Another language"),
    "variant-mismatch": gettext_lazy("The other Chinese script"),
    "forbidden-phrase": gettext_lazy("Forbidden phrase"),
    "too-short": gettext_lazy("Very short"),
    "too-long": gettext_lazy("Very long"),
    "repetition": gettext_lazy("Said before"),
}
EVENTS = {
    "meta:confidence-low": gettext_lazy("low quality"),
    "meta:impasse": gettext_lazy("no progress"),
}
LEVELS = {"high": gettext_lazy("high"), "medium": gettext_lazy("medium"), "low": gettext_lazy("low")}
STEPS = {**dict(ThreadStep.Op.choices), "touch": pgettext_lazy("thought thread", "touched")}
TOUCHED_BY = {
    "field": gettext_lazy("the response says which it pursues"),
    "name": gettext_lazy("recognized by its name"),
    "words": gettext_lazy("recognized by the words of its title"),
}
MAX_WORDS = 6  # of the evidence named in a line; all of it is marked in the text
MAX_WORD = 60
# How many of an agent's latest responses a record looks back on, along the agent's index, on every item that is
# opened. A team's latest would be looked for among those of all teams.
RECORD_OF = 1000
DECIDED = (HeldItem.State.APPROVED, HeldItem.State.EDITED, HeldItem.State.REJECTED)


@dataclass(frozen=True)
class Part:
    """One signal's share of a score."""

    type: str
    weight: int
    begins: int  # where its stretch of the bar begins
    title: str
    detail: str
    pattern: str  # what the known error is; a curator's words
    words: Sequence[Shown]  # the evidence
    record: str
    where: str  # whose text it stands in, where that is not the response's alone
    url: str = ""  # of the pattern's own page

    @property
    def stretch(self) -> int:
        """Return how much of the bar is its own; a score ends at 100, whatever its parts add up to."""
        return max(0, min(self.weight, MAX_SCORE - self.begins))

    @property
    def reason(self) -> str:
        """Return what a mark in the text says."""
        colon = gettext(": ")
        return f"{self.title}{colon}{self.pattern}" if self.pattern else self.title


def explain(hesitation: HesitationPart, fired: Iterable[Signal], agent_id: int) -> list[Part]:
    """Return the parts of a verdict's `hesitation`; `fired` are the response's signals, with patterns and records."""
    pattern = next((signal.pattern for signal in fired if signal.pattern), None)
    types = [signal["type"] for signal in hesitation["signals"] if signal["type"] != "error-pattern"]
    return parts(hesitation["signals"], pattern, _records(types, agent_id))


def parts(
    signals: Sequence[SignalPart], pattern: ErrorPattern | None = None, records: dict[str, str] | None = None
) -> list[Part]:
    """Return the parts of signals, where one was an error pattern with that pattern's own record."""
    records = dict(records or {})
    if pattern and (own := getattr(pattern, "record", None)):
        records["error-pattern"] = _record(own.fired, own.decided, own.rejected)
    found, begins = [], 0
    for signal in signals:
        name, detail = signal["type"], signal["detail"]
        # A pattern that was deleted since lives on in the detail.
        description = pattern.description if pattern else detail.removeprefix("matches past error: ")
        found.append(
            Part(
                type=name,
                weight=signal["weight"],
                begins=begins,
                title=str(TITLES.get(name, name)),
                detail=_detail(name, detail),
                pattern=described(description) if name == "error-pattern" else "",
                words=_evidence(signal),
                record=records.get(name, ""),
                where=_where(signal),
                url=reverse("pattern", args=[pattern.pk]) if pattern and name == "error-pattern" else "",
            )
        )
        begins += signal["weight"]
    return found


def apart_from_score(held: HeldItem) -> list[str]:
    """Return why words were held, apart from their score."""
    told = (
        (is_demanded(held, held.response.wire_body()), gettext("The agent's framework asked for a review.")),
        (
            getattr(held, "terms", None) and held.terms.with_calls,
            gettext("Held with the tool calls of its response: no signal and no rule held it."),
        ),
        (
            was_paused(held, held.response.wire_verdict()),
            gettext("The agent was paused: everything it posted was held."),
        ),
        (held.by_budget, gettext("Held by the review budget: no signal and no rule held it.")),
    )
    return [sentence for is_so, sentence in told if is_so]


def is_demanded(held: HeldItem, body: Mapping[str, Any]) -> bool:
    """Tell whether an item of words was held because whoever sent it asked for that."""
    sent = body.get("items") or ()
    return held.index < len(sent) and bool(sent[held.index].get("require_review"))


def was_paused(held: HeldItem, verdict: Assessment) -> bool:
    return bool(verdict["items"][held.index].get("paused", False))


def response_flags(verdict: Assessment) -> list[tuple[str, Any]]:
    """Return what is to be said of a response's language and tags, with its words for people."""
    return [(flag, RESPONSE_FLAGS[flag]) for flag in verdict.get("flags", ())]  # an older engine has none


def other_parts(verdict: Assessment) -> dict[str, Any]:
    """Return what a verdict says beside hesitation, with its words for people."""
    quality, confidence = verdict["quality"], verdict["confidence"]
    stuck, schedule = verdict["stuck"], verdict["schedule"]
    return {
        "quality": quality
        and {
            **quality,
            "told": [
                {**each, "title": FLAGS[each["flag"]], "detail": translated(each["detail"])}
                for each in quality["details"]
            ],
            "evaluated": _evaluated(quality["evaluation"]),
        },
        "confidence": confidence
        and {**confidence, "title": LEVELS[confidence["level"]], "reason": translated_reason(confidence["reason"])},
        "stuck": stuck
        and {**stuck, "told": [{"title": sign(each["type"], each["evidence"]), **each} for each in stuck["signals"]]},
        "events": [(name, EVENTS.get(name, "")) for name in verdict["events"]],
        "next_cycle": schedule and {"due": _due(schedule["next"]), "reason": translated(schedule["reason"])},
        # Verdicts of an older engine have no such part.
        "followed": [
            {**each, "title": STEPS.get(each["op"], each["op"]), "told": TOUCHED_BY.get(each["by"] or "", "")}
            for each in verdict.get("threads") or ()
        ],
    }


def _evaluated(evaluation: EvaluationPart) -> list[str]:
    """Say what the score of quality was made of; what there was nothing to judge by is said to be that."""
    shares = (
        (evaluation["responsiveness"], gettext("responsiveness %(share)s"), gettext("responsiveness not assessed")),
        (evaluation["completeness"], gettext("completeness %(share)s"), gettext("completeness not assessed")),
        (evaluation["consistency"], gettext("consistency %(share)s"), gettext("consistency not assessed")),
    )
    told = []
    for share, judged, not_judged in shares:
        told.append(not_judged if share is None else judged % {"share": f"{share:g}"})
    told.append(gettext("length ok") if evaluation["length_ok"] else gettext("length outside its limits"))
    told.append(gettext("said before") if evaluation["repetition"] else gettext("no repetition"))
    return told


def _due(pause: str) -> str:
    """Say a schedule's "2m" or "90s" in words."""
    match = re.fullmatch(r"(\d+)([ms])", pause)
    if match is None:
        return pause
    count = int(match[1])
    if not count:
        return gettext("at once")
    if match[2] == "m":
        return ngettext("in %(count)s minute", "in %(count)s minutes", count) % {"count": f"{count:,}"}
    return ngettext("in %(count)s second", "in %(count)s seconds", count) % {"count": f"{count:,}"}


def _detail(name: str, detail: str) -> str:
    """Say what the engine's English detail says."""
    numbers = [int(number) for number in re.findall(r"\d+", detail)]
    if name == "absolute-claim":
        return gettext("with no source named in the response")
    if name == "error-pattern":
        return ""
    if name == "no-hedge":
        return gettext("nothing in it leaves room for doubt")
    if name == "overconfidence" and len(numbers) == 2:
        return gettext("conclusions: %(conclusions)s, reasons: %(reasons)s") % {
            "conclusions": numbers[0],
            "reasons": numbers[1],
        }
    return translated(detail)


def _evidence(signal: SignalPart) -> list[Shown]:
    words = dict.fromkeys(span["text"] for span in signal["spans"] if len(span["text"]) <= MAX_WORD)
    return [show(word) for word in list(words)[:MAX_WORDS]]


def _where(signal: SignalPart) -> str:
    """Name the items in whose own text a signal speaks."""
    places = {span.get("item") for span in signal["spans"]}
    items = pgettext("list", ", ").join(
        f"{index + 1}" for index in sorted(place for place in places if place is not None)
    )
    if not items:
        return ""
    return (gettext("also in item %(items)s") if None in places else gettext("in item %(items)s")) % {"items": items}


def _records(types: Sequence[str], agent_id: int) -> dict[str, str]:
    """Return what became of each signal of this agent lately, by type."""
    held = "response__held_items"
    judged = Q(**{f"{held}__terms": None}) | Q(**{f"{held}__terms__with_calls": False})  # not with its calls alone
    latest = AgentResponse.objects.posted().filter(agent=agent_id).order_by("-id").values("pk")[:RECORD_OF]
    rows = (
        Signal.objects.filter(response__in=latest, type__in=types)
        .order_by()
        .values("type")
        .annotate(
            fired=Count("response", distinct=True),
            decided=Count(held, filter=judged & Q(**{f"{held}__state__in": DECIDED})),
            rejected=Count(held, filter=judged & Q(**{f"{held}__state": HeldItem.State.REJECTED})),
        )
    )
    return {row["type"]: _record(row["fired"], row["decided"], row["rejected"]) for row in rows}


def _record(fired: int, decided: int, rejected: int) -> str:
    counts = {"fired": f"{fired:,}", "decided": f"{decided:,}", "rejected": f"{rejected:,}"}
    if not decided:
        return (
            ngettext("fired %(fired)s time, nothing decided yet", "fired %(fired)s times, nothing decided yet", fired)
            % counts
        )
    return (
        ngettext(
            "fired %(fired)s time, %(rejected)s of %(decided)s decided were rejected",
            "fired %(fired)s times, %(rejected)s of %(decided)s decided were rejected",
            fired,
        )
        % counts
    )
