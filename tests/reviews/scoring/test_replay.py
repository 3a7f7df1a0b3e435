"""A stored response run again: equal to the byte, or what was different is named."""

from __future__ import annotations

import io
import json
import random
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from metacog import heuristics
from metacog.accounts.agents import add_policy, switch_hesitation
from metacog.accounts.retention import set_retention
from metacog.models import Agent, Policy, Team
from patterns.models import ErrorPattern, PatternInForce
from patterns.patterns import exchange, lifecycle
from patterns.patterns.scorer import patterns_in_force, scorer_for
from reviews import retention
from reviews.models import AgentResponse, HeldItem
from reviews.scoring.replay import Difference, Replay, Replayer, Unlike
from tests.conftest import HELD
from tests.tables import table

SAID: list[dict[str, Any]] = [
    {"response": HELD, "items": [{"kind": "chat", "text": HELD}, {"kind": "action", "text": "restart it"}]},
    {"response": "快取顯然壞了，一定是網路。", "items": [{"kind": "remember", "text": "快取顯然壞了"}], "cycle": 7},
    {"response": "Clearly the deploy is done.", "session": "s1", "user_message": "Is it?", "topics": ["deploys"]},
    {"response": "Clearly the deploy is done.", "session": "s1", "retrieval": {"scores": [0.9, 0.2], "facts": 3}},
    {"response": "It fails. I'm stuck.", "session": "s2", "problem": "bug", "errors": ["E1"], "topics": ["bugs"]},
    {"response": "Strangely, it fails again.", "session": "s2", "problem": "bug", "errors": ["E1"], "thread": "tides"},
    {"response": "Done.", "session": "s2", "problem": "bug", "outcome": "resolved"},
    {"response": 'Hm. <kuro:thread op="create" title="Tides">begun</kuro:thread> [CHAT]must be dns[/CHAT]'},
    {"response": 'Of tides. <kuro:thread op="pause" id="x"/>', "occurred_at": "2026-02-16T08:00:00Z"},
    {"response": "", "items": [{"kind": "dance", "text": ""}]},
    {"response": "`<chat>` is a tag. <chat>It is clearly cut"},
]  # fmt: skip


def agent_of(caller: Any) -> Agent:
    return Agent.objects.select_related("team").get(public_id=caller.id)


def set_policy(caller: Any, person: Any, **values: Any) -> None:
    agent = agent_of(caller)
    fresh = Policy.objects.get(agent=agent, version=agent.policy_version)
    fresh.pk, fresh._state.adding = None, True
    for name, value in values.items():
        setattr(fresh, name, value)
    add_policy(agent, person, fresh, based_on=agent.policy_version)


def again() -> list[Replay]:
    replayer = Replayer()
    return [replayer.replay(row) for row in AgentResponse.objects.select_related("agent__team").order_by("pk")]


def last() -> Replay:
    return again()[-1]


class Weather:
    """Changes something that verdicts depend on, one thing at a time."""

    def __init__(self, chance: random.Random, kuro: Any, olga: Any) -> None:
        self.chance, self.kuro, self.olga = chance, kuro, olga

    def change(self) -> None:
        self.chance.choice([self.patterns, self.more_patterns, self.language, self.policy, self.switch, self.approve])()

    def patterns(self) -> None:
        pattern = ErrorPattern.objects.order_by("pk").last()
        assert pattern
        if pattern.state == "active" and self.chance.random() < 0.5:
            lifecycle.take_step(pattern, "retire", self.olga)
        elif pattern.state == "active":
            keywords = self.chance.choice([["clearly"], ["dns", "網路"], ["fails"]])
            lifecycle.edit(
                pattern, self.olga, keywords=keywords, description=f"about {keywords[0]}", source="external",
                seen=lifecycle.digest(keywords),
            )  # fmt: skip
        else:
            lifecycle.take_step(pattern, "reopen", self.olga)
            lifecycle.take_step(pattern, "activate", self.olga, seen=lifecycle.digest(pattern.keywords))

    def more_patterns(self) -> None:
        entry = {
            "id": f"ep-{self.chance.randrange(3)}", "keywords": [self.chance.choice(["stuck", "deploy", "壞了"])],
            "description": "d", "source": "external", "createdAt": "2026-02-16T08:00:00Z", "triggerCount": 0,
        }  # fmt: skip
        exchange.take(agent_of(self.kuro).team, json.dumps([entry]).encode(), self.olga)

    def language(self) -> None:
        Agent.objects.update(language=self.chance.choice(["en", "zh-hant", "zh-hans"]))

    def policy(self) -> None:
        set_policy(
            self.kuro, self.olga, profile=self.chance.choice(["seed", "aware"]), hold_at=self.chance.choice([20, 101]),
            threshold=20, review_seconds=self.chance.choice([90, 120]), stuck_threshold=self.chance.choice([2, 7]),
        )  # fmt: skip

    def switch(self) -> None:
        agent = agent_of(self.kuro)
        switch_hesitation(agent, self.olga, not agent.hesitation_enabled)

    def approve(self) -> None:
        """Approve what is held, so that it is recognised where it comes back."""
        for held in HeldItem.objects.filter(state="pending", kind="chat"):
            self.kuro.post(f"/held/{held.public_id}/decision", {"verdict": "approve", "reason": "seen again"})


