"""The tools of `metacog mcp`, called by the SDK's client over standard input and output."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from driver import command
from mcp_types import ElicitResult

pytestmark = pytest.mark.anyio
PAY = {"tool": "mcp__bank__transfer", "arguments": {"eur": 20, "to": "DE89"}}


def serve(setting: Any) -> list[str]:
    return command("mcp", "--session", setting.run)


def error_of(result: Any) -> str:
    assert result.is_error
    text: str = result.content[0].text
    return text


async def test_no_tool_decides_and_each_is_described_and_typed(metacog: Any, setting: Any) -> None:
    async with setting.client(serve(setting)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "people decide them" in (client.instructions or "")
    reviews = {"request_review", "await_review", "report_outcome", "ask_person"}
    assert set(tools) == reviews | {"context", "remember", "recall", "think_twice"}
    for tool in tools.values():
        assert tool.description
        assert tool.title
        assert tool.output_schema
        properties = tool.input_schema["properties"]
        assert tool.input_schema["additionalProperties"] is False
        assert all("description" in each or name == "limit" for name, each in properties.items()), tool.name
        # Nothing that reads as a decision can be handed over.
        assert not {"verdict", "decision", "approve", "approved", "answer"} & set(properties)
    assert tools["recall"].annotations.read_only_hint
    assert not tools["request_review"].annotations.read_only_hint


@pytest.mark.parametrize(
    ("verdict", "more", "allowed", "arguments"),
    [
        ("approve", {}, True, {"eur": 20, "to": "DE89"}),
        ("edit", {"arguments": {"eur": 2, "to": "DE89"}}, True, {"eur": 2, "to": "DE89"}),
        ("reject", {"reason": "No receipt."}, False, None),
    ],
)
async def test_a_review_gives_back_what_was_decided(
    metacog: Any, setting: Any, verdict: str, more: Any, allowed: bool, arguments: Any
) -> None:
    async with setting.client(serve(setting)) as client:
        metacog.decide_next(verdict, setting.run, **({"reason": "So it is."} | more))
        result = await client.call_tool("request_review", PAY | {"purpose": "Pay invoice 4711"})
    told = result.structured_content
    assert not result.is_error
    assert (told["verdict"], told["allowed"], told["arguments"]) == (verdict, allowed, arguments)
    assert verdict == "approve" or more.get("reason", "So it is.") in told["message"]


async def test_a_person_answers_a_question(metacog: Any, setting: Any) -> None:
    question = {"question": "Which account?", "choices": ["Savings", "Current"]}
    async with setting.client(serve(setting)) as client:
        first = (await client.call_tool("ask_person", question | {"wait_seconds": 0})).structured_content
        assert (first["answered"], first["verdict"]) == (False, "pending")
        metacog.decide(first["held"], "answer", answer="Current")
        told = (await client.call_tool("ask_person", question)).structured_content
        assert (told["held"], told["answered"], told["answer"]) == (first["held"], True, "Current")
        metacog.decide_next("reject", setting.run, reason="Ask the bank.")
        none = (await client.call_tool("ask_person", question)).structured_content
        assert (none["answered"], none["verdict"], "Ask the bank." in none["message"]) == (False, "reject", True)
        assert none["held"] != first["held"]
        assert "metacog refused this" in error_of(await client.call_tool("ask_person", question | {"choices": []}))


async def test_what_became_of_an_approved_call_is_reported_once(metacog: Any, setting: Any) -> None:
    async with setting.client(serve(setting)) as client:
        metacog.decide_next("approve", setting.run)
        held = (await client.call_tool("request_review", PAY)).structured_content["held"]
        report = {"held": held, "status": "failed", "detail": "No such account."}
        told = await client.call_tool("report_outcome", report)
        assert (told.is_error, told.structured_content["status"]) == (False, "failed")
        again = await client.call_tool("report_outcome", report | {"status": "done"})
        assert "Reported before: failed." in error_of(again)
    assert metacog.item(held)["outcome"]["detail"] == "No such account."


async def test_words_are_reviewed_too(metacog: Any, setting: Any) -> None:
    async with setting.client(serve(setting)) as client:
        metacog.decide_next("edit", setting.run, text="We are looking into it.", reason="Not known yet.")
        told = (await client.call_tool("request_review", {"text": "It is fixed."})).structured_content
    assert (told["verdict"], told["text"]) == ("edit", "We are looking into it.")


async def test_what_waits_is_awaited_with_progress_and_asked_again_it_is_the_same(metacog: Any, setting: Any) -> None:
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        if not told:
            metacog.decide_next("approve", setting.run)
        told.append(message)

    async with setting.client(serve(setting)) as client:
        first = (await client.call_tool("request_review", PAY | {"wait_seconds": 0})).structured_content
        again = (await client.call_tool("request_review", PAY | {"wait_seconds": 0})).structured_content
        assert first["verdict"] == "pending"
        assert not first["allowed"]
        assert first["held"] == again["held"]
        assert first["held"] in first["review_url"]
        looked = (await client.call_tool("await_review", {"held": first["held"], "wait_seconds": 0})).structured_content
        assert looked["verdict"] == "pending"
        done = (
            await client.call_tool("await_review", {"held": first["held"]}, progress_callback=note)
        ).structured_content
        assert (done["verdict"], done["arguments"]) == ("approve", PAY["arguments"])
        assert set(told) == {f"Waiting for a decision on {first['held']}"}
        # The decision was given; the same request is another review now.
        later = (await client.call_tool("request_review", PAY | {"wait_seconds": 0})).structured_content
        assert later["verdict"] == "pending"
        assert later["held"] != first["held"]


async def test_of_two_equal_requests_one_is_given_the_approval(metacog: Any, setting: Any) -> None:
    told: list[bool] = []

    async def ask() -> None:
        told.append((await client.call_tool("request_review", PAY, progress_callback=note)).is_error)

    async def note(progress: float, total: float | None, message: str | None) -> None:
        waiting.append(message)
        if len(waiting) == 2:
            metacog.decide_next("approve", setting.run)

    waiting: list[str | None] = []
    async with setting.client(serve(setting)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert sorted(told) == [False, True]


async def test_an_expired_review_allows_nothing(metacog: Any, setting: Any) -> None:
    metacog.policy(expiry_seconds=1)
    try:
        async with setting.client(serve(setting)) as client:
            told = (await client.call_tool("request_review", PAY)).structured_content
    finally:
        metacog.policy(expiry_seconds=604_800)
    assert (told["verdict"], told["allowed"]) == ("expired", False)


async def test_waiting_is_given_up_when_the_client_gives_up(metacog: Any, setting: Any) -> None:
    async def ask() -> None:
        await client.call_tool("request_review", PAY | {"wait_seconds": 3000}, progress_callback=note)

    async def note(progress: float, total: float | None, message: str | None) -> None:
        waiting.set()

    waiting = anyio.Event()
    async with setting.client(serve(setting)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await waiting.wait()
            tasks.cancel_scope.cancel()
        (held,) = metacog.pending(setting.run)
        metacog.decide(held["id"], "approve")
        # It is free again at once, and the decision is still there for who asks again.
        told = (await client.call_tool("request_review", PAY)).structured_content
    assert (told["verdict"], told["held"]) == ("approve", held["id"])


async def test_killed_while_it_waits_and_resumed_it_is_the_same_review(metacog: Any, setting: Any) -> None:
    server = setting.drive(serve(setting))
    server.initialize()
    server.ask("tools/call", {"name": "request_review", "arguments": PAY})
    held = metacog.next_pending(setting.run)["id"]
    server.kill()
    metacog.decide(held, "approve")
    async with setting.client(serve(setting)) as client:
        told = (await client.call_tool("request_review", PAY)).structured_content
    assert (told["verdict"], told["held"]) == ("approve", held)
    assert metacog.pending(setting.run) == []


async def test_a_server_that_is_down_is_an_error_in_a_sentence(metacog: Any, setting: Any) -> None:
    async def expect(sentence: str, name: str, arguments: dict[str, Any]) -> None:
        assert error_of(await client.call_tool(name, arguments)).startswith(sentence)

    async with setting.client(serve(setting)) as client:
        with metacog.down():
            async with anyio.create_task_group() as tasks:
                unasked = "Not done: the review service could not be asked"
                tasks.start_soon(expect, unasked, "request_review", PAY | {"wait_seconds": 1})
                tasks.start_soon(expect, "metacog gave no answer", "recall", {"query": "pay"})


async def test_it_comes_back_later_where_metacog_has_no_time(metacog: Any, setting: Any) -> None:
    told: list[str] = []

    async def ask(number: int) -> None:
        arguments = {"tool": f"t{number}", "arguments": {}, "wait_seconds": 0, "always": False}
        told.append((await client.call_tool("request_review", arguments)).structured_content["verdict"])

    async with setting.client(serve(setting)) as client:
        with metacog.limit(2):
            async with anyio.create_task_group() as tasks:
                for number in range(3):
                    tasks.start_soon(ask, number)
    assert told == ["pending"] * 3


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("request_review", {}, "Give either `tool` with `arguments`, or `text`."),
    ("request_review", {"tool": "a", "text": "b"}, "Give either `tool` with `arguments`, or `text`."),
    ("request_review", {"text": "b", "arguments": {}}, "`arguments` go with `tool`."),
    (
        "await_review",
        {"held": "held_unknown", "wait_seconds": 0},
        "Not done: you have no review 'held_unknown'.",
    ),
    ("recall", {"query": "a", "topic": "b", "most": 1}, "recall takes no `most`, `topic`. It takes: `query`, `limit`."),
    ("context", {"held": True}, "context takes no `held`. It takes: none."),
    ("remember", {"text": "  "}, "metacog refused this: "),
    ("think_twice", {"problem": "never-heard-of", "outcome": "helped"}, "metacog refused this: "),
]


async def test_what_cannot_be_done_is_a_tools_error(metacog: Any, setting: Any) -> None:
    async with setting.client(serve(setting)) as client:
        for name, arguments, sentence in WRONG:
            assert error_of(await client.call_tool(name, arguments)).startswith(sentence), arguments


async def test_what_is_remembered_is_recalled_and_the_context_is_read(metacog: Any, setting: Any) -> None:
    fact = f"The nightly run {setting.run} starts at 02:15 UTC."
    async with setting.client(serve(setting)) as client:
        result = await client.call_tool("remember", {"text": fact, "topic": "nightly run", "confidence": 0.9})
        assert not result.is_error, result
        new = result.structured_content
        assert (new["state"], new["message"], new["contradicts"]) == ("confirmed", "Remembered.", [])
        again = (await client.call_tool("remember", {"text": fact, "topic": "cron"})).structured_content
        assert again["message"] == "Known already, under the topic 'nightly run'; nothing was changed."
        found = (await client.call_tool("recall", {"query": f"nightly run {setting.run}"})).structured_content
        assert (found["memories"][0]["text"], found["memories"][0]["confidence"]) == (fact, 0.9)
        clash = (await client.call_tool("remember", {"text": fact.replace("02:15", "05:40")})).structured_content
        assert (clash["state"], clash["contradicts"]) == ("pending", [fact])
        assert clash["why"]
        again = (await client.call_tool("remember", {"text": fact.replace("02:15", "05:40")})).structured_content
        assert again["message"].startswith("Known already, ")
        assert again["message"].endswith(clash["message"])
        held = (await client.call_tool("request_review", PAY | {"wait_seconds": 0})).structured_content["held"]
        read = (await client.call_tool("context", {})).structured_content["text"]
    assert held in read
    assert "{id}/decision" not in read  # how to decide it


class TestThinkingTwice:
    FAILED = {"problem": "bug-17", "tried": "I'm not sure why. Bump the timeout.", "error": "TimeoutError: 30 s"}

    async def stuck(self, client: Any) -> Any:
        """Fail until the question is there; return what is told then."""
        while True:
            told = (await client.call_tool("think_twice", self.FAILED)).structured_content
            if told["points"] >= told["threshold"] > 0:
                return told

    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    async def test_the_user_says_yes_and_the_brief_comes(self, metacog: Any, setting: Any, mode: str) -> None:
        asked: list[str] = []

        async def say_yes(context: Any, params: Any) -> ElicitResult:
            asked.append(params.message)
            return ElicitResult(action="accept", content={"think_twice": True})

        async with setting.client(serve(setting), mode=mode, elicitation_callback=say_yes) as client:
            first = (await client.call_tool("think_twice", self.FAILED)).structured_content
            assert (first["think_twice"], first["brief"], asked) == (False, None, [])
            told = await self.stuck(client)
            assert len(asked) == 1
            assert "stuck" in asked[0]
            assert told["think_twice"]
            assert "TimeoutError" in told["brief"]
            noted = await client.call_tool("think_twice", {"problem": "bug-17", "outcome": "helped"})
            assert noted.structured_content["message"] == "Noted."

    async def test_the_user_says_no(self, metacog: Any, setting: Any) -> None:
        async def say_no(context: Any, params: Any) -> ElicitResult:
            return ElicitResult(action="decline")

        async with setting.client(serve(setting), elicitation_callback=say_no) as client:
            told = await self.stuck(client)
        assert (told["think_twice"], told["brief"], told["message"]) == (False, None, "The user says: go on.")

    async def test_without_a_way_to_ask_the_question_is_handed_to_the_model(self, metacog: Any, setting: Any) -> None:
        async with setting.client(serve(setting)) as client:
            told = await self.stuck(client)
        assert (told["think_twice"], told["brief"]) == (False, None)
        assert told["question"]
        assert told["points"] >= told["threshold"]
