"""How one agent wants its responses judged, as one immutable value."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from ..lexicon import MARKS
from ..signals import DEFAULTS, WEIGHTS
from ..text.strict_json import pointer, whole
from ..tool_calls.rules import DO, Do, errors_in, team_errors_in
from .effect_settings import packs_errors, programs_errors, readers_errors, servers_errors
from .errors import PolicyError
from .quality_settings import QualitySettings
from .stuck_settings import SETTINGS as STUCK
from .stuck_settings import StuckSettings

PROFILES = ("seed", "aware")
# Kinds that are held and marked (seed 000, 行為調節), and who may release what was held of them.
RELEASE = {"chat": "agent", "task": "agent", "remember": "person"}
# The parts of a verdict that an agent can do without, and the daily look back.
PARTS = {"quality": True, "confidence": True, "stuck": True, "reflection": True}
MAX_MARK_LENGTH = 500
NEVER = 101  # one more than the highest score


@dataclass(frozen=True, slots=True)
class Policy:
    """Thresholds, weights and wordings; the defaults are the seeds', and in `from_dict` those of the profile.

    Hesitation scores run 0..100, more is worse: marked from `threshold`, held from `hold_at` (101: never).
    A signal of weight 0 is switched off. `language` is the agent's, of what is added to its texts; None: each wording
    as its seed has it. `marks` overrides the wording of `language` for single kinds, and "{score}" in it becomes the
    score. With `plain_text_as_chat` a response without items is one chat; `remember_into_memory` says whether a
    `remember` that is not held comes into the team's memory. `parts` switches the others of a verdict and reflection,
    `quality` and `stuck` hold what differs from QualitySettings and StuckSettings. `rules` decide about tool calls, in
    order, then the rules of `packs`, and `default_tool_call` where none matches (see rules.py); before all of them
    `team_rules`, which are the agent's team's. `readers` and `programs` say how a call's arguments are read (see
    effects/), and of `trusted_servers` the tools' hints are believed. `hold_words_with_calls` holds a response's words
    with its call, and `elicitation` says who answers what a proxied MCP server asks: the agent's own client, or people.
    `expiry_seconds`, `rate_*`, `budget_*` and so on are read elsewhere.
    """

    profile: Literal["seed", "aware"] = "seed"
    threshold: int = 30
    hold_at: int = 50
    weights: Mapping[str, int] = field(default_factory=lambda: dict(WEIGHTS))
    release: Mapping[str, str] = field(default_factory=lambda: dict(RELEASE))
    marks: Mapping[str, str] | None = None
    language: str | None = None
    review_seconds: int = 120
    expiry_seconds: int = 604_800
    rate_per_second: int = 20
    rate_burst: int = 200
    require_signature: bool = False
    plain_text_as_chat: bool = False
    remember_into_memory: bool = True
    max_active_threads: int = 3
    stuck_threshold: int = 7
    accept_relayed_yes: bool = True
    budget_calls: int = 5
    budget_extension: int = 3
    budget_wait_seconds: int = 3_600
    parts: Mapping[str, bool] = field(default_factory=lambda: dict(PARTS))
    quality: Mapping[str, Any] = field(default_factory=dict)
    stuck: Mapping[str, Any] = field(default_factory=dict)
    team_rules: Sequence[Mapping[str, Any]] = ()
    rules: Sequence[Mapping[str, Any]] = ()
    packs: Sequence[Mapping[str, Any]] = ()
    default_tool_call: Do = "ask"
    readers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    programs: Sequence[Mapping[str, Any]] = ()
    trusted_servers: Sequence[str] = ()
    hold_words_with_calls: bool = False
    elicitation: Literal["agent", "people"] = "agent"

    def __post_init__(self) -> None:
        """Raise PolicyError with everything that is wrong, not only the first."""
        errors = [
            (pointer([name, *loc]), detail)
            for name, check in _CHECKS.items()
            for loc, detail in check(getattr(self, name))
        ]
        if not errors and self.hold_at < self.threshold:
            detail = f"must not be below threshold: {self.hold_at} is less than {self.threshold}"
            errors.append(("/hold_at", detail))
        if errors:
            raise PolicyError(errors)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Check a policy as it is stored or sent, or raise PolicyError; what is missing keeps its default."""
        if not isinstance(mapping, Mapping):
            raise PolicyError([("", "must be an object")])
        known = {part.name for part in fields(cls)}
        errors = [(pointer([name]), "is not part of a policy") for name in mapping if name not in known]
        values = {name: whole(value) for name, value in mapping.items() if name in known}
        own = DEFAULTS["aware" if values.get("profile") == "aware" else "seed"]
        for name, defaults in (("weights", own), ("release", RELEASE), ("parts", PARTS)):
            if isinstance(values.get(name), Mapping):
                values[name] = {**defaults, **{key: whole(value) for key, value in values[name].items()}}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        if values.get("profile") == "aware":  # what is its own, unless another is given
            values.setdefault("stuck_threshold", STUCK["aware"].threshold)
            values.setdefault("weights", dict(own))
        try:
            policy = cls(**values)
        except PolicyError as error:
            raise PolicyError(errors + error.errors) from None
        if errors:
            raise PolicyError(errors)
        return policy

    def as_dict(self) -> dict[str, Any]:
        """Give the policy as JSON values; `from_dict` takes it back."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value


_Errors = list[tuple[tuple[str, ...], str]]
_Check = Callable[[Any], _Errors]


def _whole(low: int, high: int) -> _Check:
    def check(value: Any) -> _Errors:
        if type(value) is not int or not low <= value <= high:
            return [((), f"must be a whole number from {low} to {high}")]
        return []

    return check


def _one_of(choices: Collection[str]) -> _Check:
    wanted = "must be " + " or ".join(f'"{choice}"' for choice in choices)

    def check(value: Any) -> _Errors:
        return [] if isinstance(value, str) and value in choices else [((), wanted)]

    return check


def _table(names: Collection[str], each: _Check, needs_all: bool = True) -> _Check:
    def check(value: Any) -> _Errors:
        if not isinstance(value, Mapping):
            return [((), "must be an object")]
        errors: _Errors = [((name,), "is missing") for name in names if needs_all and name not in value]
        for name, part in value.items():
            if name in names:
                errors.extend(((name, *loc), detail) for loc, detail in each(part))
            else:
                errors.append(((str(name),), "must be one of " + ", ".join(names)))
        return errors

    return check


def _switch(value: Any) -> _Errors:
    return [] if isinstance(value, bool) else [((), "must be true or false")]


def _wording(value: Any) -> _Errors:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_MARK_LENGTH:
        return [((), f"must be a text of 1 to {MAX_MARK_LENGTH} characters")]
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        return [((), "must hold no NUL and no half of a surrogate pair")]
    return []


def _or_null(check: _Check) -> _Check:
    return lambda value: [] if value is None else check(value)


def _part(settings: Callable[[Any], Any]) -> _Check:
    def check(value: Any) -> _Errors:
        try:
            settings(value)
        except PolicyError as error:
            return [(_names(where), detail) for where, detail in error.errors]
        return []

    return check


def _names(where: str) -> tuple[str, ...]:
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in where.split("/")[1:])


_SECONDS_IN_YEAR = 31_536_000
_CHECKS: dict[str, _Check] = {
    "profile": _one_of(PROFILES),
    "threshold": _whole(0, NEVER),
    "hold_at": _whole(0, NEVER),
    "weights": _table(WEIGHTS, _whole(0, 100)),
    "release": _table(RELEASE, _one_of(["person", "agent"])),
    "marks": _or_null(_table(RELEASE, _wording, needs_all=False)),
    "language": _or_null(_one_of(list(MARKS))),
    "review_seconds": _whole(0, _SECONDS_IN_YEAR),
    "expiry_seconds": _whole(1, _SECONDS_IN_YEAR),
    "rate_per_second": _whole(1, 1_000_000),
    "rate_burst": _whole(1, 1_000_000),
    "require_signature": _switch,
    "plain_text_as_chat": _switch,
    "remember_into_memory": _switch,
    "max_active_threads": _whole(1, 100),
    "stuck_threshold": _whole(1, 100),
    "accept_relayed_yes": _switch,
    "budget_calls": _whole(1, 10_000),
    "budget_extension": _whole(0, 10_000),
    "budget_wait_seconds": _whole(1, _SECONDS_IN_YEAR),
    "parts": _table(PARTS, _switch),
    "quality": _part(QualitySettings.from_dict),
    "stuck": _part(StuckSettings.from_dict),
    "team_rules": team_errors_in,
    "rules": errors_in,
    "packs": packs_errors,
    "default_tool_call": _one_of(DO),
    "readers": readers_errors,
    "programs": programs_errors,
    "trusted_servers": servers_errors,
    "hold_words_with_calls": _switch,
    "elicitation": _one_of(["agent", "people"]),
}
