"""Webhooks, as Standard Webhooks signs them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from .errors import BadSignature

TOLERANCE_SECONDS = 300


class Event(TypedDict):
    """What a webhook says; of `item.decided` and `item.expired`, `data` is a decision."""

    type: str
    timestamp: str
    data: dict[str, Any]


def verified(headers: Mapping[str, str], body: bytes | str, secrets: str | Sequence[str]) -> Event:
    """Return what a webhook says; BadSignature where none of these secrets signed it, or not just now.

    `body` as it came, before it is parsed. The same event may come more than once: its `webhook-id` stays the same.
    """
    given = {name.lower(): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else body
    said, at = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not said or not (at.isascii() and at.isdecimal()):
        raise BadSignature("It has no webhook-id or no webhook-timestamp.")
    if abs(time.time() - int(at)) > TOLERANCE_SECONDS:
        raise BadSignature("Its webhook-timestamp is not of the last minutes.")
    signatures = [part[3:].encode() for part in given.get("webhook-signature", "").split() if part.startswith("v1,")]
    signed = f"{said}.{at}.".encode() + raw
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        wanted = base64.b64encode(hmac.digest(key_of(secret), signed, hashlib.sha256))
        if any(hmac.compare_digest(wanted, each) for each in signatures):
            event: Event = json.loads(raw)
            return event
    raise BadSignature("None of the secrets signed it.")


def key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature("A secret is not as metacog gives them: whsec_ and Base64.") from None
