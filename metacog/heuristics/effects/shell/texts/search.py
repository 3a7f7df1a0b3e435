"""What `find` finds: the names that its expression asks for, at each of its actions."""

from collections.abc import Sequence
from typing import NamedTuple

from ...programs import Word

MOST_DEPTH = 20  # of brackets and negations
RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
PRINTS = frozenset({"-print", "-print0"})
NAMES = frozenset({"-name", "-iname"})
PATHS = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
ORS = frozenset({"-o", "-or", ","})
Names = tuple[str, ...] | None  # None: any


class Search(NamedTuple):
    """The names of what each `-exec` gets in their order, of what is deleted, and of what is printed."""

    run: list[Names]
    deleted: Names
    printed: Names


def search(words: Sequence[Word]) -> Search:
    """Read the words of `find`."""
    expression = _Expression([word.text for word in words])
    given = expression.either(None)
    return Search(
        expression.run,
        _any_of(expression.deleted) if expression.deleted else None,
        _any_of(expression.printed) if expression.printed else given,
    )


def below(roots: Sequence[Word], names: Names) -> list[Word]:
    """What is found below directories: `src/**/*.pyc`, `src/**`."""
    return [
        root._replace(text=f"{root.text.rstrip('/')}/**{'/' if name else ''}{name}", exact=False, at=None)
        for root in roots
        for name in names or ("",)
    ]


def _any_of(found: Sequence[Names]) -> Names:
    return None if None in found else tuple(name for names in found for name in names or ())


class _Expression:
    """An expression read from left to right: what stands before an action narrows what it gets."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.at, self.depth = words, 0, 0
        self.run: list[Names] = []
        self.deleted: list[Names] = []
        self.printed: list[Names] = []

    def either(self, before: Names) -> Names:
        found = [self._all(before)]
        while self._word in ORS:
            self.at += 1
            found.append(self._all(before))
        return _any_of(found)

    @property
    def _word(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def _all(self, before: Names) -> Names:
        names: Names = None
        while self.at < len(self.words) and self._word not in ORS and self._word != ")":
            found = self._factor(names or before)
            names = names or found
        return names

    def _factor(self, before: Names) -> Names:
        """The names that the next part asks for."""
        word = self._word
        self.at += 1
        if word in {"(", "!", "-not"}:
            return self._inner(word, before)
        if word in NAMES:
            self.at += 1
            return (self.words[self.at - 1],) if self.at <= len(self.words) else None
        if word in PATHS:
            pattern = self._word
            self.at += 1
            return (pattern[2:],) if pattern.startswith("*/") else None
        if word in RUNS:
            self.run.append(before)
            while self.at < len(self.words) and self._word not in {";", "+"}:
                self.at += 1
            self.at += 1
        elif word == "-delete":
            self.deleted.append(before)
        elif word in PRINTS:
            self.printed.append(before)
        return None

    def _inner(self, word: str, before: Names) -> Names:
        """What stands in brackets, or is negated, which asks for no name."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.at = len(self.words)
            return None
        found = self.either(before) if word == "(" else self._factor(before)
        self.at += word == "("
        self.depth -= 1
        return found if word == "(" else None
