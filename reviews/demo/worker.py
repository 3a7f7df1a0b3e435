"""`python -m reviews.demo.worker MODULE …`: runs it once the history is invented, which has its own sweeps."""

from __future__ import annotations

import runpy
import sys
import time

from reviews.demo.fill import is_unfinished

if __name__ == "__main__":
    while is_unfinished():
        time.sleep(0.5)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
