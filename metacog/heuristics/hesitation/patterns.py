"""Error patterns: past mistakes, any of whose keywords in a response recalls them (seed 000, "Error Pattern")."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..text.matcher import Matcher
from ..text.shadow import is_blank
from .sense import Reader

MAX_PATTERNS = 10_000
MAX_KEYWORDS = 64
MAX_KEYWORD_LENGTH = 200
MIN_KEYWORD_LENGTH = 2  # one character fires on nearly everything


def is_too_short(keyword: str) -> bool:
    """Tell whether a keyword is blank or of one character. Nobody may enter it; what is stored goes on being scored."""
    return len(keyword.strip()) < MIN_KEYWORD_LENGTH or is_blank(keyword)


class PatternError(ValueError):
    """A pattern that cannot be used; `index` is its place in the list, `reason` says why."""

    def __init__(self, index: int, name: str, reason: str) -> None:
        self.index = index
        self.reason = reason
        super().__init__(f"pattern {index}{name}: {reason}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A past mistake: any of the keywords in a response recalls it."""

    id: str
    keywords: tuple[str, ...]
    description: str


def patterns_in(document: Any) -> tuple[list[Any] | None, dict[str, int]]:
    """Find the patterns in a file that was read: their list (None when there is none), and how many of what else.

    They are the file itself, or its object's `patterns`, or `errorPatterns` as in the origin's state, beside what was
    held there. Nothing of them is checked or changed.
    """
    if isinstance(document, list):
        return document, {}
    if not isinstance(document, Mapping):
        return None, {}
    for name in ("patterns", "errorPatterns"):
        if isinstance(found := document.get(name), list):
            others = {key: value for key, value in document.items() if key != name}
            left = {key: len(value) if isinstance(value, list) else 1 for key, value in others.items()}
            return found, left
    return None, {}


class Patterns:
    """Patterns, and what finds them: under each profile another automaton, built when it is first wanted."""

    def __init__(self, given: Iterable[Mapping[str, Any]]) -> None:
        """Check patterns in the seed's shape, or raise PatternError."""
        self.all = patterns = _check_patterns(given)
        # All keywords in order, and the number of the pattern each belongs to.
        self.keywords = [keyword for pattern in patterns for keyword in pattern.keywords]
        self.owners = array("H", (n for n, pattern in enumerate(patterns) for _ in pattern.keywords))

    @cached_property
    def matcher(self) -> Matcher:
        return Matcher(self.keywords)

    @cached_property
    def reader(self) -> Reader:
        return Reader(self.keywords)

    def of(self, keyword: int) -> tuple[Pattern, str]:
        """Give the pattern a keyword belongs to, and the keyword, by its number."""
        return self.all[self.owners[keyword]], self.keywords[keyword]


def refuse_short_keywords(patterns: Iterable[Mapping[str, Any]]) -> None:
    """Raise PatternError where a keyword is one that nobody may enter; for patterns that are in the seed's shape."""
    for index, pattern in enumerate(patterns):
        for place, keyword in enumerate(pattern["keywords"]):
            if is_too_short(keyword):
                reason = f"keyword {place}, {keyword!r}, is too short; it needs {MIN_KEYWORD_LENGTH} characters or more"
                raise PatternError(index, f" ({pattern['id']})", reason)


def _check_patterns(patterns: Iterable[Mapping[str, Any]]) -> tuple[Pattern, ...]:
    checked = []
    for index, pattern in enumerate(patterns):
        if index == MAX_PATTERNS:
            raise PatternError(index, "", f"more than {MAX_PATTERNS:,} patterns; retire some")
        if not isinstance(pattern, Mapping):
            raise PatternError(index, "", "must be an object")
        identifier = pattern.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise PatternError(index, "", "needs an id, a string that is not empty")
        reason = _fault(pattern)
        if reason:
            raise PatternError(index, f" ({identifier})", reason)
        checked.append(Pattern(identifier, tuple(pattern["keywords"]), pattern.get("description") or ""))
    return tuple(checked)


def _fault(pattern: Mapping[str, Any]) -> str | None:
    keywords, description = pattern.get("keywords"), pattern.get("description")
    if description is not None and not isinstance(description, str):
        return "its description must be a string"
    if not isinstance(keywords, list | tuple):
        return "its keywords must be a list of strings"
    if len(keywords) > MAX_KEYWORDS:
        return f"has {len(keywords)} keywords; {MAX_KEYWORDS} at most"
    for place, keyword in enumerate(keywords):
        if not isinstance(keyword, str):
            return f"keyword {place} must be a string"
        if not keyword:
            return f"keyword {place} is empty and would match everything"
        if len(keyword) > MAX_KEYWORD_LENGTH:
            return f"keyword {place} has {len(keyword)} characters; {MAX_KEYWORD_LENGTH} at most"
        if any("\ud800" <= character <= "\udfff" for character in keyword):
            return f"keyword {place} holds half of a surrogate pair"
    return None
