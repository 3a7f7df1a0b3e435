"""Find the seed's terms and the patterns' keywords in a text, in one pass."""

from array import array
from codecs import utf_16_le_encode
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation
from msgspec import Struct

from .lexicon import seed
from .shadow import is_wide

try:
    import daachorse
except ImportError:  # no wheel for this platform; ahocorasick_rs finds the same, a little slower
    HAS_DAACHORSE = False
else:
    HAS_DAACHORSE = True

Place = tuple[int, int]
# Start, end and number of each entry found in a text, in the order in which they end.
Search = Callable[[Any], Sequence[tuple[int, int, int]]]

ABSOLUTE, SOURCE, HEDGE, CONCLUSION, REASONING = range(5)
TERMS = (seed.ABSOLUTE, seed.SOURCE, seed.HEDGE, seed.CONCLUSION, seed.REASONING)
_NONE = 2**62
# The capitals outside ASCII whose small letters hold ASCII. As part of a keyword they fold (JavaScript's
# toLowerCase), as part of a term they do not (/i without /u). There are no others.
_KELVIN, _DOTTED_I = "\u212a", "\u0130"
# Entries up to which ahocorasick_rs builds a DFA: three times as fast, but at 10,000 patterns it takes 2 s and 134 MB.
_DFA_ENTRIES = 1_500
# Characters from which on it matters in which encoding a text is shorter, and entries up to which it is worth an
# automaton more; with more entries than that, one automaton that reads characters serves all texts.
_LONG_ENOUGH, _FEW_ENTRIES = 200, 5_000
# Entries up to which a DFA stays in the caches although texts reach most of it, since keywords begin as texts do.
_SMALL_DFA = 300


class Automaton(NamedTuple):
    """Both searches overlap; `longest` leaves out what ends where something longer ends too."""

    longest: Search
    every: Search
    window: int  # how much to read at once, so that what is found in it never fills the memory
    reads_characters: bool = False  # strings, or else bytes


