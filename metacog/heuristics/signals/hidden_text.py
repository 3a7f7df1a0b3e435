"""Characters nobody sees, or that turn the direction, where the script has no use for them."""

from ..text.shadow import suspects
from ..text.spans import MAX_SPANS, Span, spans_of
from .spec import Evidence, SignalSpec, gettext_noop

SUSPECTS_A_TERM = 5  # hidden runs are counted up to so many times the terms that are looked at: 10,000 in a response


def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
    if not (evidence.reading.hides or evidence.others):
        return None
    count, most = 0, SUSPECTS_A_TERM * evidence.most
    spans: list[Span] = []
    texts: list[tuple[int | None, str]] = [(index, text) for index, text in evidence.others.items()]
    if evidence.reading.hides:
        texts.insert(0, (None, evidence.reading.text))
    for index, text in texts:
        places = suspects(text, most - count)
        count += len(places)
        spans += spans_of(text, places[: MAX_SPANS - len(spans)], index)
    if not count:
        return None
    return f"hidden characters in {count} place(s)", tuple(spans)


SPEC = SignalSpec(
    type="hidden-text",
    order=70,
    weight=30,
    sees=("reading.hides", "others"),
    find=find,
    title=gettext_noop("Hidden characters"),
    color="hidden",
    speaks="characters nobody sees, or that turn the direction, where the script has no use for them",
    evidence="every run of them, in items too",
    details=(
        (
            r"hidden characters in (?P<count>[\d.,]+) place\(s\)",
            gettext_noop("places with hidden characters: %(count)s"),
        ),
    ),
)
