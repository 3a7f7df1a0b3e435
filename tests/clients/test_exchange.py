"""What the Python client does, step by step, with its requests carried out by nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from metacog_client import BadSignature, Outcome, Refused, Spool, SpoolFull, Text, ToolCall, flows, verify_webhook
from metacog_client.exchange import Answer, Send, Sleep, Step, Steps, Until, answered, request, retry_after
from metacog_client.gating import key_of
from metacog_client.spool import Sender
from standardwebhooks import Webhook

from scripts import client_types
from tests.tables import table

CALL = ToolCall("refund", {"eur": 20, "order": "4711"}, call_id="call_1")
SECRET, OTHER = "whsec_" + "c2VjcmV0LW9mLTI0LWJ5dGVzLS0t", "whsec_" + "b3RoZXItb2YtMjQtYnl0ZXMtLS0t"


class Clock:
    """Time that passes only while somebody sleeps or waits for an answer."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(status: int, body: Any = None, **headers: str) -> Answer:
    return Answer(status, json.dumps(body or {}).encode(), {name.replace("_", "-"): v for name, v in headers.items()})


def held(state: str = "pending", **decision: Any) -> Answer:
    told = {"id": "dec_1", "verdict": state, "text": None, "arguments": None, "reason": "", "by": "person"} | decision
    return answer(200, {"id": "held_1", "asks": 1, "decision": None if state == "pending" else told})


def item(disposition: str, **more: Any) -> Answer:
    told = {"disposition": disposition, "held": None, "text": None, "arguments": None, "rule": None, **more}
    return answer(201, {"items": [told]})


def played(steps: Steps[Any], answers: Iterable[Answer], clock: Clock | None = None) -> tuple[Any, list[Step]]:
    """Carry steps out with these answers; return what came of it, and the steps."""
    came, taken, left = None, [], iter(answers)
    try:
        while True:
            step = steps.send(came)
            came = None
            taken.append(step)
            if isinstance(step, Sleep):
                if clock:
                    clock.now += step.seconds
            else:
                came = next(left)
                if clock and came.status and "wait=" in step.path:
                    clock.now += float(step.path.partition("wait=")[2])
    except StopIteration as done:
        assert isinstance(answers, repeat) or list(left) == []
        return done.value, taken


def gated(
    answers: Iterable[Answer], asked: ToolCall | Text = CALL, seconds: float = 60, **more: Any
) -> tuple[Outcome, list[Step]]:
    clock = Clock()
    question = flows.Question.of(asked, "run", None)
    unreachable = more.pop("unreachable", "deny")
    return played(flows.gate(question, Until.after(seconds, clock), 30.0, unreachable), answers, clock)


NOBODY = Answer(0, b"ConnectError: refused")
PENDING = item("hold", held="held_1")


@table(
    "answers, unreachable, verdict, allowed, reason",
    [
        ([item("pass", arguments=CALL.arguments)], "deny", "pass", True, ""),
        ([item("reject", rule={"reason": "Too much."})], "allow", "deny", False, "Too much."),
        ([item("new-word")], "allow", "unreachable", False, "not metacog"),
        ([answer(200, ["items"])], "allow", "unreachable", False, "not metacog"),
        ([answer(401, {"detail": "No such key."})], "allow", "unreachable", False, "No such key. (401)"),
        ([answer(422, {"detail": "Too deep."})], "allow", "unreachable", False, "Too deep. (422)"),
        ([Answer(404, b"<html>")], "allow", "unreachable", False, "is not metacog's API (404)"),
        ([Answer(200, b"<html>")], "deny", "unreachable", False, "no JSON"),
        ([PENDING, held("approve", arguments={"eur": 20})], "deny", "approve", True, ""),
        ([PENDING, held("edit", arguments={"eur": 5})], "deny", "edit", True, ""),
        ([PENDING, held("reject", reason="Again?")], "allow", "reject", False, "Again?"),
        ([PENDING, held("expire")], "allow", "expired", False, ""),
        ([PENDING, held("withdraw")], "allow", "withdrawn", False, ""),
        ([PENDING, held(), held(), held()], "allow", "pending", False, ""),
        ([PENDING, answer(404, {"detail": "Gone."})], "allow", "unreachable", False, "Gone. (404)"),
        ([PENDING, answer(200, {"id": "held_1"})], "allow", "unreachable", False, "not metacog"),
        ([PENDING, held("approve-twice")], "allow", "unreachable", False, "not metacog"),
    ],
)
def test_only_what_was_let_go_is_allowed(
    answers: Sequence[Answer], unreachable: str, verdict: str, allowed: bool, reason: str
) -> None:
    outcome, _ = gated(answers, unreachable=unreachable)
    assert (outcome.verdict, outcome.allowed) == (verdict, allowed)
    assert reason in outcome.reason
    assert outcome.message.startswith(("Allowed", "A reviewer") if allowed else "Not done")