def daachorse_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build the faster automaton.

    Most that a text reaches are beginnings of entries: with some of these together, more of it stays in the caches.
    """
    beginnings = [entry[: len(entry) // 2] for entry in entries[::25]]
    automaton = daachorse.DoubleArrayAhoCorasick(list(entries), corpus=beginnings)
    return Automaton(automaton.find_overlapping_no_suffix, automaton.find_overlapping, window=65_536)


def character_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build one that is smaller, and the fastest with thousands of entries; it reads strings."""
    words = [entry.decode() for entry in entries]
    beginnings = [word[: len(word) // 2] for word in words[::25]]
    automaton = daachorse.CharwiseDoubleArrayAhoCorasick(words, corpus=beginnings)
    return Automaton(automaton.find_overlapping_no_suffix, automaton.find_overlapping, 65_536, reads_characters=True)


def ahocorasick_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build the automaton that has wheels for more platforms."""
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


best_automaton = daachorse_automaton if HAS_DAACHORSE else ahocorasick_automaton
largest_automaton = character_automaton if HAS_DAACHORSE else ahocorasick_automaton


def quickest_automaton(entries: Sequence[bytes]) -> Automaton:
    """Build a DFA for some hundred entries; daachorse reads ahead for few of them, and stays small with many."""
    return (ahocorasick_automaton if 100 <= len(entries) <= 1_400 else best_automaton)(entries)


NOWHERE: Sequence[Sequence[Place]] = ((),) * len(TERMS)


class Found(Struct, frozen=True, gc=False):
    """What stands in a text. Places are offsets into `folded`, where that is bytes; `spans` gives code points."""

    text: str
    folded: bytes | str = ""  # a string: places are code points of the text
    terms: Sequence[Sequence[Place]] = NOWHERE  # the places of each list's terms, by ABSOLUTE, SOURCE, …
    keyword: int | None = None  # the first one that occurs, by its place in the list that was given

    def spans(self, places: Sequence[Place]) -> Sequence[Place]:
        """Turn places (in order, apart from each other) into code points of the text."""
        if isinstance(self.folded, str) or self.text.isascii():
            return places
        spans = []
        at = point = 0
        for start, end in places:
            first = point + len(self.folded[at:start].decode())
            point = first + len(self.folded[start:end].decode())
            at = end
            spans.append((first, point))
        return spans


def _has_case_beyond_ascii(character: str) -> bool:
    """Tell whether lowering can bring this character, or take it, outside ASCII."""
    return not character.isascii() and (character.lower() != character.upper() or character == "\u0307")


class _Word(NamedTuple):
    """A term, a keyword, or both."""

    text: str  # folded
    rank: int  # the keyword's place in the list that was given, or _NONE
    terms: int | None  # the list that it is a term of


class Matcher:
    """All terms and keywords in one automaton; it never changes, and any number of threads may share it.

    What is mostly beyond Latin, where UTF-16 is shorter, is searched as that by an automaton of its own, which is built
    when the first such text comes, unless there are thousands of entries.
    """

    def __init__(
        self, keywords: Sequence[str] = (), automaton: Callable[[Sequence[bytes]], Automaton] | None = None
    ) -> None:
        """Build from keywords in order of rank; they fold as JavaScript's toLowerCase does."""
        ranks: dict[str, int] = {}
        for rank, keyword in enumerate(keywords):
            ranks.setdefault(keyword.lower(), rank)
        lists = {term.lower(): which for which, terms in enumerate(TERMS) for term in terms}
        texts = dict.fromkeys([*lists, *ranks])
        self._words = [_Word(text, ranks.get(text, _NONE), lists.get(text)) for text in texts]
        self._automaton = automaton
        self.has_keywords = bool(ranks)
        self._needs_unicode = any(map(_has_case_beyond_ascii, set("".join(ranks))))
        has_few = len(texts) <= _FEW_ENTRIES
        if automaton is None:
            is_dfa_small = len(texts) <= _SMALL_DFA
            automaton = quickest_automaton if is_dfa_small else best_automaton if has_few else largest_automaton
        search = automaton([text.encode() for text in texts])
        self._reads_characters = search.reads_characters
        self._may_be_wide = has_few and not search.reads_characters
        self._write: Callable[[str], bytes | str] = str if search.reads_characters else str.encode
        entries = [self._write(text) for text in texts]
        self.search = search.longest
        self._window = search.window
        self._overlap = max(map(len, entries)) - 1
        # An entry that is found stands for all entries it ends with: for the best rank among them, and for
        # their terms (list and length), where there are any.
        self._ranks = array("q")
        self._terms: list[tuple[tuple[int, int], ...]] = []
        self.lists: list[int] = []  # of what each entry ends with is a term: bit n is the nth list
        for entry in entries:
            endings = [self._words[other] for _, end, other in search.every(entry) if end == len(entry)]
            self._ranks.append(min([word.rank for word in endings]))
            terms = [(word.terms, len(self._write(word.text))) for word in endings if word.terms is not None]
            self._terms.append(tuple(terms))
            self.lists.append(sum({1 << which for which, _ in terms}))

    @cached_property
    def _wide(self) -> tuple[Search, list[list[_Word]]]:
        """Build the search in UTF-16, and the words that each entry it finds may stand for."""
        alike: dict[bytes, list[_Word]] = {}
        for word in self._words:
            # Other letters than those of ASCII become the same here, too: they are told apart once they are found.
            alike.setdefault(utf_16_le_encode(word.text)[0].lower(), []).append(word)
        entries = list(alike)
        search = (self._automaton or best_automaton)(entries)
        endings = ([other for _, end, other in search.every(entry) if end == len(entry)] for entry in entries)
        return search.longest, [[word for other in others for word in alike[entries[other]]] for others in endings]

    def find(self, text: str) -> Found | None:
        """Find the places of all terms, and the best-ranked keyword that occurs; None: nothing at all."""
        folded: bytes | str
        if text.isascii():
            folded = text.lower() if self._reads_characters else text.encode().lower()
        elif self.has_keywords and (_KELVIN in text or _DOTTED_I in text):
            return self._find_twice(text)
        elif self._needs_unicode:
            folded = self._write(text.lower())
        else:
            # No letter that folding brings is in a keyword: to fold the ASCII ones is enough, and far quicker.
            length = len(text)
            if length >= _LONG_ENOUGH and self._may_be_wide and is_wide(text):
                written = utf_16_le_encode(text)[0].lower()
                if len(written) == 2 * length <= self._window:
                    return self._find_wide(text, written)
            folded = self._with_small_ascii(text)
        entries = self.search(folded) if len(folded) <= self._window else self._search_long(folded)
        return self.sort(text, folded, entries) if entries else None

    def _find_wide(self, text: str, written: bytes) -> Found | None:
        """Find in a text that has a UTF-16 unit for each code point."""
        search, meanings = self._wide
        entries = search(written)
        if not entries:
            return None
        terms: tuple[list[Place], ...] = ([], [], [], [], [])
        best = _NONE
        for _, end, entry in entries:
            if end & 1:
                continue  # the end of one unit and the beginning of the next
            end >>= 1
            for word, rank, which in meanings[entry]:
                start = end - len(word)
                if text[start:end] == word or text[start:end].lower() == word:
                    if which is not None:
                        terms[which].append((start, end))
                    if rank < best:
                        best = rank
        return Found(text, "", terms, None if best == _NONE else best)

    def _with_small_ascii(self, text: str) -> bytes | str:
        folded = text.encode().lower()
        return folded.decode() if self._reads_characters else folded

    def _find_twice(self, text: str) -> Found:
        """Find terms and keywords apart, where they fold differently."""
        folded, lowered = self._with_small_ascii(text), self._write(text.lower())
        terms = self.sort(text, folded, self._search_long(folded)).terms
        return Found(text, folded, terms, self.sort(text, lowered, self._search_long(lowered)).keyword)

    def sort(self, text: str, folded: bytes | str, entries: Sequence[tuple[int, int, int]]) -> Found:
        """Tell what `search` has found in a text that was folded, by lists and ranks."""
        terms: tuple[list[Place], ...] = ([], [], [], [], [])
        meanings, ranks = self._terms, self._ranks
        best = _NONE
        for _, end, entry in entries:
            for which, length in meanings[entry]:
                terms[which].append((end - length, end))
            if (rank := ranks[entry]) < best:
                best = rank
        return Found(text, folded, terms, None if best == _NONE else best)

    def _search_long(self, folded: bytes | str) -> list[tuple[int, int, int]]:
        """Search window by window; of a keyword, which can be found a million times, keep one finding."""
        kept: list[tuple[int, int, int]] = []
        keywords: set[int] = set()
        for at in range(0, len(folded), self._window):
            offset = max(0, at - self._overlap)
            found = self.search(folded[offset : at + self._window])
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
