"""Time the search among many responses: words rare and common, Chinese, filters, later pages.

    .venv/bin/python scripts/search_times.py [--responses N] [--postgresql] [--repeat N]

On a SQLite database of its own, with `--postgresql` on a server of its own (tests/run.py) or the empty one that
METACOG_TEST_DATABASE_URL names. Rows go into the tables directly. Texts are invented, of 30 to 90 words drawn as often
as words of real texts are (Zipf), half of them followed by 20 to 60 Chinese characters drawn the same way. Times are of
`search`, with what it reads to show a page and without its HTML.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
AGENTS, BATCH = 20, 2_000
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def texts(count: int, chance: random.Random) -> Iterator[str]:
    """Invent texts; some words stand in them as often as their names say."""
    words = [f"w{number}x" for number in range(30_000)]
    signs = [chr(0x4E00 + number) for number in range(3_000)]
    by_word = list(accumulate(1 / (10 + rank) for rank in range(len(words))))
    by_sign = list(accumulate(1 / (10 + rank) for rank in range(len(signs))))
    for number in range(count):
        text = ["everywhere", *chance.choices(words, cum_weights=by_word, k=chance.randint(30, 90))]
        if number % 2:
            text.append("".join(chance.choices(signs, cum_weights=by_sign, k=chance.randint(20, 60))))
            text.append("付款閘道".translate({0x9598: 0x95F8}))  # as it is folded
        if number < count // 2:
            text.append("bygone")
        for name, share in (("seldom", 100_000), ("sometimes", 1_000), ("often", 20)):
            text += [name] if number % share == share // 2 else []
        text += ["退款單號"] if number % 50_000 == 7 else []
        yield " ".join(text)


def fill(count: int) -> Any:
    """Write documents and the responses they are of; return the team."""
    from django.db import connection, transaction

    from metacog.accounts.agents import create_agent
    from metacog.models import Team
    from reviews.models import AgentResponse
    from reviews.search import index, triggers
    from reviews.search.folded import Folded

    team = Team.objects.create(name="Timed")
    agents = [create_agent(team, f"timed-{number}", None)[0].pk for number in range(AGENTS)]
    step = timedelta(days=300) / count
    chance = random.Random(1)
    triggers.drop(connection)
    columns = index._COLUMNS if connection.vendor == "sqlite" else f"words, {index._COLUMNS}"
    words_here = "" if connection.vendor == "sqlite" else "array_to_tsvector(%s::text[]), "
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX {index._WORDS}")
    batch: list[index.Document] = []

    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            words = [index._words(document.row) for document in batch]
            if connection.vendor == "sqlite":
                cursor.executemany(
                    f"INSERT INTO {index._WORDS} (rowid, words) VALUES (%s, %s)",
                    [(document.key, " ".join(cut)) for document, cut in zip(batch, words, strict=True)],
                )
                rows = [(*document.row, document.key) for document in batch]
            else:
                rows = [(cut, *document.row, document.key) for document, cut in zip(batch, words, strict=True)]
            cursor.executemany(
                f"INSERT INTO {index._DOCUMENT} ({columns}, id) VALUES ({words_here}{'%s, ' * 8}%s)", rows
            )
        batch.clear()

    for number, text in enumerate(texts(count, chance)):
        labels = [f"meta:run=r{number // 40}", *(["tool:deploy"] if number % 500 == 3 else [])]
        batch.append(
            index.Document(
                kind="resp",
                row_id=number + 1,
                at=BEGAN + number * step,
                team=team.pk,
                agent=chance.choice(agents) if number % 1_000 else agents[0],
                session=f"s{number // 10}",
                state="",
                labels=index.labelled(labels),
                text=Folded(text).text,
            )
        )
        if len(batch) == BATCH:
            write()
    if batch:
        write()
    fields = [str(field.column) for field in AgentResponse._meta.concrete_fields if field.column != "id"]
    blank = AgentResponse(received_at=BEGAN, verdict=json.dumps({"items": []}), policy_version=1, patterns_version=1)
    given = {
        "public_id": "'resp_' || d.row_id",
        "agent_id": "d.agent_id",
        "session": "d.session",
        "body": "json_object('response', d.text)"
        if connection.vendor == "sqlite"
        else "json_build_object('response', d.text)::text",
    }
    made = [given.get(name, "%s") for name in fields]
    values = [getattr(blank, name) for name in fields if name not in given]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO reviews_agentresponse (id, {', '.join(fields)}) SELECT d.row_id, {', '.join(made)} "
            f"FROM {index._DOCUMENT} d",
            values,
        )
        if connection.vendor == "postgresql":
            cursor.execute("SET maintenance_work_mem = '512MB'")
            cursor.execute(
                f"CREATE INDEX {index._WORDS} ON {index._DOCUMENT} USING gin (words) WITH (fastupdate = off)"
            )
        cursor.execute("ANALYZE")
    return team


def main(count: int, repeat: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from metacog.models import Agent, Team
    from reviews.search.search import Filters, search

    call_command("migrate", verbosity=0)
    begun = time.monotonic()
    team = fill(count)
    print(
        f"{connection.vendor}, {count:,} responses, written in {time.monotonic() - begun:.0f} s; median of {repeat}:\n"
    )
    teams, agent = Team.objects.filter(pk=team.pk), Agent.objects.order_by("pk")[3]
    middle = BEGAN + timedelta(days=150)

    def asked(query: str = "", **filters: Any) -> Filters:
        return Filters(query=query, kind="responses", **filters)

    def deep(filters: Filters, pages: int) -> Filters:
        from dataclasses import replace

        for _ in range(pages):
            [group] = search(teams, filters)
            filters = replace(filters, before=group.more)
        return filters

    cases: list[tuple[str, Filters]] = [
        ("all kinds, a word in 10 texts", Filters(query="seldom")),
        ("all kinds, a word in each", Filters(query="everywhere")),
        ("a word in 10 texts", asked("seldom")),
        ("a word in 1,000", asked("sometimes")),
        ("a word in one of 20", asked("often")),
        ("a word in each", asked("everywhere")),
        ("a word in the older half only", asked("bygone")),
        ("a word in none", asked("nowhere")),
        ("a beginning that many words have", asked("w12")),
        ("two words, each in some thousands, together in few", asked("w700x w800x")),
        ("Chinese, two characters in 20 texts", asked("退款")),
        ("Chinese, four in half of the texts", asked("付款闸道")),
        ("Chinese, one character", asked("单")),
        ("a word in each, of one agent", asked("everywhere", agent=agent)),
        ("a word in 1,000, of one agent", asked("sometimes", agent=agent)),
        ("a session", asked(session="s777")),
        ("a word in each, a session", asked("everywhere", session="s777")),
        ("a tool that 2,000 have", asked(tool="deploy")),
        ("metadata that 40 have", asked(metadata=("run=r77",))),
        ("a word in one of 20, older than half", asked("often", until=middle)),
        ("a word in each, its page 40", deep(asked("everywhere"), 39)),
        ("a word in 1,000, its page 20", deep(asked("sometimes"), 19)),
        ("signs, which no index has", asked("=>")),
    ]
    print("| | found | ms | slowest |\n|---|---|---|---|")
    for name, filters in cases:
        times = []
        for _ in range(repeat):
            at = time.perf_counter()
            groups = search(teams, filters)
            times.append(1000 * (time.perf_counter() - at))
        found = sum(len(group.hits) for group in groups)
        cut = ", cut" if any(group.cut_at for group in groups) else ""
        print(f"| {name} | {found}{cut} | {median(times):.0f} | {max(times):.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--postgresql", action="store_true")
    options = parser.parse_args()
    from tests.databases import running

    with tempfile.TemporaryDirectory() as folder, running() if options.postgresql else nullcontext("") as url:
        os.environ |= {
            **{"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "METACOG_DATABASE_URL": url},
            "DJANGO_SETTINGS_MODULE": "metacog.settings",
        }
        main(options.responses, options.repeat)
