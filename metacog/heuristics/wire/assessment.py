"""The shape of a verdict, for the OpenAPI document; scoring itself builds plain dicts."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..signals import SPECS


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SpanPart(_Part):
    """Where the evidence stands: Unicode code points, end exclusive."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    item: int | None = Field(default=None, description="The item in whose text it stands; without it, in `response`.")


class SignalPart(_Part):
    """One reason to hesitate."""

    type: str = Field(json_schema_extra={"enum": list(SPECS)})
    detail: str
    weight: int = Field(ge=1, le=100)
    spans: list[SpanPart] = Field(description="At most 256.")


class HesitationPart(_Part):
    """How much in the text is worth a second look, 0 to 100. Not a probability of error."""

    score: int = Field(ge=0, le=100)
    confident: bool = Field(description="score < threshold")
    threshold: int = Field(ge=0, le=101)
    hold_at: int = Field(ge=0, le=101)
    signals: list[SignalPart]
    suggestion: str
    matched_pattern_ids: list[str]


class EvaluationPart(_Part):
    """The parts of the quality score, each from 0 to 1. Null: there was nothing to judge it by."""

    responsiveness: float | None
    completeness: float | None
    consistency: float
    length_ok: bool
    repetition: bool


class FlagSpanPart(_Part):
    """Where it stands: Unicode code points, end exclusive, into `response` unless `in` says otherwise."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    within: Literal["user_message"] | None = Field(default=None, alias="in")


class FlagPart(_Part):
    """One thing about the quality of a text: what, and where."""

    flag: str
    detail: str
    spans: list[FlagSpanPart]


class QualityPart(_Part):
    """How well the text answers, 0 to 1, more is better. Never touches items."""

    score: float = Field(ge=0, le=1)
    passed: bool
    flags: list[str]
    details: list[FlagPart]
    hedge_prefix: str | None
    evaluation: EvaluationPart


class ConfidencePart(_Part):
    """How much is known about the subject, as a sentence for the prompt."""

    level: Literal["high", "medium", "low"]
    score: float = Field(ge=0, le=1)
    reason: str
    prompt: str


class StuckSignalPart(_Part):
    """One sign of being stuck, counted once until the problem is resolved."""

    type: str
    weight: int = Field(ge=0, le=100)
    detail: str
    evidence: dict[str, Any] = Field(description="What was seen, and in which step of the problem.")


class StuckPart(_Part):
    """How stuck the work on a problem looks, in points."""

    problem: str
    points: int = Field(ge=0)
    threshold: int
    suggest: bool = Field(description="Ask whether to think twice; stays true until somebody answers.")
    invoke: bool = Field(description="A person has said yes.")
    prompt: str
    signals: list[StuckSignalPart]


class ItemPart(_Part):
    """What to do with one item."""

    index: int = Field(ge=0)
    kind: str = Field(description="Case-folded.")
    disposition: Literal["hold", "mark", "note", "pass"]
    held: str | None = Field(description="The held item's id.")
    text: str | None = Field(description="What to use instead of the item's text; null while it is held.")
    review_url: str | None
    flags: list[str]
    recognised: str | None = Field(description="The held item whose approved text this is.")
    memory: Literal["stored", "waiting"] | None = Field(
        default=None,
        description="Of a `remember`: whether it is in the team's memory, or waits there for a curator. Null: neither.",
    )


class ThreadPart(_Part):
    """What became of a step that the response wanted with a thought thread, or that it was counted as a touch."""

    item: int | None = Field(description="The item that wanted it; null for a touch.")
    thread: str = Field(description="The thread's slug.")
    op: str = Field(description="create, progress, pause, resume or resolve, else as the tag had it; touch.")
    done: bool
    state: Literal["active", "paused", "resolved"] | None = Field(description="After it; null when it was not done.")
    touches: int | None
    by: Literal["field", "name", "words"] | None = Field(description="What a touch was recognised by.")
    reason: str | None = Field(description="Why it was not done.")
    spans: list[SpanPart] = Field(description="What it was recognised by.")


class SchedulePart(_Part):
    """When the agent's next cycle should come, since something was held."""

    next: str = Field(examples=["2m"])
    reason: str = Field(examples=["hesitation review: held CHAT, REMEMBER"])


class Verdict(_Part):
    """The answer to a posted response. Null: not built, or switched off for the agent."""

    id: str | None = Field(description="Null only where there is no database (the command line).")
    policy: int | None = Field(description="The version of the policy that was applied.")
    profile: Literal["seed", "aware"]
    engine: str
    hesitation: HesitationPart | None
    quality: QualityPart | None
    confidence: ConfidencePart | None
    stuck: StuckPart | None
    items: list[ItemPart]
    flags: list[Literal["tag-in-code", "tag-nested", "tag-unclosed"]] = Field(
        default_factory=list,
        description="Why an opening tag in `response` gave no item of its own: it stands in code, or within another of "
        "its kind; or that it was never closed, so that its item runs to the end. Sorted; empty where items were sent.",
    )
    schedule: SchedulePart | None
    events: list[str]
    threads: list[ThreadPart] | None = Field(
        default=None, description="Null: the response has nothing to do with thought threads, or has no database."
    )
