"""What a notice says. Names and texts are only text in it: nothing hidden, no link, no mention, no mark-up."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from django.conf import settings
from django.db.models import Min, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, pgettext

from metacog.audit.words import closed_around
from metacog.heuristics.tool_calls.secrets import excerpt, masked_text
from metacog.models import Channel, Notice, PersonNotices, User
from metacog.notices import chat, notices
from metacog.notices.mail import Mail, own_name
from reviews.held.listing import beginning, by_rule
from reviews.models import HeldItem
from reviews.outbox import mail_links
from reviews.presentation.calls.why_asked import why_asked
from reviews.presentation.effects import in_short, in_words
from reviews.presentation.explanation import Part, apart_from_score, parts
from reviews.presentation.highlight import show
from reviews.presentation.look_alikes import row_mark
from reviews.presentation.phrases import gap, rounded
from reviews.serializers import signals_of

MOST = 5  # items told one by one, the riskiest
EXCERPT = 200  # characters of a text
MOST_IN_CHAT, SHORT = 3, 120  # items, and characters of a name, reason or text: a message stays below 2,000
# Where a program would go on to see an address or somebody to call: an invisible joiner there, and it sees none.
_LINKED = re.compile(r"(?<=[.@])(?=[^\s.@])")
_JOINER = "\u2060"


class NothingNew(Exception):
    """There is nothing to tell of any more: somebody decided it meanwhile."""


@dataclass(frozen=True)
class Told:
    """One item as a notice tells of it."""

    title: str
    reason: str
    does: str  # of a tool call: its name and its effects; "" where nothing is known of them
    odd: str  # letters of its names and hosts that look like others
    since: str
    excerpt: str  # "" where the team lets none out
    url: str
    link: str  # with which the person decides without signing in; "" where the team allows none


@dataclass(frozen=True)
class Letter:
    """What a notice says, in the language and time zone in force."""

    subject: str
    headline: str
    oldest: str  # "" where it tells of one event
    told: list[Told]
    rest: str  # how many more there are; "" where all are told
    requests: str  # how many requests for more tool calls wait; "" where none do
    requests_url: str
    queue_url: str  # "" where it is about no item
    preferences_url: str
    stop_url: str
    comment: str = ""  # what somebody said, where the team lets texts out

    @property
    def text(self) -> str:
        lines = [each for each in (self.headline, self.oldest, self.comment) if each] + [""]
        for item in self.told:
            lines += [f"* {item.title}"]
            lines += [f"  {each}" for each in (item.does, item.odd, item.reason, item.since) if each]
            lines += [f"  {item.excerpt}"] if item.excerpt else []
            lines += [f"  {item.url}"]
            lines += ["  " + gettext("Decide without signing in"), f"  {item.link}"] if item.link else []
            lines.append("")
        lines += [self.rest or gettext("Open queue"), self.queue_url] if self.queue_url else [self.rest]
        lines += [self.requests, self.requests_url] if self.requests else []
        lines += ["", "-- "]
        lines += [gettext("A score adds up signals; it is not a probability of error.")] if self.queue_url else []
        lines += [gettext("Notice preferences"), self.preferences_url]
        lines += [gettext("Unsubscribe"), self.stop_url]
        return "\n".join(lines) + "\n"


def mail_of(
    notice: Notice,
    told: PersonNotices,
    new: QuerySet[HeldItem],
    waiting: QuerySet[HeldItem],
    requests: int,
    now: datetime,
) -> Mail:
    """Return the mail that tells a person of what is new among what waits, and how many requests for calls do."""
    person = told.person
    with spoken_to(person, told.language):
        letter = _letter(person, new, waiting, requests, now)
        html = render_to_string("reviews/notice.html", {"letter": letter, "language": translation.get_language()})
        text = letter.text
    mail = Mail(letter.subject, text, settings.MAIL_FROM, [person.email], headers=headers(notice, letter.stop_url))
    mail.attach_alternative(html, "text/html")
    return mail


def message_of(channel: Channel, new: QuerySet[HeldItem], waiting: QuerySet[HeldItem], now: datetime) -> str:
    """Return what a team's chat is told; 2,000 characters at most, which is what Discord takes."""
    with translation.override(channel.language):
        count, oldest, items = new_items(new, waiting, MOST_IN_CHAT)
        said = {"count": count, "team": short(plain(channel.team.name)), "score": items[0].hesitation_score}
        said |= {"tool": short(tool_of(items[0]))}
        first = (
            ngettext(
                "%(count)s new held item in %(team)s: a call of %(tool)s.",
                "%(count)s new held items in %(team)s, the first a call of %(tool)s.",
                count,
            )
            if items[0].by_rule and not asks(items[0])
            else ngettext(
                "%(count)s new held item in %(team)s: an agent asks a question.",
                "%(count)s new held items in %(team)s; an agent asks a question.",
                count,
            )
            if asks(items[0])
            else ngettext(
                "%(count)s new held item in %(team)s, score %(score)s.",
                "%(count)s new held items in %(team)s, the highest score %(score)s.",
                count,
            )
        )
        since = gettext("The oldest has been held for %(age)s.") % {"age": _age(oldest, now)}
        lines, colon = [f"{first % said}{gap()}{since}"], gettext(": ")
        for held in items:
            lines.append(f"• {chat_title(held)}{colon}{short(reason_of(held, with_texts=channel.texts))}")
            told = (does(held, with_objects=channel.texts), odd(held, with_texts=channel.texts))
            lines += [short(each) for each in told if each]
            lines += [chat.inert(_excerpt(held, SHORT))] if channel.texts else []
            lines.append(url("item", held.public_id))
        if left := count - len(items):
            lines.append(more(left))
        return "\n".join([*lines, url("queue")] if left else lines)


