"""The Python client against a real server, with and without `await`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import anyio
import pytest
from django.conf import settings as site
from django.utils import timezone
from metacog_client import (
    AsyncClient,
    Client,
    NotAnswered,
    NotConfigured,
    Outcome,
    Refused,
    Text,
    ToolCall,
    Unreachable,
    api_types,
    flows,
)
from metacog_client.exchange import Sleep, Until
from metacog_client.reporting import REPORT_SECONDS
from metacog_client.reporting.outputs import Outputs

from metacog.db import rows
from metacog.models import Policy
from reviews.held import decisions
from reviews.models import AgentResponse, CallOutcome, HeldItem, HeldQuestion
from tests.conftest import HELD, NOON
from tests.faults.servers import free_port

pytestmark = pytest.mark.django_db(transaction=True)

SOURCE = site.BASE_DIR / "clients/python/src"
SCHEMA = {"type": "object", "required": ["eur"], "properties": {"to": {"type": "string"}, "eur": {"type": "integer"}}}
CALL = ToolCall("refund", {"eur": 20, "order": "4711"}, call_id="call_1", description="Refund order 4711")
KILLED = """
import sys
from metacog_client import Client, ToolCall
client = Client(run="r-1", spool=sys.argv[1])
client.record("I shall refund it.")
client.gate(ToolCall("refund", {"order": "4711", "eur": 20}, call_id="call_1", description="Refund order 4711"))
"""


class Awaited:
    """An asynchronous client, each of whose calls is awaited in an event loop of its own, as some frameworks do.

    In a thread of its own: where a browser was driven before, this one has a loop that runs already.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.client, self.thread = AsyncClient(*arguments, **options), ThreadPoolExecutor(1)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)
        if not iscoroutinefunction(method):
            return method
        return lambda *arguments, **options: self.thread.submit(
            anyio.run, partial(method, *arguments, **options)
        ).result()


@pytest.fixture(params=[Client, Awaited], ids=["sync", "async"])
def connect(
    request: Any, kuro: Any, live_server: Any, undo_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """Return what makes a client of the run `r-1`; this server answers at once, however long it was asked to wait."""
    monkeypatch.setattr(flows, "AGAIN_SECONDS", 0.02)
    made: list[Any] = []

    def client(url: str = live_server.url, key: str = kuro.key, **options: Any) -> Any:
        made.append(request.param(url, key, **{"run": "r-1"} | options))
        return made[-1]

    yield client
    for each in made:
        each.close()


def only_held() -> HeldItem:
    return HeldItem.objects.get(state=HeldItem.State.PENDING)


def until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_call_is_made_as_it_was_decided(connect: Callable[..., Any], alice: Any) -> None:
    client = connect()
    told = []
    waiting = threading.Thread(target=lambda: told.append(client.gate(CALL)))
    waiting.start()
    until(HeldItem.objects.exists)
    decisions.decide(only_held(), alice, "approve")
    waiting.join(60)
    assert [(each.verdict, each.allowed, each.arguments, each.by) for each in told] == [
        ("approve", True, CALL.arguments, "person")
    ]
    assert client.ask(CALL).held == told[0].held  # again, and it is the same
    for _ in range(2):
        assert client.report(told[0].held, "done", result={"refund": 17})["result"] == {"refund": 17}
    with pytest.raises(Refused):
        client.report(told[0].held, "failed")
    anew = client.gate(CALL, deadline=0)
    assert (anew.verdict, anew.held != told[0].held) == ("pending", True), "it was done, so a person is asked again"
    client.withdraw(anew.held)

    edited = client.ask(ToolCall("refund", {"eur": 900}, call_id="call_2"))
    assert (edited.verdict, edited.allowed) == ("pending", False)
    decisions.decide(only_held(), alice, "edit", edit=decisions.Arguments({"eur": 90}), accept_risk=True)
    outcome = client.wait(edited.held)
    assert (outcome.verdict, outcome.arguments) == ("edit", {"eur": 90})
    assert '{"eur":90}' in outcome.message

    rejected = client.ask(Text(HELD), require_review=True)
    decisions.decide(only_held(), alice, "reject", reason="Nobody measured it.")
    outcome = client.wait(rejected.held, deadline=0)
    assert (outcome.verdict, outcome.allowed, outcome.text) == ("reject", False, None)
    assert "Nobody measured it." in outcome.message

    late = client.ask(ToolCall("refund", {"eur": 1}), expires_in=60)
    HeldItem.objects.filter(public_id=late.held).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.wait(late.held, deadline=0).verdict == "expired"

    taken_back = client.ask(ToolCall("refund", {"eur": 2}))
    assert client.wait(taken_back.held, deadline=0).verdict == "pending"
    assert client.withdraw(taken_back.held, "No need.")["verdict"] == "withdraw"
    assert client.wait(taken_back.held).verdict == "withdrawn"
    with pytest.raises(Refused):
        client.withdraw(edited.held)
    assert [each["seq"] for each in client.decisions(after=1)] == [2, 3, 4, 5, 6]
    assert client.gate(Text("It is done.")).text == "It is done."


def test_a_question_is_asked_and_its_answer_returned(connect: Callable[..., Any], alice: Any) -> None:
    client = connect()
    told, pages = list[Any](), list[Any]()

    def ask(**how: Any) -> threading.Thread:
        def run() -> None:
            try:
                told.append(client.ask("Which account?", on_asked=lambda *page: pages.append(page), **how))
            except NotAnswered as none:
                told.append(none)

        thread = threading.Thread(target=run)
        thread.start()
        until(HeldItem.objects.filter(state=HeldItem.State.PENDING).exists)
        return thread

    for how, answer in (
        ({"choices": ["Savings", "Current"]}, "Current"),
        ({"schema": SCHEMA, "call_id": "q-1"}, {"eur": 20}),
        ({}, "The one in Bremen"),
    ):
        waiting = ask(**how)
        decisions.decide(only_held(), alice, "answer", edit=decisions.Answer(answer))
        waiting.join(60)
        assert told.pop() == answer
    known = [each.public_id for each in HeldItem.objects.order_by("pk")]
    assert [held for held, page in pages if held in page] == known
    assert [*HeldQuestion.objects.exclude(schema=None).get().schema["properties"]] == [*SCHEMA["properties"]]
    again = client.ask("Which account?", schema=SCHEMA, call_id="q-1")
    assert again == {"eur": 20}, "with its call id it is the same question"

    waiting = ask(choices=["A"])
    decisions.decide(only_held(), alice, "reject", reason="Ask the bank.")
    waiting.join(60)
    none = told.pop()
    assert (none.verdict, none.reason, "Ask the bank." in str(none)) == ("reject", "Ask the bank.", True)

    with pytest.raises(NotAnswered) as late:
        client.ask("And now?", deadline=0)
    assert late.value.verdict == "pending"
    HeldItem.objects.filter(public_id=late.value.held).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Refused):
        client.ask("Which?", choices=[])


