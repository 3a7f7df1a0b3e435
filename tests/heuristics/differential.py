"""Compare `python -m metacog.heuristics` with the seeds' own code in Node, on hostile random input.

    python tests/heuristics/differential.py [COUNT] [SEED]

Prints each difference (the first few) and the counts; exit status 1 when there was any.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from metacog.heuristics import Hesitation, Scorer, texts_of  # noqa: E402 - found by the line above when run as a script
from metacog.heuristics.hesitation.patterns import is_too_short  # noqa: E402 - as above

BATCH = 150  # responses that share a set of patterns, which is an argument of the command

ABSOLUTE = ["一定", "不可能", "顯然", "毫無疑問", "肯定是", "clearly", "obviously", "definitely", "impossible"]
SOURCE = ["來源", "source", "ref:", "http"]
HEDGE = ["我不確定", "也許", "可能", "但我不太肯定", "需要確認", "我的理解是", "not sure", "maybe", "might", "I think"]
CONCLUSION = ["所以", "因此", "結論", "答案是", "therefore", "conclusion", "the answer"]
REASONING = ["因為", "考慮到", "另一方面", "但是", "however", "because", "on the other hand", "alternatively"]
TERMS = [*ABSOLUTE, *SOURCE, *HEDGE, *CONCLUSION, *REASONING]
# Halves, neighbours and look-alikes of terms.
NEAR: list[str] = [
    *"一定不可能顯然來源",
    "not",
    "sure",
    "I",
    "think",
    "indefinitely",
    "resource",
    "mighty",
    "来源",
    "显然",
    "不一定",
]
# Letters that fold in one way and not in another, or change their length or meaning when they do.
# K (Kelvin), long s, dotless i, dotted I, Ångström, Ohm, Σ in three shapes, …
ODD: list[str] = [*"\u212a\u017f\u0131\u0130\u212b\u2126", *"IΣςσßẞǅⅠⓀﬀŉΐＫ", "ΟΔΟΣ", "aΣ", "Σa", "aΣ.", "i\u0307"]
ODD += ["a\u0345Σ", "\u0307"]
ASTRAL = ["😀", "𝒦", "𐐀", "𐐨", "👩‍💻", "𠮷"]
SPACE = [" ", "\n", "\t", "\u00a0", "\u200b", "\u2028", "\u3000", "\ufeff", "\r\n", ".", "，", "。"]
KINDS = ["chat", "remember", "task", "action", "ask", "schedule", "thread", "unheard-of"]
MODES = ["learn", "task", "reflect", "觀察", "", "unknown"]
MODES += ["10", "2", "01", "4294967295", "constructor", "toString"]  # what JavaScript's objects treat otherwise


class Nasty:
    """Makes requests; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def case(self, text: str) -> str:
        """Write a text in another case, or in letters that only look the same."""
        choice = self.random.random()
        if choice < 0.5:
            return text
        if choice < 0.7:
            return text.upper()
        if choice < 0.9:
            return "".join(self.random.choice((c.upper(), c.lower())) for c in text)
        odd = {"k": "\u212a", "s": "\u017f", "i": self.random.choice("\u0131\u0130"), "e": "\u0435", "o": "\u03bf"}
        return "".join(odd.get(c, c) if self.random.random() < 0.4 else c for c in text)

    def character(self) -> str:
        """Give any character that Unicode had in 2002, so that every Unicode since folds it alike."""
        while True:
            character = chr(self.random.randrange(0x20, 0x30000))
            if unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs") and character != "\u0295":
                return character

    def piece(self) -> str:
        choice = self.random.random()
        if choice < 0.30:
            return self.case(self.random.choice(TERMS))
        if choice < 0.42:
            return self.random.choice(NEAR)
        if choice < 0.55:
            return self.random.choice(ODD)
        if choice < 0.60:
            return self.random.choice(ASTRAL)
        if choice < 0.65:
            return self.character()
        if choice < 0.80:
            return "".join(self.random.choices("abcks定一能所 ", k=self.random.randrange(1, 6)))
        return self.random.choice(SPACE)

    def text(self, most: int = 40) -> str:
        return "".join(self.piece() for _ in range(self.random.randrange(most)))

    def near_200(self) -> str:
        """Give a text of 198 to 202 UTF-16 units."""
        filler = self.random.choice(["a", "字", "😀"])
        text = "" if self.random.random() < 0.6 else self.text(8)
        wanted = self.random.randrange(198, 203)
        while units(text) < wanted:
            text += filler if units(text) + units(filler) <= wanted else "."
        return text

    def patterns(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"ep-{number}",
                "keywords": self.keywords(),
                "description": self.text(6),
                "triggerCount": 0,
            }
            for number in range(self.random.choice((0, 1, 3, 30)))
        ]

    def keywords(self) -> list[str]:
        words = []
        for _ in range(self.random.choice((0, 1, 1, 2, 4))):
            word = "".join(self.piece() for _ in range(self.random.choice((1, 2, 3))))
            word = word or "x"
            words.append(word)
            if self.random.random() < 0.3:  # one within the other
                words.append(word[self.random.randrange(len(word)) :])
        return [word[:200] for word in words if not is_too_short(word[:200])]  # those are refused

    def response(self, patterns: list[dict[str, Any]]) -> dict[str, Any]:
        items = [
            {
                "kind": self.random.choice(KINDS) if self.random.random() < 0.6 else "chat",
                "text": self.near_200() if self.random.random() < 0.4 else self.text(),
            }
            for _ in range(self.random.randrange(5))
        ]
        pieces = [self.text()]
        # Chance alone hardly brings three conclusions without a reason, or a keyword as it stands.
        if self.random.random() < 0.4:
            pieces += [self.case(self.random.choice(CONCLUSION)) for _ in range(self.random.randrange(2, 6))]
        if self.random.random() < 0.4:
            pieces.append(self.case(self.random.choice(ABSOLUTE)))
        if self.random.random() < 0.4:
            known = [keyword for pattern in patterns for keyword in pattern["keywords"]]
            pieces += [self.case(self.random.choice(known)) for _ in range(2) if known]
        if self.random.random() < 0.3:
            pieces += [item["text"] for item in items]
        self.random.shuffle(pieces)
        return {"response": self.random.choice(["", " ", "\n"]).join(pieces), "items": items}

    def dated(self) -> str:
        parts = []
        for _ in range(self.random.randrange(1, 8)):
            year = self.random.choice([self.random.randrange(10000), self.random.randrange(2023, 2028), 2026, 7])
            month, day = self.random.randrange(14), self.random.randrange(34)
            date = f"{year:04}-{month:02}-{day:02}"
            choice = self.random.random()
            if choice < 0.1:
                date = date.replace("2", self.random.choice("２٢"))
            form = self.random.choice(["[{}]", "[{}]", "[{}]", "({})", "[[{}]]", "[{}", "[{} x]"])
            parts.append(form.format(date))
            parts.append(self.random.choice(["", " ", "\n", self.text(4)]))
        return "".join(parts)

    def intent(self) -> dict[str, Any] | None:
        if self.random.random() < 0.1:
            return None
        mode = self.random.choice(MODES)
        return {
            "lastMode": self.random.choice(MODES),
            "lastAction": self.random.choice([None, "", self.text(5)]),
            "activeThread": self.random.choice([None, "", "約束與湧現的實踐"]),
            "streak": self.random.choice([None, {"mode": mode, "count": self.random.randrange(1, 5)}]),
            "recentModes": self.random.choices(self.random.choices(MODES, k=3), k=self.random.randrange(6)),
        }

    def cycle(self) -> dict[str, Any]:
        return {
            "chosenBehavior": self.random.choice([None, *MODES]),
            "currentMode": self.random.choice(["task", "autonomous", "unknown"]),
            "action": self.random.choice([None, "", self.text(5), self.near_200(), "😀" * 80, "a" + "😀" * 80]),
            "activeThread": self.random.choice([None, "", "t"]),
        }


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def node(requests: Iterable[dict[str, Any]]) -> list[Any]:
    """Ask the seeds' code."""
    sent = "".join(json.dumps(request) + "\n" for request in requests)
    command = [shutil.which("node") or "node", str(HERE / "seed.mjs")]
    done = subprocess.run(command, input=sent, capture_output=True, text=True, check=True, encoding="utf-8")
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def ours(arguments: list[str], sent: str) -> str:
    """Ask the command, with bytes through and through: no line end may be translated."""
    command = [sys.executable, "-m", "metacog.heuristics", *arguments]
    return subprocess.run(command, input=sent.encode(), capture_output=True, check=True, cwd=ROOT).stdout.decode()


