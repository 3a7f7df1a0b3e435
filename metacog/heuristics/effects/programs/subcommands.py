"""The rows of one program, and which of them a command's subcommand asks for."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from .rows import Row
from .words import Word

GLOBS = frozenset("*?[")


class Program:
    """The rows of one program, found by one word of their subcommands and its place."""

    def __init__(self, rows: Sequence["Row"]) -> None:
        self.plain = next((row for row in rows if () in row.subcommands), None)
        self.base = self.plain or Row({})
        self._longest = max((len(words) for row in rows for words in row.subcommands), default=0)
        self._by_word: dict[tuple[int, str], list[_Subcommand]] = {}
        self._globs: list[_Subcommand] = []
        for row in rows:
            for words in filter(None, row.subcommands):
                key = _key(words)
                kept = self._globs if key is None else self._by_word.setdefault(key, [])
                kept.append(_Subcommand(words, row))

    def row_for(self, words: Sequence[Word]) -> tuple["Row | None", tuple[int, ...]]:
        """The row whose subcommand asks for most of `words`, else the one without, and where that stands."""
        if not self._longest:
            return self.plain, ()
        places = _operand_places(self.base, words, self._longest)
        given = [words[at].text.lower() if self.base.fold else words[at].text for at in places if words[at].exact]
        starts = [(place, text[: text.index("-") + 1]) for place, text in enumerate(given) if "-" in text]
        some = list(self._globs)
        for key in (*starts, *enumerate(given)):
            some += self._by_word.get(key, ())
        best: _Subcommand | None = None
        for subcommand in some:
            if (best is None or subcommand.size > best.size) and subcommand.fits(given):
                best = subcommand
        return (best.row, tuple(places[: len(best.words)])) if best is not None else (self.plain, ())


class _Subcommand:
    """Words that may be globs. `size` is how many letters they ask for, then how many words."""

    __slots__ = ("is_plain", "row", "size", "words")

    def __init__(self, words: Sequence[str], row: "Row") -> None:
        self.words = [_Glob(word) if is_glob(word) else word for word in words]
        self.row = row
        self.size = (sum(len(word) - word.count("*") for word in words), len(words))
        self.is_plain = not any(map(is_glob, words))

    def fits(self, given: Sequence[str]) -> bool:
        if self.is_plain:
            return given[: len(self.words)] == self.words
        if len(self.words) > len(given):
            return False
        return all(
            word == text if isinstance(word, str) else word.fits(text)
            for word, text in zip(self.words, given, strict=False)
        )


def _key(words: Sequence[str]) -> tuple[int, str] | None:
    """The place and the text by which a subcommand is found: its longest plain word, else how it starts (`list-`)."""
    plain = [place for place, word in enumerate(words) if not is_glob(word)]
    if plain:
        place = max(plain, key=lambda place: len(words[place]))
        return place, words[place]
    for place, word in enumerate(words):
        start, dash, _ = word.partition("-")
        if dash and not is_glob(start):
            return place, start + dash
    return None


class _Glob:
    """A glob; one with a single star is looked at without a regular expression."""

    __slots__ = ("head", "pattern", "tail")

    def __init__(self, pattern: str) -> None:
        head, _, tail = pattern.partition("*")
        self.head, self.tail = head, tail
        self.pattern = pattern if is_glob(head) or is_glob(tail) else ""

    def fits(self, text: str) -> bool:
        if self.pattern:
            return fnmatchcase(text, self.pattern)
        return text.startswith(self.head) and text.endswith(self.tail) and len(text) >= len(self.head) + len(self.tail)


def is_glob(word: str) -> bool:
    return not GLOBS.isdisjoint(word)


def _operand_places(base: Row, words: Sequence[Word], most: int) -> list[int]:
    """Where the first operands stand, by the flags that go before a subcommand."""
    places: list[int] = []
    at = 0
    while at < len(words) and len(places) < most:
        word = words[at]
        if not word.text.startswith("-") or word.text == "-":
            if word.loose:
                break
            places.append(at)
        else:
            flag = base.flags.get(word.text)
            at += flag.takes if flag is not None else 0
        at += 1
    return places
