"""Absolute terms that are claimed, and nothing cited in their paragraph."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop


def detail(claims: int) -> str:
    return f"{claims} absolute claim(s) without source"


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    claims = evidence.reading.claims
    if not claims:
        return None
    return detail(len(claims)), spans_of(evidence.reading.text, claims[:MAX_SPANS])


SPEC = SignalSpec(
    type="absolute-claim",
    order=10,
    profiles=("seed", "aware"),
    weight=20,
    sees=("reading.claims",),
    find=find,
    title=gettext_noop("Absolute claim"),
    color="claim",
    speaks="an absolute term is claimed and nothing is cited in its paragraph",
    evidence="every such claim",
)
