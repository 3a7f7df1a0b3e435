"""Weights fitted from what people decided: what is read for it, what is kept, the policy page and the command."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from metacog.models import Agent, AgentState, Policy
from reviews.metrics import weight_fits
from reviews.models import AgentResponse, Decision, FittedWeights, HeldItem, Sample, Signal
from tests.conftest import NOON
from tests.tables import table

CLAIM, ERROR = "absolute-claim", "error-pattern"


def agent_of(caller: Any) -> Agent:
    return Agent.objects.get(public_id=caller.id)


@pytest.fixture
def decided(kuro: Any) -> Any:
    """Return a function that writes so many responses, each with one held item and what was decided about it."""

    def write(count: int, signals: str, verdict: str = "reject", *, days: float = 1, **fields: Any) -> None:
        agent = agent_of(kuro)
        first = AgentState.objects.get(pk=agent.pk).decision_seq
        # Spread over an hour, so that kinds that are written one after the other mix through time.
        at = [NOON - timedelta(days=days, seconds=3600 * number / count) for number in range(count)]
        responses = AgentResponse.objects.bulk_create(
            AgentResponse(
                agent=agent, received_at=moment, body='{"response": "Perhaps."}', verdict="{}",
                hesitation_score=fields.get("score", 50),
                policy_version=fields.get("policy", 1), patterns_version=0, engine="1",
            )
            for moment in at
        )  # fmt: skip
        Signal.objects.bulk_create(
            Signal(response=each, type=name, weight=fields.get("weight", 20))
            for each in responses
            for name in signals.split()
        )
        items = HeldItem.objects.bulk_create(
            HeldItem(
                response=each, agent=agent, team_id=agent.team_id, index=0, kind="chat", text="", sha256="",
                hesitation_score=50, review_due_at=each.received_at, expires_at=NOON,
            )
            for each in responses
        )  # fmt: skip
        Decision.objects.bulk_create(
            Decision(
                held=item, agent=agent, verdict=verdict, by=fields.get("by", "person"), item_version=1,
                release_at=NOON, seq=None if fields.get("undone") else first + number,
            )
            for number, item in enumerate(items, 1)
        )  # fmt: skip
        AgentState.objects.filter(pk=agent.pk).update(decision_seq=first + count)

    return write


@pytest.fixture
def clear(decided: Any) -> None:
    """Make known errors harmless and absolute claims wrong: not what the weights in force say."""
    for count, signals, verdict in ((60, CLAIM, "reject"), (10, CLAIM, "approve"), (10, ERROR, "reject"),
                                    (50, ERROR, "approve"), (10, ERROR, "edit")):  # fmt: skip
        decided(count, signals, verdict)


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().replace("\N{NO-BREAK SPACE}", " ").split())


class TestWhatIsRead:
    def test_what_people_rejected_is_wrong_and_what_they_let_go_is_not(self, kuro: Any, clear: None) -> None:
        found = weight_fits.fit(agent_of(kuro), NOON)
        assert (found.verdicts, found.wrong, found.samples, found.why_not) == (140, 70, 0, "")

    @table(
        "fields",
        [{"by": "agent"}, {"by": "system"}, {"undone": True}, {"days": 91}, {"policy": 2}, {"score": None}],
        rolled_back=True,
    )
    def test_what_no_person_decided_lately_under_this_profile_is_left_out(
        self, kuro: Any, decided: Any, fields: dict[str, Any]
    ) -> None:
        agent = agent_of(kuro)
        Policy.objects.create(agent=agent, version=2, profile="aware")
        decided(3, CLAIM)
        decided(4, CLAIM, **fields)
        assert weight_fits.fit(agent, NOON).verdicts == 3

    def test_a_hint_is_no_signal_to_fit(self, kuro: Any, clear: None, decided: Any) -> None:
        decided(60, "overconfidence", weight=0)
        assert weight_fits.fit(agent_of(kuro), NOON).weights["overconfidence"] == 15  # as in force: it never counted

    def test_a_response_counts_once_and_is_wrong_where_any_of_its_items_was(self, kuro: Any, decided: Any) -> None:
        decided(1, CLAIM, "approve")
        decided(1, CLAIM, "reject")
        kept = AgentResponse.objects.earliest("pk")
        other = HeldItem.objects.latest("pk")
        other.response, other.index = kept, 1
        other.save()
        found = weight_fits.fit(agent_of(kuro), NOON)
        assert (found.verdicts, found.wrong) == (1, 1)

    def test_a_sample_stands_for_what_it_was_picked_from_and_for_what_nobody_judged(
        self, kuro: Any, clear: None
    ) -> None:
        agent, newest = agent_of(kuro), Decision.objects.order_by("-held__response__received_at")
        wrong_of_held = list(newest.values_list("verdict", flat=True)[:40]).count("reject")
        passed = AgentResponse.objects.bulk_create(
            AgentResponse(
                agent=agent, received_at=NOON, body="x", verdict="{}", hesitation_score=0,
                policy_version=1, patterns_version=0, engine="1",
            )
            for _ in range(4)
        )  # fmt: skip
        Sample.objects.bulk_create(
            Sample(response=each, agent=agent, day=NOON.date(), stands_for=20, verdict=verdict)
            for each, verdict in zip(passed, ("missed", "missed", "", ""), strict=True)
        )
        found = weight_fits.fit(agent, NOON)
        assert (found.newer, found.samples) == (42, 2)
        assert found.newer_wrong == wrong_of_held + 2 * 20 * 2

    def test_a_sample_of_what_another_profile_passed_is_left_out(self, kuro: Any, decided: Any) -> None:
        agent = agent_of(kuro)
        Policy.objects.create(agent=agent, version=2, profile="aware")
        decided(3, CLAIM)
        for policy in (1, 2):
            passed = AgentResponse.objects.create(
                agent=agent, received_at=NOON, body="x", verdict="{}", hesitation_score=0, policy_version=policy,
                patterns_version=0, engine="1",
            )  # fmt: skip
            Sample.objects.create(response=passed, agent=agent, day=NOON.date(), verdict="missed")
        assert weight_fits.fit(agent, NOON).samples == 1

    def test_no_more_than_the_newest_decisions_are_read(
        self, kuro: Any, decided: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(weight_fits, "MOST_DECISIONS", 3)
        decided(3, CLAIM, "reject")
        decided(3, CLAIM, "approve")
        found = weight_fits.fit(agent_of(kuro), NOON)
        assert (found.verdicts, found.wrong) == (3, 0)

    def test_thresholds_are_set_by_what_was_posted_in_the_last_30_days(
        self, kuro: Any, clear: None, decided: Any
    ) -> None:
        decided(20, CLAIM, days=31)
        found = weight_fits.fit(agent_of(kuro), NOON)
        assert (found.verdicts, found.responses) == (160, 140)

    def test_length_is_not_told_once_texts_were_erased(self, kuro: Any, clear: None) -> None:
        assert weight_fits.fit(agent_of(kuro), NOON).caught["length"] is not None
        AgentResponse.objects.update(erased_at=NOON, body="")
        found = weight_fits.fit(agent_of(kuro), NOON)
        assert found.caught["length"] is None
        assert found.why_not == ""

    def test_it_costs_the_same_number_of_queries_however_much_there_is(
        self, kuro: Any, decided: Any, django_assert_num_queries: Any
    ) -> None:
        agent = agent_of(kuro)
        for _ in range(2):
            decided(60, CLAIM)
            with django_assert_num_queries(7):
                weight_fits.fit(agent, NOON)


class TestWhatIsKept:
    def test_it_is_fitted_once_a_day_and_after_a_change_of_the_policy(self, kuro: Any, clear: None) -> None:
        assert weight_fits.fit_due(NOON) == 1
        assert weight_fits.fit_due(NOON + timedelta(hours=23)) == 0
        assert weight_fits.fit_due(NOON + timedelta(hours=25)) == 1
        assert weight_fits.fit_due(NOON) == 1, "the clock was set back"
        agent = agent_of(kuro)
        Policy.objects.create(agent=agent, version=2)
        Agent.objects.update(policy_version=2)
        assert weight_fits.fit_due(NOON + timedelta(hours=26)) == 1
        row = FittedWeights.objects.get()
        assert (row.policy_version, row.decision_seq) == (2, 140)

    def test_every_agent_comes_round(self, kuro: Any, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(weight_fits, "AGENTS_A_RUN", 1)
        assert [weight_fits.fit_due(NOON) for _ in range(3)] == [1, 1, 0]
        assert FittedWeights.objects.count() == 2

    def test_one_that_cannot_be_fitted_takes_nobodys_turn(
        self, kuro: Any, other: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fit = weight_fits.fit

        def break_on_the_first(agent: Agent, now: Any) -> Any:
            return 1 / 0 if agent.public_id == kuro.id else fit(agent, now)

        monkeypatch.setattr(weight_fits, "fit", break_on_the_first)
        assert weight_fits.fit_due(NOON) == 1
        assert FittedWeights.objects.get().agent.public_id == other.id

    def test_who_waits_longest_comes_first(self, kuro: Any, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(weight_fits, "AGENTS_A_RUN", 1)  # and everybody is due again before the next run
        for day in (0, 2, 4):
            weight_fits.fit_due(NOON + timedelta(days=day))
        made = FittedWeights.objects.order_by("agent").values_list("made_at", flat=True)
        assert list(made) == [NOON + timedelta(days=4), NOON + timedelta(days=2)]


class TestThePolicyPage:
    def page(self, client: Any, caller: Any, query: str = "") -> str:
        return text(client.get(reverse("policy", args=[caller.id]) + query))

    def test_it_offers_weights_that_win_as_a_draft(self, kuro: Any, olga: Any, as_person: Any, clear: None) -> None:
        client = as_person(olga)
        assert "Not computed yet for policy 1" in self.page(client, kuro)
        weight_fits.fit_due(NOON)
        page = self.page(client, kuro)
        assert "140 decisions and spot checks by people since" in page
        assert "0 spot checks, and 70 found the response wrong." in page
        assert "There are no spot checks" in page
        link = page.split('<a class="btn" href="')[1].split('"')[0].replace("&amp;", "&")
        assert "Add weights to the draft" in page
        draft = self.page(client, kuro, link)
        found = FittedWeights.objects.get().found
        assert f'name="weight_absolute_claim" value="{found["weights"][CLAIM]}"' in draft
        assert f"<del>20</del> → <ins>{found['weights'][CLAIM]}</ins>" in draft
        assert Policy.objects.count() == 1

    @table(
        ("written", "told"),
        [
            ([(40, CLAIM, "reject")], "Suggestions need 100 decisions and spot checks."),
            ([(140, CLAIM, "reject")], "must each contain at least 10 right and 10 wrong responses"),
            ([(70, CLAIM, "reject"), (70, CLAIM, "approve")], "no signal that fired often enough separates wrong"),
            ([(60, ERROR, "reject"), (40, CLAIM, "approve")], "from the current weights, 15 of 18 against 15 of 18."),
        ],
        rolled_back=True,
    )
    def test_it_says_why_nothing_is_offered(
        self, kuro: Any, victor: Any, as_person: Any, decided: Any, written: list[Any], told: str
    ) -> None:
        for each in written:
            decided(*each)
        weight_fits.fit_due(NOON)
        page = self.page(as_person(victor), kuro)
        assert told in page
        assert "Add weights to the draft" not in page


class TestTheCommand:
    def test_it_prints_what_the_page_would_say(self, kuro: Any, clear: None, capsys: Any) -> None:
        call_command("fit", agent="kuro")
        told = capsys.readouterr().out
        assert told.startswith("Aurora / kuro: 140 decisions, 70 found the response wrong; of the newest 42")
        assert "Offered: absolute-claim " in told
        call_command("fit", agent="kuro", team="Aurora", json=True)
        assert json.loads(capsys.readouterr().out)["why_not"] == ""
        assert not FittedWeights.objects.exists()

    def test_it_says_what_is_missing(self, kuro: Any, decided: Any, capsys: Any) -> None:
        decided(40, CLAIM)
        call_command("fit", agent="kuro")
        assert "40 decisions, 40 found the response wrong; 100 are needed." in capsys.readouterr().out

    def test_it_refuses_an_agent_that_is_not_there(self, db: None) -> None:
        with pytest.raises(CommandError, match="Unknown agent"):
            call_command("fit", agent="nobody")


def test_a_sample_knows_how_many_responses_it_stands_for(kuro: Any) -> None:
    from reviews.metrics import sampling

    for _ in range(8):
        kuro.respond("Perhaps.")
        kuro.respond("Perhaps.", items=[{"kind": "ask", "text": "Perhaps?"}])  # nothing of it can be held
    AgentResponse.objects.update(received_at=datetime(2026, 11, 20, 12, tzinfo=UTC))
    assert sampling.pick_due(datetime(2026, 11, 21, 1, tzinfo=UTC)) == 5
    stands_for = {sample.stands_for for sample in Sample.objects.all()}
    # It looked at five to thirteen of the sixteen, in any order, to find five.
    assert stands_for <= {16 / looked_at for looked_at in range(5, 14)}
    assert len(stands_for) == 1
