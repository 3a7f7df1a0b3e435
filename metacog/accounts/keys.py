"""Credentials: agents' API keys, kept as hashes; signing secrets and the addresses of chats, kept encrypted."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import time
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from metacog.audit import audit
from metacog.db.prepared import Select
from metacog.models import Agent, AgentKey, Channel, ChatApp, Identity, PushDevice, PushKey, Team

TOLERANCE_SECONDS = 300
MOST_LIVE = 2  # keys of an agent
RESTORABLE_FOR = timedelta(hours=24)  # a key that was revoked
_TIMESTAMP = re.compile(r"[0-9]{10}", re.ASCII)


def issue(agent: Agent, actor: audit.Actor) -> tuple[str, str]:
    """Give the agent one more key and secret, beside those it has, and return both: (api_key, secret).

    They are shown this once. The key holds 256 random bits, so its plain SHA-256 is safe to store.
    """
    api_key = "mck_" + secrets.token_urlsafe(32)
    signing_secret = new_secret()
    with transaction.atomic():
        key = AgentKey.objects.create(
            agent=agent,
            key_sha256=hashlib.sha256(api_key.encode()).hexdigest(),
            hint=api_key[:8],
            secret_encrypted=encrypted(signing_secret),
        )
        audit.record(
            "key-issued", agent.public_id, actor=actor, team=agent.team_id, agent=agent, key=key.pk, hint=key.hint
        )
    return api_key, signing_secret


def new_secret() -> str:
    """Return a secret to sign with, as Standard Webhooks writes one."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def revoke(agent: Agent, actor: audit.Actor, *, keep: int = 1, because: str = "") -> int:
    """End the agent's keys and secrets, all but the `keep` newest; return how many ended.

    Every request looks its key up, so this holds everywhere from the next one on.
    """
    with transaction.atomic():
        live = AgentKey.objects.filter(agent=agent, revoked_at=None).order_by("-pk")
        ended = [key.pk for key in live][keep:]
        AgentKey.objects.filter(pk__in=ended).update(revoked_at=timezone.now())
        if ended:
            told: dict[str, Any] = {"keys": ended} | ({"because": because} if because else {})
            audit.record("keys-revoked", agent.public_id, actor=actor, team=agent.team_id, agent=agent, **told)
    return len(ended)


class NotRestored(Exception):
    """A key ended too long ago, or as many are live as may be; nothing was written."""


def is_restorable(key: AgentKey, now: datetime) -> bool:
    return key.revoked_at is not None and key.revoked_at > now - RESTORABLE_FOR


def restore(agent: Agent, key: AgentKey, actor: audit.Actor) -> bool:
    """Let a key that was revoked a while ago be taken again, with its secret: both are still as they were stored.

    Returns whether that was a change. Raises NotRestored.
    """
    with transaction.atomic():
        Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        key = AgentKey.objects.get(pk=key.pk, agent=agent)
        if key.revoked_at is None:
            return False
        live = AgentKey.objects.filter(agent=agent, revoked_at=None).count()
        if not is_restorable(key, timezone.now()) or live >= MOST_LIVE:
            raise NotRestored
        AgentKey.objects.filter(pk=key.pk).update(revoked_at=None)
        audit.record(
            "key-restored", agent.public_id, actor=actor, team=agent.team_id, agent=agent, key=key.pk, hint=key.hint
        )
    return True


NOT_ASKED = (
    "created_at", "retention_days", "patterns_known_from", "mail_links", "mail_texts", "risk_kind", "risk_order",
    "risk_samples", "risk_model", "risk_calls", "requires_second_factor",
)  # fmt: skip


def agent_with_key(api_key: str) -> Agent | None:
    """Return the agent (with its team) whose live key this is."""
    digest = hashlib.sha256(api_key.encode(errors="replace")).hexdigest()
    with connection.cursor() as cursor:
        return _agent_with_key.first(cursor, digest)


_agent_with_key = Select(
    # What no call asks is not read: each column costs, and a time most.
    lambda digest: (
        Agent.objects.select_related("team")
        .defer("created_at", *[f"team__{name}" for name in NOT_ASKED])
        .filter(keys__key_sha256=digest, keys__revoked_at=None)
    ),
    parameters=1,
)


