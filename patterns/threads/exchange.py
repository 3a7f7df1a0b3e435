"""Thought threads as files: the seed's Markdown, in and out (seed 001, "組件一：Thought Thread")."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.audit import audit
from metacog.db.ids import new_id
from metacog.heuristics.memory.thread_markdown import Parsed, ThreadError, format_thread, read_threads
from metacog.heuristics.memory.threads import Thread, slug_of, whole_slug_of
from metacog.models import Agent, AgentState, AuditEvent
from patterns.imports import BadFile, Entry, Plan
from patterns.models import ThoughtThread, ThreadStep
from patterns.patterns.scorer import scorer_shown
from patterns.threads.texts import as_thread

MAX_BYTES = 1_048_576
MAX_STEPS = 20_000

State = ThoughtThread.State


class Taken(NamedTuple):
    """What an import did; of the threads that are new or changed, what their files say is not all in its place."""

    new: int
    changed: int
    kept: int  # lines that had no place of their own and are among the notes
    undated: int  # entries of the trails without a day

    def summary(self, agent: Agent) -> str:
        sentences = [
            ngettext(
                "%(new)d thread added to %(agent)s, %(changed)d changed.",
                "%(new)d threads added to %(agent)s, %(changed)d changed.",
                self.new,
            )
            % {"new": self.new, "agent": agent, "changed": self.changed}
        ]
        if self.kept:
            told = ngettext(
                "%(count)d line matched no field and was kept as a note.",
                "%(count)d lines matched no field and were kept as notes.",
                self.kept,
            )
            sentences.append(told % {"count": self.kept})
        if self.undated:
            told = ngettext(
                "%(count)d entry of a trail has no day.", "%(count)d entries of trails have no day.", self.undated
            )
            sentences.append(told % {"count": self.undated})
        return "\n".join(sentences)


def plan(agent: Agent, files: Sequence[tuple[str, bytes]]) -> Plan:
    """Say what `take` would do with files, thread by thread, where it leaves out what is wrong. Writes nothing."""
    known = {row.slug: row for row in _with_trails(agent)}
    states = {slug: row.state for slug, row in known.items()}
    told = Plan()
    for file, each in _all(files):
        if isinstance(each, ThreadError):
            place = _("%(file)s, line %(line)d") % {"file": file, "line": each.line}
            told.entries.append(Entry(place, "", "skip", [f"{each.reason[:1].upper()}{each.reason[1:]}."]))
            continue
        thread, row = each.thread, _known(known, each.thread)
        place = _("%(file)s, line %(line)d") % {"file": file, "line": each.places.title}
        if row and as_thread(row, row.trail) == _filled(thread, as_thread(row, row.trail)):
            told.entries.append(Entry(place, thread.title, "same"))
            continue
        states[row.slug if row else thread.slug] = thread.status
        told.entries.append(Entry(place, thread.title, "change" if row else "add", _notes(each, row)))
    told.problem = _too_many(agent, [slug for slug, state in states.items() if state == State.ACTIVE])
    return told


def _notes(parsed: Parsed, row: Any) -> list[str]:
    """Say what of a thread is taken, and what is not all in its place."""
    thread, entries = parsed.thread, len(parsed.thread.trail)
    state = State(thread.status).label
    said = ngettext("%(state)s, %(count)d entry.", "%(state)s, %(count)d entries.", entries)
    notes = [said % {"state": str(state), "count": entries}]
    if row and row.state != thread.status:
        notes.append(_("Its status was %(state)s.") % {"state": row.get_state_display().lower()})
    if (
        row
        and row.trail
        and [(step.text, step.on, step.extra) for step in row.trail]
        != [(step.text, step.on, step.extra) for step in thread.trail[: len(row.trail)]]
    ):
        told = ngettext("Replaces %(count)d entry.", "Replaces %(count)d entries.", len(row.trail))
        notes.append(told % {"count": len(row.trail)})
    if parsed.kept:
        told = ngettext(
            "%(count)d line matches no field and is kept as a note.",
            "%(count)d lines match no field and are kept as notes.",
            parsed.kept,
        )
        notes.append(told % {"count": parsed.kept})
    if undated := sum(step.on is None for step in thread.trail):
        told = ngettext("%(count)d entry has no date.", "%(count)d entries have no date.", undated)
        notes.append(told % {"count": undated})
    return notes


def take(agent: Agent, files: Sequence[tuple[str, bytes]], actor: audit.Actor, *, only_good: bool = False) -> Taken:
    """Import the threads in files (name, bytes), all or none; or, with `only_good`, all but what is wrong.

    A file may hold several. A thread whose slug the agent has becomes as the file says; `agent` comes with its team.
    Raises BadFile.
    """
    read = [each for _file, each in _all(files) if isinstance(each, Parsed)] if only_good else _read(files)
    with transaction.atomic():
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        known = {row.slug: row for row in _with_trails(agent)}
        new = changed = kept = undated = 0
        events: list[AuditEvent] = []
        added: list[str] = []
        rewritten: list[str] = []
        of_import = new_id("imp")
        for thread, _places, lines in read:
            row = _known(known, thread)
            if row and as_thread(row, row.trail) == _filled(thread, as_thread(row, row.trail)):
                continue
            new, changed = (new, changed + 1) if row else (new + 1, changed)
            kept, undated = kept + lines, undated + sum(step.on is None for step in thread.trail)
            before = row.state if row else ""
            after = _write(agent, row, thread)
            known[after.slug] = after
            (rewritten if row else added).append(after.public_id)
            events.append(
                audit.event(
                    "thread-imported",
                    after.public_id,
                    actor=actor,
                    team=agent.team_id,
                    agent=agent,
                    before=before,
                    after=after.state,
                    touches=after.touches,
                    of_import=of_import,
                )
            )
        active = [row.slug for row in known.values() if row.state == State.ACTIVE]
        if problem := _too_many(agent, active):
            raise BadFile([problem])
        AuditEvent.objects.bulk_create(events)
        if events:
            audit.imported("threads", added, rewritten, of_import, actor=actor, team=agent.team_id, agent=agent)
        state.active_threads = len(active)
        state.save(update_fields=["active_threads"])
    return Taken(new, changed, kept, undated)


def _known(rows: Mapping[str, Any], thread: Thread) -> Any:
    """Return the row of a file's thread, or None: former releases left no secret of a title out of its slug."""
    found = rows.get(thread.slug)
    return found or (rows.get(whole_slug_of(thread.title)) if thread.slug == slug_of(thread.title) else None)


