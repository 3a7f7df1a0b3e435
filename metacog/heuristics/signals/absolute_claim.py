"""Absolute terms that are claimed, and nothing cited in their paragraph."""

from ..text import words
from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop

TELLING = 200  # characters of what is said, by which its script is told


def detail(claims: int) -> str:
    return f"{claims} absolute claim(s) without source"


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    claims = evidence.reading.claims
    if not claims:
        return None
    return detail(len(claims)), spans_of(evidence.reading.text, claims[:MAX_SPANS])


def is_hint(evidence: Evidence) -> bool:
    """Tell a Chinese response: in those absolute terms mark correct denials, and go with fewer mistakes than usual."""
    text = evidence.reading.text
    return not text.isascii() and words.script_of(words.prose(text).lstrip()[:TELLING], least=0) == "han"


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
    is_hint=is_hint,
    hint="in a Chinese response",
)
