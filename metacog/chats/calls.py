"""One call of a chat's API, by the way out of everything else (`metacog.egress`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from metacog import egress
from metacog.accounts import keys
from metacog.chats.shapes import Refused
from metacog.models import ChatApp

Trouble = ChatApp.Trouble

SECONDS = 10
SOON_SECONDS = 2  # where somebody waits who pressed a button: Slack gives up after 3


class Said(NamedTuple):
    """What the chat answered."""

    status: int
    data: dict[str, Any]
    retry_after: float


def token_of(app: ChatApp) -> str:
    token = keys.decrypted(app.token_encrypted)
    if token is None:
        raise Refused(Trouble.LOST)
    return token


def post(url: str, given: Mapping[str, Any], headers: Mapping[str, str], *, seconds: float, is_trusted: bool) -> Said:
    """Post JSON and return the JSON that is answered. Raises Refused where there is none."""
    sent = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "metacog", **headers}
    content = json.dumps(given).encode()
    try:
        answer = egress.request("POST", url, headers=sent, content=content, seconds=seconds, is_trusted=is_trusted)
    except egress.Failed as failed:
        raise Refused(failed.why) from None
    try:
        data = json.loads(answer.body)
    except ValueError:
        data = None
    if answer.status == 429:
        asked = data.get("parameters", {}).get("retry_after", 0) if isinstance(data, dict) else 0
        raise Refused(Trouble.LIMIT, max(answer.retry_after, float(asked)))
    if answer.status >= 500 or not isinstance(data, dict):
        raise Refused(Trouble.AWAY, answer.retry_after)
    return Said(answer.status, data, answer.retry_after)