def chat_title(held: Any) -> str:
    """Name an item, read with `by_rule`, as a chat may have it."""
    kind, agent = (short(plain(each)) for each in (held.get_kind_display(), held.agent.name))
    said = {"kind": kind, "agent": agent, "score": held.hesitation_score, "tool": short(tool_of(held))}
    title = (
        gettext("%(kind)s from %(agent)s")
        if asks(held)
        else gettext("%(kind)s from %(agent)s: %(tool)s")
        if held.by_rule
        else gettext("%(kind)s from %(agent)s, score %(score)s")
    )
    return closed_around(title % said, kind)


def plain(text: str) -> str:
    """Return a name or text as one line in which nothing is hidden and nothing becomes a link or a mention."""
    return _LINKED.sub(_JOINER, " ".join(str(show(text)).split()).replace("://", "：//"))


def _letter(person: User, new: QuerySet[HeldItem], waiting: QuerySet[HeldItem], requests: int, now: datetime) -> Letter:
    count, oldest, items = new_items(new, waiting, MOST)
    counts = {"count": count, "score": items[0].hesitation_score, "tool": cut(tool_of(items[0]), SHORT)}
    left = count - len(items)
    return Letter(
        subject=(
            ngettext(
                "metacog: %(count)s new held item: a call of %(tool)s",
                "metacog: %(count)s new held items, the first a call of %(tool)s",
                count,
            )
            if items[0].by_rule and not asks(items[0])
            else ngettext(
                "metacog: %(count)s new held item: an agent asks a question",
                "metacog: %(count)s new held items; an agent asks a question",
                count,
            )
            if asks(items[0])
            else ngettext(
                "metacog: %(count)s new held item, score %(score)s",
                "metacog: %(count)s new held items, the highest score %(score)s",
                count,
            )
        )
        % counts,
        headline=ngettext("%(count)s new held item for you.", "%(count)s new held items for you.", count) % counts,
        oldest=gettext("The oldest held item is from %(at)s: %(age)s ago.")
        % {"at": at(oldest), "age": _age(oldest, now)},
        told=[told_of(item, person, now) for item in items],
        rest=more(left) if left else "",
        requests=ngettext(
            "%(count)s extension request is pending too.",
            "%(count)s extension requests are pending too.",
            requests,
        )
        % {"count": requests}
        if requests
        else "",
        requests_url=url("extensions"),
        queue_url=url("queue"),
        preferences_url=url("preferences"),
        stop_url=notices.stop_link(person),
    )


def new_items(new: QuerySet[HeldItem], waiting: QuerySet[HeldItem], most: int) -> tuple[int, datetime, list[Any]]:
    """Return how many are new, since when the oldest waits, and the riskiest new ones with the start of their text.

    Raises NothingNew. Some may be decided between the first of these readings and the others.
    """
    rows = new.select_related("agent", "team", "response", "call").defer(
        "text", "attributes", "response__body", "call__schema"
    )
    clips = rows.annotate(clip=beginning(), by_rule=by_rule())
    riskiest = clips.order_by("-hesitation_score", "-pk")[:most]
    if not (found := list(riskiest)):
        raise NothingNew
    oldest = waiting.aggregate(at=Min("held_at"))["at"] or found[0].held_at
    return max(new.count(), len(found)), oldest, found


def told_of(held: Any, person: User, now: datetime) -> Told:
    said = {
        "kind": held.get_kind_display(),
        "agent": plain(held.agent.name),
        "team": plain(held.team.name),
        "score": held.hesitation_score,
        "tool": tool_of(held),
    }
    return Told(
        title=(
            gettext("%(kind)s from %(agent)s (%(team)s)")
            if asks(held)
            else gettext("%(kind)s from %(agent)s (%(team)s): %(tool)s")
            if held.by_rule
            else gettext("%(kind)s from %(agent)s (%(team)s), score %(score)s")
        )
        % said,
        reason=reason_of(held, with_texts=held.team.mail_texts),
        does=cut(does(held, with_objects=held.team.mail_texts), EXCERPT),
        odd=cut(odd(held, with_texts=held.team.mail_texts), EXCERPT),
        since=gettext("Held on %(at)s") % {"at": at(held.held_at)},
        excerpt=_excerpt(held, EXCERPT) if held.team.mail_texts else "",
        url=url("item", held.public_id),
        link=_decide_url(person, held, now) if held.team.mail_links else "",
    )


