"""The seeds' own lists, letter for letter: seed 000 ("Hesitation Score 計算", "Error Patterns") and seed 002.

Seed 000 writes those of hesitation as regular expressions with the flags g and i, without u: ASCII letters match in
either case and nothing else folds. No term overlaps another of its own list, so that every occurrence
counts exactly as `match(/…/gi)` counts it.
"""

ABSOLUTE = (
    "一定",
    "不可能",
    "顯然",
    "毫無疑問",
    "肯定是",
    "clearly",
    "obviously",
    "definitely",
    "impossible",
)
SOURCE = ("來源", "source", "ref:", "http")
HEDGE = (
    "我不確定",
    "也許",
    "可能",
    "但我不太肯定",
    "需要確認",
    "我的理解是",
    "not sure",
    "maybe",
    "might",
    "I think",
)
CONCLUSION = ("所以", "因此", "結論", "答案是", "therefore", "conclusion", "the answer")
REASONING = (
    "因為",
    "考慮到",
    "另一方面",
    "但是",
    "however",
    "because",
    "on the other hand",
    "alternatively",
)

# Seed 000, "Error Patterns": what corrects the agent.
CORRECTION = ("不是有說", "為何還是", "我提醒你")

# Seed 002, "Detection Keywords".
STUCK = {
    "exhaustion": (
        "I've tried everything",
        "I'm out of ideas",
        "I don't know what else to try",
        "I'm stuck",
        "I can't figure out",
        "This is puzzling",
        "I'm at a loss",
    ),
    "uncertainty": (
        "I'm not sure why",
        "This should work but",
        "I don't understand why",
        "For some reason",
        "Strangely",
        "Unexpectedly",
        "I would have expected",
        "This is confusing",
    ),
    "scope-creep": (
        "Let me try a completely different approach",
        "Let's start over",
        "Maybe we should try something else entirely",
        "I'm going to take a step back",
        "Let me rethink this",
    ),
}
