"""Say what scoring a calm text takes under the profile `aware`, and what each signal adds that sees every text.

CPU in µs, the least of several turns, those with a signal and without it by turns. Nearly all that agents say is calm:
nothing in it is what a signal sees, and of the signals only those are asked that see every text (`OF_EVERY_TEXT`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics import Scorer
from metacog.heuristics.signals import DEFAULTS, SPECS
from metacog.heuristics.signals.spec import OF_EVERY_TEXT

SENTENCE = "We can read the file again and then look at what the call gives to the list. "
TEXTS = {"200 bytes": SENTENCE * 2, "2.6 KB": SENTENCE * 33}
WEIGHTS = DEFAULTS["aware"]
TURNS, ROUNDS = 31, 100


def microseconds(text: str, *scorers: Scorer) -> list[float]:
    """Give what each takes for a text."""
    items = [{"kind": "chat", "text": text}]
    took = [float("inf")] * len(scorers)
    for _ in range(TURNS):
        for at, scorer in enumerate(scorers):
            hesitate, began = scorer.hesitate, time.process_time()
            for _ in range(ROUNDS):
                hesitate(text, items)
            took[at] = min(took[at], time.process_time() - began)
    return [seconds / ROUNDS * 1e6 for seconds in took]


def scorer(**weights: int) -> Scorer:
    return Scorer(policy={"profile": "aware", "weights": WEIGHTS | weights})


def lines() -> Iterator[str]:
    every = [name for name, spec in SPECS.items() if not OF_EVERY_TEXT.isdisjoint(spec.sees)]
    for size, text in TEXTS.items():
        (whole,) = microseconds(text, scorer())
        yield f"a calm text of {size} takes {whole:.1f} µs of CPU"
        for name in every:
            with_it, without = microseconds(text, scorer(**{name: WEIGHTS[name] or 1}), scorer(**{name: 0}))
            yield f"  {name}, which sees every text, adds {with_it - without:.1f} µs ({with_it / without:.2f} times)"
    yield f"{len(SPECS) - len(every)} of {len(SPECS)} signals are asked only about texts that hold something they see"


if __name__ == "__main__":
    print(*lines(), sep="\n")