def lines(values: Iterable[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def as_seed(verdict: dict[str, Any], patterns: list[dict[str, Any]]) -> dict[str, Any]:
    """Put a verdict as the seed's code puts it."""
    hesitation, schedule = verdict["hesitation"], verdict["schedule"]
    described = {pattern["id"]: pattern["description"] for pattern in patterns}
    for signal in hesitation["signals"]:
        if signal["type"] == "error-pattern":
            description = described[hesitation["matched_pattern_ids"][0]]
            assert signal["detail"] == f"matches past error: {description}"
    held = schedule["reason"].removeprefix("hesitation review: held ").split(", ") if schedule else []
    return {
        **{name: hesitation[name] for name in ("score", "confident", "suggestion")},
        "signals": [{name: s[name] for name in ("type", "detail", "weight")} for s in hesitation["signals"]],
        "items": [item["text"] for item in verdict["items"]],
        "scheduled": [[schedule["next"], f"hesitation review: held {kind}"] for kind in held],
    }


def hesitated(doubts: Hesitation) -> dict[str, Any]:
    """Put what `hesitate` gives as the seed's code puts it."""
    told = [{"type": each.type, "detail": each.detail, "weight": each.weight} for each in doubts.signals]
    return {"score": doubts.score, "confident": doubts.confident, "suggestion": doubts.suggestion, "signals": told}


def faults_in_spans(request: dict[str, Any], verdict: dict[str, Any]) -> Iterator[str]:
    for signal in verdict["hesitation"]["signals"]:
        if not signal["spans"]:
            yield f"{signal['type']} shows no evidence"
        for span in signal["spans"]:
            text = request["items"][span["item"]]["text"] if "item" in span else request["response"]
            if text[span["start"] : span["end"]] != span["text"] or not span["text"]:
                yield f"{signal['type']} points beside its text: {span}"


def compare_scores(nasty: Nasty, count: int) -> Iterator[tuple[Any, Any, Any]]:
    for first in range(0, count, BATCH):
        patterns = nasty.patterns()
        requests = [nasty.response(patterns) for _ in range(min(BATCH, count - first))]
        theirs = node({"ask": "score", "patterns": patterns, **request} for request in requests)
        # The seed scores no item by itself: of what stands beside a response it is asked as of one.
        beside = [[alone(text, request) for text in texts_of(request)[1:]] for request in requests]
        scores = iter(node({"ask": "score", "patterns": patterns, **one} for each in beside for one in each))
        highest = [
            max(their["score"], *(next(scores)["score"] for _ in each), 0)
            for their, each in zip(theirs, beside, strict=True)
        ]
        scorer = Scorer(patterns)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "patterns.json"
            path.write_text(json.dumps(patterns), encoding="utf-8")
            answer = ours(["score", "--profile", "seed", "--patterns", str(path)], lines(requests))
        verdicts = [json.loads(line) for line in answer.split("\n") if line]
        rows = zip(requests, verdicts, theirs, beside, highest, strict=True)
        for request, verdict, their, others, score in rows:
            doubts = hesitated(scorer.hesitate(request["response"], request["items"]))
            told = {"score": verdict["hesitation"]["score"]} if others else as_seed(verdict, patterns)
            wanted = {"score": score} if others else their
            yield (request, patterns), [doubts, told], [{name: their[name] for name in doubts}, wanted]
            for fault in faults_in_spans(request, verdict):
                yield (request, patterns), fault, None


def alone(text: str, request: dict[str, Any]) -> dict[str, Any]:
    """Give the post that says nothing but what an item does."""
    return {"response": text, "items": [item for item in request["items"] if item["text"] == text][:1]}


def compare_markers(nasty: Nasty, count: int) -> Iterator[tuple[Any, Any, Any]]:
    for now in ("2026-02-16T08:00:00Z", "2024-02-29T00:00:00Z", "1969-12-31T23:59:59.999Z"):
        texts = [nasty.dated() for _ in range(count // 3)]
        theirs = node({"ask": "markers", "text": text, "now": now} for text in texts)
        yield from zip(texts, ours(["markers", "--now", now], "\0".join(texts)).split("\0"), theirs, strict=True)


def compare_intents(nasty: Nasty, count: int) -> Iterator[tuple[Any, Any, Any]]:
    from metacog.heuristics import advance_intent

    intents = [nasty.intent() for _ in range(count)]
    theirs = node({"ask": "intent", "intent": intent} for intent in intents)
    said = [json.loads(line)["text"] for line in ours(["intent"], lines(intents)).split("\n") if line]
    yield from zip(intents, said, (their["text"] for their in theirs), strict=True)

    cycles = [nasty.cycle() for _ in intents]
    requests = zip(intents, cycles, strict=True)
    theirs = node({"ask": "intent", "intent": intent, "cycle": cycle} for intent, cycle in requests)
    for intent, cycle, their in zip(intents, cycles, theirs, strict=True):
        advanced = advance_intent(
            intent,
            chosen_behavior=cycle["chosenBehavior"],
            current_mode=cycle["currentMode"],
            action=cycle["action"],
            active_thread=cycle["activeThread"],
        )
        # The one difference we chose: no half of a surrogate pair at the cut.
        action = their["intent"]["lastAction"]
        if action and "\ud800" <= action[-1] <= "\udbff":
            their["intent"]["lastAction"] = action[:-1]
        yield (intent, cycle), advanced, their["intent"]


COMPARISONS = {"score": compare_scores, "markers": compare_markers, "intent": compare_intents}


def differences(count: int, seed: int) -> tuple[dict[str, int], list[tuple[str, Any, Any, Any]]]:
    """Give how many answers of each kind were compared, and those that differ."""
    compared = dict.fromkeys(COMPARISONS, 0)
    found = []
    for name, compare in COMPARISONS.items():
        for request, our, their in compare(Nasty(seed), count):
            compared[name] += 1
            if our != their:
                found.append((name, request, our, their))
    return compared, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("count", nargs="?", type=int, default=3000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    options = parser.parse_args()
    compared, found = differences(options.count, options.seed)
    for name, request, our, their in found[:10]:
        print(json.dumps({"ask": name, "request": request, "ours": our, "theirs": their}))
    print(", ".join(f"{number:,} {name}" for name, number in compared.items()) + f": {len(found)} mismatches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
