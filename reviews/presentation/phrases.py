"""How the console puts texts, times, scores and people into words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, gettext, gettext_noop

from metacog.heuristics.signals import SPECS
from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.tool_calls.secrets import beginning, masked_text
from metacog.http.included import format_html, format_html_join
from metacog.models import Agent, User
from metacog.pages.agent_choice import Choice
from reviews.models import CallOutcome, Decision, DecisionVerdict, HeldItem
from reviews.presentation.explanation import TITLES, Part
from reviews.presentation.highlight import EFFECT, LEARNED, LOOK_ALIKE, Piece, Shown, show
from reviews.presentation.look_alikes import name_shown, of_name


def shown(text: str | Shown) -> Shown:
    """Return a text with what cannot be seen made visible, and secrets masked."""
    return text if isinstance(text, Shown) else show(text)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def as_text(value: Any) -> str:
    """Return a posted value to read: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def gap() -> str:
    """Part two sentences: a Chinese full stop brings its own room along."""
    return "" if (get_language() or "").startswith("zh") else " "


def pieces(text: Shown, parts: Iterable[Part] = ()) -> str:
    """Show the pieces of a text; a mark carries the reason of its part."""
    if all(piece.is_plain for piece in text.pieces):
        return "".join(piece.text for piece in text.pieces)  # most are plain, and a list has a hundred of them
    reasons = {part.type: part.reason for part in parts}

    def words(types: Iterable[str]) -> str:
        return "; ".join(reasons.get(name, signal_title(name)) for name in types)

    @cache
    def marks(types: tuple[str, ...]) -> tuple[str, str]:
        title = words(types)
        opening = format_html_join("", '<mark class="{}" title="{}">', ((signal_class(name), title) for name in types))
        return opening, format_html_join("", "</mark>{}", (("",) for _ in types))

    @cache
    def beginning(types: tuple[str, ...]) -> str:
        return format_html('<span class="unseen"> ({}:) </span>', words(types)) if types else ""

    # A template takes three times as long for a text of some hundred pieces.
    shown = ((piece, *marks(piece.types)) for piece in text.pieces)
    rows = ((opening, beginning(piece.begins), _seen(piece), closing) for piece, opening, closing in shown)
    return format_html_join("", "{}{}{}{}", rows)


def _seen(piece: Piece) -> str:
    """Show what a piece says, without its marks."""
    if piece.hidden:
        told = gettext("hidden character")
        within = format_html('<span class="unseen">{} </span>{}', told, piece.hidden)
        return format_html('<span class="hid" title="{}">{}</span>', piece.names, within)
    if piece.fold:
        return format_html('<span class="fold{}">⋯ {} ⋯</span>', " lines" if piece.is_lines else "", piece.fold)
    if piece.odd:
        return format_html('<span class="odd" title="{}">{}</span>', piece.names, piece.text)
    return piece.text


_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


def with_code(text: str) -> str:
    """Show a sentence in which code stands between backquotes, as in Markdown."""
    found, at = [], 0
    for match in _CODE.finditer(text):
        found.append(format_html("{}<code>{}</code>", text[at : match.start()], pieces(show(match[2].strip()))))
        at = match.end()
    return format_html("{}{}", format_html_join("", "{}", ((part,) for part in found)), text[at:])


def named(name: str, kind: str = "") -> str:
    """Show a name that an agent gave as code, with its type, and say so where it may be taken for another."""
    shown = format_html("<code>{}</code>", pieces(name_shown(name)))
    if kind:
        shown = format_html('{} <span class="type">{}</span>', shown, kind)
    told = of_name(name)
    return format_html('{} <span class="look-alike">{}</span>', shown, told) if told else shown


def began(excerpt: str) -> Shown:
    """Show the excerpt of a response, which was cut before anything of it was masked."""
    return show(without_tags(beginning(excerpt)))


def quoted(text: str) -> str:
    """Quote how a text begins; say so where there is nothing to see."""
    excerpt = show(without_tags(text))
    if excerpt.is_blank:
        return gettext("(empty text)")
    return format_html("{}{}{}", gettext("“"), pieces(excerpt), gettext("”"))


def code(text: Shown) -> str:
    """Show code; the types of a piece's marks are classes of `calls.css`, and of effects their places in the list."""
    spans = (_span(piece, piece.types or text.whole, text.whole) for piece in text.pieces)
    return format_html_join("", "{}", ((span,) for span in spans))


def code_lines(lines: Iterable[tuple[int, Shown]]) -> str:
    """Show code that is laid out, each line as far in as it is set."""
    return format_html_join("", '<span class="line in-{}">{}</span>', ((depth, code(line)) for depth, line in lines))


