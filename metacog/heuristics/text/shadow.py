"""The shadow of a text: what it reads as, whatever it is written in, with the way back to the text as sent.

Small letters, simplified characters, half width, Latin letters for those that look like them, and nothing hidden.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import accumulate, islice

from ..lexicon import lazy
from ..lexicon.simplified import PAIRS
from .hidden import ALWAYS_HIDDEN, ANY_MARKS, HIDES, MARKS, RIGHT_TO_LEFT, composed, disguises, find_hidden, unneeded
from .spans import Place

_HIDDEN = re.compile(f"[{HIDES}{MARKS}]+")
_HIDDEN_OR_MARK = re.compile(f"[{HIDES}{ANY_MARKS}]+")
_MARKED = re.compile(f"([^{HIDES}{ANY_MARKS}])([{ANY_MARKS}]+)")
_ONLY_MARKS = re.compile(f"[{ANY_MARKS}]*")
_FIRST_MARK = "\u0300"
# Where a letter with an accent is one character.
_ACCENTED = (0xC0, 0x250), (0x370, 0x530), (0x1E00, 0x2000)
_SHOWN = re.compile(rf"[^\s{HIDES}]")
# Of the UTF-8 of a folded text: what opens what is hidden beyond `_END`, and marks that compose with some letter; a
# single byte is looked for quickest. Controls, which are ASCII, become one.
_TAG, _MARK, _MARK_TOO, _CONTROL = b"\xf3", b"\xcc", b"\xcd", b"\xff"
_CONTROLS = bytes(255 if byte < 128 and re.match(f"[{HIDES}]", chr(byte)) else byte for byte in range(256))
# Where something is hidden with none of the reasons that writing has for it; of direction, where nothing runs to the
# left.
_SUSPECT_IN_ANY, _SUSPECT_LEFT_TO_RIGHT = unneeded(ALWAYS_HIDDEN), unneeded(HIDES)
_LEFTWARD_LETTER = re.compile(f"(?![{HIDES}])[{RIGHT_TO_LEFT}]")

# Small letters that look like Latin ones: Cyrillic, Greek, Armenian, and Latin letters that few languages have.
_LOOKALIKES = dict(
    zip(
        "аеорсухіјѕһԁԛԝвкмнт" + "αβεικνορτυχς" + "օոսհ" + "ıɑɡſ" + "ӏѵᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ" + "’‘ʼ′",
        "aeopcyxijshdqwbkmht" + "abeikvoptuxσ" + "onuh" + "iags" + "lvabcdeghijklmnoprtuvwyz" + "''''",
        strict=True,
    )
)
# Where Unicode keeps letters, digits and signs in another width or style: each becomes the plain one.
_STYLED = (
    *((0x2B0, 0x2B9), (0x2E0, 0x2E5), (0x1D2C, 0x1DC0)),
    *((0x2100, 0x2190), (0x2460, 0x2500), (0x3000, 0x3001), (0xFF00, 0xFFEF), (0x1D400, 0x1D800)),
)
_END = 0x1D800  # nothing beyond is folded


@cache
def _table() -> list[int]:
    """Give, for each code point, the one it reads as."""
    characters = [chr(code) for code in range(_END)]
    for first, end in _STYLED:
        for code in range(first, end):
            plain = unicodedata.normalize("NFKC", characters[code])
            if len(plain) == 1:
                characters[code] = plain
    for character, simplified in zip(PAIRS[::2], PAIRS[1::2], strict=True):
        characters[ord(character)] = simplified
    table = []
    for character in characters:
        small = character.lower()[0]
        table.append(ord(_LOOKALIKES.get(small, small)))
    return table


@cache
def _table_without_hidden() -> list[int | None]:
    return [None if _HIDDEN.match(chr(code)) else plain for code, plain in enumerate(_table())]


@cache
def _table_without_accents() -> dict[int, int]:
    """Give, for each small letter with an accent, the letter."""
    table = _table()
    found = {}
    for code in (code for first, end in _ACCENTED for code in range(first, end)):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) > 1:
            found[code] = table[ord(parts[0])]
    return found


def without_accents(folded: str) -> str:
    """Write a folded text with the letters alone: as many characters."""
    return folded.translate(_table_without_accents())


def is_wide(text: str) -> bool:
    """Tell whether a text is mostly beyond Latin, where UTF-16 is shorter than UTF-8: eight characters tell."""
    return len(text[:: len(text) // 8 + 1].encode("utf-8", "surrogatepass")) > 16


# Parts a text into ASCII and the rest: a table costs ten times what `lower` does. Short pieces are not worth parting.
_BEYOND_ASCII = lazy.compile("([\x80-\U0010ffff][\x80-\U0010ffff]*+(?:[\0-\x7f]{1,16}+[\x80-\U0010ffff]++)*+)")


def _translate(text: str, table: Sequence[int | None]) -> str:
    if is_wide(text):  # there is little to part
        return text.translate(table)
    pieces = _BEYOND_ASCII.split(text)
    return "".join([piece.lower() if piece.isascii() else piece.translate(table) for piece in pieces])


def fold(text: str) -> str:
    """Write a text as it reads: as many characters, hidden ones included."""
    return text.lower() if text.isascii() else _translate(text, _table())


class Shadow:
    """A text folded and without what is hidden in it; `place` leads back.

    A letter and its marks are one character: the letter with its accent, where there is one and the marks are writing,
    else the letter.
    """

    def __init__(self, original: str) -> None:
        self._original = original
        self._hidden = _HIDDEN
        self.is_marked = False  # some letter has marks of its own, be they writing
        text = original.lower() if original.isascii() else _translate(original, _table_without_hidden())
        encoded = text.encode("utf-8", "surrogatepass")
        if _MARK in encoded or _MARK_TOO in encoded:
            self._hidden, self.is_marked = _HIDDEN_OR_MARK, True
            text = _translate(_HIDDEN_OR_MARK.sub("", _with_accents(original)), _table())
            encoded = text.encode("utf-8", "surrogatepass")
        elif _TAG in encoded or _CONTROL in encoded.translate(_CONTROLS):
            text = _HIDDEN.sub("", text)
            encoded = text.encode("utf-8", "surrogatepass")
        self.text, self.encoded, self.hides = text, encoded, len(text) < len(original)

    @cached_property
    def as_sent(self) -> str:
        """As long as `text`: its characters before they were folded."""
        return self._hidden.sub("", self._original) if self.hides else self._original

    def place(self, start: int, end: int) -> Place:
        """Give where a part of the shadow (not empty) stands in the text as sent."""
        if not self.hides:
            return start, end
        gaps, shifts = self._gaps
        last = end + shifts[bisect_right(gaps, end - 1)]
        return start + shifts[bisect_right(gaps, start)], _with_marks(self._original, last)

    @cached_property
    def _gaps(self) -> tuple[list[int], list[int]]:
        """Where in the shadow something hidden was; and how much until there, from none on."""
        runs = [run.span() for run in self._hidden.finditer(self._original)]
        shifts = list(accumulate((end - start for start, end in runs), initial=0))
        return [start - shift for (start, _), shift in zip(runs, shifts, strict=False)], shifts


def _with_accents(text: str) -> str:
    """Write each letter and its marks as one letter; marks that are no writing are left out."""
    disguised = {*disguises(text)}
    return _MARKED.sub(lambda marked: marked[1] if marked.start(2) in disguised else _together(*marked.groups()), text)


def _together(letter: str, marks: str) -> str:
    for mark in marks:
        letter = composed(letter, mark) or letter
    return letter


def _with_marks(text: str, end: int) -> int:
    """Give where the marks end that stand on what ends here."""
    if end == len(text) or text[end] < _FIRST_MARK:
        return end
    marks = _ONLY_MARKS.match(text, end)
    assert marks
    return marks.end()


def hides(text: str) -> bool:
    """Tell whether anything is hidden in a text, be it with a reason."""
    if text.isascii():
        return _CONTROL in text.encode().translate(_CONTROLS)
    return _HIDDEN_OR_MARK.search(text) is not None


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: no character, or only space and what is hidden."""
    return _SHOWN.search(text) is None


def suspects(text: str, limit: int) -> list[Place]:
    """Find runs of characters that are hidden and have no business there, `limit` at most."""
    suspect = _SUSPECT_IN_ANY if _LEFTWARD_LETTER.search(text) else _SUSPECT_LEFT_TO_RIGHT
    found = (place for place in find_hidden(text, suspect) if text[slice(*place)] != "\ufeff" or place[0] > 0)
    return [*islice(found, limit)]
