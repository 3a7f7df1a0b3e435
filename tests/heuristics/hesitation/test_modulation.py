"""What a score does to each kind of item, at every boundary and in every language."""

from typing import Any

from metacog.heuristics import Scorer
from tests.tables import table

KINDS = ["chat", "remember", "task", "action", "ask", "schedule", "thread"]
ITEMS = [{"kind": kind, "text": "text"} for kind in KINDS]
NOTE = "text\n\nHesitation: absolute-claim (score={})"
SEED_MARK = "text\n\n（⚠️ 我對這個回答不太確定，可能需要更多思考）"


def verdict(
    score: int, items: list[dict[str, Any]] = ITEMS, recognised: dict[int, str] | None = None, **policy: Any
) -> Any:
    """Score a response that reaches exactly `score`."""
    scorer = Scorer(policy={"weights": {"absolute-claim": score}, **policy})
    return scorer.score({"response": "clearly", "items": items}, recognised=recognised)


def outcome(verdict: Any) -> dict[str, tuple[str, str | None]]:
    return {item["kind"]: (item["disposition"], item["text"]) for item in verdict["items"]}


PASS = ("pass", "text")
HOLD = ("hold", None)


@table("score", [0, 1, 29])
def test_it_passes_everything_below_the_threshold(score: int) -> None:
    assert outcome(verdict(score)) == dict.fromkeys(KINDS, PASS)


@table("score", [30, 49])
def test_it_marks_from_the_threshold_on(score: int) -> None:
    assert outcome(verdict(score)) == {
        "chat": ("mark", SEED_MARK),
        "remember": ("mark", f"⚠️ [hesitation score={score}] text"),
        "task": ("mark", "[needs-review] text"),
        "action": ("note", NOTE.format(score)),
        "ask": PASS,
        "schedule": PASS,
        "thread": PASS,
    }
    assert verdict(score)["schedule"] is None


@table("score", [50, 100])
def test_it_holds_from_50_on(score: int) -> None:
    assert outcome(verdict(score)) == {
        "chat": HOLD,
        "remember": HOLD,
        "task": HOLD,
        "action": ("note", NOTE.format(score)),
        "ask": PASS,
        "schedule": PASS,
        "thread": PASS,
    }


@table(
    ("kinds", "reason"),
    [
        (["chat"], "held CHAT"),
        (["task", "remember", "task", "chat", "ask"], "held CHAT, REMEMBER, TASK"),
        (["remember", "action"], "held REMEMBER"),
        (["TASK"], "held TASK"),
    ],
)
def test_it_brings_the_next_cycle_forward_when_it_holds(kinds: list[str], reason: str) -> None:
    items = [{"kind": kind, "text": "text"} for kind in kinds]
    assert verdict(50, items)["schedule"] == {"next": "2m", "reason": f"hesitation review: {reason}"}


@table("items", [[], [{"kind": "ask", "text": "?"}], [{"kind": "action", "text": "did"}]])
def test_it_schedules_nothing_when_nothing_is_held(items: list[dict[str, Any]]) -> None:
    assert verdict(50, items)["schedule"] is None


@table(("seconds", "reads"), [(0, "0m"), (1, "1s"), (59, "59s"), (60, "1m"), (90, "90s"), (120, "2m"), (7200, "120m")])
def test_it_says_when_in_whole_minutes_or_in_seconds(seconds: int, reads: str) -> None:
    assert verdict(50, review_seconds=seconds)["schedule"]["next"] == reads


def test_it_follows_the_policys_thresholds() -> None:
    assert outcome(verdict(10, threshold=10, hold_at=11))["chat"] == ("mark", SEED_MARK)
    assert outcome(verdict(11, threshold=10, hold_at=11))["chat"] == HOLD
    assert outcome(verdict(100, hold_at=101))["chat"] == ("mark", SEED_MARK)
    assert outcome(verdict(100, threshold=101, hold_at=101))["action"] == PASS
    assert outcome(verdict(0, threshold=0, hold_at=0))["chat"] == HOLD
    assert outcome(verdict(0, threshold=0, hold_at=0))["action"] == PASS  # the seed notes only where a signal spoke


@table(
    ("language", "chat", "remember", "task"),
    [
        ("zh-Hant", SEED_MARK, "⚠️ [hesitation score=30] text", "[needs-review] text"),
        ("zh-Hans", "text\n\n（⚠️ 我对这个回答不太确定，可能需要更多思考）", "⚠️ [犹豫分数=30] text", "[需要复核] text"),
        (
            "en",
            "text\n\n(⚠️ I am not certain of this answer; it needs more thought.)",
            "⚠️ [hesitation score=30] text",
            "[needs-review] text",
        ),
    ],
)
def test_it_words_marks_in_the_agents_language(language: str, chat: str, remember: str, task: str) -> None:
    marked = outcome(verdict(30, language=language))
    assert [marked[kind][1] for kind in ("chat", "remember", "task")] == [chat, remember, task]


def test_it_prefers_the_policys_own_wording() -> None:
    marks = {"chat": "(unsure: {score} {x} %s)", "task": "[{score}/{score}]"}
    marked = outcome(verdict(30, marks=marks, language="en"))
    assert marked["chat"][1] == "text\n\n(unsure: 30 {x} %s)"
    assert marked["task"][1] == "[30/30] text"
    assert marked["remember"][1] == "⚠️ [hesitation score=30] text"


def test_the_english_mark_is_no_hedge_to_the_seed() -> None:
    """A marked text that is scored again is judged by its own words. The seed's own mark is one: 可能."""
    long = "word " * 41
    for language, silenced in (("en", False), ("zh-Hant", True)):
        chat = [{"kind": "chat", "text": long}]
        marked = verdict(30, chat, language=language)["items"][0]["text"]
        again = Scorer().hesitate("", [{"kind": "chat", "text": marked}])
        assert (again.signals == ()) is silenced


def test_it_passes_what_was_approved_before() -> None:
    items = [{"kind": "chat", "text": "a"}, {"kind": "chat", "text": "b"}, {"kind": "action", "text": "c"}]
    result = verdict(50, items, recognised={1: "held_7", 2: "held_8"})
    assert [(item["disposition"], item["text"], item["recognised"]) for item in result["items"]] == [
        ("hold", None, None),
        ("pass", "b", "held_7"),
        ("pass", "c", "held_8"),
    ]
    assert verdict(50, items[:1], recognised={0: "held_7"})["schedule"] is None


@table(
    ("kind", "kept", "flags"),
    [
        ("Chat", "chat", []),
        ("ASK", "ask", []),
        ("whatever", "whatever", ["unknown-kind"]),
        ("Straße", "strasse", ["unknown-kind"]),
        ("chat ", "chat ", ["unknown-kind"]),
        ("tas\u212a", "task", []),
    ],
)
def test_it_folds_kinds_and_flags_unknown_ones(kind: str, kept: str, flags: list[str]) -> None:
    (item,) = verdict(50, [{"kind": kind, "text": "text"}])["items"]
    assert (item["kind"], item["flags"]) == (kept, flags)
    assert item["disposition"] == ("hold" if kept in ("chat", "task") else "pass")
