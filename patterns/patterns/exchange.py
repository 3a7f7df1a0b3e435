"""Error patterns as a file: the seeds' hesitation-patterns.json, in and out (seed 000, Error Patterns)."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from metacog.audit import audit
from metacog.db.ids import new_id
from metacog.db.rows import OfEach
from metacog.heuristics import patterns_in
from metacog.heuristics.wire import wire
from metacog.models import Agent, AuditEvent, Team
from metacog.refusals import translated
from patterns.imports import BadFile, Fate, Plan
from patterns.imports import Entry as Planned
from patterns.models import MAX_PATTERNS, ErrorPattern, keyword_problems, touch
from patterns.patterns import lifecycle

FIELDS = ("id", "keywords", "description", "source", "createdAt", "triggerCount")
MAX_COUNT = 2**31 - 1
# How a preview names what differs, in the file's own words.
_FIELD_NAMES = {
    "keywords": "keywords",
    "description": "description",
    "source": "source",
    "created_at": "createdAt",
    "imported_triggers": "triggerCount",
}
FEW = 10_000  # responses that are asked for at once
AT_ONCE = 200  # agents of one statement: SQLite joins no more than 500


class Entry(TypedDict):
    """A pattern as a file has it."""

    id: str
    keywords: list[str]
    description: str
    source: str
    createdAt: str
    triggerCount: int


class Pattern(NamedTuple):
    """What an entry says, checked."""

    id: str
    keywords: list[str]
    description: str
    source: str
    created_at: datetime
    triggers: int

    @classmethod
    def of(cls, entry: Entry) -> Pattern:
        created_at, triggers = wire.instant(entry["createdAt"]), int(entry["triggerCount"])
        return cls(entry["id"], entry["keywords"], entry["description"], entry["source"], created_at, triggers)


class Taken(NamedTuple):
    """How many patterns are new, how many changed, and how many of what else the file holds was not taken."""

    new: int
    changed: int
    left: dict[str, int]


class _Import(NamedTuple):
    """What a file would do to a team: the rows that are new, and those that change, as they are then."""

    new: list[ErrorPattern]
    changed: list[tuple[ErrorPattern, list[str]]]  # with the names of the fields that differ
    fates: dict[str, Fate]  # by id
    room: str  # why there is none, else ""


def plan(team: Team, raw: bytes, state: str = ErrorPattern.State.ACTIVE) -> Plan:
    """Say what `take` would do with a file, entry by entry, where it leaves out what is wrong. Raises BadFile."""
    entries, left = _entries(raw)
    made = _prepared(team, [each for _place, each in entries if isinstance(each, Pattern)], state)
    changed = {row.public_id: (row, fields) for row, fields in made.changed}
    told = Plan(left=_left(left), problem=made.room)
    for place, each in entries:
        if not isinstance(each, Pattern):
            told.entries.append(Planned(place, each.name, "skip", each.problems))
            continue
        notes = []
        if each.id in changed:
            row, fields = changed[each.id]
            notes.append(_("Changes: %(fields)s.") % {"fields": ", ".join(_FIELD_NAMES[name] for name in fields)})
            if "keywords" in fields:
                notes.append(_("Keywords: %(keywords)s.") % {"keywords": ", ".join(each.keywords)})
            if "keywords" in fields and row.state == ErrorPattern.State.ACTIVE:
                notes.append(_("The pattern is active: its new keywords take effect at once."))
        elif made.fates[each.id] == "add":
            notes.append(_("Keywords: %(keywords)s.") % {"keywords": ", ".join(each.keywords)})
        told.entries.append(Planned(place, each.description, made.fates[each.id], notes))
    return told


def take(
    team: Team,
    raw: bytes,
    actor: audit.Actor,
    *,
    state: str = ErrorPattern.State.ACTIVE,
    only_good: bool = False,
) -> Taken:
    """Import the file's patterns into the team, all or none; or, with `only_good`, all but what is wrong.

    A pattern whose id the team has is updated and keeps its place and state; new ones get `state`, in the file's order.
    Raises BadFile.
    """
    if only_good:
        entries, left = _entries(raw)
        patterns = [each for _place, each in entries if isinstance(each, Pattern)]
    else:
        patterns, left = read(raw)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        made = _prepared(team, patterns, state)
        if made.room:
            raise BadFile([made.room])
        new, changed = made.new, [row for row, _fields in made.changed]
        ErrorPattern.objects.bulk_create(new, batch_size=500)
        ErrorPattern.objects.bulk_update(
            changed,
            ["keywords", "description", "source", "created_at", "imported_triggers"],
            batch_size=500,
        )
        reworded = [row for row, fields in made.changed if "keywords" in fields]
        lifecycle.restart([row for row in (*new, *reworded) if row.state in lifecycle.WORKING], timezone.now())
        if new or changed:
            told: dict[str, Any] = {"actor": actor, "team": team}
            of_import = new_id("imp")
            AuditEvent.objects.bulk_create(
                [
                    audit.event("pattern-imported", row.public_id, after=row.state, of_import=of_import, **told)
                    for row in (*new, *changed)
                ],
                batch_size=500,
            )
            added, rewritten = ([row.public_id for row in rows] for rows in (new, changed))
            audit.imported("patterns", added, rewritten, of_import, **told)
        if live := [row for row in (*new, *changed) if row.state == ErrorPattern.State.ACTIVE]:
            touch(team.pk, live)
    return Taken(len(new), len(changed), left)


def _prepared(team: Team, patterns: Sequence[Pattern], state: str) -> _Import:
    """Compare a file's patterns with those of the team; writes nothing."""
    known, since = {row.public_id: row for row in ErrorPattern.objects.filter(team=team)}, _not_counted(team.pk)
    made = _Import([], [], {}, "")
    for given in patterns:
        row = known.get(given.id)
        # A file that was exported here counts our own triggers too; they are not imported twice. One that was
        # written before knows of fewer than there have been: none is taken back.
        own, before = (row.counted_triggers + since[row.pk], row.imported_triggers) if row else (0, 0)
        values = {
            "keywords": given.keywords,
            "description": given.description,
            "source": given.source,
            "created_at": given.created_at,
            "imported_triggers": max(before, given.triggers - own),
        }
        if row is None:
            made.new.append(ErrorPattern(team=team, public_id=given.id, state=state, **values))
            made.fates[given.id] = "add"
        elif fields := [name for name, value in values.items() if getattr(row, name) != value]:
            for name, value in values.items():
                setattr(row, name, value)
            made.changed.append((row, fields))
            made.fates[given.id] = "change"
        else:
            made.fates[given.id] = "same"
    most = {ErrorPattern.State.ACTIVE: MAX_PATTERNS, ErrorPattern.State.SHADOW: lifecycle.MAX_SHADOW}
    count = sum(row.state == state for row in known.values()) + len(made.new)
    if made.new and state in most and count > most[ErrorPattern.State(state)]:
        if state == ErrorPattern.State.ACTIVE:
            room = _("The team would have %(count)d active patterns; the limit is %(most)d.")
        else:
            room = _("The team would have %(count)d patterns in shadow; the limit is %(most)d.")
        return made._replace(room=room % {"count": count, "most": most[ErrorPattern.State(state)]})
    return made


