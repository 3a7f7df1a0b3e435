"""Where something stands in a text."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

Place = tuple[int, int]  # code points, end exclusive
# Evidence shown for one finding: a text can hold hundreds of thousands of places, and nobody reads them.
MAX_SPANS = 256


class Span(Struct, frozen=True, order=True, gc=False):
    """Evidence: code points into the response, or into the text of item number `item`; end exclusive."""

    start: int
    end: int
    text: str
    item: int | None = None

    def as_dict(self) -> dict[str, Any]:
        span: dict[str, Any] = {"start": self.start, "end": self.end, "text": self.text}
        if self.item is not None:
            span["item"] = self.item
        return span


def spans_of(text: str, places: Sequence[Place], item: int | None = None) -> tuple[Span, ...]:
    """Show what stands at places of a text: the response, or that of an item."""
    return tuple([Span(start, end, text[start:end], item) for start, end in places])
