"""Totals that their parts do not make, and measures that are not the same in another unit."""

from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    wrong = evidence.reading.wrong_sums
    if not wrong:
        return None
    others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return wrong[0][1] + others, spans_of(evidence.reading.text, [place for place, _ in wrong[:MAX_SPANS]])


SPEC = SignalSpec(
    type="wrong-sum",
    order=60,
    weight=30,
    sees=("reading.wrong_sums",),
    find=find,
    title=gettext_noop("Wrong sum"),
    color="sum",
    speaks="a total is not what the parts beside it make, or a measure is not the same in another unit",
    evidence="the figure that is wrong",
    details=(
        (
            r"says (?P<said>[^;]+); the parts make (?P<made>.+?) \(and (?P<more>[\d.,]+) more\)",
            gettext_noop("says %(said)s; it should be %(made)s (and %(more)s more)"),
        ),
        (
            r"says (?P<said>[^;]+); the parts make (?P<made>.+)",
            gettext_noop("says %(said)s; it should be %(made)s"),
        ),
        (
            r"says (?P<said>[^;]+); (?P<of>.+) makes (?P<made>.+?) \(and (?P<more>[\d.,]+) more\)",
            gettext_noop("says %(said)s; %(of)s is %(made)s (and %(more)s more)"),
        ),
        (
            r"says (?P<said>[^;]+); (?P<of>.+) makes (?P<made>.+)",
            gettext_noop("says %(said)s; %(of)s is %(made)s"),
        ),
    ),
)