def test_one_approval_is_for_one_of_two_calls(connect: Callable[..., Any], alice: Any) -> None:
    client = connect()
    twins = [ToolCall("refund", {"eur": 20}, call_id=name) for name in ("a", "b")]
    assert len({client.ask(twin).held for twin in twins}) == 1
    decisions.decide(only_held(), alice, "approve")
    first, second = (client.gate(twin, deadline=0) for twin in twins)
    assert (first.verdict, second.verdict) == ("approve", "pending")
    assert client.gate(twins[0], deadline=0).verdict == "approve"  # killed before it was made, and asked again
    assert first.held != second.held


def test_nothing_is_made_while_metacog_cannot_be_asked(
    connect: Callable[..., Any], kuro: Any, live_server: Any
) -> None:
    nobody = connect(f"http://127.0.0.1:{free_port()}", retry_seconds=0.1)
    for unreachable, allowed in (("deny", False), ("allow", True)):
        outcome = nobody.gate(CALL, unreachable=unreachable)
        assert (outcome.verdict, outcome.allowed, "ConnectError" in outcome.reason) == ("unreachable", allowed, True)
    with pytest.raises(Unreachable):
        nobody.context()
    outcome = connect(key="mck_of_nobody").gate(CALL, unreachable="allow")
    assert (outcome.verdict, outcome.allowed) == ("unreachable", False)

    Policy.objects.update(rate_per_second=1, rate_burst=1)
    with Client(live_server.url, kuro.key, run="r-1") as client:
        client.ask(CALL)
        steps = flows.ask(flows.Question.of(Text("Soon."), "r-1", None), Until.after(60), 30, "deny")
        refused = client.transport.exchange(next(steps))  # type: ignore[arg-type]
        assert refused.status == 429
        pause = steps.send(refused)
        assert isinstance(pause, Sleep)
        assert pause.seconds >= float(refused.headers["retry-after"]) > 0
        again = next(steps)
        assert HeldItem.objects.count() == AgentResponse.objects.count() == 1
        assert b"Soon." in again.body  # type: ignore[union-attr]


