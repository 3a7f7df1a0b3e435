"""Say what a log's tool calls would do, and what a pack would have held of them."""

from __future__ import annotations

from collections.abc import Sequence
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


class PackRow(NamedTuple):
    """A pack over a log."""

    pack: pack_words.ShownPack
    tally: PackTally
    a_day: str  # held calls; "" where the log does not say when anything was

    @property
    def held(self) -> int:
        """Count what does not pass."""
        return self.tally.asked + self.tally.denied


class KindRow(NamedTuple):
    """Calls of one kind, as people read of them."""

    kind: HeldKind
    effects: str
    reason: str


def rows(report: Report) -> list[PackRow]:
    """Return every pack with what it would have done."""
    return [
        PackRow(pack, report.packs[pack.name], a_day(report, report.packs[pack.name]))
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


def a_day(report: Report, tally: PackTally) -> str:
    """Say how many calls a day are held on average."""
    if not report.days:
        return ""
    held = (tally.asked + tally.denied) / report.days
    return number(round(held)) if held >= 100 else f"{held:.1f}"


def what_calls_do(report: Report) -> str:
    """Say how many calls there are and what they would do, each by the gravest of its effects."""
    calls = ngettext("%(count)s call", "%(count)s calls", report.calls) % {"count": number(report.calls)}
    if report.days:
        days = ngettext("%(count)s day", "%(count)s days", report.days) % {"count": number(report.days)}
        calls = _("%(calls)s in %(days)s") % {"calls": calls, "days": days}
    told = pgettext("list", ", ").join(_counted(kind, count) for kind, count in report.kinds.most_common())
    return _("%(calls)s: %(effects)s.") % {"calls": calls, "effects": told}


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
    held, title = tally.asked + tally.denied, pack_words.ShownPack(packs()[tally.pack]).title
    told = {"pack": title, "held": number(held), "rate": a_day(report, tally), "denied": number(tally.denied)}
    if not held:
        return _("With the pack “%(pack)s”, all of them would have passed.") % told
    if told["rate"]:
        sentence = _("With the pack “%(pack)s”, %(held)s would have been held (%(rate)s a day).")
    else:
        sentence = _("With the pack “%(pack)s”, %(held)s would have been held.")
    if tally.denied:
        return _("%(sentence)s Of these, %(denied)s would have been denied.") % {**told, "sentence": sentence % told}
    return sentence % told
