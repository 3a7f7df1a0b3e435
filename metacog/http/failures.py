"""How often this machine had to answer that it failed.

In a file of the data folder, for all its processes: the time to count is just when the database is away.
"""

from __future__ import annotations

import fcntl
import json
import logging
from typing import IO

from django.conf import settings

STATUSES = (500, 503)  # what is ours to answer with; both begin at 0

log = logging.getLogger("metacog")


def count(status: int) -> None:
    """Count one answer; never raises. What was counted is lost if the process is killed as it writes."""
    try:
        with open(settings.DATA_DIR / "failures.json", "a+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            counts = _read(file)
            counts[status] = counts.get(status, 0) + 1
            file.truncate(0)
            json.dump(counts, file)
    except OSError as error:  # a full disk
        log.error("An answer of %s could not be counted: %s", status, error)


def counted() -> dict[int, int]:
    """Return how many answers there were of each status since the data folder was made."""
    try:
        with open(settings.DATA_DIR / "failures.json", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return _read(file)
    except OSError:
        return dict.fromkeys(STATUSES, 0)


def _read(file: IO[str]) -> dict[int, int]:
    file.seek(0)
    try:
        kept = json.load(file)
    except ValueError:  # new, or cut off
        kept = {}
    return dict.fromkeys(STATUSES, 0) | {int(status): times for status, times in kept.items()}
