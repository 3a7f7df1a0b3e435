"""When an agent asks to think twice, as one immutable value (seed 002)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from ..text.strict_json import pointer, whole
from .errors import PolicyError

# Seed 002, "Heuristic Signals"; the last two are its "Future Enhancements", shown without points.
WEIGHTS = {
    "repeated-approach": 3,
    "circular-reasoning": 3,
    "error-loop": 3,
    "exhaustion": 3,
    "uncertainty": 2,
    "scope-creep": 2,
    "stale-context": 2,
    "no-commits": 0,
    "test-regression": 0,
}
MOST_MINUTES = 525_600  # a year


@dataclass(frozen=True, slots=True)
class StuckSettings:
    """When an agent asks to think twice; the defaults are the seed's.

    `weights` are points by signal (0: shown, never counted), `repeats` is how often makes a loop, `context_limit`
    a share that must be exceeded, `idle_minutes` the active work without a commit.
    """

    threshold: int = 7
    weights: Mapping[str, int] = field(default_factory=lambda: dict(WEIGHTS))
    repeats: int = 3
    context_limit: float = 0.8
    idle_minutes: int = 30

    def __post_init__(self) -> None:
        """Raise PolicyError with everything that is wrong, not only the first."""
        errors = [
            *_whole("threshold", self.threshold, 1, 100),
            *_whole("repeats", self.repeats, 2, 100),
            *_whole("idle_minutes", self.idle_minutes, 1, MOST_MINUTES),
        ]
        limit = self.context_limit
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
            errors.append(("/context_limit", "must be a number from 0 to 1"))
        if not isinstance(self.weights, Mapping):
            errors.append(("/weights", "must be an object"))
        else:
            for name in WEIGHTS.keys() - self.weights.keys():
                errors.append((pointer(["weights", name]), "is missing"))
            for name, weight in self.weights.items():
                if name in WEIGHTS:
                    errors += _whole(name, weight, 0, 100, "weights")
                else:
                    errors.append((pointer(["weights", str(name)]), "must be one of " + ", ".join(WEIGHTS)))
        if errors:
            raise PolicyError(sorted(errors))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Check settings as they are stored or sent, or raise PolicyError; what is missing keeps its default."""
        if not isinstance(mapping, Mapping):
            raise PolicyError([("", "must be an object")])
        known = {part.name for part in fields(cls)}
        errors = [(pointer([str(name)]), "is not part of these settings") for name in mapping if name not in known]
        values = {name: whole(value) for name, value in mapping.items() if name in known}
        if isinstance(values.get("weights"), Mapping):
            values["weights"] = {**WEIGHTS, **{name: whole(value) for name, value in values["weights"].items()}}
        try:
            settings = cls(**values)
        except PolicyError as error:
            raise PolicyError(errors + error.errors) from None
        if errors:
            raise PolicyError(errors)
        return settings

    def as_dict(self) -> dict[str, Any]:
        """Give the settings as JSON values; `from_dict` takes it back."""
        return {**asdict(self), "weights": dict(self.weights)}


def _whole(name: str, value: Any, low: int, high: int, *parents: str) -> list[tuple[str, str]]:
    if type(value) is int and low <= value <= high:
        return []
    return [(pointer([*parents, name]), f"must be a whole number from {low} to {high}")]


# For profile `aware` the threshold is chosen from real runs: docs/stuck.md.
SETTINGS = {"seed": StuckSettings(), "aware": StuckSettings(threshold=6)}
