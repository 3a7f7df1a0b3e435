"""What a text is made of, in English and in Chinese: its script, its words, its sentences, its questions.

Everything below works on folded text, which has as many code points as the text it was made of: a place found in the
one is the same place in the other. Letters alone are folded by `shadow.fold`, punctuation too by `fold_signs`; what is
only `lowered` can still tell the scripts and widths apart.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from math import ceil
from typing import Literal
from zlib import crc32

from ..lexicon import LANGUAGES, together
from ..lexicon.languages import EVERYDAY
from . import shadow
from .spans import Place
from .tags import KINDS

Script = Literal["latin", "han", "kana", "hangul", "other"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u30ff\u31f0-\u31ff"
_HANGUL = "\u3130-\u318f\uac00-\ud7af"
_LATIN = "\u00c0-\u024f\u1e00-\u1eff"  # beside ASCII
# Scripts that set no spaces between words: each character is a token of its own.
_UNSPACED = _HAN + _KANA + _HANGUL
_CHARACTER = re.compile(rf"[{_UNSPACED}]")
_RUN = re.compile(rf"([{_UNSPACED}]+)|([^\W_{_UNSPACED}]+)")
_LETTER = rf"[^\W_{_UNSPACED}]"  # of a script that sets spaces, or a digit
_SPACED_LETTER = re.compile(_LETTER)
_ASCII = bytes(range(128))
_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
_MAX_HASHES = 65_536
_RUNS: dict[Script, re.Pattern[str]] = {
    "han": re.compile(rf"[{_HAN}]+"),
    "kana": re.compile(rf"[{_KANA}]+"),
    "hangul": re.compile(rf"[{_HANGUL}]+"),
    "other": re.compile(rf"[^\W\d_{_LATIN}{_UNSPACED}]+"),
}
_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum()}
_LETTERS = bytes(code if chr(code).isalpha() else 32 for code in range(128)) + b" " * 128
_SMALL_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + b" " * 128
# A Chinese word has about 1.6 characters in running text, a word of the other scripts is taken to have 5.
_CHARACTERS_IN_WORD = {"han": 1.6, "kana": 2.5, "hangul": 2.5, "other": 5.0}
# Chinese text is full of Latin names and terms; English text holds Chinese only where it quotes.
_LATIN_SHARE, _OTHER_SHARE = 0.8, 0.4
_KANA_SHARE = 0.1  # of the characters: Japanese mixes them with Han, Chinese does not

# Tokens that tell the language, and how many different ones must be everyday words of it.
_TELLING, _FEW_EVERYDAY, _EVERYDAY_SHARE = 100, 3, 0.1

_PUNCTUATION = tuple(zip("“”…—–•·", '"".--**', strict=True))
# Code, links and tags are not said to anybody. A fence or a backtick that nobody closes hides nothing.
_UNSAID = re.compile(
    r"```[\s\S]*?```|`[^`\n]+`|https?://[^\s<>\"')。]+|</?[a-z][^<>]{0,200}>"
    rf"|\[/?(?:{'|'.join(KINDS)})(?:\s[^\[\]]{{0,200}})?\]",
    re.IGNORECASE,
)
_MIGHT_BE_UNSAID = ("`", "<", "[", "://")

# Where a sentence ends, in a text that is not cut; full-width signs stand in texts that are not folded.
SENTENCE_END = re.compile(r"[!?。！？\n]|\.(?=\s|\Z)")
_STATEMENT = re.compile(r"(?:[^.!?。\n;]|(?<=\w)\.(?=\w))+[.!?。;]*")
_DELIMITERS = ".!?;:,\n。！？；：，…—"
_SENTENCE = re.compile(r"[^.!?。\n]+(?:\.(?=\S)[^.!?。\n]*)*[.!?。]*[\"'」』)\]】]*")
# Where a letter ends, and its signature begins.
_SIGNATURE = "\n-- \n"
_LISTS = together(language.QUALITY for language in LANGUAGES)
STOPWORDS, FUNCTION_WITHIN, _TAGS = _LISTS.stopwords, _LISTS.function_within, _LISTS.tags
_ANSWERED = re.compile(rf"\s*(?:{_LISTS.answer})\s?:")
_QUOTED_QUESTION = re.compile(r"\?[\"'」』]+$")
_OPENS = re.compile(_LISTS.opening)
_OPENS_TWO = re.compile(_LISTS.opening_of_two)
_TAG_BEHIND, _TAG_ENDS = re.compile(_LISTS.tag_behind), _LISTS.tag_ends
_SECOND = re.compile(f"{_LISTS.second}|(?P<polar>{_LISTS.second_polar})")
_POLAR = re.compile(rf"\W*+(?:{_LISTS.polar_opening})|.*?(?:{_LISTS.polar})")
_ASKING, _NOT_ASKING = re.compile(_LISTS.asking), re.compile(_LISTS.not_asking)
_SUFFIX = re.compile(r"(?:ations?|ings?|ions?|ed|es|ly|[se])$")
_FEW = 2  # characters of one variant that prove nothing: names, rare forms
_STEM = 4  # the least that a suffix is cut from, and that matches longer words
_MAX_SENTENCE = 1_000  # a longer one is not searched for a second question
MAX_SLUG = 100
MAX_TERMS = 64
MAX_QUESTIONS = 32
_TAG = 16  # characters of the longest tag of words alone


def lowered(text: str) -> str:
    """Put in small letters and make apostrophes straight; all else stays as it is written."""
    folded = text.lower()
    if len(folded) != len(text):  # "İ" alone becomes two
        folded = text.replace("İ", "i").lower()
    return folded.replace("’", "'")


def fold_signs(text: str) -> str:
    """Write a text as it reads (`shadow.fold`), with ASCII punctuation; most English text is ASCII then."""
    folded = text.replace("İ", "i").lower()  # the only letter whose small form is longer
    if not folded.isascii():
        folded = shadow.fold(folded)
        for sign, plain in _PUNCTUATION:
            folded = folded.replace(sign, plain)
    return folded


def prose(text: str) -> str:
    """Blank out code, links and tags; every other character keeps its place."""
    if not any(map(text.__contains__, _MIGHT_BE_UNSAID)):
        return text
    return _UNSAID.sub(lambda match: " " * len(match[0]), text)


def script_of(text: str, least: float = 2.5) -> Script | None:
    """Tell the script of most words, by the ratio of scripts.

    None where the text is mixed, and where it has fewer than `least` words: "42", "OK" and a name are in no language.
    """
    letters = text.encode("ascii", "replace").translate(_LETTERS)
    if text.isascii():
        enough = max(1, ceil(least))
        return "latin" if len(letters.split(None, enough)) >= enough else None
    latin = len(letters.split())
    rest = _beyond_ascii(text)
    characters: dict[Script, int] = {}
    for script, runs in _RUNS.items():  # no character is in two of them
        if not rest:
            break
        others = runs.sub("", rest)
        characters[script] = len(rest) - len(others)
        rest = others
    kana = characters.get("kana", 0)
    if kana > _KANA_SHARE * (kana + characters["han"]):
        characters["kana"] += characters.pop("han")
    words: dict[Script, float] = {"latin": latin}
    for script, count in characters.items():
        words[script] = count / _CHARACTERS_IN_WORD[script]
    total = sum(words.values())
    if total == 0 or total < least:
        return None
    script = max(words, key=lambda one: (one != "latin" and words[one] >= _OTHER_SHARE * total, words[one]))
    wanted = _LATIN_SHARE if script == "latin" else _OTHER_SHARE
    return script if words[script] >= wanted * total else None


def language_of(found: Sequence[str]) -> str | None:
    """Tell the language (ISO 639-1) of `tokens` in Latin letters by its everyday words.

    None where there are hardly any, as in a list of names, and where they are of several languages.
    """
    read = set(found[:_TELLING])
    least = max(_FEW_EVERYDAY, _EVERYDAY_SHARE * len(read))
    english = len(EVERYDAY["en"] & read)
    if english >= 2 * least:  # spares counting all the others
        return "en"
    counts = {name: len(common & read) for name, common in EVERYDAY.items()}
    second, most = sorted(counts.values())[-2:]
    name = max(counts, key=counts.__getitem__)
    # Neighbours share many words, and none of these with English.
    return name if most >= max(least, 1.5 * second, 0 if name == "en" else 3 * english) else None


def _beyond_ascii(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def variant_of(text: str) -> Literal["zh-Hant", "zh-Hans"] | None:
    """Tell traditional from simplified Chinese, by the characters that only one has; None where neither leads."""
    only_simplified, only_traditional = _characters_of_one_variant()
    distinct = set(text)
    simplified, traditional = len(distinct & only_simplified), len(distinct & only_traditional)
    if traditional > 2 * simplified + _FEW:
        return "zh-Hant"
    if simplified > 2 * traditional + _FEW:
        return "zh-Hans"
    return None


def has_characters_of(variant: Literal["zh-Hant", "zh-Hans"], text: str) -> bool:
    """Tell whether a text holds a character that only this variant has."""
    return not _characters_of_one_variant()[variant == "zh-Hant"].isdisjoint(text)


@cache
def _characters_of_one_variant() -> tuple[frozenset[str], frozenset[str]]:
    """Give simplified and traditional forms, without those that are at home in both (后, 里, 只)."""
    han = [chr(code) for code in range(0x4E00, 0xA000)]
    pairs = [
        (one, simplified) for one, simplified in zip(han, shadow.fold("".join(han)), strict=True) if one != simplified
    ]
    return (
        frozenset(simplified for _, simplified in pairs if not _is_in("big5", simplified)),
        frozenset(traditional for traditional, _ in pairs if not _is_in("gb2312", traditional)),
    )


def _is_in(charset: str, character: str) -> bool:
    return character.encode(charset, "ignore") != b""


def tokens(folded: str) -> list[str]:
    """Give words and, where the script sets no spaces, single characters."""
    if folded.isascii():
        return folded.translate(_SEPARATORS).split()
    found: list[str] = []
    for characters, word in _RUN.findall(folded):
        if word:
            found.append(word)
        else:
            found.extend(characters)
    return found


class _Hashes(dict[int, int | None]):
    """By code point: the hash of the token it is, 0 for a sign and in ASCII, None where it may be part of a word."""

    def __missing__(self, code: int) -> int | None:
        folded = fold_signs(chr(code))
        if _CHARACTER.match(folded):
            found: int | None = crc32(folded.encode())
        else:
            found = None if code > 127 and _SPACED_LETTER.match(folded) else 0
        if len(self) < _MAX_HASHES:
            self[code] = found
        return found


_hash_of = _Hashes().__getitem__


def hashes(text: str) -> list[int]:
    """Hash (CRC-32 of UTF-8) each token of a text once, folded; quickly where words set apart by spaces are ASCII."""
    plain = text.encode("ascii", "replace")
    found = list(map(crc32, set(plain.translate(_SMALL_WORDS).split())))
    if text.isascii():
        return found
    rest = text if 2 * plain.count(b"?") > len(plain) else _beyond_ascii(text)
    codes = memoryview(rest.encode(_UTF_32, "surrogatepass")).cast("I")  # numbers make the quicker set
    characters = set(map(_hash_of, set(codes)))
    if None in characters:
        return [crc32(token.encode()) for token in set(tokens(fold_signs(text)))]
    return found + [one for one in characters if one]


def spaced(words: list[str]) -> str:
    """Join tokens so that a term of `terms` is in them exactly where `term in spaced(…)`."""
    return f" {' '.join(words)} "


def terms(words: list[str]) -> tuple[str, ...]:
    """Give what a text is about: the stems of its words and the bigrams of its characters, function words left out.

    Each term begins with a space, to be looked for in what `spaced` gives; at most 64, the first ones, each once.
    """
    found: dict[str, None] = {}
    before = ""  # the character before, where it counts
    is_alone = True
    for word in [*words, ""]:
        is_character = not word.isascii() and _CHARACTER.match(word) is not None
        character = word if is_character and word not in FUNCTION_WITHIN else ""
        if before and character:
            found[f" {before} {character} "] = None
        elif before and is_alone and before != "一":  # 哪一个, 一下: grammar, and in 一共, too
            found[f" {before} "] = None
        is_alone = not before
        before = character
        if word and not is_character and word not in STOPWORDS:
            found[_opening(word)] = None
        if len(found) >= MAX_TERMS:
            break
    return tuple(found)[:MAX_TERMS]


# The version of what `stem`, and with it recall.counted, makes of a text. Whoever changes that raises it: what is
# remembered is then indexed anew (patterns/memory/memory.py), or it would be looked for by other terms than it is kept
# under.
TERMS = 1


def stem(word: str) -> str:
    """Cut a folded English word's ending, so that "caches", "cached" and "caching" are one."""
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith(("ss", "eed")):
            stem = word[: -len(suffix)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem.rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def _opening(word: str) -> str:
    """Give what the forms of a word begin with, "reset" for "resetting"; a short word and a number are whole ones.

    Unlike a `stem` it is looked for in a text, where longer words begin with it, and cuts more.
    """
    stem = _SUFFIX.sub("", word)
    if len(stem) < _STEM:
        stem = word
    elif stem != word and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return f" {stem}" if len(stem) >= _STEM and not stem.isdigit() else f" {word} "


def place_of(term: str, folded: str) -> Place:
    """Find where one of `terms` stands in the text it was found in."""
    parts = term.split()
    if _CHARACTER.match(parts[0]):
        pattern = r"[\W_]*+".join(parts)  # signs between two characters part them no more than in `tokens`
    else:
        behind = rf"(?!{_LETTER})" if term.endswith(" ") else rf"{_LETTER}*"  # a whole word, or a stem
        pattern = rf"(?<!{_LETTER}){parts[0]}{behind}"
    found = re.search(pattern, folded)
    return found.span() if found else (0, 0)


def sentences(folded: str) -> Iterator[Place]:
    """Cut a text after . ! ? 。 … and at line ends."""
    return (match.span() for match in _SENTENCE.finditer(folded))


def statements(folded: str, limit: int) -> Iterator[Place]:
    """Cut a text behind semicolons, too, and give what is said without blanks around; `limit` parts are read."""
    for match in islice(_STATEMENT.finditer(folded), limit):
        if said := match[0].lstrip():
            yield match.end() - len(said), match.end() - len(said) + len(said.rstrip())


def clause(text: str, place: Place, reach: int = 80) -> Place:
    """Give the clause around a place: to the nearest punctuation, `reach` characters away at most."""
    start, end = place
    low, high = max(0, start - reach), min(len(text), end + reach)
    while start > low and text[start - 1] not in _DELIMITERS:
        start -= 1
    while end < high and text[end] not in _DELIMITERS:
        end += 1
    return start, end


def questions(folded: str) -> list[Place]:
    """Find what a text asks, the first 32 questions, marked or not; two in one sentence count twice.

    Not counted: questions in quotation marks inside a sentence, those that ask for assent only (right? 好嗎？), those
    with their answer below ("Q: … A: …"), quoted lines, and signatures.
    """
    found: list[Place] = []
    end = folded.find(_SIGNATURE)
    for first, last in sentences(folded if end < 0 else folded[:end]):
        text = folded[first:last]
        if not _asks(text) or _ANSWERED.match(folded, last) or _is_quoted(folded, first):
            continue
        start = first + len(text) - len(text.lstrip())
        for cut in _SECOND.finditer(text) if len(text) <= _MAX_SENTENCE else ():
            text_before = folded[start : first + cut.start()]
            # "Is it safe, and is it legal?" may have one yes for an answer.
            asks = _opens(text_before) or ("?" in text and _OPENS_TWO.match(text_before) is not None)
            if asks and not (cut["polar"] is not None and _POLAR.match(text_before)):
                found.append((start, first + cut.start()))
                start = first + cut.end()
        found.append((start, first + len(text.rstrip())))
        if len(found) >= MAX_QUESTIONS:
            return found[:MAX_QUESTIONS]
    return found


def slug(text: str) -> str:
    """Return a text's letters and digits of any script in small letters, hyphens between, at most 100 characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")[:MAX_SLUG].strip("-")


def _is_quoted(folded: str, at: int) -> bool:
    return folded.startswith(">", folded.rfind("\n", 0, at) + 1)


def _asks(sentence: str) -> bool:
    text = sentence.strip()
    if len(text) <= _TAG:
        words = tokens(text)
        if not words or " ".join(words) in _TAGS or "".join(words) in _TAGS:
            return False
    if text.endswith(_TAG_ENDS) and (tag := _TAG_BEHIND.search(text, max(0, len(text) - 2 * _TAG))):
        return _opens(text[: tag.start()])
    if _QUOTED_QUESTION.search(text, len(text) - _TAG if len(text) > _TAG else 0):
        return text[0] in "\"'「『"
    return "?" in text or _opens(text.rstrip(".!。 "))


def _opens(text: str) -> bool:
    if _OPENS.match(text):
        return True
    return _ASKING.search(text) is not None and not _NOT_ASKING.search(text)
