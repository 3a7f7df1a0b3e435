"""Print how many texts of files are told to be in a language that no rule reads, and the beginnings of the first ones.

Reads JSON Lines with a `response`, a `user_message`, or both; each is a text.

    python scripts/unread_rates.py responses.jsonl
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.unread import is_unread

SHOWN, BEGINNING = 5, 100


def texts(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield from filter(None, (row.get("response"), row.get("user_message")))


def main() -> None:
    if not sys.argv[1:]:
        sys.exit("Name one file or more.")
    for path in map(Path, sys.argv[1:]):
        unread, total = [], 0
        for text in texts(path):
            total += 1
            if is_unread(text):
                unread.append(" ".join(text[:BEGINNING].split()))
        print(f"{path.stem:28}{len(unread):>6} of {total:,}")
        for beginning in unread[:SHOWN]:
            print(f"    {beginning}")


if __name__ == "__main__":
    main()
