"""The shadow of a text: what it reads as, whatever it is written in, with the way back to the text as sent.

Small letters, simplified characters, half width, Latin letters for those that look like them, and nothing hidden.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import accumulate, islice

from opencc import OpenCC

Place = tuple[int, int]

# Takes no room on the page: zero width, direction, fillers, variation selectors, tags.
_HIDES = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
_HIDDEN = re.compile(f"[{_HIDES}]+")
_SHOWN = re.compile(rf"[^\s{_HIDES}]")
_TAG = b"\xf3"  # opens the UTF-8 of what is hidden beyond `_END`; a single byte is looked for quickest
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# Scripts that join or part letters with U+200B to U+200D: Arabic, Indic, Tibetan, Southeast Asian, Mongolian.
_JOINING = f"{_RIGHT_TO_LEFT}\u0900-\u109f\u1780-\u18af\u1900-\u1cff"
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
# What is hidden with none of the reasons that writing has for it; of direction, where nothing runs to the left.
_SUSPECT = (
    f"(?<![{_JOINING}{_EMOJI}\u200b-\u200d])[\u200b-\u200d]+"
    "|[\u00ad\u034f\u115f\u1160\u180e\u202d\u202e\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb]+"
    "|(?<=[A-Za-z])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
    "|(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+"
    "|(?<!\\A)\ufeff+"
)
_SUSPECT_IN_ANY = re.compile(_SUSPECT)
_SUSPECT_LEFT_TO_RIGHT = re.compile(f"{_SUSPECT}|[\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069]+")
_LEFTWARD_LETTER = re.compile(f"(?!\u061c)[{_RIGHT_TO_LEFT}]")  # U+061C is a mark, no letter

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
_HAN = ((0x3400, 0xA000), (0xF900, 0xFB00))
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
    han = [character for first, end in _HAN for character in characters[first:end]]
    # Line by line, since a phrase may read otherwise than its characters one by one.
    for character, simplified in zip(han, OpenCC("t2s").convert("\n".join(han)).split("\n"), strict=True):
        if len(simplified) == 1:
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
def written() -> dict[str, str]:
    """Give, for each character of a folded text, all that it may be written as; what is not in it, as itself alone."""
    found: dict[str, str] = {}
    for code, plain in enumerate(_table()):
        found[chr(plain)] = found.get(chr(plain), "") + chr(code)
    return found


def is_wide(text: str) -> bool:
    """Tell whether a text is mostly beyond Latin, where UTF-16 is shorter than UTF-8: eight characters tell."""
    return len(text[:: len(text) // 8 + 1].encode("utf-8", "surrogatepass")) > 16


# Parts a text into ASCII and the rest: a table costs ten times what `lower` does. Short pieces are not worth parting.
_BEYOND_ASCII = re.compile("([\x80-\U0010ffff][\x80-\U0010ffff]*+(?:[\0-\x7f]{1,16}+[\x80-\U0010ffff]++)*+)")


def _translate(text: str, table: Sequence[int | None]) -> str:
    if is_wide(text):  # there is little to part
        return text.translate(table)
    pieces = _BEYOND_ASCII.split(text)
    return "".join([piece.lower() if piece.isascii() else piece.translate(table) for piece in pieces])


def fold(text: str) -> str:
    """Write a text as it reads: as many characters, hidden ones included."""
    return text.lower() if text.isascii() else _translate(text, _table())


class Shadow:
    """A text folded and without what is hidden in it; `place` leads back."""

    def __init__(self, original: str) -> None:
        self._original = original
        if original.isascii():
            self.text, self.hides = original.lower(), False
            self.encoded = self.text.encode()
            return
        text = _translate(original, _table_without_hidden())
        encoded = text.encode("utf-8", "surrogatepass")
        if _TAG in encoded:
            text = _HIDDEN.sub("", text)
            encoded = text.encode("utf-8", "surrogatepass")
        self.text, self.encoded, self.hides = text, encoded, len(text) < len(original)

    @cached_property
    def as_sent(self) -> str:
        """As long as `text`: its characters before they were folded."""
        return _HIDDEN.sub("", self._original) if self.hides else self._original

    def place(self, start: int, end: int) -> Place:
        """Give where a part of the shadow (not empty) stands in the text as sent."""
        if not self.hides:
            return start, end
        gaps, shifts = self._gaps
        return start + shifts[bisect_right(gaps, start)], end + shifts[bisect_right(gaps, end - 1)]

    @cached_property
    def _gaps(self) -> tuple[list[int], list[int]]:
        """Where in the shadow something hidden was; and how much until there, from none on."""
        runs = [run.span() for run in _HIDDEN.finditer(self._original)]
        shifts = list(accumulate((end - start for start, end in runs), initial=0))
        return [start - shift for (start, _), shift in zip(runs, shifts, strict=False)], shifts


def hides(text: str) -> bool:
    """Tell whether anything is hidden in a text, be it with a reason."""
    return not text.isascii() and _HIDDEN.search(text) is not None


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: no character, or only space and what is hidden."""
    return _SHOWN.search(text) is None


def suspects(text: str, limit: int) -> list[Place]:
    """Find runs of characters that are hidden and have no business there, `limit` at most."""
    suspect = _SUSPECT_IN_ANY if _LEFTWARD_LETTER.search(text) else _SUSPECT_LEFT_TO_RIGHT
    return [run.span() for run in islice(suspect.finditer(text), limit)]
