"""What the sweep learns from decisions, messages and second looks; each row once, and nothing is activated."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.db import rows
from metacog.models import Agent, AuditEvent, Policy
from patterns.memory import memory
from patterns.models import ErrorPattern
from reviews.held import decisions
from reviews.learning import pattern_stats, sweep
from reviews.models import AgentResponse, LearningCursor, PatternOrigin
from tests.tables import table

WRONG = "Thank you for waiting. Your refund will arrive in 30 days. The cause is clearly the cache."
WRONG_ZH = "謝謝您的耐心等候。退款需要三十天才會到帳。原因是 cache。"


def proposed() -> ErrorPattern:
    return ErrorPattern.objects.get(state="proposed")


@pytest.fixture
def rejected_before(hold: Any, alice: Any) -> None:
    """One rejection alone teaches nothing, another before it says the same."""
    for wrong in (WRONG, WRONG_ZH):
        decisions.decide(hold(f"{wrong} Before."), alice, "reject", reason="Wrong")


def test_one_rejection_alone_proposes_nothing_a_second_that_says_the_same_does(hold: Any, alice: Any) -> None:
    told = {"reason": "A refund takes 14 days, not 30 days"}
    for text, proposals in ((WRONG, 0), ("The cause is clearly the cache. Closed on Monday.", 0), (f"So? {WRONG}", 1)):
        decisions.decide(hold(text), alice, "reject", **told)
        sweep.learn()
        assert ErrorPattern.objects.filter(state="proposed").count() == proposals, text


@pytest.mark.parametrize("reason", ["Wrong", "", "Wrong: ", "內容有誤"])
def test_a_preset_reason_alone_makes_no_lesson(hold: Any, alice: Any, translated: None, reason: str) -> None:
    Policy.objects.update(threshold=20, hold_at=20)
    for before in ("", "Once more: "):
        decisions.decide(hold(f"{before}Refunds clearly take 30 days."), alice, "reject", reason=reason)
    sweep.learn()
    assert not PatternOrigin.objects.exists(), "be there only one sentence that it may mean"


@pytest.mark.usefixtures("rejected_before")
class TestRejections:
    def test_what_a_person_says_pins_the_sentence(self, hold: Any, kuro: Any, alice: Any) -> None:
        held = hold(WRONG)
        decision, _ = decisions.decide(held, alice, "reject", reason="A refund takes 14 days, not 30 days")
        assert sweep.learn() == 15
        pattern = proposed()
        (phrase,) = pattern.keywords
        assert phrase in "Your refund will arrive in 30 days."
        assert pattern.source == "alex-correction"
        said = "Rejected by a person: “Your refund will arrive in 30 days.”"
        assert pattern.description == f"{said} · A refund takes 14 days, not 30 days", "with what its keyword is of"
        origin = pattern.origins.get()
        assert (origin.kind, origin.row, origin.held, origin.response) == (
            "rejection", decision.public_id, held, held.response,
        )  # fmt: skip
        assert origin.evidence == {"said": "Your refund will arrive in 30 days.", "told": decision.reason}
        assert kuro.respond(WRONG)["hesitation"]["matched_pattern_ids"] == ["ep-cache"], "it is not active"

    def test_a_mistake_is_no_less_rare_for_being_repeated(self, hold: Any, alice: Any) -> None:
        for n in range(4):
            held = hold(f"{WRONG} For the {n}th time.")
        decisions.decide(held, alice, "reject", reason="A refund takes 14 days, not 30 days")
        sweep.learn()
        assert proposed().keywords == ["arrive in 30 days"]

    @pytest.mark.parametrize(("at_once", "is_rare"), [(rows.MOST_CHARACTERS, False), (1, True)])
    def test_no_more_texts_are_compared_than_a_process_can_keep(
        self, hold: Any, kuro: Any, alice: Any, monkeypatch: pytest.MonkeyPatch, at_once: int, is_rare: bool
    ) -> None:
        monkeypatch.setattr(rows, "MOST_CHARACTERS", at_once)
        for n in range(6):
            kuro.respond(f"Parcel {n} will arrive in 30 days.", items=[])
        decisions.decide(hold(WRONG), alice, "reject", reason="A refund takes 14 days, not 30 days")
        sweep.learn()
        assert (proposed().keywords == ["arrive in 30 days"]) == is_rare

    def test_chinese_too(self, hold: Any, alice: Any) -> None:
        decisions.decide(hold(WRONG_ZH), alice, "reject", reason="退款是十四天，不是三十天")
        sweep.learn()
        assert proposed().keywords[0] in "退款需要三十天才會到帳。"

    @pytest.mark.parametrize(
        ("reason", "is_taught"),
        [
            ("Not now", False), ("Out of scope: refund in 30 days", False), ("Tone", False),
            ("語氣不妥：refund in 30", False), ("内容有误：refund in 30", True),
            ("Wrong: refund in 30 days", True), ("No evidence: refund in 30 days", True),
            ("Wrong", False),  # which of the three sentences?
            ("", False),
        ],
    )  # fmt: skip
    def test_only_reasons_about_truth_teach(
        self, hold: Any, alice: Any, translated: None, reason: str, is_taught: bool
    ) -> None:
        decisions.decide(hold(WRONG), alice, "reject", reason=reason)
        sweep.learn()
        assert PatternOrigin.objects.exists() == is_taught

    def test_what_an_active_pattern_has_caught_is_not_proposed(self, hold: Any, alice: Any) -> None:
        decisions.decide(hold(WRONG), alice, "reject", reason="It was not the cache")
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    def test_an_edit_says_what_was_wrong(self, hold: Any, alice: Any) -> None:
        edited = WRONG.replace("30 days", "14 days")
        decisions.decide(hold(WRONG), alice, "edit", edit=edited, accept_risk=True)
        sweep.learn()
        assert "30 days" in proposed().keywords[0]

    @pytest.mark.parametrize("edited", ["All of it is said anew. In other words.", WRONG + " Sorry!"])
    def test_an_edit_that_pins_nothing_teaches_nothing(self, hold: Any, alice: Any, edited: str) -> None:
        decisions.decide(hold(WRONG), alice, "edit", edit=edited, accept_risk=True)
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    def test_an_approval_what_an_agent_takes_back_and_what_can_be_undone_teach_nothing(
        self, hold: Any, alice: Any, settings: Any
    ) -> None:
        decisions.decide(hold(WRONG), alice, "approve", reason="refund in 30 days")
        held = hold(f"{WRONG} Twice.")
        decisions.decide(held, held.agent, "withdraw", reason="refund in 30 days")
        settings.UNDO_SECONDS = 10
        decisions.decide(hold(WRONG + " Thrice."), alice, "reject", reason="refund in 30 days")
        sweep.learn()
        assert not PatternOrigin.objects.exists()


class TestMessages:
    def test_a_correction_is_about_the_response_before_it_in_its_session(self, hold: Any, kuro: Any) -> None:
        first = hold(WRONG, session="a")
        kuro.respond("Nothing about it here.", session="b", items=[])
        verdict = kuro.respond(
            "You're right, I'm sorry.",
            session="a",
            items=[],
            user_message="No, that's wrong: the refund takes 14 days.",
        )
        sweep.learn()
        pattern = proposed()
        origin = pattern.origins.get()
        assert pattern.keywords[0] in "Your refund will arrive in 30 days."
        said = "Corrected by a person: “Your refund will arrive in 30 days.”"
        assert pattern.description == f"{said} · No, that's wrong: the refund takes 14 days."
        assert (origin.kind, origin.row, origin.response) == ("correction", verdict["id"], first.response)

    @table(
        ("answer", "message", "is_taught"),
        [
            ("The meeting is on Tuesday. Bring the slides.", "That's wrong, it is an exam.", True),
            ("文件更新了。程式改好了。測試都通過。", "我提醒你，要先備份資料庫。", True),
            (f"{WRONG} That is all there is to say.", "That's wrong, you misread it.", False),
        ],
        rolled_back=True,
    )
    def test_of_a_few_sentences_all_are_shown_where_none_is_named(
        self, hold: Any, kuro: Any, answer: str, message: str, is_taught: bool
    ) -> None:
        kuro.respond(answer, session="a", items=[])
        kuro.respond("Sorry.", session="a", items=[], user_message=message)
        sweep.learn()
        said = [origin.evidence["said"] for origin in PatternOrigin.objects.all()]
        assert said == ([answer] if is_taught else [])
        assert not is_taught or proposed().keywords[0] in answer

    def test_it_describes_in_the_agents_language(self, hold: Any, kuro: Any, translated: None) -> None:
        Agent.objects.update(language="zh-hant")
        hold(WRONG_ZH, session="a")
        kuro.respond("抱歉，我看錯了。", session="a", items=[], user_message="不對，退款不是三十天")
        sweep.learn()
        assert proposed().description == "由人糾正：「退款需要三十天才會到帳。」 · 不對，退款不是三十天"

    @pytest.mark.parametrize(
        "message", ["Thanks, and how do I change my address?", "What if the refund takes longer than 30 days?"]
    )
    def test_what_corrects_nothing_teaches_nothing(self, hold: Any, kuro: Any, message: str) -> None:
        hold(WRONG, session="a")
        kuro.respond("Of course.", session="a", items=[], user_message=message)
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    @pytest.mark.parametrize(
        ("asked", "is_taught"),
        [("Will the refund arrive in 30 days?", False), ("Your refund will arrive in 30 days.", True)],
    )
    def test_no_to_what_was_asked_is_an_answer(self, hold: Any, kuro: Any, asked: str, is_taught: bool) -> None:
        hold(f"The cause is clearly the cache. {asked}", session="a")
        kuro.respond("Noted.", session="a", items=[], user_message="No, the refund will arrive in 14 days.")
        sweep.learn()
        assert PatternOrigin.objects.exists() is is_taught

    def test_a_message_that_comes_with_every_step_is_no_answer_to_the_last(self, hold: Any, kuro: Any) -> None:
        message = "No, that's wrong: the refund takes 14 days."
        hold(WRONG, session="a", user_message=message)
        kuro.respond("On it.", session="a", items=[], user_message=message)
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    def test_a_correction_of_nothing_we_have_teaches_nothing(self, hold: Any, kuro: Any) -> None:
        kuro.respond("You're right.", items=[], user_message="No, that's wrong, the refund takes 14 days.")
        sweep.learn()
        assert not PatternOrigin.objects.exists()


class TestSecondLooks:
    def test_the_opposite_conclusion_teaches(self, hold: Any, kuro: Any) -> None:
        held = hold(WRONG)
        verdict = kuro.respond("Your refund will arrive in 14 days.", items=[], replies_to_held=held.public_id)
        sweep.learn()
        pattern = proposed()
        origin = pattern.origins.get()
        assert (pattern.source, origin.kind, origin.row) == ("self-review", "second-look", verdict["id"])
        assert "30 days" in pattern.keywords[0]
        assert origin.evidence["said"] == "Your refund will arrive in 30 days."

    def test_a_second_look_that_agrees_teaches_nothing(self, hold: Any, kuro: Any) -> None:
        kuro.respond("Your refund will arrive in 30 days.", items=[], replies_to_held=hold(WRONG).public_id)
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    @table(
        ("verdict", "reason"),
        [
            ("reject", "On reflection: your refund will not arrive in 30 days."),
            ("reject", "I looked up the refund: it is not 30 days"),
            ("withdraw", "Your refund will arrive in 14 days."),
        ],
        rolled_back=True,
    )
    def test_an_agent_that_decides_the_opposite_teaches(self, hold: Any, verdict: str, reason: str) -> None:
        held = hold(WRONG)
        decision, _ = decisions.decide(held, held.agent, verdict, reason=reason)
        sweep.learn()
        pattern = proposed()
        origin = pattern.origins.get()
        assert (pattern.source, origin.kind, origin.row) == ("self-review", "second-look", decision.public_id)
        assert pattern.keywords[0] in "Your refund will arrive in 30 days."

    def test_a_second_look_and_the_decision_after_it_teach_once(self, hold: Any, kuro: Any) -> None:
        held = hold(WRONG)
        kuro.respond("Your refund will arrive in 14 days.", items=[], replies_to_held=held.public_id)
        sweep.learn()
        decisions.decide(held, held.agent, "reject", reason="Your refund will arrive in 14 days.")
        sweep.learn()
        assert PatternOrigin.objects.count() == 1


class TestMemories:
    KNOWN = "The staging cluster has eight nodes."

    @pytest.fixture(autouse=True)
    def known(self, kuro: Any) -> None:
        # What comes into the memory teaches there (tests/reviews/api/test_remember.py); here is what stays out of it.
        Policy.objects.update(remember_into_memory=False)
        agent = Agent.objects.get()
        memory.post(agent, memory.Said(self.KNOWN), memory.judge(agent, self.KNOWN))

    def test_what_an_agent_remembers_against_a_memory_teaches(self, kuro: Any) -> None:
        verdict = kuro.respond("Seen today. [REMEMBER]The staging cluster has four nodes.[/REMEMBER]", items=None)
        sweep.learn()
        pattern = proposed()
        origin = pattern.origins.get()
        assert (pattern.source, pattern.keywords) == ("external", [self.KNOWN[:-1]])
        assert (origin.kind, origin.row) == ("memory", verdict["id"])
        assert origin.evidence == {"said": self.KNOWN, "told": "The staging cluster has four nodes."}

    def test_so_does_what_it_remembers_against_its_own_earlier_memory(self, hold: Any, kuro: Any) -> None:
        first = kuro.respond("[REMEMBER]The build agents run on Debian.[/REMEMBER]", items=None)
        hold("The cause is clearly the cache. [REMEMBER]The lab has a printer.[/REMEMBER]", items=None)
        kuro.respond("[CHAT]The queue is drained at noon.[/CHAT]", items=None)
        kuro.respond("[REMEMBER]The queue is not drained at noon. The lab has no printer.[/REMEMBER]", items=None)
        sweep.learn()
        assert not PatternOrigin.objects.exists(), "neither what is said nor what is held was remembered"
        verdict = kuro.respond("[REMEMBER]The build agents do not run on Debian.[/REMEMBER]", items=None)
        sweep.learn()
        origin = proposed().origins.get()
        assert (origin.kind, origin.row, origin.response.public_id) == ("memory", verdict["id"], first["id"])

    @table("text", ["[CHAT]{}[/CHAT]", "`[REMEMBER]{}[/REMEMBER]`"], rolled_back=True)
    def test_what_is_only_said_teaches_nothing(self, kuro: Any, text: str) -> None:
        kuro.respond(text.format("The staging cluster has four nodes."), items=None)
        sweep.learn()
        assert not PatternOrigin.objects.exists()

    def test_what_is_held_teaches_once_it_is_let_go(self, hold: Any, alice: Any) -> None:
        text = "[REMEMBER]The staging cluster has four nodes.[/REMEMBER] The cause is clearly the cache."
        held = hold(text, items=None)
        sweep.learn()
        assert not PatternOrigin.objects.exists()
        decisions.decide(held, alice, "approve")
        sweep.learn()
        assert proposed().keywords == [self.KNOWN[:-1]]


@pytest.mark.usefixtures("rejected_before")
class TestOnce:
    def test_a_sweep_that_runs_again_proposes_nothing(self, hold: Any, alice: Any) -> None:
        decisions.decide(hold(WRONG), alice, "reject", reason="refund takes 14, not 30 days")
        assert sweep.learn() > 0
        assert sweep.learn() == 0
        LearningCursor.objects.update(response=0, decision_seq=0)
        assert sweep.learn() > 0
        assert PatternOrigin.objects.count() == 1
        assert AuditEvent.objects.filter(action__in=("pattern-proposed", "pattern-taught")).count() == 1

    def test_the_same_mistake_again_teaches_the_same_proposal(self, hold: Any, alice: Any) -> None:
        for _ in range(3):
            decisions.decide(hold(WRONG), alice, "reject", reason="refund takes 14, not 30 days")
            sweep.learn()
        assert proposed().origins.count() == 3

    def test_it_catches_up_batch_by_batch(self, hold: Any, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sweep, "BATCH", 2)
        decisions.decide(hold(WRONG), alice, "reject", reason="refund takes 14, not 30 days")
        decisions.decide(hold(WRONG), alice, "approve")
        assert sweep.learn() == 20
        cursor = LearningCursor.objects.get()
        assert (cursor.response, cursor.decision_seq) == (AgentResponse.objects.latest("pk").pk, 4)
        assert PatternOrigin.objects.count() == 1

    def test_another_worker_that_was_faster_wins(self, hold: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        hold(WRONG)
        real = pattern_stats.find

        def slow(*args: Any) -> Any:
            found = real(*args)
            LearningCursor.objects.update(response=args[1][-1].pk)
            return found

        monkeypatch.setattr(pattern_stats, "find", slow)
        assert sweep.learn() == 0
