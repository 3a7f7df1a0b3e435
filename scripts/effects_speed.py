"""Print how long it takes to read a tool call's effects: `python scripts/effects_speed.py`."""

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metacog.heuristics.effects.calls.reader import Reader

TIMES = 300
BUILD = "cd /srv/app && pytest -x tests/test_a.py 2>&1 | tail -20 && git status && git diff --stat"
LOOK = (
    "cd /srv/app && grep -rn 'def parse_rows' --include='*.py' src tests | grep -v migrations "
    "| head -20; sed -n '120,180p' src/app/importers/rows.py && python -m pytest -q tests/importers -k header"
)
LARGE = 16 * 1024  # bytes
CALLS: dict[str, list[tuple[str, Any]]] = {
    "a call of 200 bytes": [
        ("get_order_details", {"order_id": "#W2586676"}),
        ("send_email", {"to": ["a@x.example", "b@y.example"], "subject": "Your order", "body": "It was sent. " * 11}),
        ("update_flights", {"id": "X7", "flights": [{"number": "HAT232", "date": "2026-05-24"}] * 2, "pay": "card_1"}),
    ],
    "a command of 200 bytes": [("Bash", {"command": BUILD}), ("Bash", {"command": LOOK})],
    "SQL of 100 bytes": [
        ("query", {"sql": "select c.name, sum(o.total) from orders o join customers c on c.id = o.customer group by 1"})
    ],
    "16 KiB": [
        ("Bash", {"command": "\n".join([BUILD, LOOK] * 100)[:LARGE]}),
        ("Bash", {"command": "cat > a.py <<'EOF'\n" + "x = 1\n" * (LARGE // 6) + "EOF\n"}),
        ("Write", {"file_path": "/srv/app/a.py", "content": "x = 1\n" * (LARGE // 6)}),
        ("query", {"sql": f"select * from orders where id in ({', '.join(map(str, range(3_000)))})"}),
    ],
    "hostile nesting": [
        ("Bash", {"command": "$(" * 8_000}),
        ("Bash", {"command": "if true; then " * 1_000}),
        ("Bash", {"command": "bash -c '" * 1_000}),
        ("Bash", {"command": "echo " + "{a," * 5_000}),
        ("query", {"sql": "select " + "(" * 5_000}),
        ("get_x", {f"k{number}": "v" for number in range(10_000)}),
    ],
}


def main() -> None:
    reader = Reader(workspace="/srv/app")
    for kind, calls in CALLS.items():
        slowest = 0.0
        for name, arguments in calls:
            size = len(json.dumps(arguments))
            times = TIMES if size < 1_000 else 5
            reader.read(name, arguments)  # loads what it needs
            began = time.process_time()
            for _ in range(times):
                found = reader.read(name, arguments)
            each = (time.process_time() - began) / times * 1000
            slowest = max(slowest, each)
            print(f"  {name:<20} {size:>8,} bytes  {each:8.3f} ms of CPU  {len(found.effects)} effects")
        print(f"{kind}: {slowest:.2f} ms at most")


if __name__ == "__main__":
    main()
