"""Find the seed's terms and the patterns' keywords in a text, in one pass."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from .lexicon import seed

try:
    import daachorse
except ImportError:  # no wheel for this platform; ahocorasick_rs finds the same, a little slower
    HAS_DAACHORSE = False
else:
    HAS_DAACHORSE = True

Place = tuple[int, int]
# Start, end and number of each entry found in a text, in the order in which they end.
Search = Callable[[bytes], Sequence[tuple[int, int, int]]]

ABSOLUTE, SOURCE, CONCLUSION, REASONING = range(4)
_TERMS = (seed.ABSOLUTE, seed.SOURCE, seed.CONCLUSION, seed.REASONING)
_NONE = 2**62
# The capitals outside ASCII whose small letters hold ASCII. As part of a keyword they fold (JavaScript's
# toLowerCase), as part of a term they do not (/i without /u). There are no others.
_KELVIN, _DOTTED_I = "\u212a", "\u0130"
# Long texts are read in windows, so that what is found in one never fills the memory.
_WINDOW = 65_536


class Automaton(NamedTuple):
    """Both searches overlap; `longest` leaves out what ends where something longer ends too."""

    longest: Search
    every: Search


def daachorse_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build the faster automaton."""
    automaton = daachorse.DoubleArrayAhoCorasick(list(entries))
    return Automaton(automaton.find_overlapping_no_suffix, automaton.find_overlapping)


def ahocorasick_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build the automaton that has wheels for more platforms."""
    # The contiguous NFA: at 10,000 patterns a DFA takes 2 s and 134 MB to build.
    automaton = BytesAhoCorasick(entries, implementation=Implementation.ContiguousNFA)

    def every(text: bytes) -> list[tuple[int, int, int]]:
        found = automaton.find_matches_as_indexes(text, overlapping=True)
        return [(start, end, entry) for entry, start, end in found]

    def longest(text: bytes) -> list[tuple[int, int, int]]:
        kept: dict[int, tuple[int, int, int]] = {}
        for start, end, entry in every(text):
            if end not in kept or start < kept[end][0]:
                kept[end] = (start, end, entry)
        return list(kept.values())

    return Automaton(longest, every)


best_automaton = daachorse_automaton if HAS_DAACHORSE else ahocorasick_automaton


class Found:
    """What stands in a text. Places are byte offsets into `folded`; `spans` makes them code points."""

    __slots__ = ("_folded", "keyword", "terms", "text")

    def __init__(self, text: str, folded: bytes, terms: list[list[Place]], keyword: int | None) -> None:
        self.text = text
        self.terms = terms
        self.keyword = keyword  # the first one that occurs, by its place in the list that was given
        self._folded = folded

    def spans(self, places: Sequence[Place]) -> list[Place]:
        """Turn places (in order, apart from each other) into code points of the text."""
        if self.text.isascii():
            return list(places)
        spans = []
        at = point = 0
        for start, end in places:
            first = point + len(self._folded[at:start].decode())
            point = first + len(self._folded[start:end].decode())
            at = end
            spans.append((first, point))
        return spans


class Matcher:
    """All terms and keywords in one automaton; it never changes, and any number of threads may share it."""

    def __init__(
        self, keywords: Sequence[str] = (), automaton: Callable[[Sequence[bytes]], Automaton] = best_automaton
    ) -> None:
        """Build from keywords in order of rank; they fold as JavaScript's toLowerCase does."""
        ranks: dict[bytes, int] = {}
        for rank, keyword in enumerate(keywords):
            ranks.setdefault(keyword.lower().encode(), rank)
        lists: dict[bytes, int] = {
            term.encode().lower(): which for which, terms in enumerate(_TERMS) for term in terms
        }
        entries = list(dict.fromkeys([*lists, *ranks]))
        search = automaton(entries)
        self._search = search.longest
        self._has_keywords = bool(ranks)
        self._overlap = max(map(len, entries)) - 1
        # An entry that is found stands for all entries it ends with: their terms (list and length in bytes),
        # and the best rank among them.
        self._terms: list[tuple[Place, ...]] = []
        self._ranks: list[int] = []
        for entry in entries:
            endings = [entries[n] for _, end, n in search.every(entry) if end == len(entry)]
            self._terms.append(tuple((lists[ending], len(ending)) for ending in endings if ending in lists))
            self._ranks.append(min(ranks.get(ending, _NONE) for ending in endings))

    def find(self, text: str) -> Found:
        """Find the places of all terms, and the best-ranked keyword that occurs."""
        if not self._has_keywords or text.isascii():
            folded = text.encode().lower()
            terms, rank = self._scan(folded)
        elif _KELVIN in text or _DOTTED_I in text:
            folded = text.encode().lower()
            terms, _ = self._scan(folded)
            _, rank = self._scan(text.lower().encode())
        else:
            folded = text.lower().encode()
            terms, rank = self._scan(folded)
        return Found(text, folded, terms, None if rank == _NONE else rank)

    def _scan(self, folded: bytes) -> tuple[list[list[Place]], int]:
        terms: list[list[Place]] = [[] for _ in _TERMS]
        best = _NONE
        entry_terms, entry_ranks = self._terms, self._ranks
        for offset, seen, window in _windows(folded, self._overlap):
            for _, end, entry in self._search(window):
                if end <= seen:
                    continue
                if entry_ranks[entry] < best:
                    best = entry_ranks[entry]
                for which, length in entry_terms[entry]:
                    terms[which].append((offset + end - length, offset + end))
        return terms, best


def occurrences(keyword: str, text: str, limit: int) -> list[Place]:
    """Find where a keyword stands in a text, in code points, apart from each other, `limit` at most."""
    keyword, lowered = keyword.lower(), text.lower()
    places: list[Place] = []
    start = lowered.find(keyword)
    while start >= 0 and len(places) < limit:
        places.append((start, start + len(keyword)))
        start = lowered.find(keyword, start + len(keyword))
    if len(lowered) == len(text):
        return places
    # "İ" becomes two characters; a place that begins or ends inside one takes it in whole.
    origin = [index for index, character in enumerate(text) for _ in character.lower()]
    return [(origin[start], origin[end - 1] + 1) for start, end in places]


class HedgeFinder:
    """Tell whether a text hedges, by the seed's list."""

    def __init__(self, automaton: Callable[[Sequence[bytes]], Automaton] = best_automaton) -> None:
        entries = [term.encode().lower() for term in seed.HEDGE]
        self._search = automaton(entries).longest
        self._overlap = max(map(len, entries)) - 1

    def hedges(self, text: str) -> bool:
        return any(self._search(window) for _, _, window in _windows(text.encode().lower(), self._overlap))


def _windows(folded: bytes, overlap: int) -> Iterator[tuple[int, int, bytes]]:
    """Cut a long text: where each window begins, how much of it the one before has shown, and its bytes."""
    if len(folded) <= _WINDOW:
        yield 0, 0, folded
        return
    for at in range(0, len(folded), _WINDOW):
        begin = max(0, at - overlap)
        yield begin, at - begin, folded[begin : at + _WINDOW]
