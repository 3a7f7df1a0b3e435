"""Say what a log's tool calls would do, and what a pack would have held of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from metacog.heuristics.policy.pack_fit import PackTally
from metacog.heuristics.tool_calls.pack import ASKS_ALL, packs
from metacog.models import pack_words
from reviews.logs.by_pack import HeldKind
from reviews.logs.trial import Report
from reviews.presentation.effects import in_short
from reviews.presentation.ratios import number
from reviews.records.effect_names import NAMES

# The gravest effect of a call, and of files whether they are in the project: the worst last.
BY_DANGER = (
    "", "read", "fetch", "execute", "write inside", "write", "install", "delete inside", "write outside", "unknown",
    "privilege", "publish", "send", "secret", "delete", "delete outside", "pay", "irreversible",
)  # fmt: skip
GRAVE = BY_DANGER[BY_DANGER.index("publish") :]
MOST_WORDS = 6  # of answers that are held
COLUMNS = 100  # of the part of a sentence that says what harmless calls do


class PackRow(NamedTuple):
    """A pack over a log."""

    pack: pack_words.ShownPack
    tally: PackTally
    a_day: str  # held calls; "" of less than a day, and where the log does not say when anything was

    @property
    def held(self) -> int:
        return self.tally.asked


class KindRow(NamedTuple):
    """Calls of one kind, as people read of them."""

    kind: HeldKind
    effects: str
    reason: str

    @property
    def example(self) -> str:
        return self.kind.short or self.kind.example


class ReasonRow(NamedTuple):
    """Calls that are held for one reason."""

    reason: str  # "" where no rule matches
    calls: int
    kinds: list[KindRow]  # of these, as far as they are kept


def rows(report: Report) -> list[PackRow]:
    """Return every pack with what it would have done."""
    return [
        PackRow(pack, report.packs[pack.name], a_day(report, report.packs[pack.name].asked))
        for pack in pack_words.shown()
        if pack.name in report.packs
    ]


def chosen(report: Report, name: str, own: Sequence[str]) -> PackTally | None:
    """Return the pack that is asked for, else the policy's first that lets anything pass, else the one that fits."""
    wanted = [name, *(each for each in own if each != ASKS_ALL)]
    named = next((each for each in wanted if each in packs() and each in report.packs), None)
    return report.packs[named] if named else report.best_pack


def kinds(report: Report, pack: str) -> list[KindRow]:
    """Return what a pack would have held, the gravest first."""
    return [KindRow(kind, in_short(kind.bits), pack_words.translated(kind.reason)) for kind in report.worst_of(pack)]


def reasons(report: Report, pack: str) -> list[ReasonRow]:
    """Return for which reasons a pack would have held how many calls, the gravest first, with kinds of them."""
    found: dict[str, list[KindRow]] = {}
    for row in kinds(report, pack):
        found.setdefault(row.kind.reason, []).append(row)
    counts = report.held_reasons.get(pack, Counter())
    named = sorted(counts, key=lambda each: ([*found].index(each) if each in found else len(found), -counts[each]))
    return [ReasonRow(pack_words.translated(each), counts[each], found.get(each, [])) for each in named]


def a_day(report: Report, held: int) -> str:
    """Say how many calls a day are held on average; "" of less than a day, and where no time is."""
    if not report.days:
        return ""
    return number(round(held / report.days)) if held / report.days >= 100 else f"{held / report.days:.1f}"


def what_calls_do(report: Report) -> str:
    """Say how many calls there are and what they would do, each by the gravest of its effects, which comes last."""
    calls = ngettext("%(count)s call", "%(count)s calls", report.calls) % {"count": number(report.calls)}
    if report.first_at:
        calls = _("%(calls)s in %(days)s") % {"calls": calls, "days": _time(report)}
    kinds = sorted(report.kinds.items(), key=lambda each: BY_DANGER.index(each[0]) if each[0] in BY_DANGER else -1)
    # What does harm is named however rare it is; of the rest the kinds that come oftenest, as many as fit in a line.
    named = [kind for kind, _count in Counter(dict(kinds)).most_common() if kind not in GRAVE]
    while True:
        parts = [_counted(kind, count) for kind, count in kinds if kind in named]
        if folded := sum(count for kind, count in kinds if kind not in named and kind not in GRAVE):
            parts.append(_("%(count)s of other kinds") % {"count": number(folded)})
        told = _("%(calls)s: %(effects)s.") % {"calls": calls, "effects": pgettext("list", ", ").join(parts)}
        if len(told) <= COLUMNS or len(named) <= 2:
            break
        named.pop()
    parts += [_counted(kind, count) for kind, count in kinds if kind in GRAVE]
    return _("%(calls)s: %(effects)s.") % {"calls": calls, "effects": pgettext("list", ", ").join(parts)}


def _time(report: Report) -> str:
    """Say how long a log goes on, the last begun day, hour or minute counted."""
    if report.days:
        return ngettext("%(count)s day", "%(count)s days", report.days) % {"count": number(report.days)}
    minutes = max(1, ceil(report.span / timedelta(minutes=1)))
    if minutes < 120:
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    hours = ceil(minutes / 60)
    return ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}


def _counted(kind: str, count: int) -> str:
    effect, _space, where = kind.partition(" ")
    told = {"count": number(count), "effect": NAMES.get(effect, effect)}
    if not effect:
        return _("%(count)s without an effect") % told
    match where:
        case "inside":
            return _("%(count)s %(effect)s in the project") % told
        case "outside":
            return _("%(count)s %(effect)s outside the project") % told
    return _("%(count)s %(effect)s") % told


def what_a_pack_does(report: Report, tally: PackTally) -> str:
    """Say how much a pack would have held."""
    held, title = tally.asked, pack_words.ShownPack(packs()[tally.pack]).title
    told = {"pack": title, "held": number(held), "rate": a_day(report, held), "denied": number(tally.denied)}
    if not held + tally.denied:
        return _("With the pack “%(pack)s”, all of them would have passed.") % told
    if told["rate"]:
        sentence = _("With the pack “%(pack)s”, %(held)s would have been held (%(rate)s a day).")
    else:
        sentence = _("With the pack “%(pack)s”, %(held)s would have been held.")
    if tally.denied:
        return _("%(sentence)s %(denied)s more would have been denied.") % {**told, "sentence": sentence % told}
    return sentence % told


def what_of_answers(report: Report) -> str:
    """Say how many answers would have been held, and for which words; "" of a log without answers."""
    if not report.answers:
        return ""
    answers = ngettext("%(count)s answer", "%(count)s answers", report.answers) % {"count": number(report.answers)}
    told = {"answers": answers, "held": number(report.held_answers)}
    if not report.held_answers:
        return _("Of %(answers)s, none would have been held.") % told
    found = report.words.most_common(MOST_WORDS)
    words = [_("“%(word)s” (%(count)s)") % {"word": word, "count": number(count)} for word, count in found]
    told["words"] = pgettext("list", ", ").join(words)
    if words:
        return _("Of %(answers)s, %(held)s would have been held, for %(words)s.") % told
    return _("Of %(answers)s, %(held)s would have been held.") % told