@pytest.mark.parametrize("connect", [Client], indirect=True)
def test_who_was_killed_while_waiting_goes_on(
    connect: Callable[..., Any], alice: Any, kuro: Any, live_server: Any, tmp_path: Path
) -> None:
    client = connect(spool=tmp_path / "spool")
    where = {"METACOG_URL": live_server.url, "METACOG_API_KEY": kuro.key}
    environment = os.environ | where | {"PYTHONPATH": str(SOURCE)}
    with subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "spool")], env=environment) as process:
        until(HeldItem.objects.exists)
        process.send_signal(signal.SIGKILL)
    decisions.decide(only_held(), alice, "approve")
    outcome = client.gate(CALL)
    assert (outcome.verdict, outcome.arguments) == ("approve", CALL.arguments)
    assert HeldItem.objects.get().public_id == outcome.held
    client.record("I refunded it.", errors=["none"])
    until(lambda: AgentResponse.objects.count() == 3)  # each by its own thread, and the call's own
    assert client.flush() == 0
    assert AgentResponse.objects.count() == 3


@pytest.mark.parametrize("connect", [Client], indirect=True)
def test_what_the_agent_reads_has_the_shapes_of_its_types(connect: Callable[..., Any], alice: Any) -> None:
    client = connect()
    held = client.ask(CALL, user_message="Where is my money?", metadata={"trace": "t-1"}).held
    item = client.call("GET", f"/held/{held}")
    assert item["metadata"] == {"run": "r-1", "trace": "t-1"}
    decisions.decide(only_held(), alice, "approve")
    memory = client.remember("The nightly run starts at 02:15 UTC.", topic="nightly run")
    verdict = client.call("POST", "/responses", {"response": HELD, "items": [{"kind": "chat", "text": HELD}]})
    (found,) = client.recall("when does the nightly run start")
    (decision,) = client.decisions(metadata={"trace": "t-1"})
    assert client.decisions(metadata={"trace": "t-2"}) == []
    for value, shape in (
        (item, api_types.Held),
        (memory, api_types.Remembered),
        (found, api_types.Found),
        (decision, api_types.Decided),
        (client.context(), api_types.Context),
        (verdict, api_types.Assessment),
        (verdict["items"][0], api_types.ItemPart),
        (verdict["hesitation"], api_types.HesitationPart),
    ):
        assert set(value) <= set(shape.__annotations__), shape
    assert "<decided>" in client.context_text()
    with pytest.raises(Refused) as refused:
        client.call("POST", "/responses", {"respond": ""})
    assert {error["pointer"] for error in refused.value.errors} == {"/response", "/respond"}


def test_the_address_and_the_key_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METACOG_URL", raising=False)
    monkeypatch.delenv("METACOG_API_KEY", raising=False)
    with pytest.raises(NotConfigured, match="METACOG_URL"):
        Client()
    with pytest.raises(NotConfigured, match="METACOG_API_KEY"):
        AsyncClient("http://127.0.0.1:8000")
    with pytest.raises(NotConfigured, match="no address"):
        Client("127.0.0.1:8000", "key")
    assert Client("http://127.0.0.1:8000/api/v1/", "key").url == "http://127.0.0.1:8000"


def test_the_example_runs(kuro: Any, alice: Any, live_server: Any, undo_at_once: None) -> None:
    where = {"METACOG_URL": live_server.url, "METACOG_API_KEY": kuro.key, "PYTHONPATH": str(SOURCE)}
    example = site.BASE_DIR / "clients/python/examples/refunds.py"
    with subprocess.Popen(
        [sys.executable, example], env=os.environ | where, stdout=subprocess.PIPE, text=True
    ) as process:
        first, second, third = until(lambda: len(found := HeldItem.objects.order_by("pk")) == 3 and found)
        decisions.decide(first, alice, "approve")
        decisions.decide(
            second, alice, "edit", edit=decisions.Arguments({"order": "4712", "eur": 90}), accept_risk=True
        )
        decisions.decide(third, alice, "reject", reason="It was refunded last week.")
        said = process.communicate()[0].splitlines()
    assert said[:3] == [f"{site.PUBLIC_URL}/queue/{held.public_id}/" for held in (first, second, third)]
    assert said[3:5] == ["Refunding 20 EUR for order 4711.", "Refunding 90 EUR for order 4712."]
    assert "It was refunded last week." in said[5]


