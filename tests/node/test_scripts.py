"""The tests of those scripts that need no page run in Node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import playwright


def test_the_scripts_that_need_no_page_hold_in_node() -> None:
    node = shutil.which("node") or str(Path(playwright.__path__[0], "driver", "node"))  # which comes with Playwright
    command = [node, "--test", "--test-reporter=spec", "desk.test.mjs", "keys.test.mjs"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
