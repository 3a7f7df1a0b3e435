"""Code that a command hands to an interpreter: read where there is a grammar for it, unknown else."""

import re
from typing import TYPE_CHECKING

from ..programs import Word
from .state import Given, State

if TYPE_CHECKING:
    from .walk import Text

PRINTS = re.compile(
    r"\s*(?:(?:console\.log|print|puts|echo|say|p)\b[\s(]*(?:\"[^\"$#`\\]*\"|'[^'\\]*'|[\d\s+*.-]+|process\.versions?(?:\.\w+)?|RUBY_VERSION|\$\]|PHP_VERSION)"
    r"[\s)]*;?\s*)+"
)


def read(text: "Text", language: str, word: Word, state: State, given: Given | None) -> None:
    """The effects of code in `language` that stands in `word`."""
    if language == "shell":
        text.inner(word, state, given)
        return
    text.out.add("execute", span=(word.start, word.end))
    if not word.exact or PRINTS.fullmatch(word.text) is None:
        text.out.add("unknown", span=(word.start, word.end), detail=f"{language} code")
