"""Time the shared memory: how long a search and a post take where a team remembers 10,000 things.

    .venv/bin/python scripts/memory_times.py

On a SQLite database of its own, or the empty one that METACOG_DATABASE_URL names. Texts are invented, of 10 to 60 words
drawn as often as words of real texts are (Zipf, without the 100 most frequent, which are function words and count for
nothing), half of them followed by as much Chinese. CPU is this process's.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from statistics import median

MEMORIES = 9_900
TIMES = 50

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main(folder: str) -> None:
    os.environ |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "DJANGO_SETTINGS_MODULE": "metacog.settings"}
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from metacog.accounts.agents import create_agent
    from metacog.heuristics.memory import recall
    from metacog.models import Team
    from patterns.memory import memory
    from patterns.models import Memory, MemoryTerm

    call_command("migrate", verbosity=0)
    agent, _, _ = create_agent(Team.objects.create(name="Timed"), "timed", None)
    chance = random.Random(1)
    weights = list(accumulate(1 / rank for rank in range(100, 20_000)))

    def text(words: int, *, is_chinese: bool) -> str:
        drawn = chance.choices(range(100, 20_000), cum_weights=weights, k=words)
        english = " ".join(f"w{number}x" for number in drawn)
        return english + "".join(chr(0x4E00 + number) for number in drawn if is_chinese)

    rows = [
        Memory(team=agent.team, agent=agent, text=said, sha256=f"{number:064}", state="confirmed", length=size)
        for number in range(MEMORIES)
        for said in [text(chance.randint(10, 60), is_chinese=number % 2 == 0)]
        for size in [recall.counted(said).total()]
    ]
    Memory.objects.bulk_create(rows, batch_size=1_000)
    MemoryTerm.objects.bulk_create(
        (
            MemoryTerm(team=agent.team, memory=row, term=term, times=times, length=row.length)
            for row in rows
            for term, times in recall.counted(row.text).items()
        ),
        batch_size=5_000,
    )

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    def timed(what: Callable[[], object]) -> str:
        taken, cpu = [], []
        for _ in range(TIMES):
            began, used = time.perf_counter(), time.process_time()
            what()
            taken.append(1_000 * (time.perf_counter() - began))
            cpu.append(1_000 * (time.process_time() - used))
        return f"median {median(taken):.0f} ms, CPU {median(cpu):.0f} ms; longest {max(taken):.0f} ms of {TIMES}"

    def search() -> None:
        memory.search([agent.team_id], recall.asked(text(6, is_chinese=False)))

    def post() -> None:
        said = text(40, is_chinese=False)
        memory.post(agent, memory.Said(said), memory.judge(agent, said))

    print("search, 6 words:", timed(search))
    print("post, 40 words: ", timed(post))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
