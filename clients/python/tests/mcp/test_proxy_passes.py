"""What passes through the proxy as it is, and what does not because it could be read in two ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from driver import INITIALIZE, SECONDS
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

SAID = [
    {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {"é": [None, "\u2028"]}}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 0, "progress": 0.5}},
    {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x://y"}},
    {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s-1", "reason": "late"}},
    {"jsonrpc": "2.0", "id": "s-1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
    {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}},
    {"jsonrpc": "2.0", "id": 2, "method": "roots/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "ping"},
    {"jsonrpc": "2.0", "id": 4, "method": "x/unheard-of", "params": {"tools/call": True}},
    "this is no JSON",
]  # fmt: skip
ASKED = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": "a", "method": "ping"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "1"}},
    {"jsonrpc": "2.0", "id": 3, "method": "resources/list", "params": {"cursor": "c"}},
    {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "é", "_meta": {"progressToken": 9}}},
    {"jsonrpc": "2.0", "id": 5, "method": "resources/templates/list"},
    {"jsonrpc": "2.0", "id": 6, "method": "resources/subscribe", "params": {"uri": "bank://x"}},
    {"jsonrpc": "2.0", "id": 7, "method": "resources/unsubscribe", "params": {"uri": "bank://x"}},
    {"jsonrpc": "2.0", "id": 8, "method": "prompts/list"},
    {"jsonrpc": "2.0", "id": 9, "method": "prompts/get", "params": {"name": "p", "arguments": {"n": None}}},
    {"jsonrpc": "2.0", "id": 10, "method": "completion/complete", "params": {"ref": {}, "argument": {}}},
    {"jsonrpc": "2.0", "id": 11, "method": "logging/setLevel", "params": {"level": "debug"}},
    {"jsonrpc": "2.0", "id": 12, "method": "tasks/get", "params": {"taskId": "t"}},
    {"jsonrpc": "2.0", "id": 13, "method": "server/discover", "params": {"_meta": {"x": 12345678901234567890}}},
    {"jsonrpc": "2.0", "id": 14, "method": "test/fail"},
    {"jsonrpc": "2.0", "id": 15, "method": "test/say", "params": {"messages": SAID}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4, "reason": "?"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "progress": 1e-9}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": {}},
    {"jsonrpc": "2.0", "id": "s-1", "result": {"role": "assistant", "content": None}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no", "data": None}},
    {"jsonrpc": "2.0", "id": 2, "result": {"roots": [{"uri": "file:///", "😀": "\u2029"}]}},
]  # fmt: skip


def told(driver: Any) -> list[Any]:
    for message in ASKED:
        driver.send(message)
    last = {"jsonrpc": "2.0", "id": "last", "method": "test/last"}
    driver.send(last)
    answer = driver.answer_to("last")
    return [*driver.others, answer]


def test_both_sides_see_through_it_what_they_see_without_it(metacog: Any, setting: Any) -> None:
    directly = told(setting.drive(setting.echo))
    (setting.folder / "received").unlink()
    through = told(setting.drive(setting.proxied(setting.echo)))
    answers = [message for message in ASKED if {"id", "method"} <= message.keys()]
    assert through == directly
    assert len(directly) == len(SAID) + len(answers) + 1
    assert setting.received[:-1] == ASKED


def test_a_call_comes_through_with_all_that_it_has(metacog: Any, setting: Any) -> None:
    metacog.policy(default_tool_call="allow")
    params = {
        "name": "transfer",
        "arguments": {"eur": 1, "memo": None},
        "task": {"ttl": 1},
        "_meta": {"x": [None]},
        "y": 0,
    }
    try:
        proxy = setting.drive(setting.proxied(setting.echo))
        result = proxy.request("tools/call", params)["result"]
        absent = proxy.request("tools/call", {"name": "look"})["result"]
    finally:
        metacog.policy(default_tool_call="ask")
    assert result["echo"]["params"] == params
    assert absent["echo"]["params"] == {"name": "look"}
    assert proxy.others == []


CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"transfer","arguments":{}}}'
UNCLEAR = {
    "a name twice": '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"transfer"}}',
    "another case": '{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping","params":{"name":"transfer"}}',
    "a letter that folds": '{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{"name":"transfer"}}',
    "the tool twice": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"transfer"}}',
    "the method in another case": '{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"transfer"}}',
    "the method with a blank": '{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"transfer"}}',
    "a method in other letters": '{"jsonrpc":"2.0","id":1,"method":"tools\uff0fcall","params":{"name":"transfer"}}',
    "no number": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    "too large a number": '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}',
    "a method that is no text": '{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"transfer"}}',
    "two messages": CALL + CALL,
    "no object": '"tools/call"',
    "a list in a list": f"[[{CALL}]]",
}


def test_what_could_be_read_in_two_ways_is_refused(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    for what, line in UNCLEAR.items():
        proxy.write(line.encode())
        assert proxy.next()["error"]["code"] == -32600, what
    assert proxy.request("ping")["result"]
    assert [each["method"] for each in setting.received] == ["ping"]


def test_a_call_cannot_hide_behind_the_end_of_a_line_that_only_some_see(metacog: Any, setting: Any) -> None:
    """Python's text files end lines at a lone carriage return, Node's readline at U+2028."""
    proxy = setting.drive(setting.proxied(setting.echo))
    for end in ("\r", "\u2028", "\x85"):
        value = f"{end}{CALL}{end}" if end == "\r" else json.dumps(f"{end}{CALL}{end}", ensure_ascii=False)
        proxy.write(f'{{"jsonrpc":"2.0","id":"{ord(end)}","method":"ping","params":{{"x":{value}}}}}'.encode())
        assert proxy.answer_to(str(ord(end)))["result"]
    lines = (setting.folder / "received").read_bytes().decode().splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["ping"] * 3


def test_calls_in_a_batch_and_calls_that_want_no_answer_pass_by_nobody(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    proxy.notify("tools/call", {"name": "transfer", "arguments": {}})
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    proxy.send([json.loads(CALL), ping])
    metacog.decide_next("reject", setting.run)
    assert proxy.answer_to("p")["result"]
    assert proxy.answer_to(7)["result"]["isError"]
    assert {each["method"] for each in setting.received} == {"ping", "tools/list"}


def test_a_call_without_a_name_is_an_error(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    for params in (None, {}, {"name": 5}, [{"name": "transfer"}]):
        assert proxy.request("tools/call", params)["error"]["code"] == -32602


def test_it_ends_with_the_server_and_with_its_status(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    proxy.ask("test/end")
    assert proxy.process.wait(SECONDS) == 7


def test_it_ends_with_the_client_and_gives_it_what_the_server_still_says(metacog: Any, setting: Any) -> None:
    proxy = setting.drive(setting.proxied(setting.echo))
    said = [proxy.ask("ping") for _ in range(50)]
    assert proxy.end() == 0
    assert [proxy.next()["id"] for _ in said] == said


def test_a_command_that_is_none_is_a_sentence(metacog: Any, setting: Any, capfd: pytest.CaptureFixture[str]) -> None:
    proxy = setting.drive(setting.proxied(["/no/such/server"]))
    assert proxy.process.wait(SECONDS) == 1
    assert (
        capfd.readouterr().err == "metacog mcp-proxy: /no/such/server cannot be started: No such file or directory.\n"
    )


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")  # of what the protocol before the newest has
@pytest.mark.parametrize("upstream", ["stdio", "http"])
async def test_the_sdks_client_and_server_find_all_of_each_other(metacog: Any, setting: Any, upstream: str) -> None:
    notes: list[str] = []

    async def sample(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Fine."), model="m")

    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"sure": True})

    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///work")])

    async def note(message: Any) -> None:
        notes.append(type(message).__name__)

    callbacks = {"sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": roots}
    metacog.policy(default_tool_call="allow")
    try:
        server = setting.bank if upstream == "stdio" else [setting.served()]
        async with setting.client(setting.proxied(server), mode="legacy", message_handler=note, **callbacks) as client:
            assert (client.server_info.name, client.server_info.version) == ("bank", "1.2")
            assert client.instructions == "Be careful with money."
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["transfer", "balance", "slowly", "ask_back", "close_account", "overdraw"]
            assert [str(each.uri) for each in (await client.list_resources()).resources] == ["bank://terms"]
            assert len((await client.list_resource_templates()).resource_templates) == 1
            # The bank's contents are texts; the SDK's types allow others, here and in the prompt.
            assert (await client.read_resource("bank://account/7")).contents[0].text == "Account 7"  # type: ignore[union-attr]
            assert [each.name for each in (await client.list_prompts()).prompts] == ["reminder"]
            prompt = await client.get_prompt("reminder", {"name": "Ann"})
            assert prompt.messages[0].content.text == "Dear Ann, pay."  # type: ignore[union-attr]
            result = await client.call_tool("ask_back", {}, progress_callback=_no_progress)
            assert json.loads(result.content[0].text) == ["Fine.", True, ["file:///work"]]
            await client.send_roots_list_changed()
            await client.send_ping()
    finally:
        metacog.policy(default_tool_call="ask")
    assert {"LoggingMessageNotification", "ToolListChangedNotification"} <= set(notes)


async def _no_progress(progress: float, total: float | None, message: str | None) -> None:
    pass
