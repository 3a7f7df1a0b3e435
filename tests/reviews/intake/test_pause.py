"""A paused agent: whatever it posts is held, until it is resumed or the time is over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from metacog.accounts import agents
from metacog.models import Agent, AuditEvent, Policy
from reviews.held import decisions
from reviews.models import AgentResponse, HeldItem
from reviews.scoring import replay

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undo_at_once")]

CALL = {"kind": "tool_call", "name": "Bash", "arguments": {"command": "ls"}}
ITEMS = [
    {"kind": "chat", "text": "Done."},
    {"kind": "ask", "text": "Which one?"},
    CALL,
    CALL | {"arguments": {"command": "rm -rf /"}},
]
RULES = [
    {"tool": "Bash", "where": {"/command": {"glob": "rm *"}}, "do": "deny"},
    {"tool": "Bash", "do": "allow"},
]


@pytest.fixture
def agent(kuro: Any) -> Agent:
    """An agent whose policy lets everything pass but what it denies."""
    found = Agent.objects.select_related("team").get(public_id=kuro.id)
    Policy.objects.filter(agent=found).update(rules=RULES)
    return found


def dispositions(caller: Any) -> list[str]:
    return [item["disposition"] for item in caller.respond("Done.", items=ITEMS)["items"]]


def test_a_paused_agent_has_its_words_and_calls_held_until_it_is_resumed(
    kuro: Any, agent: Agent, alice: Any, as_person: Any
) -> None:
    client, page = as_person(alice), f"/agents/{agent.public_id}"
    assert dispositions(kuro) == ["pass", "pass", "pass", "reject"]
    assert client.post(f"{page}/pause", {"reason": " "}).status_code == 422
    assert dispositions(kuro)[0] == "pass"
    client.post(f"{page}/pause", {"reason": "It deletes too much", "hours": ""})
    assert dispositions(kuro) == ["hold", "pass", "hold", "reject"]
    told = kuro.respond("", items=[CALL])["items"][0]
    assert (told["paused"], told["fault"]) == (True, "The agent is paused.")
    assert "everything it posted was held" in client.get(f"/queue/{told['held']}/").content.decode()
    shown = client.get(f"{page}/").content.decode()
    assert "everything it posts is held" in shown
    assert "It deletes too much" in shown
    for path in (f"{page}/", "/agents/"):
        assert 'class="state warn">Paused</span>' in client.get(path).content.decode(), path
    client.post(f"{page}/resume")
    assert dispositions(kuro) == ["pass", "pass", "pass", "reject"]
    events = AuditEvent.objects.filter(agent=agent, action__in=("agent-paused", "agent-resumed"))
    assert [event.action for event in events.order_by("pk")] == ["agent-paused", "agent-resumed"]


def test_what_a_person_approves_meanwhile_passes_and_the_same_response_replays(
    kuro: Any, agent: Agent, alice: Any
) -> None:
    agents.pause(agent, alice, "A look at each")
    held = [item["held"] for item in kuro.respond("Done.", items=ITEMS[:3], session="s1")["items"] if item["held"]]
    for public_id in held:
        decisions.decide_or_approve(HeldItem.objects.get(public_id=public_id), alice, "approve")
    again = kuro.respond("Done.", items=ITEMS[:3], session="s1")["items"]
    assert [item["disposition"] for item in again] == ["pass"] * 3
    assert [item["disposition"] for item in kuro.respond("", items=[CALL], session="s2")["items"]] == ["hold"]
    agents.resume(agent, alice)
    for response in AgentResponse.objects.select_related("agent__team"):
        assert replay.Replayer().replay(response).is_equal


def test_a_pause_ends_by_itself(kuro: Any, agent: Agent, alice: Any) -> None:
    agents.pause(agent, alice, "For an hour", timezone.now() + timedelta(hours=1))
    assert dispositions(kuro)[0] == "hold"
    Agent.objects.update(paused_until=timezone.now())
    assert dispositions(kuro)[0] == "pass"


def test_an_operator_pauses_an_agent_and_withdraws_what_it_has_pending(kuro: Any, agent: Agent, capsys: Any) -> None:
    held = kuro.hold()
    call_command("agent", "pause", agent.name, "--because", "On fire", "--hours", "2", "--withdraw")
    assert capsys.readouterr().out.splitlines() == [
        f"{agent.name} is paused for 2 h: everything it posts is held.",
        "1 held item of it withdrawn.",
    ]
    assert HeldItem.objects.get(public_id=held).state == "withdrawn"
    assert kuro.get("/decisions").json()["items"][0]["reason"] == "The agent was paused: On fire"
    call_command("agent", "resume", agent.name)
    assert dispositions(kuro)[0] == "pass"


def test_a_viewer_pauses_nothing(agent: Agent, victor: Any, as_person: Any) -> None:
    answer = as_person(victor).post(f"/agents/{agent.public_id}/pause", {"reason": "Because"})
    assert answer.status_code in (403, 404)
    assert not Agent.objects.get(pk=agent.pk).is_paused(timezone.now())
