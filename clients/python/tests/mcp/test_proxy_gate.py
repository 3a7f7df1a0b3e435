"""What the proxy lets through: with the SDK's client, a server made with the SDK, and a real metacog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from driver import SECONDS
from mcp_types import ElicitResult

from metacog_client import AsyncClient, flows
from metacog_client.journal import Journal
from metacog_client.mcp.definitions import Definitions
from metacog_client.mcp.gate import Gate

pytestmark = pytest.mark.anyio
PAY = {"eur": 20, "to": "DE89"}


def text_of(result: Any) -> str:
    return "\n".join(each.text for each in result.content)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_approved_call_is_made_once_as_it_was_asked(metacog: Any, setting: Any, mode: str) -> None:
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        person = metacog.decide_next("approve", setting.run)
        result = await client.call_tool("transfer", PAY)
        person.join()
    assert (result.is_error, result.structured_content) == (False, {"number": 1, "eur": 20})
    assert setting.ledger == [{"tool": "transfer", **PAY}]
    assert len(result.content) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "detail"),
    [("transfer", PAY, "done", ""), ("overdraw", {"eur": 1}, "failed", "There is not enough.")],
)
async def test_what_became_of_an_approved_call_is_reported(
    metacog: Any, setting: Any, tool: str, arguments: Any, status: str, detail: str
) -> None:
    async with setting.client(setting.proxied(setting.bank)) as client:
        metacog.decide_next("approve", setting.run)
        result = await client.call_tool(tool, arguments)
    outcome = metacog.outcome(setting.run)
    assert (outcome["status"], outcome["result"]["isError"]) == (status, result.is_error)
    assert detail in outcome["detail"]


async def test_the_person_sees_the_tool_as_its_server_describes_it(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(setting.bank)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "transfer", PAY)
        item = await anyio.to_thread.run_sync(metacog.next_pending, setting.run)
        metacog.decide(item["id"], "reject")
    call = item
    assert (call["name"], call["arguments"]) == ("mcp__bank__transfer", PAY)
    assert (call["description"], call["schema"]["properties"]["eur"]["maximum"]) == ("Send money to an account.", 500)
    assert call["annotations"]["destructiveHint"] is True


async def test_an_edit_that_the_tool_cannot_take_is_refused_in_the_console(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(setting.bank)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "overdraw", {"eur": 20})
        item = await anyio.to_thread.run_sync(metacog.next_pending, setting.run)
        assert "'eur'" in metacog.refusal(item["id"], {})
        metacog.decide(item["id"], "reject")


async def test_what_its_tools_gave_goes_along_with_the_next_call(metacog: Any, setting: Any) -> None:
    metacog.policy(default_tool_call="allow")
    try:
        async with setting.client(setting.proxied(setting.bank)) as client:
            for _ in range(2):
                await client.call_tool("transfer", PAY)
    finally:
        metacog.policy(default_tool_call="ask")
    assert ["eur: 20" in given for given in metacog.given(setting.run)] == [False, True]


def test_a_schema_that_is_too_large_is_named_and_not_sent(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state")
    gate = Gate(AsyncClient("http://127.0.0.1:1", "mck_x"), journal, "s1", Definitions(journal, "bank"))
    call = gate._call("transfer", PAY, {"inputSchema": {"type": "object", "description": "x" * 65_536}})
    assert flows.schema_of(call) == {"schema_omitted": True}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_edit_is_made_in_its_place_and_the_model_is_told(metacog: Any, setting: Any, mode: str) -> None:
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        metacog.decide_next("edit", setting.run, arguments={"eur": 2, "to": "DE89"}, reason="Two are enough.")
        result = await client.call_tool("transfer", PAY)
    assert setting.ledger == [{"tool": "transfer", "eur": 2, "to": "DE89"}]
    assert result.structured_content == {"number": 1, "eur": 2}
    assert result.content[-1].text == (
        'A reviewer changed the arguments of this call to {"eur": 2, "to": "DE89"}. Reason: Two are enough.'
    )
    assert result.meta["io.metacog/review"]["verdict"] == "edit"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_rejected_call_is_a_tools_error_with_the_reason(metacog: Any, setting: Any, mode: str) -> None:
    async with setting.client(setting.proxied(setting.bank), mode=mode) as client:
        metacog.decide_next("reject", setting.run, reason="Not without a receipt.")
        result = await client.call_tool("transfer", PAY)
    assert result.is_error
    assert "Not without a receipt." in text_of(result)
    assert setting.ledger == []


async def test_an_expired_call_is_not_made(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(setting.bank, "--expires-in", "1")) as client:
        result = await client.call_tool("transfer", PAY)
    assert result.is_error
    assert "expired" in text_of(result)
    assert setting.ledger == []


async def test_nothing_is_called_while_metacog_is_down(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(setting.bank, "--wait", "1")) as client:
        with metacog.down():
            result = await client.call_tool("transfer", PAY)
            assert (await client.list_tools()).tools  # all else goes on
    assert result.is_error
    assert "could not be asked" in text_of(result)
    assert setting.ledger == []


async def test_a_key_that_is_refused_lets_nothing_through(metacog: Any, setting: Any) -> None:
    setting.environment["METACOG_API_KEY"] = "wrong"
    async with setting.client(setting.proxied(setting.bank)) as client:
        result = await client.call_tool("transfer", PAY)
    assert result.is_error
    assert "refused to be asked" in text_of(result)
    assert setting.ledger == []


async def test_it_comes_back_later_where_metacog_has_no_time(metacog: Any, setting: Any) -> None:
    metacog.policy(default_tool_call="allow")
    results: list[bool] = []

    async def pay(eur: int) -> None:
        results.append((await client.call_tool("transfer", {"eur": eur, "to": "x"})).is_error)

    try:
        async with setting.client(setting.proxied(setting.bank)) as client:
            with metacog.limit(2):
                async with anyio.create_task_group() as tasks:
                    for eur in range(5):
                        tasks.start_soon(pay, eur)
    finally:
        metacog.policy(default_tool_call="ask")
    assert results == [False] * 5
    assert sorted(entry["eur"] for entry in setting.ledger) == [0, 1, 2, 3, 4]


async def test_rules_go_by_the_servers_name(metacog: Any, setting: Any) -> None:
    rules = [
        {"tool": "mcp__bank__transfer", "where": {"/eur": {"gt": 50}}, "do": "deny", "reason": "Too much."},
        {"tool": "mcp__bank__*", "do": "allow"},
    ]
    metacog.policy(rules=rules)
    try:
        async with setting.client(setting.proxied(setting.bank)) as client:
            assert not (await client.call_tool("transfer", PAY)).is_error
            denied = await client.call_tool("transfer", {"eur": 51, "to": "x"})
    finally:
        metacog.policy(rules=[])
    assert denied.is_error
    assert "Too much." in text_of(denied)
    assert [entry["eur"] for entry in setting.ledger] == [20]


async def test_nobody_is_asked_about_a_call_that_cannot_work(metacog: Any, setting: Any) -> None:
    wrong: list[tuple[str, Any, str]] = [
        ("transfr", PAY, "no tool 'transfr' here. There are: transfer, balance,"),
        ("close_account", {}, "no arguments for close_account. 'account' is a required property."),
        ("transfer", {"eur": "20", "to": 5}, "/eur: '20' is not of type 'integer'. /to: 5 is not of type 'string'."),
    ]
    async with setting.client(setting.proxied(setting.bank)) as client:
        for name, arguments, sentence in wrong:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert sentence in text_of(result)
        assert metacog.pending(setting.run) == []
    assert setting.ledger == []


@pytest.mark.parametrize("listing", ["refused", "endless"])
def test_a_call_is_asked_about_where_not_all_tools_are_known(metacog: Any, setting: Any, listing: str) -> None:
    proxy = setting.drive(setting.proxied([*setting.echo, listing]))
    person = metacog.decide_next("approve", setting.run)
    assert not proxy.call("look", {}).get("isError")
    person.join()


async def test_what_a_server_calls_read_only_is_asked_about_unless_the_flag_says_so(metacog: Any, setting: Any) -> None:
    async with setting.client(setting.proxied(setting.bank)) as client:
        metacog.decide_next("reject", setting.run)
        assert (await client.call_tool("balance", {})).is_error
    async with setting.client(setting.proxied(setting.bank, "--skip-read-only")) as client:
        assert text_of(await client.call_tool("balance", {})) == "12 EUR"
        metacog.decide_next("reject", setting.run)
        assert (await client.call_tool("transfer", PAY)).is_error
    assert setting.ledger == [{"tool": "balance"}]


async def test_who_waits_is_told_so_and_then_again_by_the_server(metacog: Any, setting: Any) -> None:
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))
        if len(told) == 1:
            held = await anyio.to_thread.run_sync(metacog.next_pending, setting.run)
            metacog.decide(held["id"], "approve")
        if progress == 3:
            tasks.cancel_scope.cancel()

    server = setting.proxied(setting.bank)
    async with setting.client(server, mode="legacy") as client, anyio.create_task_group() as tasks:
        await client.call_tool("slowly", {}, progress_callback=note)
    assert "Waiting for a review of mcp__bank__slowly" in (told[0][1] or "")
    assert [message for _, message in told[-3:]] == ["step 1", "step 2", "step 3"]
    assert [progress for progress, _ in told] == sorted(progress for progress, _ in told)


async def test_a_call_that_is_given_up_is_not_made_and_asked_again_is_the_same_review(
    metacog: Any, setting: Any
) -> None:
    async with setting.client(setting.proxied(setting.bank)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "transfer", PAY)
            held = await anyio.to_thread.run_sync(metacog.next_pending, setting.run)
            tasks.cancel_scope.cancel()
        metacog.decide(held["id"], "approve")
        assert setting.ledger == []
        result = await client.call_tool("transfer", PAY)
    assert not result.is_error
    assert len(setting.ledger) == 1
    assert metacog.pending(setting.run) == []


async def test_a_call_that_the_server_has_is_cancelled_there(metacog: Any, setting: Any) -> None:
    metacog.decide_next("approve", setting.run)
    async with setting.client(setting.proxied(setting.bank)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "slowly", {})
            await anyio.to_thread.run_sync(metacog.until, lambda: setting.ledger, "it is not called")
            tasks.cancel_scope.cancel()
        await anyio.to_thread.run_sync(metacog.until, lambda: len(setting.ledger) == 2, "it is not cancelled")
    assert setting.ledger[1] == {"tool": "slowly", "cancelled": True}
    assert metacog.outcome(setting.run)["detail"] == "The client cancelled it."


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_call_in_which_the_server_asks_the_user_is_one_review(metacog: Any, setting: Any, mode: str) -> None:
    async def say_yes(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"sure": True})

    async with setting.client(setting.proxied(setting.bank), mode=mode, elicitation_callback=say_yes) as client:
        metacog.decide_next("edit", setting.run, arguments={"account": "7"}, reason="It is the other one.")
        result = await client.call_tool("close_account", {"account": "8"})
        assert setting.ledger == [{"tool": "close_account", "account": "7", "sure": True}]
        assert "A reviewer changed" in text_of(result)
        # Asked once more it is another call.
        metacog.decide_next("reject", setting.run)
        assert (await client.call_tool("close_account", {"account": "8"})).is_error
    assert len(setting.ledger) == 1


class TestRetries:
    """Without the SDK: what is killed, and what asks again without having given up."""

    def pay(self, driver: Any) -> int:
        said: int = driver.ask("tools/call", {"name": "transfer", "arguments": PAY, "_meta": {"progressToken": "t"}})
        return said

    def waiting(self, driver: Any) -> str:
        """Read until a call is said to wait, for the first time; return what is said."""
        while (message := driver.next()).get("method") != "notifications/progress" or message["params"]["progress"]:
            driver.others.append(message)
        text: str = message["params"]["message"]
        return text

    @pytest.mark.parametrize("verdict", ["approve", "edit", "reject"])
    def test_killed_while_it_waits_and_decided_meanwhile(self, metacog: Any, setting: Any, verdict: str) -> None:
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        self.pay(proxy)
        held = metacog.next_pending(setting.run)["id"]
        proxy.kill()
        edit = {"arguments": {"eur": 1, "to": "DE89"}} if verdict == "edit" else {}
        metacog.decide(held, verdict, **edit, reason="So it is.")
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        result = proxy.call("transfer", PAY)
        assert bool(result.get("isError")) == (verdict == "reject")
        assert [entry["eur"] for entry in setting.ledger] == {"approve": [20], "edit": [1], "reject": []}[verdict]
        assert metacog.pending(setting.run) == []
        # The decision is used: the next call is another review.
        self.pay(proxy)
        assert metacog.next_pending(setting.run)["id"] != held
        assert len(setting.ledger) == (verdict != "reject")

    def test_killed_while_it_waits_and_still_pending(self, metacog: Any, setting: Any) -> None:
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        self.pay(proxy)
        held = metacog.next_pending(setting.run)["id"]
        proxy.kill()
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        said = self.pay(proxy)
        assert held in self.waiting(proxy)
        assert [each["id"] for each in metacog.pending(setting.run)] == [held]
        metacog.decide(held, "approve")
        assert proxy.answer_to(said)["result"]["structuredContent"] == {"number": 1, "eur": 20}

    def test_when_the_time_is_over_the_model_is_told_to_call_again(self, metacog: Any, setting: Any) -> None:
        proxy = setting.drive(setting.proxied(setting.bank, "--wait", "2"))  # enough for metacog's answer
        proxy.initialize()
        (content,) = proxy.call("transfer", PAY)["content"]
        assert "Call the tool again with the same arguments" in content["text"]
        assert "/queue/" in content["text"]
        metacog.decide(metacog.next_pending(setting.run)["id"], "approve")
        assert proxy.call("transfer", PAY)["structuredContent"] == {"number": 1, "eur": 20}

    def test_of_two_that_wait_for_one_review_one_is_made(self, metacog: Any, setting: Any) -> None:
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        other = setting.drive(setting.proxied(setting.bank))
        other.initialize()
        said = []
        for driver in (proxy, proxy, other):
            said.append(self.pay(driver))
            self.waiting(driver)
        third = said.pop()
        (held,) = metacog.pending(setting.run)
        metacog.decide(held["id"], "approve")
        answers = [proxy.answer_to(each) for each in said] + [other.answer_to(third)]
        made = [answer for answer in answers if not answer["result"].get("isError")]
        assert len(made) == 1 == len(setting.ledger)
        assert metacog.pending(setting.run) == []

    def test_a_call_that_was_given_up_uses_no_decision(self, metacog: Any, setting: Any) -> None:
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        said = self.pay(proxy)
        self.waiting(proxy)
        proxy.notify("notifications/cancelled", {"requestId": said})
        metacog.decide(metacog.next_pending(setting.run)["id"], "approve")
        for _ in range(100):  # time enough for what still waited to hear of it
            proxy.request("ping")
        assert proxy.call("transfer", PAY)["structuredContent"] == {"number": 1, "eur": 20}
        assert [each for each in proxy.others if each.get("id") == said] == []

    def test_another_folder_for_what_is_kept_is_another_memory(self, metacog: Any, setting: Any) -> None:
        proxy = setting.drive(setting.proxied(setting.bank))
        proxy.initialize()
        self.pay(proxy)
        held = metacog.next_pending(setting.run)["id"]
        proxy.kill()
        proxy = setting.drive(setting.proxied(setting.bank, "--state", "/proc/no/such"))
        proxy.initialize()
        said = self.pay(proxy)
        # metacog itself knows a pending call again.
        metacog.until(lambda: metacog.item(held)["asks"] == 2, "it is not asked again")
        metacog.decide(held, "approve")
        assert proxy.answer_to(said)["result"]["structuredContent"]["number"] == 1


def test_the_servers_process_does_not_get_the_agents_key(metacog: Any, setting: Any) -> None:
    script = (
        "import json,os,sys; json.dump([n for n in os.environ if n.startswith('METACOG_')], open(sys.argv[1], 'w'))"
    )
    proxy = setting.drive(setting.proxied([setting.bank[0], "-c", script, str(setting.folder / "seen")]))
    proxy.process.wait(SECONDS)
    assert "METACOG_API_KEY" not in json.loads((setting.folder / "seen").read_text())
