"""Browsers that take notices, and the push service that both ends talk to."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass, field
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from metacog.models import PersonPush, PushDevice
from metacog.notices import devices, push
from tests.reviews.outbox.receiving import Receiver, Seen


def written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Phone:
    """A browser: it alone can read what is pushed to it."""

    receiver: Receiver
    name: str = "phone"
    private: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    device: Any = None

    @property
    def subscription(self) -> dict[str, str]:
        """Return what the browser says of itself once it has subscribed."""
        point = self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        endpoint = f"{self.receiver.origin}/push/{self.name}"
        return {"endpoint": endpoint, "p256dh": written(point), "auth": written(self.auth)}

    def turn_on(self, person: Any, **chosen: Any) -> Phone:
        push.ensure_key()
        self.device = devices.add(person, name=self.name, **self.subscription)
        PushDevice.objects.update(told_until=None)
        PersonPush.objects.filter(person=person).update(**{"words": True, **chosen})
        return self

    @property
    def sent(self) -> list[Seen]:
        return [seen for seen in self.receiver.seen if seen.path == f"/push/{self.name}"]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """Return what was shown, the first thing first."""
        return [self.read(seen) for seen in self.sent]

    def read(self, seen: Seen) -> dict[str, Any]:
        assert seen.headers["content-encoding"] == "aes128gcm"
        assert len(seen.body) <= 4096, "what push services take"
        plain = http_ece.decrypt(seen.body, private_key=self.private, auth_secret=self.auth, version="aes128gcm")
        found: dict[str, Any] = json.loads(plain)
        return found


def claims_of(seen: Seen, public_key: str) -> dict[str, Any]:
    """Verify who signed a push, as a push service does (RFC 8292), and return the claims."""
    scheme, _blank, rest = seen.headers["authorization"].partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert (scheme, parts["k"]) == ("vapid", public_key)
    signed, _dot, signature = parts["t"].rpartition(".")
    head, claims = (json.loads(read(part)) for part in signed.split("."))
    assert head["alg"] == "ES256"
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), read(public_key))
    both = read(signature)
    numbers = (int.from_bytes(half, "big") for half in (both[:32], both[32:]))
    key.verify(encode_dss_signature(*numbers), signed.encode(), ec.ECDSA(SHA256()))
    return dict(claims)
