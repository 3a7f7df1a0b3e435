"""Read what has one value at a time out of a sentence: who owns it, where it is, which version it needs.

Sentences are folded (`shadow.fold`); only shapes that are listed are read, of a name, a place or an identifier. Two
such facts of one thing with different values cannot both hold.
"""

import re
from typing import NamedTuple

from .lexicon import facts as words

MAX_SENTENCE = 240  # code points; a longer one is not read


class Fact(NamedTuple):
    """What is said of a thing: the words that name it and how it is said, and its value."""

    subject: frozenset[str]
    relation: str
    value: str


def fact(sentence: str, written: str) -> Fact | None:
    """Give the fact a folded sentence states; `written` is the same as it was written, for the capitals of names."""
    if len(sentence) > MAX_SENTENCE:
        return None
    plain = words.BESIDE.sub("", sentence.strip().rstrip(".!。")).strip()
    shapes = words.ENGLISH if plain.isascii() else words.CHINESE
    for shape in shapes:
        if (found := shape.pattern.fullmatch(plain)) and (stated := _read(found, shape, written)):
            return stated
    return None


def exclude(one: Fact, other: Fact) -> bool:
    """Tell whether two facts are of one thing and differ: no list, nor one a part of the other (Berlin, Germany)."""
    if one.relation != other.relation or one.subject != other.subject or one.value == other.value:
        return False
    left, right = (frozenset(words.VALUE_TOKEN.findall(each.value)) - words.VALUE_STOPWORDS for each in (one, other))
    if left <= right or right <= left or one.value in other.value or other.value in one.value:
        return False
    return (one.value in words.REGIONS) == (other.value in words.REGIONS)


def _read(found: re.Match[str], shape: words.Shape, written: str) -> Fact | None:
    parts = found.groupdict()
    subject, value = parts["subject"], parts["value"].strip()
    if words.NO_VALUE.search(value):
        return None
    if value.isascii() and not shape.takes_any and not _is_name(value, written):
        return None
    named = words.SUBJECT_STOP.sub("", subject)
    tokens = frozenset(words.SUBJECT_TOKEN.findall(f"{parts.get('name', '')} {named}")) - words.SUBJECT_STOPWORDS
    if not tokens:
        return None
    relation = shape.relation
    if not relation:
        verb = parts["verb"]
        relation = "is" if verb in words.ROLES else words.VERBS.get(verb, verb)
        tokens |= {words.ROLES[verb]} if verb in words.ROLES else set()
    return Fact(tokens, relation, words.ARTICLE.sub("", value))


def _is_name(value: str, written: str) -> bool:
    """Tell whether a value is written like a name ("Berlin", "db-2"), or with "the" before it."""
    if value.startswith("the "):
        return True
    at = written.lower().rfind(value)
    shown = written[at : at + len(value)] if at >= 0 else value
    return any(part[0].isupper() or any(sign.isdigit() or sign in "@_/" for sign in part) for part in shown.split())
