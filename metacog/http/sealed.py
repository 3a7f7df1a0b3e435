"""Values in addresses: one that holds a secret stands there encrypted, as addresses are kept, logged and passed on."""

from __future__ import annotations

import base64
import hashlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings

from metacog.heuristics.tool_calls.secrets import masked_text

SEAL = "sealed."
LONGEST = 2_000  # of one that was sealed: of 255 characters


def sealed(value: str) -> str:
    """Return a value as it may stand in an address or a form: itself, unless it holds a secret."""
    if masked_text(value) == value:
        return value
    return SEAL + base64.urlsafe_b64encode(_cipher(settings.SECRET_KEY).encrypt(value.encode(), None)).decode()


def opened(value: str) -> str:
    """Return what an address means by a value; one that was sealed under a secret key that is gone means itself."""
    if not value.startswith(SEAL) or len(value) > LONGEST:
        return value
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _cipher(key).decrypt(base64.urlsafe_b64decode(value.removeprefix(SEAL)), None).decode()
        except (InvalidTag, ValueError):
            continue
    return value


def _cipher(secret_key: str) -> AESSIV:
    """AES-SIV, which gives the same each time: what is told from a page's text whether it changed stays as it is."""
    return AESSIV(hashlib.blake2b(secret_key.encode(), digest_size=32, person=b"sealed value").digest())
