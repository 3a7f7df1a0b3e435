"""The shape of a verdict: what scoring builds and is stored, and what the OpenAPI document says of it."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, JsonValue, with_config
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

from ..effects.effect import Kind, ObjectKind
from ..signals import SPECS
from ..signals.spec import SignalPart
from ..text.spans import SpanPart

_part = with_config(ConfigDict(extra="forbid"))


def _name_types(schema: dict[str, Any]) -> None:
    schema["properties"]["type"]["enum"] = list(SPECS)


with_config(ConfigDict(extra="forbid", json_schema_extra=_name_types))(SignalPart)


@_part
class HesitationPart(TypedDict):
    """How much in the text is worth a second look, 0 to 100. Not a probability of error."""

    score: Annotated[int, Field(ge=0, le=100)]
    confident: Annotated[bool, Field(description="score < threshold")]
    threshold: Annotated[int, Field(ge=0, le=101)]
    hold_at: Annotated[int, Field(ge=0, le=101)]
    signals: list[SignalPart]
    suggestion: str
    matched_pattern_ids: list[str]


@_part
class EvaluationPart(TypedDict):
    """The parts of the quality score, each from 0 to 1. Null: there was nothing to judge it by."""

    responsiveness: float | None
    completeness: float | None
    consistency: float
    length_ok: bool
    repetition: bool


class _FlagPlace(TypedDict):
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    text: str


_Within = TypedDict("_Within", {"in": NotRequired[Literal["user_message"] | None]})


@_part
class FlagSpanPart(_FlagPlace, _Within):
    """Where it stands: Unicode code points, end exclusive, into `response` unless `in` says otherwise."""


@_part
class FlagPart(TypedDict):
    """One thing about the quality of a text: what, and where."""

    flag: str
    detail: str
    spans: list[FlagSpanPart]


@_part
class QualityPart(TypedDict):
    """How well the text answers, 0 to 1, more is better. Never touches items."""

    score: Annotated[float, Field(ge=0, le=1)]
    passed: bool
    flags: list[str]
    details: list[FlagPart]
    hedge_prefix: str | None
    evaluation: EvaluationPart


@_part
class ConfidencePart(TypedDict):
    """How much is known about the subject, as a sentence for the prompt."""

    level: Literal["high", "medium", "low"]
    score: Annotated[float, Field(ge=0, le=1)]
    reason: str
    prompt: str


@_part
class StuckSignalPart(TypedDict):
    """One sign of being stuck, counted once until the problem is resolved."""

    type: str
    weight: Annotated[int, Field(ge=0, le=100)]
    detail: str
    evidence: Annotated[dict[str, Any], Field(description="What was seen, and in which step of the problem.")]


@_part
class StuckPart(TypedDict):
    """How stuck the work on a problem looks, in points."""

    problem: str
    points: Annotated[int, Field(ge=0)]
    threshold: int
    suggest: Annotated[bool, Field(description="Ask whether to think twice; stays true until somebody answers.")]
    invoke: Annotated[bool, Field(description="A person has said yes.")]
    prompt: str
    signals: list[StuckSignalPart]


# What is to be said of a response beside its score; the last three of its tags (`tags.FLAGS`).
ResponseFlag = Literal["language-unread", "tag-in-code", "tag-nested", "tag-unclosed"]
UNREAD: Literal["language-unread"] = "language-unread"

Disposition = Literal["hold", "mark", "note", "pass", "reject"]


@_part
class EffectPart(TypedDict):
    """One thing that a tool call would do."""

    effect: Kind
    object: Annotated[str | None, Field(description="What it would do it to; a path is normalized.")]
    of: NotRequired[Annotated[ObjectKind, Field(description="What kind of thing the object is.")]]
    inside: Annotated[bool | None, Field(description="Of a path: whether it is in the workspace.")]
    start: Annotated[int | None, Field(ge=0, description="Where it stands: Unicode code points of the argument.")]
    end: Annotated[int | None, Field(ge=0)]
    argument: Annotated[str, Field(description="JSON Pointer to the argument that it was read from.")]
    detail: NotRequired[Annotated[str, Field(description="A fact worth saying, such as `no WHERE`.")]]


@_part
class ItemPart(TypedDict):
    """What to do with one item."""

    index: Annotated[int, Field(ge=0)]
    kind: Annotated[str, Field(description="Case-folded.")]
    disposition: Disposition
    held: Annotated[str | None, Field(description="The held item's id.")]
    text: Annotated[str | None, Field(description="What to use instead of the item's text; null while it is held.")]
    review_url: str | None
    flags: list[str]
    recognised: Annotated[str | None, Field(description="The held item whose approved text this is.")]
    memory: NotRequired[
        Annotated[
            Literal["stored", "waiting"] | None,
            Field(
                description="Of a `remember`: whether it is in the team's memory, or waits there for a curator. "
                "Null: neither."
            ),
        ]
    ]
    # Of what can be held, while a learned order is in force.
    risk: NotRequired[
        Annotated[
            float, Field(ge=0, le=1, description="Its learned risk: an order, no probability unless it is calibrated.")
        ]
    ]
    paused: NotRequired[Annotated[bool, Field(description="True: held because the agent is paused.")]]
    by_budget: NotRequired[Annotated[bool, Field(description="True: the review budget alone held it.")]]
    waits_for: NotRequired[
        Annotated[
            list[str] | None,
            Field(
                description="Of words that are held with the tool calls of their response: the held items of these. "
                "They go out once all are approved, and are rejected where one is not. Null: there is no database."
            ),
        ]
    ]
    with_calls: NotRequired[Annotated[bool, Field(description="True: nothing but these tool calls held it.")]]
    # Of a tool call, none of which has a `text`.
    call_id: NotRequired[str | None]
    name: NotRequired[str]
    arguments: NotRequired[JsonValue]
    rule: NotRequired[
        Annotated[dict[str, JsonValue] | None, Field(description="The rule that decided; null: the default did.")]
    ]
    fault: NotRequired[
        Annotated[str, Field(description="Why the rule could not be checked, so that the call is held.")]
    ]
    definition_changed: NotRequired[
        Annotated[
            bool,
            Field(
                description="True: its tool's description or schema is another than when it was allowed, so a person "
                "is asked."
            ),
        ]
    ]
    hesitation: NotRequired[Annotated[HesitationPart, Field(description="Of a call that a rule had scored.")]]
    effects: NotRequired[Annotated[list[EffectPart], Field(description="What it would do, in order of place.")]]
    readable: NotRequired[
        Annotated[bool, Field(description="Whether all of it could be read: no effect is `unknown`.")]
    ]
    grant: NotRequired[Annotated[str, Field(description="The grant that let the call pass.")]]


@_part
class ThreadPart(TypedDict):
    """What became of a step that the response wanted with a thought thread, or that it was counted as a touch."""

    item: Annotated[int | None, Field(description="The item that wanted it; null for a touch.")]
    thread: Annotated[str, Field(description="The thread's slug.")]
    op: Annotated[str, Field(description="create, progress, pause, resume or resolve, else as the tag had it; touch.")]
    done: bool
    state: Annotated[
        Literal["active", "paused", "resolved"] | None, Field(description="After it; null when it was not done.")
    ]
    touches: int | None
    by: Annotated[Literal["field", "name", "words"] | None, Field(description="What a touch was recognised by.")]
    reason: Annotated[str | None, Field(description="Why it was not done.")]
    spans: Annotated[list[SpanPart], Field(description="What it was recognised by.")]


@_part
class SchedulePart(TypedDict):
    """When the agent's next cycle should come, since something was held."""

    next: Annotated[str, Field(examples=["2m"])]
    reason: Annotated[str, Field(examples=["hesitation review: held CHAT, REMEMBER"])]