def _span(piece: Piece, types: Sequence[str], whole: Sequence[str]) -> str:
    colors = [name for name in types if not name.startswith(EFFECT)]
    effects = {name.removeprefix(EFFECT): None for name in (*types, *whole) if name.startswith(EFFECT)}
    span = format_html('<span class="hl-{}">{}</span>', colors[-1], _plain(piece)) if colors else _plain(piece)
    return format_html('<span class="fx" data-effects="{}">{}</span>', " ".join(effects), span) if effects else span


def _plain(piece: Piece) -> str:
    return pieces(Shown([replace(piece, types=(), begins=())]))


def agent_name(agent: Agent, among: Choice | User) -> str:
    """Name an agent so that it is told from others of those to choose from, or of those that a person sees."""
    return among.name_of(agent)


def person_name(person: User) -> str:
    return str(person)


def signal_class(name: str) -> str:
    """Return the classes of a signal's color; one of another engine has the color of what is hidden."""
    if name in (LEARNED, LOOK_ALIKE):
        return "learned" if name == LEARNED else "odd-letter"
    return f"signal s-{SPECS[name].color if name in SPECS else 'hidden'}"


def signal_title(name: str) -> str:
    if name == LEARNED:
        return gettext("raises the learned risk")
    if name == LOOK_ALIKE:
        return gettext("looks like another letter")
    return str(TITLES.get(name, name))


def risk(score: int | None) -> str:
    """Return the class of a hesitation score's band; the number stands beside the colour everywhere."""
    if score is None:
        return "r0"
    return "r4" if score >= 75 else "r3" if score >= 60 else "r2" if score >= 50 else "r1"


def ago(moment: datetime) -> str:
    """Show how long ago a moment was, from a day on its date: a list of many days is read by dates."""
    if is_of_days(moment):
        return _time("dated", moment, _day(_local(moment).date(), timezone.localdate().year, get_language()))
    seconds = max(0, int((timezone.now() - moment).total_seconds()))
    return _time("ago", moment, gettext("{time} ago").format(time=rounded(seconds)))


def is_of_days(moment: datetime) -> bool:
    """Whether a moment is a day ago or longer."""
    return timezone.now() - moment >= A_DAY


def at(moment: datetime, since: datetime | None = None) -> str:
    """Show a time of day, with its day unless that is today; and so is `since`, where it stands behind that."""
    local, today = timezone.localtime(moment), timezone.localdate()
    is_today = local.date() == today and (since is None or timezone.localtime(since).date() == today)
    day = "" if is_today else _date(local.date(), get_language()) + gettext(", ")
    return _time("at", moment, f"{day}{local:%H:%M}")


def at_second(moment: datetime) -> str:
    """Show a time of day to the second, where its day stands beside it."""
    return _time("at", moment, f"{timezone.localtime(moment):%H:%M:%S}")


def due(moment: datetime) -> str:
    """Show how long is left until `moment`, or how long it is over."""
    seconds = int((moment - timezone.now()).total_seconds())
    if seconds >= 0:
        return _time("due", moment, gettext("{time} left").format(time=clock(seconds)))
    return _time("due late", moment, gettext("{time} overdue").format(time=rounded(-seconds)))


def due_in(moment: datetime) -> str:
    """Show how long is left until a team's target for deciding, or how long ago that was; times.js says the same."""
    seconds = int((moment - timezone.now()).total_seconds())
    sentence = gettext("due in {time}") if seconds >= 0 else gettext("{time} overdue")
    return _time("limit target", moment, sentence.format(time=rounded(abs(seconds))))


def expires_in(moment: datetime, held_at: datetime) -> str:
    """Show how long is left until an item expires, marked in the last tenth of its time; times.js says the same."""
    left, late_from = moment - timezone.now(), moment - (moment - held_at) / LAST_PART
    seconds = max(0, int(left.total_seconds()))
    sentence = gettext("expires in {time}") if seconds else gettext("expiring")
    classes = "limit expiry late" if timezone.now() >= late_from else "limit expiry"
    return _time(classes, moment, sentence.format(time=rounded(seconds)), late_from)


def limits(held: HeldItem) -> str:
    """Show by when a held item is due and when it expires, as its row in the queue does."""
    due_at = held.held_at + timedelta(minutes=held.agent.team.decide_within_minutes)
    return format_html("<span>{}</span><span>{}</span>", due_in(due_at), expires_in(held.expires_at, held.held_at))


def _time(classes: str, moment: datetime, words: str, late_from: datetime | None = None) -> str:
    local = _local(moment)
    exact = f"{_date(local.date(), get_language())} {local:%H:%M:%S %Z}"
    iso = local.isoformat(timespec="seconds")
    late = format_html(' data-late="{}"', late_from.isoformat(timespec="seconds")) if late_from else ""
    return format_html('<time class="{}" datetime="{}" title="{}"{}>{}</time>', classes, iso, exact, late, words)


