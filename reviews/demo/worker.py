"""`python -m reviews.demo.worker MODULE …`: runs it once the history is invented, which has its own sweeps.

Meanwhile it shows that it is there: nobody needs to start it.
"""

from __future__ import annotations

import runpy
import sys
import time

import django
from django.db import connection

from reviews.demo.fill import is_unfinished

BEAT_SECONDS = 10.0


def wait() -> None:
    """Wait until the history is whole."""
    from reviews.tasks import heartbeat

    beats_at = time.monotonic()
    while is_unfinished():
        if time.monotonic() >= beats_at:
            heartbeat()
            beats_at = time.monotonic() + BEAT_SECONDS
        time.sleep(0.5)


if __name__ == "__main__":
    django.setup()
    wait()
    connection.close()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
