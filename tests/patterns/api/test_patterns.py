"""GET /patterns: what agents score with at their own side."""

from typing import Any

import pytest

from metacog.heuristics import Scorer
from patterns.models import ErrorPattern

pytestmark = pytest.mark.django_db


def test_it_gives_the_active_patterns_in_the_seeds_shape_and_order(kuro: Any, aurora: Any) -> None:
    ErrorPattern.objects.create(team=aurora, keywords=["retired"], description="d", state="retired")
    ErrorPattern.objects.create(team=aurora, keywords=["proposed"], description="d", state="proposed")
    ErrorPattern.objects.create(team=aurora, keywords=["快取", "timeout"], description="d2", source="self-review")
    page = kuro.get("/patterns").json()
    assert page["next"] is None
    assert [pattern["keywords"] for pattern in page["items"]] == [["cache"], ["快取", "timeout"]]
    assert set(page["items"][0]) == {"id", "keywords", "description", "source", "createdAt", "triggerCount"}


def test_what_it_gives_scores_as_the_server_does(kuro: Any) -> None:
    scorer = Scorer(kuro.get("/patterns").json()["items"])
    body = {"response": "clearly the cache", "items": [{"kind": "chat", "text": "x"}]}
    mine, theirs = scorer.score(body), kuro.respond(**body)
    assert mine["hesitation"] == theirs["hesitation"]


def test_it_says_304_until_something_changes(kuro: Any, aurora: Any, other: Any) -> None:
    etag = kuro.get("/patterns")["ETag"]
    assert other.get("/patterns", **{"if-none-match": etag}).status_code == 200, "another team's are others"
    assert kuro.get("/patterns", **{"if-none-match": etag}).status_code == 304
    ErrorPattern.objects.create(team=aurora, keywords=["new"], description="d")
    assert kuro.get("/patterns", **{"if-none-match": etag}).status_code == 200


def test_a_trigger_counts_and_is_no_change(kuro: Any, aurora: Any) -> None:
    ErrorPattern.objects.update(imported_triggers=4)
    before = kuro.get("/patterns")
    kuro.hold()
    after = kuro.get("/patterns")
    assert [answer.json()["items"][0]["triggerCount"] for answer in (before, after)] == [4, 5]
    known = kuro.get("/patterns", **{"if-none-match": before["ETag"]})
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", after["ETag"])
