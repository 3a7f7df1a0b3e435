"""What stands in an item and not in the response: scored as a response of its own; the higher score counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..signals import SPECS, Signal
from ..text.shadow import is_blank
from ..text.spans import MAX_SPANS, Span
from ..text.tags import QUESTION, Item, items_of, without_calls
from .seed import Hesitate, Hesitation

Beside = tuple[Item, Sequence[int]]  # one of the items that say the same, and the indexes of all of them

# Scores items that a response does not hold, each by itself, of an agent that was given these texts, by what failed.
Each = Callable[[Sequence[Item], Sequence[str], str], Iterable[Hesitation]]


def each_with(hesitate: Hesitate) -> Each:
    """Give what scores each with `hesitate`, which asks for nothing else."""
    return lambda items, given, failing: (hesitate(item.text, [item]) for item in items)


def beside(response: str, items: Sequence[Item]) -> list[Beside]:
    """Give what items say that does not stand in the response to the letter, each text of a kind once.

    A question is left alone: to ask is to hesitate (seed 000). So is a tool call, which rules judge (`without_calls`).
    """
    found: dict[tuple[str, str], tuple[Item, list[int]]] = {}
    for index, item in enumerate(items):
        # What was parsed from the response stands there.
        if (
            item.start is None
            and item.kind not in ("ask", QUESTION)
            and item.text not in response
            and not is_blank(item.text)
        ):
            found.setdefault((item.kind, item.text), (item, []))[1].append(index)
    return [*found.values()]


def texts_of(body: Mapping[str, Any]) -> list[str]:
    """Give every text of a valid body that is scored: the response, and what items say beside it."""
    response, items = body["response"], without_calls(items_of(body)) if body.get("items") else ()
    return [response, *(item.text for item, _indexes in beside(response, items))]


def together(whole: Hesitation, others: Iterable[tuple[Hesitation, Sequence[int]]]) -> Hesitation:
    """Put the hesitation over a response and those over texts beside it together; the highest score is the score.

    A signal that speaks only of a text with a lower score is told without weight, as what adds nothing to the score.
    """
    found = [(whole, None), *((other, indexes) for other, indexes in others if other.signals)]
    if len(found) == 1:
        return whole
    highest = max((each for each, _ in found), key=lambda each: each.score)  # the first of equals
    weights = {signal.type: signal.weight for signal in highest.signals}
    told: dict[str, Signal] = {}
    spans: dict[str, dict[Span, None]] = {}
    for each, indexes in sorted(found, key=lambda one: one[0] is not highest):
        for signal in each.signals:
            told.setdefault(signal.type, signal)
            shown = spans.setdefault(signal.type, {})
            shown.update(dict.fromkeys(islice(_placed(signal, indexes), MAX_SPANS - len(shown))))
    signals = tuple(
        Signal(name, told[name].detail, weights.get(name, 0), tuple(sorted(spans[name], key=_in_order)))
        for name in SPECS
        if name in told
    )
    ids = (
        name for each, _ in sorted(found, key=lambda one: one[0] is not highest) for name in each.matched_pattern_ids
    )
    return Hesitation(highest.score, highest.confident, signals, highest.suggestion, tuple(dict.fromkeys(ids)))


def _placed(signal: Signal, indexes: Sequence[int] | None) -> Iterator[Span]:
    """Give where a signal speaks: in the response, or in the texts of the items with these indexes."""
    if indexes is None:
        yield from signal.spans
    for index in indexes or ():
        for span in signal.spans:
            yield Span(span.start, span.end, span.text, index)


def _in_order(span: Span) -> tuple[int, int, int]:
    return -1 if span.item is None else span.item, span.start, span.end