def test_the_outputs_of_the_documentation_have_their_source(kuro: Any, live_server: Any) -> None:
    Policy.objects.update(profile="aware")
    page = (site.BASE_DIR / "docs/integrations.md").read_text()
    (code,) = re.findall(r"```python\n([^`]*add_output[^`]*)```", page)
    where = {"METACOG_URL": live_server.url, "METACOG_API_KEY": kuro.key, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | where, capture_output=True, text=True)
    assert done.stdout == "pass\n", done.stderr
    said = AgentResponse.objects.latest("pk")
    assert [each["type"] for each in json.loads(said.verdict)["hesitation"]["signals"]] == []


APPROVED = Outcome("approve", True, "", arguments={}, held="held_1")
ENDS = """
import sys
from metacog_client import Client, Outcome
client = Client(sys.argv[1], "mck_x")
for held in sys.argv[2:]:
    with client.reporting(Outcome("approve", True, "", held=held)) as made:
        made.result = "refunded"
print("made")
"""


@pytest.mark.parametrize(
    ("returned", "status", "result"),
    [
        ({"at": NOON, "eur": 5}, "done", {"at": str(NOON), "eur": 5}),
        ("\0é" * 20_000, "done", "é" * 7_372),
        (float("nan"), "done", "nan"),
        (json.loads("[" * 100 + "]" * 100), "done", None),
        (ValueError("No such order."), "failed", None),
        (KeyboardInterrupt(), "failed", None),
    ],
    ids=["JSON", "long", "no JSON", "too deep", "raised", "cut short"],
)
def test_what_became_of_a_call_is_reported_once_it_is_made(
    connect: Callable[..., Any], alice: Any, returned: Any, status: str, result: Any
) -> None:
    client = connect()
    told = client.ask(CALL)
    with getattr(client, "client", client).reporting(told):
        pass  # nobody has approved it
    decisions.decide(only_held(), alice, "approve")
    told = client.wait(told.held)
    with suppress(ValueError, KeyboardInterrupt), getattr(client, "client", client).reporting(told) as made:
        if isinstance(returned, BaseException):
            raise returned
        made.result = returned
    outcome = until(lambda: CallOutcome.objects.first())
    assert (outcome.status, outcome.result) == (status, result)
    assert outcome.detail in ("", "ValueError: No such order.", "KeyboardInterrupt")


SUMMARY = Text("The first order cost 1,234 EUR and was paid on 3 March 2025.")


def outputs_sent() -> list[str]:
    """What went along with each response as what tools gave, the oldest first."""
    bodies = [json.loads(each.body) for each in AgentResponse.objects.order_by("pk")]
    return [body.get("command_output", "") for body in bodies]


def signals_of(held: str) -> list[str]:
    item = HeldItem.objects.select_related("response").get(public_id=held)
    return [each["type"] for each in json.loads(item.response.verdict)["hesitation"]["signals"]]


@pytest.mark.parametrize("outputs", [True, False])
def test_a_figure_that_an_earlier_tool_gave_is_not_marked_as_invented(
    connect: Callable[..., Any], outputs: bool
) -> None:
    Policy.objects.update(profile="aware", default_tool_call="allow")
    client = connect(outputs=outputs)
    with client.reporting(client.gate(CALL)) as made:
        made.result = {"orders": [{"eur": 1234, "paid": "2025-03-03"}]}
    client.add_output("Nobody else has paid.", tool="search")
    told = client.ask(SUMMARY, require_review=True)
    assert ("no-source" in signals_of(told.held)) is not outputs
    assert outputs_sent()[-1] == ("[refund]\neur: 1234\npaid: 2025-03-03\n[search]\nNobody else has paid." * outputs)


def test_what_tools_gave_goes_along_once_with_the_next_response_of_its_session(connect: Callable[..., Any]) -> None:
    client = connect()
    client.add_output("one")
    client.add_output("elsewhere", session="other")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flows, "fetch", gone)
        with pytest.raises(Unreachable):
            client.record("Nobody hears this.")
    client.ask(CALL)
    client.add_output(b"two")
    client.ask(CALL)  # asked again it is the same to the byte
    client.record("Next.")
    client.record("Last.", command_output="its own")
    client.record("There.", session="other")
    assert outputs_sent() == ["one", "b'two'", "its own", "elsewhere"]


