"""The requests of single calls."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from .exchange import Send, request

__all__ = [
    "CONTEXT",
    "POLICY",
    "context_text",
    "decisions",
    "post",
    "recall",
    "recorded",
    "remember",
    "report",
    "request",
    "withdraw",
]

CONTEXT = request("GET", "/context", accept="application/json")
POLICY = request("GET", "/policy")


def context_text(instructions: bool) -> Send:
    query = None if instructions else {"instructions": "false"}
    return request("GET", "/context", query=query, accept="text/plain")


def post(body: Mapping[str, Any]) -> Send:
    return request("POST", "/responses", body)


def recorded(
    response: str,
    run: str,
    session: str | None,
    user_message: str | None,
    metadata: Mapping[str, Any] | None,
    fields: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the body of a response of which nothing is held, with the time it was made: it may be sent later."""
    body = {
        "id": str(uuid.uuid4()),
        "response": response,
        "items": [],
        "session": session or run,
        "user_message": user_message,
        "metadata": {"run": run, **(metadata or {})},
        "occurred_at": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        **fields,
    }
    return {name: value for name, value in body.items() if value is not None}


def withdraw(held: str, reason: str) -> Send:
    return request("POST", f"/held/{quote(held, safe='')}/decision", {"verdict": "withdraw", "reason": reason})


def report(held: str, outcome: Mapping[str, Any]) -> Send:
    return request("POST", f"/held/{quote(held, safe='')}/outcome", outcome)


def remember(text: str, topic: str, source: str, confidence: float | None) -> Send:
    return request("POST", "/memory", {"text": text, "topic": topic, "source": source, "confidence": confidence})


def recall(query: str) -> Send:
    return request("GET", "/memory", query={"q": query})


def decisions(after: int, limit: int, session: str | None, metadata: Mapping[str, str] | None) -> Send:
    narrowed = {f"metadata.{name}": value for name, value in (metadata or {}).items()}
    return request("GET", "/decisions", query={"after": after, "limit": limit, "session": session, **narrowed})