def _too_many(agent: Agent, active: Sequence[str]) -> str:
    most = scorer_shown(agent).policy.max_active_threads
    if len(active) <= most:
        return ""
    told = {"count": len(active), "names": ", ".join(sorted(active)), "most": most}
    return (
        _("%(count)d threads would be active (%(names)s); the limit is %(most)d. Give some the status paused.") % told
    )


def give(agent: Agent) -> Iterator[tuple[str, str]]:
    """Give each of the agent's threads as slug and Markdown, in the order of their beginning; `take` takes it back."""
    for row in _with_trails(agent):
        yield row.slug, format_thread(as_thread(row, row.trail))


def _with_trails(agent: Agent) -> list[Any]:
    trail = Prefetch("steps", ThreadStep.objects.exclude(text="").order_by("id"), to_attr="trail")
    return list(ThoughtThread.objects.filter(agent=agent).order_by("pk").prefetch_related(trail))


def _filled(thread: Thread, known: Thread) -> Thread:
    """Return the thread of a file with the days that the file does not say, as they are known."""
    touched = thread.last_touched or max((step.on for step in thread.trail if step.on), default=known.last_touched)
    return replace(thread, slug=known.slug, created=thread.created or known.created, last_touched=touched)


def _write(agent: Agent, known: Any, thread: Thread) -> ThoughtThread:
    """Make the thread as the file says; what it does not say is as it was, else as of now."""
    now = timezone.now()
    dated = [step.on for step in thread.trail if step.on]
    old: list[ThreadStep] = known.trail if known else []
    row: ThoughtThread = known or ThoughtThread(agent=agent, slug=thread.slug, created_at=now, touched_at=now)
    row.title, row.state, row.touches = thread.title, thread.status, thread.touches
    row.next, row.notes, row.erased_at, row.article_until = thread.next, thread.notes, None, None
    row.has_draft = False
    row.created_at = _at(thread.created or (min(dated) if dated and not row.pk else None), row.created_at)
    row.touched_at = _at(thread.last_touched or (max(dated) if dated else None), row.touched_at)
    row.resolved_at = (row.resolved_at or row.touched_at) if thread.status == "resolved" else None
    row.save()
    trail = [(step.text, step.on, step.extra) for step in thread.trail]
    kept = len(old) if [(step.text, step.on, step.extra) for step in old] == trail[: len(old)] else 0
    if not kept:
        ThreadStep.objects.filter(pk__in=[step.pk for step in old]).delete()
    ThreadStep.objects.bulk_create(
        ThreadStep(thread=row, text=text, on=on, extra=extra, by=ThreadStep.By.FILE, at=_at(on, now))
        for text, on, extra in trail[kept:]
    )
    return row


