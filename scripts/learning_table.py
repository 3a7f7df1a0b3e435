"""How well an order of risk is learned from decisions, on corpora of real texts with known outcomes.

    python scripts/learning_table.py FOLDER [--draws 4] [--sets aacr,…] [--jsonl]

Of each corpus in FOLDER (JSON Lines: `conversation_id`, `turn`, `user_message`, `response`, `outcome`, `tool_calls`,
`metadata`) an outcome of 0 is a rejection. Decisions come run after run in an order drawn time and again; a run or
question is judged as a whole. Prints, for 500 and 1,000 decisions, the means over the draws of the AUC on the tenths
that judge, beside that of the best rival; the share of rejections in the tenth most at risk; the expected calibration
error on what was not drawn; in how many draws percentages are shown; and what the gate said. Then what it says of 500
decisions when the labels are made up (`LABELS`), and last the AUC from up to 1,000 decisions on runs and questions that
these do not touch, and what each group of features adds to it: the corpus is dealt to so many parts, ten at most, that
1,000 are left to learn from, and each part is judged by itself.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from metacog.heuristics.decided import Reader  # noqa: E402
from metacog.heuristics.ranking.around import METADATA  # noqa: E402
from metacog.heuristics.ranking.features import Seen  # noqa: E402
from metacog.heuristics.ranking.learning import Decided, Learned, cases_of, learn  # noqa: E402
from metacog.heuristics.ranking.model import Model  # noqa: E402
from metacog.heuristics.stats.gate import CHANCE, Judged, auc, judge, sessions_of  # noqa: E402

CORPORA = ("aacr", "refchecker", "halueval_general", "halluqa_zh", "tau_retail", "tau_airline", "swebench_gemini3")
SIZES = (500, 1_000)
ENOUGH = SIZES[-1]  # decisions of which the AUC on all others is told
Row = Mapping[str, Any]
AGENTS = 3


class Drawn(NamedTuple):
    """A decision that is to be labelled: its row, the how manieth of all it is, and a source of chance."""

    row: Row
    at: int
    of: int
    draw: random.Random

    @property
    def is_wrong(self) -> bool:
        return bool(self.row["outcome"] == 0)


LABELS: Mapping[str, Callable[[Drawn], bool]] = {
    "real": lambda each: each.is_wrong,
    "by lot": lambda each: each.draw.random() < 0.19,
    "by length": lambda each: each.draw.random() < min(0.9, len(each.row["response"]) / 1_500),
    "by agent": lambda each: each.draw.random() < (0.45 if each.at % AGENTS == 0 else 0.1),
    "by drift": lambda each: each.draw.random() < 0.05 + 0.5 * each.at / each.of,
    "turned round": lambda each: each.is_wrong ^ (each.at > each.of / 2),
    "contradictory": lambda each: each.is_wrong ^ (each.draw.random() < 0.5),
    "2 % rejected": lambda each: each.draw.random() < 0.02,
}
GROUPS: Mapping[str, Callable[[str], bool]] = {
    "metadata": lambda name: name.startswith(METADATA),
    "around": lambda name: name.startswith(("beside:", "errors", "command", "tests", "second-look", "cycle", "hour:")),
    "context": lambda name: name.startswith(("missing:", "retrieval")),
    "tool": lambda name: name.startswith(("tool:", "argument:", "effect:", "object:")),
    "signals": lambda name: name.startswith(("signal:", "flag:", "score", "quality", "confidence:", "stuck")),
    "length, turns": lambda name: name.startswith(("length", "turns", "question-length")),
}


def belongs(row: Row) -> tuple[str, ...]:
    """Name the run of a row and what it was asked: the task, the question."""
    run = row["conversation_id"]
    task = re.search(r"task\d+", run)
    question = task[0] if task else str(row["user_message"]) if row.get("turn", 0) == 0 else ""
    return (f"run:{run}", f"question:{question}") if question else (f"run:{run}",)


def rows_of(path: Path) -> list[Row]:
    lines = (json.loads(line) for line in path.read_text().splitlines())
    return [row for row in lines if row.get("outcome") is not None]


def body_of(row: Row) -> dict[str, Any]:
    """Return a row as it would be posted; what a source cut short in arguments is left out."""
    items = []
    for call in row.get("tool_calls") or ():
        try:
            arguments = json.loads(call["arguments"])
        except ValueError:
            arguments = {}
        items.append({"kind": "tool_call", "name": call["name"], "arguments": arguments})
    body = {"response": row["response"], "user_message": row["user_message"], "session": row["conversation_id"]}
    if items:
        body["items"] = items
    if row.get("metadata"):
        body["metadata"] = row["metadata"]
    if row.get("tool_errors"):
        body["errors"] = [str(error)[:200] for error in row["tool_errors"]]
    if row.get("command"):
        body["command"] = row["command"]
    if row.get("prev_role") == "tool":
        body["command_output"] = row["user_message"]
    return body


class Texts:
    """Rows with what a ranker sees of them, read once; those of one turn in an order of no meaning."""

    def __init__(self, rows: Sequence[Row]) -> None:
        shuffled = random.Random(5).sample(rows, len(rows))
        self.rows = sorted(shuffled, key=lambda row: (row["conversation_id"], row.get("turn", 0)))
        reader = Reader()
        self.seen = [reader.read(body_of(row)).seen for row in self.rows]
        self.belongs = [belongs(row) for row in self.rows]

    def drawn(self, size: int, seed: int) -> tuple[list[int], random.Random]:
        """Draw rows, task after task."""
        draw, by_task = random.Random(seed), defaultdict(list)
        for number, names in enumerate(self.belongs):
            by_task[names[-1] if len(names) > 1 else names[0]].append(number)
        tasks = sorted(by_task)
        draw.shuffle(tasks)
        ordered = [number for task in tasks for number in by_task[task]]
        kept = set(draw.sample(ordered, min(size, len(ordered))))
        return [number for number in ordered if number in kept], draw

    def decided(self, numbers: Sequence[int], label: str, draw: random.Random) -> list[Decided]:
        found = []
        for at, number in enumerate(numbers):
            seen = self.seen[number]
            if label == "by agent":
                seen = seen._replace(facts={**seen.facts, f"agent:{at % AGENTS}": 1.0})
            rejected = LABELS[label](Drawn(self.rows[number], at, len(numbers), draw))
            found.append(Decided(seen, rejected, float(at), self.belongs[number], key=str(number)))
        return found

    def others(self, numbers: Sequence[int]) -> list[int]:
        """Return the rows whose run and question nothing of these shares."""
        sessions = sessions_of(self.belongs)
        known = {sessions[number] for number in numbers}
        return [number for number, session in enumerate(sessions) if session not in known]


def measured(texts: Texts, size: int, label: str, draws: int) -> dict[str, Any]:
    found, errors, count = list[Learned](), [], 0
    for seed in range(draws):
        numbers, draw = texts.drawn(size, seed)
        learned = learn(texts.decided(numbers, label, draw))
        found.append(learned)
        count = learned.decisions
        others = texts.others(numbers) if label == "real" else []
        if len(others) >= 200 and learned.model.kind == "learned":
            judges = [Judged(at, texts.rows[number]["outcome"] == 0, 1.0, 0) for at, number in enumerate(others)]
            risks = [learned.model.risk(texts.seen[number]) for number in others]
            errors.append(judge(judges, risks, {}).calibration_error)
    gates = [each.gate for each in found if each.gate]
    rivals = [max(rival.auc for name, rival in gate.against.items() if name != CHANCE) for gate in gates]
    said = Counter(each.order or each.why_not for each in found)
    return {
        "n": count,
        "auc": mean([gate.auc for gate in gates]),
        "rival": mean(rivals),
        "tenth": mean([gate.caught_at(0.1)[0] for gate in gates]),
        "ece": mean(errors),
        "percent": sum(each.order == "learned" and each.gate is not None and each.gate.is_calibrated for each in found),
        "gate": ", ".join(f"{what} {count}×" if count < draws else what for what, count in said.most_common()),
    }


def mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None


def added(texts: Texts) -> dict[str, float]:
    """Return the AUC on parts that nothing was learned of, and how much less it is without each group of features."""
    found: dict[str, list[float]] = defaultdict(list)
    for seed in range(2):
        part_of = dealt(texts, seed)
        groups = {"all": lambda _: False, **GROUPS}
        risks: dict[str, list[float]] = {group: [] for group in groups}
        judges: list[Judged] = []
        for part in sorted(set(part_of)):
            draw = random.Random(seed)
            teaching = [at for at, each in enumerate(part_of) if each != part]
            judging = [at for at, each in enumerate(part_of) if each == part][:1_500]
            decided = texts.decided(draw.sample(teaching, min(ENOUGH, len(teaching))), "real", draw)
            judges += [Judged(0, texts.rows[number]["outcome"] == 0, tenth=part) for number in judging]
            for group, is_in in groups.items():
                model = Model.learn(cases_of([replace(each, seen=without(each.seen, is_in)) for each in decided]))
                risks[group] += [model.risk(without(texts.seen[number], is_in)) for number in judging]
        for group in groups:
            found[group].append(auc(judges, risks[group]))
    means = {group: sum(values) / len(values) for group, values in found.items()}
    return {group: round(value if group == "all" else means["all"] - value, 3) for group, value in means.items()}


def dealt(texts: Texts, seed: int) -> list[int]:
    """Deal whole runs and questions to so many parts that `ENOUGH` are left without one of them; at most ten."""
    sessions, size = sessions_of(texts.belongs), len(texts.rows)
    parts = min(10, math.ceil(size / (size - ENOUGH))) if size > ENOUGH else 10
    shuffled = sorted(set(sessions))
    random.Random(seed).shuffle(shuffled)
    part = {session: at % parts for at, session in enumerate(shuffled)}
    return [part[session] for session in sessions]


def without(seen: Seen, is_in: Callable[[str], bool]) -> Seen:
    return seen._replace(facts={name: value for name, value in seen.facts.items() if not is_in(name)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--sets", default=",".join(CORPORA))
    parser.add_argument("--jsonl", action="store_true", help="a JSON object a row")
    options = parser.parse_args()
    for name in options.sets.split(","):
        texts = Texts(rows_of(options.folder / f"{name}.dev.jsonl"))
        tried = [("real", size) for size in SIZES] + [(label, SIZES[0]) for label in LABELS if label != "real"]
        for label, size in tried:
            row = {"corpus": name, "labels": label, **measured(texts, size, label, options.draws)}
            print(json.dumps(row) if options.jsonl else in_words(row, options.draws), flush=True)
        adds = added(texts)
        said = ", ".join(f"{group} {value:+.3f}" for group, value in adds.items() if group != "all")
        print(
            json.dumps({"corpus": name, "adds": adds}) if options.jsonl else f"| {name} | {adds['all']:.3f} | {said} |"
        )


def in_words(row: Mapping[str, Any], draws: int) -> str:
    figures = ["–" if row[name] is None else f"{row[name]:.3f}" for name in ("auc", "rival", "tenth", "ece")]
    columns = [row["corpus"], row["labels"], f"{row['n']:,}", *figures, f"{row['percent']} of {draws}", row["gate"]]
    return f"| {' | '.join(columns)} |"


if __name__ == "__main__":
    main()
