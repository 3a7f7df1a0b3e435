"""Three refunds without a framework or a model: each is asked about, and made as it was decided.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python refunds.py

Killed while it waits and started again, it goes on with the same held items: the run and the call ids are the same.
Once it has reported that a refund was made, the same refund is a new question.
"""

from metacog_client import Client, ToolCall

SCHEMA = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "eur": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000}},
    "required": ["order", "eur"],
    "additionalProperties": False,
}


def refund(order: str, eur: float) -> None:
    # A bank would take the call's id as its idempotency key: who is killed before the report pays no second time.
    print(f"Refunding {eur:g} EUR for order {order}.", flush=True)


def main() -> None:
    with Client(run="refunds") as client:
        calls = [
            ToolCall("refund", {"order": f"471{number}", "eur": eur}, call_id=f"refund-471{number}", schema=SCHEMA)
            for number, eur in enumerate((20, 900, 35.5), 1)
        ]
        for call in calls:  # all at once, so that they can be decided in any order
            told = client.ask(call)
            print(told.review_url or told.message, flush=True)
        for call in calls:
            outcome = client.gate(call)
            if outcome.allowed:
                refund(**outcome.arguments)
                if outcome.held:
                    client.report(outcome.held, "done")
            else:
                print(f"{call.call_id}: {outcome.message}", flush=True)


if __name__ == "__main__":
    main()
