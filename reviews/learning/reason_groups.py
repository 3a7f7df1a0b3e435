"""Why a team's people reject: the reasons that they typed, grouped, and the phrases that hold by themselves.

Counted with each look at the team's decisions (contrast.py) and kept with it, until texts are erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from metacog.heuristics.ranking import contrast, told
from metacog.heuristics.text.shadow import Shadow
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Team
from reviews.learning import retiring
from reviews.models import ContrastLook, DecisionVerdict
from reviews.records import reasons

if TYPE_CHECKING:
    from reviews.learning.contrast import Judged

MOST_GROUPS, MOST_PHRASES = 20, 100
LEAST = 2  # rejections that one reason was given for, to be told as one
LONGEST = 120  # characters of a reason as it is shown


class Phrase(NamedTuple):
    """A phrase of an item's text, with what was decided about the texts that hold it."""

    text: str
    start: int
    end: int
    rejected: int
    cases: int
    usual: float  # the share that is rejected of texts of the same agent and metadata


def found(team: Team, rows: Sequence[Judged], texts: contrast.Texts) -> dict[str, Any]:
    """Return as JSON the reasons that were typed for rejections, grouped, and the phrases that hold.

    Why tool calls were rejected is grouped by itself (`calls`).
    """
    calls = retiring.calls_decided(team).filter(verdict=DecisionVerdict.REJECT, held__response__erased_at=None)
    newest = calls.values_list("held", "reason")[: contrast.MOST_TEXTS]
    of_calls = [(held, reasons.parse(masked_text(reason))[1]) for held, reason in reversed(newest)]
    return {
        "told": _groups([(row.held, row.told) for row in rows if row.rejected and row.held]),
        "calls": _groups(of_calls),
        "phrases": [
            {
                "text": Shadow(phrase.text).text,
                "agents": sorted({rows[place].agent for place in phrase.rejected}),
                "rejected": phrase.tried.rejected,
                "cases": phrase.tried.fires,
                "usual": round(phrase.tried.expected / phrase.tried.fires, 3),
            }
            for phrase, _ in zip(contrast.holding(texts), range(MOST_PHRASES), strict=False)
        ],
    }


def _groups(given: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """Group the reasons of rejections, each with its item."""
    typed = [(held, reason) for held, reason in given if reason]
    groups = told.grouped([reason for _, reason in typed])
    return [
        {"name": each.name[:LONGEST], "held": [typed[place][0] for place in each.places]}
        for each in groups[:MOST_GROUPS]
        if len(each.places) >= LEAST
    ]


def of_team(team: Team | int) -> Mapping[str, Any]:
    """Return what was kept of a team; without anything where nothing was, or its texts were erased since."""
    kept = ContrastLook.objects.filter(team=team).values_list("reasons", flat=True).first()
    return {"told": [], "calls": [], "phrases": []} | (kept or {})


def phrases_in(text: str, agent: int, kept: Mapping[str, Any]) -> list[Phrase]:
    """Return the phrases of a text that hold for its agent, where each stands first."""
    shadow = Shadow(text[: contrast.MOST_CHARACTERS])
    here = []
    for each in kept["phrases"]:
        start = contrast.stands(each["text"], shadow.text) if agent in each["agents"] else -1
        if start >= 0:
            end = start + len(each["text"])
            here.append(Phrase(shadow.as_sent[start:end], start, end, each["rejected"], each["cases"], each["usual"]))
    return here
