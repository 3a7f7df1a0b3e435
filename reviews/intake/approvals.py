"""Use approvals of tool calls up: one approval is one permission, whoever hears of it first.

A call that was asked for under an id is answered under it until its outcome is reported. One without an id is answered
once: to whoever reads the decision or takes its webhook first, or to the call posted again (`tool_calls.use`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from metacog.heuristics.text.tags import TOOL_CALL
from patterns.serializers import instant
from reviews.models import Decision, Delivery, HeldCall, HeldItem
from reviews.models.deliveries import delivery_id

DECIDED = "item.decided"
UsedBy = HeldCall.UsedBy


def hear(decisions: Iterable[Decision], by: HeldCall.UsedBy) -> None:
    """Have an agent hear released decisions, read with the call of their item."""
    hear_of(
        (each.held.call for each in decisions if each.text_sha256 and each.held.kind == TOOL_CALL),
        by,
    )


def hear_of(calls: Iterable[HeldCall], by: HeldCall.UsedBy) -> None:
    """Have an agent hear that these calls are approved: those that it hears of first are now used.

    In memory these stay unused, so that this answer alone says that they may be made.
    """
    once = {call.pk: call for call in calls if call.is_heard_once}
    if not once:
        return
    with transaction.atomic():
        mine = take(once, by, timezone.now())
    for pk in once.keys() - mine:
        once[pk].refresh_from_db(fields=["claimed_as", "used_at", "used_by"])


def take(calls: Collection[int], by: HeldCall.UsedBy, now: datetime, claimed_as: str = "") -> set[int]:
    """Use up the approvals of these calls (by the keys of their items); return those that were not used before.

    One that was claimed is whoever's posted it as `claimed_as`. Whoever wants the same one meanwhile waits, and does
    not get it. What the agent's webhook would say of them says from now on that they are used. Joins the caller's
    transaction.
    """
    unused = HeldCall.objects.select_for_update().filter(pk__in=calls, used_at=None, claimed_as__in={"", claimed_as})
    mine = set(unused.order_by("pk").values_list("pk", flat=True))
    HeldCall.objects.filter(pk__in=mine).update(used_at=now, used_by=by)
    if by != UsedBy.WEBHOOK:
        tell_used(mine, now)
    return mine


def tell_used(calls: Collection[int], now: datetime) -> None:
    """Have what is still to be sent to the agent about these calls say that they are used.

    It is another message then: whatever an attempt has sent under the old id stays what that id says.
    """
    owed = Delivery.objects.filter(held__in=calls, webhook=None, type=DECIDED).exclude(body="")
    for delivery in owed.exclude(state=Delivery.State.DELIVERED).order_by("pk"):
        body = json.loads(delivery.body)
        body["data"] |= {"permission": HeldCall.Permission.USED, "used_at": instant(now)}
        delivery.body, delivery.public_id = json.dumps(body, ensure_ascii=False), delivery_id()
        delivery.save(update_fields=["body", "public_id"])


def take_to_send(deliveries: Collection[int], now: datetime) -> None:
    """Use up what is about to be sent to an agent: nobody else gets it while it is on its way."""
    released = (HeldItem.State.APPROVED, HeldItem.State.EDITED)
    calls = HeldCall.objects.filter(
        held__deliveries__in=deliveries, held__deliveries__type=DECIDED, held__state__in=released, used_at=None
    )
    if mine := [call.pk for call in calls if call.is_heard_once]:
        take(mine, UsedBy.WEBHOOK, now)


def give_back(held: Collection[int | None]) -> None:
    """Have unused again what was sent and not taken, by the keys of its items."""
    HeldCall.objects.filter(pk__in=held, used_by=UsedBy.WEBHOOK, outcome=None).update(used_at=None, used_by="")
