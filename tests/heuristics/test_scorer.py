"""The verdict as a whole: the contract's shape, the seeds' examples, and nothing else that decides it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from metacog.heuristics import (
    ENGINE,
    Item,
    PatternError,
    Policy,
    PolicyError,
    Refused,
    Scorer,
    items_of,
    read_response,
)
from metacog.heuristics.wire.wire import Assessment
from tests.tables import table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GOLDEN = sorted((HERE / "golden").glob("*.json"))


@table("path", GOLDEN)
def test_it_gives_the_verdicts_on_record(path: Path) -> None:
    """Each file says what it shows. A change here is a change of engine version."""
    case = json.loads(path.read_text(encoding="utf-8"))
    scorer = Scorer(case.get("patterns", ()), case.get("policy"))
    body = read_response(json.dumps(case["body"]).encode())
    verdict: Any = scorer.score(body)
    assert verdict.pop("engine") == ENGINE
    assert verdict == case["verdict"]


def test_it_gives_the_contracts_keys_in_the_contracts_order() -> None:
    verdict = Scorer().score({"response": "clearly", "items": [{"kind": "chat", "text": "x"}]})
    assert list(verdict) == [
        *["id", "policy", "profile", "engine", "hesitation", "quality", "confidence", "stuck"],
        *["items", "flags", "schedule", "events", "threads"],
    ]
    assert list(verdict["hesitation"]) == [
        *["score", "confident", "threshold", "hold_at", "signals", "suggestion", "matched_pattern_ids"],
    ]
    assert list(verdict["items"][0]) == [
        *["index", "kind", "disposition", "held", "text", "review_url", "flags", "recognised"],
    ]
    assert (verdict["profile"], verdict["engine"], verdict["events"]) == ("seed", ENGINE, [])


kinds = st.sampled_from(["chat", "CHAT", "remember", "task", "action", "ask", "schedule", "thread", "other"])
words = st.sampled_from(
    ["clearly", "一定", "所以", "因此", "therefore", "key", "maybe", "字", "😀", "<chat>x</chat>", "source"]
)
texts = st.lists(words, max_size=12).map(" ".join)
items = st.lists(st.fixed_dictionaries({"kind": kinds, "text": texts | st.just("long " * 50)}), max_size=4)
bodies = st.fixed_dictionaries({"response": texts, "items": st.none() | items})
KEY = [{"id": "ep", "keywords": ["key"], "description": "a key"}]


@given(bodies, st.integers(0, 60), st.booleans())
def test_it_always_gives_a_verdict_of_the_published_shape(
    body: dict[str, Any], threshold: int, hesitation: bool
) -> None:
    scorer = Scorer(KEY, {"threshold": threshold, "hold_at": threshold + 20})
    verdict = scorer.score(body, hesitation=hesitation)
    TypeAdapter(Assessment).validate_python(verdict, strict=True)
    for item, sent in zip(verdict["items"], items_of(body), strict=True):
        assert item["kind"] == sent.kind
        assert (item["text"] is None) is (item["disposition"] == "hold")
        assert (item["text"] == sent.text) is (item["disposition"] == "pass")


def test_it_parses_tags_only_where_items_are_absent() -> None:
    response = "<kuro:chat reply='true'>hello</kuro:chat>"
    parsed = Item("chat", "hello", {"reply": "true"}, 24, 29)
    scorer = Scorer()
    assert items_of({"response": response}) == (parsed,)
    assert items_of({"response": response, "items": None}) == (parsed,)
    assert items_of({"response": response, "items": []}) == ()
    assert items_of({"response": response, "items": [{"kind": "ASK", "text": " ? "}]}) == (Item("ask", " ? "),)
    assert [item["kind"] for item in scorer.score({"response": response})["items"]] == ["chat"]


def test_an_attribute_that_is_no_string_becomes_its_json() -> None:
    sent = {"reply": True, "to": "alice", "parts": [1, {"甲": None}]}
    (item,) = items_of({"response": "", "items": [{"kind": "chat", "text": "", "attributes": sent}]})
    assert item.attributes == {"reply": "true", "to": "alice", "parts": '[1, {"甲": null}]'}


def test_it_refuses_a_response_with_too_many_tags() -> None:
    with pytest.raises(Refused, match="257 tags"):
        Scorer().score({"response": "<ask>?</ask>" * 257})


def test_it_can_be_switched_off() -> None:
    body = {"response": "clearly key", "items": [{"kind": "chat", "text": "a"}, {"kind": "x", "text": "b"}]}
    verdict = Scorer(KEY).score(body, hesitation=False)
    assert verdict["hesitation"] is None
    assert verdict["schedule"] is None
    assert [(item["disposition"], item["text"], item["flags"]) for item in verdict["items"]] == [
        ("pass", "a", []),
        ("pass", "b", ["unknown-kind"]),
    ]


@table("path", GOLDEN)
@table("hesitation", [True, False])
def test_it_disposes_of_items_as_its_verdict_does(path: Path, hesitation: bool) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    scorer = Scorer(case.get("patterns", ()), case.get("policy"))
    body = read_response(json.dumps(case["body"]).encode())
    for recognised in ({}, {0: "held_1"}):
        verdict = scorer.score(body, recognised=recognised, hesitation=hesitation)
        doubts, items = scorer.dispose(body, recognised, hesitation=hesitation)
        assert (doubts and doubts.score) == (verdict["hesitation"] and verdict["hesitation"]["score"])
        assert [(item["disposition"], item["text"]) for item in items] == [
            (item["disposition"], item["text"]) for item in verdict["items"]
        ]


def test_it_shares_the_patterns_with_another_policy() -> None:
    scorer = Scorer(KEY)
    strict = scorer.with_policy({"threshold": 0, "hold_at": 0})
    assert strict._patterns is scorer._patterns
    assert strict.hesitate("key", []).matched_pattern_ids == ("ep",)
    assert strict.hesitate("", []).confident is False
    assert scorer.hesitate("", []).confident is True
    assert scorer.with_policy(Policy(hold_at=60)).policy.hold_at == 60


def test_it_refuses_a_profile_there_is_not() -> None:
    with pytest.raises(PolicyError, match='/profile: must be "seed" or "aware"'):
        Scorer(profile="other")


@table(
    ("pattern", "says"),
    [
        ("x", "pattern 1: must be an object"),
        ({"keywords": ["a"]}, "pattern 1: needs an id"),
        ({"id": "", "keywords": ["a"]}, "pattern 1: needs an id"),
        ({"id": "ep"}, r"pattern 1 \(ep\): its keywords must be a list"),
        ({"id": "ep", "keywords": "timeout"}, "its keywords must be a list"),
        ({"id": "ep", "keywords": ["a", 1]}, "keyword 1 must be a string"),
        ({"id": "ep", "keywords": ["a", ""]}, "keyword 1 is empty and would match everything"),
        ({"id": "ep", "keywords": ["a" * 201]}, "has 201 characters; 200 at most"),
        ({"id": "ep", "keywords": ["a"] * 65}, "has 65 keywords; 64 at most"),
        ({"id": "ep", "keywords": ["\ud800"]}, "half of a surrogate pair"),
        ({"id": "ep", "keywords": ["a"], "description": 5}, "its description must be a string"),
    ],
)
def test_it_says_which_pattern_is_wrong_and_why(pattern: Any, says: str) -> None:
    with pytest.raises(PatternError, match=says) as caught:
        Scorer([KEY[0], pattern])
    assert caught.value.index == 1


def test_it_takes_patterns_up_to_every_limit() -> None:
    longest = {"id": "ep", "keywords": ["字" * 200] + [f"k{number}" for number in range(63)], "description": None}
    scorer = Scorer([longest, {"id": "none", "keywords": []}])
    assert scorer.hesitate("k62", []).signals[0].detail == "matches past error: "
    assert scorer.hesitate("字" * 200, []).matched_pattern_ids == ("ep",)


def test_it_takes_10_000_patterns_and_no_more() -> None:
    many = [{"id": f"ep-{number}", "keywords": [f"mistake {number}."]} for number in range(10_001)]
    with pytest.raises(PatternError, match="more than 10,000 patterns"):
        Scorer(many)
    scorer = Scorer(many[:10_000])
    assert scorer.hesitate("MISTAKE 9999.", []).matched_pattern_ids == ("ep-9999",)
    assert scorer.hesitate("mistake 10000.", []).matched_pattern_ids == ()


def test_it_gives_every_thread_the_same_answers() -> None:
    scorer = Scorer(KEY)
    responses = [
        f"{'clearly ' * (number % 3)} {'key' * (number % 2)} 所以 因此 therefore {number}" for number in range(60)
    ]
    expected = [scorer.hesitate(response, []) for response in responses]
    wrong: list[str] = []

    def score() -> None:
        wrong.extend(r for r, right in zip(responses, expected, strict=True) if scorer.hesitate(r, []) != right)

    threads = [threading.Thread(target=score) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_it_gives_the_same_bytes_under_any_hash_seed() -> None:
    bodies = [json.loads(path.read_text(encoding="utf-8"))["body"] for path in GOLDEN]
    sent = "".join(json.dumps(body) + "\n" for body in bodies).encode()
    command = [sys.executable, "-m", "metacog.heuristics", "score"]
    answers = {
        subprocess.run(
            command, input=sent, capture_output=True, check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1


def test_it_loads_neither_django_nor_celery_and_touches_nothing_outside() -> None:
    """In a process of its own, with clock, files and network forbidden while it scores."""
    program = """
