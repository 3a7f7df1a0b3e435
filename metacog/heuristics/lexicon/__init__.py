"""What is looked for, and how a mark is worded: one file a language, and the seed's own lists.

To add a language: a module with the names that `en` has, and its name here.
"""

from collections.abc import Mapping

from . import en, zh

LANGUAGES = (en, zh)
# By BCP 47 language; each maps a kind to its wording, in which "{score}" stands for the score.
MARKS: Mapping[str, Mapping[str, str]] = {tag: marks for language in LANGUAGES for tag, marks in language.MARKS.items()}

__all__ = ["LANGUAGES", "MARKS"]
