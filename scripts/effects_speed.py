"""Print how long it takes to read a tool call's effects: `python scripts/effects_speed.py`."""

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.effects.calls.reader import Reader

TIMES = 300
CALLS: list[tuple[str, Any]] = [
    ("get_order_details", {"order_id": "#W2586676"}),
    ("send_email", {"to": ["a@x.example", "b@y.example"], "subject": "Your order", "body": "It has been sent. " * 8}),
    (
        "update_flights",
        {"id": "X7", "flights": [{"number": "HAT232", "date": "2026-05-24"}] * 2, "payment_id": "card_1"},
    ),
    ("Bash", {"command": "cd /srv/app && pytest -x tests/test_a.py 2>&1 | tail -20 && git status && git diff --stat"}),
    (
        "Bash",
        {
            "command": "cd /srv/app && grep -rn 'def parse_rows' --include='*.py' src tests | grep -v migrations "
            "| head -20; sed -n '120,180p' src/app/importers/rows.py && python -m pytest -q tests/importers -k header"
        },
    ),
    ("query", {"sql": "select c.name, sum(o.total) from orders o join customers c on c.id = o.customer group by 1"}),
    ("Write", {"file_path": "/srv/app/a.py", "content": "x = 1\n" * 100_000}),
    ("get_x", {f"k{number}": "v" for number in range(10_000)}),
    ("query", {"sql": "select " + "(" * 5_000}),
]


def main() -> None:
    reader = Reader(workspace="/srv/app")
    for name, arguments in CALLS:
        size = len(json.dumps(arguments))
        times = TIMES if size < 1_000 else 5
        reader.read(name, arguments)  # loads what it needs
        began = time.process_time()
        for _ in range(times):
            found = reader.read(name, arguments)
        each = (time.process_time() - began) / times * 1000
        print(f"{name:<20} {size:>8,} bytes  {each:8.3f} ms of CPU  {len(found.effects)} effects")


if __name__ == "__main__":
    main()
