"""Say in words what a change of rules makes of the tool calls that wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls import secrets
from reviews.held.calls.rule_changes import Count, Settled, Waiting
from reviews.presentation.effects import in_words
from reviews.presentation.phrases import gap

SHOWN = 10  # of each kind; the rest is folded


class Line(NamedTuple):
    """A waiting call on one line, and what it would do."""

    held: str
    agent: str
    name: str
    command: str
    effects: str


class Fate(NamedTuple):
    """The waiting calls of which the same would become."""

    allows: bool
    lines: list[Line]

    @property
    def first(self) -> list[Line]:
        return self.lines[:SHOWN]

    @property
    def rest(self) -> list[Line]:
        return self.lines[SHOWN:]


class WaitingCalls(NamedTuple):
    """What is shown of a `Waiting`, and what a form sends of it."""

    fates: list[Fate]
    is_bounded: bool
    listed: str


def waiting_calls(found: Waiting) -> WaitingCalls:
    """Say of each call what it would do, its secrets masked."""
    fates = [Fate(True, lines(found.passing)), Fate(False, lines(found.denied))]
    return WaitingCalls([fate for fate in fates if fate.lines], found.is_bounded, found.listed.text)


def lines(calls: Iterable[Settled]) -> list[Line]:
    """Give each call in a line, plain text, not escaped."""
    told = []
    for held, _verdict, _rule, effects in calls:
        call = held.call
        command = secrets.line("", canonical(call.arguments))
        told.append(Line(held.public_id, held.agent.name, call.name, command, in_words(effects, call.arguments)))
    return told


def settled(count: Count) -> str:
    """Say how many calls were decided with a change."""
    told = []
    if count.released:
        told.append(
            ngettext("%(n)s pending call was released.", "%(n)s pending calls were released.", count.released)
            % {"n": f"{count.released:,}"}
        )
    if count.rejected:
        told.append(
            ngettext("%(n)s pending call was rejected.", "%(n)s pending calls were rejected.", count.rejected)
            % {"n": f"{count.rejected:,}"}
        )
    return gap().join(told) or _("No pending call was decided: each has changed, or was decided meanwhile.")
