"""Break what is named below in small ways, one at a time, and count what no test of it notices.

    make mutate ARGS="stats rules"
    make mutate ARGS="audit --sample 200 --seed 7"

Each subject is copied to .cache/mutate/NAME, whose `survivors.diff` has what went unnoticed. mutmut breaks what stands
in functions without a decorator, once their modules are imported. What runs into its time limit counts as noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MUTMUT = ROOT / ".cache" / "mutmut"
LOCK = ROOT / "scripts" / "requirements-mutate.txt"
FOLDERS = ("metacog", "patterns", "reviews")
NOTICED = (1, 3, 36, 24, -24, 152, 255, -9, -11)  # mutmut's codes: a test failed, or ran out of time or memory


class Subject(NamedTuple):
    """Files that are broken, and the tests that should notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    at_import: tuple[str, ...] = ()  # functions, as mutmut names them, that are called by then and no more


SUBJECTS = {
    "stats": Subject(("metacog/heuristics/stats/*",), ("tests/heuristics/stats",)),
    "rules": Subject(("metacog/heuristics/tool_calls/rules.py",), ("tests/heuristics/tool_calls/test_rules.py",)),
    "secrets": Subject(
        ("metacog/heuristics/tool_calls/secret*.py",),
        ("tests/heuristics/tool_calls/test_secrets.py", "tests/heuristics/tool_calls/test_secret_shapes.py"),
    ),
    "audit": Subject(("metacog/audit/*",), ("tests/metacog/audit",)),
    "listing": Subject(
        ("reviews/held/listing.py", "reviews/held/filters.py"),
        (
            "tests/reviews/pages/queue_list",
            "tests/reviews/pages/test_lists.py",
            "tests/reviews/pages/test_queue.py",
            "tests/reviews/pages/deciding/test_following.py",
            "tests/reviews/pages/risk/test_order.py",
        ),
        ("reviews.held.filters.x__filter", "reviews.held.filters.x__one_of"),
    ),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--sample", type=int, help="so many of a subject's mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.subjects) - SUBJECTS.keys():
        parser.error(f"no subject {', '.join(unknown)}; there are {', '.join(SUBJECTS)}")
    install()
    for name in asked.subjects or SUBJECTS:
        print(line_of(name, ran(name, asked.sample, asked.seed)), flush=True)
    return 0


def install() -> None:
    """Install mutmut beside the packages that the tests need, where nothing else finds it."""
    if MUTMUT.exists() and MUTMUT.stat().st_mtime > LOCK.stat().st_mtime:
        return
    shutil.rmtree(MUTMUT, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    what: list[Any] = ["--python", sys.executable, "--target", MUTMUT, "--require-hashes", "--requirement", LOCK]
    subprocess.run([uv, "pip", "install", "--quiet", *what], check=True)


def ran(subject: str, sample: int | None, seed: int) -> dict[str, int | None]:
    """Break a copy of the checkout, time and again; return mutmut's code for each mutant that was tried."""
    folder = ROOT / ".cache" / "mutate" / subject
    shutil.rmtree(folder, ignore_errors=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    rest = {name.partition("/")[0] for name in files} - {*FOLDERS, "tests", "pyproject.toml"}
    settings = {
        "source_paths": FOLDERS,
        "only_mutate": SUBJECTS[subject].files,
        "also_copy": sorted(rest),
        # Those that measure are left out.
        "pytest_add_cli_args": ("-p", "no:randomly", "-p", "no:cacheprovider", "-k", "not megabyte and not long_ago"),
        "timeout_multiplier": 5,
        "pytest_add_cli_args_test_selection": SUBJECTS[subject].tests,
    }
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n[tool.mutmut]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
    chosen = drawn(folder, subject, sample, seed)
    data = folder / "data"
    data.mkdir(mode=0o700)
    # A statement that is written once would be that of the unbroken code: each mutant runs in a copy of one process.
    environment = os.environ | {"PYTHONPATH": str(MUTMUT), "METACOG_DATA_DIR": str(data), "METACOG_PREPARED": "0"}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *chosen]
    with (folder / "mutmut.log").open("w") as log:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"mutmut could not finish: {log.name} says why.")
    codes: dict[str, int | None] = {}
    for result in (folder / "mutants").rglob("*.meta"):
        codes |= json.loads(result.read_text())["exit_code_by_key"]
    codes = {mutant: code for mutant, code in codes.items() if mutant in chosen}
    with (folder / "survivors.diff").open("w") as file:
        for mutant in sorted(mutant for mutant, code in codes.items() if code not in NOTICED):
            subprocess.run(
                [sys.executable, "-m", "mutmut", "show", mutant],
                cwd=folder, env=environment, stdout=file, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            file.flush()
    return codes


def drawn(folder: Path, subject: str, sample: int | None, seed: int) -> list[str]:
    """Draw some of a subject's mutants, the same ones for a seed; all without `sample`."""
    listing = (
        "import json, sys; from pathlib import Path; from mutmut.mutation.file_mutation import mutate_file_contents\n"
        "for path in sys.argv[1:]:\n"
        "    module = path.removesuffix('.py').replace('/', '.')\n"
        "    for name in mutate_file_contents(path, Path(path).read_text()).mutant_names: print(f'{module}.{name}')"
    )
    files = sorted({str(path.relative_to(folder)) for each in SUBJECTS[subject].files for path in folder.glob(each)})
    python = [path for path in files if path.endswith(".py")]
    told = subprocess.run(
        [sys.executable, "-c", listing, *python],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(MUTMUT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    at_import = SUBJECTS[subject].at_import
    names = sorted(name for name in told.stdout.split() if name.partition("__mutmut_")[0] not in at_import)
    return random.Random(seed).sample(names, min(sample or len(names), len(names)))


def line_of(name: str, codes: dict[str, int | None]) -> str:
    left = sum(code not in NOTICED for code in codes.values())
    share = left / len(codes) if codes else 0.0
    return f"{name}: {len(codes)} mutants, {left} unnoticed ({share:.1%}): .cache/mutate/{name}/survivors.diff"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