@table(
    "reason, sentence",
    [("too much ", "too much."), ("Too much!", "Too much!"), ("為什麼？", "為什麼？"), ("See 4.", "See 4.")],
)
def test_a_reason_ends_before_the_next_sentence(reason: str, sentence: str) -> None:
    outcome, _ = gated([PENDING, held("reject", reason=reason)])
    assert outcome.reason == reason
    assert outcome.message.endswith(f" Reason: {sentence} Do not try the same again in another form.")


@table("decided", [held(), held("approve", arguments={"eur": 20}), answer(404, {"detail": "Gone."})])
def test_who_waits_is_told_where_it_is_decided(decided: Answer) -> None:
    told: list[Outcome] = []
    question = flows.Question.of(CALL, "run", None)
    asked = item("hold", held="held_1", review_url="http://x/queue/held_1/")
    gate = flows.gate(question, Until.after(0), 30.0, "deny", told.append)
    outcome, _ = played(gate, [asked, decided])
    assert [(each.verdict, each.review_url) for each in told] == [("pending", "http://x/queue/held_1/")]
    assert outcome.review_url == "http://x/queue/held_1/"
    assert ("decide it at http://x/queue/held_1/." in outcome.message) == (outcome.verdict == "pending")


def test_a_call_may_choose_to_be_made_without_an_answer() -> None:
    outcome, steps = gated(repeat(NOBODY), unreachable="allow")
    assert (outcome.verdict, outcome.allowed, outcome.arguments) == ("unreachable", True, CALL.arguments)
    assert "without a review" in outcome.message
    assert gated(repeat(NOBODY))[0].allowed is False
    assert 20 < sum(step.seconds for step in steps if isinstance(step, Sleep)) <= 30


def test_pauses_grow_and_are_never_shorter_than_asked_for() -> None:
    clock = Clock()
    busy = [answer(429, retry_after="3"), answer(503, retry_after="4"), answer(500), NOBODY]
    found, steps = played(answered(request("GET", "/x"), Until.after(60, clock)), [*busy, answer(200)], clock)
    pauses = [step.seconds for step in steps if isinstance(step, Sleep)]
    assert found.status == 200
    # Below the longest by chance: not all clients come back at once.
    assert [low <= pause < high for pause, (low, high) in zip(pauses, BOUNDS, strict=True)] == [True] * 4


BOUNDS = [(3.125, 3.25), (4.25, 4.5), (0.5, 1.0), (1.0, 2.0)]


def test_what_asks_for_more_time_than_there_is_is_not_waited_for() -> None:
    outcome, steps = gated([answer(429, {"detail": "Slow down."}, retry_after="31")])
    assert (outcome.verdict, len(steps)) == ("unreachable", 1)
    assert "Slow down. (429)" in outcome.reason


def test_waiting_goes_on_while_metacog_is_away_and_ends_at_the_deadline() -> None:
    outcome, steps = gated([PENDING, NOBODY, answer(502), held("approve", arguments={"eur": 20})])
    assert outcome.verdict == "approve"
    clock = Clock()
    outcome, steps = played(flows.wait("held_1", Until.after(20, clock)), repeat(NOBODY), clock)
    assert (outcome.verdict, outcome.held, outcome.allowed) == ("pending", "held_1", False)
    waits = [float(step.path.partition("/held/held_1?wait=")[2]) for step in steps if isinstance(step, Send)]
    _, (look,) = played(flows.wait("held_1", Until.after(0, clock)), [held()], clock)
    assert look == Send("GET", "/held/held_1", seconds=5.0)
    assert (waits[0], len(waits) > 5, waits[-1] < 10) == (20, True, True)


