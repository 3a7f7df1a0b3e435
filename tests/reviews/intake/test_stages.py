"""A post is read, assessed and written; once it is assessed nothing changes its assessment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import pytest

from metacog.models import Agent, Policy
from patterns.threads import posts
from reviews.intake import ingest, write
from reviews.intake.assess import Assessed, assess
from reviews.intake.post import Known, Post, read
from reviews.models import AgentResponse
from reviews.scoring.history import Past

pytestmark = pytest.mark.django_db

TEXT = "The cause is clearly the cache."
CALL = {"kind": "tool_call", "name": "send", "arguments": {"to": "all"}, "call_id": "c1"}
BODY = {"id": "one", "response": TEXT, "items": [{"kind": "chat", "text": TEXT}, CALL, CALL | {"call_id": "c2"}]}


class Answers:
    """Answers without a database: nothing was approved, one kind of call waits."""

    def __init__(self, waiting: Mapping[str, str]) -> None:
        self.ids, self.waits = count(1), waiting

    def approved(self, items: Sequence[Any], judged: Sequence[Any]) -> dict[int, str]:
        return {}

    def room(self, told: Sequence[Any], ranking: Any) -> None:
        return None

    def waiting(self, calls: Any) -> Mapping[str, str]:
        return {digest: held for digest in calls for held in self.waits.values()}

    def asked(self, questions: Any) -> Mapping[str, str]:
        return {}

    def used(self, told: Any) -> dict[str, Any]:
        return {}

    def threads(self, items: Sequence[Any], response: str) -> posts.Done:
        return posts.NOTHING

    def remembered(self, scored: Any, response: str) -> dict[int, Any]:
        return {}

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self.ids)}"

    def review_url(self, held: str) -> str:
        return f"/{held}"


@pytest.fixture
def post(kuro: Any) -> Post:
    Policy.objects.update(hold_at=30)
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    return read(agent, json.dumps(BODY).encode(), {})


@pytest.mark.parametrize(
    ("waiting", "held"),
    [({}, ["held_2", "held_3", "held_3"]), ({"call": "held_old"}, ["held_2", "held_old", "held_old"])],
)
def test_a_post_is_assessed_without_the_database(
    post: Post, waiting: Any, held: list[str], django_assert_num_queries: Any
) -> None:
    state = post.agent.state
    with django_assert_num_queries(0):
        past = Past.of(post.agent, state, post.body, post.scorer, state.agent.created_at, {})
        known = Known(state.agent.created_at, state, 0.0, past, None)
        first, again = (assess(post, known, Answers(waiting)) for _ in range(2))
    assert first.text == again.text
    assert first.verdict["id"] == "resp_1"
    assert [item["held"] for item in first.verdict["items"]] == held
    assert [hold.is_new for hold in first.holds] == [True, not waiting, False]


def test_nothing_changes_an_assessment_that_is_finished(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Assessed] = []

    def noting(cursor: Any, post: Post, known: Known, assessed: Assessed, *rest: Any) -> None:
        seen.append(assessed)
        write.write(cursor, post, known, assessed, *rest)

    monkeypatch.setattr(ingest, "write", noting)
    Policy.objects.update(hold_at=30, hold_words_with_calls=True)
    items = [*BODY["items"], {"kind": "thread", "text": "", "attributes": {"op": "pause", "id": "none"}}]
    answer = kuro.post("/responses", BODY | {"items": [*items, {"kind": "remember", "text": "Ports are open."}]})
    assert answer.status_code == 201, answer.content
    [assessed] = seen
    assert json.dumps(assessed.verdict, ensure_ascii=False) == assessed.text
    assert AgentResponse.objects.get().wire_verdict() == answer.json() == json.loads(assessed.text)
