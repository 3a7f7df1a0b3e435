"""A text as quality judges it."""

import re
from collections.abc import Sequence
from functools import cached_property

from . import words
from .shadow import is_blank
from .tags import KINDS
from .words import Script

Fingerprint = tuple[int, ...]

# Words are looked for in so many code points of a text; its length and forbidden phrases in all of it.
MAX_READ = 65_536
SKETCH = 64
_QUOTED = re.compile('"[^"\n]{1,80}"')  # as folded
_BARE_TAG = re.compile(rf"</?[\w:.-]+\s*>|\[/?(?:{'|'.join(KINDS)})\]", re.IGNORECASE)
_MAX_BARE = 200  # a text of nothing but tags is short
_TITLE = re.compile(r"《[^《》\n]{1,80}》")  # in whatever language the work is


class Utterance:
    """A text as it is judged; what nothing asks for is never made."""

    def __init__(self, text: str) -> None:
        self.text = text  # as sent
        self._read = text[:MAX_READ]

    @cached_property
    def is_empty(self) -> bool:
        """Tell whether nothing is to be seen, or nothing but tags around it."""
        text = self.text
        if len(text) <= _MAX_BARE and ("<" in text or "[" in text):
            text = _BARE_TAG.sub("", text)
        return is_blank(text)

    @cached_property
    def prose(self) -> str:
        """Without code, links and tags."""
        return words.prose(self._read)

    @cached_property
    def folded(self) -> str:
        return words.fold_signs(self.prose)

    @cached_property
    def script(self) -> Script | None:
        return words.script_of(_TITLE.sub(" ", self.prose) if "《" in self.prose else self.prose)

    @cached_property
    def language(self) -> str | None:
        """Tell the language (ISO 639-1) of what is said in Latin letters."""
        if self.script != "latin":
            return None
        if self.prose is self._read and '"' not in self.folded:
            return words.language_of(self.words)
        return words.language_of(words.tokens(_QUOTED.sub(" ", self.folded)))

    @cached_property
    def words(self) -> list[str]:
        """Code and all."""
        return words.tokens(self.folded if self.prose is self._read else words.fold_signs(self._read))

    @cached_property
    def spaced(self) -> str:
        return words.spaced(self.words)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return fingerprint(self.text)


def fingerprint(text: str) -> Fingerprint:
    """Give what `assess` compares texts by: at most 64 whole numbers below 2**32."""
    return tuple(sorted(words.hashes(text[:MAX_READ]))[:SKETCH])


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate the share of words two texts have in common, 0..1 (Jaccard by bottom sketches, Broder 1997)."""
    common = {*one}.intersection(other)
    union = sorted({*one, *other})[:SKETCH]
    return sum(value in common for value in union) / len(union) if union else 0.0
