"""Read what has one value at a time out of a sentence: who owns it, where it is, which version it needs.

Sentences are folded (`shadow.fold`); only shapes that are listed are read, of a name, a place or an identifier. Two
such facts of one thing with different values cannot both hold.
"""

import re
from typing import NamedTuple

from ..lexicon import LANGUAGES, lazy, together
from ..lexicon.shapes import FactWords, Shape

MAX_SENTENCE = 240  # code points; a longer one is not read


_WORDS: FactWords = together(language.FACT for language in LANGUAGES)
_HAN = lazy.compile(r"[\u3400-\u9fff]")
_SHAPES = [(lazy.compile(shape.pattern), shape) for shape in _WORDS.shapes]
# Of sentences with Han characters in them, and of others.
_HAN_SHAPES = [each for each in _SHAPES if _HAN.search(each[1].pattern)]
_OTHER_SHAPES = [each for each in _SHAPES if not _HAN.search(each[1].pattern)]
_BESIDE, _NO_VALUE = lazy.compile(_WORDS.beside), lazy.compile(rf"[/&、]|{_WORDS.no_value}")
_UNNAMED, _SUBJECT_STOP = lazy.compile(_WORDS.unnamed), lazy.compile(_WORDS.subject_stop)
_SUBJECT_TOKEN = lazy.compile(_WORDS.subject_token, re.ASCII)
_VALUE_TOKEN = lazy.compile(r"[a-z0-9][\w.+#@:/-]*|[\u3400-\u9fff]", re.ASCII)


class Fact(NamedTuple):
    """What is said of a thing: the words that name it and how it is said, and its value."""

    subject: frozenset[str]
    relation: str
    value: str


def fact(sentence: str, written: str) -> Fact | None:
    """Give the fact a folded sentence states; `written` is the same as it was written, for the capitals of names."""
    if len(sentence) > MAX_SENTENCE:
        return None
    plain = _BESIDE.sub("", sentence.strip().rstrip(".!。")).strip()
    for pattern, shape in _HAN_SHAPES if _HAN.search(plain) else _OTHER_SHAPES:
        if (found := pattern.fullmatch(plain)) and (stated := _read(found, shape, written)):
            return stated
    return None


def exclude(one: Fact, other: Fact) -> bool:
    """Tell whether two facts are of one thing and differ: no list, nor one a part of the other (Berlin, Germany)."""
    if one.relation != other.relation or one.subject != other.subject or one.value == other.value:
        return False
    left, right = (frozenset(_VALUE_TOKEN.findall(each.value)) - _WORDS.value_stopwords for each in (one, other))
    if left <= right or right <= left or one.value in other.value or other.value in one.value:
        return False
    return (one.value in _WORDS.regions) == (other.value in _WORDS.regions)


def _read(found: re.Match[str], shape: Shape, written: str) -> Fact | None:
    parts = found.groupdict()
    subject, value = parts["subject"], parts["value"].strip()
    if _NO_VALUE.search(value):
        return None
    if value.isascii() and not shape.takes_any and not _is_name(value, written):
        return None
    named = _SUBJECT_STOP.sub("", subject)
    tokens = frozenset(_SUBJECT_TOKEN.findall(f"{parts.get('name', '')} {named}")) - _WORDS.subject_stopwords
    if not tokens:
        return None
    relation = shape.relation
    if not relation:
        verb = parts["verb"]
        relation = "is" if verb in _WORDS.roles else _WORDS.verbs.get(verb, verb)
        tokens |= {_WORDS.roles[verb]} if verb in _WORDS.roles else set()
    return Fact(tokens, relation, _UNNAMED.sub("", value))


def _is_name(value: str, written: str) -> bool:
    """Tell whether a value is written like a name ("Berlin", "db-2"), or with "the" before it."""
    if value.startswith(_WORDS.definite):
        return True
    at = written.lower().rfind(value)
    shown = written[at : at + len(value)] if at >= 0 else value
    return any(part[0].isupper() or any(sign.isdigit() or sign in "@_/" for sign in part) for part in shown.split())
