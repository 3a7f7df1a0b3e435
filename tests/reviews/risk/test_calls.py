"""Words and tool calls are learned of apart: each has its gate, its risks, its budget, its reasons and its section."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.heuristics.ranking.model import Model
from metacog.models import Agent, AuditEvent, Team
from reviews.held import decisions
from reviews.learning import contrast
from reviews.models import AgentResponse, BudgetDay, Decision, HeldItem, LearnedRisk, RiskModel
from reviews.risk import in_force, learning
from reviews.scoring.replay import Replayer
from tests.conftest import HELD
from tests.decided import decide
from tests.reviews.api.test_tool_calls import ask, ruled
from tests.reviews.pages.risk.learned import text
from tests.tables import table

pytestmark = pytest.mark.django_db
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "kelp")
RISKY, SAFE = "rm -r ../{}", "rm -r {}"


def bash(kuro: Any, command: str, session: str = "now") -> Any:
    return ask(kuro, session=session, name="Bash", arguments={"command": command})


@pytest.fixture(autouse=True)
def _at_noon(noon: Any) -> None:
    in_force._orders.cache_clear()


def decide_calls(kuro: Any, count: int = 120, *, rejects: Any = lambda number: number % 2 == 0) -> None:
    """Have people decide on calls of which every second deletes outside the project."""
    draw, now = random.Random(1), timezone.now()
    agent, rows = Agent.objects.get(public_id=kuro.id), []
    for number in range(count):
        command = (RISKY, SAFE)[number % 2].format("-".join(draw.sample(WORDS, draw.randrange(1, 7))))
        held = HeldItem.objects.get(public_id=bash(kuro, command, f"c{number}")["held"])
        verdict = "reject" if rejects(number) else "approve"
        rows.append(
            Decision(
                held=held, agent=agent, verdict=verdict, by="person", item_version=1, reason="leaves the project",
                release_at=now, released_at=now, seq=10_000 + number, decided_at=now - timedelta(hours=200 - number),
            )
        )  # fmt: skip
    Decision.objects.bulk_create(rows)
    HeldItem.objects.filter(kind="tool_call").update(state="approved", decided_at=now, closed_at=now)


def learn(team: Any) -> dict[bool, LearnedRisk]:
    return {kept.row.of_calls: kept.row for kept in learning.learn_and_keep(team, timezone.now())}


@pytest.fixture
def scene(aurora: Any, kuro: Any, olga: Any, alice: Any, as_person: Any, noon: Any, undo_at_once: None) -> Scene:
    decide(kuro)
    decide_calls(kuro)
    return Scene(aurora, kuro, olga, alice, as_person, noon)


def replayed() -> bool:
    replayer, rows = Replayer(), AgentResponse.objects.exclude(engine="1").select_related("agent__team")
    return all(replayer.replay(row).is_equal for row in rows)


@dataclass
class Scene:
    """A team and what acts in it."""

    aurora: Any
    kuro: Any
    olga: Any
    alice: Any
    as_person: Any
    noon: Any


def each_has_a_gate_and_a_model_of_its_own(scene: Scene) -> None:
    aurora, kuro = scene.aurora, scene.kuro
    waiting = kuro.hold(), bash(kuro, RISKY.format("waits"), "w")["held"]
    rows = learn(aurora)
    assert [(row.found["order"], row.found["decisions"]) for row in rows.values()] == [
        ("learned", 200),
        ("learned", 120),
    ]
    assert rows[False].model == rows[True].model
    words, calls = (rows[True].model.document[name] for name in ("words", "calls"))
    assert (words["cases"], calls["cases"]) == (200, 120)
    assert not any(name.startswith("effect:") for name in words["facts"])
    team = Team.objects.get(pk=aurora.pk)
    assert (team.risk_kind, team.risk_calls) == ("learned", "learned")
    assert {event.action for event in AuditEvent.objects.filter(action__endswith="learned")} == {
        "risk-learned", "risk-of-calls-learned",
    }  # fmt: skip
    said, call = HeldItem.objects.get(public_id=waiting[0]), HeldItem.objects.get(public_id=waiting[1])
    orders = in_force.orders_of(said.agent)
    assert orders
    assert said.risk_place == round(1000 * orders.words.place(said.risk))
    assert call.risk_place == round(1000 * orders.calls.place(call.risk))
    posted = kuro.respond(HELD, items=[{"kind": "chat", "text": HELD}, {"kind": "tool_call", "name": "Bash",
                          "arguments": {"command": RISKY.format("x")}}])  # fmt: skip
    assert all(item["risk"] for item in posted["items"])
    assert posted["risk_model"] == orders.id
    assert replayed()


def where_calls_order_no_better_words_are_ranked_alone(scene: Scene) -> None:
    aurora, kuro, draw = scene.aurora, scene.kuro, random.Random(3)
    for each in Decision.objects.filter(held__kind="tool_call").order_by("seq"):
        each.verdict = "reject" if draw.random() < 0.3 else "approve"
        each.save()
    rows = learn(aurora)
    assert (rows[False].found["order"], rows[True].found["order"]) == ("learned", None)
    assert Team.objects.get(pk=aurora.pk).risk_calls == ""
    assert "risk" in kuro.respond()["items"][0]
    assert "risk" not in bash(kuro, RISKY.format("x"))


def a_budget_holds_the_riskiest_calls_that_the_rules_let_pass(scene: Scene) -> None:
    aurora, kuro, noon = scene.aurora, scene.kuro, scene.noon
    learn(aurora)
    ruled(kuro, default_tool_call="allow")
    LearnedRisk.objects.update(passing={"days": 30, "items": 600, "risks": [0.1] * 90 + [0.6] * 10})
    client = scene.as_person(scene.olga)
    preview = client.post(f"/statistics/risk/{aurora.pk}/", {"of_calls": "2"}, headers={"hx-request": "true"})
    assert "Tool calls: Of 600 items that passed in 30 days, 60 would have been reviewed." in text(preview)
    page = client.post(f"/statistics/risk/{aurora.pk}/", {"order": "on", "of_calls": "2", "do": "save"}, follow=True)
    assert "From now on the riskiest tool calls that would pass are held, up to 2 a day." in text(page)
    first = bash(kuro, RISKY.format("a"))
    assert (first["disposition"], first["by_budget"]) == ("hold", True)
    assert bash(kuro, SAFE.format("a"))["disposition"] == "pass"
    assert "by_budget" not in kuro.respond("We refund the order.")["items"][0]  # words have no budget here
    again = bash(kuro, RISKY.format("a"))
    assert (again["disposition"], again["held"]) == ("hold", first["held"])
    assert BudgetDay.objects.get(team=aurora, of_calls=True).held == 1, "what waits takes no more room"
    assert [bash(kuro, RISKY.format(name))["disposition"] for name in "bc"] == ["hold", "pass"]
    assert bash(kuro, RISKY.format("a"))["held"] == first["held"], "it waits though the budget is spent"
    item = HeldItem.objects.get(public_id=first["held"])
    assert "Held by the review budget" in text(client.get(f"/queue/{item.public_id}/"))
    decisions.decide(item, scene.alice, "approve")
    decisions.settle()
    passes = bash(kuro, RISKY.format("a"))
    assert (passes["disposition"], passes["recognised"]) == ("pass", item.public_id)
    noon.at += timedelta(days=1)
    assert bash(kuro, RISKY.format("d"))["disposition"] == "hold"
    assert replayed()
    ruled(kuro, {"tool": "*", "do": "deny"})
    assert bash(kuro, RISKY.format("e"))["disposition"] == "reject"


# The last one sets the clock.
@table(
    "happens",
    [
        each_has_a_gate_and_a_model_of_its_own,
        where_calls_order_no_better_words_are_ranked_alone,
        a_budget_holds_the_riskiest_calls_that_the_rules_let_pass,
    ],
    rolled_back=True,
)
def test_of_decided_words_and_calls(scene: Scene, happens: Callable[[Scene], None]) -> None:
    happens(scene)


def test_the_page_has_a_section_for_each_kind_that_a_team_has(
    aurora: Any, kuro: Any, as_person: Any, alice: Any
) -> None:
    client = as_person(alice)

    def sections() -> set[str]:
        page = client.get("/statistics/risk/").content.decode()
        return set(re.findall(r"<h2 id=\"(words|calls)\">", page))

    decide_calls(kuro)
    contrast.look(aurora, timezone.now())
    learn(aurora)
    assert sections() == {"calls"}
    assert "leaves the project (60)" in text(client.get("/statistics/risk/"))
    assert set(learning.learn_and_keep(aurora, timezone.now())[0].row.found) >= {"gate", "needs"}
    decide(kuro, 60)
    learn(aurora)
    page = text(client.get("/statistics/risk/"))
    assert "Words : Too few decisions yet: 60 of the 100 needed." in page
    assert re.search(r"About \d+ more decisions", page)
    assert "Tool calls : Reviewing the tenth of items with the highest risk" in page
    decide(kuro, seed=5)
    learn(aurora)
    assert sections() == {"words", "calls"}
    files = [client.get(f"/statistics/risk.json?team={aurora.pk}{of}").json() for of in ("", "&of=calls")]
    assert files[0] != files[1]
    held = bash(kuro, RISKY.format("x"))["held"]
    assert re.search(r"Top [\d.]+ ?% of the tool calls that people decided", text(client.get(f"/queue/{held}/")))


def test_a_model_of_both_ranks_both_until_it_is_learned_anew(
    aurora: Any, kuro: Any, as_person: Any, alice: Any
) -> None:
    """Before format 4 words and calls had one model, and one result."""
    decide(kuro)
    row = learn(aurora)[False]
    newer = Model.from_dict(row.model.document["words"])
    old = replace(newer, format=3, risks=())
    before = RiskModel.objects.create(team=aurora, public_id=old.id, document=old.as_dict(), made_at=timezone.now())
    LearnedRisk.objects.update(model=before)
    Agent.objects.update(risk_model=before.pk)
    call = {"kind": "tool_call", "name": "Bash", "arguments": {"command": RISKY.format("x")}}
    posted = kuro.respond(HELD, items=[{"kind": "chat", "text": HELD}, call])
    assert (posted["risk_model"], [item["risk"] > 0 for item in posted["items"]]) == (old.id, [True, True])
    items = HeldItem.objects.filter(response__public_id=posted["id"])
    assert all(item.risk_place == round(1000 * (1 - item.risk)) for item in items)
    assert all(
        "Learned from 200 decisions" in text(as_person(alice).get(f"/queue/{each.public_id}/")) for each in items
    )
    assert replayed()
    learn(aurora)
    assert "risk" not in bash(kuro, RISKY.format("y"))


def test_a_team_of_words_alone_sees_nothing_of_calls(aurora: Any, kuro: Any, as_person: Any, olga: Any) -> None:
    decide(kuro)
    assert [*learn(aurora)] == [False]
    page = text(as_person(olga).get("/statistics/risk/"))
    assert "tool call" not in page.casefold().partition("learned risk")[2].partition("shortcuts")[0]