def _left(left: Mapping[str, int]) -> list[str]:
    return [
        ngettext(
            "“%(name)s” is not imported (%(count)d entry): only patterns are.",
            "“%(name)s” is not imported (%(count)d entries): only patterns are.",
            count,
        )
        % {"name": name, "count": count}
        for name, count in left.items()
    ]


def _not_counted(*team_ids: int) -> Counter[int]:
    """Count, by pattern, the responses it fired on that its count does not have yet: nothing was learned from them.

    A count of all it ever fired on grows with them: half a million steps of SQLite at a million responses.
    """
    signals: Any = ErrorPattern._meta.get_field("signals").related_model  # of a package above this one
    responses: Any = signals._meta.get_field("response").related_model
    learned = Agent.objects.filter(team__in=team_ids).order_by("pk").values_list("pk", "learning_cursor__response")
    # Each agent's along its index; a join would read all there are.
    since = [responses.objects.filter(agent=agent, pk__gt=last or 0).order_by().values("pk") for agent, last in learned]
    found = Counter[int]()
    for first in range(0, len(since), AT_ONCE):
        newer = responses.objects.filter(pk__in=OfEach(*since[first : first + AT_ONCE])).order_by()
        pks = list(newer.values_list("pk", flat=True))
        for some in range(0, len(pks), FEW):
            fired = signals.objects.filter(response__in=pks[some : some + FEW], pattern__isnull=False).order_by()
            found.update(dict(fired.values_list("pattern").annotate(Count("pk"))))
    return found


def give(team: Team) -> list[Entry]:
    """Return the team's active patterns in order, in the shape that `take` reads.

    `triggerCount` is what their file said they had been triggered before, and the responses they fired on here.
    """
    return entries(ErrorPattern.objects.filter(team=team, state=ErrorPattern.State.ACTIVE), team.pk)


def entries(rows: QuerySet[ErrorPattern], *team_ids: int) -> list[Entry]:
    """Return patterns of these teams in order, in the shape of a file and of the API."""
    since = _not_counted(*team_ids)
    return [
        {
            "id": row.public_id,
            "keywords": row.keywords,
            "description": row.description,
            "source": row.source,
            "createdAt": _written(row.created_at),
            "triggerCount": row.imported_triggers + row.counted_triggers + since[row.pk],
        }
        for row in rows.order_by("id")
    ]


