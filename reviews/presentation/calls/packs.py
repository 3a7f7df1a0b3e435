"""Show what each pack would have done with an agent's calls, beside what its policy does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.http import urlencode

from metacog.accounts.rule_forms import as_text
from metacog.heuristics.policy.pack_fit import PackTally
from metacog.heuristics.tool_calls.pack import with_pack
from metacog.models import Policy
from metacog.models.pack_words import ShownPack, shown
from reviews.scoring.calls_preview import AskedCall, CallsPreview


class PackLine(NamedTuple):
    """A pack with what it would have done, and the address of a draft that has it."""

    pack: ShownPack
    tally: PackTally
    asked: Sequence[AskedCall]  # the newest
    is_own: bool
    draft: str


class Compared(NamedTuple):
    """The packs over an agent's calls, and the one that fits best, if any does better than the policy."""

    lines: Sequence[PackLine]
    best: PackLine | None
    others: Sequence[PackLine]  # that ask no more often than the best, which is the strictest of these
    calls: int
    now: int  # asked about under the policy in force
    workspace: str


def compared(found: CallsPreview, policy: Policy) -> Compared:
    """Compare the packs by the calls of a preview; `policy` is the one in force."""
    own = {each["name"] for each in policy.packs}
    workspace = found.packs.workspace or ""
    lines = [
        PackLine(
            pack,
            found.packs.tallies[pack.name],
            found.asked.get(pack.name, ()),
            pack.name in own,
            "?" + urlencode({"packs": as_text(with_pack([], pack.name, workspace or None))}),
        )
        for pack in shown()
    ]
    now, tally = found.now.fates["asked"], found.packs.best
    best = next((line for line in lines if tally and line.pack.name == tally.pack), None)
    if best and (best.is_own or best.tally.asked >= now):
        best = None
    others = [
        line
        for line in lines
        if best and line != best and line.tally.asked <= best.tally.asked and line.tally.passed >= best.tally.passed
    ]
    return Compared(lines, best, others, found.calls, now, workspace)