def test_every_verdict_is_made_again_to_the_byte_whatever_changed_in_between(kuro: Any, olga: Any) -> None:
    chance = random.Random(7)
    weather = Weather(chance, kuro, olga)
    for _ in range(90):
        kuro.respond(**({"items": None} | chance.choice(SAID)))
        weather.change()
    found = again()
    assert len(found) == 90
    assert [each.differences for each in found if not each.is_equal or each.unlike] == []
    # That was no walk in the sun:
    verdicts = [json.loads(each.response.verdict) for each in found]
    items = [item for verdict in verdicts for item in verdict["items"]]
    assert {item["disposition"] for item in items} == {"hold", "mark", "note", "pass"}
    assert {verdict["profile"] for verdict in verdicts} == {"seed", "aware"}
    assert {each.response.language for each in found} == {"en", "zh-hant", "zh-hans"}
    assert any(item["recognised"] for item in items)
    assert any(verdict["hesitation"] is None for verdict in verdicts)
    assert any(verdict["threads"] for verdict in verdicts)
    assert any(item["flags"] == ["thread-unknown"] for item in items)
    assert len({each.patterns for each in found}) > 2


class TestDifferences:
    def test_a_verdict_that_nothing_explains_is_wrong(self, kuro: Any) -> None:
        kuro.hold()
        row = AgentResponse.objects.get()
        verdict: Any = row.wire_verdict()
        verdict["hesitation"]["score"] = 20
        verdict["items"].append({"recognised": None})
        AgentResponse.objects.update(verdict=json.dumps(verdict))
        assert last().is_wrong
        assert last().differences == [
            Difference("/hesitation/score", "20", "50"),
            Difference("/items/1", '{"recognised": null}', None),
        ]

    @table(
        ("stored", "difference"),
        [
            ({"~/": 1, "b": 2}, Difference("/~0~1", "1", None)),
            ({"b": 2.0}, Difference("/b", "2.0", "2")),
            ({"b": 2, "a": 1}, Difference("", '{"b": 2, "a": 1}', '{"a": 1, "b": 2}')),
        ],
    )
    def test_they_are_told_to_the_byte(self, stored: Any, difference: Difference) -> None:
        made = {"a": 1, "b": 2} if len(stored) == 2 and "a" in stored else {"b": 2}
        response = AgentResponse(verdict=json.dumps(stored))
        assert Replay(response, json.dumps(made), ()).differences == [difference]

    def test_another_engine_is_named_and_its_number_is_no_difference(self, kuro: Any) -> None:
        kuro.hold()
        row = AgentResponse.objects.get()
        row.verdict = row.verdict.replace(f'"engine": "{heuristics.ENGINE}"', '"engine": "1.0.9"')
        row.engine = "1.0.9"
        row.save()
        assert (last().is_equal, last().unlike) == (True, (Unlike.ENGINE,))
        row.verdict = row.verdict.replace('"score": 50', '"score": 49')
        row.save()
        assert (last().is_equal, last().is_wrong) == (False, False)
        assert last().differences == [Difference("/hesitation/score", "49", "50")]

    def test_a_verdict_of_before_it_told_of_threads_is_equal_too(self, kuro: Any) -> None:
        kuro.hold()
        row = AgentResponse.objects.get()
        row.verdict = row.verdict.replace(', "threads": null}', "}")
        assert "threads" not in row.wire_verdict()
        row.save()
        assert last().is_equal

    def test_patterns_of_before_they_were_kept_are_not_known(self, kuro: Any, aurora: Any) -> None:
        kuro.hold()
        ErrorPattern.objects.create(team=aurora, keywords=["clearly"], description="d")
        aurora.refresh_from_db()
        PatternInForce.objects.update(since_version=aurora.patterns_version)
        Team.objects.update(patterns_known_from=aurora.patterns_version)
        assert patterns_in_force(aurora.pk, aurora.patterns_version) == said(exchange.give(aurora))
        assert (last().is_equal, last().unlike, last().patterns) == (True, (Unlike.PATTERNS,), 2)
        kuro.hold()
        assert (last().is_equal, last().unlike) == (True, ())

    def test_a_language_that_was_not_kept_is_not_known(self, kuro: Any) -> None:
        kuro.respond("", retrieval={"scores": [0.9]})
        AgentResponse.objects.update(language="")
        Agent.objects.update(language="zh-hant")
        assert last().unlike == (Unlike.LANGUAGE,)
        assert [each.pointer for each in last().differences] == ["/confidence/prompt"]

    def test_a_review_that_trials_hastened_is_taken_from_its_history(self, kuro: Any) -> None:
        kuro.hold()
        row = AgentResponse.objects.get()
        row.verdict, row.history = row.verdict.replace('"next": "2m"', '"next": "45s"'), '{"review_seconds": 45}'
        row.save()
        assert (last().is_equal, last().unlike) == (True, ())

    def test_erased_history_is_named(self, kuro: Any) -> None:
        for _ in range(2):
            kuro.respond("The deploy is done and all checks are green.", session="s1")
        assert last().is_equal
        AgentResponse.objects.filter(pk=AgentResponse.objects.order_by("pk")[0].pk).update(fingerprint="")
        assert (last().is_equal, last().is_wrong, last().unlike) == (False, False, (Unlike.HISTORY,))
        assert "/quality/evaluation/repetition" in [each.pointer for each in last().differences]

    def test_an_erased_text_cannot_be_run_again(self, kuro: Any, aurora: Any, olga: Any) -> None:
        kuro.respond("Perhaps.")
        set_retention(aurora, 1, olga)
        AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=2))
        retention.erase()
        assert (last().verdict, last().unlike, last().is_wrong) == (None, (Unlike.ERASED,), False)

    @table(("engine", "is_wrong"), [(heuristics.ENGINE, True), ("1.0.9", False)], rolled_back=True)
    def test_a_response_that_is_refused_today_is_named(self, kuro: Any, engine: str, is_wrong: bool) -> None:
        kuro.respond("Perhaps.")
        AgentResponse.objects.update(body='{"response": "Perhaps.", "mood": 1}', engine=engine)
        assert last().verdict is None
        assert Unlike.REFUSED in last().unlike
        assert last().is_wrong == is_wrong


