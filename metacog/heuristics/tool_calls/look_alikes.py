"""Find letters that look like others: several scripts in a name (UTS 39, "highly restrictive"), letters like ASCII."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..lexicon.unicode_letters import LIKE_ASCII, RANGES, SCRIPTS

# Scripts that are written together.
_TOGETHER = (
    {"Latin", "Han", "Hiragana", "Katakana"},
    {"Latin", "Han", "Bopomofo"},
    {"Latin", "Han", "Hangul"},
)
_TURKISH = "ı"  # looks like an i, and is a letter of its own where it is written
_LEFT_TO_RIGHT_LIKE_LATIN = {"Armenian", "Cherokee", "Coptic", "Cyrillic", "Greek", "Lisu"}
# Labels parted by dots, one behind what a host follows, or the name before an @; one of them says more than ASCII, or
# that it is written in it (punycode). What looks like a slash does not end it. Bounded: a long text is read once.
_HOST = re.compile(
    r"(?<![\w.。．｡-])(?:[\w⁄∕⧸-]{1,63}[.。．｡]){1,8}[\w⁄∕⧸-]{2,63}"
    r"|(?:(?<=://)|(?<=@)|(?<![\w-])(?=xn--))[\w⁄∕⧸-]{2,63}|(?<![\w.+-])[\w.+-]{1,64}(?=@\w)",
    re.IGNORECASE,
)
_DOT = re.compile("[.。．｡]")
_PUNYCODE = "xn--"
MOST_HOSTS = 100  # of one text that are looked at


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A name that may be taken for another."""

    scripts: tuple[str, ...]  # Unicode's names; several: they are mixed
    letters: tuple[str, ...]  # that look like others, each once, in order
    reads_as: str  # what it looks like in ASCII; "" where it does not


@dataclass(frozen=True, slots=True)
class Host:
    """A host that may be taken for another, or that is written in punycode."""

    written: str
    decoded: str  # the same where it is not written in punycode
    look_alike: LookAlike | None


@cache
def _ranges() -> tuple[list[int], list[int], list[str]]:
    rows = [re.split("[-:]", part) for part in RANGES.split()]
    return [int(row[0], 16) for row in rows], [int(row[1], 16) for row in rows], [SCRIPTS[int(row[2])] for row in rows]


def script_of(character: str) -> str:
    """Return a character's script by Unicode's name; "" of what is common to several."""
    firsts, lasts, scripts = _ranges()
    at = bisect_right(firsts, ord(character)) - 1
    return scripts[at] if at >= 0 and ord(character) <= lasts[at] else ""


def look_alike(name: str) -> LookAlike | None:
    """Return what of a name may be taken for another; None of one that is what it looks like."""
    if name.isascii():
        return None
    counted = Counter(script for script in map(script_of, name) if script)
    scripts = tuple(counted)
    reads_as = "".join(LIKE_ASCII.get(each, each) for each in name)
    reads_as = reads_as if reads_as.isascii() else ""
    if len(scripts) > 1 and not any(counted.keys() <= together for together in _TOGETHER):
        main = "Latin" if "Latin" in counted else counted.most_common(1)[0][0]
        odd = [each for each in name if script_of(each) not in ("", main) or _is_styled(each)]
    elif reads_as and len(scripts) == 1 and scripts[0] in _LEFT_TO_RIGHT_LIKE_LATIN:
        odd = [each for each in name if not each.isascii()]
    else:
        odd = [each for each in name if _is_styled(each)]
    return LookAlike(scripts, tuple(dict.fromkeys(odd)), reads_as) if odd else None


def _is_styled(character: str) -> bool:
    """Tell whether it is a form of a Latin letter, or of a sign, that is not the one that a keyboard has."""
    return character in LIKE_ASCII and character != _TURKISH and script_of(character) in ("", "Latin")


def hosts(text: str) -> Iterator[Host]:
    """Give the hosts in a text that may be taken for others, or are written in punycode, each once."""
    if text.isascii() and _PUNYCODE not in text.lower():
        return
    seen: set[str] = set()
    for found in _HOST.finditer(text):
        written = found[0]
        if written in seen or (written.isascii() and _PUNYCODE not in written.lower()):
            continue
        seen.add(written)
        decoded = ".".join(map(_decoded, _DOT.split(written)))
        # Each label is a name: that of a country in its own script stands beside one in Latin.
        odd = [look_alike(label) for label in _DOT.split(decoded)]
        first = next((each for each in odd if each), None)
        if first or decoded != written.replace("。", "."):
            yield Host(written, decoded, first)
        if len(seen) >= MOST_HOSTS:
            return


def _decoded(label: str) -> str:
    if not label.lower().startswith(_PUNYCODE):
        return label
    try:
        return label[len(_PUNYCODE) :].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label
