"""Links in a mail with which one person decides one item as it was, without signing in.

Everything a link says is signed: whose it is and to which address it went, which item in which version, until when. It
is no session and nothing is kept of it; whether the person may still decide is asked of the rows each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.core import signing
from django.urls import reverse

from metacog.models import User
from metacog.notices.notices import fingerprint
from reviews.models import HeldItem

SALT = "reviews.by-mail"
LIFETIME = timedelta(days=7)


@dataclass(frozen=True)
class Link:
    """What a link is for."""

    person: User
    held: HeldItem
    version: int  # of the item, as the mail told of it
    until: datetime


def link_to(person: User, held: HeldItem, now: datetime) -> Link:
    """Return a link to an item as it is now, good for 7 days, or until the item expires if that is sooner."""
    return Link(person, held, held.version, min(now + LIFETIME, held.expires_at))


def path(link: Link) -> str:
    """Return where a link leads, on this site."""
    said = [link.person.pk, link.held.public_id, link.version, fingerprint(link.person.email)]
    token = signing.Signer(salt=SALT).sign_object([*said, int(link.until.timestamp())])
    return reverse("by-mail", args=[link.held.public_id, token])


def read(held_id: str, token: str, now: datetime) -> Link | None:
    """Return the link of a token at an item's address; None for one that is not ours, of another item, or over.

    It ends as well when the person's address is another than the one it was sent to.
    """
    try:
        person_id, item, version, mark, until = signing.Signer(salt=SALT).unsign_object(token)
    except (signing.BadSignature, ValueError):
        return None
    if item != held_id or until <= now.timestamp():
        return None
    person = User.objects.filter(pk=person_id).first()
    items = HeldItem.objects.select_related("response__problem", "agent", "team", "call", "question", "terms")
    held = items.filter(public_id=held_id).first()
    if person is None or held is None or fingerprint(person.email) != mark:
        return None
    return Link(person, held, version, datetime.fromtimestamp(until, UTC))
