"""Messages that may be corrections: who is asked about which, what an answer does, and what the answers say."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts.retention import set_retention
from metacog.models import AgentState, AuditEvent, Policy
from patterns.models import ErrorPattern
from reviews import retention, tasks
from reviews.held import decisions
from reviews.learning import corrections, hearing, sweep
from reviews.models import AgentResponse, CorrectedResponse, HeldItem, LearnedCorrections, PossibleCorrection
from tests.conftest import Caller

PAGE = "/corrections/"
WRONG = "Your refund will arrive in 30 days."
PLAIN = "But I did not get any parcel of yours."  # the detector hears nothing
UNSURE = "No, it should be fourteen."


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


@pytest.fixture(autouse=True)
def everybody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "ASKED_OF_SURE", 1.0)
    monkeypatch.setattr(hearing, "ASKED_OF_SILENT", 1.0)


def talk(caller: Caller, message: str, *, said: str = WRONG, session: str = "s", **fields: Any) -> PossibleCorrection:
    """Let an agent say something and its user answer; return what people are asked about that."""
    for number in range(3):
        caller.respond(f"Case {number} of {session} is closed.", items=[])
    caller.respond(said, items=[], session=session, **fields)
    last = caller.respond("I see.", items=[], session=session, user_message=message)
    sweep.learn()
    return PossibleCorrection.objects.get(response__public_id=last["id"])


def say(client: Any, asked: PossibleCorrection, answer: str, **headers: Any) -> PossibleCorrection:
    reply = client.post(f"{PAGE}{asked.public_id}/answer", {"answer": answer}, **headers)
    assert reply.status_code in (200, 302)
    asked.refresh_from_db()
    return asked


def taught() -> list[str]:
    return list(ErrorPattern.objects.filter(state="proposed").values_list("keywords", flat=True))


class TestAsking:
    def test_a_message_is_asked_about_where_it_stands_and_in_the_list(self, client: Any, kuro: Caller) -> None:
        asked = talk(kuro, PLAIN)
        for page in (PAGE, f"/responses/{asked.response.public_id}/", f"/responses/{asked.before.public_id}/"):
            shown = client.get(page).content.decode()
            assert "Was this a correction?" in shown
            assert PLAIN in shown
            assert WRONG in shown
        assert "1 open question" in client.get(PAGE).content.decode()
        assert 'data-key="y"' in client.get(PAGE).content.decode()

    def test_it_stands_beside_a_held_item_too(self, client: Any, kuro: Caller) -> None:
        kuro.respond(WRONG, items=[], session="s")
        held = kuro.hold(session="s", user_message=UNSURE)
        sweep.learn()
        assert "Was this a correction?" in client.get(f"/queue/{held}/").content.decode()

    @pytest.mark.parametrize(
        ("message", "certainty", "share"),
        [(PLAIN, 0.0, "ASKED_OF_SILENT"), (f"{UNSURE} You forgot it.", 0.8, "ASKED_OF_SURE"), (UNSURE, 0.6, "")],
    )
    def test_of_what_it_is_sure_of_a_random_share_is_asked_about(
        self, kuro: Caller, monkeypatch: pytest.MonkeyPatch, message: str, certainty: float, share: str
    ) -> None:
        if share:
            monkeypatch.setattr(hearing, share, 0.25)
        monkeypatch.setattr(hearing, "_chance", random.Random(1))
        monkeypatch.setattr(hearing, "MOST_WAITING", 1_000)
        for number in range(80):
            kuro.respond(WRONG, items=[], session=f"s{number}")
            kuro.respond("I see.", items=[], session=f"s{number}", user_message=message)
        sweep.learn()
        asked = PossibleCorrection.objects.all()
        assert {each.stands_for for each in asked} == ({4.0} if share else {1.0})
        assert 10 < len(asked) < 32 if share else len(asked) == 80
        assert all(each.confidence >= certainty for each in asked)

    def test_to_do_holds_only_what_is_likely_a_correction(
        self, client: Any, kuro: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number, message in enumerate((PLAIN, UNSURE, f"{UNSURE} You forgot it.")):
            talk(kuro, message, session=f"t{number}")
        assert "3 open questions" in client.get(PAGE).content.decode()
        shown = client.get("/to-do/").content.decode()
        assert 'left-corrections">2<' in shown
        assert UNSURE in shown
        assert PLAIN not in shown

    def test_where_a_teams_answers_say_no_to_them_the_bar_is_higher(self, kuro: Caller, alice: Any) -> None:
        def likely(message: str, session: str) -> bool:
            return talk(kuro, message, session=session).is_likely

        for number in range(12):
            kuro.respond(WRONG, items=[], session=f"s{number}")
            message = UNSURE if number < 8 else f"{UNSURE} You forgot it."
            kuro.respond("I see.", items=[], session=f"s{number}", user_message=message)
        sweep.learn()
        for asked in PossibleCorrection.objects.select_related("agent__team", "response", "before"):
            corrections.answer(asked, alice, "yes" if asked.confidence > 0.7 else "no")
        assert not likely(UNSURE, "later")
        assert likely(f"{UNSURE} You forgot it.", "later still")

    def test_that_an_agent_is_polite_is_no_question_of_its_own(
        self, kuro: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(hearing, "ASKED_OF_SILENT", 0.0)
        kuro.respond(WRONG, items=[], session="s")
        kuro.respond("Sorry for the trouble. Wash it at 30.", items=[], session="s", user_message="How do I wash it?")
        sweep.learn()
        assert not PossibleCorrection.objects.exists()

    def test_nobody_is_asked_more_than_can_be_answered(self, kuro: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hearing, "MOST_WAITING", 2)
        for number in range(4):
            kuro.respond(WRONG, items=[], session="s", user_message=f"{number}, then?")
        sweep.learn()
        assert PossibleCorrection.objects.count() == 2

    def test_a_value_that_only_opposes_what_was_said_is_heard(self, kuro: Caller) -> None:
        asked = talk(kuro, "Actually 14.", said="It takes 30 days.")
        assert asked.counts
        assert asked.cue == "restatement"


class TestAnswering:
    def test_yes_proposes_what_the_detector_missed_and_takes_topics_back(self, client: Any, kuro: Caller) -> None:
        asked = talk(kuro, PLAIN, topics=["refunds"])
        assert not taught()
        assert AgentState.objects.get().topics == {"refunds": 1}
        asked = say(client, asked, "yes")
        assert (asked.answer, asked.person.username, asked.counts) == ("yes", "alice", True)
        assert CorrectedResponse.objects.get().by == asked.response, "what contrasts learn from"
        assert len(taught()) == 1
        assert AgentState.objects.get().topics == {}
        event = AuditEvent.objects.get(action="correction-answered")
        assert (event.object_id, event.after) == (asked.public_id, "yes")
        assert kuro.respond(WRONG)["hesitation"]["matched_pattern_ids"] == [], "nothing is active"

    def test_no_takes_back_what_the_detector_had_proposed(self, client: Any, kuro: Caller) -> None:
        asked = talk(kuro, UNSURE, topics=["refunds"])
        assert len(taught()) == 1
        assert CorrectedResponse.objects.exists()
        say(client, asked, "no")
        assert not taught()
        assert not CorrectedResponse.objects.exists()
        assert AgentState.objects.get().topics == {"refunds": 1}
        say(client, asked, "yes")
        assert len(taught()) == 1, "who answers again is heard"
        assert AgentState.objects.get().topics == {}

    def test_topics_are_taken_back_once_whoever_is_against_the_answer(
        self, client: Any, kuro: Caller, alice: Any, undo_at_once: None
    ) -> None:
        kuro.respond("Refunds are slow.", items=[], topics=["refunds"])
        held = kuro.hold(session="s", topics=["refunds"])
        last = kuro.respond("I see.", items=[], session="s", user_message=PLAIN)
        sweep.learn()
        say(client, PossibleCorrection.objects.get(response__public_id=last["id"]), "yes")
        assert AgentState.objects.get().topics == {"refunds": 1}
        decisions.decide(HeldItem.objects.get(public_id=held), alice, "reject", reason="Wrong")
        assert AgentState.objects.get().topics == {"refunds": 1}

    def test_no_leaves_a_pattern_that_something_else_taught_too(self, client: Any, kuro: Caller) -> None:
        first, second = (talk(kuro, UNSURE, session=session) for session in ("one", "two"))
        pattern = ErrorPattern.objects.get(state="proposed")
        assert pattern.origins.count() == 2
        say(client, first, "no")
        assert pattern.origins.get().row == second.response.public_id
        say(client, second, "no")
        assert not taught()

    def test_no_leaves_a_pattern_that_somebody_took_up(self, client: Any, kuro: Caller) -> None:
        asked = talk(kuro, UNSURE)
        ErrorPattern.objects.filter(state="proposed").update(state="shadow")
        say(client, asked, "no")
        assert ErrorPattern.objects.filter(state="shadow").exists()
        shown = client.get(f"/responses/{asked.response.public_id}/").content.decode()
        assert "because somebody has changed it since" in shown

    def test_a_press_answers_in_place(self, client: Any, kuro: Caller) -> None:
        asked = talk(kuro, PLAIN)
        address, told = f"{PAGE}{asked.public_id}/answer", {"answer": "no"}
        reply = client.post(address, told, headers={"hx-request": "true"}).content.decode()
        assert reply.lstrip().startswith("<article")
        assert "No correction" in reply
        assert '<h2 id="open-title" hx-swap-oob="true">' in reply
        assert "0 open questions" in reply
        assert "0 open questions" in client.get(PAGE).content.decode()

    def test_who_only_reads_and_who_is_elsewhere_cannot_answer(
        self, as_person: Any, victor: Any, mallory: Any, kuro: Caller
    ) -> None:
        address = f"{PAGE}{talk(kuro, PLAIN).public_id}/answer"
        assert as_person(victor).post(address, {"answer": "yes"}).status_code == 403
        assert as_person(mallory).post(address, {"answer": "yes"}).status_code == 404
        assert not PossibleCorrection.objects.exclude(answer="").exists()

    def test_with_the_texts_the_question_goes_and_the_answer_stays(
        self, client: Any, kuro: Caller, aurora: Any, olga: Any
    ) -> None:
        say(client, talk(kuro, PLAIN, session="first"), "yes")
        asked = talk(kuro, PLAIN, session="second")
        set_retention(aurora, 1, olga)
        AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=2))
        retention.erase()
        assert sorted(PossibleCorrection.objects.values_list("answer", flat=True)) == ["gone", "yes"]
        say(client, asked, "no")
        assert asked.answer == "gone"
        assert PLAIN not in client.get(PAGE).content.decode()


class TestMeasuring:
    def test_answers_count_for_what_they_stand_for(self, client: Any, kuro: Caller) -> None:
        for number in range(12):
            talk_quickly(kuro, UNSURE, session=f"taken {number}")
        for number in range(24):
            talk_quickly(kuro, PLAIN, session=f"missed {number}")
        sweep.learn()
        for number, row in enumerate(PossibleCorrection.objects.filter(counts=True)):
            say(client, row, "yes" if number < 11 else "no")
        assert "Too few answers for its recall" in client.get(PAGE).content.decode(), "nobody looked at what it left"
        for number, row in enumerate(PossibleCorrection.objects.filter(confidence=0)):
            say(client, row, "yes" if number < 3 else "no")
        PossibleCorrection.objects.filter(confidence=0).update(stands_for=20)
        shown = client.get(PAGE).content.decode()
        assert "11 of 12 messages that the detector reported were corrections." in shown
        # 11 that it found, and 3 that stand for 60.
        assert "It finds about 15% of all corrections" in shown

    def test_a_few_answers_tell_nothing(self, client: Any, kuro: Caller) -> None:
        say(client, talk(kuro, UNSURE), "yes")
        assert "oo few answers" in client.get(PAGE).content.decode()

    def test_the_page_asks_the_database_as_much_for_many_as_for_few(
        self, client: Any, kuro: Caller, django_assert_max_num_queries: Any
    ) -> None:
        for number in range(6):
            talk(kuro, UNSURE, session=f"s{number}")
        say(client, PossibleCorrection.objects.all()[0], "yes")
        with django_assert_max_num_queries(14):
            client.get(PAGE)


THINGS = ["parcel", "refund", "invoice", "login", "address", "order"]


class TestLearning:
    def test_answers_teach_what_is_asked_first(
        self, client: Any, kuro: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Policy.objects.update(rate_burst=1_000)
        monkeypatch.setattr(hearing, "MOST_WAITING", 1_000)
        for number in range(120):
            thing, is_one = THINGS[number % len(THINGS)], number % 3 == 0
            message = f"But the {thing} never came to me." if is_one else f"Thanks, and how do I get the {thing}?"
            message = UNSURE if number % 10 == 1 else message
            talk_quickly(kuro, message + " I live in Berlin." * (number * 7 % 5), session=f"s{number}")
        sweep.learn()
        asked = list(PossibleCorrection.objects.select_related("response").order_by("id"))
        for number, row in enumerate(asked):
            message = row.response.wire_body()["user_message"]
            row.answer = "yes" if "never came" in message or (UNSURE in message and number % 4) else "no"
            row.answered_at = timezone.now()
        PossibleCorrection.objects.bulk_update(asked, ["answer", "answered_at"])  # what a press does is shown above
        tasks.learn_corrections()
        learned = LearnedCorrections.objects.get()
        assert learned.found["order"] == "learned"
        assert learned.cut is not None
        assert "likely corrections come first" in client.get(PAGE).content.decode()
        patterns = ErrorPattern.objects.count()
        likely = talk(kuro, "But the letter never came to me.", session="likely")
        other = talk(kuro, "Thanks, and how do I get the letter?", session="other")
        assert likely.rank > other.rank
        assert (likely.is_first, other.is_first) == (True, False)
        assert not likely.counts
        page = client.get(PAGE).content.decode()
        assert page.index("But the letter never came") < page.index("how do I get the letter?")
        assert "Learned rank" in page
        assert ErrorPattern.objects.count() == patterns, "a rank alone teaches nothing"
        made = learned.made_at
        say(client, other, "no")
        tasks.learn_corrections()
        learned.refresh_from_db()
        assert learned.made_at == made, "once a day"
        LearnedCorrections.objects.update(made_at=timezone.now() + timedelta(days=8))
        tasks.learn_corrections()
        learned.refresh_from_db()
        assert learned.made_at < timezone.now(), "by a clock that was wrong"

    def test_too_few_answers_are_not_learned_from(self, client: Any, kuro: Caller) -> None:
        say(client, talk(kuro, UNSURE), "yes")
        tasks.learn_corrections()
        assert LearnedCorrections.objects.get().model is None
        assert "Learning starts after 99 more answers" in client.get(PAGE).content.decode()


def talk_quickly(caller: Caller, message: str, session: str) -> None:
    caller.respond(WRONG, items=[], session=session)
    caller.respond("I see.", items=[], session=session, user_message=message)
