"""A support desk: it looks up orders, refunds, and writes to customers; five tickets at once, and no model.

Looking up passes, as does a refund of up to 30 EUR. A larger one is held, above 500 EUR for an owner; so is each mail,
which may be edited. What the agent has done stands in `shop.jsonl`: run again, it does nothing twice.
"""

from __future__ import annotations

import fcntl
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from metacog_client import Client, Outcome, ToolCall

SHOP = Path("shop.jsonl")
ORDERS = {
    "4711": {"customer": "ana@customer.example", "eur": 20.0, "state": "delivered two days late"},
    "4712": {"customer": "ben@customer.example", "eur": 180.0, "state": "delivered"},
    "4713": {"customer": "chen@customer.example", "eur": 900.0, "state": "delivered"},
}
TICKETS = [
    {"id": "t1", "order": "4711", "text": "My parcel came two days late.", "refund": 20.0},
    {"id": "t2", "order": "4712", "text": "The lamp is broken.", "refund": 180.0},
    {"id": "t3", "order": "4713", "text": "I want my money back.", "refund": 900.0},
    {"id": "t4", "order": "4712", "text": "When do I get my invoice?", "refund": 0.0},
]
REFUND = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "eur": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000}},
    "required": ["order", "eur"],
    "additionalProperties": False,
}
MAIL = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "subject": {"type": "string"}, "body": {"type": "string"}},
    "required": ["to", "subject", "body"],
    "additionalProperties": False,
}


def do(key: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Be the shop: do a thing once for each key, and write it into the shop's own book."""
    if tool == "get_order":
        return ORDERS[arguments["order"]]
    with SHOP.open("a+") as book:
        fcntl.flock(book, fcntl.LOCK_EX)
        book.seek(0)
        if all(json.loads(line)["key"] != key for line in book):
            book.write(json.dumps({"key": key, "tool": tool, "arguments": arguments}) + "\n")
    return {"done": True}


def done() -> dict[str, Any]:
    """Return the arguments with which each thing was done, by its key."""
    lines = SHOP.read_text().splitlines() if SHOP.exists() else []
    return {each["key"]: each["arguments"] for each in map(json.loads, lines)}


def use(client: Client, call: ToolCall, why: str) -> Outcome:
    """Ask before a call, then make it with the arguments that were released; what was done is not asked again."""
    if call.call_id in (before := done()):
        return Outcome("pass", True, "Done before.", before[call.call_id])

    def held(told: Outcome) -> None:
        say(f"{call.call_id}: held, {told.review_url}")

    outcome = client.gate(call, metadata={"why": why}, on_held=held)
    if outcome.allowed:
        with client.reporting(outcome) as made:
            made.result = do(str(call.call_id), call.name, outcome.arguments)
    return outcome


def answer(client: Client, ticket: dict[str, Any]) -> None:
    number, order = ticket["id"], ticket["order"]
    client = client.for_run(f"support-desk-{number}")  # a name that outlives this process: a retry is the same call
    use(client, ToolCall("get_order", {"order": order}, f"{number}-look"), ticket["text"])
    said = "Your invoice is attached to the mail of your order."
    if ticket["refund"]:
        arguments = {"order": order, "eur": ticket["refund"]}
        refund = use(client, ToolCall("refund", arguments, f"{number}-refund", REFUND), ticket["text"])
        if refund.allowed:
            said = f"We have refunded {refund.arguments['eur']:g} EUR."
        else:
            said = "We cannot refund this order."
        say(f"{number}: refund {refund.verdict}. {refund.reason}".rstrip())
    mail = {"to": ORDERS[order]["customer"], "subject": f"Your order {order}", "body": said}
    sent = use(client, ToolCall("send_email", mail, f"{number}-mail", MAIL), ticket["text"])
    say(f"{number}: mail {sent.verdict}. {sent.reason}".rstrip())


def say(line: str) -> None:
    """Print a line whole: several threads do."""
    print(f"{line}\n", end="", flush=True)


def main() -> None:
    with Client(deadline=None) as client, ThreadPoolExecutor(len(TICKETS)) as pool:
        list(pool.map(lambda ticket: answer(client, ticket), TICKETS))
    print(f"\nWhat was done, by the shop's own book:\n{SHOP.read_text() if SHOP.exists() else 'nothing'}")


if __name__ == "__main__":
    main()
