"""Races, played with real threads on PostgreSQL. Every one asks the rows who won, not the callers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any, Literal

import pytest
from django.db import connection
from django.utils import timezone

from metacog.models import Agent, AgentState, AuditEvent
from patterns import stuck_state
from patterns.models import Problem, ThinkTwice
from reviews.held import decisions
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem
from tests.conftest import HELD

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def at_once(calls: Iterable[Callable[[], Any]]) -> list[Any]:
    """Run the calls in as many threads, all let go at the same moment; return what each gave or raised."""
    calls = list(calls)
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except Exception as error:  # what a call raises is its result
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_two_people_decide_a_hundred_items_once_each(kuro: Any, alice: Any, bob: Any) -> None:
    for _ in range(2):
        kuro.respond(items=[{"kind": "chat", "text": HELD}] * 50)
    outcomes = Counter[str]()
    for held in HeldItem.objects.all():
        results = at_once(
            partial(decisions.decide, held, person, verdict, reason="x")
            for person, verdict in ((alice, "approve"), (bob, "reject"))
        )
        won = [result for result in results if isinstance(result, tuple)]
        lost = [result for result in results if isinstance(result, decisions.Standing)]
        assert (len(won), len(lost)) == (1, 1), results
        assert lost[0].decision == won[0][0], "the loser is shown what the winner decided"
        outcomes[won[0][0].verdict] += 1
    assert sum(outcomes.values()) == Decision.objects.count() == 100
    decided = AuditEvent.objects.filter(action__in=["chat-approved", "chat-rejected"])
    assert decided.values("object_id").distinct().count() == decided.count() == 100


def test_one_key_posted_fifty_times_at_once_is_one_response(kuro: Any) -> None:
    body = json.dumps({"response": "clearly the cache", "items": [{"kind": "chat", "text": "x"}], "id": "once"})
    answers = at_once(lambda: kuro.post("/responses", body) for _ in range(50))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 49}
    assert len({answer.content for answer in answers}) == 1
    assert (AgentResponse.objects.count(), HeldItem.objects.count()) == (1, 1)
    assert AuditEvent.objects.filter(action="response-accepted").count() == 1


def test_one_key_with_two_bodies_at_once_keeps_one_of_them(kuro: Any) -> None:
    answers = at_once(partial(kuro.post, "/responses", {"response": str(n % 2), "id": "once"}) for n in range(20))
    counts = Counter(answer.status_code for answer in answers)
    assert counts[201] == 1
    assert set(counts) <= {200, 201, 422}
    assert AgentResponse.objects.count() == 1


def test_a_person_the_agent_and_the_clock_decide_one_item_once(kuro: Any, alice: Any, undo_at_once: None) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    winners = Counter[str]()
    for _ in range(30):
        held = HeldItem.objects.get(public_id=kuro.hold())
        AgentState.objects.update(rate_tat=0)
        HeldItem.objects.filter(pk=held.pk).update(review_due_at=timezone.now(), expires_at=timezone.now())
        at_once(
            [
                partial(decisions.decide, held, alice, "reject", reason="x"),
                partial(kuro.post, f"/held/{held.public_id}/decision", {"verdict": "withdraw", "reason": "x"}),
                decisions.settle,
            ]
        )
        decision = Decision.objects.get(held=held)
        winners[decision.by] += 1
        held.refresh_from_db()
        assert held.state == decisions.AFTER[DecisionVerdict(decision.verdict)]
    feed = kuro.get("/decisions").json()["items"]
    assert [item["seq"] for item in feed] == list(range(1, 31))
    assert AgentState.objects.get(agent=agent).decision_seq == 30
    assert sum(winners.values()) == 30


def test_undoing_against_the_release_ends_one_way(kuro: Any, alice: Any, settings: Any) -> None:
    settings.UNDO_SECONDS = 0.02
    ends = Counter[bool]()
    for _ in range(40):
        held = HeldItem.objects.get(public_id=kuro.hold())
        decision, _ = decisions.decide(held, alice, "reject", reason="x")

        def release(decision: Decision = decision) -> None:
            while Decision.objects.filter(pk=decision.pk, released_at=None, undone_at=None).exists():
                decisions.settle()

        undone, _ = at_once([partial(decisions.undo, decision, alice), release])
        decision.refresh_from_db()
        held.refresh_from_db()
        assert (decision.undone_at is not None, decision.released_at is None) == (undone, undone)
        assert held.state == ("pending" if undone else "rejected")
        ends[undone] += 1
    assert sum(ends.values()) == 40


def test_the_feed_has_no_gap_for_a_reader_while_sixteen_decide(kuro: Any) -> None:
    ids = []
    for _ in range(64):
        ids.append(kuro.hold())
        AgentState.objects.update(rate_tat=0)
    seen: list[int] = []

    def read() -> None:
        latest = time.monotonic() + 60  # a writer that failed must not keep the reader for ever
        while len(seen) < 64 and time.monotonic() < latest:
            for item in kuro.get(f"/decisions?after={seen[-1] if seen else 0}").json()["items"]:
                seen.append(item["seq"])

    def write(mine: list[str]) -> None:
        for held in mine:
            answer = kuro.post(f"/held/{held}/decision", {"verdict": "withdraw", "reason": "x"})
            assert answer.status_code == 201

    results = at_once([read, *(partial(write, ids[n::16]) for n in range(16))])
    assert [result for result in results if result is not None] == []
    assert seen == list(range(1, 65))


def test_posts_of_one_agent_are_ordered_and_counted(kuro: Any) -> None:
    answers = at_once(lambda: kuro.post("/responses", {"response": "x", "mode": "m"}) for _ in range(30))
    assert {answer.status_code for answer in answers} == {201}
    state = AgentState.objects.get(agent__public_id=kuro.id)
    assert state.responses == 30
    assert state.intent["streak"] == {"mode": "m", "count": 30}


def test_steps_of_one_problem_count_in_order_and_ask_once(kuro: Any) -> None:
    step = {"problem": "bug", "approach": "again", "errors": ["E"], "response": "For some reason it fails."}
    answers = at_once([lambda: kuro.post("/responses", step) for _ in range(30)])
    points = sorted(answer.json()["stuck"]["points"] for answer in answers)
    assert points == [2, 2, *[8] * 28]
    problem = Problem.objects.get()
    assert (problem.state["step"], problem.points, problem.suggests) == (30, 8, True)
    assert ThinkTwice.objects.count() == 1
    by_arrival = AgentResponse.objects.order_by("pk").values_list("stuck_points", flat=True)
    assert list(by_arrival) == points


def test_of_two_answers_to_one_question_one_stands_and_the_other_is_told(kuro: Any, alice: Any, bob: Any) -> None:
    step = {"problem": "bug", "approach": "again", "errors": ["E"], "response": "For some reason it fails."}
    for _ in range(3):
        kuro.post("/responses", step)
    problem = Problem.objects.get()
    asked = ThinkTwice.objects.get().pk
    said_by: list[tuple[Any, Literal["yes", "no"]]] = [(alice, "yes"), (bob, "no")]
    results = at_once(partial(stuck_state.answer, problem, said, person, asked=asked) for person, said in said_by)
    (late,) = [result for result in results if isinstance(result, stuck_state.NotAsked)]
    stands = ThinkTwice.objects.get()
    assert (stands.answer, stands.person) == (("yes", alice) if results[0] is not late else ("no", bob))
    assert late.answer == stands.answer
    problem.refresh_from_db()
    assert not problem.suggests
    assert problem.state["invoke"] is (stands.answer == "yes")


def test_no_decision_is_missed_by_contexts_that_are_read_while_others_decide_and_responses_come(
    kuro: Any, alice: Any, settings: Any
) -> None:
    settings.UNDO_SECONDS = 0
    AgentState.objects.update(rate_tat=0)
    for _ in range(12):
        kuro.hold()
    told, held = list[str](), list(HeldItem.objects.select_related("agent"))

    def cycles() -> None:
        for _ in range(12):
            told.extend(each["held"] for each in kuro.get("/context").json()["decided"])
            kuro.respond("next")

    at_once(
        [
            cycles,
            lambda: [decisions.decide(each, alice, "reject", reason="no") for each in held],
            lambda: [kuro.respond("another thread of the agent's") for _ in range(12)],
        ]
    )
    told.extend(each["held"] for each in kuro.get("/context").json()["decided"])
    assert set(told) == {each.public_id for each in held}
