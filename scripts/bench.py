"""Measure how fast responses are scored, against the seed's own rules in Node.

    python scripts/bench.py [--corpus FOLDER] [--rounds N] [--json FILE]

The contenders take turns (A B A B …) on the same texts; what counts is the median of the ratios of neighbouring turns,
in CPU time. Texts are made up, the same ones every time; `--corpus` adds real ones (JSON Lines with a "response"), and
tells how often each signal speaks in them. Without Node the rules are compared with the same ones in plain Python.
"""

import argparse
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from metacog.heuristics import ENGINE, Hesitation, Refused, Scorer, find_items  # noqa: E402 - found by the path above
from metacog.heuristics.lexicon import seed  # noqa: E402 - as above
from metacog.heuristics.signals import SPECS  # noqa: E402 - as above

TEXTS = 120
LENGTH = 2_600  # bytes, the mean of the real texts behind the goals
PATTERNS = (0, 10, 100, 1_000, 10_000)
MAX_BYTES = 1_048_576
QUESTION = "Where is my order, and why is it late?"
LEAST_SECONDS = 0.1  # a turn takes about as long, so that clocks do not matter

ENGLISH = (
    "the of and to in is that it for on with as this are be by at from we can when which not have file test value "
    "function line error code request server after before change result time user data model return list first "
    "check run call agent message cache index query order name type class path read write build should would there "
    "only new into other some number each these using"
)
ENGLISH_TERMS = (
    "because",
    "however",
    "maybe",
    "might",
    "I think",
    "clearly",
    "therefore",
    "source",
    "http://example.org",
)
CHINESE = (
    "的 了 是 在 我們 這個 問題 需要 檢查 函數 結果 時間 使用 系統 資料 請求 回應 如果 可以 已經 沒有 "
    "檔案 測試 錯誤 修改 程式 模型 使用者 訊息 快取 查詢 順序 名稱 類型 路徑 讀取 寫入 之後 之前 一個 不同 情況 "
    "方法 部分 其中 以及 進行 說明 內容 處理 執行 設定 版本 狀態 數值 目前 應該 比較 重新 開始"
)


CHINESE_TERMS = ("因為", "但是", "所以", "可能", "可能", "因此", "一定", "來源")
TERMS_IN = 1_200  # bytes in which real texts hold a term of the seed, about


@dataclass
class Row:
    """Two contenders on the same texts: microseconds a response, medians, with the quartiles' distance."""

    texts: str
    n: int
    patterns: int
    ours: str
    theirs: str
    our_cpu: float
    our_spread: float
    their_cpu: float
    their_spread: float
    ratio: float  # above 1: we are faster
    wall_ratio: float


class Scored(NamedTuple):
    """What a contender says of a text, where it is no Hesitation."""

    score: int


class Contender:
    """Something that scores texts, and tells what a number of rounds took: CPU, wall (seconds), sum of scores."""

    def __init__(self, name: str, score: Callable[[str, list[dict[str, str]]], Scored | Hesitation]) -> None:
        self.name = name
        self.score = score

    def run(self, texts: Sequence[str], rounds: int) -> tuple[float, float, float]:
        score = self.score
        given = [(text, [{"kind": "chat", "text": text}]) for text in texts]
        scores = 0
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(rounds):
            for text, items in given:
                scores += score(text, items).score
        return time.process_time() - cpu, time.perf_counter() - wall, scores / rounds


