"""Say word by word what an edit changes in a text; the script of the page says the same while somebody types."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from metacog.heuristics.tool_calls.secrets import masked_text
from reviews.presentation.highlight import Shown, show

_ALONE = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # kana and Chinese, of which each letter is a word
_WORD = re.compile(rf"\s+|[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s]")
MOST = 1_000_000  # pairs of words that are compared; beyond it what differs is one stretch
AROUND = 60  # characters that are shown beside a change


class Change(NamedTuple):
    """A stretch of either text."""

    kind: str  # "same", "del" or "ins"
    text: Shown


def word_changes(old: str, new: str) -> list[Change]:
    """Return both texts as one, in stretches; long ones that are the same are cut in the middle."""
    old, new = masked_text(old), masked_text(new)
    if old == new:
        return []
    found = stretches(old, new)
    last = len(found) - 1
    texts = [(kind, "".join(words)) for kind, words in found]
    return [
        Change(kind, show(_around(text, at == 0, at == last) if kind == "same" else text))
        for at, (kind, text) in enumerate(texts)
    ]


def stretches(old: str, new: str) -> list[tuple[str, list[str]]]:
    """Return both texts as one: stretches of words that are the "same", "del" or "ins"."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    same = _same(before, after)
    tail = min(_same(before[::-1], after[::-1]), len(before) - same, len(after) - same)
    found = [("same", before[:same])]
    found += _middle(before[same : len(before) - tail], after[same : len(after) - tail])
    found.append(("same", before[len(before) - tail :]))
    return [each for each in found if each[1]]


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _middle(before: list[str], after: list[str]) -> list[tuple[str, list[str]]]:
    if len(before) * len(after) > MOST:
        return [("del", before), ("ins", after)]
    found: list[tuple[str, list[str]]] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        found += [("same", before[i:j])] if kind == "equal" else [("del", before[i:j]), ("ins", after[k:m])]
    return found


def _around(text: str, is_first: bool, is_last: bool) -> str:
    """Keep of a stretch what stands beside a change."""
    before = 0 if is_first else AROUND
    after = 0 if is_last else AROUND
    if len(text) <= before + after + AROUND:
        return text
    return text[:before] + " … " + text[len(text) - after :]
