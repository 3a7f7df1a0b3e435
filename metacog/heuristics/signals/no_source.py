"""Figures, dates, names or quotations that nobody gave the agent, and nothing cited in their paragraph."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    facts = evidence.reading.facts
    if not facts:
        return None
    detail = f"{len(facts)} figure(s), date(s), name(s) or quotation(s) without source"
    return detail, spans_of(evidence.reading.text, facts[:MAX_SPANS])


SPEC = SignalSpec(
    type="no-source",
    order=50,
    weight=10,  # next to an absolute claim it is marked
    sees=("reading.facts",),
    find=find,
    title=gettext_noop("Fact without a source"),
    color="fact",
    speaks="a figure, a date, somebody's saying or a quotation that the agent was not given, and nothing cited in its "
    "paragraph",
    evidence="every such fact",
    details=(
        (
            r"(?P<count>[\d.,]+) figure\(s\), date\(s\), name\(s\) or quotation\(s\) without source",
            gettext_noop("figures, dates, names or quotations without a source: %(count)s"),
        ),
    ),
)
