"""What a signal is, what it looks at, and what it says."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

from msgspec import Struct
from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

from ..text.spans import MAX_SPANS, Place, Span, SpanPart, spans_of
from ..text.tags import Item


class SignalPart(TypedDict):
    """One reason to hesitate."""

    type: str  # the OpenAPI document names them all, see wire/assessment.py
    detail: str
    weight: Annotated[int, Field(ge=0, le=100, description="0: a hint, which adds nothing to the score.")]
    spans: Annotated[list[SpanPart], Field(description=f"At most {MAX_SPANS}.")]


class Signal(Struct, frozen=True, gc=False):
    """One reason to hesitate. `weight` is what it adds to the score; 0: a hint, which only marks its places."""

    type: str
    detail: str
    weight: int
    spans: tuple[Span, ...]

    def as_dict(self) -> SignalPart:
        return {
            "type": self.type,
            "detail": self.detail,
            "weight": self.weight,
            "spans": [span.as_dict() for span in self.spans],
        }


class Reading(Protocol):
    """A response, read with sense: see `hesitation.sense`. Places are code points of the text as sent, in order."""

    text: str
    claims: list[Place]  # absolute ones, without a citation near
    conclusions: list[Place]
    reasons: list[Place]
    facts: list[Place]  # figures, dates, names and quotations, without a citation near
    wrong_sums: list[tuple[Place, str]]  # the figure, and what it says and should say
    hides: bool
    words: dict[str, list[Place]]  # by type of signal, where one of its words is said

    def occurrences(self, keyword: str, limit: int) -> list[Place]: ...


class Description(Protocol):
    """What is known of an error pattern: see `hesitation.patterns`."""

    @property
    def description(self) -> str: ...


class Evidence(NamedTuple):
    """What the signals of the profile `aware` look at."""

    reading: Reading  # of the response
    pattern: Description | None
    keyword: str  # the pattern's, that stands in the response
    items: Sequence[Item | Mapping[str, Any]]
    unhedged: str | None  # the chats together, where they are long and nobody hedges in them
    others: Mapping[int, str]  # by index, texts of items in which something is hidden, and that are not in the response
    done: tuple[Span, ...]  # where something is said to be done
    failing: str  # what fails meanwhile
    most: int  # terms that are looked at


# Of what an Evidence holds, what is there with every text. What sees one of these is asked about each, and costs each.
OF_EVERY_TEXT = frozenset({"items", "most", "reading", "reading.text"})


class SignalSpec(NamedTuple):
    """Everything about one signal.

    `find` gives what it says of an Evidence, as (detail, spans), or None; it is asked when one of `sees`, names of
    what an Evidence holds, is there, OF_EVERY_TEXT always. `details` are the forms its detail takes, each as an
    expression and what people read instead, with the expression's groups as %(name)s; a form not named there is shown
    as it is. `title` and `details` are translated where they are shown. `speaks` and `evidence` are its row in
    docs/heuristics.md, `color` one of the palette in console.css.

    A signal whose weight is 0 is not looked for. Where `is_hint` says so of what it found, it is a hint instead: it is
    told and its places are marked as ever, and it adds nothing to the score, whatever the policy's weight. `hint` says
    when that is so, for the table.
    """

    type: str
    order: int
    weight: int  # 0..100, by default
    sees: tuple[str, ...]
    find: Callable[[Evidence], tuple[str, tuple[Span, ...]] | None]
    title: str
    color: str
    speaks: str
    evidence: str
    details: tuple[tuple[str, str], ...] = ()
    profiles: tuple[str, ...] = ("aware",)
    weight_aware: int | None = None  # by default in the profile aware, where that is another
    is_hint: Callable[[Evidence], bool] | None = None
    hint: str = ""


def gettext_noop(text: str) -> str:
    """Mark a text for the translators."""
    return text


def find_words(signal: str) -> Callable[[Evidence], tuple[str, tuple[Span, ...]] | None]:
    """Look for the words of a signal that goes by these alone, so that all it sees is "reading.words"."""

    def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
        places = evidence.reading.words.get(signal)
        if not places:
            return None
        spans = spans_of(evidence.reading.text, places[:MAX_SPANS])
        return f'says "{spans[0].text}"', spans

    return find


def whole_chats(together: str, items: Sequence[Item | Mapping[str, Any]]) -> tuple[Span, ...]:
    """Point at all of each chat, where `together` is all of them, a blank between two."""
    if len(items) == 1:
        return (Span(0, len(together), together, 0),)
    spans = []
    for index, item in enumerate(items):
        kind, text = (item.kind, item.text) if type(item) is Item else (item["kind"], item["text"])
        if text and kind.casefold() == "chat":
            spans.append(Span(0, len(text), text, index))
    return tuple(spans[:MAX_SPANS])
