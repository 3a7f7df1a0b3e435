"""Thought threads (seed 001): what may be done with them, and what is written when it is done.

Every change goes through `Changes`, under the lock on the agent's state: so never more threads are active than the
agent's policy allows, and a thread's steps stand in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.audit import audit
from metacog.heuristics.memory.threads import slug_of, whole_slug_of
from metacog.models import Agent, AgentState, AuditEvent, User
from patterns.models import ThoughtThread, ThreadStep, ThreadSuggestion
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import as_lines, one_line

State, Op = ThoughtThread.State, ThreadStep.Op

# From which states a step may be taken, and what the thread is then. Resolved is the end.
AFTER: dict[str, tuple[tuple[str, ...], str]] = {
    Op.PROGRESS: ((State.ACTIVE,), State.ACTIVE),
    Op.PAUSE: ((State.ACTIVE,), State.PAUSED),
    Op.RESUME: ((State.PAUSED,), State.ACTIVE),
    Op.RESOLVE: ((State.ACTIVE, State.PAUSED), State.RESOLVED),
}
MAX_NAME = 300  # more than any title
_DONE = {Op.PROGRESS: "progressed", Op.PAUSE: "paused", Op.RESUME: "resumed", Op.RESOLVE: "resolved"}


class NotDone(Exception):
    """A step that cannot be taken; nothing of it was written. `str()` is a sentence, `flag` its name in a verdict."""

    def __init__(self, flag: str, sentence: str) -> None:
        super().__init__(sentence)
        self.flag = flag


class Changes:
    """Changes to one agent's threads; `write` writes them, and returns the record of them, unsaved.

    Wants the lock on `state`. Knows the active threads and those in `names`, slugs or titles: no others can be named.
    """

    def __init__(
        self,
        agent: Agent,
        state: AgentState,
        names: Iterable[str],
        *,
        actor: Agent | User,
        response: str = "",
        now: datetime | None = None,
    ) -> None:
        self.agent, self.state, self.actor, self.response = agent, state, actor, response
        self.now = now or timezone.now()
        given = {name for name in names if name}
        titles = {one_line(name) for name in given if len(name) <= MAX_NAME}
        # A slug is cut off: that of the longest name may be a thread's.
        slugs = {slug for name in given for slug in (slug_of(name), whole_slug_of(name))}
        wanted = Q(state=State.ACTIVE) | Q(slug__in=slugs) | Q(title__in=titles)
        self.rows = {row.slug: row for row in ThoughtThread.objects.filter(wanted, agent=agent).order_by("pk")}
        for row in self.rows.values():
            row.agent = agent  # as it was read, with its team
        self._changed: dict[str, ThoughtThread] = {}
        self._touched: set[str] = set()
        self._steps: list[ThreadStep] = []
        self._events: list[AuditEvent] = []

    def active(self) -> list[ThoughtThread]:
        return [row for row in self.rows.values() if row.state == State.ACTIVE]

    def named(self, name: str) -> str:
        """Return the slug of the thread that has this slug or, if none has, this title; else what it would be."""
        slug, whole = (slug_of(name), whole_slug_of(name)) if name else ("", "")
        if slug in self.rows:
            return slug
        return next((row.slug for row in self.rows.values() if whole in (row.slug, whole_slug_of(row.title))), slug)

    def create(self, title: str, *, slug: str = "", note: str = "", next: str = "") -> ThoughtThread:
        """Begin a thread. A note is its first step, and a touch. Raises NotDone."""
        title = one_line(title)
        if not title:
            raise NotDone("thread-untitled", _("A thread needs a title."))
        if len(title) > ThoughtThread.MAX_TITLE:
            raise _too_long(_("A title has at most %(most)d characters."), ThoughtThread.MAX_TITLE)
        has_letters = any(letter.isalnum() for letter in title)
        slug = slug or slug_of(title)
        is_shared = not has_letters and slug == slug_of(title)  # by all such titles
        note, next = self._read(note, next)
        if known := self.rows.get(slug) or (self.rows.get(self.named(title)) if has_letters else None):
            if is_shared and known.title != title:
                sentence = _(
                    "Titles without a letter or digit share the slug %(slug)s, and “%(title)s” has it. Choose another "
                    "title, or give a slug."
                )
            elif known.state == State.RESOLVED:
                sentence = _("The thread %(slug)s, “%(title)s”, is resolved. Choose another title.")
            else:
                sentence = _("The thread %(slug)s already exists: “%(title)s”, %(state)s. Continue it.")
            told = {"slug": known.slug, "title": known.title, "state": known.get_state_display().lower()}
            raise NotDone("thread-exists", sentence % told)
        self._make_sure_of_room()
        row = ThoughtThread(agent=self.agent, slug=slug, title=title, next=next, created_at=self.now)
        self.rows[slug] = row
        self._step(row, Op.CREATE, note, is_touch=bool(note))
        self._record("thread-created", row, after=State.ACTIVE)
        return row

    def step(self, slug: str, op: str, *, note: str = "", next: str = "") -> ThoughtThread:
        """Take a step of `AFTER` with a thread. A progress is a touch. Raises NotDone."""
        row = self._possible(slug, op)
        note, next = self._read(note, next)
        if op == Op.RESUME:
            self._make_sure_of_room()
        before, after = row.state, AFTER[op][1]
        row.state = after
        if next:
            row.next = next
        if op == Op.RESOLVE:
            row.resolved_at, row.article_until = self.now, ThoughtThread.ARTICLE_UNREAD
            row.has_draft = True
        self._step(row, op, note, is_touch=op == Op.PROGRESS)
        self._record(f"thread-{_DONE[Op(op)]}", row, before=before, after=after)
        return row

    def has_taken(self, slug: str, op: str, *, note: str = "", next: str = "") -> bool:
        """Tell whether the last step of a thread is this one, by a call of the agent's own: it asks again.

        A progress never is: to say the same twice is no mistake, and each counts as a touch.
        """
        row, (note, next) = self.rows.get(slug), self._read(note, next)
        last = row and row.steps.order_by("-id").first()
        if row is None or not last or op == Op.PROGRESS:
            return False
        is_same = (last.op, last.text, last.by, last.response) == (op, note, ThreadStep.By.AGENT, "")
        return is_same and next in ("", row.next)

    def touch(self, slug: str, by: str) -> bool:
        """Count that the response pursues an active thread; return whether it was not counted yet. Raises NotDone."""
        row = self._possible(slug, Op.PROGRESS)
        if slug in self._touched:
            return False
        self._count(row)
        self._record("thread-touched", row, by=by)
        return True

    def write(self) -> list[AuditEvent]:
        if any(step.op == Op.CREATE for step in self._steps):
            ThreadSuggestion.objects.filter(agent=self.agent).delete()
        for row in self._changed.values():
            row.save()
        ThreadStep.objects.bulk_create(self._steps)
        self.state.active_threads = len(self.active())
        return self._events

    def _possible(self, slug: str, op: str) -> ThoughtThread:
        row = self.rows.get(slug)
        if row is None:
            raise NotDone("thread-unknown", _("There is no thread %(slug)s.") % {"slug": slug})
        if row.state not in AFTER[op][0]:
            raise NotDone("thread-state", _not_from(row, op))
        return row

    def _read(self, note: str, next: str) -> tuple[str, str]:
        note, next = one_line(note), one_line(next)
        if len(note) > ThreadStep.MAX_TEXT:
            raise _too_long(_("A note has at most %(most)d characters."), ThreadStep.MAX_TEXT)
        if len(next) > ThoughtThread.MAX_NEXT:
            raise _too_long(_("“Next” has at most %(most)d characters."), ThoughtThread.MAX_NEXT)
        return note, next

    def _make_sure_of_room(self) -> None:
        most, active = scorer_shown(self.agent).policy.max_active_threads, self.active()
        if len(active) >= most:
            sentence = ngettext(
                "The limit is %(most)d active thread, and one is active: %(names)s. Pause or resolve it first.",
                "The limit is %(most)d active threads, and these are active: %(names)s. Pause or resolve one first.",
                most,
            )
            names = ", ".join(f"“{row.title}” ({row.slug})" for row in active)
            raise NotDone("thread-limit", sentence % {"most": most, "names": names})

    def _step(self, row: ThoughtThread, op: str, note: str, *, is_touch: bool) -> None:
        person = self.actor if isinstance(self.actor, User) else None
        self._steps.append(
            ThreadStep(
                thread=row,
                op=op,
                text=note,
                on=self.now.astimezone(UTC).date(),
                by=ThreadStep.By.PERSON if person else ThreadStep.By.AGENT,
                person=person,
                response=self.response,
                at=self.now,
            )
        )
        row.touched_at = self.now
        self._changed[row.slug] = row
        if is_touch and row.slug not in self._touched:
            self._count(row)

    def _count(self, row: ThoughtThread) -> None:
        row.touches, row.touched_at = row.touches + 1, self.now
        self._touched.add(row.slug)
        self._changed[row.slug] = row

    def _record(self, action: str, row: ThoughtThread, **data: Any) -> None:
        if self.response:
            data["response"] = self.response
        self._events.append(_event(action, row, self.actor, touches=row.touches, **data))


@contextmanager
def changes(agent: Agent, actor: Agent | User, *names: str) -> Iterator[Changes]:
    """Give the changes to an agent's threads that are made inside, and write them together when it ends."""
    with transaction.atomic():
        state = AgentState.objects.select_for_update().get(pk=agent.pk)
        made = Changes(agent, state, names, actor=actor)
        yield made
        AuditEvent.objects.bulk_create(made.write())
        state.save(update_fields=["active_threads"])


