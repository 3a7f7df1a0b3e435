"""How well an order of risk is learned from decisions, on corpora of real texts with known outcomes.

    python scripts/learning_table.py FOLDER [--jsonl]

Of each corpus in FOLDER (JSON Lines: `conversation_id`, `turn`, `user_message`, `response`, `outcome`, `tool_calls`)
an outcome of 0 is a rejection. Decisions come run after run in an order drawn three times; no run or question stands on
both sides of the split. Prints, for 200, 500, 1,000 and all decisions, the means over the draws: AUC beside length's,
the share of rejections in the tenth most at risk, the expected calibration error, and how often the gate let it pass.
Then what the gate says when the labels are made up: by chance, by length alone, by run, and by one signal (`no-source`,
rejected six times as often where it fires), which the score knows of. Last what it says of weights fitted to the same.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from metacog.heuristics.decided import Reader  # noqa: E402
from metacog.heuristics.hesitation import weight_fit  # noqa: E402
from metacog.heuristics.policy.policy import Policy  # noqa: E402
from metacog.heuristics.ranking.features import Seen  # noqa: E402
from metacog.heuristics.ranking.learning import Decided, learn  # noqa: E402

CORPORA = ("halueval_general", "halluqa_zh", "tau_airline", "tau_retail", "swebench_gemini3")
SIZES = (200, 500, 1_000, 0)  # 0: all
DRAWS = 3
Row = Mapping[str, Any]
Label = Callable[[Row, Seen, random.Random], bool]


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
    return body | ({"items": items} if items else {})


class Texts:
    """Rows with what a ranker and a fitter see of them, read once."""

    def __init__(self, rows: Sequence[Row]) -> None:
        reader = Reader()
        self.rows = sorted(rows, key=lambda row: (row["conversation_id"], row.get("turn", 0)))
        self.seen = [reader.read(body_of(row)).seen for row in self.rows]
        self.belongs = [belongs(row) for row in self.rows]

    def decided(self, size: int, seed: int, label: Label) -> Iterator[tuple[int, Decided]]:
        """Give the numbers of drawn rows, with what would have been decided about them, run after run."""
        draw = random.Random(seed)
        by_task = defaultdict(list)
        for number, names in enumerate(self.belongs):
            by_task[names[-1] if len(names) > 1 else names[0]].append(number)
        tasks = sorted(by_task)
        draw.shuffle(tasks)
        ordered = [number for task in tasks for number in by_task[task]]
        kept = set(draw.sample(ordered, size)) if 0 < size < len(ordered) else set(ordered)
        for at, number in enumerate(ordered):
            rejected = label(self.rows[number], self.seen[number], draw)
            if number in kept:
                yield number, Decided(self.seen[number], rejected, float(at), self.belongs[number], key=str(number))


def real(row: Row, seen: Seen, draw: random.Random) -> bool:
    return bool(row["outcome"] == 0)


def noise(row: Row, seen: Seen, draw: random.Random) -> bool:
    return draw.random() < 0.3


def by_length(row: Row, seen: Seen, draw: random.Random) -> bool:
    return draw.random() < min(0.9, len(row["response"]) / 1_000)


def by_run(row: Row, seen: Seen, draw: random.Random) -> bool:
    return random.Random(row["conversation_id"]).random() < 0.3


def by_signal(row: Row, seen: Seen, draw: random.Random) -> bool:
    return draw.random() < (0.6 if "signal:no-source" in seen.facts else 0.1)


def fitted(found: Sequence[tuple[int, Decided]], texts: Texts) -> weight_fit.Fit:
    """Fit weights to the same decisions."""
    cases = [
        weight_fit.Case(
            each.at,
            frozenset(name.partition(":")[2] for name in each.seen.facts if name.startswith("signal:")),
            each.rejected,
            was_held=True,
            length=len(texts.rows[number]["response"]),
            turns=texts.rows[number].get("turn", 0),
            belongs=each.belongs,
        )
        for number, each in found
    ]
    counts: dict[frozenset[str], int] = defaultdict(int)
    for case in cases:
        counts[case.signals] += 1
    return weight_fit.fit(cases, Policy.from_dict({"profile": "aware"}), counts)


def measured(texts: Texts, size: int, label: Label) -> dict[str, Any]:
    aucs, lengths, tenths, errors, orders, counts, weights = [], [], [], [], [], [], []
    for seed in range(DRAWS):
        found = list(texts.decided(size, seed, label))
        learned = learn(each for _, each in found)
        orders.append(learned.order or learned.why_not)
        weights.append(fitted(found, texts).why_not or "offered")
        counts.append(learned.decisions)
        if gate := learned.gate:
            aucs.append(gate.auc)
            lengths.append(gate.against["length"].auc)
            tenths.append(gate.caught_at(0.1)[0])
            errors.append(gate.calibration_error)

    def mean(values: Sequence[float]) -> float | None:
        return round(sum(values) / len(values), 3) if values else None

    return {
        "n": counts[0], "auc": mean(aucs), "length": mean(lengths), "tenth": mean(tenths), "ece": mean(errors),
        "gate": orders, "weights": weights,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jsonl", action="store_true", help="a JSON object a row")
    options = parser.parse_args()
    if not options.jsonl:
        print(f"{'corpus':<18}{'labels':<8}{'n':>6}{'AUC':>7}{'length':>8}{'top 10%':>9}{'ECE':>7}  order · weights")
    for name in CORPORA:
        texts = Texts(rows_of(options.folder / f"{name}.dev.jsonl"))
        tried: list[tuple[str, int, Label]] = [("real", size, real) for size in SIZES]
        tried += [("noise", 0, noise), ("length", 0, by_length), ("run", 0, by_run), ("signal", 0, by_signal)]
        for labels, size, label in tried:
            row = {"corpus": name, "labels": labels, **measured(texts, size, label)}
            print(json.dumps(row) if options.jsonl else in_words(row), flush=True)


def in_words(row: Mapping[str, Any]) -> str:
    def column(value: float | None, width: int) -> str:
        return f"{'–' if value is None else format(value, '.3f'):>{width}}"

    figures = column(row["auc"], 7) + column(row["length"], 8) + column(row["tenth"], 9) + column(row["ece"], 7)
    said = f"{', '.join(row['gate'])} · {', '.join(row['weights'])}"
    return f"{row['corpus']:<18}{row['labels']:<8}{row['n']:>6}{figures}  {said}"


if __name__ == "__main__":
    main()
