"""Quality, confidence and stuck in the verdict: what they look at is recorded, so each can be made again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from metacog.accounts.agents import add_policy
from metacog.heuristics.policy.policy import PARTS
from metacog.models import Agent, AuditEvent, Policy
from patterns.memory import memory
from patterns.models import Memory
from patterns.patterns.scorer import scorer_for
from reviews.models import AgentResponse, Delivery
from reviews.scoring import history
from reviews.scoring.replay import Replayer
from tests.command_line import run
from tests.conftest import HELD
from tests.tables import table

ROOT = Path(__file__).parents[3]
TALK: list[dict[str, Any]] = [
    {"response": "The deploy is done and all checks are green.", "session": "s1", "user_message": "Is it deployed?"},
    {"response": "The deploy is done and all checks are green.", "session": "s1", "topics": ["deploys"]},
    {"response": "測試失敗是因為快取過期了，所以請先清掉。", "session": "s1", "user_message": "為什麼失敗？"},
    {"response": "I'm stuck. For some reason it fails.", "session": "s2", "problem": "bug", "errors": ["E1"]},
    {"response": "", "session": "s1"},
    {"response": "Strangely, it fails again.", "session": "s2", "problem": "bug", "errors": ["E1"],
     "retrieval": {"scores": [0.9, 0.2], "facts": 3}},
    {"response": "It fails.", "session": "s2", "problem": "bug", "errors": ["E1"], "topics": ["deploys", "bugs"]},
    {"response": "Done.", "session": "s2", "problem": "bug", "outcome": "resolved", "topics": ["deploys"]},
    {"response": "The deploy is done and all checks are green.", "session": "s1"},  # as two before, not as the last
    {"response": "Done, all checks are green now.", "session": "s2", "problem": "bug", "user_message": "think twice"},
    {"response": "This text belongs to no session at all.", "retrieval": {"scores": [0.9]}},
    {"response": "This text belongs to no session at all.", "retrieval": {"scores": [0.9]}},
]  # fmt: skip


def parts(verdict: Any) -> dict[str, Any]:
    return {name: verdict[name] for name in ("quality", "confidence", "stuck", "events")}


def scored(
    tmp_path: Path, bodies: Iterable[dict[str, Any]], policy: dict[str, Any], patterns: Any = ()
) -> list[dict[str, Any]]:
    """Return the verdicts of the command line."""
    command = ["score"]
    for name, content in (("policy", policy), ("patterns", list(patterns))):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content))
        command += [f"--{name}", str(path)]
    done = run(*command, sent="".join(json.dumps(body) + "\n" for body in bodies).encode())
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def told(kuro: Any) -> list[dict[str, Any]]:
    """Post the talk, and return the verdicts."""
    return [kuro.respond(**({"items": None} | body)) for body in TALK]


def test_a_repetition_is_told_within_its_session(told: Any, kuro: Any) -> None:
    assert not told[0]["quality"]["evaluation"]["repetition"]
    assert told[1]["quality"]["evaluation"]["repetition"]
    assert "like the response 2 before" in told[8]["quality"]["details"][0]["detail"]
    assert not kuro.respond(TALK[0]["response"], session="s9")["quality"]["evaluation"]["repetition"]


def test_what_names_no_session_continues_none_but_is_compared_with_what_names_none_either(told: Any, kuro: Any) -> None:
    first, second = told[-2:]
    assert first["confidence"] == second["confidence"]
    assert second["confidence"]["reason"].endswith("; cold start")
    assert not first["quality"]["evaluation"]["repetition"]
    assert second["quality"]["evaluation"]["repetition"]
    again = kuro.respond(TALK[-1]["response"], session="s3", retrieval={"scores": [0.9]})
    assert not again["quality"]["evaluation"]["repetition"]


def test_familiarity_comes_from_what_was_named_before(told: Any) -> None:
    assert "mentions: deploys: 0" in told[1]["confidence"]["reason"]
    assert "mentions: deploys: 1, bugs: 0" in told[6]["confidence"]["reason"]
    assert told[0]["confidence"] is None  # nothing says anything


def test_each_verdict_can_be_made_again_from_what_is_stored(told: Any, kuro: Any) -> None:
    scorer = scorer_for(Agent.objects.select_related("team").get(public_id=kuro.id))
    rows = AgentResponse.objects.order_by("pk")
    assert len(rows) == len(TALK)
    for row in rows:
        again = scorer.score(row.wire_body(), history=history.recorded(row).history)
        assert json.dumps(parts(again)) == json.dumps(parts(row.wire_verdict()))


def test_the_command_gives_the_same_parts(told: Any, tmp_path: Path) -> None:
    made = scored(tmp_path, TALK, {"language": "en"})
    assert [json.dumps(parts(verdict)) for verdict in made] == [json.dumps(parts(verdict)) for verdict in told]


# All that a body can hold, three times over, so that each part of the verdict has something to say.
EVERYTHING: dict[str, Any] = {
    "response": "Clearly the cache, obviously. For some reason it fails, said I.",
    "items": [
        {"kind": "chat", "text": "It is the cache.", "attributes": {"reply": "true"}},
        {"kind": "thread", "text": "begun", "attributes": {"op": "create", "title": "Tides"}},
        {"kind": "action", "text": "restart it"},
        {"kind": "dance", "text": "x"},
    ],
    "session": "s1", "cycle": 7, "mode": "learn", "action": "read", "topics": ["caches"], "thread": "tides",
    "user_message": "Is it slow? When is it fixed? 為什麼？", "occurred_at": "2026-02-16T08:00:00Z",
    "retrieval": {"scores": [0.9, 0.4], "facts": 3, "topic_mentions": 7, "identity_covered": True},
    "problem": "bug-17", "approach": "restart it", "command": "make it", "command_output": "no", "command_failed": True,
    "errors": ["E1: no"], "context_used": 0.9, "last_commit_at": "2026-02-16T07:00:00Z",
    "tests": {"passed": 3, "failed": 1}, "outcome": "failed",
}  # fmt: skip
# A step of a thread that cannot be taken leaves a flag.
NEEDS_A_DATABASE = re.compile(r"/(id|policy|threads|items/\d+/(held|review_url)|items/1/flags: 1 0)")


def places(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Give where two verdicts have other keys, in another order, or one has null in the place of something."""
    if (one is None) != (other is None):
        yield at
    elif isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            yield f"{at}: {list(one)} {list(other)}"
        for key in one.keys() & other.keys():
            yield from places(one[key], other[key], f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{at}: {len(one)} {len(other)}"
        for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
            yield from places(mine, theirs, f"{at}/{number}")


@pytest.mark.parametrize("profile", ["seed", "aware"])
@pytest.mark.parametrize("body", [EVERYTHING, {"response": "All is well."}], ids=["everything", "hardly anything"])
def test_the_command_has_the_keys_of_the_api_and_null_for_what_needs_a_database(
    kuro: Any, tmp_path: Path, profile: str, body: dict[str, Any]
) -> None:
    Policy.objects.update(profile=profile)
    posted = [kuro.respond(**({"items": None} | body)) for _ in range(3)]
    patterns = kuro.get("/patterns").json()["items"]
    made = scored(tmp_path, [body] * 3, {"language": "en", "profile": profile}, patterns)
    if body is EVERYTHING:
        assert posted[-1]["threads"]
        assert all(posted[-1][part] for part in ("hesitation", "quality", "confidence", "stuck", "items", "schedule"))
        assert {signal["type"] for signal in posted[-1]["stuck"]["signals"]} >= {"error-loop", "repeated-approach"}
    for api, command_line in zip(posted, made, strict=True):
        assert [place for place in places(api, command_line) if not NEEDS_A_DATABASE.fullmatch(place)] == []
        assert (command_line["id"], command_line["policy"], command_line["threads"]) == (None, None, None)


LOW = {"response": "快取壞了，請稍候再試一次。", "user_message": "Why does it fail?"}
GOOD = {"response": "It fails since the disk is full.", "user_message": "Why does it fail?"}
ENDED = {"response": "Solved.", "outcome": "resolved"}
SILENT = {"response": "", "items": [], "command": "df -h"}
P1, P2, S1, S2 = {"problem": "p1"}, {"problem": "p2"}, {"session": "s1"}, {"session": "s2"}
# Six points of seven, one more than that, and a response that adds nothing.
TRIED = {"response": "I'm stuck. For some reason it fails.", "user_message": None, "problem": "p1"}
FULL = {"response": "I'm stuck. For some reason it fails, start over.", "context_used": 0.9, "problem": "p1"}
IMPASSES: dict[str, tuple[list[dict[str, Any]], list[bool]]] = {
    "the second in a row in a session": ([LOW | S1] * 3, [False, True, True]),
    "the second in a row on a problem": ([LOW | P1] * 2, [False, True]),
    "on a problem in one session": ([LOW | S1 | P1] * 2, [False, True]),
    "a step that says nothing between them": ([LOW | S1, SILENT | S1, LOW | S1], [False, False, True]),
    "what names neither": ([LOW] * 3, [False] * 3),
    "two problems": ([LOW | S1 | P1, LOW | S1 | P2], [False, False]),
    "two sessions": ([LOW | S1, LOW | S2], [False, False]),
    "a good one between them": ([LOW | S1, GOOD | S1, LOW | S1], [False] * 3),
    "it was resolved between them": ([LOW | P1, ENDED | P1 | SILENT, LOW | P1], [False] * 3),
    "is resolved": ([LOW | P1, LOW | P1 | {"outcome": "resolved"}, LOW | P1], [False] * 3),
    "below the threshold of being stuck": ([TRIED, GOOD | P1], [False, False]),
    "at it, until it is resolved": ([TRIED, FULL, GOOD | P1, ENDED | P1, GOOD | P1], [False, True, True, False, False]),
    "at it on another problem": ([FULL, GOOD | P2], [True, False]),
}


@pytest.mark.parametrize(("bodies", "expected"), IMPASSES.values(), ids=IMPASSES)
@pytest.mark.parametrize("parts", [{}, {"stuck": False}])
def test_an_impasse_is_the_second_poor_response_in_a_row_or_a_problem_at_its_threshold(
    kuro: Any, tmp_path: Path, bodies: list[dict[str, Any]], expected: list[bool], parts: dict[str, bool]
) -> None:
    if parts:
        Policy.objects.update(parts={**PARTS, **parts})
        expected = [is_one and body | LOW == body for body, is_one in zip(bodies, expected, strict=True)]
    posted = [kuro.respond(**({"items": None} | body)) for body in bodies]
    assert ["meta:impasse" in verdict["events"] for verdict in posted] == expected
    assert all(
        ("meta:confidence-low" in verdict["events"]) is (verdict["quality"]["score"] < 0.5)
        for verdict in posted
        if verdict["quality"]
    )
    made = scored(tmp_path, bodies, {"language": "en", "parts": {**PARTS, **parts}})
    assert [verdict["events"] for verdict in made] == [verdict["events"] for verdict in posted]
    assert all(found.is_equal for found in map(Replayer().replay, AgentResponse.objects.select_related("agent__team")))


def test_a_person_who_resolves_a_problem_ends_its_impasse(kuro: Any) -> None:
    kuro.respond(**LOW | P1)
    assert kuro.post("/problems/p1/resolve", {}).status_code == 200
    assert kuro.respond(**LOW | P1)["events"] == ["meta:confidence-low"]


def test_low_quality_and_impasses_are_recorded_and_told_but_hold_nothing(kuro: Any) -> None:
    Agent.objects.update(callback_url="https://agent.example.org/hook")
    first, second = (kuro.respond(**LOW | S1) for _ in range(2))
    assert (first["events"], second["events"]) == (["meta:confidence-low"], ["meta:confidence-low", "meta:impasse"])
    assert second["items"][0]["disposition"] == "pass"
    recorded = AuditEvent.objects.filter(action__startswith="meta:").order_by("id").values_list("object_id", "action")
    assert list(recorded) == [
        (first["id"], "meta:confidence-low"), (second["id"], "meta:confidence-low"), (second["id"], "meta:impasse"),
    ]  # fmt: skip
    told = [(each.type, json.loads(each.body)["data"]) for each in Delivery.objects.order_by("id")]
    assert [name for name, _ in told] == ["meta.confidence_low", "meta.confidence_low", "meta.impasse"]
    shared = {"response": second["id"], "session": "s1", "quality": second["quality"]}
    assert (told[1][1], told[2][1]) == (shared, {**shared, "stuck": second["stuck"]})


@table(
    ("body", "judged"),
    [
        ({"items": []}, True),
        ({"items": [{"kind": "action", "text": "ran it"}]}, False),
        ({"items": [], "command": "pytest -x"}, False),
    ],
    rolled_back=True,
)
def test_a_step_that_says_nothing_is_judged_only_where_it_does_nothing_either(
    kuro: Any, body: dict[str, Any], judged: bool
) -> None:
    assert (kuro.respond("", **body)["quality"] is not None) == judged


def test_the_context_has_the_latest_confidence(kuro: Any) -> None:
    verdict = kuro.respond("x", retrieval={"scores": [0.9]})
    assert kuro.get("/context").json()["confidence"] == verdict["confidence"]
    prompt = kuro.get("/context", accept="text/plain").content.decode()
    assert "Your confidence level for this response is: medium." in prompt


def test_topics_named_longest_ago_are_forgotten() -> None:
    counts = history.with_mentions({str(n): 1 for n in range(history.TOPICS)}, ["0", "new", "new"])
    assert len(counts) == history.TOPICS
    assert (counts["0"], counts["new"], "1" in counts) == (2, 1, False)


def test_a_topic_is_the_same_however_it_is_written(kuro: Any) -> None:
    for topic in ("Caching", "caching", "快取", " 快取"):
        kuro.respond("x", topics=[topic])
    for topics, count in ((["caching"], 2), (["CACHING "], 2), (["快取"], 2), (["cache"], 0)):
        assert f": {count})" in kuro.post("/confidence", {"topics": topics}).json()["reason"]


REMEMBERED = [
    {"text": "A deploy takes four minutes.", "topic": "pipeline"},
    {"text": "Rate limits are set per key.", "topic": "limits of the API"},
    {"text": "快取每天清晨會清空。", "topic": "網站"},
    {"text": "The limits of the disk are known."},
]


class TestTheTeamsMemory:
    @pytest.fixture
    def remembered(self, kuro: Any) -> Any:
        for each in REMEMBERED:
            assert kuro.post("/memory", each).json()["state"] == "confirmed"
        return kuro

    @table(
        ("topic", "count"),
        [
            ("deploys", 1),
            ("Deploy", 1),
            ("rate limits", 1),  # in the text, in whatever order and form
            ("Limited rate", 1),
            ("pipeline", 1),  # in the topic
            ("limits", 2),
            ("快取", 1),
            ("快取清空", 0),  # the words stand apart
            ("快取 清空", 1),
            ("快取 清理", 0),
            ("缓存", 0),  # another word
            ("网站", 1),  # traditional and simplified as one
            ("deploy limits", 0),  # each in another memory
            ("deployer notes", 0),
            ("the of", 0),  # nothing but function words
            ("mit", 0),  # a part of a word
        ],
        rolled_back=True,
    )
    def test_familiarity_counts_what_it_says_of_a_topic(self, remembered: Any, topic: str, count: int) -> None:
        reason = f"(mentions: {topic}: {count});"
        assert reason in remembered.post("/confidence", {"topics": [topic]}).json()["reason"]
        assert reason in remembered.respond("x", topics=[topic])["confidence"]["reason"]
        said = remembered.post("/confidence", {"topics": [topic, "dreams"]}).json()["reason"]
        assert f"(mentions: {topic}: {count + 1}, dreams: 0)" in said, "and the response that named it"

    def test_what_nobody_has_confirmed_or_was_retired_or_is_anothers_counts_for_nothing(
        self, kuro: Any, other: Any, carla: Any
    ) -> None:
        other.post("/memory", {"text": "A deploy takes an hour there."})
        assert kuro.post("/memory", {"text": HELD + " It was the deploy."}).json()["state"] == "pending"
        retired = kuro.post("/memory", {"text": "A deploy takes five minutes."}).json()
        asked = {"topics": ["deploys"]}
        assert "deploys: 1)" in kuro.post("/confidence", asked).json()["reason"]
        memory.retire(Memory.objects.get(public_id=retired["id"]), carla)
        assert "deploys: 0)" in kuro.post("/confidence", asked).json()["reason"]
        assert "deploys: 1)" in other.post("/confidence", asked).json()["reason"]

    def test_the_agents_own_count_comes_first_and_costs_no_query(self, remembered: Any, olga: Any) -> None:
        def asks_memory(**fields: Any) -> bool:
            with CaptureQueriesContext(connection) as queries:
                remembered.respond("x", **fields)
            return any('"patterns_memoryterm"' in query["sql"] for query in queries)

        counted = {"topic_mentions": 0}
        reason = remembered.respond("x", topics=["deploys"], retrieval=counted)["confidence"]["reason"]
        assert "familiarity 0.00 (0 mention(s))" in reason
        assert asks_memory(topics=["deploys"])
        assert asks_memory(topics=["deploys"], retrieval={"facts": 1})
        assert not asks_memory(topics=["deploys"], retrieval=counted)
        assert not asks_memory(topics=["the"])
        assert not asks_memory(retrieval={"facts": 1})
        off = Policy(parts={"quality": True, "confidence": False, "stuck": True})
        add_policy(Agent.objects.get(public_id=remembered.id), olga, off, based_on=1)
        assert not asks_memory(topics=["deploys"])

    def test_the_verdict_is_made_again_from_what_was_remembered_then(self, remembered: Any, carla: Any) -> None:
        verdict = remembered.respond("x", topics=["deploys", "快取"])
        assert "(mentions: deploys: 1, 快取: 1)" in verdict["confidence"]["reason"]
        for row in Memory.objects.all():
            memory.retire(row, carla)
        replayed = Replayer().replay(AgentResponse.objects.select_related("agent__team").get())
        assert (replayed.is_equal, replayed.unlike) == (True, ())

    def test_as_many_topics_are_looked_up_as_a_search_takes_words(self, remembered: Any) -> None:
        many = [f"word{number}" for number in range(63)]
        for topics, count in (([*many, "deploys"], 1), ([*many, "rate limits"], 0)):
            reason = remembered.post("/confidence", {"topics": topics}).json()["reason"]
            assert reason.partition(")")[0].endswith(f"{topics[-1]}: {count}")

    def test_of_a_great_many_the_newest_count(self, remembered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "MENTIONING", 2)
        memory._places.cache_clear()
        try:
            assert "limits: 2)" in remembered.post("/confidence", {"topics": ["limits"]}).json()["reason"]
            remembered.post("/memory", {"text": "Of limits there are many."})
            assert "limits: 2)" in remembered.post("/confidence", {"topics": ["limits"]}).json()["reason"]
        finally:
            memory._places.cache_clear()


class TestConfidence:
    def test_what_names_no_session_is_asked_from_a_cold_start(self, kuro: Any) -> None:
        asked: dict[str, Any] = {"retrieval": {"scores": [0.9]}}
        cold = kuro.post("/confidence", asked).json()
        for number in range(3):
            kuro.respond(f"number {number}")
            kuro.respond(f"number {number}", session="s1")
        assert kuro.post("/confidence", asked).json() == cold
        assert kuro.post("/confidence", {**asked, "session": None}).json() == cold
        assert kuro.post("/confidence", {**asked, "session": "s2"}).json() == cold
        assert kuro.respond("x", **asked)["confidence"] == cold
        assert cold["reason"].endswith("; cold start")
        assert kuro.post("/confidence", {**asked, "session": "s1"}).json()["reason"].endswith("(3 turn(s) before)")

    def test_it_says_before_the_answer_what_the_verdict_says_with_it(self, told: Any, kuro: Any) -> None:
        asked = {"session": "s2", "retrieval": {"scores": [0.9, 0.2], "facts": 3}, "topics": ["deploys"]}
        answer = kuro.post("/confidence", asked)
        assert answer.status_code == 200
        assert "mentions: deploys: 3" in answer.json()["reason"]
        assert answer.json() == kuro.respond("x", **asked)["confidence"]

    def test_it_asks_nothing_of_the_agents_language_but_its_sentence(self, kuro: Any) -> None:
        Agent.objects.update(language="zh-hant")
        found = kuro.post("/confidence", {"retrieval": {"scores": [0.95], "identity_covered": True}}).json()
        assert found["prompt"].startswith("你對這次回應的信心程度是：")

    @table("asked", [{"retrieval": {"scores": [0.9]}}, {}], rolled_back=True)
    def test_it_says_which_switch_is_off(self, kuro: Any, asked: dict[str, Any]) -> None:
        Policy.objects.update(parts={"quality": True, "confidence": False, "stuck": True})
        answer = kuro.post("/confidence", asked)
        assert (answer.status_code, answer["Content-Type"]) == (409, "application/problem+json")
        assert "`parts.confidence` is false in its policy" in answer.json()["detail"]
        assert kuro.respond("x", **asked)["confidence"] is None

    @table("off", ["quality", "stuck"], rolled_back=True)
    def test_another_switch_is_none_of_its(self, kuro: Any, off: str) -> None:
        Policy.objects.update(parts={"quality": True, "confidence": True, "stuck": True, off: False})
        assert kuro.post("/confidence", {"retrieval": {"scores": [0.9]}}).status_code == 200

    @table("asked", [{}, {"session": "new"}, {"retrieval": {}}, {"topics": []}], rolled_back=True)
    def test_with_nothing_known_it_is_low(self, kuro: Any, asked: dict[str, Any]) -> None:
        found = kuro.post("/confidence", asked).json()
        assert (found["level"], found["reason"]) == ("low", "nothing was retrieved, and no topic is named")
        assert AgentResponse.objects.count() == 0

    @table(
        ("asked", "pointer"),
        [({"retrieval": {"scores": [2]}}, "/retrieval/scores/0"), ({"mood": 1}, "/mood"), ({"topics": "x"}, "/topics")],
        rolled_back=True,
    )
    def test_it_says_what_is_wrong(self, kuro: Any, asked: Any, pointer: str) -> None:
        answer = kuro.post("/confidence", asked)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
