"""Group the reasons that people typed: those of the same words, or of mostly the same, are one reason."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..text.shadow import Shadow
from ..text.words import FUNCTION_WITHIN, STOPWORDS
from .contrast import HAN_OR_WORD

ALIKE = 0.5  # of the terms of either of two reasons, those that both have
WITHIN = 0.75  # of the terms of the shorter, those that the longer has, too
_LEAST_WITHIN = 2  # terms of the shorter: one may stand in reasons of any kind
_ENDINGS = ("ing", "ed", "es", "s", "d", "e")
_LEAST_STEM = 3


class Told(NamedTuple):
    """One reason in its most frequent wording, and the places of all that say it."""

    name: str
    places: tuple[int, ...]


def grouped(reasons: Sequence[str]) -> list[Told]:
    """Group reasons, the most frequent first; those without a word belong to none."""
    places: dict[frozenset[str], list[int]] = {}
    for place, reason in enumerate(reasons):
        if found := terms_of(reason):
            places.setdefault(found, []).append(place)
    groups: list[tuple[frozenset[str], list[int]]] = []
    for terms, own in sorted(places.items(), key=lambda each: (-len(each[1]), each[1][0])):
        into = next((group for lead, group in groups if _is_same(terms, lead)), None)
        if into is None:
            groups.append((terms, list(own)))
        else:
            into += own
    told = [Told(_name([reasons[place] for place in own]), tuple(sorted(own))) for _lead, own in groups]
    return sorted(told, key=lambda each: (-len(each.places), each.places))


def terms_of(reason: str) -> frozenset[str]:
    """Return the words of a reason that say something, without their endings; of Chinese, two characters at a time."""
    found: set[str] = set()
    for run in HAN_OR_WORD.findall(Shadow(reason).text):
        if "\u3400" <= run[0] <= "\u9fff":
            told = "".join(sign for sign in run if sign not in FUNCTION_WITHIN)
            found.update(f"{one}{other}" for one, other in pairwise(told))
        elif run not in STOPWORDS:
            found.add(_stem(run))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


def _is_same(terms: frozenset[str], lead: frozenset[str]) -> bool:
    both, least = len(terms & lead), min(len(terms), len(lead))
    return both >= ALIKE * len(terms | lead) or (least >= _LEAST_WITHIN and both >= WITHIN * least)


def _name(written: Sequence[str]) -> str:
    counted = Counter(" ".join(each.split()).strip(" .。!！") for each in written)
    return min(counted, key=lambda each: (-counted[each], len(each)))