def _local(moment: datetime) -> datetime:
    try:
        return timezone.localtime(moment)
    except OverflowError:  # an imported pattern's time may be the last hour of the year 9999: in UTC, then
        return moment


@lru_cache(maxsize=256)
def _date(day: date, language: str) -> str:
    """Write a day in the language that is active; a page has the same few days in all its rows."""
    return date_format(day, "DATE_FORMAT")


@lru_cache(maxsize=256)
def _day(day: date, year: int, language: str) -> str:
    """Write a day without its year, if that is the year that is said."""
    return date_format(day, "MONTH_DAY_FORMAT" if day.year == year else "DATE_FORMAT")


MOST_DETAIL = 200  # characters of an agent's words beside a decision
LAST_PART = 10  # of the time until an item expires, from which on it is pressing
A_DAY = timedelta(days=1)
UNITS = ((86_400, gettext_noop("{n} d")), (3600, gettext_noop("{n} h")), (60, gettext_noop("{n} min")))


# The script says the same with the same words; see `rounded` in time.js and `clock` in console.js.
def rounded(seconds: int) -> str:
    """Return a duration in its largest unit."""
    size, unit = next((each for each in UNITS if seconds >= each[0]), (1, gettext_noop("{n} s")))
    return gettext(unit).format(n=seconds // size)


def clock(seconds: int) -> str:
    """Return a duration as minutes and seconds, above an hour in its largest unit."""
    return f"{seconds // 60}:{seconds % 60:02}" if seconds < 3600 else rounded(seconds)


def who(decision: Decision, user: Any) -> str:
    """Name who decided, as `user` would say it."""
    if decision.person is not None:
        if decision.person == user:
            return gettext("you")
        return person_name(decision.person)
    if decision.policy_version or decision.rules_version:
        return _with_change(decision, user)
    return decision.agent.name if decision.by == Decision.By.AGENT else "metacog"


def _with_change(decision: Decision, user: Any) -> str:
    """Name the policy, or the team's rules, whose change decided, and who changed it."""
    rules = (
        gettext("policy %(version)d") % {"version": decision.policy_version}
        if decision.policy_version
        else gettext("version %(version)d of the team's rules") % {"version": decision.rules_version}
    )
    if decision.changed_by is None:
        return rules
    name = gettext("you") if decision.changed_by == user else person_name(decision.changed_by)
    return gettext("%(rules)s, changed by %(who)s") % {"rules": rules, "who": name}


def decided(decision: Decision, user: Any) -> str:
    """Say what was decided, and by whom."""
    name = {"who": who(decision, user)}
    match decision.verdict:
        case DecisionVerdict.APPROVE:
            return "✓ " + gettext("approved by %(who)s") % name
        case DecisionVerdict.EDIT:
            return "✓ " + gettext("approved with edits by %(who)s") % name
        case DecisionVerdict.ANSWER:
            return "✓ " + gettext("answered by %(who)s") % name
        case DecisionVerdict.REJECT:
            return "✗ " + gettext("rejected by %(who)s") % name
        case DecisionVerdict.WITHDRAW:
            return "✗ " + gettext("withdrawn by %(who)s") % name
    return "○ " + gettext("expired undecided")


def looking(people: Sequence[User]) -> str:
    """Say who else has an item open."""
    if len(people) == 1:
        return gettext("%(name)s is looking") % {"name": person_name(people[0])}
    return gettext("%(n)s are looking") % {"n": len(people)}


@dataclass(frozen=True)
class Became:
    """What became of a call, in words; `is_bad`: it failed, or nobody will ever know."""

    words: str
    is_bad: bool


def became(closed_at: datetime | None, status: str | None, reported_at: datetime | None, detail: str) -> Became | None:
    """Say what became of an approved call: "ran 12:03, exit 0". None until the approval is released.

    `detail` is masked; its end may be cut off.
    """
    if closed_at is None:
        return None
    if not status or reported_at is None:
        if closed_at > timezone.now() - CallOutcome.WITHIN:
            return Became(gettext("outcome not reported yet"), is_bad=False)
        return Became(gettext("outcome never reported"), is_bad=True)
    words = {
        CallOutcome.Status.DONE: gettext("ran {time}"),
        CallOutcome.Status.FAILED: gettext("failed {time}"),
        CallOutcome.Status.SKIPPED: gettext("skipped {time}"),
    }[CallOutcome.Status(status)]
    told = format_html(words, time=at(reported_at))
    if line := " ".join(masked_text(detail, is_cut=len(detail) > MOST_DETAIL).split()):
        short = line if len(line) <= MOST_DETAIL else line[: MOST_DETAIL - 1] + "…"
        comma = gettext(", ") if status == CallOutcome.Status.DONE else gettext(": ")
        told = format_html("{}{}<bdi>{}</bdi>", told, comma, pieces(show(short)))
    return Became(told, is_bad=status == CallOutcome.Status.FAILED)
