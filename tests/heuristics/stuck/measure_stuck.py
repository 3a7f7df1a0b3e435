"""Print how many runs reach each number of points, and how many of those failed.

`python -m tests.heuristics.stuck.measure_stuck FOLDER` reads the JSON Lines files of agents' runs there.
`error_loops*.jsonl` has one run a line: {"corpus", "outcome", "errors": [{"turn", "error"}], "commands": [{"turn",
"command"}]}; the others one response a line: {"conversation_id", "turn", "response", "command" or "tool_calls",
"returncode", "tool_errors", "user_message", "outcome"}, where the message after a command is its output. Runs whose
outcome is unknown are left out.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from metacog.heuristics import check_response
from metacog.heuristics.policy.stuck_settings import SETTINGS
from metacog.heuristics.stuck.stuck import Stuck, advance

Run = tuple[str, int, list[dict[str, Any]]]  # where it is from, 1 where it succeeded, the bodies it would have posted
TAGS = re.compile(r"</?(?:returncode|output|output_head|output_tail)>")


def loops(path: Path) -> Iterator[Run]:
    for line in path.open():
        run = json.loads(line)
        errors = defaultdict(list)
        for each in run["errors"]:
            errors[each["turn"]].append(each["error"])
        commands = {each["turn"]: each["command"] for each in run["commands"]}
        bodies = []
        for turn in range(max([*errors, *commands, 0]) + 1):
            output = "\n".join(errors[turn]) if turn in errors else None
            body = {"command": commands.get(turn), "errors": errors.get(turn), "command_output": output}
            bodies.append({"response": "", **body, "command_failed": True if turn in errors else None})
        yield run["corpus"], run["outcome"], bodies


def transcripts(path: Path) -> Iterator[Run]:
    turns = defaultdict(list)
    for line in path.open():
        turn = json.loads(line)
        turns[turn["conversation_id"]].append(turn)
    for run in turns.values():
        run.sort(key=lambda turn: turn["turn"])
        bodies = []
        for turn, after in zip(run, [*run[1:], {}], strict=True):
            calls = [f"{call['name']} {call['arguments']}" for call in turn.get("tool_calls") or ()]
            output = TAGS.sub("", after["user_message"]) if after.get("prev_role") == "tool" else None
            failed = after["returncode"] != 0 if after.get("returncode") is not None else None
            errors = after.get("tool_errors") or None
            body = {"command": turn.get("command") or "\n".join(calls) or None, "command_output": output}
            bodies.append({"response": turn["response"], **body, "errors": errors, "command_failed": failed})
        yield path.name.split(".")[0], run[0]["outcome"], bodies


def assess(bodies: list[dict[str, Any]], profile: str) -> Stuck:
    state = None
    start = datetime(2026, 2, 16, 8, tzinfo=UTC)
    for minute, body in enumerate(bodies):
        now = start + timedelta(minutes=minute)
        stuck, state = advance(state, check_response(body), now=now, profile=profile, language="en")
    return stuck


def main(folder: Path) -> None:
    runs = [run for path in sorted(folder.glob("*.jsonl")) if has_steps(path) for run in of(path)]
    for profile in SETTINGS:
        by_source: dict[str, list[tuple[int, Stuck]]] = defaultdict(list)
        for source, outcome, bodies in runs:
            by_source[source].append((outcome, assess(bodies, profile)))
            by_source["all"].append(by_source[source][-1])
        print(
            f"\nprofile {profile}\n\n| runs | n | fail | "
            + " | ".join(f"from {p}" for p in (2, 3, 5, 6, 7))
            + " | signals |"
        )
        print("|---" * 9 + "|")
        for source, assessed in sorted(by_source.items()):
            cells = []
            for points in (2, 3, 5, 6, 7):
                reached = [outcome for outcome, stuck in assessed if stuck.points >= points]
                cells.append(f"{reached.count(0)} of {len(reached)}" if reached else "–")
            signals = Counter(signal.type for _, stuck in assessed for signal in stuck.signals)
            failed = sum(outcome == 0 for outcome, _ in assessed)
            said = ", ".join(f"{name} {count}" for name, count in signals.most_common())
            print(f"| {source} | {len(assessed)} | {failed / len(assessed):.0%} | {' | '.join(cells)} | {said} |")


def has_steps(path: Path) -> bool:
    with path.open() as lines:
        return any(name in json.loads(next(lines)) for name in ("command", "commands", "tool_calls"))


def of(path: Path) -> list[Run]:
    read = loops if path.name.startswith("error_loops") else transcripts
    return [run for run in read(path) if run[1] is not None]


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("Give the folder that holds the runs, as JSON Lines (*.jsonl).")
    main(Path(sys.argv[1]))
