"""More than two conclusions, and fewer reasons than conclusions."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop

MANY = 2  # conclusions that need no reasons


def detail(conclusions: int, reasons: int) -> str | None:
    """Say it of so many; None: it does not speak."""
    if conclusions <= MANY or reasons >= conclusions:
        return None
    return f"{conclusions} conclusions vs {reasons} reasoning qualifiers"


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    conclusions = evidence.reading.conclusions
    said = detail(len(conclusions), len(evidence.reading.reasons))
    return (said, spans_of(evidence.reading.text, conclusions[:MAX_SPANS])) if said else None


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
