"""Print how often each quality flag is raised on stored responses, and on the same responses given other messages.

Reads JSON Lines of posted bodies (`response`, `user_message`, `session`; or `conversation_id` for a session).
The second figure is a control: there the user's messages are dealt out anew, so a flag that tells right from wrong
answers is raised far more often.

    python scripts/quality_rates.py --language zh-Hans responses.jsonl
"""

import argparse
import json
import random
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.policy.quality_settings import QualitySettings
from metacog.heuristics.quality.quality import Language, Quality, assess
from metacog.heuristics.stats.intervals import wilson

LANGUAGES: tuple[Language, ...] = ("en", "zh-Hant", "zh-Hans")


def bodies(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read the lines that have both a message and a response."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                body = json.loads(line)
                if body.get("response") and body.get("user_message"):
                    yield body


def judged(
    rows: list[dict[str, Any]], messages: list[str], language: Language, settings: QualitySettings
) -> Iterator[Quality]:
    """Judge each response as the answer to the message at its place."""
    recent: dict[str, deque[tuple[int, ...]]] = {}
    for row, message in zip(rows, messages, strict=True):
        session = row.get("session") or row.get("conversation_id") or ""
        said = recent.setdefault(session, deque(maxlen=settings.recent_window))
        quality = assess(row["response"], user_message=message, recent=list(said), language=language, settings=settings)
        said.append(quality.fingerprint)
        yield quality


def count(qualities: Iterable[Quality]) -> Counter[str]:
    """Count responses by flag, and those below the two thresholds."""
    counts: Counter[str] = Counter()
    for quality in qualities:
        counts.update({flag.flag for flag in quality.flags})
        counts["hedged (0.5 to 0.7)"] += quality.hedge_prefix is not None
        counts["reported (below 0.5)"] += bool(quality.events)
    return counts


def separation(rows: list[dict[str, Any]], qualities: list[Quality]) -> float | None:
    """Give the chance that a right answer (`outcome` 1) scores above a wrong one (0): the area under the curve."""
    scores: dict[Any, list[float]] = {0: [], 1: []}
    for row, quality in zip(rows, qualities, strict=True):
        scores.get(row.get("outcome"), []).append(quality.score)
    wrong = sorted(scores[0])
    if not (wrong and scores[1]):
        return None
    wins = sum(bisect_left(wrong, score) + bisect_right(wrong, score) for score in scores[1])
    return wins / (2 * len(wrong) * len(scores[1]))


def lifts(rows: list[dict[str, Any]], qualities: list[Quality]) -> Iterator[str]:
    """Tell of each flag how often what carries it was wrong (`outcome` 0), as a multiple of how often all are."""
    known = [
        (row["outcome"] == 0, quality)
        for row, quality in zip(rows, qualities, strict=True)
        if row.get("outcome") in (0, 1)
    ]
    base = sum(is_wrong for is_wrong, _ in known) / len(known) if known else 0
    for name in sorted({flag.flag for _, quality in known for flag in quality.flags}) if base else ():
        flagged = [is_wrong for is_wrong, quality in known if name in {flag.flag for flag in quality.flags}]
        low, high = (bound / base for bound in wilson(sum(flagged), len(flagged)))
        share = sum(flagged) / len(flagged)
        yield f"{name:24}{sum(flagged):>7} of {len(flagged):<6} lift {share / base:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="the agent's (default en)")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="quality settings as JSON")
    arguments = parser.parse_args()
    settings = QualitySettings.from_dict(json.loads(arguments.settings.read_text()) if arguments.settings else {})

    rows = list(bodies(arguments.files))
    if not rows:
        parser.exit(1, "No line has both a response and a user_message.\n")
    messages = [row["user_message"] for row in rows]
    dealt = random.Random(1).sample(messages, len(messages))
    begun = process_time()
    own = list(judged(rows, messages, arguments.language, settings))
    each = (process_time() - begun) / len(rows) * 1000
    counts, control = count(own), count(judged(rows, dealt, arguments.language, settings))
    length = median(len(row["response"].encode()) for row in rows)
    print(f"{len(rows)} responses, {length:.0f} bytes in the median, {each:.2f} ms each")
    print(f"{'':24}{'own message':>16}{'another message':>18}")
    for name in sorted({*counts, *control}):
        print(f"{name:24}{counts[name]:>7}{counts[name] / len(rows):>9.1%}{control[name] / len(rows):>18.1%}")
    if (area := separation(rows, own)) is not None:
        print(f"AUC of the score against the outcome: {area:.3f}")
        print("Wrong of those with a flag, as a multiple of all (95% interval):")
        print("\n".join(lifts(rows, own)))


if __name__ == "__main__":
    main()
