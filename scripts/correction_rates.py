"""Print which messages of users are taken for corrections in real conversations, to be read by hand.

Reads JSON Lines with `conversation_id`, `turn`, `user_message` and `response`; one line for each message that would
stand in To do, with what the agent had said before.

    python scripts/correction_rates.py FOLDER
"""

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.contradiction.corrections import find_correction

FILES = ("tau_airline.dev.jsonl", "tau_retail.dev.jsonl")
SHOWN = 160


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the JSON Lines files are")
    folder = parser.parse_args().folder
    for name in FILES:
        with (folder / name).open(encoding="utf-8") as lines:
            rows = sorted(map(json.loads, lines), key=lambda row: (row["conversation_id"], row["turn"]))
        messages, taken = 0, 0
        for _conversation, turns in groupby(rows, key=lambda row: row["conversation_id"]):
            before = None
            for turn in turns:
                message = turn["user_message"]
                if before and message and message != before["user_message"]:
                    messages += 1
                    found = find_correction(message, previous=before["response"], reply=turn["response"])
                    if found:
                        taken += 1
                        print(f"{found.confidence:.2f}  {_line(before['response'])}\n      > {_line(message)}")
                before = turn
        print(f"{name}: {taken} of {messages} messages")


def _line(text: str) -> str:
    return " ".join(text.split())[:SHOWN]


if __name__ == "__main__":
    main()
