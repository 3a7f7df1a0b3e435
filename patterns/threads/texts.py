"""Thought threads to read: in the next prompt, as Markdown, as an article, in the agents' API (seed 001)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import NamedTuple, TypedDict, cast

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.heuristics.memory import threads
from metacog.heuristics.memory.thread_markdown import format_thread
from metacog.heuristics.memory.threads import LAST_STEPS, MAX_ACTIVE, Step, Thread, shortened, topic_streak
from metacog.models import Agent, AgentState
from patterns.models import ThoughtThread, ThreadStep
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import instant, one_line

BUDGET = 6_000  # characters of the <threads> section; three titles and what is next fit in any case
SHOWN = 1_000  # characters of an entry, or of what is next, where several threads are told
ARTICLE = 6_000  # characters of the way there
ARTICLE_STEPS = 200  # of a trail, those taken last


def last_steps(rows: Iterable[ThoughtThread], most: int = LAST_STEPS) -> dict[int, list[ThreadStep]]:
    """Return the last entries of each thread's trail, oldest first, by the thread's primary key. One query."""
    keys = [row.pk for row in rows]
    found: dict[int, list[ThreadStep]] = {key: [] for key in keys}
    if keys:
        place = Window(RowNumber(), partition_by=F("thread"), order_by="-id")
        steps = ThreadStep.objects.filter(thread__in=keys).exclude(text="").annotate(place=place)
        for step in steps.filter(place__lte=most).order_by("id"):
            found[step.thread_id].append(step)
    return found


def as_thread(row: ThoughtThread, trail: Iterable[ThreadStep]) -> Thread:
    """Return the plain value of the heuristics; days are UTC's."""
    return Thread(
        title=row.title,
        slug=row.slug,
        status=cast("threads.Status", row.state),
        created=_day(row.created_at),
        last_touched=_day(row.touched_at),
        touches=row.touches,
        trail=tuple(Step(step.text, step.on, step.extra) for step in trail),
        next=row.next,
        notes=row.notes,
    )


def markdown(row: ThoughtThread) -> str:
    """Return the thread as the seed's file."""
    return format_thread(as_thread(row, row.steps.exclude(text="")))


def section(rows: Iterable[ThoughtThread], trails: Mapping[int, Sequence[ThreadStep]], today: date) -> str:
    """Return the `<threads>` section: of the three active threads touched last, "" without any.

    When it would be longer than BUDGET, the oldest entries of all the trails are left out first.
    """
    active = sorted((row for row in rows if row.state == ThoughtThread.State.ACTIVE), key=lambda row: row.touched_at)
    shown = active[-MAX_ACTIVE:]
    entries = sorted((step for row in shown for step in trails[row.pk]), key=lambda step: step.pk)
    while True:
        told = threads.threads_section((_for_prompt(row, entries) for row in reversed(shown)), today)
        if len(told) <= BUDGET or not entries:
            return told
        del entries[0]


def _for_prompt(row: ThoughtThread, entries: Iterable[ThreadStep]) -> Thread:
    # Each is one line, so that nothing in it can pass for the end of the section.
    thread = as_thread(row, (step for step in entries if step.thread_id == row.pk))
    trail = tuple(replace(step, text=_in_short(step.text)) for step in thread.trail)
    return replace(thread, trail=trail, next=_in_short(row.next), notes="")


def _in_short(text: str) -> str:
    return shortened(one_line(text), SHOWN)


def article(row: ThoughtThread, trail: Iterable[ThreadStep]) -> str:
    """Return the journal article that a resolved thread proposes, a draft in Markdown, in the agent's language.

    At most ARTICLE characters of its trail, the oldest entries left out first. `row` comes with its agent.
    """
    steps = list(trail)
    ending = steps.pop().text if steps and steps[-1].op == ThreadStep.Op.RESOLVE else ""
    said = ((step.on, _in_short(step.text)) for step in steps)
    lines = [f"- {on}: {text}" if on else f"- {text}" for on, text in said]
    kept = threads.within_budget(lines, ARTICLE)
    with translation.override(row.agent.language):
        told = ngettext(
            "A thought pursued from %(begun)s to %(ended)s, and touched %(touches)d time.",
            "A thought pursued from %(begun)s to %(ended)s, and touched %(touches)d times.",
            row.touches,
        )
        days = {"begun": _day(row.created_at), "ended": _day(row.resolved_at or row.touched_at)}
        parts = [f"# {row.title}", told % {**days, "touches": row.touches}]
        if ending:
            parts += ["## " + _("Outcome"), ending]
        if kept:
            parts += ["## " + _("Trail"), "\n".join(["- …"] * (len(kept) < len(lines)) + kept)]
        if row.next:
            parts += ["## " + _("Next"), shortened(row.next, SHOWN)]
    return "\n\n".join(parts) + "\n"


class Suggestion(NamedTuple):
    """A topic of several cycles in a row that has no thread, and the threads that leave no room for one."""

    topic: str
    cycles: int
    in_the_way: list[ThoughtThread]

    def __str__(self) -> str:
        told = _("You have stayed with “%(topic)s” for %(cycles)d cycles.") % self._asdict()
        if self.in_the_way:
            names = ", ".join(f"“{row.title}” ({row.slug})" for row in self.in_the_way)
            more = _("To pursue it as a thought thread, first pause or resolve one of those now active: %(names)s.")
            return f"{told} {more % {'names': names}}"
        tag = f'<kuro:thread op="create" title="{self.topic}">…</kuro:thread>'
        return f"{told} " + _("If you mean to pursue it over days, make it a thought thread: %(tag)s") % {"tag": tag}


def suggestion(agent: Agent, state: AgentState) -> Suggestion | None:
    """Return the thread that the agent's last cycles suggest. No query unless they are about one topic."""
    cycles = [topics for _number, topics in state.cycles]
    if topic_streak(cycles) is None:
        return None
    rows = list(ThoughtThread.objects.filter(agent=agent).only("slug", "title", "state").order_by("pk"))
    found = topic_streak(cycles, (Thread(row.title, row.slug) for row in rows))
    if found is None:
        return None
    active = [row for row in rows if row.state == ThoughtThread.State.ACTIVE]
    most = scorer_shown(agent).policy.max_active_threads
    # One line without quotation marks, so that nothing in it can pass for ours.
    topic = one_line(found.topic).replace('"', "'")
    return Suggestion(topic, found.cycles, active if len(active) >= most else [])


class TrailShape(TypedDict):
    note: str
    on: str | None
    by: str
    response: str | None
    at: str


class ThreadShape(TypedDict):
    slug: str
    title: str
    state: str
    touches: int
    next: str
    created_at: str
    touched_at: str
    resolved_at: str | None
    trail: list[TrailShape]


def shape(row: ThoughtThread, trail: Iterable[ThreadStep], *, is_whole: bool = True) -> ThreadShape:
    """Return a thread as agents read it; where several are told, with the beginning of what is long."""
    most = ThoughtThread.MAX_FILED if is_whole else SHOWN
    return {
        "slug": row.slug,
        "title": row.title,
        "state": row.state,
        "touches": row.touches,
        "next": shortened(row.next, most),
        "created_at": instant(row.created_at),
        "touched_at": instant(row.touched_at),
        "resolved_at": instant(row.resolved_at) if row.resolved_at else None,
        "trail": [
            {
                "note": shortened(step.text, most),
                "on": step.on.isoformat() if step.on else None,
                "by": step.by,
                "response": step.response or None,
                "at": instant(step.at),
            }
            for step in trail
        ],
    }


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