def edit(thread: ThoughtThread, title: str, next: str, notes: str, actor: User) -> bool:
    """Change what a person may correct of a thread; return whether that was a change. Its slug stays.

    What was erased and is written anew is erased in its turn.
    """
    with transaction.atomic():
        AgentState.objects.select_for_update().get(pk=thread.agent_id)
        row = ThoughtThread.objects.select_related("agent").get(pk=thread.pk)
        wanted = {"title": one_line(title), "next": as_lines(next), "notes": as_lines(notes)}
        fields = [name for name, value in wanted.items() if getattr(row, name) != value]
        if fields:
            anew: dict[str, Any] = {"erased_at": None} if {"next", "notes"}.intersection(fields) else {}
            ThoughtThread.objects.filter(pk=row.pk).update(**{name: wanted[name] for name in fields}, **anew)
            _event("thread-changed", row, actor, before=row.state, after=row.state, fields=fields).save()
    return bool(fields)


def _too_long(sentence: str, most: int) -> NotDone:
    return NotDone("thread-too-long", sentence % {"most": most})


def _not_from(row: ThoughtThread, op: str) -> str:
    told = {"slug": row.slug}
    if row.state == State.RESOLVED:
        return _("The thread %(slug)s is resolved and cannot be reopened. Create a new one.") % told
    if row.state == State.PAUSED and op == Op.PAUSE:
        return _("The thread %(slug)s is already paused.") % told
    if row.state == State.PAUSED:
        return _("The thread %(slug)s is paused. Resume it first.") % told
    return _("The thread %(slug)s is already active.") % told


def _event(action: str, row: ThoughtThread, actor: audit.Actor, **data: Any) -> AuditEvent:
    agent = row.agent
    return audit.event(action, row.public_id, actor=actor, team=agent.team_id, agent=agent, **data)
