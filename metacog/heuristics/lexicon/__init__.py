"""What is looked for, and how a mark is worded: one file a language, and the seed's own lists.

To read a language more: a module with the names that `en` has, called by its two letters (ISO 639-1), and nothing else.
What each subject wants of it is in `shapes`. With its MARKS agents may be of that language, so there it gives the other
wordings, too (docs/architecture.md).
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

LANGUAGES = tuple(import_module(f".{file.name}", __name__) for file in iter_modules(__path__) if len(file.name) == 2)
# By BCP 47 language; each maps a kind to its wording, in which "{score}" stands for the score.
MARKS: Mapping[str, Mapping[str, str]] = {tag: marks for language in LANGUAGES for tag, marks in language.MARKS.items()}

_Words = TypeVar("_Words", bound=tuple[Any, ...])


def together(words: Iterable[_Words]) -> _Words:
    """Put what the languages say of one subject together, in their order: a group of the same shape.

    An expression becomes one that matches where any of them does; of a mapping the first language that has a key says
    what it stands for.
    """
    groups = tuple(words)
    return type(groups[0])(*map(_joined, zip(*groups, strict=True)))


def either(expressions: Iterable[str]) -> str:
    """Join expressions, of which "" stands for none, to alternatives; one that never matches where there is none."""
    return "|".join(filter(None, expressions)) or "(?!)"


def _joined(values: tuple[Any, ...]) -> Any:
    first = values[0]
    if isinstance(first, str):
        return either(values)
    if isinstance(first, Mapping):
        found: dict[Any, Any] = {}
        for each in values:
            for key, value in each.items():
                found.setdefault(key, value)
        return found
    if isinstance(first, frozenset):
        return frozenset().union(*values)
    return tuple(one for each in values for one in each)


__all__ = ["LANGUAGES", "MARKS", "either", "together"]
