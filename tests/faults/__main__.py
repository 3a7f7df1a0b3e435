"""`make faults`: play each fault for real, say what was killed and counted, and end in a table.

Everything runs on 127.0.0.1, on free ports and in temporary folders. Arguments choose faults by their names.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.faults import away, clock, killed, several, slow, synced, waiting
from tests.faults.servers import Missing

FAULTS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "killed": ("SQLite", killed.on_sqlite),
    "killed-postgresql": ("PostgreSQL, Redis", killed.on_postgresql),
    "broker-file-held": ("SQLite", away.broker_file),
    "redis-away": ("PostgreSQL, Redis", away.redis),
    "rabbitmq-away": ("PostgreSQL, RabbitMQ", away.rabbitmq),
    "disk-full": ("SQLite", away.disk),
    "database-away": ("PostgreSQL, Redis", away.database),
    "two-redis": ("PostgreSQL, Redis", several.with_redis),
    "two-rabbitmq": ("PostgreSQL, RabbitMQ", several.with_rabbitmq),
    "clock-set": ("SQLite", clock.on_sqlite),
    "synced": ("SQLite", synced.on_sqlite),
    "slow-clients": ("SQLite", slow.on_sqlite),
    "waiting": ("SQLite", waiting.on_sqlite),
    "waiting-postgresql": ("PostgreSQL", waiting.on_postgresql),
}


def play(fault: Callable[[Path], str]) -> tuple[str, str]:
    """Play one fault in a folder of its own; return how it ended and what was counted."""
    with tempfile.TemporaryDirectory(prefix="metacog-faults-", ignore_cleanup_errors=True) as folder:
        try:
            return "passed", fault(Path(folder))
        except Missing as missing:
            return "skipped", str(missing)
        except Exception as error:  # whatever fails is one fault that failed
            traceback.print_exc()
            for log in Path(folder).glob("*.log"):
                print(f"--- {log.name}", *log.read_text().splitlines()[-30:], sep="\n", flush=True)
            return "failed", str(error)


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in FAULTS]:
        sys.exit(f"There is no fault {', '.join(unknown)}; there are {', '.join(FAULTS)}.")
    table = []
    for name in names or FAULTS:
        tier, fault = FAULTS[name]
        print(f"{name} ({tier})", flush=True)
        began = time.monotonic()
        ended, counted = play(fault)
        print(f"  {ended}: {counted}", flush=True)
        table.append((name, tier, ended, f"{time.monotonic() - began:.0f} s", counted))
    print("\n| fault | on | ended | took | counted |\n|---|---|---|---|---|")
    for row in table:
        print(f"| {' | '.join(row)} |")
    counts = {word: sum(row[2] == word for row in table) for word in ("passed", "failed", "skipped")}
    print("\n" + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # no server may stay
    sys.exit(main(sys.argv[1:]))
