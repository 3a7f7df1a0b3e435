"""Print precision and recall on the labelled sets beside this file."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from metacog.heuristics.contradiction.contradictions import contradicts  # noqa: E402 - found by the path above
from metacog.heuristics.contradiction.corrections import find_correction  # noqa: E402 - as above


class Measured(NamedTuple):
    """How often it spoke, and how often rightly."""

    n: int
    positive: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.positive


def labelled(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"labelled_{name}.jsonl").read_text().splitlines()]


def measure(pairs: Iterable[tuple[bool, bool]]) -> Measured:
    """Count (what is so, what was said)."""
    counted = list(pairs)
    return Measured(
        len(counted),
        sum(so for so, _ in counted),
        sum(said for _, said in counted),
        sum(so and said for so, said in counted),
    )


def corrections(language: str, part: str | None = None, mode: Any = "wide") -> Measured:
    """Measure one language, and one part of the set (None: all of it)."""
    return measure(
        (
            row["is_correction"],
            bool(
                find_correction(row["message"], previous=row.get("previous", ""), reply=row.get("reply", ""), mode=mode)
            ),
        )
        for row in labelled("corrections")
        if row["language"] == language and part in (None, row["part"])
    )


def contradictions(language: str, part: str | None = None) -> Measured:
    """Measure one language, and one part of the set (None: all of it)."""
    return measure(
        (row["is_contradiction"], contradicts(row["first"], row["second"]) is not None)
        for row in labelled("contradictions")
        if row["language"] == language and part in (None, row["part"])
    )


def line(*cells: Any) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def row(what: str, language: str, measured: Measured) -> str:
    precision = f"{measured.precision:.2f} ({measured.right} of {measured.found})" if measured.found else "–"
    recall = f"{measured.recall:.2f} ({measured.right} of {measured.positive})"
    return line(what, language, measured.n, precision, recall)


def main() -> None:
    print(line("rule, on our own sentences", "language", "n", "precision", "recall"))
    print(line(*["---"] * 5))
    for language in ("en", "zh"):
        print(row("correction, mode `seed`", language, corrections(language, mode="seed")))
        print(row("correction, mode `wide`", language, corrections(language)))
        for part in ("tuned", "held-out", "reply", "fresh"):
            print(row(f"… {part}", language, corrections(language, part)))
    for language in ("en", "zh"):
        print(row("contradiction", language, contradictions(language)))
        for part in ("tuned", "held-out", "fresh"):
            print(row(f"… {part}", language, contradictions(language, part)))


if __name__ == "__main__":
    main()
