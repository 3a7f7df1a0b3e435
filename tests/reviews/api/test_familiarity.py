"""A topic is as familiar as the answers about it that nobody rejected, put right or corrected."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.held import decisions
from reviews.learning.sweep import learn
from reviews.models import AgentResponse, HeldItem
from reviews.scoring.replay import Replayer
from tests.tables import table

TOPICS = {"topics": ["Tides", "moon"], "session": "s1"}
SAID = "Clearly the tide turns at noon."
WRONG = {"session": "s1", "user_message": "That's wrong.", "items": []}


def familiar(kuro: Any) -> str:
    """Post a response of another session, and tell how often its topics were named; it counts as one mention."""
    reason: str = kuro.respond("I look it up.", topics=["tides", "moon"], items=[])["confidence"]["reason"]
    return reason.partition("mentions: ")[2].partition(")")[0]


@pytest.fixture
def held(kuro: Any) -> HeldItem:
    kuro.hold(**TOPICS)
    return HeldItem.objects.select_related("agent__team").get()


@pytest.mark.parametrize(
    ("verdict", "text", "counts"),
    [("approve", None, 1), ("withdraw", None, 1), ("reject", None, 0), ("edit", "It may turn at one.", 0)],
)
def test_what_a_person_rejects_or_puts_right_counts_no_more(
    kuro: Any, alice: Any, held: HeldItem, settings: Any, verdict: str, text: str | None, counts: int
) -> None:
    settings.UNDO_SECONDS = 0
    assert familiar(kuro) == "tides: 1, moon: 1"
    decisions.decide(held, alice, verdict, edit=text, reason="no")
    assert familiar(kuro) == f"tides: {1 + counts}, moon: {1 + counts}"
    rows = AgentResponse.objects.select_related("agent__team")
    assert all(Replayer().replay(row).is_equal for row in rows)


def test_what_may_be_undone_still_counts(kuro: Any, alice: Any, held: HeldItem) -> None:
    decisions.decide(held, alice, "reject", reason="no")
    assert familiar(kuro) == "tides: 1, moon: 1"


def test_an_agent_that_rejects_its_own_answer_forgets_it_too(kuro: Any, held: HeldItem) -> None:
    assert kuro.post(f"/held/{held.public_id}/decision", {"verdict": "reject", "reason": "no"}).status_code == 201
    assert kuro.post("/confidence", {"topics": ["Tides"]}).json()["reason"].startswith("familiarity 0.00 ")
    assert familiar(kuro) == "tides: 0, moon: 0"


def test_what_the_user_corrects_counts_no_more_once_it_is_learnt_from(kuro: Any) -> None:
    for _ in range(2):
        kuro.respond(SAID, items=[], **TOPICS)
    kuro.respond("You're right, it turns at one.", **WRONG)
    learn()
    assert familiar(kuro) == "tides: 1, moon: 1"
    kuro.respond("It does.", **{**WRONG, "user_message": "Thanks, that is right."})
    learn()
    assert familiar(kuro) == "tides: 2, moon: 2"


@pytest.mark.parametrize("first", ["correction", "decisions"])
def test_a_response_is_taken_back_once(kuro: Any, alice: Any, settings: Any, first: str) -> None:
    settings.UNDO_SECONDS = 0
    kuro.respond(SAID, items=[], **{**TOPICS, "session": "s0"})
    text = "Clearly the cache. It is always the cache, obviously."
    kuro.respond(text, items=[{"kind": kind, "text": text} for kind in ("chat", "remember")], **TOPICS)
    kuro.respond("You're right.", **WRONG)
    if first == "correction":
        learn()
    held = list(HeldItem.objects.select_related("agent__team"))
    assert len(held) == 2
    for item in held:
        decisions.decide(item, alice, "reject", reason="no")
    learn()
    assert familiar(kuro) == "tides: 1, moon: 1"


@table(
    "less, more",
    [
        ({"scores": [0.9], "facts": 3, "topic_mentions": 2}, {"scores": [0.94], "facts": 5, "topic_mentions": 0}),
        ({"scores": [0.9]}, {"scores": [0.9, 0.3]}),
        ({"scores": [0.9], "facts": 3}, {"scores": [0.9], "facts": 3, "topic_mentions": 1}),
        ({"topic_mentions": 9}, {"topic_mentions": 9, "scores": [0.2]}),
        ({}, {"identity_covered": True}),
    ],
    rolled_back=True,
)
def test_better_evidence_never_gets_the_worse_sentence(kuro: Any, less: dict[str, Any], more: dict[str, Any]) -> None:
    phrases = ["hardly any memory", "limited memory", "good memory"]
    ranks = []
    for retrieval in (less, more):
        asked = kuro.post("/confidence", {"retrieval": retrieval}).json()
        if retrieval and retrieval.keys() != {"identity_covered"}:
            assert kuro.respond(retrieval=retrieval)["confidence"] == asked
        said = [rank for rank, phrase in enumerate(phrases) if phrase in asked["prompt"]]
        ranks.append((["low", "medium", "high"].index(asked["level"]), said))
    assert ranks[0] <= ranks[1]