import sys
import metacog.heuristics
from metacog.heuristics import Scorer, read_response
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"django", "celery", "kombu", "psycopg"}, loaded

scorer = Scorer([{"id": "ep", "keywords": ["key"]}])
def forbid(event, arguments):
    if event.startswith(("open", "socket.", "subprocess.", "os.", "time.", "sqlite3.")):
        raise AssertionError(event)
sys.addaudithook(forbid)
import time
def no_clock(*_):
    raise AssertionError("clock")
time.time = time.monotonic = time.perf_counter = no_clock
body = read_response(b'{"response": "clearly key <chat>x</chat>", "occurred_at": "2026-02-16T08:00:00Z"}')
assert scorer.score(body)["hesitation"]["score"] == 50
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT, capture_output=True)


@settings(max_examples=30)
@given(st.lists(texts, max_size=4))
def test_the_order_of_keywords_within_a_pattern_does_not_change_the_score(keywords: list[str]) -> None:
    keywords = [keyword for keyword in keywords if keyword]
    response = "a key, clearly 一定 所以"
    one = Scorer([{"id": "ep", "keywords": keywords}]).hesitate(response, [])
    other = Scorer([{"id": "ep", "keywords": keywords[::-1]}]).hesitate(response, [])
    assert one.score == other.score
