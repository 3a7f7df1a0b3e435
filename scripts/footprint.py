"""Measure what an idle installation takes: the memory and CPU of each of its processes over a minute.

    .venv/bin/python scripts/footprint.py                   # of a new one, in a temporary folder
    .venv/bin/python scripts/footprint.py --pid PID         # of the `manage.py up` with this process id

PSS counts what processes share once, RSS in each; Linux alone tells PSS. A new installation is started twice, on an
empty folder and on what is there then, and left alone first: it is idle once its sweeps have found nothing to do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
MB = 1024 * 1024


@contextmanager
def started(data: str, port: int, where: str) -> Iterator[psutil.Process]:
    given = {**os.environ, "METACOG_DATA_DIR": data, "METACOG_DOTENV": ""}
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(port)]
    began = time.monotonic()
    up = subprocess.Popen(command, env=given, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert up.stdout
        for line in up.stdout:
            if "is ready" in line:
                break
        print(f"Ready {time.monotonic() - began:.1f} s after the start, {where}.", flush=True)
        yield psutil.Process(up.pid)
    finally:
        up.terminate()
        up.wait()


def name(process: psutil.Process) -> str:
    """Return what a process is, by its command line."""
    words = process.cmdline()
    if "--plan" in words:
        return "supervisor"
    if "celery" in words:
        parent = process.parent()
        return "process of the worker" if parent and "celery" in parent.cmdline() else "worker and beat"
    return "web" if "metacog.web" in words else " ".join(words[-2:])


def measure(up: psutil.Process, seconds: float) -> None:
    processes = [up, *up.children(recursive=True)]
    before = [sum(process.cpu_times()[:2]) for process in processes]
    time.sleep(seconds)
    table: list[tuple[float, float, float, str]] = []
    for process, cpu in zip(processes, before, strict=True):
        memory = process.memory_full_info()
        share = (sum(process.cpu_times()[:2]) - cpu) / seconds
        table.append((getattr(memory, "pss", memory.uss) / MB, memory.rss / MB, 100 * share, name(process)))
    pss, rss, share = (sum(column) for column in list(zip(*table, strict=True))[:3])
    table.append((pss, rss, share, f"{len(table)} processes"))
    print("| process | PSS, MB | RSS, MB | CPU, % of a core |\n|---|---|---|---|")
    for pss, rss, share, what in table:
        print(f"| {what} | {pss:.0f} | {rss:.0f} | {share:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pid", type=int, help="of a running `manage.py up`")
    parser.add_argument("--port", type=int, default=8377, help="for a new one (%(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="how long CPU is counted (%(default)g)")
    parser.add_argument("--settle", type=float, default=60, help="how long a new one is left alone first (%(default)g)")
    asked = parser.parse_args()
    if asked.pid:
        measure(psutil.Process(asked.pid), asked.seconds)
    else:
        with tempfile.TemporaryDirectory(prefix="metacog-footprint-", ignore_cleanup_errors=True) as data:
            with started(f"{data}/data", asked.port, "on an empty folder"):
                pass
            with started(f"{data}/data", asked.port, "with the database there") as up:
                time.sleep(asked.settle)
                measure(up, asked.seconds)


if __name__ == "__main__":
    main()