def _at(day: date | None, known: datetime) -> datetime:
    """Return the moment that is known of a day, else its noon: a file says days only."""
    if day is None or known.astimezone(UTC).date() == day:
        return known
    return datetime.combine(day, time(12), UTC)


def _read(files: Sequence[tuple[str, bytes]]) -> list[Parsed]:
    problems: list[str] = []
    wrong: set[str] = set()
    threads: list[Parsed] = []
    for name, each in _all(files):
        if not isinstance(each, ThreadError):
            threads.append(each)
        elif name not in wrong:  # what follows the first in a file may well follow from it
            wrong.add(name)
            problems.append(
                _("%(file)s, line %(line)d: %(reason)s.") % {"file": name, "line": each.line, "reason": each.reason}
            )
    if problems:
        raise BadFile(problems)
    return threads


def _all(files: Sequence[tuple[str, bytes]]) -> Iterator[tuple[str, Parsed | ThreadError]]:
    """Give each thread of files, with its file's name, or what is wrong with it."""
    slugs: set[str] = set()
    for name, raw in files:
        try:
            found = read_threads(_text_of(raw))
        except ThreadError as error:
            found = [error]
        for each in found:
            if isinstance(each, ThreadError):
                yield name, each
                continue
            try:
                _check(each)
                slug = each.thread.slug
                if slug in slugs:
                    reason = _("the thread %(slug)s already occurs earlier in these files") % {"slug": slug}
                    raise ThreadError(each.places.title, reason)
                slugs.add(slug)
                yield name, each
            except ThreadError as error:
                yield name, error


def _text_of(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise ThreadError(1, _("the file is larger than %(most)d bytes") % {"most": MAX_BYTES})
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = _line_of(raw[: error.start].decode())
        raise ThreadError(line, _("the file is not UTF-8: save it as UTF-8 text")) from None
    if "\0" in text:
        raise ThreadError(_line_of(text[: text.index("\0")]), _("a NUL character cannot be stored: remove it"))
    return text


def _line_of(before: str) -> int:
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1


def _check(parsed: Parsed) -> None:
    thread, places, _kept = parsed
    filed = ThoughtThread.MAX_FILED
    limits: list[tuple[Any, int, int, Any]] = [
        (thread.title, places.title, ThoughtThread.MAX_TITLE, _("the title is longer than %(most)d characters")),
        (thread.next, places.next, filed, _("the text under “Next” is longer than %(most)d characters")),
        (thread.notes, places.notes, filed, _("its notes are longer than %(most)d characters")),
    ]
    too_long = _("an entry of its trail is longer than %(most)d characters")
    limits += [(step.text, line, filed, too_long) for step, line in zip(thread.trail, places.trail, strict=True)]
    if len(thread.trail) > MAX_STEPS:
        line = places.trail[MAX_STEPS]
        raise ThreadError(line, _("its trail has more than %(most)d entries") % {"most": MAX_STEPS})
    for value, line, most, sentence in limits:
        if len(value) > most:
            raise ThreadError(line, sentence % {"most": most})
