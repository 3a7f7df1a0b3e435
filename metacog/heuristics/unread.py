"""Whether any rule can read a text: by the ratio of scripts, and in Latin letters by the share of everyday words.

What is read follows from the lexicon: the scripts its languages are written in, and of those in Latin letters the
languages themselves. A text too short to tell, a list of names, code and figures are in no language.
"""

import re
import unicodedata
from collections import Counter

from .lexicon import LANGUAGES
from .lexicon.languages import SHARED
from .text import words

MAX_READ = 600  # characters from which a language is told
_TELLING = 100  # words of them
_ENOUGH = 8  # everyday words of ours: a text that has them is read, whatever else is in it
# In Latin letters a text has so many words in small letters; and everyday words of a language that is not ours, so many
# different ones, of all different words, and of ours.
_WORDS, _FEW, _SHARE, _TIMES = 3, 2, 0.1, 3
# Or hardly any everyday word of ours, and so many of its words with letters beyond ASCII.
_HARDLY, _MARKED, _FEW_MARKED = 0.1, 0.15, 2
_SMALL = re.compile(r"(?<![\w'’.$/@#-])[^\W\d_A-Z][^\W\d_]*+(?![\w.(=/@:-]*\w)")
_LETTERS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + b" " * 128
_LATIN_BEYOND_ASCII = re.compile("[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]")


def is_unread(text: str) -> bool:
    """Tell whether a text is in a language that no rule reads."""
    said = words.prose(text[:MAX_READ])
    plain = said.lower().encode("ascii", "replace").translate(_LETTERS).split()
    if len(_PLAIN.intersection(plain)) >= _ENOUGH:  # as in most texts, and in those of two languages
        return False
    if said.isascii():
        return _is_foreign(said)
    script = words.script_of(said)
    if script == "latin":
        return _is_foreign(unicodedata.normalize("NFC", said))  # with its accents in its letters
    if script == "other":
        return _alphabet(said) not in _ALPHABETS
    return script is not None and script not in _SCRIPTS


def _is_foreign(said: str) -> bool:
    """Tell whether what is said in Latin letters is in none of our languages."""
    read = set(words.tokens(words.fold_signs(said))[:_TELLING])
    own = len(_OURS & read)
    small = [word for word in _SMALL.findall(said)[:_TELLING] if word[0].islower()]
    # A name has such words, too, and no others: Universidad de la Plata.
    distinct = {*map(str.lower, small)} if said.isascii() else {words.fold_signs(word) for word in {*small}}
    everyday = max((common & distinct for common in _OTHERS), key=len, default=frozenset[str]())
    if len(distinct) < max(_WORDS, len(everyday) + 1):
        return False
    if len(everyday) >= max(_FEW, _SHARE * len(read), _TIMES * own):
        return True
    if said.isascii() or own >= _HARDLY * len(small):
        return False
    marked = sum(_LATIN_BEYOND_ASCII.search(word) is not None for word in small)
    return marked >= max(_FEW_MARKED, _MARKED * len(small))


def _alphabet(text: str) -> str:
    """Name what most letters beyond Latin are of, by Unicode's names: CYRILLIC, HEBREW, THAI; "" if there is none."""
    letters = Counter(letter for letter in text if letter > "\u024f" and letter.isalpha())
    names = Counter[str]()
    for letter, count in letters.items():
        names[unicodedata.name(letter, "?").split()[0]] += count
    return names.most_common(1)[0][0] if names else ""


def _reading() -> tuple[frozenset[str | None], frozenset[str], frozenset[str], tuple[frozenset[str], ...]]:
    """Give the scripts and alphabets we read, the everyday words of ours in Latin letters, and those of each other."""
    names = {language.__name__.rpartition(".")[2] for language in LANGUAGES}
    written = [" ".join(language.ABSOLUTE) for language in LANGUAGES]
    scripts: frozenset[str | None] = frozenset(words.script_of(text, least=0) for text in written)
    alphabets = frozenset(map(_alphabet, written))
    theirs = [common for name, common in SHARED.items() if name not in names]
    own = frozenset[str]().union(*(common for name, common in SHARED.items() if name in names))
    ours = own.difference(*theirs)
    return scripts, alphabets, _telling(ours), tuple(_telling(common - own) for common in theirs)


def _telling(common: frozenset[str]) -> frozenset[str]:
    """Leave out letters alone, which stand for anything."""
    return frozenset(word for word in common if len(word) > 1)


_SCRIPTS, _ALPHABETS, _OURS, _OTHERS = _reading()
_PLAIN = frozenset(word.encode() for word in _OURS if word.isascii())
