"""What a posted response does with thought threads: its tags, its field `thread`, and what it is recognised by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.utils import translation

from metacog import heuristics
from metacog.heuristics.memory.threads import Thread, recognise_thread, slug_of
from metacog.heuristics.text.spans import SpanPart
from metacog.heuristics.wire.assessment import ThreadPart
from metacog.models import Agent, AgentState, AuditEvent
from patterns.models import ThoughtThread, ThreadStep
from patterns.threads.threads import AFTER, Changes, NotDone

CYCLES = 12  # the last ones, whose topics may suggest a thread
TOPICS = 16  # of each
Op = ThreadStep.Op
MAX_OP = 40  # characters of an op that are told back
# As the agent of seed 001 says it in its tags.
OPS = {"start": Op.CREATE, "complete": Op.RESOLVE}


class Done(NamedTuple):
    """What came of it: `threads` of the assessment, flags of items by their indexes, and what the agent pursues now."""

    threads: list[ThreadPart] | None
    flags: Mapping[int, str]
    pursued: str | None  # its title
    changes: Changes | None

    def write(self) -> list[AuditEvent]:
        """Write down what was done; return the record of it, unsaved."""
        return self.changes.write() if self.changes else []


NOTHING = Done(None, {}, None, None)


def follow(
    agent: Agent,
    state: AgentState,
    body: Mapping[str, Any],
    items: Sequence[heuristics.Item],
    *,
    response: str,
    now: datetime,
) -> Done:
    """Take the steps that a response's items of the kind `thread` want, then count the thread it pursues as touched.

    What cannot be done stays undone: its item gets a flag, and the reason stands in `threads`. Nothing is written yet.
    Wants the lock on `state`; asks the database only where there are active threads, or the response names one.
    """
    wanted = [(index, item) for index, item in enumerate(items) if item.kind == "thread"]
    if not wanted and not body["thread"] and not state.active_threads:
        return NOTHING
    steps = [_Step.of(index, item, body["thread"] or "") for index, item in wanted]
    names = [name for step in steps for name in (step.name, step.title)]
    changes = Changes(agent, state, [body["thread"] or "", *names], actor=agent, response=response, now=now)
    told, flags = list[ThreadPart](), dict[int, str]()
    pursued: ThoughtThread | None = None
    with translation.override("en"):  # as all that agents are told of a call
        for step in steps:
            try:
                row = step.take(changes)
                told.append(_told(step.op, row, item=step.item))
                pursued = row if row.state == ThoughtThread.State.ACTIVE else pursued
            except NotDone as error:
                flags[step.item] = error.flag
                told.append(_told(step.op, changes.named(step.name), item=step.item, reason=str(error)))
        if field := changes.named(body["thread"] or ""):
            try:
                if changes.touch(field, "field"):
                    told.append(_told("touch", changes.rows[field], by="field"))
            except NotDone as error:
                told.append(_told("touch", field, by="field", reason=str(error)))
        elif found := recognise_thread(body["response"], (Thread(row.title, row.slug) for row in changes.active())):
            pursued = changes.rows[found.slug]
            if found.slug not in {changes.named(step.name) for step in steps} and changes.touch(found.slug, found.by):
                told.append(_told("touch", pursued, by=found.by, spans=[span.as_dict() for span in found.spans]))
    title = pursued.title if pursued and pursued.state == ThoughtThread.State.ACTIVE else None
    return Done(told or None, flags, body["thread"] or title, changes)


def _told(
    op: str,
    thread: ThoughtThread | str,
    *,
    item: int | None = None,
    by: Literal["field", "name", "words"] | None = None,
    reason: str | None = None,
    spans: Iterable[SpanPart] = (),
) -> ThreadPart:
    """Return an entry about a thread as it is now or about one that is not there."""
    state: Any = thread.state if isinstance(thread, ThoughtThread) else None
    row, slug = (thread, thread.slug) if isinstance(thread, ThoughtThread) else (None, thread)
    return {
        "item": item,
        "thread": slug,
        "op": op,
        "done": row is not None,
        "state": state,
        "touches": row.touches if row else None,
        "by": by,
        "reason": reason,
        "spans": list(spans),
    }


class _Step(NamedTuple):
    """What one item wants done."""

    item: int
    op: str
    name: str  # the thread's slug or title
    title: str
    note: str
    next: str

    @classmethod
    def of(cls, index: int, item: heuristics.Item, thread: str) -> _Step:
        """Read a tag. What names no thread is about the one that the response pursues."""
        given = item.attributes
        title = given.get("title", "")
        name = given.get("id") or given.get("slug") or title or thread
        op = given.get("op", Op.CREATE if title else Op.PROGRESS).casefold()[:MAX_OP]
        return cls(index, OPS.get(op, op), name, title, item.text, given.get("next", ""))

    def take(self, changes: Changes) -> ThoughtThread:
        if not self.name:
            raise NotDone("thread-unnamed", "The tag names no thread: give it an id or a title.")
        if self.op == Op.CREATE:
            return changes.create(self.title or self.name, slug=slug_of(self.name), note=self.note, next=self.next)
        if self.op not in AFTER:
            raise NotDone("thread-op", f"“{self.op}” is no step; the steps are {', '.join(op.value for op in Op)}.")
        return changes.step(changes.named(self.name), self.op, note=self.note, next=self.next)


def with_cycle(cycles: Sequence[Sequence[Any]], number: int | None, topics: Iterable[str]) -> list[list[Any]]:
    """Add a response's topics to those of its cycle; without a number a response is a cycle of its own."""
    kept = [list(cycle) for cycle in cycles]
    if number is not None and kept and kept[-1][0] == number:
        topics = [*kept.pop()[1], *topics]
    return [*kept, [number, list(dict.fromkeys(topics))[:TOPICS]]][-CYCLES:]
