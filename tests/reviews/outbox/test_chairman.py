"""The chairman's model: asked once, believed only in the seed's own shape, and never before a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metacog import settings as module
from metacog.models import Agent
from reviews.investigation import extensions, llm_judge
from reviews.models import Delivery, ExtensionRequest
from tests.reviews.outbox.receiving import Handler, Receiver
from tests.tables import table

pytestmark = pytest.mark.django_db

GRANTS: dict[str, Any] = {"approved": True, "reason": "缺乏 Q3 財報", "guidance": "Use the filing."}


def says(content: Any, status: int = 200) -> Any:
    """Return a behaviour of the receiver: a chat completion with this content."""
    text = content if isinstance(content, str) else json.dumps(content)

    def behave(handler: Handler) -> None:
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


@pytest.fixture
def model(receiver: Receiver, settings: Any) -> Receiver:
    settings.CHAIRMAN_URL, settings.CHAIRMAN_MODEL = f"{receiver.origin}/v1", "wise-1"
    settings.CHAIRMAN_KEY = "sk-test"
    receiver.then = says(GRANTS)
    return receiver


@pytest.fixture
def waiting(kuro: Any) -> ExtensionRequest:
    Agent.objects.update(handcard="The margin settles it.", callback_url="https://agent.example.org/")
    body = {"problem": "margin", "reason": "need more time", "evidence": ["Q2: 933.8"], "step": 5}
    assert kuro.post("/extensions", body).json()["state"] == "pending"
    return ExtensionRequest.objects.select_related("agent__team").get()


def test_it_is_given_reason_evidence_and_handcard_and_its_verdict_counts(
    model: Receiver, waiting: Any, kuro: Any
) -> None:
    assert llm_judge.answer_waiting() == 1
    (seen,) = model.seen
    assert (seen.path, seen.headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-test")
    body = json.loads(seen.body)
    brief = json.loads(body["messages"][1]["content"])
    assert body["model"] == "wise-1"
    assert (brief["reason"], brief["evidence"], brief["handcard"]) == (
        "need more time", ["Q2: 933.8"], "The margin settles it.",
    )  # fmt: skip
    told = kuro.get(f"/extensions/{waiting.public_id}").json()
    assert (told["state"], told["by"], told["granted"]) == ("approved", "model", 3)
    assert (told["reason"], told["guidance"]) == (GRANTS["reason"], GRANTS["guidance"])
    assert json.loads(Delivery.objects.get().body)["data"]["by"] == "model"
    assert llm_judge.answer_waiting() == 0


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "\n```\n{}\n```\n"])
def test_its_verdict_may_be_fenced_as_code(model: Receiver, waiting: Any, kuro: Any, fence: str) -> None:
    model.then = says(fence.replace("{}", json.dumps(GRANTS)))
    llm_judge.answer_waiting()
    assert kuro.get(f"/extensions/{waiting.public_id}").json()["state"] == "approved"


def test_it_may_refuse(model: Receiver, waiting: Any, kuro: Any) -> None:
    model.then = says({"approved": False, "reason": "Enough is known."})
    llm_judge.answer_waiting()
    told = kuro.get(f"/extensions/{waiting.public_id}").json()
    assert (told["state"], told["by"], told["granted"]) == ("rejected", "model", 0)


@table(
    ("answer", "trouble"),
    [
        (503, "status"),
        (302, "status"),
        (says(GRANTS, 500), "status"),
        (200, "nonsense"),
        (says("Sure! " + json.dumps(GRANTS)), "nonsense"),
        (says(f"Sure!\n```json\n{json.dumps(GRANTS)}\n```"), "nonsense"),
        (says("```"), "nonsense"),
        (says({**GRANTS, "granted": 900}), "nonsense"),
        (says({**GRANTS, "approved": "true"}), "nonsense"),
        (says({"approved": True}), "nonsense"),
        (says({**GRANTS, "reason": ""}), "nonsense"),
        (says({**GRANTS, "reason": " \u200b"}), "nonsense"),
        (says({**GRANTS, "reason": "x" * 2001}), "nonsense"),
        (says('{"approved": false, "approved": true, "reason": "x"}'), "nonsense"),
        (says([GRANTS]), "nonsense"),
    ],
    rolled_back=True,
)
def test_failure_and_nonsense_leave_it_to_a_person(
    model: Receiver, waiting: Any, alice: Any, answer: Any, trouble: str
) -> None:
    model.then = answer
    assert (llm_judge.answer_waiting(), llm_judge.answer_waiting()) == (1, 0), "it is asked once"
    waiting.refresh_from_db()
    assert (waiting.state, waiting.model_trouble) == ("pending", trouble)
    assert extensions.decide(waiting, alice, is_approved=True, granted=2).by == "person"


def test_an_address_that_is_not_public_is_reached_only_where_the_operator_allows_it(
    model: Receiver, waiting: Any, settings: Any
) -> None:
    settings.CALLBACK_ALLOW = frozenset()
    llm_judge.answer_waiting()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.model_trouble, model.seen) == ("pending", "unreachable", [])


def test_a_person_who_answers_meanwhile_stands(model: Receiver, waiting: Any, alice: Any, monkeypatch: Any) -> None:
    def slow(request: ExtensionRequest) -> llm_judge.JudgeAnswer:
        extensions.decide(request, alice, is_approved=False, answer="Enough.")
        return llm_judge.JudgeAnswer(**GRANTS)

    monkeypatch.setattr(llm_judge, "ask", slow)
    assert llm_judge.answer_waiting() == 1
    waiting.refresh_from_db()
    assert (waiting.state, waiting.by, waiting.person) == ("rejected", "person", alice)


def test_without_one_nobody_is_asked(receiver: Receiver, waiting: Any) -> None:
    assert (llm_judge.answer_waiting(), receiver.seen) == (0, [])


@pytest.mark.parametrize(
    ("url", "name", "key", "problem"),
    [
        ("", "", "", ""),
        ("https://models.example.org/v1/", "m", "k", ""),
        ("https://models.example.org/v1", "", "", "go together"),
        ("", "m", "", "go together"),
        ("ftp://models.example.org", "m", "", "METACOG_CHAIRMAN_URL"),
        ("https://u:p@models.example.org", "m", "", "METACOG_CHAIRMAN_URL"),
        ("https://models.example.org/?key=1", "m", "", "METACOG_CHAIRMAN_URL"),
        ("https://models.example.org", "m", "schlüssel", "METACOG_CHAIRMAN_KEY"),
    ],
)
def test_what_is_set_wrongly_is_said_at_the_start(
    monkeypatch: Any, url: str, name: str, key: str, problem: str
) -> None:
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(module, "CONFIG_PROBLEMS", found)
    for part, value in (("URL", url), ("MODEL", name), ("KEY", key)):
        monkeypatch.setitem(module._ENV, f"METACOG_CHAIRMAN_{part}", value)
    read = module._chairman()
    assert (read != ("", "", "")) is bool(url and not problem)
    assert [problem in said for said, _hint in found] == ([True] if problem else [])
