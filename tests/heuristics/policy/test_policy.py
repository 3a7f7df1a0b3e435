"""A policy holds only what can be scored by, and says everything that is wrong with another."""

from typing import Any

import pytest

from metacog.heuristics import Policy, PolicyError
from metacog.heuristics.policy.quality_settings import QualitySettings
from metacog.heuristics.policy.stuck_settings import StuckSettings
from tests.tables import table


def test_it_starts_from_the_contracts_defaults() -> None:
    policy = Policy().as_dict()
    weights = {"absolute-claim": 20, "error-pattern": 30, "no-hedge": 15, "overconfidence": 15}
    assert policy == {
        "weights": policy["weights"] | weights,
        "profile": "seed",
        "threshold": 30,
        "hold_at": 50,
        "release": {"chat": "agent", "task": "agent", "remember": "person"},
        "marks": None,
        "language": None,
        "review_seconds": 120,
        "expiry_seconds": 604_800,
        "rate_per_second": 20,
        "rate_burst": 200,
        "require_signature": False,
        "plain_text_as_chat": False,
        "remember_into_memory": True,
        "accept_relayed_yes": True,
        "max_active_threads": 3,
        "stuck_threshold": 7,
        "budget_calls": 5,
        "budget_extension": 3,
        "budget_wait_seconds": 3600,
        "parts": {"quality": True, "confidence": True, "stuck": True, "reflection": True},
        "packs": [],
        "programs": [],
        "readers": {},
        "trusted_servers": [],
        "hold_words_with_calls": False,
        "elicitation": "agent",
        "quality": {},
        "stuck": {},
        "rules": [],
        "team_rules": [],
        "default_tool_call": "ask",
    }


def test_it_comes_back_from_its_own_values() -> None:
    policy = Policy.from_dict({"threshold": 10, "marks": {"chat": "(unsure)"}, "release": {"remember": "agent"}})
    assert Policy.from_dict(policy.as_dict()) == policy


def test_it_keeps_the_default_of_what_is_missing() -> None:
    policy = Policy.from_dict({"weights": {"no-hedge": 0}, "release": {"chat": "person"}})
    assert policy.weights == {**Policy().weights, "no-hedge": 0}
    assert policy.release == {"chat": "person", "task": "agent", "remember": "person"}


@table(
    ("given", "weight"),
    [
        ({}, 15),
        ({"profile": "aware"}, 0),
        ({"profile": "aware", "weights": {"no-source": 5}}, 0),
        ({"profile": "aware", "weights": {"no-hedge": 15}}, 15),
    ],
)
def test_a_profile_has_its_own_default_weights(given: dict[str, Any], weight: int) -> None:
    assert Policy.from_dict(given).weights["no-hedge"] == weight


@table(
    "good",
    [
        {"threshold": 0, "hold_at": 0},
        {"threshold": 101, "hold_at": 101},
        {"threshold": 50, "hold_at": 50},
        {"profile": "aware"},
        {"weights": {"no-hedge": 100}},
        {"weights": {"no-source": 0, "hidden-text": 100}},
        {"marks": {}},
        {"marks": {"task": "x" * 500}},
        {"language": "en"},
        {"language": "zh-Hans"},
        {"review_seconds": 0},
        {"require_signature": True},
        {"remember_into_memory": False},
    ],
)
def test_it_takes_every_limit_inclusive(good: dict[str, Any]) -> None:
    Policy.from_dict(good)


def test_a_whole_number_is_one_however_it_is_written() -> None:
    settings = {
        "threshold": 25.0,
        "weights": {"no-hedge": 5.0},
        "stuck": {"repeats": 4.0, "weights": {"error-loop": 2.0}, "context_limit": 1.0},
        "quality": {"recent_window": 3.0, "limits": {"en": {"min": 1e1, "max": 2e3}}},
    }
    policy = Policy.from_dict(settings)
    assert (repr(policy.threshold), repr(policy.weights["no-hedge"])) == ("25", "5")
    stuck, quality = StuckSettings.from_dict(policy.stuck), QualitySettings.from_dict(policy.quality)
    assert (repr(stuck.repeats), repr(stuck.weights["error-loop"])) == ("4", "2")
    assert (quality.recent_window, quality.limits.en.min, quality.limits.en.max) == (3, 10, 2000)


@table(
    ("bad", "pointer"),
    [
        ({"profile": "other"}, "/profile"),
        ({"threshold": -1}, "/threshold"),
        ({"threshold": 102}, "/threshold"),
        ({"threshold": True}, "/threshold"),
        ({"threshold": 30.5}, "/threshold"),
        ({"weights": {"no-hedge": 1.5}}, "/weights/no-hedge"),
        ({"threshold": None}, "/threshold"),
        ({"hold_at": 102}, "/hold_at"),
        ({"threshold": 51}, "/hold_at"),
        ({"hold_at": 29}, "/hold_at"),
        ({"weights": {"no-hedge": 101}}, "/weights/no-hedge"),
        ({"weights": {"no-hedge": -1}}, "/weights/no-hedge"),
        ({"weights": {"no-sauce": 1}}, "/weights/no-sauce"),
        ({"weights": []}, "/weights"),
        ({"release": {"chat": "robot"}}, "/release/chat"),
        ({"release": {"ask": "agent"}}, "/release/ask"),
        ({"marks": {"action": "x"}}, "/marks/action"),
        ({"marks": {"chat": ""}}, "/marks/chat"),
        ({"marks": {"chat": "x" * 501}}, "/marks/chat"),
        ({"marks": {"chat": "\0"}}, "/marks/chat"),
        ({"marks": {"chat": "\ud800"}}, "/marks/chat"),
        ({"language": "fr"}, "/language"),
        ({"review_seconds": -1}, "/review_seconds"),
        ({"expiry_seconds": 0}, "/expiry_seconds"),
        ({"rate_per_second": 0}, "/rate_per_second"),
        ({"rate_burst": "200"}, "/rate_burst"),
        ({"require_signature": 1}, "/require_signature"),
        ({"plain_text_as_chat": "no"}, "/plain_text_as_chat"),
        ({"remember_into_memory": "no"}, "/remember_into_memory"),
        ({"accept_relayed_yes": "no"}, "/accept_relayed_yes"),
        ({"max_active_threads": 0}, "/max_active_threads"),
        ({"stuck_threshold": 0}, "/stuck_threshold"),
        ({"budget_calls": 0}, "/budget_calls"),
        ({"budget_extension": -1}, "/budget_extension"),
        ({"thresh/old": 1}, "/thresh~1old"),
    ],
)
def test_it_points_at_what_is_wrong(bad: dict[str, Any], pointer: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict(bad)
    assert [where for where, _ in caught.value.errors] == [pointer]


def test_it_says_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict({"x": 1, "threshold": -1, "language": 5})
    assert [where for where, _ in caught.value.errors] == ["/x", "/threshold", "/language"]


def test_it_refuses_a_list() -> None:
    with pytest.raises(PolicyError, match="must be an object"):
        Policy.from_dict([])  # type: ignore[arg-type]  # on purpose


def test_it_is_checked_when_made_in_python_too() -> None:
    with pytest.raises(PolicyError):
        Policy(threshold=60)
    with pytest.raises(PolicyError, match="is missing"):
        Policy(weights={})


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Policy().threshold = 0  # type: ignore[misc]  # on purpose