@_part
class Assessment(TypedDict):
    """The answer to a posted response. Null: not built, or switched off for the agent."""

    id: Annotated[str | None, Field(description="Null only where there is no database (the command line).")]
    policy: Annotated[int | None, Field(description="The version of the policy that was applied.")]
    profile: Literal["seed", "aware"]
    engine: str
    hesitation: HesitationPart | None
    quality: QualityPart | None
    confidence: ConfidencePart | None
    stuck: StuckPart | None
    items: list[ItemPart]
    flags: NotRequired[
        Annotated[
            list[ResponseFlag],
            Field(
                description="`language-unread`: `response`, or the text of an item, is in a language that no rule "
                "reads, so that the score says nothing about it; the item has the flag, too. The others say why an "
                "opening tag in `response` gave no item of its own: it stands in code, or within another of its kind; "
                "or that it was never closed, so that its item runs to the end. Sorted; none of tags where items were "
                "sent."
            ),
        ]
    ]
    schedule: SchedulePart | None
    events: list[str]
    risk_model: NotRequired[Annotated[str, Field(description="The model of the items' learned risk.")]]
    threads: NotRequired[
        Annotated[
            list[ThreadPart] | None,
            Field(description="Null: the response has nothing to do with thought threads, or has no database."),
        ]
    ]
