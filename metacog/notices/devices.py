"""People's devices that take notices: added, withdrawn, and what is pushed to them. Each change has its audit event."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from metacog import egress
from metacog.accounts import keys
from metacog.accounts.addresses import refuse_private
from metacog.audit import audit
from metacog.models import Notice, PersonPush, PushDevice, User
from metacog.notices.notices import spoken
from metacog.notices.push import CURVE

CLOSED = "push.closed"  # what the signature is for with which a device tells that a notice is gone
MOST_CHARACTERS = 1000  # of an address; push services' have some 250


def add(person: User, *, endpoint: str, p256dh: str, auth: str, name: str) -> PushDevice:
    """Have notices pushed to the browser that subscribed so, whoever had it before. Raises ValidationError."""
    host = _host(endpoint)
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(CURVE, _read(p256dh))
        is_key = len(_read(auth)) == 16
    except ValueError:
        is_key = False
    if not is_key:
        raise ValidationError(_("The browser gave no keys that notices could be encrypted for."))
    refuse_private(endpoint, "endpoint")
    now = timezone.now()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)  # two at once take turns to be counted
        digest = hashlib.sha256(endpoint.encode()).hexdigest()
        for former in PushDevice.objects.filter(endpoint_sha256=digest).select_related("person"):
            withdraw(former, person)
        if PushDevice.objects.filter(person=person).count() >= PushDevice.MOST:
            most = {"most": PushDevice.MOST}
            raise ValidationError(_("You have %(most)s devices, which is the limit. Remove one first.") % most)
        PersonPush.objects.get_or_create(person=person)
        subscription = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
        device = PushDevice.objects.create(
            person=person,
            name=name[:100],
            hint=host,
            endpoint_sha256=digest,
            subscription_encrypted=keys.encrypted(json.dumps(subscription)),
            language=spoken(),
            created_at=now,
            told_until=now,  # what is held by now stands in the queue
        )
        _record("device-added", device, person)
    return device


def listed(person: User) -> list[tuple[PushDevice, str]]:
    """Return a person's devices, each with the trouble that its latest notice met, in words; "" where it met none."""
    latest = Notice.objects.filter(device=OuterRef("pk")).order_by("-pk").values("trouble")[:1]
    found = PushDevice.objects.filter(person=person).annotate(trouble=Subquery(latest))
    return [(device, str(Notice.Trouble(device.trouble).label) if device.trouble else "") for device in found]


def withdraw(device: PushDevice, actor: User | None, *, because: str = "") -> bool:
    """Push nothing to a device any more, and forget its keys; return whether there was one."""
    with transaction.atomic():
        removed, _rows = PushDevice.objects.filter(pk=device.pk).delete()
        if removed:
            _record("device-withdrawn", device, actor, because=because)
    return bool(removed)


def test(device: PushDevice) -> None:
    """Owe a device a notice that says nothing but that it came; one at a time."""
    if not Notice.objects.filter(device=device, kind=Notice.Kind.TEST, state=Notice.State.WAITING).exists():
        now = timezone.now()
        about = now.isoformat()
        Notice.objects.create(
            device=device, kind=Notice.Kind.TEST, about=about, until=now, created_at=now, next_attempt_at=now
        )


def choose(person: User, chosen: dict[str, Any]) -> list[str]:
    """Set what is pushed to a person and when; return the names of what changed."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)
        row = PersonPush.of(person)
        changed = [name for name, value in chosen.items() if getattr(row, name) != value]
        if changed:
            PersonPush.objects.update_or_create(person=person, defaults=chosen)
            audit.record("push-changed", str(person.pk), actor=person, team=None, fields=changed)
    return changed


# -- what a device tells -----------------------------------------------------------------------------


def closed_path(notice: Notice) -> str:
    """Return where a device tells that it shows a notice no more: it was tapped, or swiped away."""
    return reverse("device-closed", args=[signing.Signer(salt=CLOSED).sign(notice.public_id)])


def closed(token: str) -> None:
    """Send nothing more about a notice that a device shows no more. A token that is none does nothing."""
    try:
        public_id = signing.Signer(salt=CLOSED).unsign(token)
    except signing.BadSignature:
        return
    Notice.objects.filter(public_id=public_id).exclude(shows="").update(shows="")


# -- what a browser gave -----------------------------------------------------------------------------


def _host(endpoint: str) -> str:
    wrong = ValidationError(_("The browser gave no address that notices could be sent to."))
    if len(endpoint) > MOST_CHARACTERS:
        raise wrong
    try:
        target = egress.Target.of(endpoint)
    except egress.Failed:
        raise wrong from None
    if target.scheme != "https" and not target.is_allowed:
        raise wrong
    return target.host


def _read(text: str) -> bytes:
    """Read base64url without padding. Raises ValueError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError from error


def _record(action: str, device: PushDevice, actor: User | None, **told: str) -> None:
    facts = {name: value for name, value in told.items() if value}
    person = device.person.get_username()
    audit.record(action, device.public_id, actor=actor, team=None, person=person, name=device.name, **facts)
