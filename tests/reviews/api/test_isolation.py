"""A stranger sees nothing: agents of other teams, and other agents of the same team."""

from typing import Any

import pytest

from reviews.models import HeldItem

pytestmark = pytest.mark.django_db


@pytest.fixture
def sibling(aurora: Any) -> Any:
    from metacog.accounts.agents import create_agent
    from tests.conftest import Caller

    agent, key, secret = create_agent(aurora, "sibling", None)
    return Caller(agent.public_id, key, secret)


@pytest.mark.parametrize("stranger", ["other", "sibling"])
def test_another_agents_items_are_not_there(kuro: Any, stranger: Any, request: pytest.FixtureRequest) -> None:
    stranger = request.getfixturevalue(stranger)
    held = kuro.hold()
    assert stranger.get(f"/held/{held}").status_code == 404
    assert stranger.post(f"/held/{held}/decision", {"verdict": "reject", "reason": "x"}).status_code == 404
    assert stranger.get("/held").json()["items"] == []
    assert stranger.get(f"/held?after={held}").status_code == 422
    assert stranger.get("/context").json()["held"] == []
    assert HeldItem.objects.get().state == "pending"
    kuro.post(f"/held/{held}/decision", {"verdict": "reject", "reason": "x"})
    assert stranger.get("/decisions").json()["items"] == []
    missing = stranger.get("/held/held_none").json()
    assert stranger.get(f"/held/{held}").json() == missing | {"detail": missing["detail"].replace("held_none", held)}, (
        "what is not ours and what does not exist are told alike"
    )


@pytest.mark.parametrize("stranger", ["other", "sibling"])
def test_another_agents_threads_are_not_there(kuro: Any, stranger: Any, request: pytest.FixtureRequest) -> None:
    stranger = request.getfixturevalue(stranger)
    kuro.post("/threads", {"title": "Hope", "note": "mine"})
    kuro.post("/threads/hope/resolve", {})
    kuro.post("/threads", {"title": "Dread", "note": "mine"})
    assert stranger.get("/threads").json()["items"] == []
    context = stranger.get("/context").json()
    assert (context["threads"], context["articles"]) == (None, None)
    for path in ("/threads/dread/pause", "/threads/dread/resolve"):
        missing = stranger.post(path.replace("dread", "none"), {}).json()
        assert stranger.post(path, {}).json() == missing | {"detail": missing["detail"].replace("none", "dread")}
    stranger.respond('Dread <kuro:thread op="pause" id="dread">x</kuro:thread>', items=None, thread="dread")
    assert kuro.get("/threads/dread").json()["state"] == "active"
    assert kuro.get("/context").json()["articles"][0]["thread"] == "hope"


@pytest.mark.parametrize("stranger", ["other", "sibling"])
def test_another_agents_lessons_and_research_are_not_there(
    kuro: Any, stranger: Any, aurora: Any, carla: Any, request: pytest.FixtureRequest
) -> None:
    from metacog.models import Agent
    from patterns.lessons import lessons

    stranger = request.getfixturevalue(stranger)
    lessons.write(aurora, Agent.objects.get(public_id=kuro.id), "kuro's alone", [], carla)
    begun = kuro.post("/research", {"verdict": "Wait."}).json()["id"]
    assert stranger.get("/context").json()["lessons"] is None
    missing = stranger.get("/research/rsch_none").json()
    assert stranger.get(f"/research/{begun}").json() == missing | {
        "detail": missing["detail"].replace("rsch_none", begun)
    }


def test_the_patterns_are_the_teams_own(kuro: Any, other: Any, aurora: Any) -> None:
    from patterns.models import ErrorPattern

    ErrorPattern.objects.create(team=aurora, keywords=["of Aurora alone"], description="d")
    assert len(kuro.get("/patterns").json()["items"]) == 2
    assert "Aurora" not in other.get("/patterns").content.decode()


def test_a_session_is_no_key(as_person: Any, olga: Any) -> None:
    for path in ("/held", "/decisions", "/context", "/policy", "/patterns", "/memory", "/extensions", "/threads"):
        assert as_person(olga).get(f"/api/v1{path}").status_code == 401
