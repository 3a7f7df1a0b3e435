"""Find the seed's terms and the patterns' keywords in a text, in one pass."""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from threading import local
from typing import Any, NamedTuple

import hyperscan
from msgspec import Struct

from ..lexicon import seed
from .spans import Place

Finding = tuple[int, int, int]  # a 0, the end and the number of an entry that stands in a text

ABSOLUTE, SOURCE, HEDGE, CONCLUSION, REASONING = range(5)
TERMS = (seed.ABSOLUTE, seed.SOURCE, seed.HEDGE, seed.CONCLUSION, seed.REASONING)
_NONE = 2**62
# The capitals outside ASCII whose small letters hold ASCII. As part of a keyword they fold (JavaScript's
# toLowerCase), as part of a term they do not (/i without /u). There are no others.
_KELVIN, _DOTTED_I = "\u212a", "\u0130"
WINDOW = 65_536  # bytes read at once, so that what is found in them never fills the memory
# Entries compiled together: all 30,000 of 10,000 patterns would take twice the time, and 70 MB.
_COMPILED_TOGETHER = 5_000
# Entries that may end at one place: Hyperscan looks at every one of them, each time.
MANY_ENDINGS = 8


class Scan(NamedTuple):
    """Entries compiled together: `call(text, note, 0, found, own.space)` adds to a list, in no certain order.

    Each thread notes in a space of its own how far it is, since a search lets other threads run.
    """

    call: Callable[..., None]
    note: Callable[..., None]
    own: local
    make_space: Callable[[], Any]


class Automaton(NamedTuple):
    """Finds entries, in order of their ends, in any text; their small letters in capitals of ASCII, too."""

    search: Callable[[bytes], list[Finding]]
    apart: Set[int]  # of these it tells only the longest that ends at a place
    scans: Sequence[Scan]  # what searches for all others


def automaton_of(entries: Sequence[bytes], often: int) -> Automaton:
    """Build what finds these entries, which are in small letters; the first `often` are told each time they occur."""
    order = []
    apart: set[int] = set()
    for number, chain in endings(entries):
        order.append(number)
        if len(chain) > MANY_ENDINGS or b"\0" in entries[number]:  # which the binding would take for its end
            apart.update(chain)
    # What ends alike is looked at together: fewer places of a text look like one of them.
    order = [number for number in order if number not in apart]
    together = range(0, len(order), _COMPILED_TOGETHER)
    scans = [_compiled(entries, order[at : at + _COMPILED_TOGETHER], often) for at in together]
    find_longest = _longest_of({number: entries[number] for number in apart}) if apart else None

    def search(text: bytes) -> list[Finding]:
        found: list[Finding] = find_longest(text.lower()) if find_longest else []
        for call, note, own, make_space in scans:
            try:
                space = own.space
            except AttributeError:  # the first search of this thread; half the time that a subclass of `local` takes
                space = own.space = make_space()
            call(text, note, 0, found, space)
        if len(found) > 1:
            found.sort()
        return found

    return Automaton(search, apart, scans)


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


def _compiled(entries: Sequence[bytes], numbers: Sequence[int], often: int) -> Scan:
    database = hyperscan.Database()
    fold, once = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
    # Without ids of ours, to which the binding would keep a reference for ever.
    database.compile(
        expressions=[entries[number] for number in numbers],
        flags=[fold if number < often else fold | once for number in numbers],
        literal=True,
    )

    def note(place: int, start: int, end: int, flags: int, found: list[Finding]) -> None:
        found.append((start, end, numbers[place]))

    return Scan(database.scan, note, local(), database.scratch.clone)


def _longest_of(entries: Mapping[int, bytes]) -> Callable[[bytes], list[Finding]]:
    """Give what finds the longest entry that ends at a place: slow, but however many end there, no slower."""
    leads: list[dict[int, int]] = [{}]  # from each state, by the next byte, to another
    longest = [-1]  # the entry that ends in each state
    for number, entry in entries.items():
        state = 0
        for byte in entry:
            state = leads[state].setdefault(byte, len(leads))
            if state == len(leads):
                leads.append({})
                longest.append(-1)
        longest[state] = number
    back = [0] * len(leads)  # the state of the longest ending of what was read that is a beginning, too

    def step(state: int, byte: int) -> int:
        while byte not in leads[state]:
            if not state:
                return 0
            state = back[state]
        return leads[state][byte]

    states = [0]
    for state in states:
        for byte, after in leads[state].items():
            states.append(after)
            if state:
                back[after] = step(back[state], byte)
            if longest[after] < 0:
                longest[after] = longest[back[after]]

    def search(text: bytes) -> list[Finding]:
        found = []
        state = 0
        for end, byte in enumerate(text, 1):
            state = step(state, byte)
            if longest[state] >= 0:
                found.append((0, end, longest[state]))
        return found

    return search


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

    def __init__(self, keywords: Sequence[str] = (), window: int = WINDOW) -> None:
        """Build from keywords in order of rank; they fold as JavaScript's toLowerCase does."""
        ranks: dict[str, int] = {}
        for rank, keyword in enumerate(keywords):
            ranks.setdefault(keyword.lower(), rank)
        lists = {term.lower(): which for which, terms in enumerate(TERMS) for term in terms}
        texts = list(dict.fromkeys([*lists, *ranks]))
        self.has_keywords = bool(ranks)
        self._needs_unicode = any(map(_has_case_beyond_ascii, set("".join(ranks))))
        entries = [text.encode() for text in texts]
        self.search, apart, self.scans = automaton_of(entries, len(lists))
        self._window = window
        self._overlap = max(map(len, entries)) - 1
        # An entry that is found stands for itself, or for all entries it ends with: for the best rank among them,
        # and for their terms (list and length), where there are any.
        self._ranks = array("q", [ranks.get(text, _NONE) for text in texts])
        self._terms: list[tuple[tuple[int, int], ...]] = [()] * len(entries)
        self.lists = [0] * len(entries)  # of what each entry stands for is a term: bit n is the nth list
        for text, which in lists.items():
            number = texts.index(text)
            self._terms[number], self.lists[number] = ((which, len(entries[number])),), 1 << which
        for number, chain in endings(entries) if apart else ():
            if number in apart and len(chain) > 1:  # what it ends with has taken in what that ends with
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
        entries = self.search(encoded) if len(encoded) <= self._window else self._search_long(encoded)
        return self.sort(text, encoded, entries) if entries else None

    def _find_twice(self, text: str) -> Found:
        """Find terms and keywords apart, where they fold differently."""
        encoded, lowered = text.encode(), text.lower().encode()
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


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