def test_one_approval_that_several_calls_waited_for_is_taken_by_one() -> None:
    merged = held("edit", arguments={"eur": 5}, permission="post")
    outcome, steps = gated([PENDING, merged, item("pass", arguments={"eur": 5})])
    assert (outcome.verdict, outcome.arguments) == ("edit", {"eur": 5})
    bodies = [json.loads(step.body) for step in steps if isinstance(step, Send) and step.body]
    assert [body["items"][0]["arguments"] for body in bodies] == [CALL.arguments, {"eur": 5}]
    assert bodies[0]["id"] != bodies[1]["id"]
    _, steps = gated([PENDING, merged, PENDING])  # killed and started again, it takes the same one; or comes too late
    assert [json.loads(step.body) for step in steps if isinstance(step, Send) and step.body] == bodies


def test_an_approval_that_is_used_up_is_asked_about_anew() -> None:
    used = held("edit", arguments={"eur": 5}, permission="used")
    outcome, steps = gated([PENDING, used, item("hold", held="held_2"), *[held()] * 2])
    assert (outcome.verdict, outcome.held, outcome.allowed) == ("pending", "held_2", False)
    bodies = [json.loads(step.body) for step in steps if isinstance(step, Send) and step.body]
    assert [body["items"] for body in bodies] == [bodies[0]["items"]] * 2, "as it was wanted at first"
    other = held("approve", arguments=CALL.arguments, permission="given")
    told = json.loads(other.body) | {"call_id": "call_2"}
    outcome, _ = gated([PENDING, answer(200, told), item("hold", held="held_2"), *[held()] * 2])
    assert (outcome.verdict, outcome.held) == ("pending", "held_2"), "another call's approval is not this one's"
    shared = played(flows.wait("held_1", Until.after(0)), [held("approve", arguments={}, permission="post")])[0]
    for outcome in (played(flows.wait("held_1", Until.after(0)), [used])[0], shared):
        assert not outcome.allowed
        assert outcome.message.startswith("Not done: this approval is used up")


