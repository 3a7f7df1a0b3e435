"""Find reviewers who decide like texts differently: what one approves, the other rejects."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from .features import Seen

_ALIKE = 0.6  # of the words and runs of two texts together, the share that both have
_LEAST_AGAINST, _LEAST_SHARE = 3, 0.3  # pairs of like texts that two people decided differently, and their share
_MOST_ITEMS = 5  # pairs that are named
_MOST_ALIKE = 20  # texts that begin alike, of which each is compared with the others
_MIX = (40_503, 30_011, 52_361)  # odd: each makes another order of the 65,536 buckets


class Disagreement(NamedTuple):
    """Two people, how many pairs of like texts they decided, and how many of these differently."""

    people: tuple[str, str]
    pairs: int
    against: int
    items: list[tuple[str, str]]  # the keys of texts that were decided differently, the first person's first


def disagreements(decided: Sequence[tuple[Seen, bool, str, str]]) -> list[Disagreement]:
    """Return who contradicts whom, those first who do most.

    Of each decision there is what was seen, whether it was rejected, by whom, and its key.
    """
    pairs: dict[tuple[str, str], list[tuple[bool, str, str]]] = {}
    for one, other in sorted(_like(decided)):
        (_, first, by, key), (_, second, by_other, key_other) = decided[one], decided[other]
        if by == by_other:
            continue
        if by > by_other:
            by, by_other, key, key_other = by_other, by, key_other, key
        pairs.setdefault((by, by_other), []).append((first != second, key, key_other))
    found = []
    for people, some in sorted(pairs.items()):
        against = [(key, other) for is_against, key, other in some if is_against]
        if len(against) >= _LEAST_AGAINST and len(against) >= _LEAST_SHARE * len(some):
            found.append(Disagreement(people, len(some), len(against), against[:_MOST_ITEMS]))
    return sorted(found, key=lambda each: -each.against)


def _like(decided: Sequence[tuple[Seen, bool, str, str]]) -> Iterator[tuple[int, int]]:
    """Give pairs of like texts, by the least of their words in three orders (Broder 1997), once each."""
    groups: dict[tuple[int, int], list[int]] = {}
    words = [frozenset(seen.text) for seen, *_ in decided]
    for number, buckets in enumerate(words):
        for order, mix in enumerate(_MIX if buckets else ()):
            groups.setdefault((order, min(bucket * mix & 0xFFFF for bucket in buckets)), []).append(number)
    compared = set()
    for group in groups.values():
        for pair in combinations(group[-_MOST_ALIKE:], 2):
            if pair not in compared:
                compared.add(pair)
                one, other = (words[number] for number in pair)
                if len(one & other) >= _ALIKE * len(one | other):
                    yield pair
