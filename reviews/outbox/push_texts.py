"""What a device shows of held items and events: names and effects in short, none of what an agent wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext, ngettext, pgettext

from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Notice, PushDevice, User
from metacog.notices import devices, push
from reviews.models import Decision, HeldItem
from reviews.outbox import asked_texts, event_texts, outage_texts
from reviews.outbox.notification_texts import NothingNew, cut, does, new_items, odd, plain, spoken_to

TITLE, BODY = 80, 160  # characters that a device shows
DAY = 24 * 3600  # seconds

Write = Callable[..., push.Message]  # with the rest of what is said


def message_of(notice: Notice, device: PushDevice, new: QuerySet[HeldItem], now: datetime) -> push.Message:
    """Return what a device is told; `new` is what of it still waits for the person. Raises NothingNew."""
    person = device.person
    with spoken_to(person, device.language):
        say = partial(
            push.Message, language=translation.get_language(), closed=devices.closed_path(notice), seconds=DAY
        )
        if notice.kind == Notice.Kind.HELD:
            return _of_held(say, new, now)
        if notice.kind == Notice.Kind.DECIDED:
            return _of_decided(say, notice, new, now)
        if notice.kind == Notice.Kind.TEST:
            title, body = gettext("metacog: test"), gettext("Notices reach this device.")
            return say(title=title, body=body, tag="test", path=reverse("preferences"), urgency="high")
        if notice.kind == Notice.Kind.OUTAGE:
            return _of_outage(say, notice, person)
        if notice.kind == Notice.Kind.ASKED:
            items, is_next = asked_texts.asked_of(notice, person, now)
            message = _of_held(say, items, now)
            title = asked_texts.headline(items.count(), is_next=is_next)
            return replace(message, title=_fit(title, TITLE), tag=_tag(notice, message.shows))
        if notice.kind == Notice.Kind.ON_CALL:
            team, until = asked_texts.on_call(notice, person, now)
            title, body = asked_texts.on_call_headline(team), asked_texts.on_call_until(until)
            return say(title=_fit(title, TITLE), body=body, tag="on-call", path=reverse("queue"), urgency="normal")
        return _of_event(say, notice, person)


def _of_held(say: Write, new: QuerySet[HeldItem], now: datetime, *, is_silent: bool = False) -> push.Message:
    """Tell how many wait, and lead to the riskiest: the next follows there once it is decided."""
    count, _oldest, [lead] = new_items(new, new, 1)
    first, path = _named(lead), reverse("item", args=[lead.public_id])
    told = _short(lead)
    several = ngettext("%(count)s held item", "%(count)s held items", count) % {"count": count}
    is_question = lead.kind == HeldItem.Kind.QUESTION
    decide = pgettext("button of a notice", "Answer…") if is_question else pgettext("button of a notice", "Approve…")
    return say(
        title=_fit(first if count == 1 else several, TITLE),
        body=_fit(told if count == 1 else gettext("%(item)s: %(told)s") % {"item": first, "told": told}, BODY),
        tag=push.HELD,
        path=path,
        actions=[(decide, f"{path}#to-decide"), (pgettext("button of a notice", "Open"), path)],
        urgency="low" if is_silent else "high",
        seconds=min(DAY, max(int((lead.expires_at - now).total_seconds()), 1)),
        is_silent=is_silent,
        shows=lead.public_id,
    )


def _of_decided(say: Write, notice: Notice, left: QuerySet[HeldItem], now: datetime) -> push.Message:
    """Put what became of an item in place of what the device shows; of several, what is left of them."""
    former = Notice.objects.filter(public_id=notice.about).first()
    if former is None:
        raise NothingNew
    tag = _tag(former, notice.shows)
    if tag == push.HELD:
        told_since = Notice.objects.filter(device=notice.device_id, kind=Notice.Kind.HELD, pk__gt=former.pk)
        if told_since.filter(state=Notice.State.SENT).exists():  # which has taken its place already
            raise NothingNew
        if left.exists():
            return _of_held(say, left, now, is_silent=True)
    held = HeldItem.objects.select_related("agent", "team").get(public_id=notice.shows)
    decision = Decision.objects.filter(held=held, undone_at=None).select_related("person").order_by("-pk").first()
    outcome = held.get_state_display()
    if decision and decision.person:
        outcome = gettext("%(state)s by %(person)s") % {"state": outcome, "person": plain(str(decision.person))}
    return say(
        title=_fit(_named(held), TITLE),
        body=_fit(outcome, BODY),
        tag=tag,
        path=reverse("item", args=[held.public_id]),
        urgency="low",
        is_silent=True,
    )


def _of_event(say: Write, notice: Notice, person: User) -> push.Message:
    event = event_texts.event_of(notice, person)
    said = {"by": plain(str(event.by))}
    return say(
        title=_fit(str(event_texts.KINDS[notice.kind].headline) % said, TITLE),
        body=_fit(_named(event.held), BODY),
        tag=_tag(notice, event.held.public_id),
        path=reverse("item", args=[event.held.public_id]),
        urgency="normal",
        shows=event.held.public_id if notice.kind == Notice.Kind.ASSIGNED else "",
    )


def _of_outage(say: Write, notice: Notice, person: User) -> push.Message:
    title, path = outage_texts.title_of(notice, person)
    return say(
        title=gettext("Webhook switched off"), body=_fit(title, BODY), tag=notice.about, path=path, urgency="normal"
    )


def _tag(notice: Notice, item: str) -> str:
    """Name what is replaced by the next of its like."""
    return push.HELD if notice.kind in (Notice.Kind.HELD, Notice.Kind.DECIDED) else f"{notice.kind}-{item}"


def _named(held: Any) -> str:
    said = {"kind": held.get_kind_display(), "agent": plain(held.agent.name)}
    return gettext("%(kind)s from %(agent)s") % said


def _short(held: Any) -> str:
    if held.kind == HeldItem.Kind.QUESTION:
        return gettext("The agent needs a person's answer.")
    if held.kind == HeldItem.Kind.TOOL_CALL:
        told = (does(held, with_objects=False) or plain(held.call.name), odd(held, with_texts=False))
        return " · ".join(filter(None, told))
    return gettext("score %(score)s") % {"score": held.hesitation_score}


def _fit(text: str, most: int) -> str:
    return cut(masked_text(text), most)
