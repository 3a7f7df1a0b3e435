"""Say what became of calls that a person allowed, without ever being in the way of the agent."""

from __future__ import annotations

from copy import copy
from typing import Any

from .client import Client
from .gating import NOT_JSON, as_json

REPORT_SECONDS = 5.0  # to try for: the agent waits meanwhile
MAX_DETAIL, MAX_RESULT = 10_000, 16_384  # characters, and bytes of JSON, as metacog takes them


def hurried(client: Client) -> Client:
    """Give a client over the same connections that tries for a few seconds only."""
    other = copy(client)
    other.retry_seconds = min(REPORT_SECONDS, client.retry_seconds)
    return other


def fitted(result: Any) -> Any:
    """Give of a result what metacog takes: itself, or the beginning of its text where it is too large or no JSON."""
    try:
        text = as_json(result)
        if len(text.encode()) <= MAX_RESULT:
            return result
    except (*NOT_JSON, UnicodeEncodeError):
        text = str(result)
    # Written as JSON again, each quotation mark and control character takes up to six bytes.
    text = plain(result if isinstance(result, str) else text, MAX_RESULT)
    while len(as_json(text).encode()) > MAX_RESULT:
        text = text[: len(text) * 9 // 10]
    return text


def plain(text: str, most: int = MAX_DETAIL) -> str:
    """Give the beginning of a text as one that can be stored anywhere."""
    return text[:most].encode("utf-8", "replace").decode().replace("\0", "")
