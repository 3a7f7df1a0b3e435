"""Write the table of signals in docs/heuristics.md from their specs; with --check, say whether it is up to date."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metacog.heuristics.signals import DEFAULTS, SPECS  # noqa: E402

PAGE = ROOT / "docs" / "heuristics.md"
BETWEEN = re.compile(r"(?<=<!-- signals -->\n).*(?=<!-- /signals -->)", re.DOTALL)


def table() -> str:
    rows = ["| signal | speaks when | weight | evidence |", "|---|---|---|---|"]
    rows += [f"| `{name}` | {spec.speaks} | {_weight(name)} | {spec.evidence} |" for name, spec in SPECS.items()]
    return "\n".join(rows) + "\n"


def _weight(name: str) -> str:
    """Say a default weight in the profile aware, and where it is none."""
    weight, hint = DEFAULTS["aware"][name], SPECS[name].hint
    return f"{weight}; 0, a hint, {hint}" if hint else str(weight) if weight else "0: not looked for"


def main() -> int:
    page = PAGE.read_text()
    written = BETWEEN.sub(lambda match: table(), page)
    if "--check" in sys.argv:
        if written != page:
            print("docs/heuristics.md: its table of signals is out of date: make messages")
        return int(written != page)
    PAGE.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
