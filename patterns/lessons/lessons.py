"""Lessons (seed 004): procedural memory that reflection proposes, people confirm, and agents are given back.

Every change is made under the lock on its row, and recorded with it. Nothing here activates a lesson without a person.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from metacog.audit import audit
from metacog.heuristics.memory import lessons
from metacog.heuristics.memory.lessons import Chosen
from metacog.models import Agent, AuditEvent, Team, User
from patterns.models import Lesson
from patterns.serializers import one_line

State, Origin = Lesson.State, Lesson.Origin

MAX_ACTIVE = 200  # of one team; all of them are looked at for each context
MAX_EVIDENCE = 1_000  # ids kept with a proposal, as many as one reflection looks at
MOST_SEEN_FIRST = F("evidence__count").desc(nulls_last=True)  # the order of proposals: by their responses

# A person's step: from which states, to which, and what the record calls it.
AFTER: dict[str, tuple[tuple[str, ...], str, str]] = {
    "confirm": ((State.PROPOSED,), State.ACTIVE, "lesson-confirmed"),
    "dismiss": ((State.PROPOSED,), State.DISMISSED, "lesson-dismissed"),
    "retire": ((State.ACTIVE,), State.RETIRED, "lesson-retired"),
    "reopen": ((State.DISMISSED,), State.PROPOSED, "lesson-reopened"),
    "restore": ((State.RETIRED, State.DISMISSED), State.ACTIVE, "lesson-restored"),
}


class NotDone(Exception):
    """A change that cannot be made; nothing was written. `str()` is a sentence."""


@dataclass(frozen=True)
class Proposal:
    """What reflection would have an agent learn; `about` is what makes two proposals the same."""

    kind: str
    about: str
    text: Callable[[int], str]  # of how many responses it was seen in, from the first reflection on
    topics: tuple[str, ...]
    responses: tuple[str, ...]  # ids, oldest first
    origin: Lesson.Origin = Origin.REFLECTION


def read_topics(raw: str) -> list[str]:
    """Return the topics of a comma-separated line, each once; raises NotDone."""
    topics = list(dict.fromkeys(one_line(topic) for topic in raw.replace("，", ",").replace("、", ",").split(",")))
    topics = [topic for topic in topics if topic]
    if len(topics) > Lesson.MAX_TOPICS:
        raise NotDone(_("A lesson has at most %(most)d topics.") % {"most": Lesson.MAX_TOPICS})
    if any(len(topic) > Lesson.MAX_TOPIC for topic in topics):
        raise NotDone(_("A topic has at most %(most)d characters.") % {"most": Lesson.MAX_TOPIC})
    return topics


def write(team: Team, agent: Agent | None, text: str, topics: Sequence[str], person: User) -> Lesson:
    """Add a person's lesson, active at once, for one agent or (None) each of the team. Raises NotDone."""
    now = timezone.now()
    with transaction.atomic():
        _make_sure_of_room(team)
        row = Lesson(
            team=team,
            agent=agent,
            text=checked(text),
            topics=list(topics),
            state=State.ACTIVE,
            created_by=person,
            created_at=now,
            changed_at=now,
        )
        row.save(force_insert=True)
        record("lesson-written", row, person, after=State.ACTIVE)
    return row


def edit(lesson: Lesson, text: str, topics: Sequence[str], person: User) -> bool:
    """Change a lesson's words; return whether that was a change. Raises NotDone."""
    new: dict[str, Any] = {"text": checked(text), "topics": list(topics)}
    with transaction.atomic():
        row = _locked(lesson)
        if row.erased_at:
            raise NotDone(_("The text of this lesson was erased."))
        fields = [name for name, value in new.items() if getattr(row, name) != value]
        if fields:
            row.text, row.topics, row.changed_at = new["text"], new["topics"], timezone.now()
            row.save(update_fields=["text", "topics", "changed_at"])
            record("lesson-changed", row, person, before=row.state, after=row.state, fields=fields)
    return bool(fields)


def move(lesson: Lesson, step: str, person: User) -> Lesson:
    """Take a step of `AFTER` with a lesson; the same again changes nothing. Raises NotDone."""
    before, after, action = AFTER[step]
    with transaction.atomic():
        row = _locked(lesson)
        if row.state == after:
            return row
        if row.state not in before or row.erased_at:
            raise NotDone(_("This lesson is %(state)s.") % {"state": row.get_state_display().lower()})
        if after == State.ACTIVE:
            _make_sure_of_room(row.team)
        was, row.state, row.changed_at = row.state, after, timezone.now()
        row.save(update_fields=["state", "changed_at"])
        record(action, row, person, before=was, after=after)
    return row


