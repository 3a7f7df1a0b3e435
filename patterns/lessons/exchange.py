"""Lessons as a file: JSON Lines, a lesson a line, out and in; in also as a JSON list or an object with `lessons`."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from metacog.audit import audit
from metacog.db.ids import new_id
from metacog.heuristics.wire import wire
from metacog.models import Agent, Team, User
from patterns.imports import BadFile, Entry, Plan
from patterns.lessons import lessons
from patterns.lessons.lessons import NotDone
from patterns.models import Lesson
from patterns.serializers import instant

State = Lesson.State
FIELDS = ("id", "text", "topics", "agent", "state", "origin", "createdAt")


class Shape(TypedDict):
    """A lesson as a file has it; `agent` is a name, null where it is for each agent of the team."""

    id: str
    text: str
    topics: list[str]
    agent: str | None
    state: str
    origin: str
    createdAt: str


class Given(NamedTuple):
    """What an entry says, checked; `agent` None: for each of the team."""

    id: str
    text: str
    topics: list[str]
    agent: Agent | None
    state: str
    origin: str
    created_at: datetime | None


class Taken(NamedTuple):
    new: int
    changed: int


def give(rows: Iterable[Lesson]) -> Iterator[str]:
    """Give lessons, read with their agents, as lines that `take` takes back."""
    for row in rows:
        shape: Shape = {
            "id": row.public_id,
            "text": row.text,
            "topics": row.topics,
            "agent": row.agent.name if row.agent else None,
            "state": row.state,
            "origin": row.origin,
            "createdAt": instant(row.created_at),
        }
        yield json.dumps(shape, ensure_ascii=False) + "\n"


def plan(team: Team, raw: bytes) -> Plan:
    """Say what `take` would do with a file, entry by entry. Writes nothing. Raises BadFile."""
    told, known = Plan(), _Known(team)
    for place, name, given, notes in _entries(team, raw):
        if given is None:
            told.entries.append(Entry(place, name, "skip", notes))
        elif (row := known.of(given)) is None:
            known.add(given)
            for_whom = given.agent.name if given.agent else _("all agents of %(team)s") % {"team": team}
            state = str(State(given.state).label)
            said = _("For %(agent)s, state: %(state)s.") % {"agent": for_whom, "state": state.lower()}
            told.entries.append(Entry(place, given.text, "add", [said, *notes]))
        elif fields := _differing(row, given):
            said = _("Changes: %(fields)s.") % {"fields": ", ".join(fields)}
            told.entries.append(Entry(place, given.text, "change", [said, *_stays(row, given), *notes]))
        else:
            told.entries.append(Entry(place, given.text, "same", [*_stays(row, given), *notes]))
    told.problem = known.room()
    return told


def take(team: Team, raw: bytes, person: User) -> Taken:
    """Import a file's lessons into a team, all but what is wrong; those that it has get the file's words and topics.

    Raises BadFile.
    """
    now, of_import = timezone.now(), new_id("imp")
    new: list[str] = []
    changed: list[str] = []
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        known = _Known(team)
        for _place, _name, given, _notes in _entries(team, raw):
            if given is None:
                continue
            row = known.of(given)
            if row is None:
                known.add(given)
                if problem := known.room():
                    raise BadFile([problem])
                row = _write(team, given, person, now)
                lessons.record("lesson-imported", row, person, after=row.state, of_import=of_import)
                known.rows[row.public_id] = row
                new.append(row.public_id)
            elif _differing(row, given):
                lessons.edit(row, given.text, given.topics, person)
                changed.append(row.public_id)
        if new or changed:
            audit.imported("lessons", new, changed, of_import, actor=person, team=team)
    return Taken(len(new), len(changed))


def _write(team: Team, given: Given, person: User, now: datetime) -> Lesson:
    is_free = bool(given.id) and not Lesson.objects.filter(public_id=given.id).exists()
    row = Lesson(
        **({"public_id": given.id} if is_free else {}),
        team=team,
        agent=given.agent,
        text=given.text,
        topics=given.topics,
        state=given.state,
        origin=given.origin,
        created_by=person,
        created_at=given.created_at or now,
        changed_at=now,
    )
    row.save(force_insert=True)
    return row


class _Known:
    """The lessons of a team, by id and by their words."""

    def __init__(self, team: Team) -> None:
        rows = list(Lesson.objects.filter(team=team, erased_at=None).select_related("agent"))
        self.rows = {row.public_id: row for row in rows}
        self._words: dict[tuple[int | None, str], Lesson | None] = {(row.agent_id, row.text): row for row in rows}
        self._active = sum(row.state == State.ACTIVE for row in rows)

    def of(self, given: Given) -> Lesson | None:
        if given.id in self.rows:
            return self.rows[given.id]
        return self._words.get((given.agent.pk if given.agent else None, given.text))

    def add(self, given: Given) -> None:
        self._active += given.state == State.ACTIVE

    def room(self) -> str:
        if self._active <= lessons.MAX_ACTIVE:
            return ""
        told = {"count": self._active, "most": lessons.MAX_ACTIVE}
        return _("The team would have %(count)d active lessons; the limit is %(most)d.") % told


def _differing(row: Lesson, given: Given) -> list[str]:
    return [name for name, value in (("text", given.text), ("topics", given.topics)) if getattr(row, name) != value]


def _stays(row: Lesson, given: Given) -> list[str]:
    """Say what of an entry is not taken, since the team has its lesson."""
    notes = []
    if row.state != given.state:
        notes.append(_("Its state stays: %(state)s.") % {"state": row.get_state_display().lower()})
    if row.agent_id != (given.agent.pk if given.agent else None):
        notes.append(_("It stays with the agent it is for."))
    return notes


# -- reading ---------------------------------------------------------------------------------------


def _entries(team: Team, raw: bytes) -> Iterator[tuple[str, str, Given | None, list[str]]]:
    """Give each entry of a file: its place and name; what it says, or None; and what is to be said of it."""
    agents = {agent.name: agent for agent in Agent.objects.filter(team=team)}
    seen: dict[tuple[str | None, str], str] = {}
    for place, entry in _read(raw):
        problems, notes = _problems(entry, agents), []
        name = str(entry.get("text", ""))[:100] if isinstance(entry, dict) else ""
        if not problems:
            same = entry.get("agent"), lessons.checked(entry["text"])
            if same in seen:
                problems = [_("It has the same text as %(place)s.") % {"place": seen[same]}]
            seen.setdefault(same, place)
        if problems:
            yield place, name, None, problems
            continue
        if unknown := [key for key in entry if key not in FIELDS]:
            notes.append(_("Not imported: %(names)s.") % {"names": ", ".join(unknown)})
        yield place, name, _given(entry, agents), notes


def _given(entry: dict[str, Any], agents: Mapping[str, Agent]) -> Given:
    return Given(
        entry.get("id") or "",
        lessons.checked(entry["text"]),
        lessons.read_topics(",".join(entry.get("topics") or [])),
        agents[entry["agent"]] if entry.get("agent") else None,
        entry.get("state") or State.PROPOSED,
        entry.get("origin") or Lesson.Origin.PERSON,
        wire.instant(entry["createdAt"]) if entry.get("createdAt") else None,
    )


def _read(raw: bytes) -> Iterator[tuple[str, Any]]:
    """Give each entry with its place; what is no JSON as None. Raises BadFile."""
    try:
        text = raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise BadFile([_("The file is not UTF-8. Save it as UTF-8 text.")]) from None
    try:
        whole = wire.load_file(raw)
    except wire.Refused:
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("lessons"), list):
        whole = whole["lessons"]
    if isinstance(whole, list):
        for number, entry in enumerate(whole, 1):
            yield _("Lesson %(number)d") % {"number": number}, entry
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise BadFile([_("The file is empty.")])
    for number, line in lines:
        try:
            entry = wire.load_file(line.encode())
        except wire.Refused:
            entry = None
        yield _("Line %(line)d") % {"line": number}, entry


def _problems(entry: Any, agents: Mapping[str, Agent]) -> list[str]:
    if not isinstance(entry, dict):
        return [_("This is not a JSON object with a lesson.")]
    problems = []
    try:
        if not isinstance(entry.get("text"), str):
            raise NotDone(_("A lesson needs a text."))
        lessons.checked(entry["text"])
    except NotDone as error:
        problems.append(str(error))
    topics = entry.get("topics") or []
    if not isinstance(topics, list) or not all(isinstance(topic, str) and "\0" not in topic for topic in topics):
        problems.append(_("topics must be a list of words."))
    else:
        try:
            lessons.read_topics(",".join(topics))
        except NotDone as error:
            problems.append(str(error))
    agent = entry.get("agent")
    if agent is not None and (not isinstance(agent, str) or agent not in agents):
        problems.append(_("The team has no agent “%(name)s”.") % {"name": str(agent)[:80]})
    for name, known in (("state", State.values), ("origin", Lesson.Origin.values)):
        if entry.get(name) and entry[name] not in known:
            problems.append(_("%(name)s must be one of %(names)s.") % {"name": name, "names": ", ".join(known)})
    public_id = entry.get("id")
    if public_id and (not isinstance(public_id, str) or len(public_id) > 40 or "\0" in public_id):
        problems.append(_("id must be text of at most 40 characters."))
    if entry.get("createdAt") and not _is_time(entry["createdAt"]):
        problems.append(_("createdAt must be a time with a zone, such as 2026-02-16T08:00:00Z."))
    return problems


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and isinstance(wire.instant(value), datetime)
    except ValueError:
        return False