def said(patterns: Any) -> list[dict[str, Any]]:
    return [{name: each[name] for name in ("id", "keywords", "description")} for each in patterns]


class TestPatternsInForce:
    """What was active in a version, in order."""

    def test_each_version_has_what_was_active_then(self, aurora: Any, kuro: Any, olga: Any) -> None:
        weather, kept = Weather(random.Random(3), kuro, olga), {}
        for _ in range(30):
            weather.chance.choice([weather.patterns, weather.more_patterns])()
            aurora.refresh_from_db()
            kept[aurora.patterns_version] = said(exchange.give(aurora))
        pattern = ErrorPattern.objects.filter(state="active").first()
        assert pattern
        pattern.delete()
        aurora.refresh_from_db()
        kept[aurora.patterns_version] = said(exchange.give(aurora))
        assert len(kept) > 10
        assert {version: patterns_in_force(aurora.pk, version) for version in kept} == kept
        assert patterns_in_force(aurora.pk, 0) == []

    def test_a_verdict_is_made_with_the_version_it_names_though_the_next_has_begun(
        self, aurora: Any, kuro: Any, carla: Any
    ) -> None:
        early = agent_of(kuro)  # as a request reads it
        lifecycle.take_step(ErrorPattern.objects.get(), "retire", carla)
        assert [each.id for each in scorer_for(early).patterns] == ["ep-cache"]
        assert scorer_for(agent_of(kuro)).patterns == ()

    def test_another_teams_are_not_in_it(self, aurora: Any, borealis: Any) -> None:
        assert len(patterns_in_force(aurora.pk, Team.objects.get(pk=aurora.pk).patterns_version)) == 1


def replay(*arguments: Any) -> tuple[str, int]:
    out, status = io.StringIO(), 0
    try:
        call_command("replay", *map(str, arguments), stdout=out)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


class TestCommand:
    def test_it_says_how_many_are_equal(self, kuro: Any, other: Any) -> None:
        kuro.hold()
        other.hold()
        assert replay() == ("responses: 2; equal: 2\n", 0)
        assert replay("--agent", "kuro", "--days", 1) == ("responses: 1; equal: 1\n", 0)
        assert replay("--team", "Borealis") == ("responses: 1; equal: 1\n", 0)

    def test_it_fails_where_one_differs_and_nothing_explains_it(self, kuro: Any) -> None:
        first, second = (kuro.respond("Perhaps.")["id"] for _ in range(2))
        row = AgentResponse.objects.get(public_id=second)
        row.verdict = row.verdict.replace('"score": 0,', '"score": 1,', 1)
        row.save()
        told, status = replay()
        assert (told.splitlines()[:2], status) == (
            [f"{second}: differs without a reason", "  /hesitation/score: 1 → 0"], 1,
        )  # fmt: skip
        assert replay(first) == ("responses: 1; equal: 1\n", 0)
        told, status = replay(second, "--json")
        assert json.loads(told) == {
            "response": second, "equal": False, "unlike": [],
            "differences": [{"pointer": "/hesitation/score", "stored": "1", "made": "0"}],
        }  # fmt: skip
        assert status == 1
        AgentResponse.objects.update(language="")
        told, status = replay(second)
        assert (told.splitlines()[0], status) == (f"{second}: differs for a reason (language)", 0)

    def test_it_says_when_the_calendar_ends(self, kuro: Any) -> None:
        with pytest.raises(CommandError, match="--days 9999999999: the calendar"):
            replay("--days", 9_999_999_999)

    def test_it_says_what_it_does_not_find(self, kuro: Any) -> None:
        kuro.hold()
        with pytest.raises(CommandError, match="Unknown response: resp_nowhere"):
            replay("resp_nowhere")
        with pytest.raises(CommandError, match="Nothing is stored of the agent nobody"):
            replay("--agent", "nobody")
