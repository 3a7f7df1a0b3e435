"""What was posted with a text is learned from, told beside the item with its counts, and replayed."""

from __future__ import annotations

import html
import random
import re
from typing import Any

import pytest
from django.utils import timezone

from metacog.heuristics.ranking.model import Model
from metacog.models import Agent
from reviews.models import AgentResponse, HeldItem, RiskModel
from reviews.risk import in_force, learning
from reviews.scoring.replay import Replayer
from tests.conftest import HELD
from tests.decided import decide

pytestmark = pytest.mark.django_db


def known(number: int, draw: random.Random) -> tuple[dict[str, Any], bool]:
    category = ("Performance", "Style", "Security", "Code defect")[number % 4]
    is_wrong = draw.random() < (0.8 if category == "Performance" else 0.05)
    return {"category": category, "ticket": f"T-{number}", "lines": number % 40}, is_wrong


def told(client: Any, held: str) -> list[str]:
    page = html.unescape(client.get(f"/queue/{held}/").content.decode())
    section = re.search(r"<h2>[^<]*</h2>.*?(<li>[^<]*n = 50</li>)", page, re.DOTALL)
    return re.findall(r"<li>([^<]*)</li>", section[1]) if section else []


@pytest.fixture
def learned(aurora: Any, kuro: Any) -> Any:
    in_force._orders.cache_clear()
    decide(kuro, metadata=known)
    return learning.learn_and_keep(aurora, timezone.now())[0].row


def test_a_value_of_metadata_is_told_with_its_share_and_replayed(
    learned: Any, kuro: Any, as_person: Any, alice: Any
) -> None:
    assert learned.found["order"]
    assert "Performance" not in str(learned.model.document)
    assert not any("ticket" in name for name in learned.model.document["words"]["facts"])
    of_item = {"kind": "chat", "text": HELD, "metadata": {"category": "Performance"}}
    risky = kuro.respond(HELD, items=[of_item], metadata={"ticket": "T-1"})
    safe = kuro.respond(HELD, metadata={"category": "Style"})
    assert risky["items"][0]["risk"] > safe["items"][0]["risk"] + 0.3
    share = next(
        f"{round(100 * fact[3] / fact[2])}%" for fact in learned.model.document["words"]["facts"].values()
        if fact[2] == 50 and fact[3] > 25
    )  # fmt: skip
    client, held = as_person(alice), risky["items"][0]["held"]
    assert told(client, held) == [f"category Performance: {share} rejected, n = 50"]
    assert HeldItem.objects.get(public_id=held).risk == risky["items"][0]["risk"]
    for response in AgentResponse.objects.select_related("agent__team").filter(public_id__in=(risky["id"], safe["id"])):
        assert Replayer().replay(response).is_equal


def test_a_model_of_the_second_format_knows_no_metadata(learned: Any, aurora: Any, kuro: Any) -> None:
    document = learned.model.document["words"]
    facts = {name: fact for name, fact in Model.from_dict(document).facts.items() if not name.startswith("metadata:")}
    newer = Model.from_dict(document)
    old = Model(
        "learned", newer.cases, newer.rejected, newer.intercept, newer.scale, newer.words, facts, format=2,
    )  # fmt: skip
    row = RiskModel.objects.create(team=aurora, public_id=old.id, document=old.as_dict(), made_at=timezone.now())
    Agent.objects.update(risk_model=row.pk)
    posts = [kuro.respond(HELD, session=name, metadata={"category": name}) for name in ("Performance", "Style")]
    assert len({post["items"][0]["risk"] for post in posts}) == 1