def test_another_process_without_the_outputs_goes_on_with_the_same_held_item(
    connect: Callable[..., Any], alice: Any
) -> None:
    first = connect()
    asked = [CALL, replace(CALL, call_id="call_2", arguments={"eur": 30}), Text("It is so.", call_id="text_1")]
    held = []
    for each in asked:
        first.add_output("one")
        held.append(first.ask(each, require_review=True).held)
    one, two = (HeldItem.objects.get(public_id=each) for each in held[:2])
    assert connect().ask(CALL, require_review=True).held == held[0]
    decisions.decide(one, alice, "approve")
    decisions.decide(two, alice, "edit", edit=decisions.Arguments({"eur": 3}), accept_risk=True)
    again = [connect(deadline=0).gate(each, require_review=True) for each in asked]
    assert [(each.verdict, each.held) for each in again] == list(zip(("approve", "edit", "pending"), held, strict=True))
    assert HeldItem.objects.count() == 3


def test_another_process_without_the_outputs_hears_of_a_rejection(
    connect: Callable[..., Any], alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_CHARACTERS", 1)  # a page has one item
    first = connect()
    first.add_output("one", tool="first")
    for number in range(3):
        first.ask(replace(CALL, call_id=f"call_{number}", arguments={"eur": number}))
    first.add_output("two", tool="first")
    words = Text("It is so.", call_id="text_1")
    first.ask(words, require_review=True)
    for each in HeldItem.objects.order_by("pk"):
        decisions.decide(each, alice, "reject", reason="Not today.")
    asked = [replace(CALL, call_id="call_2", arguments={"eur": 2}), words]
    again = [connect(deadline=0).gate(each, require_review=True) for each in asked]
    assert [(each.verdict, each.reason) for each in again] == [("reject", "Not today.")] * 2
    assert HeldItem.objects.count() == 4


def gone(*request: Any) -> Any:
    raise Unreachable("nobody is there")


def test_what_is_cut_of_what_tools_gave_is_named(connect: Callable[..., Any]) -> None:
    client = connect()
    client.add_output("Paid: 17 EUR", tool="pay")
    client.add_output("x y " * 40_000, tool="read")
    client.add_output({"image": "A" * 9_000, "none": None})
    client.add_output(Broken())
    client.record("So.")
    (sent,) = outputs_sent()
    assert len(sent) <= 65_536
    assert sent.startswith("[pay]\nPaid: 17 EUR\n[read]\nx y x y ")
    rest = "\n[… the rest of what read gave is left out]\nimage: [data that is no text is left out]\nBroken"
    assert sent.endswith(rest)

    for number in range(140):
        client.add_output(f"{number} " * 1_000)
    client.record("So again.")
    sent = outputs_sent()[-1]
    assert (len(sent) <= 65_536, sent.startswith("[12 earlier outputs are left out]\n12 12 ")) == (True, True)
    assert sent.count("is left out]") == 128

    for number in range(60):
        client.add_output(f"{number:02} " * 1_000, tool="t" * 50)
    client.record("So once more.")
    sent = outputs_sent()[-1]
    assert 65_000 < len(sent) <= 65_536
    assert sent.endswith(f"\n[… the rest of what {'t' * 50} gave is left out]")

    client.add_output("much " * 20_000)
    client.ask(ToolCall("write", {"text": "x" * 1_000_000}))
    assert outputs_sent()[-1] == "[what tools gave before is left out: this response is too large]"


def test_what_went_along_with_earlier_questions_is_kept_within_bounds() -> None:
    outputs = Outputs()
    for number in range(60):
        outputs.add("s", f"{number} " * 20_000)
        outputs.given("s", f"key {number}").sent()
    assert 1_900_000 < sum(len(each.text) for each in outputs._asked.values()) <= 2_097_152
    assert outputs.given("s", "key 59").text.startswith("59 "), "the newest stays"


class Broken:
    def __str__(self) -> str:
        raise ValueError


def test_a_call_that_goes_on_later_is_not_reported(connect: Callable[..., Any]) -> None:
    client = connect("http://127.0.0.1:9")
    of = getattr(client, "client", client)
    with suppress(StopIteration), of.reporting(APPROVED, unless=StopIteration):
        raise StopIteration
    assert not of._reporter._is_working


def test_without_metacog_a_call_is_made_as_fast_and_its_process_ends_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes what comes, and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ends = [sys.executable, "-c", ENDS, url, "held_1", "held_2", "held_3"]
        began = time.monotonic()
        process = subprocess.Popen(
            ends,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert process.stdout.readline() == "made\n"
        made = time.monotonic() - began
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0
    assert time.monotonic() - began < made + 3 * REPORT_SECONDS
    assert errors.count("metacog was not told what became of held_1") == 1