class Node(Contender):
    """The seed's rules in V8."""

    def __init__(self, patterns: Sequence[dict[str, Any]]) -> None:
        self.name = "seed's rules in Node"
        self.process = subprocess.Popen(
            ["node", ROOT / "scripts/bench.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self._send({"patterns": patterns})

    def _send(self, value: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def run(self, texts: Sequence[str], rounds: int) -> tuple[float, float, float]:
        assert self.process.stdout
        self._send({"texts": texts, "rounds": rounds})
        answer = json.loads(self.process.stdout.readline())
        return answer["cpu"] / 1e6, answer["wall"] / 1e6, answer["scores"]

    def close(self) -> None:
        self.process.communicate()


@contextmanager
def reference(patterns: Sequence[dict[str, Any]]) -> Iterator[Contender]:
    """Give whom we are compared with: the seed's rules in Node, or where there is none in Python."""
    if not shutil.which("node"):
        yield Contender("seed's rules in Python", python_rules(patterns))
        return
    node = Node(patterns)
    try:
        yield node
    finally:
        node.close()


def python_rules(patterns: Sequence[dict[str, Any]]) -> Callable[[str, list[dict[str, str]]], Scored]:
    def expression(terms: Sequence[str]) -> re.Pattern[str]:
        return re.compile("|".join(terms), re.IGNORECASE | re.ASCII)

    absolute, source, hedge = expression(seed.ABSOLUTE), expression(seed.SOURCE), expression(seed.HEDGE)
    conclusion, reasoning = expression(seed.CONCLUSION), expression(seed.REASONING)
    keywords = [[keyword.lower() for keyword in pattern["keywords"]] for pattern in patterns]

    def score(text: str, _: list[dict[str, str]]) -> Scored:
        points = 0
        if absolute.findall(text) and not source.search(text):
            points += 20
        if keywords:
            small = text.lower()
            points += 30 * any(any(keyword in small for keyword in each) for each in keywords)
        if not hedge.search(text) and len(text.encode("utf-16-le")) > 400:
            points += 15
        conclusions, reasons = len(conclusion.findall(text)), len(reasoning.findall(text))
        if conclusions > 2 and reasons < conclusions:
            points += 15
        return Scored(min(points, 100))

    return score


def verdict(scorer: Scorer, asked: str | None = None) -> Callable[[str, list[dict[str, str]]], Scored]:
    body = {} if asked is None else {"user_message": asked}

    def score(text: str, items: list[dict[str, str]]) -> Scored:
        hesitation = scorer.score({"response": text, "items": items, **body})["hesitation"]
        return Scored(hesitation["score"] if hesitation else 0)

    return score


def tags(text: str, _items: list[dict[str, str]]) -> Scored:
    """Look for tags in a text that begins with one, so that its code is looked for, too."""
    with suppress(Refused):  # more tags than are taken
        find_items({"response": f"<chat>{text}"})
    return Scored(0)


def race(texts: str, given: Sequence[str], patterns: int, ours: Contender, theirs: Contender, rounds: int) -> Row:
    """Let two take turns; they must agree on the scores where both go by the seed."""
    times: dict[str, list[tuple[float, float]]] = {ours.name: [], theirs.name: []}
    turns = {}
    for contender in (ours, theirs):
        contender.run(given, 1)  # warm
        once, _, scores = contender.run(given, 2)
        turns[contender.name] = max(1, round(LEAST_SECONDS / max(once / 2, 1e-6))), scores
    for _ in range(rounds):
        for contender in (ours, theirs):
            turn = turns[contender.name][0]
            cpu, wall, _ = contender.run(given, turn)
            per = 1e6 / (turn * len(given))
            times[contender.name].append((cpu * per, wall * per))
    if "aware" not in ours.name and turns[ours.name][1] != turns[theirs.name][1]:
        raise SystemExit(f"{texts}, {patterns} patterns: the scores differ; run tests/heuristics/differential.py")

    def median(name: str, clock: int) -> float:
        return statistics.median(time[clock] for time in times[name])

    def ratio(clock: int) -> float:
        """Compare turns that followed each other: the machine was in the same mood then."""
        pairs = zip(times[theirs.name], times[ours.name], strict=True)
        return statistics.median(their[clock] / our[clock] for their, our in pairs)

    def spread(name: str) -> float:
        first, _, third = statistics.quantiles([cpu for cpu, _ in times[name]], n=4)
        return third - first

    return Row(
        texts=texts,
        n=len(given),
        patterns=patterns,
        ours=ours.name,
        theirs=theirs.name,
        our_cpu=median(ours.name, 0),
        our_spread=spread(ours.name),
        their_cpu=median(theirs.name, 0),
        their_spread=spread(theirs.name),
        ratio=ratio(0),
        wall_ratio=ratio(1),
    )


def made_up() -> dict[str, list[str]]:
    chance = random.Random(20260224)

    def text(words: str, terms: Sequence[str], glue: str, stops: Sequence[str], size: int) -> str:
        vocabulary = words.split()
        pieces: list[str] = []
        length = 0
        while length < size:
            word = chance.choice(vocabulary)
            if chance.random() < len(word.encode()) / TERMS_IN:
                word = chance.choice(terms)
            pieces.append(word + (chance.choice(stops) if len(pieces) % 9 == 8 else glue))
            length += len(pieces[-1].encode())
        return "".join(pieces)

    def english(size: int) -> list[str]:
        sizes = [round(size * chance.uniform(0.5, 1.5)) for _ in range(TEXTS)]
        return [text(ENGLISH, ENGLISH_TERMS, " ", (". ", ", ", ".\n\n"), size) for size in sizes]

    def chinese(size: int) -> list[str]:
        sizes = [round(size * chance.uniform(0.5, 1.5)) for _ in range(TEXTS)]
        return [text(CHINESE, CHINESE_TERMS, "", ("。", "，", "。\n\n"), size) for size in sizes]

    halves = zip(english(LENGTH // 2), chinese(LENGTH // 2), strict=True)
    return {
        "mixed": [one + "\n" + other for one, other in halves],
        "English": english(LENGTH),
        "Chinese": chinese(LENGTH),
        "200 bytes": [*english(200)[::2], *chinese(200)[::2]],
    }


def real(folder: Path) -> dict[str, list[str]]:
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        if texts := [row["response"] for row in rows if row.get("response")]:
            found[path.stem] = texts
    if not found:
        sys.exit(f"{folder} holds no JSON Lines (*.jsonl) with a response.")
    return found


def phrases(count: int) -> list[dict[str, Any]]:
    """Make up patterns of three keywords each, which occur in no text but begin like one: the slowest kind."""
    chance = random.Random(count)
    english, chinese = ENGLISH.split(), CHINESE.split()
    return [
        {
            "id": f"ep-{number}",
            "keywords": [
                f"{' '.join(chance.choices(english, k=2))} {number}",
                f"{chance.choice(english)} {number} {chance.choice(english)}",
                "".join(chance.choices(chinese, k=3)) + f"{number}",
            ],
            "description": f"mistake {number}",
        }
        for number in range(count)
    ]


def adversarial() -> Iterator[tuple[str, str]]:
    for name, piece in (
        ("one word", "word "),
        ("one term", "clearly "),
        ("one letter", "a"),
        ("one keyword", "the of 1 "),
        ("unclosed quotes", "“"),
        ("unclosed tags", "<a "),
        ("unclosed comments", "<!--"),
        ("tags", "<a>"),
        ("our own marks", "[chat]"),
        ("backticks", "`"),
        ("fences in lists", "> - ```\n"),
        ("addresses", "https://a.b/c "),
        ("hidden letters", "a\u200b"),
        ("one Chinese term", "不可能"),
        ("another Chinese term", "一定"),
    ):
        yield name, (piece * (MAX_BYTES // len(piece.encode())))


def build(profile: str) -> dict[str, float]:
    """Build with 10,000 patterns and score a text of each kind, in a process of its own, which is empty before."""
    program = f"""
import json, sys, time
import psutil
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "scripts")!r}]
import bench
patterns = bench.phrases(10_000)
texts = [given[0] for given in bench.made_up().values()]
bench.Scorer(profile={profile!r})
process = psutil.Process()
before, began = process.memory_info().rss, time.process_time()
scorer = bench.Scorer(patterns, profile={profile!r})
for text in texts:
    scorer.hesitate(text, [])
print(json.dumps([time.process_time() - began, process.memory_info().rss - before]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, grown = json.loads(done.stdout)
    return {"seconds": round(seconds, 2), "MB": round(grown / 1_048_576, 1)}


def learning() -> dict[str, float]:
    """Learn from 1,000 and from 20,000 made-up decisions, and rank; each time in a process of its own, empty before."""
    figures: dict[str, float] = {}
    for count in (1_000, 20_000):
        program = f"""
import json, random, resource, sys, time
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "scripts")!r}]
import bench
from metacog.heuristics.ranking.features import facts_of, see
from metacog.heuristics.ranking.learning import Decided, learn
texts, draw = bench.made_up()["mixed"], random.Random(1)
began = time.process_time()
decided = [
    Decided(see(text, "", facts_of(text, "", {{}})), draw.random() < 0.3, at, (str(at),))
    for at, text in enumerate(draw.choices(texts, k={count}))
]
learned = learn(decided)
spent, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
for text in texts:
    learned.model.risk(see(text, "", facts_of(text, "", {{}})))
rank = (time.process_time() - began) / len(texts)
print(json.dumps([spent, peak / 1024, rank * 1000, len(json.dumps(learned.model.as_dict())) / 1024]))
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        seconds, peak, rank, size = json.loads(done.stdout)
        figures |= {f"{count} decisions, s": round(seconds, 2), f"{count} decisions, MB": round(peak, 1)}
        figures |= {"a rank, ms": round(rank, 3), "a model, KB": round(size)}
    return figures


EVERY_SIGNAL = {"profile": "aware", "weights": dict.fromkeys(SPECS, 1)}  # also what is off by default


def rates(texts: dict[str, list[str]]) -> Iterator[str]:
    for name, given in texts.items():
        counts = {
            profile: Counter(
                signal.type
                for text in given
                for signal in scorer.hesitate(text, [{"kind": "chat", "text": text}]).signals
            )
            for profile, scorer in (("seed", Scorer()), ("aware", Scorer(policy=EVERY_SIGNAL)))
        }
        for signal in sorted(counts["seed"].keys() | counts["aware"].keys()):
            shares = [f"{counts[profile][signal] / len(given):7.1%}" for profile in counts]
            yield f"{name:24} n={len(given):5} {signal:16} seed {shares[0]}  aware {shares[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="real texts, as JSON Lines with a response")
    parser.add_argument("--rounds", type=int, default=7, help="turns for each contender (default 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    options = parser.parse_args()
    if not shutil.which("node"):
        print("Node is not on the PATH: compared with the seed's rules in plain Python instead.\n")

    if hasattr(os, "sched_setaffinity"):
        # All contenders on one processor: on a shared machine one may be half as fast as the next.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = made_up()
    corpus = real(options.corpus) if options.corpus else {}
    rows: list[Row] = []
    columns = f"{'µs':>8} {'±':>6} {'theirs':>8} {'±':>6} {'ratio':>7} {'wall':>7}"
    print(f"{'texts':24} {'n':>5} {'patterns':>8}  {'':30}{columns}")

    def report(name: str, given: Sequence[str], count: int, ours: Contender, theirs: Contender) -> None:
        row = race(name, given, count, ours, theirs, options.rounds)
        rows.append(row)
        print(
            f"{row.texts:24} {row.n:5} {row.patterns:8}  {row.ours:30}{row.our_cpu:8.1f} {row.our_spread:6.1f}"
            f" {row.their_cpu:8.1f} {row.their_spread:6.1f} {row.ratio:7.2f} {row.wall_ratio:7.2f}",
            flush=True,
        )

    with reference(()) as theirs:
        for name, given in [*texts.items(), *((name, given[:1_000]) for name, given in corpus.items())]:
            report(name, given, 0, Contender("hesitate", Scorer().hesitate), theirs)
            report(name, given, 0, Contender("hesitate, aware", Scorer(profile="aware").hesitate), theirs)
        for name, given in texts.items():
            report(name, given, 0, Contender("whole verdict", verdict(Scorer())), theirs)
            report(name, given, 0, Contender("whole verdict, aware", verdict(Scorer(profile="aware"))), theirs)
    for count in PATTERNS[1:]:
        patterns = phrases(count)
        with reference(patterns) as theirs:
            report("mixed", texts["mixed"], count, Contender("hesitate", Scorer(patterns).hesitate), theirs)

    print("\n1 MiB of one thing against 10,000 patterns, CPU in ms (whole: an answer to a question, in aware):")
    patterns = phrases(10_000)
    aware = Scorer(patterns, profile="aware")
    scorers: dict[str, Callable[..., Scored | Hesitation]]
    scorers = {"seed": Scorer(patterns).hesitate, "aware": aware.hesitate, "whole": verdict(aware, QUESTION)}
    scorers["tags"] = tags
    floods = {}
    for name, text in adversarial():
        floods[name] = {what: round(Contender("", score).run([text], 1)[0] * 1000) for what, score in scorers.items()}
        print(f"{name:24} " + "  ".join(f"{what} {spent:5}" for what, spent in floods[name].items()))

    built = {profile: build(profile) for profile in ("seed", "aware")}
    print("\nBuilding with 10,000 patterns, CPU and what the process grows by:")
    for profile, figures in built.items():
        print(f"{profile:24} {figures['seconds']:.2f} s {figures['MB']:6.1f} MB")

    learned = learning()
    print("\nLearning an order of risk, CPU and memory at most; ranking one text:")
    for what, figure in learned.items():
        print(f"{what:24} {figure}")

    shares = list(rates(corpus))
    if shares:
        print("\nShare of responses in which a signal speaks:")
        print("\n".join(shares))
    if options.json:
        facts = {"engine": ENGINE, "python": platform.python_version(), "machine": platform.machine()}
        whole = {
            **facts,
            "rows": [asdict(row) for row in rows],
            "floods_ms": floods,
            "build": built,
            "learning": learned,
            "rates": shares,
        }
        options.json.write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
