"""A keyword of a past mistake, as a word of its own; only the first pattern counts."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop


def detail(description: str) -> str:
    return f"matches past error: {description}"


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    if evidence.pattern is None:
        return None
    places = evidence.reading.occurrences(evidence.keyword, MAX_SPANS)
    return detail(evidence.pattern.description), spans_of(evidence.reading.text, places)


SPEC = SignalSpec(
    type="error-pattern",
    order=20,
    profiles=("seed", "aware"),
    weight=30,
    sees=("pattern",),
    find=find,
    title=gettext_noop("Error pattern"),
    color="pattern",
    speaks="a keyword of an error pattern stands in the shadow of the text, a Latin one as a word of its own",
    evidence="the keyword, wherever it stands",
)
