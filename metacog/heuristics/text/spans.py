"""Where something stands in a text."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from msgspec import Struct
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

Place = tuple[int, int]  # code points, end exclusive
# Evidence shown for one finding: a text can hold hundreds of thousands of places, and nobody reads them.
MAX_SPANS = 256


@with_config(ConfigDict(extra="forbid"))
class SpanPart(TypedDict):
    """Where the evidence stands: Unicode code points, end exclusive."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str
    item: NotRequired[
        Annotated[int | None, Field(description="The item in whose text it stands; without it, in `response`.")]
    ]


class Span(Struct, frozen=True, order=True, gc=False):
    """Evidence: code points into the response, or into the text of item number `item`; end exclusive."""

    start: int
    end: int
    text: str
    item: int | None = None

    def as_dict(self) -> SpanPart:
        span: SpanPart = {"start": self.start, "end": self.end, "text": self.text}
        if self.item is not None:
            span["item"] = self.item
        return span


def spans_of(text: str, places: Sequence[Place], item: int | None = None) -> tuple[Span, ...]:
    """Show what stands at places of a text: the response, or that of an item."""
    return tuple([Span(start, end, text[start:end], item) for start, end in places])
