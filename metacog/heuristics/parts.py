"""The parts of a verdict beside hesitation: quality, confidence, stuck. None of them touches an item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .policy.policy import Policy
from .policy.quality_settings import QualitySettings
from .policy.stuck_settings import StuckSettings
from .quality import confidence, quality
from .stuck import stuck
from .wire.assessment import ConfidencePart, QualityPart, StuckPart
from .wire.wire import ResponseBody, instant

SEED_LANGUAGE = "en"  # of the sentences in seeds 002 and 004
IMPASSE = "meta:impasse"
MANY_TURNS = 20  # more of them make no difference to the estimate
_ABSENT = dict.fromkeys(ResponseBody.model_fields)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class History:
    """What was recorded before a response and a verdict looks at; with the same history it is the same verdict."""

    at: datetime | None = None  # when the response arrived; what it says itself (`occurred_at`) comes first
    turns: int = 0  # responses of the session before it; 0 where it names no session, and so continues none
    # The last ones of the session, or of what named none, oldest first, as texts or fingerprints.
    recent: Sequence[str | Sequence[int]] = ()
    familiarity: Mapping[str, int] | None = None  # how often each topic was named before, memories of the team too
    # What the response before gave for this session and problem, stuck's state; "low" in it: its quality was.
    stuck: Mapping[str, Any] | None = None
    told: str = ""  # the figures that the agent was given in the session, see given.figures_of
    paused: bool = False  # the agent is: what would pass is held


class Found(NamedTuple):
    """The parts in the contract's shape, null where switched off, and what is to be kept for the next response."""

    quality: QualityPart | None
    confidence: ConfidencePart | None
    stuck: StuckPart | None
    events: list[str]
    state: stuck.State | None  # the next history's `stuck`; None: nothing to keep
    judged: quality.Quality | None


class Parts:
    """Finds the parts under one policy, built once."""

    __slots__ = ("_policy", "_quality", "stuck")

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._quality = QualitySettings.from_dict(policy.quality)
        self.stuck = StuckSettings.from_dict({**policy.stuck, "threshold": policy.stuck_threshold})

    @property
    def recent_window(self) -> int:
        """Say how many responses of the session quality looks back to."""
        return self._quality.recent_window if self._policy.parts["quality"] else 0

    def find(self, body: Mapping[str, Any], history: History) -> Found:
        """Judge a valid body against what was recorded before it."""
        body = {**_ABSENT, **body}
        on, language = self._policy.parts, self._policy.language
        wording = language or SEED_LANGUAGE
        judged = answered = estimated = looked = after = None
        events: list[str] = []
        # Soar's impasse: two responses in a row were no good, or the problem stands at its threshold.
        is_standing = False
        # A step that only calls a tool or does something says nothing that could be judged.
        is_silent = not body["response"].strip() and (body["items"] or body["command"])
        if on["quality"] and not is_silent:
            judged = quality.assess(
                body["response"],
                user_message=body["user_message"],
                recent=history.recent,
                language=language,  # type: ignore[arg-type]  # policies name these three
                settings=self._quality,
            )
            answered = judged.as_dict()
            events += judged.events
        if on["confidence"]:
            known = confidence.estimate(
                retrieval=body["retrieval"],
                topics=body["topics"] or (),
                familiarity=history.familiarity,
                turns=history.turns,
                language=wording,
            )
            estimated = known.as_dict() if known else None
        if on["stuck"]:
            looks, after = stuck.advance(
                history.stuck,
                body,
                now=instant(body["occurred_at"]) if body["occurred_at"] else history.at or _LONG_AGO,
                profile=self._policy.profile,
                language=wording,
                settings=self.stuck,
            )
            looked = looks.as_dict()
            is_standing = looks.points >= looks.threshold
        elif on["quality"]:
            after = dict(history.stuck) if history.stuck else stuck.fresh(body["problem"])
            after["low"] = after.get("low", False) and body["outcome"] != "resolved"
        if judged and after and (body["session"] or body["problem"]):  # what names neither continues none
            is_low = bool(judged.events) and body["outcome"] != "resolved"
            is_standing |= is_low and after.get("low", False)  # which states of earlier engines do not have
            after["low"] = is_low
        if is_standing:
            events.append(IMPASSE)
        # A session that never looked stuck leaves nothing behind, in a database or elsewhere.
        is_kept = after and (history.stuck or (on["stuck"] and body["problem"]) or stuck.is_notable(after))
        return Found(answered, estimated, looked, events, after if is_kept else None, judged)
