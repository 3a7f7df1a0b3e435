"""What nobody sees in a text, and where writing needs it: one table for what reads texts and for what shows them."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from operator import and_

from ..lexicon import lazy

# Classes of characters, to stand in brackets. All but the last two: Unicode's Cc and Cf without tabs and line ends,
# its line separators, Default_Ignorable_Code_Point, and what is drawn as nothing.
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
DIRECTION = r"\u061c\u200e\u200f\u202a-\u202c\u2066-\u2069"
_NUMBER_SIGNS = r"\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2"  # of Arabic and Syriac: they hold the digits behind them
_JOINERS = r"\u180e\u200b-\u200d"
_SELECTORS = r"\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_OF_SCRIPTS = r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_BLANK = r"\u2800"
ALWAYS_HIDDEN = (
    rf"{_CONTROLS}{_JOINERS}{_SELECTORS}{_OF_SCRIPTS}{_BLANK}"
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u202d\u202e\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U00016fe4\U0001d159\U000e0000-\U000e0fff"
)
HIDES = ALWAYS_HIDDEN + DIRECTION + _NUMBER_SIGNS
# Marks on letters that have no composed form with any letter (low line, strokes, enclosures; no keycap): they hide the
# word they stand on from what reads it.
MARKS = (
    r"\u0305\u030d\u030e\u0310\u0312\u0315-\u031a\u031c-\u0322\u0329-\u032c\u032f\u0332-\u033f\u0346-\u034e"
    r"\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u20e1\u20e2\u20e4-\u20ff\ufe20-\ufe2f"
)
ANY_MARKS = rf"{MARKS}\u0300-\u034e"
_MAY_HIDE = re.compile(rf"[{HIDES}{ANY_MARKS}]+")
_PLAIN = bytes(code for code in range(128) if not _MAY_HIDE.match(chr(code)))

RIGHT_TO_LEFT = r"\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# Scripts that join or part letters with joiners: Arabic, Indic, Tibetan, Southeast Asian, Mongolian.
_JOINING = rf"{RIGHT_TO_LEFT}\u0900-\u109f\u1780-\u18af\u1900-\u1cff"
_EMOJI = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
)
_BRAILLE = r"\u2801-\u28ff"

# Where what hides is writing: in words of scripts that join, within emoji and flags, behind what it varies, beside
# what belongs to its script.
_NEEDED = (
    rf"(?<=[{_JOINING}])[{_JOINERS}]{{1,2}}|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    rf"|(?<=[0-9#*])[\ufe0e\ufe0f]|(?<=[^\x00-\u024f\s{HIDES}])[{_SELECTORS}]|(?<=[\u00a9\u00ae])[\ufe0e\ufe0f]"
    r"|(?<=\U0001f3f4)[\U000e0030-\U000e007a]{2,6}\U000e007f"
    rf"|(?<=[{_BRAILLE}])[{_BLANK}]+|[{_BLANK}]+(?=[{_BRAILLE}])"
    r"|(?<=[\U00011080-\U000110cf\U00013000-\U0001345f\U0001bc00-\U0001bcaf\U0001d100-\U0001d1ff])"
    rf"[{_OF_SCRIPTS}]|[\U000110bd\U000110cd](?=[\U00011080-\U000110cf])"
)
# Marks where no writing has any: on characters of Chinese, Japanese and Korean, more on a letter than one has, and on
# nothing at all. Of Greek a letter has up to three.
_LATIN = r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"
_UNMARKED = r"\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_MARKED = rf"(?<=[{_UNMARKED}])[{ANY_MARKS}]+|(?<=[{_LATIN}])[{ANY_MARKS}]{{3,}}|[{ANY_MARKS}]{{4,}}|\A[{MARKS}]+"
_ANY_MARK = re.compile(f"[{ANY_MARKS}]")
_MARKS_IN_A_ROW = re.compile(f"(?P<needed>(?!))?[{ANY_MARKS}]+")
_LATIN_WORD = re.compile(rf"(?:[{_LATIN}][{ANY_MARKS}]*+)++")
_MARKED_LETTER = re.compile(rf"([{_LATIN}])([{ANY_MARKS}]++)")
# Or on so many Latin letters in a row; on two in a row, where neither composes with any of its marks.
_ROW = re.compile(rf"(?:[{_LATIN}][{ANY_MARKS}]++){{6}}")
_PERHAPS_ODD_ROW = re.compile(rf"(?:[{_LATIN}][{ANY_MARKS}]++){{2,5}}")
_MARKS = re.compile(f"[{ANY_MARKS}]+")


def unneeded(hides: str) -> re.Pattern[str]:
    """Match, at a place where something may hide, what does, or by the group "needed" what writing needs there."""
    return lazy.compile(rf"(?P<needed>{_NEEDED})|[{hides}]+|{_MARKED}")


def find_hidden(text: str, wanted: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Find the runs of characters in a text that hide and are not needed, `wanted` of `unneeded`."""
    if not _MAY_HIDE.search(unusual(text)):
        return
    disguised = {*disguises(text)}
    for run in _MAY_HIDE.finditer(text):
        at = run.start()
        while at < run.end():
            found = _MARKS_IN_A_ROW.match(text, at) if at in disguised else wanted.match(text, at)
            if found and not found["needed"]:
                yield found.span()
            at = found.end() if found else at + 1


def unusual(text: str) -> str:
    """Leave out what a text has of ASCII's letters, digits, signs, blanks and line ends: it takes next to no time."""
    return text.encode("utf-8", "surrogatepass").translate(None, _PLAIN).decode("utf-8", "surrogatepass")


def disguises(text: str) -> Iterator[int]:
    """Find where marks stand on the letters of a Latin word that no writing puts there."""
    if not _ANY_MARK.search(text):
        return
    for word in _LATIN_WORD.finditer(text):
        if word[0].isascii():
            continue
        if _ROW.search(word[0]) or any(_is_odd(row[0]) for row in _PERHAPS_ODD_ROW.finditer(word[0])):
            yield from (word.start() + marks.start() for marks in _MARKS.finditer(word[0]))


def _is_odd(row: str) -> bool:
    """Tell whether two letters in a row compose with none of their marks."""
    odd = [not any(composed(letter, mark) for mark in marks) for letter, marks in _MARKED_LETTER.findall(row)]
    return any(map(and_, odd, odd[1:]))


@lru_cache(maxsize=4096)
def composed(letter: str, mark: str) -> str:
    """Give the letter that a letter and a mark make together; "" where Unicode has none."""
    together = unicodedata.normalize("NFC", letter + mark)
    return together if len(together) == 1 else ""
