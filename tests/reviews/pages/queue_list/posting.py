"""Near-duplicates, as an agent posts them."""

from __future__ import annotations

from typing import Any


def ask(kuro: Any, count: int, text: str = "Order {n} was certainly sent.", **fields: Any) -> list[str]:
    """Post near-duplicates, each held because it is demanded; return their ids."""
    items = [{"kind": "chat", "text": text.format(n=n), "require_review": True} for n in range(count)]
    return [kuro.respond("x", items=[item], **fields)["items"][0]["held"] for item in items]


def call(kuro: Any, **arguments: Any) -> str:
    held: str = kuro.respond("x", items=[{"kind": "tool_call", "name": "pay", "arguments": arguments}])["items"][0][
        "held"
    ]
    return held
