"""Chats of more than 200 UTF-16 units together, and nobody hedges in them."""

from ..text.spans import Span
from .spec import Evidence, SignalSpec, gettext_noop, whole_chats

DETAIL = "long CHAT response with no hedging language"


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    if evidence.unhedged is None:
        return None
    return DETAIL, whole_chats(evidence.unhedged, evidence.items)


SPEC = SignalSpec(
    type="no-hedge",
    order=30,
    profiles=("seed", "aware"),
    weight=15,
    weight_aware=0,  # on real texts a test of length: right by its rule, seldom worth a look (docs/heuristics.md)
    sees=("unhedged",),
    find=find,
    title=gettext_noop("Long reply without a hedge"),
    color="hedge",
    speaks="the chats together are longer than 200 UTF-16 units, and nobody hedges in them",
    evidence="the chats, whole",
)
