"""More than two conclusions, and fewer reasons than conclusions."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop

MANY = 2  # conclusions that need no reasons


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    conclusions, reasons = evidence.reading.conclusions, evidence.reading.reasons
    if len(conclusions) <= MANY or len(reasons) >= len(conclusions):
        return None
    detail = f"{len(conclusions)} conclusions vs {len(reasons)} reasoning qualifiers"
    return detail, spans_of(evidence.reading.text, conclusions[:MAX_SPANS])


SPEC = SignalSpec(
    type="overconfidence",
    order=40,
    profiles=("seed", "aware"),
    weight=15,
    sees=("reading.conclusions",),
    find=find,
    title=gettext_noop("Conclusions without reasons"),
    color="conclusion",
    speaks="more than two conclusions, and fewer reasons than conclusions",
    evidence="every conclusion",
)