@lru_cache(maxsize=1_000)
def linear_regex(expression: str) -> Callable[[str], bool]:
    """Give what tells whether an expression is found anywhere in a text, in time linear in its length.

    Classes are Unicode's; beside a `\\b` or `\\B` those of ASCII, as in RE2 and JavaScript: Hyperscan knows no other
    boundaries. ValueError for one that is none, or that needs to go back (look-around, back-references). What it gives
    raises ValueError for a text beyond ASCII where an expression is too large with Unicode's classes.
    """
    has_boundary = any(found[0] in (r"\b", r"\B") for found in _ESCAPE.finditer(expression))
    if has_boundary and not expression.isascii():
        raise ValueError(r"must have no letters beyond ASCII beside \b: it would not see where words of these end")
    written = _ESCAPE.sub(lambda found: rf"\x{{{found[1]}}}" if found[1] else found[0], expression)
    narrow = _searching(written, hyperscan.HS_FLAG_UTF8)
    wide = [narrow] if has_boundary else []  # compiled once it is needed: that takes a hundred times as long

    def search(text: str) -> bool:
        if text.isascii():  # of which both say the same
            return narrow(text)
        if not wide:
            wide.append(_searching(written, hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_UCP))
        return wide[0](text)

    return search


def _searching(expression: str, flags: int) -> Callable[[str], bool]:
    database = hyperscan.Database()
    flags |= hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_ALLOWEMPTY
    try:
        database.compile(expressions=[expression.encode()], flags=[flags])
    except hyperscan.error as error:
        why = str(error).rstrip(".")
        raise ValueError(f"is no regular expression that can be searched in linear time: {why}") from None

    def search(text: str) -> bool:
        found: list[int] = []
        space = database.scratch.clone()  # of this search alone: others may go on in other threads
        database.scan(text.encode(), match_event_handler=lambda *where: found.append(0), scratch=space)
        return bool(found)

    return search


def standing_in(words: Sequence[str]) -> Callable[[str], list[str]]:
    """Give what tells which of these words stand anywhere in a text, as they are written, in one pass."""
    database = hyperscan.Database()
    flags = [hyperscan.HS_FLAG_SINGLEMATCH] * len(words)
    database.compile(expressions=[re.escape(each).encode() for each in words], ids=range(len(words)), flags=flags)

    def standing(text: str) -> list[str]:
        found = set[int]()

        def note(word: int, *_rest: object) -> None:
            found.add(word)

        database.scan(text.encode(errors="replace"), match_event_handler=note, scratch=database.scratch.clone())
        return [words[each] for each in sorted(found)]

    return standing


def linear_places(expressions: Sequence[str]) -> Callable[[str], list[Place]]:
    """Give what finds where expressions stand in a text, in time linear in its length; places that meet are one.

    ValueError for one that is none, that needs to go back, or that matches an empty text.
    """
    database = hyperscan.Database()
    # Of bytes: of all characters there are, twenty in a row are more than Hyperscan can tell the beginning of.
    flags = [hyperscan.HS_FLAG_SOM_LEFTMOST] * len(expressions)
    try:
        database.compile(expressions=[each.encode() for each in expressions], flags=flags)
    except hyperscan.error as error:
        why = str(error).rstrip(".")
        raise ValueError(f"is no regular expression that can be searched in linear time: {why}") from None

    def places(text: str) -> list[Place]:
        found: dict[int, int] = {}  # of each beginning the furthest end, in bytes

        def note(_expression: int, start: int, end: int, *_rest: object) -> None:
            found[start] = max(end, found.get(start, 0))

        encoded = text.encode(errors="replace")  # half a character takes one place, as it does in the text
        database.scan(encoded, match_event_handler=note, scratch=database.scratch.clone())
        return [*_of_characters(encoded, sorted(found.items()))]

    return places


def _of_characters(encoded: bytes, found: Sequence[Place]) -> Iterator[Place]:
    """Give places of bytes, in order, as places of characters."""
    at = characters = 0

    def upto(place: int) -> int:
        nonlocal at, characters
        characters += len(encoded[at:place].decode(errors="ignore"))
        at = place
        return characters

    joined: list[Place] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    for start, end in joined:
        yield upto(start), upto(end)
