"""CPU of pages as a part of what release 1.0.0 takes: each in turns, by its own code, on data made by its own code.

    .venv/bin/python scripts/page_ratio.py [--turns N] [PAGE …]

The release is checked out from this repository into a folder that is deleted again; both run with these packages.
A figure is the least of the turns' medians, as what else runs on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = "71882198"  # 1.0.0, as its first commit was
PAGES = ("queue", "item", "item, swapped in", "audit log", "preferences", "policy")
SMALL = ("--responses=1000", "--held=600", "--pending=450", "--agents=1", "--days=20")


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="metacog-release-") as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def output_of(code: Path, data: str, script: str, *arguments: str) -> str:
    """Return what a script of some code prints about a data folder."""
    environment = {**os.environ, "METACOG_DATA_DIR": data, "METACOG_DOTENV": ""}
    command = [sys.executable, f"scripts/{script}.py", *arguments]
    return subprocess.run(command, cwd=code, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", default=PAGES)
    parser.add_argument("--turns", type=int, default=6)
    options = parser.parse_args()
    taken: dict[tuple[Path, str], list[float]] = defaultdict(list)
    with checkout(RELEASE) as before, tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
        sides = ((before, old), (ROOT, new))
        for code, data in sides:
            output_of(code, data, "large_database", *SMALL)
        for _ in range(options.turns):
            for code, data in sides:
                lines = output_of(code, data, "page_cost", "--repeat=15", *options.pages)
                for page in options.pages:
                    (cpu,) = re.findall(rf"^{page}   .* ([\d.]+)$", lines, re.MULTILINE)
                    taken[code, page].append(float(cpu))
    print("| page | release 1.0.0, CPU ms | now | ratio |\n|---|---|---|---|")
    for page in options.pages:
        was, now = (min(taken[code, page]) for code in (before, ROOT))
        print(f"| {page} | {was:.1f} | {now:.1f} | {now / was:.2f} |")


if __name__ == "__main__":
    main()
