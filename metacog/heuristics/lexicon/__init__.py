"""What is looked for, and how a mark is worded: one file a language, and the seed's own lists.

To read a language more: a module with the names that `en` has, called by its two letters (ISO 639-1), and nothing else.
With its MARKS agents may be of that language, so there it takes the other wordings, too (docs/architecture.md).
"""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

LANGUAGES = tuple(import_module(f".{file.name}", __name__) for file in iter_modules(__path__) if len(file.name) == 2)
# By BCP 47 language; each maps a kind to its wording, in which "{score}" stands for the score.
MARKS: Mapping[str, Mapping[str, str]] = {tag: marks for language in LANGUAGES for tag, marks in language.MARKS.items()}

__all__ = ["LANGUAGES", "MARKS"]
