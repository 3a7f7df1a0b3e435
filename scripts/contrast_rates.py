"""Print what patterns by contrast fire on, on questions that they were not taught by.

Reads JSON Lines of answers with an outcome (1 right, 0 wrong: rejected); the answers to one question (`user_message`,
else `conversation_id`) are one session, and `metadata` is known beside each. Half of the questions teach, the other
half judge; so a few times, with the questions dealt anew.

    python scripts/contrast_rates.py --corpus FOLDER
"""

import argparse
import json
import random
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.ranking.contrast import DecidedText, Texts, Tried, find
from metacog.heuristics.text.shadow import Shadow

FILES = ("halluqa_zh.dev.jsonl", "halueval_general.dev.jsonl", "aacr.dev.jsonl", "refchecker.dev.jsonl")


class Split(NamedTuple):
    """What was proposed from the one half, and how it did on the other."""

    taught_by: int  # texts
    phrases: list[str]
    tried: Tried


def decided(path: Path) -> list[DecidedText]:
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        DecidedText(
            row["response"],
            row["user_message"] or row["conversation_id"],
            row["outcome"] == 0,
            row["user_message"],
            {name: str(value) for name, value in row.get("metadata", {}).items()},
        )
        for row in rows
        if row["outcome"] is not None and row["response"]
    ]


def split(texts: list[DecidedText], most: int, seed: int) -> Split:
    """Deal the questions, learn from at most so many texts of the one half, and judge by all of the other."""
    dice = random.Random(seed)
    questions = sorted({each.session for each in texts})
    dice.shuffle(questions)
    taught = set(questions[: len(questions) // 2])
    ours = [each for each in texts if each.session in taught]
    dice.shuffle(ours)
    proposed = [phrase.text for phrase in find(Texts(ours[:most])).phrases]
    keywords = [Shadow(phrase).text for phrase in proposed]
    fired: list[bool] = []
    others = [each for each in texts if each.session not in taught]
    for start in range(0, len(others), 500):  # `Texts` reads no more than a team's newest
        some = others[start : start + 500]
        fired += [some[place].rejected for place in sorted(Texts(some).holding(keywords))]
    judged = Tried(len(fired), sum(fired), len(others), sum(each.rejected for each in others))
    return Split(min(most, len(ours)), proposed, judged)


def line_of(tried: Tried) -> str:
    """Say how a proposal did, its lift with the interval that the share of rejected has."""
    base = tried.base / tried.texts
    low, high = (end / base for end in tried.interval)
    rate = f"{tried.rejected} of {tried.fires} rejected, base {100 * base:.0f} %"
    return f"{rate}, lift {tried.lift:.2f} [{low:.2f}-{high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--corpus", type=Path, required=True, metavar="FOLDER", help="where the JSON Lines files are")
    parser.add_argument("--file", action="append", help=f"one of these files (default: {' '.join(FILES)})")
    parser.add_argument("--splits", type=int, default=10, help="how often the questions are dealt (10)")
    parser.add_argument("--texts", type=int, default=4_000, help="that teach at most (4000)")
    options = parser.parse_args()
    for name in options.file or FILES:
        texts = decided(options.corpus / name)
        print(f"{name}: {len(texts)} answers to {len({each.session for each in texts})} questions")
        splits = [split(texts, options.texts, seed) for seed in range(options.splits)]
        for seed, found in enumerate(splits):
            said = line_of(found.tried) if found.phrases else "proposes nothing"
            print(f"  split {seed}, taught by {found.taught_by}: {said}  {' | '.join(found.phrases)}")
        proposing = [found.tried for found in splits if found.phrases]
        if proposing:
            both = Tried(*map(sum, zip(*proposing, strict=True)))
            worst = min(tried.lift for tried in proposing)
            print(
                f"  {len(proposing)} of {len(splits)} splits propose; together lift {both.lift:.2f}, worst {worst:.2f}"
            )
        else:
            print(f"  none of {len(splits)} splits proposes anything")


if __name__ == "__main__":
    main()
