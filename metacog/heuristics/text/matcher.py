"""Find the seed's terms and the patterns' keywords in a text, in one pass."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from threading import local
from typing import Any, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation
from msgspec import Struct

from ..lexicon import seed
from .spans import Place

try:
    import hyperscan
except ImportError:  # no wheel for this platform
    HAS_HYPERSCAN = False
else:
    HAS_HYPERSCAN = True
    FOLD, ONCE = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
try:
    import daachorse
except ImportError:  # ahocorasick_rs finds the same, a little slower
    HAS_DAACHORSE = False
else:
    HAS_DAACHORSE = True

# In order of their ends: start (or 0: not told), end and number of each entry found in a text.
Search = Callable[[bytes], Sequence[tuple[int, int, int]]]

ABSOLUTE, SOURCE, HEDGE, CONCLUSION, REASONING = range(5)
TERMS = (seed.ABSOLUTE, seed.SOURCE, seed.HEDGE, seed.CONCLUSION, seed.REASONING)
_NONE = 2**62
# The capitals outside ASCII whose small letters hold ASCII. As part of a keyword they fold (JavaScript's
# toLowerCase), as part of a term they do not (/i without /u). There are no others.
_KELVIN, _DOTTED_I = "\u212a", "\u0130"
# Entries up to which ahocorasick_rs builds a DFA: three times as fast, but at 10,000 patterns it takes 2 s and 134 MB.
_DFA_ENTRIES = 1_500
# Entries that Hyperscan compiles together: all 30,000 of 10,000 patterns would take twice the time, and 70 MB.
_COMPILED_TOGETHER = 5_000
# Entries up to which daachorse reads a short text while Hyperscan would still be preparing to.
_FEW_ENTRIES = 100
# Entries that may end at one place: Hyperscan looks at every one of them, each time.
_MANY_ENDINGS = 8


class Automaton(NamedTuple):
    """Both searches overlap; `longest` may leave out what ends where something longer ends too."""

    longest: Search
    every: Search
    window: int  # how much to read at once, so that what is found in it never fills the memory
    leaves_out: bool = True  # whether `longest` does, or else tells each entry for itself
    folds: bool = False  # whether it finds small letters of ASCII in capitals, too
    short: Search | None = None  # finds what `longest` does, and is quicker on some hundred bytes


Build = Callable[[Sequence[bytes], int], Automaton]


def best_automaton(entries: Sequence[bytes], often: int) -> Automaton:
    """Build the fastest there is for these entries; only the first `often` need be told more than once a search."""
    reads_whole = not any(b"\0" in entry for entry in entries)  # Hyperscan would take it for an end
    if HAS_HYPERSCAN and reads_whole and max(len(chain) for _, chain in endings(entries)) <= _MANY_ENDINGS:
        return hyperscan_automaton(entries, often)
    return (daachorse_automaton if HAS_DAACHORSE else ahocorasick_automaton)(entries, often)


def endings(entries: Sequence[bytes]) -> Iterator[tuple[int, Sequence[int]]]:
    """Give each entry and, the shortest first, the entries it ends with (the last is itself), all by number.

    The sequence is another one's a step later.
    """
    chain: list[int] = []
    backwards = [entry[::-1] for entry in entries]
    for number in sorted(range(len(entries)), key=backwards.__getitem__):
        while chain and not backwards[number].startswith(backwards[chain[-1]]):
            chain.pop()
        chain.append(number)
        yield number, chain


class _Scratch(local):
    """Where a search of one thread notes how far it is; it lets other threads run."""

    def __init__(self, database: Any) -> None:
        self.space = database.scratch.clone()


def _compiled(entries: Sequence[bytes], numbers: Sequence[int], often: int) -> tuple[Any, Any, _Scratch]:
    """Compile the entries of these numbers; give what scans a text, what notes each finding in a list, and where."""
    database = hyperscan.Database()
    # Without ids of ours, to which the binding would keep a reference for ever.
    database.compile(
        expressions=[entries[number] for number in numbers],
        flags=[FOLD if number < often else FOLD | ONCE for number in numbers],
        literal=True,
    )

    def note(place: int, start: int, end: int, flags: int, found: list[tuple[int, int, int]]) -> None:
        found.append((start, end, numbers[place]))

    return database.scan, note, _Scratch(database)


def hyperscan_automaton(entries: Sequence[bytes], often: int) -> Automaton:
    """Build the one that reads many bytes at a time; it does not tell starts."""
    # What ends alike is looked at together: fewer places of a text look like one of them.
    order = sorted(range(len(entries)), key=lambda number: entries[number][::-1])
    together = range(0, len(order), _COMPILED_TOGETHER)
    scans = [_compiled(entries, order[at : at + _COMPILED_TOGETHER], often) for at in together]
    first_scan, first_note, first = scans[0]

    # In which order it tells what it finds is not promised.
    def search_one(text: bytes) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        first_scan(text, first_note, 0, found, first.space)
        if len(found) > 1:
            found.sort()
        return found

    def search_all(text: bytes) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        for scan, note, scratch in scans:
            scan(text, note, 0, found, scratch.space)
        found.sort()
        return found

    search = search_one if len(scans) == 1 else search_all
    few = daachorse_automaton(entries, often) if HAS_DAACHORSE and len(entries) <= _FEW_ENTRIES else None
    return Automaton(search, search, window=65_536, leaves_out=False, folds=True, short=few.every if few else None)


def daachorse_automaton(entries: Sequence[bytes], often: int) -> Automaton:
    """Build the one that finds no more than an entry a place, however many end there.

    Most that a text reaches are beginnings of entries: with some of these together, more of it stays in the caches.
    """
    beginnings = [entry[: len(entry) // 2] for entry in entries[::25]]
    automaton = daachorse.DoubleArrayAhoCorasick(list(entries), corpus=beginnings)
    return Automaton(automaton.find_overlapping_no_suffix, automaton.find_overlapping, window=65_536)


def ahocorasick_automaton(entries: Sequence[bytes], often: int) -> Automaton:
    """Build the one that has wheels for the most platforms."""
    kind = Implementation.DFA if len(entries) <= _DFA_ENTRIES else Implementation.ContiguousNFA
    automaton = BytesAhoCorasick(entries, implementation=kind)

    def every(text: bytes) -> list[tuple[int, int, int]]:
        found = automaton.find_matches_as_indexes(text, overlapping=True)
        return [(start, end, entry) for entry, start, end in found]

    def longest(text: bytes) -> list[tuple[int, int, int]]:
        kept: dict[int, tuple[int, int, int]] = {}
        for start, end, entry in every(text):
            if end not in kept or start < kept[end][0]:
                kept[end] = (start, end, entry)
        return list(kept.values())

    return Automaton(longest, every, window=4_096)  # it lists every entry, however many end at one place


NOWHERE: Sequence[Sequence[Place]] = ((),) * len(TERMS)


class Found(Struct, frozen=True, gc=False):
    """What stands in a text. Places are offsets into `encoded`; `spans` gives code points."""

    text: str
    encoded: bytes = b""
    terms: Sequence[Sequence[Place]] = NOWHERE  # the places of each list's terms, by ABSOLUTE, SOURCE, …
    keyword: int | None = None  # the first one that occurs, by its place in the list that was given

    def spans(self, places: Sequence[Place]) -> Sequence[Place]:
        """Turn places (in order, apart from each other) into code points of the text."""
        if self.text.isascii():
            return places
        spans = []
        at = point = 0
        for start, end in places:
            first = point + len(self.encoded[at:start].decode())
            point = first + len(self.encoded[start:end].decode())
            at = end
            spans.append((first, point))
        return spans


def _has_case_beyond_ascii(character: str) -> bool:
    """Tell whether lowering can bring this character, or take it, outside ASCII."""
    return not character.isascii() and (character.lower() != character.upper() or character == "\u0307")


class Matcher:
    """All terms and keywords in one automaton; it never changes, and any number of threads may share it."""

    def __init__(self, keywords: Sequence[str] = (), automaton: Build = best_automaton) -> None:
        """Build from keywords in order of rank; they fold as JavaScript's toLowerCase does."""
        ranks: dict[str, int] = {}
        for rank, keyword in enumerate(keywords):
            ranks.setdefault(keyword.lower(), rank)
        lists = {term.lower(): which for which, terms in enumerate(TERMS) for term in terms}
        texts = list(dict.fromkeys([*lists, *ranks]))
        self.has_keywords = bool(ranks)
        self._needs_unicode = any(map(_has_case_beyond_ascii, set("".join(ranks))))
        entries = [text.encode() for text in texts]
        search = automaton(entries, len(lists))
        self.search, self.search_short = search.longest, search.short or search.longest
        self._window = search.window
        self._folds = search.folds
        self._overlap = max(map(len, entries)) - 1
        # An entry that is found stands for itself, or for all entries it ends with: for the best rank among them,
        # and for their terms (list and length), where there are any.
        self._ranks = array("q", [ranks.get(text, _NONE) for text in texts])
        self._terms: list[tuple[tuple[int, int], ...]] = [()] * len(entries)
        self.lists = [0] * len(entries)  # of what each entry stands for is a term: bit n is the nth list
        for text, which in lists.items():
            number = texts.index(text)
            self._terms[number], self.lists[number] = ((which, len(entries[number])),), 1 << which
        if search.leaves_out:
            for number, chain in endings(entries):
                if len(chain) > 1:  # what it ends with has taken in what that ends with
                    inner = chain[-2]
                    self._ranks[number] = min(self._ranks[number], self._ranks[inner])
                    self._terms[number] = self._terms[inner] + self._terms[number]
                    self.lists[number] |= self.lists[inner]

    def find(self, text: str) -> Found | None:
        """Find the places of all terms, and the best-ranked keyword that occurs; None: nothing at all."""
        if text.isascii() or not self.has_keywords:
            encoded = text.encode()
        elif _KELVIN in text or _DOTTED_I in text:
            return self._find_twice(text)
        else:
            # No letter that folding brings is in most keywords: then to fold ASCII is enough, and far quicker.
            encoded = (text.lower() if self._needs_unicode else text).encode()
        if not self._folds:
            encoded = encoded.lower()
        entries = self.search(encoded) if len(encoded) <= self._window else self._search_long(encoded)
        return self.sort(text, encoded, entries) if entries else None

    def _find_twice(self, text: str) -> Found:
        """Find terms and keywords apart, where they fold differently."""
        encoded, lowered = text.encode().lower(), text.lower().encode()
        terms = self.sort(text, encoded, self._search_long(encoded)).terms
        return Found(text, encoded, terms, self.sort(text, lowered, self._search_long(lowered)).keyword)

    def sort(self, text: str, encoded: bytes, entries: Sequence[tuple[int, int, int]]) -> Found:
        """Tell what `search` has found in a text that was encoded, by lists and ranks."""
        terms: tuple[list[Place], ...] = ([], [], [], [], [])
        meanings, ranks = self._terms, self._ranks
        best = _NONE
        for _, end, entry in entries:
            for which, length in meanings[entry]:
                terms[which].append((end - length, end))
            if (rank := ranks[entry]) < best:
                best = rank
        return Found(text, encoded, terms, None if best == _NONE else best)

    def _search_long(self, encoded: bytes) -> list[tuple[int, int, int]]:
        """Search window by window; of a keyword, which can be found a million times, keep one finding."""
        kept: list[tuple[int, int, int]] = []
        keywords: set[int] = set()
        for at in range(0, len(encoded), self._window):
            offset = max(0, at - self._overlap)
            found = self.search(encoded[offset : at + self._window])
            kept += [
                (offset + start, offset + end, entry)
                for start, end, entry in found
                if self._terms[entry] and offset + end > at
            ]
            keywords.update([entry for _, _, entry in found if not self._terms[entry]])
        return kept + [(0, 0, entry) for entry in keywords]


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
    return _before_lowering(text, places)


def _before_lowering(text: str, places: Sequence[Place]) -> list[Place]:
    """Shift places by the characters that lowering adds: "İ" becomes two, and nothing else grows.

    A place that begins or ends between those two takes in the whole letter, unless the place before has it.
    """
    added = "\ud800"  # in no text that can be encoded
    shadow = text.replace(_DOTTED_I, _DOTTED_I + added)
    shifted = []
    at = shift = 0
    for start, end in places:
        start = max(at, start - (shadow[start] == added))
        shift += shadow.count(added, at, start)
        first = start - shift
        shift += shadow.count(added, start, end)
        shifted.append((first, end - shift))
        at = end
    return shifted
