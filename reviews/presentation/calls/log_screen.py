"""What a log came to on one screen: what was seen, how much would have been held, the worst of it, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from textwrap import wrap
from typing import NamedTuple

from django.template.defaultfilters import pluralize

from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.runtime.program import command
from reviews.logs.by_pack import POLICY
from reviews.logs.formats import NAMES
from reviews.logs.trial import Report
from reviews.presentation.calls import log_packs
from reviews.presentation.calls.log_packs import KindRow

COLUMNS = 100
MOST_REASONS = 10
MOST_EXAMPLES = 3  # of a reason
LONGEST = 60  # characters of an example
MOST_PARTS = 5  # of messages left out, by kind
MOST_FOLDERS = 3  # that are named besides the one with most calls
GUIDES = {"claude-code": "claude-code", "codex": "codex", "opencode": "opencode"}


class Subject(NamedTuple):
    """What the report is about."""

    told: str  # the policy in words
    pack: str = ""  # that the trial chose or was given; "" where a policy is tried as it is
    is_chosen: bool = False  # by what the log holds
    agent: str = ""  # whose policy it is; "" of a new agent's
    folder: str = ""  # that its packs have


class Left(NamedTuple):
    """What was left out of the log."""

    first: str  # of what could not be read, with its place and reason; "" of none
    formats: Sequence[str] = ()


def lines(report: Report, about: Subject, left: Left) -> Iterator[str]:
    """Give the report: at most 40 lines of 100 columns."""
    if report.calls:
        yield from wrap(log_packs.what_calls_do(report), COLUMNS)
        yield from _held(report, about)
    yield from wrap(log_packs.what_of_answers(report), COLUMNS)
    yield from wrap(_left_out(report, about, left), COLUMNS)
    yield from _next(report, about, left)


def _held(report: Report, about: Subject) -> Iterator[str]:
    tally = report.packs[about.pack] if about.pack else None
    held, denied = (tally.asked, tally.denied) if tally else (report.held_calls, report.denied)
    if tally and (about.is_chosen or not about.told):
        yield log_packs.what_a_pack_does(report, tally)
    else:
        held, denied = report.held_calls, report.denied
        yield from wrap(f"Under {about.told}, {_how_many(report, held, denied)}", COLUMNS)
    if about.is_chosen and about.pack:
        yield "This pack fits these calls best. A new agent without a pack asks about every call."
    elif about.is_chosen:
        yield "No pack would let a tenth of these calls pass: a new agent asks about every call."
    if held + denied:
        yield ""
        yield from _worst(report, about.pack if about.is_chosen else POLICY)
    others = ", ".join(
        f"{row.pack.name} {row.held:,}" for row in log_packs.rows(report) if row.pack.name not in (about.pack, ASKS_ALL)
    )
    yield ""
    yield from wrap(f"Held with other packs (--pack NAME): {others}.", COLUMNS)


def _how_many(report: Report, held: int, denied: int) -> str:
    if not held + denied:
        return "no call would have been held."
    rate = f" ({a_day} a day)" if (a_day := log_packs.a_day(report, held)) else ""
    more = f" {denied:,} more would have been denied." if denied else ""
    return f"{held:,} call{pluralize(held)} would have been held{rate}.{more}"


def _worst(report: Report, pack: str) -> Iterator[str]:
    """Give the reasons with their calls, the gravest first, two lines each."""
    rows = log_packs.reasons(report, pack)
    for row in rows[:MOST_REASONS]:
        yield _cut(f"{row.calls:>6,}  {row.reason or 'no rule matches, so a person is asked'}")
        if row.kinds:
            yield _examples(row.kinds)
    if rest := rows[MOST_REASONS:]:
        yield _cut(f"{sum(row.calls for row in rest):>6,}  for other reasons: {', '.join(row.reason for row in rest)}")


def _cut(told: str) -> str:
    return told if len(told) <= COLUMNS else told[: COLUMNS - 1] + "…"


def _examples(kinds: Sequence[KindRow]) -> str:
    told, shown = " " * 8, 0
    tools = {row.example.partition(" ")[0]: row for row in reversed(kinds)}  # of each tool the gravest comes first
    for row in sorted(kinds, key=lambda row: row not in tools.values())[:MOST_EXAMPLES]:
        text = row.example if len(row.example) <= LONGEST else row.example[: LONGEST - 1].rstrip("….[{ =") + "…"
        if row.kind.calls > 1:
            text = f"{row.kind.calls:,} × {text}"
        if row.kind.denied:
            text += " (denied)"
        longer = f"{told} · {text}" if shown else told + text
        if len(longer) > COLUMNS - 12 and shown:
            break
        told, shown = longer, shown + 1
    return f"{told} · +{len(kinds) - shown}" if len(kinds) > shown else told


def _left_out(report: Report, about: Subject, left: Left) -> str:
    parts = []
    if report.unread:
        parts.append(f"{report.unread:,} record{pluralize(report.unread)} not read ({left.first})")
    if skipped := report.skipped.total():
        parts.append(f"{skipped:,} record{pluralize(skipped)} in which no agent says or does anything new")
    if left_parts := report.parts.total():
        named = [f"{count:,} {kind}" for kind, count in report.parts.most_common(MOST_PARTS)]
        more = ["…"] * (len(report.parts) > MOST_PARTS)
        parts.append(f"{left_parts:,} part{pluralize(left_parts)} of messages ({', '.join(named + more)})")
    told = f"Left out: {'; '.join(parts)}." if parts else ""
    if report.calls and not report.folders and not about.folder:
        told += " The log names no folder, so absolute paths count as outside the project: --workdir says which it was."
    elif about.folder:
        told += f" The project of all sessions is {about.folder}."
    elif len(report.folders) > 1:
        told += f" Each of the {len(report.folders):,} folders counts as the project of its own sessions."
    return told.strip()


def _other_folders(report: Report, about: Subject) -> Iterator[str]:
    """Say what to do about further folders: a pack has one, and what is outside it counts as outside the project."""
    (main, calls), *others = report.folders.most_common() or [("", 0)]
    if about.folder or not others:
        return
    names = ", ".join(f"{folder} ({count:,})" for folder, count in others[:MOST_FOLDERS])
    more = f" and {len(others) - MOST_FOLDERS:,} more" if len(others) > MOST_FOLDERS else ""
    total = report.folders.total()
    yield from _indented(
        f"A pack has one folder: {main} has {calls:,} of {total:,} calls. Create one more agent each for {names}{more},"
        " or set the folder that holds all."
    )


def _indented(told: str) -> list[str]:
    return wrap(told, COLUMNS, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _next(report: Report, about: Subject, left: Left) -> Iterator[str]:
    best = report.best_pack
    pack = about.pack or (best.pack if best else "")
    yield ""
    yield "Next"
    if pack and report.calls:
        workspace = about.folder or report.workspace
        folder = f" --set {quote(f'workspace={workspace}')}" if workspace else ""
        if about.agent:
            yield f"  {command('policy')} apply {quote(about.agent)} --pack {pack}{folder} --dry-run"
        else:
            yield f"  {command('agent')} create NAME --team Default --pack {pack}{folder}"
            yield from _other_folders(report, about)
            guides = [
                f"docs/integrations.md#{GUIDES[each]} ({NAMES[each]})" if each in GUIDES else ""
                for each in left.formats
            ]
            named = [each for each in guides if each] + ["docs/integrations.md"] * ("" in guides or not guides)
            yield from _indented(f"{', '.join(named)} then {pluralize(len(named), 'has,have')} the agent ask")
    yield "  --details lists each held item with file, line and reason, and all counts; --json the same"
