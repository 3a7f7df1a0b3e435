"""What effects and the values of arguments add to an order of risk that is learned from decisions on tool calls.

    scripts/learned_calls.py [FOLDER]

The project's labelled calls (scripts/packs) are decided in an order drawn three times: what is dangerous or
destructive is rejected, all else approved. Each model is learned three times from the same decisions: without effects
among its facts, without the values of arguments, and with both. Prints the means of the AUC on the tenths that judge,
of the share of rejections in the tenth most at risk, and how often the gate let it pass. `unseen` has learned from all
of these calls, and orders those of scripts/packs/unseen, written by somebody who had seen neither rules nor table. Of
the corpora in FOLDER (`commands.jsonl`, `tool-calls.jsonl`), which have no labels, calls are rejected by lot, or by
their tool: there both can only harm. Refunds are made up, and those above an amount are rejected seven times of ten,
others once.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from metacog import heuristics  # noqa: E402
from metacog.heuristics.policy.call_rules import rules_of  # noqa: E402
from metacog.heuristics.ranking.around import GIVEN  # noqa: E402
from metacog.heuristics.ranking.features import Called, Seen, facts_of, see  # noqa: E402
from metacog.heuristics.ranking.learning import Decided, case, learn  # noqa: E402
from metacog.heuristics.ranking.model import Model  # noqa: E402
from metacog.heuristics.stats.gate import Judged, auc  # noqa: E402
from metacog.heuristics.text.tags import ToolCall  # noqa: E402
from metacog.heuristics.tool_calls.gate import effect_part  # noqa: E402
from scripts.pack_rates import SETS, WORKSPACE, calls_of  # noqa: E402

REJECTED = ("dangerous", "operations_destructive")
DRAWS = 3
WITHOUT: Mapping[str, tuple[str, ...]] = {"effects": ("effect:", "object:"), "values": (GIVEN,), "nothing": ()}
Labelled = tuple[ToolCall, bool]


class Reader:
    """Sees calls as they are seen when they are posted, each once."""

    def __init__(self) -> None:
        self.rules = rules_of(heuristics.Policy(packs=[{"name": "coding", "workspace": WORKSPACE}]))
        self.known: dict[str, Seen] = {}

    def see(self, call: ToolCall, without: tuple[str, ...] = ()) -> Seen:
        if call.text not in self.known:
            told = [*map(effect_part, self.rules.read(call).effects)]
            facts = facts_of(call.text, None, {}, kind="tool_call", calls=[Called(call.name, call.arguments, told)])
            self.known[call.text] = see(call.text, "", facts)
        seen = self.known[call.text]
        return seen._replace(facts={name: value for name, value in seen.facts.items() if not name.startswith(without)})


def labelled(folder: Path) -> list[Labelled]:
    return [(call, path.stem in REJECTED) for path in sorted(folder.glob("*.jsonl")) for call in calls_of(path)]


def unlabelled(folder: Path) -> list[ToolCall]:
    return [call for name in ("commands", "tool-calls") for call in calls_of(folder / f"{name}.jsonl")]


def by_lot(call: ToolCall, draw: random.Random) -> bool:
    return draw.random() < 0.3


def by_tool(call: ToolCall, draw: random.Random) -> bool:
    """Reject calls of some tools oftener; `Bash` by its program."""
    name = call.arguments["command"].partition(" ")[0] if call.name == "Bash" else call.name
    return draw.random() < (0.6 if crc32(name.encode()) % 4 == 0 else 0.1)


def refunds(draw: random.Random) -> list[Labelled]:
    made = []
    for number in range(1_000):
        eur = round(draw.lognormvariate(4.5, 1.2), 2)
        call = ToolCall("refund", {"eur": eur, "order": f"W{draw.randrange(10**6)}", "line": number % 7})
        made.append((call, draw.random() < (0.7 if eur > 200 else 0.1)))
    return made


def drawn(cases: Sequence[Labelled], size: int, seed: int) -> list[Labelled]:
    draw = random.Random(seed)
    return draw.sample(cases, min(size or len(cases), len(cases)))


def decided(reader: Reader, cases: Sequence[Labelled], without: tuple[str, ...]) -> Iterator[Decided]:
    for at, (call, rejected) in enumerate(cases):
        yield Decided(reader.see(call, without), rejected, float(at), (str(at),), key=str(at))


def measured(reader: Reader, name: str, draws: Sequence[Sequence[Labelled]]) -> str:
    told = f"{name:<22}{len(draws[0]):>6}"
    for without in WITHOUT.values():
        learned = [learn(decided(reader, cases, without)) for cases in draws]
        gates = [each.gate for each in learned if each.gate]
        passed = sum(each.order == "learned" for each in learned)
        found = sum(gate.auc for gate in gates) / len(gates), sum(gate.caught_at(0.1)[0] for gate in gates) / len(gates)
        told += f"{found[0]:>9.3f}{found[1]:>8.3f}{passed:>4} of {len(draws)}"
    return told


def ordered(reader: Reader, taught: Sequence[Labelled], cases: Sequence[Labelled]) -> str:
    told = f"{'unseen':<22}{len(cases):>6}"
    judges = [Judged(at, rejected) for at, (_, rejected) in enumerate(cases)]
    for without in WITHOUT.values():
        model = Model.learn([case(each) for each in decided(reader, taught, without)])
        risks = [model.risk(reader.see(call, without)) for call, _ in cases]
        worst = sorted(range(len(cases)), key=lambda at: -risks[at])[: len(cases) // 10]
        share = sum(cases[at][1] for at in worst) / sum(rejected for _, rejected in cases)
        told += f"{auc(judges, risks):>9.3f}{share:>8.3f}{'':>9}"
    return told


def main() -> None:
    reader, cases = Reader(), labelled(SETS)
    print("AUC, top 10 %, gate:".rjust(28), *(f"without {name}".center(24) for name in WITHOUT))
    print(measured(reader, "refunds by amount", [refunds(random.Random(seed)) for seed in range(DRAWS)]), flush=True)
    for size in (200, 500, 0):
        print(measured(reader, "labelled", [drawn(cases, size, seed) for seed in range(DRAWS)]), flush=True)
    print(ordered(reader, drawn(cases, 0, 0), labelled(SETS / "unseen")), flush=True)
    if len(sys.argv) > 1:
        calls = unlabelled(Path(sys.argv[1]))
        labels: list[tuple[str, Callable[[ToolCall, random.Random], bool]]] = [("by lot", by_lot), ("by tool", by_tool)]
        for name, label in labels:
            draw = random.Random(1)
            made = [(call, label(call, draw)) for call in calls]
            print(measured(reader, name, [drawn(made, 1_000, seed) for seed in range(DRAWS)]), flush=True)


if __name__ == "__main__":
    main()