def _decide_url(person: User, held: HeldItem, now: datetime) -> str:
    return settings.PUBLIC_URL + mail_links.path(mail_links.link_to(person, held, now))


def tool_of(held: HeldItem) -> str:
    """Return the name of a tool call's tool, secrets masked; "" of words."""
    return plain(masked_text(held.call.name)) if held.kind == HeldItem.Kind.TOOL_CALL else ""


def asks(held: HeldItem) -> bool:
    return held.kind == HeldItem.Kind.QUESTION


def reason_of(held: HeldItem, *, with_texts: bool) -> str:
    """Return why an item waits; without what people wrote into rules and patterns where texts stay here."""
    if asks(held):
        return gettext("The agent needs a person's answer.")
    if held.kind == HeldItem.Kind.TOOL_CALL and held.call.hesitation is None:
        return gap().join(plain(sentence) for sentence in why_asked(held.call, with_texts=with_texts))
    told = [plain(part.reason if with_texts else part.title) for part in _parts(held)]
    return pgettext("list", ", ").join(told) or gap().join(apart_from_score(held))


def why(held: HeldItem) -> list[str]:
    """Return the same for a locked screen, where texts never go."""
    if asks(held):
        return [gettext("The agent needs a person's answer.")]
    told = why_asked(held.call, with_texts=False) if held.kind == HeldItem.Kind.TOOL_CALL else apart_from_score(held)
    return [*map(plain, told), pgettext("list", ", ").join(part.title for part in _parts(held))]


def _parts(held: HeldItem) -> list[Part]:
    return parts([signal for signal in signals_of(held, held.response.wire_verdict()) if signal["weight"]])


def does(held: Any, *, with_objects: bool) -> str:
    """Return what a tool call is and what it would do; without objects where texts stay here."""
    if held.kind != HeldItem.Kind.TOOL_CALL or not held.call.effects:
        return ""
    told = in_words(held.call.effects, held.call.arguments) if with_objects else in_short(held.effect_bits or 0)
    return plain(gettext("%(tool)s: %(effects)s") % {"tool": held.call.name, "effects": told})


def odd(held: Any, *, with_texts: bool) -> str:
    """Return which letters look like others: of a tool's name; where texts may go out, of names and hosts in them."""
    name = held.call.name if held.kind == HeldItem.Kind.TOOL_CALL else ""
    return plain(row_mark(name, held.clip if with_texts else ""))


def _excerpt(held: Any, most: int) -> str:
    name = held.call.name if held.kind == HeldItem.Kind.TOOL_CALL else None
    return gettext("“%(text)s”") % {"text": cut(plain(excerpt(held.kind, name, held.clip)), most)}


def short(text: str) -> str:
    """Return a plain name or text as a chat may have it."""
    return chat.inert(cut(text, SHORT))


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def more(count: int) -> str:
    return ngettext("%(more)s more is in the queue.", "%(more)s more are in the queue.", count) % {"more": count}


def url(name: str, *arguments: str) -> str:
    return settings.PUBLIC_URL + reverse(name, args=arguments)


def _age(moment: datetime, now: datetime) -> str:
    return rounded(int((now - moment).total_seconds()))


def at(moment: datetime) -> str:
    """Return a moment in words that stay true however late a mail is read."""
    local = timezone.localtime(moment)
    return f"{date_format(local, 'DATE_FORMAT')} {local:%H:%M %Z}"


def headers(notice: Notice, stop_url: str) -> dict[str, str]:
    headers = {
        "Message-ID": f"<{notice.public_id}@{own_name()}>",  # on every attempt: who gets it twice shows it once
        "Auto-Submitted": "auto-generated",  # RFC 3834: no "I am away" in answer
        "List-Unsubscribe": f"<{stop_url}>",
    }
    if stop_url.startswith("https://"):  # RFC 8058 has one click for https alone
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


@contextmanager
def spoken_to(person: User, otherwise: str) -> Iterator[None]:
    """Speak a person's language, or another where they have chosen none, in their time."""
    with translation.override(person.language or otherwise), timezone.override(zone_of(person)):
        yield


def zone_of(person: User) -> tzinfo:
    """Return the person's time zone; UTC where this machine does not know it."""
    try:
        return zoneinfo.ZoneInfo(person.time_zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return UTC