def is_signed(agent_id: str, request: HttpRequest) -> bool:
    """Tell whether a live secret of the agent with this public id signed a request within the last 5 minutes.

    An id that nobody has takes the same work as one that an agent has, lest the time tells which is which.

    Standard Webhooks v1. Not `standardwebhooks.Webhook.verify`: that raises on malformed headers and
    bodies that are not UTF-8, takes a timestamp of `nan`, and parses the body leniently. Whether the id can be an
    idempotency key is for whoever takes the body to say: who signed it is known by then.
    """
    headers = request.headers
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not message_id or not _TIMESTAMP.fullmatch(timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    given = [
        part[3:].encode(errors="replace")
        for part in headers.get("webhook-signature", "").split(" ")
        if part.startswith("v1,")
    ]
    content = f"{message_id}.{timestamp}.".encode("latin-1", "replace") + request.body  # as the header's bytes came
    return any(
        hmac.compare_digest(expected, signature)
        for expected in [sign(secret, content) for secret in _two_secrets(agent_id)]
        for signature in given
    )


def sign(signing_secret: str, content: bytes) -> bytes:
    key = base64.b64decode(signing_secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.digest(key, content, "sha256"))


def _two_secrets(agent_id: str) -> list[str]:
    """Return the two secrets that an agent may have at a time; in place of one it lacks, one that nobody knows."""
    live = AgentKey.objects.filter(agent__public_id=agent_id, revoked_at=None)
    stored = list(live.values_list("secret_encrypted", flat=True))
    stored += [_unknown()] * (2 - len(stored))
    return [decrypted(secret) or _NOBODYS for secret in stored]


_NOBODYS = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


@cache
def _unknown() -> str:
    return encrypted(_NOBODYS)


def live_secrets(agent: Agent) -> list[str]:
    """Return the agent's live signing secrets, newest first."""
    stored = AgentKey.objects.filter(agent=agent, revoked_at=None).values_list("secret_encrypted", flat=True)
    # One encrypted under a secret key that is gone can sign nothing any more.
    return [secret for secret in map(decrypted, stored) if secret is not None]


def encrypted(text: str) -> str:
    """Return a secret as it is stored."""
    return _vault().encrypt(text.encode()).decode()


def decrypted(stored: str) -> str | None:
    """Return a stored secret; None where the secret key that encrypted it is gone."""
    try:
        return _vault().decrypt(stored.encode()).decode()
    except InvalidToken:
        return None


CHAT_SECRETS = ("token_encrypted", "secret_encrypted")
_OF_FACTORS = {"secret", "seed"}  # what django-allauth has us encrypt of an app and of recovery codes


def rekey() -> tuple[int, list[Any]]:
    """Encrypt with the present secret key what of the live secrets a former one encrypted.

    Returns how many that were, and the rows whose secret no secret key that is given can read.
    """
    present, vault = _fernet(settings.SECRET_KEY), _vault()
    changed, lost = 0, list[Any]()
    restorable = Q(revoked_at=None) | Q(revoked_at__gt=timezone.now() - RESTORABLE_FOR)
    live = AgentKey.objects.filter(restorable).select_related("agent__team")
    webhooks: Any = Team._meta.get_field("webhooks").related_model  # reviews stands above this package
    of_webhooks = list(webhooks.objects.exclude(secret_encrypted="").select_related("team"))  # removed ones, too
    rows: list[tuple[Any, str]] = [
        *((key, "secret_encrypted") for key in live),
        *((identity, "refresh_token_encrypted") for identity in Identity.objects.select_related("account__user")),
        *((channel, "url_encrypted") for channel in Channel.objects.select_related("team")),
        *((app, field) for app in ChatApp.objects.select_related("team") for field in CHAT_SECRETS),
        *((device, "subscription_encrypted") for device in PushDevice.objects.select_related("person")),
        *((key, "private_encrypted") for key in PushKey.objects.all()),
        *((webhook, field) for webhook in of_webhooks for field in ("secret_encrypted", "former_secret_encrypted")),
    ]
    for row, field in rows:
        stored = getattr(row, field).encode()
        if not stored or _opens(present, stored):
            continue
        if _opens(vault, stored):
            kept = {field: vault.rotate(stored).decode()}
            # Unless an owner set it anew meanwhile.
            changed += type(row)._default_manager.filter(pk=row.pk, **{field: stored.decode()}).update(**kept)
        elif not (getattr(row, "revoked_at", None) or getattr(row, "removed_at", None)):  # nobody needs one of those
            lost.append(row)
    for factor in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).select_related("user"):
        for name in _OF_FACTORS & factor.data.keys():
            if _opens(present, factor.data[name].encode()):
                continue
            if not _opens(vault, factor.data[name].encode()):
                lost.append(factor)
                continue
            with transaction.atomic():  # a code may be used meanwhile, which is written beside it
                row = Authenticator.objects.select_for_update().get(pk=factor.pk)
                row.data[name] = vault.rotate(row.data[name].encode()).decode()
                row.save(update_fields=["data"])
            changed += 1
    return changed, lost


def _opens(vault: Fernet | MultiFernet, encrypted: bytes) -> bool:
    try:
        vault.decrypt(encrypted)
    except InvalidToken:
        return False
    return True


def _vault() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(secret_key: str) -> Fernet:
    derived = hashlib.blake2b(secret_key.encode(), digest_size=32, person=b"agent secrets").digest()
    return Fernet(base64.urlsafe_b64encode(derived))