def propose(agent: Agent, proposals: Iterable[Proposal], reflection: str, now: datetime) -> list[Lesson]:
    """Write what a reflection proposes; return the rows that wait for a person and have something new to say.

    Wants the lock on the agent's state. A proposal that was made before joins its row, and counts where it has
    evidence that is not there yet; one that a person dismissed, retired, confirmed or put into other words stays as
    they left it.
    """
    keys = {hashlib.sha256(f"{each.kind}\0{each.about}".encode()).hexdigest(): each for each in proposals}
    # In the order in which `give` takes them, so that the two never wait for each other in a circle.
    known_rows = Lesson.objects.select_for_update().filter(agent=agent, key__in=keys).order_by("pk")
    rows = {row.key: row for row in known_rows}
    changed = AuditEvent.objects.filter(object_id__in=[row.public_id for row in known_rows], action="lesson-changed")
    in_own_words = set(changed.values_list("object_id", flat=True))
    told = []
    for key, proposal in keys.items():
        is_new = key not in rows
        row = rows.get(key) or Lesson(
            team_id=agent.team_id, agent=agent, key=key, origin=proposal.origin, created_at=now, evidence={}
        )
        row.agent = agent
        known = row.evidence.get("responses", [])
        seen = set(known)
        fresh = [public_id for public_id in proposal.responses if public_id not in seen]
        if not fresh:
            continue
        row.evidence = {
            "kind": proposal.kind,
            "count": row.evidence.get("count", 0) + len(fresh),
            "responses": [*known, *fresh][-MAX_EVIDENCE:],
        }
        row.proposed += 1
        if row.state == State.PROPOSED:
            if row.erased_at or row.public_id not in in_own_words:
                row.text = one_line(proposal.text(row.evidence["count"]))[: Lesson.MAX_TEXT]
                row.topics = list(proposal.topics)[: Lesson.MAX_TOPICS]
            row.changed_at, row.erased_at = now, None
            told.append(row)
        row.save()
        action = "lesson-proposed" if is_new else "lesson-proposed-again"
        record(action, row, None, after=row.state, reflection=reflection, count=row.evidence["count"])
    return told


def give(agent: Agent, recent: Callable[[], Sequence[str]]) -> list[Chosen]:
    """Choose the lessons for an agent's next cycle, as `chosen` does, and count that they were given."""
    given = chosen(agent, recent)
    if given:
        with transaction.atomic():
            # In one order, since the agents of a team may be given the same lessons at the same moment.
            rows = Lesson.objects.select_for_update().filter(public_id__in=[one.lesson.id for one in given])
            keys = list(rows.order_by("pk").values_list("pk", flat=True))
            Lesson.objects.filter(pk__in=keys).update(given=F("given") + 1)
    return given


def chosen(agent: Agent, recent: Callable[[], Sequence[str]]) -> list[Chosen]:
    """Choose the lessons for an agent's next cycle.

    `recent` gives the latest texts, and is asked only where a lesson has topics.
    """
    rows = Lesson.objects.filter(Q(agent=agent) | Q(agent=None), team_id=agent.team_id, state=State.ACTIVE)
    known = [
        lessons.Lesson(public_id, text, tuple(topics))
        for public_id, text, topics in rows.order_by("-changed_at", "-pk").values_list("public_id", "text", "topics")
    ]
    return lessons.choose(known, recent() if any(each.topics for each in known) else ())


def checked(text: str) -> str:
    text = one_line(text)
    if not text:
        raise NotDone(_("A lesson needs a text."))
    if len(text) > Lesson.MAX_TEXT:
        raise NotDone(_("A lesson has at most %(most)d characters.") % {"most": Lesson.MAX_TEXT})
    if "\0" in text:
        raise NotDone(_("A lesson cannot contain a NUL character."))
    return text


def _make_sure_of_room(team: Team) -> None:
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)  # two people at once may not both find the last place
    if Lesson.objects.filter(team=team, state=State.ACTIVE).count() >= MAX_ACTIVE:
        raise NotDone(
            _("The team has %(most)d active lessons, which is the limit. Retire some first.") % {"most": MAX_ACTIVE}
        )


def _locked(lesson: Lesson) -> Lesson:
    rows = Lesson.objects.select_for_update(of=("self",)).select_related("agent", "team")
    return rows.get(pk=lesson.pk)


def record(action: str, row: Lesson, actor: User | None, **data: Any) -> None:
    digest = hashlib.sha256(row.text.encode()).hexdigest()
    audit.record(
        action, row.public_id, actor=actor, team=row.team_id, agent=row.agent, origin=row.origin, sha256=digest, **data
    )
