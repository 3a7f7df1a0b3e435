"""A small agent that asks before it acts, may be killed while it waits, and goes on in another process.

It has three refunds to make, and no model: what matters is how it asks. Standard library only.

    python examples/refund_agent.py ask            posts the three tool calls, then waits for each decision
    python examples/refund_agent.py ask 4714=12    the same, and one for another order
    python examples/refund_agent.py listen         receives the signed webhooks, and makes what was approved

Both read `agent.json`, which `manage.py agent create … --json` printed, and keep what they know in `refunds.json`: what
was asked, and what became of it. An order is refunded once, whichever of the two hears of its decision first, also
where it is killed at the worst moment or the file is deleted:

- The ids of a call are made from its order. Asked again it is the same call, and gets the same decision.
- What became of it is reported to metacog. From then on the decision says `used`, and nothing is paid for it.
- The payment has the call's id as its idempotency key, as banks take one: it covers the moment in between.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

URL = os.environ.get("METACOG_URL", "http://127.0.0.1:8000")
AGENT = Path(os.environ.get("AGENT_FILE", "agent.json"))
STATE = Path(os.environ.get("STATE_FILE", "refunds.json"))
BANK = Path(os.environ.get("BANK_FILE", "bank.jsonl"))
PORT = int(os.environ.get("LISTEN_PORT", "9000"))
TOLERANCE_SECONDS = 300  # between a webhook's timestamp and now
UNCHANGED = "Nothing was asked or paid by this, and what was asked before is kept."

SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "eur": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000},
        "note": {"type": "string"},
    },
    "required": ["order", "eur"],
    "additionalProperties": False,
}
WANTED = [
    {"order": "4711", "eur": 20, "note": "The parcel came two days late."},
    {"order": "4712", "eur": 900, "note": "The customer says the screen was broken.\nNo photo yet."},
    {"order": "4713", "eur": 35.5, "note": "Ordered twice by mistake."},
]


@contextmanager
def known() -> Iterator[dict[str, Any]]:
    """Give what is known of each call, alone; what is changed in it is written down whole, or not at all."""
    with STATE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = read_object(STATE, "Put it right, or move it away.") if STATE.exists() else {}
        yield state
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(state, indent=2))
        new.replace(STATE)


def pay(key: str, order: str, eur: float) -> int:
    """Be the bank: make a payment, write it into the bank's own book, and return its number.

    The same key again, as of somebody who was killed before the answer, is the payment of before.
    """
    with BANK.open("a+") as book:
        fcntl.flock(book, fcntl.LOCK_EX)
        book.seek(0)
        payments = [json.loads(line) for line in book]
        for number, payment in enumerate(payments, 1):
            if payment["key"] == key:
                return number
        book.write(json.dumps({"key": key, "order": order, "eur": eur}) + "\n")
        return len(payments) + 1


def call(method: str, path: str, body: Any = None, timeout: float = 10) -> dict[str, Any]:
    """Call metacog's API; what is asked again while it cannot answer is asked under the same id."""
    headers = {"Authorization": f"Bearer {agent()['api_key']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/api/v1{path}", data, headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            if error.code == 409:
                conflict: dict[str, Any] = json.load(error)
                return conflict
            if error.code not in (429, 503):
                sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")
            time.sleep(float(error.headers.get("Retry-After", 1)))  # as metacog asks, in seconds
        except OSError as error:
            print(f"No answer ({error}); trying again.", flush=True)
            time.sleep(1)  # it may be starting again


def agent() -> dict[str, str]:
    """Return what was printed as the agent was made; end with a sentence where that is not in its file."""
    hint = (
        f"`manage.py agent create NAME --team TEAM --json > {AGENT}` writes it; for an agent that is there, "
        f"`manage.py agent rotate NAME --json > {AGENT}`."
    )
    found = read_object(AGENT, hint)
    for name in ("api_key", "signing_secret"):
        if not isinstance(found.get(name), str):
            sys.exit(f"{AGENT} has no {name}. {hint} {UNCHANGED}")
    return found


def read_object(path: Path, hint: str) -> dict[str, Any]:
    """Read a JSON object; end with a sentence where the file is something else, and leave it as it is."""
    try:
        text = path.read_text()
        found = json.loads(text) if text.strip() else None
    except (OSError, ValueError) as error:
        sys.exit(f"{path} cannot be read ({error}). {hint} {UNCHANGED}")
    if not isinstance(found, dict):
        sys.exit(f"{path} is {'empty' if found is None else 'no JSON object'}. {hint} {UNCHANGED}")
    return found


def ask(*more: str) -> None:
    """Post the calls that were not asked yet, then wait until all are decided."""
    others = [{"order": order, "eur": float(eur)} for order, _, eur in (each.partition("=") for each in more)]
    with known() as state:
        for arguments in [*WANTED, *others]:
            state.setdefault(f"refund-{arguments['order']}", {"arguments": arguments})
    for call_id, each in list(state.items()):
        if "became" in each:
            report(call_id)  # it was killed before it had
        if "held" not in each and "became" not in each:
            item = {
                "kind": "tool_call",
                "name": "refund",
                "arguments": each["arguments"],
                "call_id": call_id,
                "schema": SCHEMA,
                "description": f"Refund order {each['arguments']['order']}",
                "expires_in": 86_400,
                "metadata": {"run": "refunds"},
            }
            # Made from the order, and the same to the byte: asked again, it is answered as at first.
            body = {"id": call_id, "response": "I would refund this order.", "session": "refunds", "items": [item]}
            (told,) = call("POST", "/responses", body)["items"]
            with known() as state:
                state[call_id]["held"] = told["held"]
            print(f"{call_id}: {told['disposition']} {told['review_url'] or ''}", flush=True)
            if told["disposition"] == "pass":
                finish(call_id, {"verdict": "approve", "arguments": each["arguments"], "permission": "given"})
            elif told["disposition"] == "reject":
                finish(call_id, {"verdict": "reject"})
    if all("became" in each for each in read().values()):
        print("nothing left to do", flush=True)
    while waiting := [(call_id, each["held"]) for call_id, each in read().items() if "became" not in each]:
        call_id, held = waiting[0]
        print(f"{call_id}: waiting", flush=True)
        item = call("GET", f"/held/{held}?wait=30", timeout=40)
        if decision := item["decision"]:
            finish(call_id, decision)
        else:
            time.sleep(0.5)  # a proxy may have answered sooner


def read() -> dict[str, Any]:
    with known() as state:
        return state


def finish(call_id: str, decision: dict[str, Any]) -> None:
    """Make a call that was let go, once, with the arguments that were released, and report it."""
    with known() as state:  # nobody else finishes one meanwhile
        each, verdict = state[call_id], decision["verdict"]
        if "became" in each:
            return
        if verdict not in ("approve", "edit"):
            print(f"{call_id}: not made ({verdict})", flush=True)
        elif decision["permission"] == "given":
            arguments = each["made_with"] = decision["arguments"]
            print(f"{call_id}: refunding {arguments['eur']} EUR for order {arguments['order']}", flush=True)
            each["payment"] = pay(call_id, arguments["order"], arguments["eur"])
        else:
            print(f"{call_id}: made before", flush=True)
        each["became"] = verdict
    report(call_id)


def report(call_id: str) -> None:
    """Tell metacog what became of a call, once: of several who do, the first does."""
    each = read()[call_id]
    if "payment" in each and each["held"] and "reported" not in each:
        outcome = {"status": "done", "detail": "Refunded.", "result": {"payment": each["payment"]}}
        call("POST", f"/held/{each['held']}/outcome", outcome)
        with known() as state:
            state[call_id]["reported"] = True


def is_signed(headers: Any, body: bytes) -> bool:
    """Tell whether the agent's secret signed this, within the last minutes (Standard Webhooks)."""
    said, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isdigit() or abs(time.time() - int(at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(agent()["signing_secret"].removeprefix("whsec_"))
    wanted = base64.b64encode(hmac.digest(key, f"{said}.{at}.".encode() + body, hashlib.sha256)).decode()
    given = [part.partition(",")[2] for part in headers.get("webhook-signature", "").split()]
    return any(hmac.compare_digest(wanted, each) for each in given)


class Webhooks(BaseHTTPRequestHandler):
    """Takes what metacog tells; the same may come twice, and changes nothing then."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_signed(self.headers, body):
            self.send_error(401)
            return
        told = json.loads(body)
        if told["type"] in ("item.decided", "item.expired"):
            decision = told["data"]
            for call_id, each in read().items():
                if each.get("held") == decision["held"]:
                    finish(call_id, decision)
        self.send_response(204)  # after it was written down: else it comes again
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def listen() -> None:
    print(f"Listening on http://127.0.0.1:{PORT}/", flush=True)
    ThreadingHTTPServer(("127.0.0.1", PORT), Webhooks).serve_forever()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["ask", *more]:
            agent()  # before anything is written down
            ask(*more)
        case ["listen"]:
            agent()
            listen()
        case _:
            sys.exit(__doc__)
