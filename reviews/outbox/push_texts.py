"""What a device shows of held items and events: names, effects in short, and why; none of what an agent wrote."""

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

from metacog.audit.words import closed_around
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Notice, PushDevice, Team, User
from metacog.notices import devices, push
from reviews.models import Decision, HeldItem
from reviews.outbox import asked_texts, event_texts, outage_texts
from reviews.outbox.notification_texts import NothingNew, cut, new_items, odd, plain, spoken_to, tool_of, why
from reviews.presentation.effects import in_short

TITLE, BODY = 40, 120  # characters that devices show of a notice, folded up
NAME, AGENT = 40, 24  # of a tool's or a team's name, and of an agent's, so that the rest is seen as well
BETWEEN = " · "
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
            return _of_asked(say, notice, *asked_texts.asked_of(notice, person, now), now)
        if notice.kind == Notice.Kind.ON_CALL:
            return _of_on_call(say, *asked_texts.on_call(notice, person, now))
        return _of_event(say, notice, person)


def _of_held(say: Write, new: QuerySet[HeldItem], now: datetime, *, is_silent: bool = False) -> push.Message:
    """Tell how many wait, and lead to the riskiest: the next follows there once it is decided."""
    count, _oldest, [lead] = new_items(new, new, 1)
    path = reverse("item", args=[lead.public_id])
    several = ngettext("%(count)s held item", "%(count)s held items", count) % {"count": count}
    is_question = lead.kind == HeldItem.Kind.QUESTION
    decide = pgettext("button of a notice", "Answer…") if is_question else pgettext("button of a notice", "Approve…")
    return say(
        title=_fit(_named(lead) if count == 1 else several, TITLE),
        body=_body(*([] if count == 1 else [_named(lead)]), *_what(lead), *why(lead)),
        tag=push.HELD,
        path=path,
        actions=[(decide, f"{path}#to-decide"), (pgettext("button of a notice", "Open"), path)],
        urgency="low" if is_silent else "high",
        seconds=min(DAY, max(int((lead.expires_at - now).total_seconds()), 1)),
        is_silent=is_silent,
        shows=lead.public_id,
    )


def _of_asked(say: Write, notice: Notice, items: QuerySet[HeldItem], is_next: bool, now: datetime) -> push.Message:
    """Say that a person is asked, and of which item first; `is_next`: because others have not decided."""
    message = _of_held(say, items, now)
    count = items.count()
    if is_next:
        told = ngettext("Your turn: %(count)s item nobody decided", "Your turn: %(count)s items nobody decided", count)
    else:
        told = ngettext("You are asked to decide %(count)s item", "You are asked to decide %(count)s items", count)
    body = message.body if count > 1 else _fit(f"{message.title}{BETWEEN}{message.body}", BODY)
    return replace(message, title=_fit(told % {"count": count}, TITLE), body=body, tag=_tag(notice, message.shows))


def _of_on_call(say: Write, team: Team, until: datetime | None) -> push.Message:
    name = cut(plain(team.name), NAME)
    return say(
        title=gettext("You are on call"),
        body=_body(name, *([asked_texts.on_call_until(until)] if until else [])),
        tag="on-call",
        path=reverse("queue"),
        urgency="normal",
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
        body=_body(cut(tool_of(held), NAME), outcome),
        tag=tag,
        path=reverse("item", args=[held.public_id]),
        urgency="low",
        is_silent=True,
    )


def _of_event(say: Write, notice: Notice, person: User) -> push.Message:
    event = event_texts.event_of(notice, person)
    told, is_theirs = str(event_texts.KINDS[notice.kind].device), notice.kind == Notice.Kind.ASSIGNED
    by = cut(plain(str(event.by)), TITLE - len(told % {"by": ""}))
    return say(
        title=_fit(told % {"by": by}, TITLE),
        body=_body(_named(event.held), *_what(event.held), *(why(event.held) if is_theirs else [])),
        tag=_tag(notice, event.held.public_id),
        path=reverse("item", args=[event.held.public_id]),
        urgency="normal",
        shows=event.held.public_id if is_theirs else "",
    )


def _of_outage(say: Write, notice: Notice, person: User) -> push.Message:
    title, reason, path = outage_texts.title_of(notice, person)
    return say(
        title=gettext("Webhook switched off"),
        body=_body(cut(title, BODY // 2), reason),
        tag=notice.about,
        path=path,
        urgency="normal",
    )


def _tag(notice: Notice, item: str) -> str:
    """Name what is replaced by the next of its like."""
    return push.HELD if notice.kind in (Notice.Kind.HELD, Notice.Kind.DECIDED) else f"{notice.kind}-{item}"


def _named(held: Any) -> str:
    kind = held.get_kind_display()
    said = {"kind": kind, "agent": cut(plain(held.agent.name), AGENT)}
    return closed_around(gettext("%(kind)s from %(agent)s") % said, kind)


def _what(held: Any) -> list[str]:
    """Say of a tool call its tool and effects, without what it does them to; of words their score."""
    if held.kind == HeldItem.Kind.TOOL_CALL:
        tool, effects = cut(tool_of(held), NAME), in_short(held.effect_bits or 0)
        told = gettext("%(tool)s: %(effects)s") % {"tool": tool, "effects": effects} if effects else tool
        return [told, odd(held, with_texts=False)]
    is_scored = held.kind not in HeldItem.NO_WORDS and held.hesitation_score
    return [gettext("score %(score)s") % {"score": held.hesitation_score}] if is_scored else []


def _body(*parts: str) -> str:
    return _fit(BETWEEN.join(filter(None, parts)), BODY)


def _fit(text: str, most: int) -> str:
    return cut(masked_text(text), most)
