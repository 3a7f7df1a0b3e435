"""How one agent's quality is judged, as one immutable value."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from ..wire.wire import Share, Whole, explain
from .errors import PolicyError

MAX_CHARACTERS = 1_048_576
MAX_FORBIDDEN = 64
MAX_FORBIDDEN_LENGTH = 200
MAX_RECENT = 20


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Weights(_Part):
    """The share of the score that a total failure of each part takes away, 0 to 1.

    The seeds give no weights. With these the worked example of seed 004 ("What it produces": 0.9, 1.0, 0.8) comes
    to its 0.85. What `off-topic` and `question-unanswered` come from weighs nothing: on real answers they mark the
    better ones (docs/quality.md, Rates). They are flags only.
    """

    responsiveness: Share = 0.0
    completeness: Share = 0.0
    consistency: Share = 0.75
    length: Share = 0.40
    repetition: Share = 0.40


class Limits(_Part):
    """The least and the most characters of a sane response, inclusive."""

    min: Annotated[Whole, Field(ge=0, le=MAX_CHARACTERS)]
    max: Annotated[Whole, Field(ge=1, le=MAX_CHARACTERS)]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            raise PydanticCustomError("order", "min must not be more than max")
        return self


class LengthLimits(_Part):
    """Limits by the script of the response: what is short in English is a whole answer in Chinese.

    `zh` is for Chinese, Japanese and Korean, `en` for the rest (its least is seed 004's).
    """

    en: Limits = Limits(min=10, max=12_000)
    zh: Limits = Limits(min=2, max=4_000)

    @cached_property
    def of_any(self) -> range:
        """Give the lengths that are sane in any script."""
        return range(max(self.en.min, self.zh.min), min(self.en.max, self.zh.max) + 1)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


class QualitySettings(_Part):
    """What the self-monitor wants of one agent's responses (seed 004, "Self-Monitor"); the defaults are the seed's.

    `forbidden` are literal phrases, found in any case as whole words. `recent_window` responses are compared with, 0
    for none; from a similarity of `similar_at` on a response is a repetition. A response passes from `pass_at`, is
    given the hedge down to `low_at`, and is reported below. `hedge_prefix` replaces the usual wording.
    """

    weights: Weights = Weights()
    limits: LengthLimits = LengthLimits()
    forbidden: Annotated[
        tuple[Annotated[str, Field(max_length=MAX_FORBIDDEN_LENGTH), AfterValidator(_not_blank)], ...],
        Field(max_length=MAX_FORBIDDEN, strict=False),
    ] = ()
    recent_window: Annotated[Whole, Field(ge=0, le=MAX_RECENT)] = 5
    similar_at: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.9
    pass_at: Share = 0.7
    low_at: Share = 0.5
    hedge_prefix: Annotated[str, Field(max_length=200), AfterValidator(_not_blank)] | None = None

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Check settings as they are stored or sent, or raise PolicyError; what is missing keeps its default."""
        try:
            settings = cls.model_validate(mapping)
        except ValidationError as error:
            errors = explain(error.errors(include_url=False))
            raise PolicyError([(one["pointer"], one["detail"]) for one in errors]) from None
        if settings.low_at > settings.pass_at:
            detail = f"must not be above pass_at: {settings.low_at:g} is more than {settings.pass_at:g}"
            raise PolicyError([("/low_at", detail)])
        return settings

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as JSON values; `from_dict` takes them back."""
        return self.model_dump(mode="json")