@table("size, omitted", [(65_536, False), (65_537, True)])
def test_a_schema_that_is_too_large_is_named_and_not_sent(size: int, omitted: bool) -> None:
    empty = len('{"description":""}')
    schema = {"description": "é" * ((size - empty) // 2) + "x" * ((size - empty) % 2)}
    _, (send,) = gated([item("pass", arguments={})], ToolCall("refund", {}, "call_1", schema))
    (asked,) = json.loads(send.body)["items"]  # type: ignore[union-attr]
    assert (asked.get("schema"), asked.get("schema_omitted")) == ((None, True) if omitted else (schema, None))


@table(
    "standing, is_taken",
    [
        ({"status": "done", "detail": "", "result": [1], "reported_at": "2026-02-16T08:00:00Z"}, True),
        ({"status": "failed", "detail": "", "result": [1], "reported_at": "2026-02-16T08:00:00Z"}, False),
        (None, False),
    ],
)
def test_an_outcome_reported_twice_is_the_first_where_it_is_the_same(standing: Any, is_taken: bool) -> None:
    sent = {"status": "done", "detail": "", "result": (1,)}
    steps = flows.reported(request("POST", "/held/held_1/outcome", sent), sent, Until.after(10))
    with nullcontext() if is_taken else pytest.raises(Refused):
        assert played(steps, [answer(409, {"detail": "Reported before.", "outcome": standing})])[0] == standing


def test_the_key_is_the_same_for_the_same_call_of_a_run() -> None:
    key = key_of("run", "run", CALL)
    assert key == "0ed224c3-e81c-55b8-a67e-ec9d13a3a2c3"  # for ever
    assert key == key_of("run", "run", ToolCall("refund", {"order": "4711", "eur": 20}, call_id="call_1"))
    others = [
        key_of("other", "run", CALL),
        key_of("run", "other", CALL),
        key_of("run", "run", ToolCall("refund", CALL.arguments, call_id="call_2")),
        key_of("run", "run", ToolCall("refund", {"eur": 21}, call_id="call_1")),
        key_of("run", "run", ToolCall("repay", CALL.arguments, call_id="call_1")),
        key_of("run", "run", Text("refund", call_id="call_1")),
        *(key_of("run", "run", ToolCall("refund", CALL.arguments)) for _ in range(2)),
    ]
    assert len({key, *others}) == 9


@table("arguments", [{"at": {1, 2}}, float("nan"), {"when": datetime.now(UTC)}])
def test_what_is_no_json_is_not_asked_and_not_allowed(arguments: Any) -> None:
    outcome, steps = gated([], ToolCall("x", arguments, call_id="1"), unreachable="allow")
    assert (outcome.verdict, outcome.allowed, steps) == ("unreachable", False, [])


def test_half_a_surrogate_pair_is_sent_for_metacog_to_refuse() -> None:
    outcome, (sent,) = gated([answer(422, {"detail": "No text."})], ToolCall("x", "\ud800", call_id="1"))
    assert isinstance(sent, Send)
    assert b'"\\ud800"' in (sent.body or b"")
    assert not outcome.allowed


@table("value, seconds", [("7", 7), ("", 0), ("soon", 0), ("-3", 0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)])
def test_retry_after_is_read(value: str, seconds: float) -> None:
    assert retry_after(value) == seconds


def test_retry_after_may_be_a_date() -> None:
    assert 50 < retry_after(format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True)) <= 60


def signed(secret: str, body: str, *, minutes: int = 0) -> dict[str, str]:
    at = datetime.now(UTC) - timedelta(minutes=minutes)
    return {
        "Webhook-Id": "del_1",
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("del_1", at, body),
    }


BODY = '{"type": "item.decided", "timestamp": "2026-02-16T08:00:00Z", "data": {"held": "held_1"}}'


@table("secrets", [SECRET, [OTHER, SECRET]])
def test_a_webhook_is_taken_from_any_live_secret(secrets: Any) -> None:
    assert verify_webhook(signed(SECRET, BODY), BODY.encode(), secrets)["data"] == {"held": "held_1"}
    both = signed(OTHER, BODY) | {"Webhook-Signature": f"v1,AAAA {signed(SECRET, BODY)['Webhook-Signature']}"}
    assert verify_webhook(both, BODY, secrets)["type"] == "item.decided"


@table(
    "headers, body, secrets",
    [
        (signed(OTHER, BODY), BODY, SECRET),
        (signed(SECRET, BODY), BODY.replace("held_1", "held_2"), SECRET),
        (signed(SECRET, BODY) | {"Webhook-Id": "del_2"}, BODY, SECRET),
        (signed(SECRET, BODY, minutes=60), BODY, SECRET),
        (signed(SECRET, BODY, minutes=-60), BODY, SECRET),
        (signed(SECRET, BODY) | {"Webhook-Timestamp": "now"}, BODY, SECRET),
        ({}, BODY, SECRET),
        (signed(SECRET, BODY), BODY, []),
        (signed(SECRET, BODY), BODY, "whsec_no base 64"),
    ],
)
def test_no_other_webhook_is_taken(headers: dict[str, str], body: str, secrets: Any) -> None:
    with pytest.raises(BadSignature):
        verify_webhook(headers, body, secrets)


def test_the_spool_keeps_each_record_until_it_was_taken(tmp_path: Path) -> None:
    spool, until = Spool(tmp_path / "new/spool"), Until.after(60, Clock())
    assert (tmp_path / "new/spool").stat().st_mode & 0o077 == 0
    first = spool.add({"response": "one"})
    spool.add({"response": "two"})
    left, steps = played(spool.send(until), [answer(201), answer(401)])
    assert left == spool.waiting == 1
    killed = Spool(spool.path).send(until)  # another process, killed when the answer was on its way
    body = next(killed).body  # type: ignore[union-attr]
    killed.close()
    spool.add({"response": "three"})
    left, later = played(spool.send(until), [answer(200), answer(422, {"detail": "No."})])
    sent = [step.body for step in [*steps, *later] if isinstance(step, Send) and step.body]
    assert (sent[2], len(sent)) == (body, 4)
    assert json.loads(sent[0])["id"] == first
    assert left == spool.waiting == 0
    assert [(record["response"], why) for record, why in spool.refused] == [("three", "No. (422)")]
    spool.forget_refused()
    assert spool.refused == []


def test_a_full_spool_refuses_and_drops_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", most_records=2, most_bytes=500)
    with pytest.raises(SpoolFull):
        spool.add({"response": "long" * 200})
    spool.add({"response": "one"})
    spool.add({"response": "two"})
    with pytest.raises(SpoolFull):
        spool.add({"response": "three"})
    assert spool.waiting == 2


def test_what_was_added_just_before_the_end_is_sent() -> None:
    attempts = []

    def send(seconds: float) -> int:
        attempts.append(seconds)
        sender._is_over = True  # closed while it sends
        sender._woken.set()
        return 1

    sender = Sender(send)
    sender.wake()
    assert sender._thread
    sender._thread.join(60)
    assert attempts == [10.0, 2.0]


def test_the_types_are_those_of_the_openapi_document() -> None:
    assert client_types.made() == client_types.FILE.read_text(), "make messages"
