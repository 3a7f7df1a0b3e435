"""The way out to people's devices: Web Push (RFC 8030), encrypted for a browser (8291), signed by this site (8292)."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.db import transaction

from metacog import egress
from metacog.accounts import keys
from metacog.audit import audit
from metacog.models import Notice, PushDevice, PushKey

Trouble = Notice.Trouble

CURVE = ec.SECP256R1()
HELD = "held"  # the tag of what is said of held items: the next replaces it
GONE = (404, 410)  # the browser has withdrawn its subscription (RFC 8030, 7.3)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Message:
    """What a device shows, in its person's language. Where it leads, a person decides; it decides nothing itself."""

    title: str
    body: str
    tag: str  # what has the same one is replaced, on the device and on its way there
    path: str  # that opens when it is tapped
    urgency: str  # as RFC 8030, 5.3, has it: low, normal, high
    seconds: int  # for which the push service keeps it for a device that is off
    language: str
    actions: list[tuple[str, str]] = field(default_factory=list)  # label and path of each button
    is_silent: bool = False
    shows: str = ""  # the id of the item whose decision ends it
    closed: str = ""  # where the device tells that it shows it no more

    @property
    def payload(self) -> str:
        options = {
            "body": self.body,
            "tag": self.tag,
            "lang": self.language,
            "silent": self.is_silent,
            "renotify": not self.is_silent,
            "actions": [{"action": path, "title": label} for label, path in self.actions],
            "data": {"path": self.path, "closed": self.closed},
        }
        return json.dumps({"title": self.title, "options": options}, ensure_ascii=False, separators=(",", ":"))

    @property
    def topic(self) -> str:
        """Name it for the push service, in the 32 characters that RFC 8030, 5.4, allows."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.tag.encode()).digest())[:32].decode()


class Outcome(NamedTuple):
    """What came of an attempt: the trouble it met, "" where there was none."""

    trouble: str
    retry_after: float = 0.0  # seconds that the other side asks for
    is_gone: bool = False  # there is no such device any more


# -- the key -----------------------------------------------------------------------------------------


def ensure_key() -> None:
    """Make the key of this installation where there is none."""
    if not PushKey.objects.filter(pk=PushKey.ONLY).exists():
        PushKey.objects.bulk_create([_new_key()], ignore_conflicts=True)  # another may have been faster


def rotate() -> int:
    """Make another key, and forget the devices that know the former one; return how many those were."""
    with transaction.atomic():
        count, _rows = PushDevice.objects.all().delete()
        PushKey.objects.all().delete()
        _new_key().save(force_insert=True)
        audit.record("push-key-rotated", str(PushKey.ONLY), actor=None, team=None, devices=count)
    return count


def public_key() -> str:
    """Return what a browser subscribes with; "" where no key was made yet."""
    return PushKey.objects.filter(pk=PushKey.ONLY).values_list("public", flat=True).first() or ""


def _new_key() -> PushKey:
    private = ec.generate_private_key(CURVE)
    point = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    number = private.private_numbers().private_value.to_bytes(32, "big")
    return PushKey(pk=PushKey.ONLY, public=_written(point), private_encrypted=keys.encrypted(_written(number)))


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


# -- one attempt -------------------------------------------------------------------------------------


def post(device: PushDevice, key: PushKey | None, message: Message) -> Outcome:
    """Push a message once and return what came of it; never raises, and touches no row."""
    subscription = keys.decrypted(device.subscription_encrypted)
    private = keys.decrypted(key.private_encrypted) if key else None
    if subscription is None or private is None:
        return Outcome(Trouble.KEYS)
    try:
        answer = _send(json.loads(subscription), private, message)
    except egress.Failed as failed:
        return Outcome(Trouble(failed.why))
    except Exception:  # one message that cannot be pushed must not take the others' outcomes with it
        log.exception("A notice could not be pushed to a device")
        return Outcome(Trouble.ERROR)
    if 200 <= answer.status <= 299:
        return Outcome("")
    if answer.status in GONE:
        return Outcome(Trouble.PUSH, is_gone=True)
    is_busy = answer.status == 429 or answer.status >= 500
    return Outcome(Trouble.BUSY if is_busy else Trouble.PUSH, answer.retry_after)


def _send(subscription: dict[str, Any], private: str, message: Message) -> egress.Answer:
    # Only here: with what it brings it takes a quarter of a second and 7 MB, which nobody pays who pushes nothing.
    from py_vapid import Vapid
    from pywebpush import WebPusher

    door = _Door()
    target = egress.Target.of(subscription["endpoint"])
    audience = target.origin.removesuffix(":443") if target.scheme == "https" else target.origin
    headers = Vapid.from_raw(private.encode()).sign({"aud": audience, "sub": _contact()})
    headers |= {"Urgency": message.urgency, "Topic": message.topic, "User-Agent": "metacog"}
    answer: _Answer = WebPusher(subscription, requests_session=door).send(message.payload, headers, message.seconds)
    return answer.found


def _contact() -> str:
    """Return whom a push service may write to."""
    if settings.MAIL_FROM:
        return f"mailto:{parseaddr(settings.MAIL_FROM)[1]}"
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    return f"https://{host}" if settings.HTTPS else "mailto:metacog@localhost"


class _Door:
    """What pywebpush takes for a session of requests: our own way out, which checks where it leads."""

    def post(self, url: str, data: bytes, headers: dict[str, str], timeout: float) -> _Answer:
        return _Answer(egress.request("POST", url, headers=headers, content=data))


class _Answer:
    """As much of an answer of requests as pywebpush looks at."""

    text = ""
    headers: dict[str, str] = {}

    def __init__(self, found: egress.Answer) -> None:
        self.found = found
        self.status_code = found.status
