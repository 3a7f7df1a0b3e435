"""Say what each pack does with sets of tool calls: what it asks about, denies and lets pass.

    scripts/pack_rates.py                            # the project's own labelled sets, scripts/packs/*.jsonl
    scripts/pack_rates.py FOLDER|FILE …              # and others, such as a corpus without labels
    scripts/pack_rates.py --pack coding --set dangerous --show

A line of a set is `{"command": "…"}`, which is a call of `Bash`, or `{"name": "…", "arguments": {…}}`. Of the sets in
`WRONG` it is known which answer is wrong: `--show` lists those calls, of other sets what is asked about, each with the
rule that decided. Shares come with Wilson's 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metacog import heuristics  # noqa: E402
from metacog.heuristics.policy.call_rules import rules_of  # noqa: E402
from metacog.heuristics.text.tags import ToolCall  # noqa: E402
from metacog.heuristics.tool_calls.pack import packs  # noqa: E402
from metacog.heuristics.tool_calls.rules import Judged  # noqa: E402

SETS = ROOT / "scripts" / "packs"
WORKSPACE = "/srv/app"
FATES = {"ask": "asked", "deny": "denied", "allow": "passed", "score": "passed"}
# Of a pack and a labelled set: the answers that are wrong, and the most of them that may be.
WRONG: dict[tuple[str, str], tuple[tuple[str, ...], float]] = {
    ("coding", "dangerous"): (("passed",), 0.01),
    ("coding", "lookalike"): (("asked", "denied"), 0.04),
    ("coding", "coding"): (("asked", "denied"), 0.02),
    ("coding-careful", "dangerous"): (("passed",), 0.01),
    ("operations", "operations_destructive"): (("passed",), 0.02),
    ("operations", "operations_harmless"): (("asked", "denied"), 0.45),
    ("read-only", "dangerous"): (("passed",), 0.01),
    ("read-only", "operations_destructive"): (("passed",), 0.0),
}


class Rate(NamedTuple):
    """What a pack does with a set: how many calls of each fate, and those that it judges as given."""

    pack: str
    set: str
    fates: Counter[str]
    judged: Sequence[tuple[ToolCall, Judged]]

    @property
    def wrong(self) -> Sequence[tuple[ToolCall, Judged]]:
        """Give the calls that it is wrong about; of a set without labels those that a person is asked about."""
        fates, _most = WRONG.get((self.pack, self.set), (("asked",), 1.0))
        return [(call, judged) for call, judged in self.judged if FATES[judged.do] in fates]

    @property
    def is_within(self) -> bool:
        _fates, most = WRONG.get((self.pack, self.set), ((), 1.0))
        return len(self.wrong) <= most * len(self.judged)


def calls_of(path: Path) -> Iterator[ToolCall]:
    """Read a set's calls."""
    for line in path.read_text("utf-8").splitlines():
        given: dict[str, Any] = json.loads(line)
        if "command" in given:
            yield ToolCall("Bash", {"command": given["command"]})
        elif "name" in given and "arguments" in given:
            yield ToolCall(given["name"], given["arguments"])


def rate(pack: str, path: Path) -> Rate:
    """Judge a set's calls by a pack alone, in a workspace."""
    rules = rules_of(heuristics.Policy(packs=[{"name": pack, "workspace": WORKSPACE}]))
    judged = [(call, rules.judge(call)) for call in calls_of(path)]
    return Rate(pack, path.stem, Counter(FATES[each.do] for _call, each in judged), judged)


def interval(count: int, of: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share."""
    z, share = 1.96, count / of
    middle, spread = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return max(0.0, (middle - spread) / (1 + z * z / of)), min(1.0, (middle + spread) / (1 + z * z / of))


def share(count: int, of: int) -> str:
    """Say a share as people read it: "2.1 %, 95 % CI 1.0–4.1 %"."""
    low, high = interval(count, of)
    return f"{100 * count / of:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def sets(named: Sequence[Path]) -> Iterator[Path]:
    """Give the project's sets, then those that are named: files, or all that are of calls in a folder."""
    yield from sorted(SETS.glob("*.jsonl"))
    for path in named:
        for each in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            if next(calls_of(each), None) is not None:
                yield each


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", type=Path, metavar="FOLDER|FILE", help="more sets, labelled or not")
    parser.add_argument("--pack", choices=packs(), action="append", help="only this one; may be given again")
    parser.add_argument("--set", action="append", metavar="NAME", help="only this set; may be given again")
    parser.add_argument("--show", action="store_true", help="list the calls that are wrong")
    given = parser.parse_args()
    print(f"| pack | set | n | asked (95 % CI) | denied | passed (95 % CI) |{' bar |' if not given.show else ''}")
    print("|---|---|---:|---:|---:|---:|" + ("---|" if not given.show else ""))
    is_within = True
    for pack in given.pack or packs():
        for path in sets(given.corpora):
            if given.set and path.stem not in given.set:
                continue
            found = rate(pack, path)
            n, fates = len(found.judged), found.fates
            line = [pack, path.stem, f"{n:,}", share(fates["asked"], n), str(fates["denied"])]
            line.append(share(fates["passed"], n))
            if not given.show:
                line.append(_bar(found))
            print("| " + " | ".join(line) + " |")
            is_within = is_within and found.is_within
            if given.show:
                _show(found)
    return 0 if is_within else 1


def _bar(found: Rate) -> str:
    if (found.pack, found.set) not in WRONG:
        return ""
    fates, most = WRONG[found.pack, found.set]
    what = "passed" if fates == ("passed",) else "asked or denied"
    return f"{what} ≤ {100 * most:.0f} %: {'holds' if found.is_within else '**broken**'}"


def _show(found: Rate) -> None:
    for call, judged in found.wrong:
        text = call.arguments["command"] if call.name == "Bash" else f"{call.name} {json.dumps(call.arguments)}"
        rule = judged.rule or {}
        effects = " ".join(f"{each.effect}:{each.object}" for each in judged.reading.effects)
        print(f"    {text!r}\n        {judged.do} by rule {rule.get('place')} ({rule.get('reason')}): {effects}")


if __name__ == "__main__":
    sys.exit(main())
