"""What a server asks the user in the middle of its work, where people in metacog answer it."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import ElicitResult

from metacog_client.errors import Refused
from metacog_client.mcp import elicitation

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),  # of what the protocol before the newest has
]


@pytest.fixture(autouse=True)
def allowing(metacog: Any) -> Any:
    metacog.policy(default_tool_call="allow", elicitation="people")
    yield
    metacog.policy(default_tool_call="ask", elicitation="agent")


def person(metacog: Any, session: str, verdict: str, **how: Any) -> list[Any]:
    """Decide in a thread what is asked next; return where it will stand."""
    came: list[Any] = []

    def decide() -> None:
        came.append(metacog.next_pending(session))
        metacog.decide(came[0]["id"], verdict, **how)

    threading.Thread(target=decide).start()
    return came


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(("sure", "says"), [(True, "closed"), (False, "left open")])
async def test_people_answer_where_the_policy_says_so(
    metacog: Any, setting: Any, mode: str, sure: bool, says: str
) -> None:
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        came = person(metacog, setting.run, "answer", answer={"sure": sure})
        result = await client.call_tool("close_account", {"account": "7"})
    assert result.content[0].text == says, result
    (question,) = came
    assert (question["kind"], question["text"]) == ("question", "Close 7?")
    assert question["schema"]["properties"]["sure"]["type"] == "boolean"
    assert question["metadata"]["server"] == "bank"
    assert setting.ledger == [{"tool": "close_account", "account": "7", "sure": sure}]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_rejected_question_is_declined_and_a_late_one_cancelled(metacog: Any, setting: Any, mode: str) -> None:
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        person(metacog, setting.run, "reject", reason="Ask Ann.")
        assert (await client.call_tool("close_account", {"account": "7"})).is_error
    async with setting.client(setting.proxied(setting.bank, "--wait", "1"), mode=mode) as client:
        assert (await client.call_tool("close_account", {"account": "8"})).is_error
        (question,) = metacog.pending(setting.run)
        metacog.decide(question["id"], "answer", answer={"sure": True})
        again = await client.call_tool("close_account", {"account": "8"})
    assert again.content[0].text == "closed", "asked again it is the same question, with its answer"
    assert [each["account"] for each in setting.ledger] == ["8"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_policy_says_who_answers_and_an_option_of_the_proxy_overrides_it(
    metacog: Any, setting: Any, mode: str
) -> None:
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"sure": True})

    more = {"mode": mode, "elicitation_callback": elicit}
    told: list[tuple[str, list[str], str, list[str]]] = [
        ("agent", [], "closed", ["Close 1?"]),
        ("agent", ["--elicitation", "people"], "left open", []),
        ("people", [], "left open", []),
        ("people", ["--elicitation", "agent"], "closed", ["Close 4?"]),
    ]
    for account, (policy, option, says, of_user) in enumerate(told, 1):
        metacog.policy(elicitation=policy)
        asked.clear()
        async with setting.client(setting.proxied(setting.bank, *option), **more) as client:
            if not of_user:
                person(metacog, setting.run, "answer", answer={"sure": False})
            result = await client.call_tool("close_account", {"account": str(account)})
        assert (result.content[0].text, asked) == (says, of_user), (policy, option)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_who_can_ask_nobody_asks_nobody_unless_the_policy_says_so(metacog: Any, setting: Any, mode: str) -> None:
    metacog.policy(elicitation="agent")
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        with pytest.raises(MCPError, match="elicitation"):
            await client.call_tool("close_account", {"account": "7"})
    assert (metacog.pending(setting.run), setting.ledger) == ([], [])


@pytest.mark.parametrize(
    ("status", "who", "seconds"), [(404, "agent", elicitation.KNOWN_SECONDS), (503, None, elicitation.FAILED_SECONDS)]
)
async def test_a_policy_that_cannot_be_read_is_not_read_again_for_each_question(
    monkeypatch: pytest.MonkeyPatch, status: int, who: str | None, seconds: float
) -> None:
    reads, now = [], [1_000.0]

    class Client:
        async def policy(self) -> Any:
            reads.append(1)
            raise Refused(status, "no")

    monkeypatch.setattr(elicitation, "time", SimpleNamespace(monotonic=lambda: now[0]))
    client: Any = Client()
    journal: Any = None
    people = elicitation.People(client, journal, "session", "server", 1.0)
    assert [await people.whose(), await people.whose(), len(reads)] == [who, who, 1]
    now[0] += seconds + 1
    assert [await people.whose(), len(reads)] == [who, 2]


def test_the_same_question_twice_at_once_wants_two_answers(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    capabilities: dict[str, Any] = {}
    proxy.request(
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "x"}},
    )
    form = {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {"which": {"type": "string"}}}}
    say = [{"jsonrpc": "2.0", "id": said, "method": "elicitation/create", "params": form} for said in ("q1", "q2")]
    proxy.request("test/say", {"messages": say})

    def answers() -> list[str]:
        return [each["result"]["content"]["which"] for each in setting.received if str(each.get("id")).startswith("q")]

    for count, which in enumerate("ab", 1):
        metacog.decide(metacog.next_pending(setting.run)["id"], "answer", answer={"which": which})
        metacog.until(lambda count=count: len(answers()) >= count, f"answer {count} did not come")
    assert sorted(answers()) == ["a", "b"]


def test_a_question_that_its_server_takes_back_is_answered_no_more(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    capabilities: dict[str, Any] = {}
    introduced = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "x"}}
    proxy.request("initialize", introduced)
    form = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"which": {"type": "string"}}}}
    say = [
        {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": form},
        {"jsonrpc": "2.0", "id": "q2", "method": "elicitation/create", "params": {"mode": "url", "url": "https://x"}},
    ]
    proxy.request("test/say", {"messages": say})
    assert [each.get("id") for each in proxy.others] == ["q2"], "a page to be opened is the client's"
    question = metacog.next_pending(setting.run)
    proxy.request("test/say", {"messages": [{**say[0], "id": "q3"}]})
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q1"}}
    proxy.request("test/say", {"messages": [cancelled]})
    metacog.decide(question["id"], "answer", answer={"which": "b"})
    metacog.until(lambda: [each for each in setting.received if each.get("id") == "q3"], "q3 is not answered")
    answers = {each["id"]: each.get("result") for each in setting.received if str(each.get("id")).startswith("q")}
    assert answers == {"q3": {"action": "accept", "content": {"which": "b"}}}
    assert json.dumps(proxy.others).count("cancelled") == 0
    assert setting.received[0]["params"]["capabilities"] == {"elicitation": {"form": {}}}
