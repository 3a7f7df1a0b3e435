"""Short code for an interpreter (`node -e`, `perl -ne`, `ruby -e`, `php -r` …), read by lists of what does no harm.

Code runs (`execute`), which whoever reads it says; here is what stands out of that. Whatever is on no list is
`unknown`.
"""

import re

from ..paths import is_secret
from ..python_code import Found
from . import javascript, known, mongo, phrases, words

MOST_LETTERS = 8_000
TEXT = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
JAVASCRIPT = frozenset({"node", "javascript", "js"})


def read(language: str, code: str) -> list[Found]:
    """What stands out of `code`."""
    language, _, more = language.partition(":")
    if len(code) > MOST_LETTERS:
        return [Found("unknown", detail="too long")]
    found = _read(language, code, more)
    said = {one.object for one in found}
    texts = (text[1:-1] for text in TEXT.findall(code))
    named = (text for text in texts if ("." in text or "/" in text) and is_secret(text) and text not in said)
    return [*found, *(Found("secret", text, "path") for text in named)]


def _read(language: str, code: str, more: str) -> list[Found]:
    if language in JAVASCRIPT:
        return javascript.read(code)
    if language in words.LANGUAGES:
        return words.read(language, code, is_of_project=more == "project")
    if language == "mongo" and (changes := mongo.read(code)) is not None:
        return changes
    if phrases.are_harmless(language, code) or known.are_known(language, code):
        return []
    return [Found("unknown", detail=f"{language} code")]
