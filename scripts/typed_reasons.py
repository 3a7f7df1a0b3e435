"""What people's typed reasons would add to an order of risk as features.

    python scripts/typed_reasons.py FOLDER [--parts 10] [--sets aacr,…]

No corpus in FOLDER has typed reasons, but three tell rejections apart: AACR-Bench by the category of the comment,
HaluEval by what stands in the part that people marked, HalluQA by the kind of question. Seven of ten rejections are
taken to have that typed as their reason. A fourth is made up: of AACR-Bench's comments those are rejected, seven times
of ten, that have one of a few rare words, for one of four reasons; 5 % of the others for none.

A feature says how much likelier a text's words are in what was rejected for one reason than in what was approved
(naive Bayes), from ten items of five sessions on; of what teaches by the decisions of the tenths before it alone, as it
would have been when it was posted. Prints the AUC on runs and questions that nothing was learned of, without such
features; what they add; and what one such feature of all rejections adds, whatever their reason.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from metacog.heuristics.ranking.features import Seen  # noqa: E402
from metacog.heuristics.ranking.model import Case, Model  # noqa: E402
from metacog.heuristics.ranking.told import grouped  # noqa: E402
from metacog.heuristics.stats.gate import TENTHS, Judged, auc, sessions_of, tenths_of  # noqa: E402
from scripts.learning_table import ENOUGH, Row, Texts, dealt, rows_of  # noqa: E402

LEAST_ITEMS, LEAST_SESSIONS = 10, 5
TYPED = 0.7  # of the rejections, those with a reason
SMOOTH, SHORT = 0.5, 0.3  # texts that are taken to have each word as well; the length of a feature
REASONS = ("promises a date", "wrong order", "rude to the customer", "quotes no source")


class Decision(NamedTuple):
    rejected: bool
    reason: str = ""


def by_mark(row: Row) -> str:
    """Say what stands in the part of an answer that people marked."""
    marked = " ".join(row["spans"])
    kinds = (
        ("language model", "speaks of itself"),
        (r"```|\bdef |\(\);", "code does not work"),
        (r"\d", "wrong figure"),
    )
    named = (*kinds, (r"[a-z] [A-Z][a-z]{2}", "invented name"))
    return next((reason for pattern, reason in named if re.search(pattern, marked)), "made up")


TELLS: Mapping[str, Callable[[Row], str]] = {
    "aacr": lambda row: str(row["metadata"]["category"]),
    "halueval_general": by_mark,
    "halluqa_zh": lambda row: str(row["category"]),
}


def real(texts: Texts, tell: Callable[[Row], str]) -> list[Decision]:
    draw, found = random.Random(11), []
    for row in texts.rows:
        is_wrong = row["outcome"] == 0
        found.append(Decision(is_wrong, tell(row) if is_wrong and draw.random() < TYPED else ""))
    return found


def made_up(texts: Texts) -> list[Decision]:
    """Reject for four reasons, each of six words that 0.4 to 2 % of the texts have."""
    draw, counted = random.Random(13), Counter(word for seen in texts.seen for word in seen.text)
    rare = sorted(word for word, count in counted.items() if 0.004 <= count / len(texts.seen) <= 0.02)
    words = {reason: draw.sample(rare, 6) for reason in REASONS}
    found = []
    for seen in texts.seen:
        reason = next((reason for reason, some in words.items() if not set(seen.text).isdisjoint(some)), "")
        rejected = draw.random() < (0.7 if reason else 0.05)
        found.append(Decision(rejected, reason if rejected and draw.random() < TYPED else ""))
    return found


class Likeness:
    """How much likelier a text's words are in some texts than in approved ones."""

    def __init__(self, some: Sequence[Seen], approved: Sequence[Seen]) -> None:
        own, others = (Counter(word for seen in texts for word in seen.text) for texts in (some, approved))
        self._carries = {
            word: self._share(count, len(some)) - self._share(others[word], len(approved))
            for word, count in own.items()
        }

    @staticmethod
    def _share(count: int, of: int) -> float:
        return math.log((count + SMOOTH) / (of + 2 * SMOOTH))

    def of(self, seen: Seen) -> float:
        carried = sum(self._carries.get(word, 0.0) for word in seen.text)
        return round(SHORT * carried / math.sqrt(len(seen.text) or 1), 4)


class Known(NamedTuple):
    """What was decided so far, with the number of its session."""

    seen: Seen
    decision: Decision
    session: int


def by_reason(known: Sequence[Known]) -> dict[str, Likeness]:
    typed = [each for each in known if each.decision.reason]
    approved = [each.seen for each in known if not each.decision.rejected]
    found = {}
    for group in grouped([each.decision.reason for each in typed]):
        own = [typed[place] for place in group.places]
        if len(own) >= LEAST_ITEMS and len({each.session for each in own}) >= LEAST_SESSIONS:
            found[f"reason:{group.name}"] = Likeness([each.seen for each in own], approved)
    return found


def by_all(known: Sequence[Known]) -> dict[str, Likeness]:
    rejected = [each.seen for each in known if each.decision.rejected]
    approved = [each.seen for each in known if not each.decision.rejected]
    return {"rejected": Likeness(rejected, approved)} if len(rejected) >= LEAST_ITEMS else {}


def with_likeness(seen: Seen, found: Mapping[str, Likeness]) -> Seen:
    return seen._replace(facts={**seen.facts, **{name: each.of(seen) for name, each in found.items()}})


FEATURES: Mapping[str, Callable[[Sequence[Known]], dict[str, Likeness]]] = {
    "none": lambda _: {},
    "reasons": by_reason,
    "all rejections": by_all,
}


def measured(texts: Texts, decisions: Sequence[Decision], parts: int) -> dict[str, float]:
    part_of, draw = dealt(texts, 0), random.Random(0)
    risks, judges = defaultdict[str, list[float]](list), list[Judged]()
    for part in range(min(parts, 1 + max(part_of))):
        others = [number for number, each in enumerate(part_of) if each != part]
        teaching = draw.sample(others, min(ENOUGH, len(others)))
        judging = [number for number, each in enumerate(part_of) if each == part][:ENOUGH]
        judges += [Judged(0, decisions[number].rejected, tenth=part) for number in judging]
        sessions = sessions_of([texts.belongs[number] for number in teaching])
        known = [Known(texts.seen[at], decisions[at], own) for at, own in zip(teaching, sessions, strict=True)]
        tenths = tenths_of(sessions)
        for name, find in FEATURES.items():
            likeness = [
                find([each for each, tenth in zip(known, tenths, strict=True) if tenth < before])
                for before in range(TENTHS + 1)
            ]
            cases = [
                Case(with_likeness(each.seen, likeness[tenth]), each.decision.rejected, session=each.session)
                for each, tenth in zip(known, tenths, strict=True)
            ]
            model = Model.learn(cases)
            risks[name] += [model.risk(with_likeness(texts.seen[at], likeness[-1])) for at in judging]
    return {name: auc(judges, values) for name, values in risks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--sets", default=f"{','.join(TELLS)},made_up")
    options = parser.parse_args()
    for name in options.sets.split(","):
        corpus = "aacr" if name == "made_up" else name
        texts = Texts(rows_of(options.folder / f"{corpus}.dev.jsonl"))
        decisions = made_up(texts) if name == "made_up" else real(texts, TELLS[name])
        found = measured(texts, decisions, options.parts)
        adds = [f"{found[each] - found['none']:+.3f}" for each in FEATURES if each != "none"]
        print(f"| {name} | {len(decisions):,} | {found['none']:.3f} | {' | '.join(adds)} |", flush=True)


if __name__ == "__main__":
    main()