def _written(moment: datetime) -> str:
    # As the seed's file has it, to the millisecond; a pattern made here keeps what its time has more than that.
    timespec = "auto" if moment.microsecond % 1000 or not moment.microsecond else "milliseconds"
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


class Wrong(NamedTuple):
    """An entry that cannot be taken."""

    name: str
    problems: list[str]


def read(raw: bytes) -> tuple[list[Pattern], dict[str, int]]:
    """Return the file's patterns, and how many of what else it holds. Raises BadFile."""
    entries, left = _entries(raw)
    problems = [
        _("Pattern %(number)d: %(problem)s") % {"number": number, "problem": problem}
        for number, (_place, each) in enumerate(entries, 1)
        if isinstance(each, Wrong)
        for problem in each.problems
    ]
    if problems:
        raise BadFile(problems)
    return [each for _place, each in entries if isinstance(each, Pattern)], left


def _entries(raw: bytes) -> tuple[list[tuple[str, Pattern | Wrong]], dict[str, int]]:
    """Return each entry of a file with its place, as a pattern or with what is wrong. Raises BadFile."""
    try:
        entries, left = patterns_in(wire.load_file(raw))
    except wire.Refused as error:
        raise BadFile([translated(error.detail)]) from None
    if entries is None:
        raise BadFile(
            [_("The file contains neither a list of patterns nor an object with one as “patterns” or “errorPatterns”.")]
        )
    first: dict[str, int] = {}
    found: list[tuple[str, Pattern | Wrong]] = []
    lines = _lines(raw, len(entries))
    for position, (entry, line) in enumerate(zip(map(_trimmed, entries), lines, strict=True), 1):
        problems = _problems(entry)
        if not problems:
            if entry["id"] in first:
                problems = [_("its id is that of pattern %(number)d.") % {"number": first[entry["id"]]}]
            first.setdefault(entry["id"], position)
        name = entry.get("description") if isinstance(entry, dict) else None
        place = _("Pattern %(number)d") % {"number": position}
        if line:
            place = _("Line %(line)d, pattern %(number)d") % {"line": line, "number": position}
        told = Wrong(name[:100] if isinstance(name, str) else "", problems) if problems else Pattern.of(entry)
        found.append((place, told))
    return found, left


_LIST = re.compile(r'"(?:patterns|errorPatterns)"\s*+:\s*+\[')
_BETWEEN = re.compile(r"[\s,]*+")


def _lines(raw: bytes, count: int) -> list[int]:
    """Return the lines in which a file's entries begin, from 1; zeros where that cannot be told."""
    text = raw.removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    opened = _LIST.search(text) if text.lstrip().startswith("{") else None
    at = opened.end() if opened else text.find("[") + 1
    decoder, line, counted, lines = json.JSONDecoder(), 1, 0, []
    try:
        for _number in range(count):
            between = _BETWEEN.match(text, at)
            at = between.end() if between else at
            line, counted = line + text.count("\n", counted, at), at
            lines.append(line)
            _entry, at = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return [0] * count
    return lines


def _trimmed(entry: Any) -> Any:
    """Take away the blanks around keywords, as the console's form does."""
    if not isinstance(entry, dict) or not isinstance(keywords := entry.get("keywords"), list):
        return entry
    return {**entry, "keywords": [word.strip() if isinstance(word, str) else word for word in keywords]}


def _problems(entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return [_("it is not an object.")]
    missing = [name for name in FIELDS if name not in entry]
    unknown = [name for name in entry if name not in FIELDS]
    problems = []
    if missing:
        problems.append(
            ngettext("%(names)s is missing.", "%(names)s are missing.", len(missing)) % {"names": ", ".join(missing)}
        )
    if unknown:
        problems.append(
            ngettext("%(names)s is not a field of a pattern.", "%(names)s are not fields of a pattern.", len(unknown))
            % {"names": ", ".join(unknown)}
        )
    for name, most in (("id", 100), ("description", 500)):
        value = entry.get(name, "-")
        if not isinstance(value, str) or not 1 <= len(value) <= most:
            problems.append(_("%(name)s must be text of 1 to %(most)d characters.") % {"name": name, "most": most})
    if "keywords" in entry:
        problems += keyword_problems(entry["keywords"])
    if entry.get("source", "external") not in ErrorPattern.Source.values:
        problems.append(_("source must be one of %(names)s.") % {"names": ", ".join(ErrorPattern.Source.values)})
    if "createdAt" in entry and not _is_time(entry["createdAt"]):
        problems.append(_("createdAt must be a time with a zone, such as 2026-02-16T08:00:00Z."))
    count = wire.whole(entry.get("triggerCount", 0))
    if type(count) is not int or not 0 <= count <= MAX_COUNT:
        problems.append(_("triggerCount must be a whole number of at least 0."))
    return problems


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and isinstance(wire.instant(value), datetime)
    except ValueError:
        return False
