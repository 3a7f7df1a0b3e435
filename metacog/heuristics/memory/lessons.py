"""Choose which lessons to give back to an agent (seed 004, "Reflexion": reflection memory → prompt injection)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..text import words

BUDGET = 4_000  # characters of lessons in one context
MAX_READ = 4_096  # characters of each recent text


class Lesson(NamedTuple):
    """A lesson in force: what to do, and the words that call for it."""

    id: str
    text: str
    topics: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """A lesson to give, and those of its topics that the recent texts speak of."""

    lesson: Lesson
    matches: tuple[str, ...]


def choose(lessons: Iterable[Lesson], recent: Sequence[str], budget: int = BUDGET) -> list[Chosen]:
    """Give the lessons that fit into `budget` characters: those that `recent` texts call for, then the others.

    `lessons` come newest first and stay so within the two; the first that does not fit ends the list, so that the
    oldest are left out first and none is cut. A topic is spoken of where all its words are, in any inflection.
    """
    spoken = words.spaced([word for text in recent for word in words.tokens(words.fold_signs(text[:MAX_READ]))])
    found = [Chosen(each, tuple(topic for topic in each.topics if _is_in(topic, spoken))) for each in lessons]
    chosen: list[Chosen] = []
    for each in sorted(found, key=lambda one: not one.matches):
        budget -= len(each.lesson.text)
        if budget < 0:
            break
        chosen.append(each)
    return chosen


def _is_in(topic: str, spoken: str) -> bool:
    tokens = words.tokens(words.fold_signs(topic))
    terms = words.terms(tokens)
    if not terms:  # function words and signs alone, as in “how to”
        return bool(tokens) and words.spaced(tokens) in spoken
    return all(term in spoken for term in terms)
