"""Make a database as large as years of use, to measure what grows with the rows.

    METACOG_DATA_DIR=/tmp/large .venv/bin/python scripts/large_database.py [--responses 1000000] [--held 30000]
                                                   [--pending 10000] [--patterns 200] [--agents 10] [--days 180]

Into a data folder without responses, or the empty database that METACOG_DATABASE_URL names. Some posts of this
project's own prose, English and Chinese, come in and are decided as real ones are, by a clock turned back so many
days; the others are copies of their rows, each with ids, times, digests and numbers in its texts of its own, written in
bulk. What a worker would have done by now is done: days counted, samples judged, events sealed. `admin` sees it all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")

TEAMS = 3
POSTS = 1_500  # that come in as real ones do, at most
AT_ONCE = 5_000  # responses of one transaction
CLAIMS = (
    "Clearly this is always the cause. ",
    "Everybody knows that it never fails. ",
    "這絕對是唯一的原因，毫無疑問。",
)
SAMPLES_A_DAY = 5
NEAR_DUPLICATES = 10  # one copy in so many is a near-duplicate of what it was copied from


class Prose:
    """Sentences of the documentation and of the translations, drawn at random."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
        english = " ".join(page.read_text() for page in pages)
        self.english = [" ".join(each.split()) for each in re.findall(r"[A-Z][a-z][^.|`#<]{30,240}\.", english)]
        chinese = (ROOT / "locale/zh_Hant/django.po").read_text()
        self.chinese = re.findall(r'msgstr "([^"%]{12,120}。)"', chinese)

    def text(self, characters: int) -> str:
        is_chinese = self._chance.random() < 0.25
        sentences, found = self.chinese if is_chinese else self.english, ""
        while len(found) < (characters // 3 if is_chinese else characters):
            found += self._chance.choice(sentences) + ("" if is_chinese else " ")
        return found


def post(number: int, is_risky: bool, prose: Prose, chance: random.Random) -> dict[str, Any]:
    """Return the body of one post; `number` and its session stand in it in a form that is found again."""
    claim = chance.choice(CLAIMS) * 2 if is_risky or chance.random() < 0.05 else ""
    told = claim + prose.text(int(chance.lognormvariate(5.4, 0.6))) + f" (ticket {number:010d})"
    items: list[dict[str, Any]] = [{"kind": "chat", "text": told}]
    if is_risky and number % 3 == 0:
        call = {"kind": "tool_call", "name": "refund", "arguments": {"eur": number % 900, "ticket": f"{number:010d}"}}
        items = [call]
    elif is_risky:
        items[0]["require_review"] = True
    elif chance.random() < 0.3:
        items.append({"kind": "action", "text": prose.text(80)})
    response = prose.text(int(chance.lognormvariate(6.0, 0.7))) + told
    body = {"id": f"post-{number:010d}", "response": response, "items": items, "session": f"run-{number // 600:07d}"}
    if chance.random() < 0.4:
        body["user_message"] = prose.text(120)
    if chance.random() < 0.5:
        body["topics"] = chance.sample(["caching", "refunds", "billing", "退款", "search", "night shift"], 2)
    return body


class Table:
    """The rows of a model as the database has them, to be copied."""

    def __init__(self, model: Any) -> None:
        from django.db import connection, models

        self.model, self.fields = model, model._meta.concrete_fields
        self.names = [field.attname for field in self.fields]
        self.times = [isinstance(field, models.DateTimeField) for field in self.fields]
        self.json = [field.get_internal_type() == "JSONField" for field in self.fields]
        self.place = {name: number for number, name in enumerate(self.names)}
        quote = connection.ops.quote_name
        columns = ", ".join(quote(field.column) for field in self.fields)
        self._read = f"SELECT {columns} FROM {quote(model._meta.db_table)}"
        self._write = (
            f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES ({', '.join(['%s'] * len(self.fields))})"
        )
        self.rows: list[tuple[Any, ...]] = []
        self.next_key = 1

    def read(self) -> list[dict[str, Any]]:
        """Return all rows there are: values as Django gives them, JSON as text."""
        rows = list(self.model.objects.order_by("pk").values(*self.names))
        self.next_key = max((row[self.model._meta.pk.attname] for row in rows), default=0) + 1
        for row in rows:
            for name, is_json in zip(self.names, self.json, strict=True):
                if is_json and row[name] is not None:
                    row[name] = json.dumps(row[name], ensure_ascii=False)
        return rows

    def copy(self, row: dict[str, Any], later: timedelta, renamed: Callable[[str], str], **changed: Any) -> int:
        """Put in a copy that is so much later; return its key, where it has one of its own."""
        key = self.next_key
        self.next_key += 1
        values = []
        for name, is_time in zip(self.names, self.times, strict=True):
            value = row[name]
            if name in changed:
                value = changed[name]
            elif name == "id":
                value = key
            elif is_time and value is not None:
                value = value + later
            elif type(value) is str:
                value = renamed(value)
            values.append(value)
        self.rows.append(tuple(values))
        return key

    def write(self, cursor: Any, prepared: Callable[[Any, Any, bool], Any]) -> None:
        """Write what was put in."""
        columns = list(zip(self.fields, self.json, strict=True))
        cursor.executemany(
            self._write,
            [
                [prepared(field, value, is_json) for (field, is_json), value in zip(columns, row, strict=True)]
                for row in self.rows
            ],
        )
        self.rows = []


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--held", type=int, default=None, help="3 of 100 responses where it is not given")
    parser.add_argument("--pending", type=int, default=None, help="a third of them")
    parser.add_argument("--patterns", type=int, default=200, help="of each team (%(default)s)")
    parser.add_argument("--agents", type=int, default=10, help="of each team (%(default)s)")
    parser.add_argument("--days", type=int, default=180, help="over which they came (%(default)s)")
    options = parser.parse_args()
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    settings.DEBUG = False
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous = OFF")
            cursor.execute("PRAGMA cache_size = -400000")
            cursor.execute("PRAGMA wal_autocheckpoint = 20000")
    held = options.responses * 3 // 100 if options.held is None else options.held
    pending = held // 3 if options.pending is None else options.pending
    fill(options.responses, held, pending, options.patterns, options.agents, options.days)


def fill(responses: int, held: int, pending: int, patterns: int, agents_each: int, days: int) -> None:
    """Make all of it in the database of the settings."""
    from metacog.models import Agent
    from reviews.demo.clock import turned_back
    from reviews.models import AgentResponse

    if AgentResponse.objects.exists():
        raise SystemExit("There are responses already; give it a folder of its own.")
    began, now, chance = time.monotonic(), datetime.now(UTC), random.Random(20_260_224)

    def tell(what: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {what}", flush=True)

    start, prose = now - timedelta(days=days), Prose(chance)
    posts = min(POSTS, max(responses // 3, 300))
    with turned_back(start - timedelta(days=1)) as clock:
        person = _people()
        for number in range(TEAMS):
            _team(number, patterns, agents_each, prose, chance, person)
        agents = list(Agent.objects.select_related("team").order_by("pk"))
        for number in range(posts):
            clock.at += timedelta(seconds=40)
            # Both sorts of each agent, so that each has something to copy.
            is_risky = number // len(agents) % 10 == 5
            _receive(agents[number % len(agents)], post(number, is_risky, prose, chance))
        tell(f"{posts:,} posts came in")
        tables = {each._meta.label.partition(".")[2]: Table(each) for each in _models()}
        before = {name: table.read() for name, table in tables.items()}
        _decide_all(person, clock, chance)
    tell("were decided")
    tell(f"{responses - posts:,} copies begin")
    _copy(tables, _graphs(before, tables), range(posts, responses), (held, pending), (start, now))
    tell("are written")
    _sample(now, person, chance)
    tell("samples picked")
    _count(now, tell)


def _models() -> Sequence[Any]:
    from metacog.models import AuditEvent
    from reviews.models import AgentResponse, Decision, HeldCall, HeldItem, Signal

    return AgentResponse, Signal, HeldItem, HeldCall, Decision, AuditEvent


def _people() -> Any:
    from metacog.models import User

    return User.objects.create_superuser("admin", "admin@example.org", None)


def _team(number: int, patterns: int, agents_each: int, prose: Prose, chance: random.Random, person: Any) -> None:
    from django.utils import timezone

    from metacog.accounts import agents, members
    from metacog.models import Policy
    from patterns.models import ErrorPattern, touch
    from patterns.patterns import lifecycle

    team = members.add_team(f"Large {number}", person)
    members.add_member(team, person.username, "owner", person)
    for each in range(agents_each):
        agents.create_agent(team, f"large-{number}-{each}", person)
    Policy.objects.filter(agent__team=team).update(rate_per_second=10_000, rate_burst=1_000_000)
    rows = [
        ErrorPattern(
            team=team,
            keywords=[" ".join(chance.choice(prose.english).split()[2:5]) + f" {each:05d}", f"keyword {each:05d}"],
            description=chance.choice(prose.english)[:200],
        )
        for each in range(patterns)
    ]
    # Some are said often.
    for row, words in zip(rows, ("for ever", "traceback", "ratio of", "night shift", "同時"), strict=False):
        row.keywords = [words]
    rows = ErrorPattern.objects.bulk_create(rows, batch_size=500)
    lifecycle.restart(rows, timezone.now())
    touch(team.pk, rows)


def _receive(agent: Any, body: dict[str, Any]) -> None:
    from reviews.intake.ingest import receive

    receive(agent, json.dumps(body, ensure_ascii=False).encode(), {})


def _decide_all(person: Any, clock: Any, chance: random.Random) -> None:
    """Let a person decide what is held, and every second look be over."""
    from reviews.held import decisions
    from reviews.models import HeldItem

    for item in HeldItem.objects.filter(state="pending").select_related("agent__team").order_by("pk"):
        verdict = chance.choices(["approve", "reject"], [3, 2])[0]
        decisions.decide(item, person, verdict, reason="Not so." if verdict == "reject" else "")
    clock.at += timedelta(hours=1)
    while decisions.settle():
        pass


class Graph:
    """One response with all rows that hang on it."""

    def __init__(self, response: dict[str, Any]) -> None:
        self.response = response
        self.number = int(json.loads(response["body"])["id"].removeprefix("post-"))
        self.signals: list[dict[str, Any]] = []
        self.held: list[tuple[dict[str, Any], dict[str, Any]]] = []  # as it was held, as it was decided
        self.calls: list[dict[str, Any]] = []
        self.decisions: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []  # of its arrival
        self.later: list[dict[str, Any]] = []


def _graphs(before: dict[str, list[dict[str, Any]]], tables: dict[str, Table]) -> tuple[list[Graph], list[Graph]]:
    """Put the rows together; return those of which something was held, and the others."""
    after = {name: table.read() for name, table in tables.items()}
    graphs = {row["id"]: Graph(row) for row in after["AgentResponse"]}
    for row in after["Signal"]:
        graphs[row["response_id"]].signals.append(row)
    decided, of_held = {row["id"]: row for row in after["HeldItem"]}, {}
    for row in before["HeldItem"]:
        of_held[row["id"]] = graph = graphs[row["response_id"]]
        graph.held.append((row, decided[row["id"]]))
    for row in after["HeldCall"]:
        of_held[row["held_id"]].calls.append(row)
    for row in after["Decision"]:
        of_held[row["held_id"]].decisions.append(row)
    named = {graph.response["public_id"]: graph for graph in graphs.values()}
    named |= {decided[key]["public_id"]: graph for key, graph in of_held.items()}
    named |= {row["public_id"]: of_held[row["held_id"]] for row in after["Decision"]}
    arrived = {row["id"] for row in before["AuditEvent"]}
    for row in after["AuditEvent"]:
        if about := named.get(row["object_id"]):
            (about.events if row["id"] in arrived else about.later).append(row)
    found = sorted(graphs.values(), key=lambda graph: graph.number)
    return [each for each in found if each.held], [each for each in found if not each.held]


def _copy(
    tables: dict[str, Table],
    graphs: tuple[list[Graph], list[Graph]],
    numbers: range,
    counts: tuple[int, int],
    span: tuple[datetime, datetime],
) -> None:
    """Copy them as often as there are numbers, evenly over the span; so many are to be held, and so many pending."""
    from django.db import connection, transaction

    from metacog.models import AgentState

    def prepared(field: Any, value: Any, is_json: bool) -> Any:
        return value if value is None or is_json else field.get_db_prep_save(value, connection)

    (some_held, passed), (held, pending), (start, end) = graphs, counts, span
    every = max(1, len(numbers) // max(1, held))
    step = (end - start) / max(1, len(numbers))
    pending_from = len(numbers) - pending * every
    copies = Copies(tables, Counter(dict(AgentState.objects.values_list("pk", "decision_seq"))))
    for first in range(0, len(numbers), AT_ONCE):
        for place in range(first, min(first + AT_ONCE, len(numbers))):
            is_held = place % every == 0
            graph = some_held[place // every % len(some_held)] if is_held else passed[place % len(passed)]
            copies.add(graph, numbers[place], start + place * step, is_pending=place >= pending_from)
        with transaction.atomic(), connection.cursor() as cursor:
            for table in tables.values():
                table.write(cursor, prepared)
    for agent, count in copies.responses.items():
        AgentState.objects.filter(pk=agent).update(responses=count, decision_seq=copies.seq[agent])
    with connection.cursor() as cursor:
        from django.core.management.color import no_style

        for sql in connection.ops.sequence_reset_sql(no_style(), [table.model for table in tables.values()]):
            cursor.execute(sql)


class Copies:
    """Copies of graphs."""

    def __init__(self, tables: dict[str, Table], seq: Counter[int]) -> None:
        self._tables, self.seq = tables, seq
        self.responses: Counter[int] = Counter()

    def add(self, graph: Graph, number: int, at: datetime, *, is_pending: bool) -> None:
        from metacog.db.fields import InPart

        response, agent = graph.response, graph.response["agent_id"]
        self.responses[agent] += 1
        later = at - response["received_at"]
        names = [f"{graph.number:010d}", f"run-{graph.number // 600:07d}"]
        new_names = [f"{number:010d}", f"run-{number // 600:07d}"]
        ids = [response["public_id"], *(row["public_id"] for row, _ in graph.held)]
        ids += [] if is_pending else [row["public_id"] for row in graph.decisions]
        pairs = [*zip(names, new_names, strict=True), *((each, _id_at(each, at, number)) for each in ids)]

        def renamed(text: str) -> str:
            if len(text) > 9:
                for old, new in pairs:
                    if old in text:
                        text = text.replace(old, new)
            return text

        body = renamed(response["body"])
        digest = hashlib.sha256(body.encode()).hexdigest()
        pairs.append((response["body_sha256"], digest))
        for row, _ in graph.held:
            pairs.append((row["sha256"], hashlib.sha256(renamed(row["text"]).encode()).hexdigest()))
        of = self._tables
        texts = InPart.together(body, renamed(response["verdict"]), renamed(response["history"]), response["excerpt"])
        packed = dict(zip(("body", "verdict", "history", "excerpt"), texts, strict=True))
        key = of["AgentResponse"].copy(response, later, renamed, **packed, body_sha256=digest)
        for signal in graph.signals:
            of["Signal"].copy(signal, later, renamed, response_id=key, is_open=is_pending and bool(graph.held))
        held = {}
        for row, decided in graph.held:
            item = row if is_pending else decided
            own: dict[str, Any] = {"expires_at": at + timedelta(days=400)} if is_pending else {}
            if number % NEAR_DUPLICATES:
                own["alike"] = number
            held[row["id"]] = of["HeldItem"].copy(item, later, renamed, response_id=key, **own)
        for call in graph.calls:
            of["HeldCall"].copy(call, later, renamed, held_id=held[call["held_id"]])
        if not is_pending:
            for decision in graph.decisions:
                self.seq[agent] += 1
                of["Decision"].copy(decision, later, renamed, held_id=held[decision["held_id"]], seq=self.seq[agent])
        for event in graph.events if is_pending else [*graph.events, *graph.later]:
            of["AuditEvent"].copy(event, later, renamed)


def _id_at(public_id: str, at: datetime, number: int) -> str:
    """Return an id of that time, another for each number."""
    from metacog.db.ids import first_id_at

    prefix, _, old = public_id.partition("_")
    return first_id_at(prefix, at) + old[10:18] + f"{number:08d}"


def _sample(now: datetime, person: Any, chance: random.Random) -> None:
    """Pick five passed responses of each agent's day; people judged all but those of the last days."""
    from reviews.models import AgentResponse, Sample, SampleCursor, SampleFigure

    stands_for = 30
    figures: dict[tuple[int, Any], SampleFigure] = {}
    picked: Counter[tuple[int, Any]] = Counter()
    rows = []
    passed = AgentResponse.objects.filter(held_items=None).order_by("pk").values_list("pk", "agent", "received_at")
    for key, agent, at in passed.iterator(chunk_size=10_000):
        day = at.date()
        if day == now.date() or picked[agent, day] == SAMPLES_A_DAY:
            continue
        picked[agent, day] += 1
        waits = day > (now - timedelta(days=10)).date()
        verdict = "" if waits else chance.choices(["fine", "missed"], [30, 1])[0]
        judged = {} if waits else {"person": person, "judged_at": at + timedelta(days=1)}
        rows.append(Sample(response_id=key, agent_id=agent, day=day, stands_for=stands_for, verdict=verdict, **judged))
        if verdict:
            figure = figures.setdefault((agent, day), SampleFigure(agent_id=agent, day=day))
            figure.checked += stands_for
            figure.squares += stands_for**2
            figure.missed += stands_for * (verdict == "missed")
    Sample.objects.bulk_create(rows, batch_size=1_000)
    SampleFigure.objects.bulk_create(figures.values(), batch_size=1_000)
    last = (now - timedelta(days=1)).date()
    SampleCursor.objects.bulk_create([SampleCursor(agent_id=agent, day=last) for agent in {a for a, _ in picked}])


def _count(now: datetime, tell: Callable[[str], None]) -> None:
    """Do what the worker does behind the writes."""
    from django.db import connection
    from django.db.models import Count, Max, Min

    from metacog.audit import chain
    from metacog.models import Agent
    from patterns.models import ErrorPattern, PatternRecord
    from reviews.metrics import daily, review_time
    from reviews.models import AgentResponse, Decision, LearningCursor, Signal

    spans = (
        AgentResponse.objects.order_by()
        .values("agent")
        .annotate(first=Min("received_at"), last=Max("received_at"), key=Max("pk"))
    )
    reached = {row["agent"]: row for row in spans}
    seqs = dict(Decision.objects.order_by().values_list("agent").annotate(Max("seq")))
    LearningCursor.objects.bulk_create(
        [
            LearningCursor(agent_id=agent, response=row["key"], decision_seq=seqs.get(agent) or 0)
            for agent, row in reached.items()
        ]
    )
    for agent in Agent.objects.filter(pk__in=reached):
        first, last = daily.day_of(reached[agent.pk]["first"]), daily.day_of(now)
        for day in daily.days_between(first, last):
            daily.recount(agent, day)
    tell("days counted")
    while review_time.count_days(now):
        pass
    fired = Signal.objects.filter(pattern__isnull=False).order_by().values_list("pattern").annotate(Count("pk"))
    for pattern, count in fired:
        PatternRecord.objects.filter(pattern=pattern).update(fired=count)
        ErrorPattern.objects.filter(pk=pattern).update(counted_triggers=count)
    tell("people's time counted")
    while chain.seal():
        pass
    tell("events sealed")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "PRAGMA optimize")
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (pages,), (size,) = (
                cursor.execute("PRAGMA page_count").fetchone(),
                cursor.execute("PRAGMA page_size").fetchone(),
            )
            count = AgentResponse.objects.count()
            tell(f"{pages * size / 1e9:.2f} GB, {pages * size / count / 1000:.2f} KB a response")


if __name__ == "__main__":
    main()
