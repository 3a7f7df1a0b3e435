"""Stuck (seed 002), as an agent meets it: counters, suggestion, a person's answer, the brief, the outcome."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.accounts import agents
from metacog.models import Agent, AuditEvent, Policy, Team
from patterns import stuck_state
from patterns.memory import memory
from patterns.models import Memory, MemoryConflict, Problem, ThinkTwice
from reviews.models import AgentResponse, Delivery
from tests.conftest import HELD
from tests.tables import table

LOOP = {"problem": "bug-17", "session": "s1", "approach": "bump the timeout", "errors": ["TimeoutError: 30 s"]}
CREEP = "I'm not sure why. Let me try a completely different approach."


def fail(kuro: Any, response: str = "It failed.", **fields: Any) -> Any:
    return kuro.respond(response, items=[], **(LOOP | fields))["stuck"]


def get_stuck(kuro: Any, **fields: Any) -> Any:
    """Post what reaches the threshold: two loops of 3 and what is said with the third step."""
    fail(kuro, **fields)
    fail(kuro, **fields)
    return fail(kuro, CREEP, **fields)


class TestCounting:
    def test_it_adds_up_signal_by_signal(self, kuro: Any) -> None:
        assert [fail(kuro)["points"] for _ in range(3)] == [0, 0, 6]
        stuck = fail(kuro, CREEP)
        assert (stuck["points"], stuck["suggest"], stuck["invoke"]) == (10, True, False)
        assert stuck["prompt"].startswith("I'm detecting signs we might be stuck on this problem:\n- ")
        assert "**Think Twice**" in stuck["prompt"]

    def test_problems_sessions_and_agents_are_counted_apart(self, kuro: Any, other: Any) -> None:
        get_stuck(kuro)
        assert fail(kuro, problem="bug-18")["points"] == 0
        assert fail(kuro, session="s2")["points"] == 0
        assert fail(other)["points"] == 0
        assert Problem.objects.count() == 4

    def test_success_resets(self, kuro: Any) -> None:
        get_stuck(kuro)
        assert fail(kuro, "Fixed.", outcome="resolved", errors=[], approach=None)["points"] == 0
        assert not Problem.objects.get().suggests
        assert fail(kuro)["points"] == 0

    def test_the_users_own_think_twice_is_recorded_on_a_problem_that_is_known(self, kuro: Any) -> None:
        fail(kuro)
        for count in (1, 2):
            assert fail(kuro, user_message="再想想")["invoke"] is True
            assert [(each.answer, each.by) for each in ThinkTwice.objects.all()] == [("yes", "user")] * count
        fail(kuro)
        assert ThinkTwice.objects.count() == 2
        assert AuditEvent.objects.filter(action="think-twice-answered").count() == 2

    def test_a_suggestion_that_nobody_answered_stays_on_record(self, kuro: Any) -> None:
        get_stuck(kuro)
        fail(kuro, "Fixed.", outcome="resolved", errors=[], approach=None)
        get_stuck(kuro)
        kuro.post("/problems/bug-17/resolve", {})
        get_stuck(kuro)
        answers = kuro.get("/problems/bug-17").json()["answers"]
        assert [(each["answer"], bool(each["suggested_at"]), bool(each["answered_at"])) for each in answers] == [
            (None, True, False), (None, True, True), (None, True, True),
        ]  # fmt: skip

    def test_what_shows_nothing_leaves_no_row(self, kuro: Any) -> None:
        kuro.respond("All is well.")
        assert not Problem.objects.exists()
        assert AgentResponse.objects.get().problem is None

    def test_a_response_posted_twice_counts_once(self, kuro: Any) -> None:
        for _ in range(3):
            kuro.post("/responses", {"id": "same", "response": "x", **LOOP})
        assert Problem.objects.get().state["step"] == 1

    def test_what_is_resolved_is_resolved_once(self, kuro: Any) -> None:
        get_stuck(kuro)
        first, again = (kuro.post("/problems/bug-17/resolve", {}).json() for _ in range(2))
        assert first == again
        assert AuditEvent.objects.filter(action="problem-resolved").count() == 1

    def test_it_can_be_switched_off(self, kuro: Any) -> None:
        Policy.objects.update(parts={"quality": False, "confidence": False, "stuck": False})
        verdict = kuro.respond(**LOOP)
        assert (verdict["quality"], verdict["confidence"], verdict["stuck"]) == (None, None, None)
        assert not Problem.objects.exists()


class TestAsking:
    def test_the_suggestion_is_recorded_owed_and_in_the_context_until_somebody_answers(self, kuro: Any) -> None:
        Agent.objects.update(callback_url="https://agent.example.org/hook")
        get_stuck(kuro)
        fail(kuro)
        assert AuditEvent.objects.filter(action="think-twice-suggested").count() == 1
        assert Delivery.objects.get(type="think_twice.suggested").agent.name == "kuro"
        (asked,) = kuro.get("/context").json()["think_twice"]
        assert (asked["problem"], asked["suggest"]) == ("bug-17", True)
        named = f"{asked['session']} · bug-17\n{asked['prompt']}".removeprefix(" · ")
        assert f"\n\n{named}\n" in "\n\n" + kuro.get("/context", accept="text/plain").content.decode()
        kuro.post("/problems/bug-17/think-twice", {"answer": "no"})
        assert kuro.get("/context").json()["think_twice"] is None
        assert not fail(kuro)["suggest"]

    def test_the_brief_is_in_the_context_after_a_yes_that_the_agent_brings(self, kuro: Any) -> None:
        get_stuck(kuro)
        kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
        (told,) = kuro.get("/context").json()["think_twice"]
        assert (told["invoke"], told["brief"]) == (True, kuro.get("/problems/bug-17").json()["brief"])
        assert fail(kuro)["invoke"]
        assert kuro.get("/context").json()["think_twice"] is None

    def test_a_brief_keeps_what_binds_whole(self, kuro: Any) -> None:
        said = "Fix it. You must keep Django 5.2. Do not touch settings.py! 不要改 1.5 版。Is it hard?"
        kuro.respond("x", problem="bug-17", errors=["E"], user_message=said)
        lines = kuro.get("/problems/bug-17").json()["brief"].splitlines()
        bound = lines[lines.index("## Constraints") :]
        for sentence in ("You must keep Django 5.2.", "Do not touch settings.py!", "不要改 1.5 版。"):
            assert f"> {sentence}" in bound

    def test_what_a_policy_took_back_before_anybody_answered_is_asked_again(self, kuro: Any, olga: Any) -> None:
        get_stuck(kuro)
        agents.add_policy(Agent.objects.get(), olga, Policy(stuck_threshold=100), based_on=1)
        assert not fail(kuro)["suggest"]
        agents.add_policy(Agent.objects.get(), olga, Policy(stuck_threshold=10), based_on=2)
        assert fail(kuro)["suggest"]
        assert ThinkTwice.objects.count() == 1

    def test_the_context_asks_however_many_others_were_answered_since(self, kuro: Any, alice: Any) -> None:
        get_stuck(kuro, problem="open")
        for key in ("one", "two", "three"):
            get_stuck(kuro, problem=key)
            stuck_state.answer(Problem.objects.get(key=key), "yes", alice)
            assert fail(kuro, problem=key)["invoke"]
        assert [each["problem"] for each in kuro.get("/context").json()["think_twice"]] == ["open"]

    @table("said", ["yes", "no"], rolled_back=True)
    def test_the_same_answer_again_is_the_first(self, kuro: Any, alice: Any, as_person: Any, said: str) -> None:
        get_stuck(kuro)
        address = reverse("problem-answer", args=[Problem.objects.get().public_id])
        answers = [kuro.post("/problems/bug-17/think-twice", {"answer": said}) for _ in range(2)]
        assert answers[0].json() == answers[1].json()
        counts = (2, 2, 3) if said == "yes" else (1, 1, 1)  # nobody asks any more, and a no is always an answer
        for turn, count in enumerate(counts):
            if turn == 2:
                fail(kuro)  # from here on another yes is another one
            as_person(alice).post(address, {"answer": said})
            assert ThinkTwice.objects.count() == count
        assert AuditEvent.objects.filter(action="think-twice-answered").count() == counts[-1]

    @table("said", ["yes", "no"], rolled_back=True)
    def test_an_agent_brings_a_persons_answer(self, kuro: Any, said: str) -> None:
        get_stuck(kuro)
        answer = kuro.post("/problems/bug-17/think-twice", {"answer": said})
        assert answer.status_code == 200
        assert (answer.json()["suggest"], answer.json()["invoke"]) == (False, said == "yes")
        assert "bump the timeout" in answer.json()["brief"]
        row = ThinkTwice.objects.get()
        assert (row.answer, row.by, row.points) == (said, "agent", 10)
        event = AuditEvent.objects.get(action="think-twice-answered")
        assert (event.after, event.data["by"]) == (said, "agent")
        # Whatever of the agent reads the verdicts hears it there, too, and once.
        assert [fail(kuro)["invoke"] for _ in range(2)] == [said == "yes", False]

    def test_a_yes_that_the_agent_relays_is_refused_where_the_policy_wants_people(
        self, kuro: Any, alice: Any, as_person: Any
    ) -> None:
        Policy.objects.update(accept_relayed_yes=False)
        get_stuck(kuro)
        found, events = Problem.objects.get(), AuditEvent.objects.count()
        answer = kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
        assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
        assert f"/stuck/{found.public_id}/" in answer.json()["detail"], "it says who can answer, and where"
        assert AuditEvent.objects.count() == events
        assert kuro.get("/problems/bug-17").json()["suggest"], "it is asked still"
        assert kuro.post("/problems/bug-17/think-twice", {"answer": "no"}).status_code == 200
        as_person(alice).post(reverse("problem-answer", args=[found.public_id]), {"answer": "yes"})
        assert fail(kuro)["invoke"]
        assert fail(kuro, user_message="Think twice.")["invoke"]
        assert kuro.post("/problems/bug-17/think-twice", {"outcome": "helped"}).status_code == 200
        assert [row.by for row in ThinkTwice.objects.order_by("pk")] == ["agent", "person", "user"]

    def test_a_yes_whose_outcome_is_known_is_told_no_more(self, kuro: Any) -> None:
        get_stuck(kuro)
        kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
        kuro.post("/problems/bug-17/think-twice", {"outcome": "helped"})
        assert not fail(kuro)["invoke"]

    def test_the_users_own_think_twice_is_the_yes(self, kuro: Any) -> None:
        stuck = fail(kuro, user_message="Think twice.")
        assert (stuck["points"], stuck["suggest"], stuck["invoke"]) == (0, False, True)
        row = ThinkTwice.objects.get()
        assert (row.answer, row.by, row.suggested_at) == ("yes", "user", None)
        assert not fail(kuro)["invoke"]

    def test_a_yes_in_the_console_reaches_the_agent_once(self, kuro: Any, alice: Any, as_person: Any) -> None:
        get_stuck(kuro)
        problem = Problem.objects.get()
        answer = as_person(alice).post(reverse("problem-answer", args=[problem.public_id]), {"answer": "yes"})
        assert answer.status_code == 302
        (told,) = kuro.get("/context").json()["think_twice"]
        assert (told["invoke"], told["suggest"]) == (True, False)
        assert told["brief"].strip() in kuro.get("/context", accept="text/plain").content.decode()
        assert fail(kuro)["invoke"]
        assert kuro.get("/context").json()["think_twice"] is None
        assert not fail(kuro)["invoke"]
        row = ThinkTwice.objects.get()
        assert (row.answer, row.by, row.person) == ("yes", "person", alice)


class TestOutcome:
    def test_it_is_kept_and_can_be_corrected(self, kuro: Any) -> None:
        get_stuck(kuro)
        kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
        for outcome in ("helped", "helped", "did-not-help"):
            answer = kuro.post("/problems/bug-17/think-twice", {"outcome": outcome})
            assert answer.json()["answers"][0]["outcome"] == outcome
        assert AuditEvent.objects.filter(action="think-twice-outcome").count() == 2

    def test_without_a_yes_there_is_none(self, kuro: Any) -> None:
        get_stuck(kuro)
        answer = kuro.post("/problems/bug-17/think-twice", {"outcome": "helped"})
        assert answer.status_code == 409
        assert "Nobody has said yes" in answer.json()["detail"]


class TestReading:
    def test_it_shows_state_evidence_and_brief(self, kuro: Any) -> None:
        kuro.respond("x", user_message="Never touch the database. Why is it slow?", **LOOP)
        get_stuck(kuro)
        found = kuro.get("/problems/bug-17").json()
        assert {signal["type"] for signal in found["signals"]} >= {"error-loop", "repeated-approach"}
        assert found["session"] == "s1"
        for part in ("bug-17", "TimeoutError", "bump the timeout", "Never touch the database."):
            assert f"> {part}" in found["brief"]

    def test_the_brief_speaks_the_agents_language_throughout(self, kuro: Any) -> None:
        Agent.objects.update(language="zh-hant")
        get_stuck(kuro)
        assert "> 重複相同做法：已試 3 次\n" in kuro.get("/problems/bug-17").json()["brief"]

    def test_the_brief_tells_what_the_team_remembers_of_it(self, kuro: Any, other: Any, carla: Any) -> None:
        other.post("/memory", {"text": "A timeout of the stub is told as TimeoutError: another team's."})
        text = "TimeoutError comes from the stub, after a timeout of 30 s."
        said = {"text": text, "topic": "stubs", "source": "wiki"}
        ours = kuro.post("/memory", said).json()
        team = Team.objects.get(name="Aurora")
        written = memory.add(team, memory.Said("Nobody needs it on Sundays.", "bug-17"), carla)
        kuro.post("/memory", {"text": "A deploy takes four minutes.", "topic": "pipeline"})
        held = kuro.post("/memory", {"text": HELD + " TimeoutError and timeout."}).json()
        retired = kuro.post("/memory", {"text": "TimeoutError after a timeout means rain."}).json()
        memory.retire(Memory.objects.get(public_id=retired["id"]), carla)
        get_stuck(kuro)
        made = kuro.get("/problems/bug-17").json()["brief"]
        known = made.partition("## What is known")[2].partition("## What is wanted")[0]
        day = ours["created_at"][:10]
        assert f"({ours['id']}), written by an agent on {day}:\n\n> Topic: stubs\n> {text}\n> Source: wiki\n" in known
        assert f"({written.public_id}), written by a person on {day}:\n\n> Topic: bug-17\n> Nobody needs" in known
        assert "> 3 × TimeoutError: 30 s" in known
        assert "another team's" not in made
        for absent in ("four minutes", held["id"], "rain"):
            assert absent not in made

    def test_it_tells_five_memories_at_most_and_none_where_none_is_about_it(self, kuro: Any) -> None:
        kuro.post("/memory", {"text": "A deploy takes four minutes.", "topic": "pipeline"})
        get_stuck(kuro)
        assert "team's memory" not in kuro.get("/problems/bug-17").json()["brief"]
        for name in "abcdef":
            kuro.post("/memory", {"text": f"Seen on host {name}.", "topic": "bug-17"})
        assert kuro.get("/problems/bug-17").json()["brief"].count("From the team's memory (mem_") == 5

    def test_it_says_which_memory_another_contradicts_until_that_is_settled(self, kuro: Any, carla: Any) -> None:
        older = kuro.post("/memory", {"text": "The timeout is 30 seconds.", "topic": "bug-17"}).json()
        newer = kuro.post("/memory", {"text": "The timeout is 90 seconds.", "topic": "bug-17"}).json()
        memory.confirm(Memory.objects.get(public_id=newer["id"]), carla)
        get_stuck(kuro)
        made = kuro.get("/problems/bug-17").json()["brief"]
        for one, other in ((older, newer), (newer, older)):
            about = made.partition(f"({one['id']})")[2].partition("> Topic")[0]
            assert f"\n(It contradicts {other['id']}; nobody has settled yet which of them holds.)\n" in about
        memory.settle(MemoryConflict.objects.get(), MemoryConflict.Outcome.BOTH, carla)
        made = kuro.get("/problems/bug-17").json()["brief"]
        assert older["id"] in made
        assert "contradicts" not in made

    def test_words_that_most_memories_have_count_for_nothing(self, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in "abcd":
            kuro.post("/memory", {"text": f"On host {name} a timeout is told as TimeoutError."})
        get_stuck(kuro)
        assert kuro.get("/problems/bug-17").json()["brief"].count("From the team's memory (mem_") == 4
        monkeypatch.setattr(memory, "EVERYWHERE", 3)
        assert "From the team's memory" not in kuro.get("/problems/bug-17").json()["brief"]
        for name in "abcd":
            kuro.post("/memory", {"text": f"Host {name} is of another kind."})
        assert "From the team's memory" in kuro.get("/problems/bug-17").json()["brief"], "half of them are not most"

    def test_the_brief_in_the_list_is_the_same(self, kuro: Any) -> None:
        kuro.post("/memory", {"text": "Nobody needs it.", "topic": "bug-17"})
        kuro.post("/memory", {"text": "快取每天清晨會清空。", "topic": "快取"})
        get_stuck(kuro)
        get_stuck(kuro, problem="快取壞了")
        listed = {each["problem"]: each["brief"] for each in kuro.get("/problems").json()["items"]}
        assert "> 快取每天清晨會清空。" in listed["快取壞了"]
        assert "Nobody needs it" in listed["bug-17"]
        assert listed == {key: kuro.get(f"/problems/{key}").json()["brief"] for key in listed}

    def test_it_costs_as_many_queries_with_many_memories_as_with_few(self, kuro: Any) -> None:
        def queries(path: str) -> int:
            with CaptureQueriesContext(connection) as asked:
                kuro.get(path)
                return len(asked)

        get_stuck(kuro)
        get_stuck(kuro, problem="bug-18")
        kuro.post("/memory", {"text": "Nobody needs it.", "topic": "bug-17"})
        few = [queries(path) for path in ("/problems/bug-17", "/problems", "/context")]
        for number in range(12):
            kuro.post("/memory", {"text": f"TimeoutError number {number} after a timeout.", "topic": "bug-18"})
        assert "From the team's memory" in kuro.get("/problems/bug-18").json()["brief"]
        assert [queries(path) for path in ("/problems/bug-17", "/problems", "/context")] == few

    def test_a_posted_session_names_the_problem(self, kuro: Any) -> None:
        fail(kuro)
        fail(kuro, session="s2")
        answer = kuro.post("/problems/bug-17/think-twice", {"answer": "yes", "session": "s1"})
        assert answer.json()["session"] == "s1"
        assert kuro.post("/problems/bug-17/resolve", {"session": "s1"}).json()["session"] == "s1"
        assert kuro.post("/problems/bug-17/resolve?session=s2", {"session": "s1"}).json()["session"] == "s2"
        assert kuro.post("/problems/bug-17/resolve", {"session": "s3"}).status_code == 404

    def test_the_session_worked_on_last_answers_for_a_key(self, kuro: Any) -> None:
        fail(kuro)
        fail(kuro, session="s2")
        assert kuro.get("/problems/bug-17").json()["session"] == "s2"
        assert kuro.get("/problems/bug-17?session=s1").json()["session"] == "s1"
        assert kuro.get("/problems/bug-17?session=s3").status_code == 404

    @table("key", ["a/b", "卡住了", "x y", "resolve"], rolled_back=True)
    def test_any_key_can_be_asked_for(self, kuro: Any, key: str) -> None:
        fail(kuro, problem=key)
        assert kuro.get(f"/problems/{key}").json()["problem"] == key
        assert kuro.post(f"/problems/{key}/resolve", "").json()["points"] == 0

    def test_what_is_posted_without_a_problem_can_be_answered_and_resolved(self, kuro: Any) -> None:
        assert get_stuck(kuro, problem=None)["suggest"]
        assert kuro.get("/problems/?session=s1").json()["problem"] == ""
        answer = kuro.post("/problems//think-twice", {"answer": "yes"})
        assert (answer.json()["invoke"], answer.json()["suggest"]) == (True, False)
        assert kuro.post("/problems//think-twice", {"outcome": "helped"}).status_code == 200
        assert kuro.post("/problems//resolve", "").json()["points"] == 0

    def test_resolving_resets(self, kuro: Any) -> None:
        get_stuck(kuro)
        answer = kuro.post("/problems/bug-17/resolve", {})
        assert answer.status_code == 200
        assert (answer.json()["points"], answer.json()["suggest"]) == (0, False)
        assert AuditEvent.objects.filter(action="problem-resolved").count() == 1
        assert kuro.get("/problems").json()["items"] == []

    def test_the_list_has_what_shows_a_sign(self, kuro: Any, other: Any) -> None:
        get_stuck(kuro)
        fail(kuro, problem="new")
        get_stuck(other)
        assert [each["problem"] for each in kuro.get("/problems").json()["items"]] == ["bug-17"]

    @table(
        ("body", "pointer"),
        [({}, "/answer"), ({"answer": "maybe"}, "/answer"), ({"answer": "yes", "outcome": "helped"}, "/answer"),
         ({"outcome": "great"}, "/outcome"), ({"answer": "yes", "why": "x"}, "/why"), ([], "")],
        rolled_back=True,
    )  # fmt: skip
    def test_it_says_what_is_wrong(self, kuro: Any, body: Any, pointer: str) -> None:
        fail(kuro)
        answer = kuro.post("/problems/bug-17/think-twice", body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer
        assert not ThinkTwice.objects.exists()

    def test_a_strangers_problem_is_404(self, kuro: Any, other: Any) -> None:
        get_stuck(kuro)
        assert other.get("/problems/bug-17").status_code == 404
        assert other.post("/problems/bug-17/resolve", {}).status_code == 404
        assert other.post("/problems/bug-17/think-twice", {"answer": "yes"}).status_code == 404
        assert not ThinkTwice.objects.exclude(answer="").exists()
