"""Pass a request for more tool calls by rule, or leave it to the chairman (seed 003, 2.3)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from ..lexicon import LANGUAGES, lazy, together
from ..lexicon.shapes import ExtensionWords
from ..text.shadow import fold
from ..text.words import stem

PASSED_BY_RULE = 2  # requests of one investigation
MIN_LENGTH = 10  # a Chinese character counts two
MAX_READ = 4_096  # code points of a reason
MAX_BEARER = 40  # code points before a number in which the word that bears it stands
SAME = 0.7  # share of words in common from which two reasons are one


_HAN = lazy.compile(r"[\u3400-\u9fff]")
_WORDS: ExtensionWords = together(language.EXTENSION for language in LANGUAGES)


def _within(words: Iterable[str]) -> tuple[str, ...]:
    """Give those that are cut out of text without blanks, longest first, so that no half of a longer one is left."""
    return tuple(sorted(filter(_HAN.search, words), key=len, reverse=True))


FILLERS = frozenset(_WORDS.fillers)
FILLERS_WITHIN = _within(_WORDS.fillers)
_TELLING = frozenset(_WORDS.telling)
_NEEDS = _TELLING.union(_WORDS.needs)
_NEEDS_WITHIN = _within((*sorted(_WORDS.telling), *_WORDS.needs))
_RESPELT = tuple((lazy.compile(expression, re.IGNORECASE), written) for expression, written in _WORDS.respelt)


class Objection(NamedTuple):
    """Why the rules do not pass a request: what kind, and a sentence."""

    type: str  # too-many, too-short, filler, not-concrete, same-reason, near-duplicate
    detail: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules say; a request that they do not pass goes to the chairman, it is not refused."""

    approved: bool
    objections: tuple[Objection, ...]  # none where it is approved
    entities: tuple[str, ...]  # what makes the reason concrete, as it is written there
    needs: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "approved": self.approved,
            "objections": [objection._asdict() for objection in self.objections],
            "entities": list(self.entities),
            "needs": list(self.needs),
        }


def judge(reason: str, previous: Sequence[str]) -> Judgement:
    """Judge the reason of a request, English or Chinese, against those of all requests before it.

    `previous` are the reasons of the same investigation, oldest first, passed or not: only the first two requests
    pass by rule, the reason must name an entity or a need for data, and must not say again what was said.
    """
    reason, earlier = reason[:MAX_READ], [each[:MAX_READ] for each in previous]
    said = _read(reason)
    objections = []
    if len(previous) >= PASSED_BY_RULE:
        objections.append(Objection("too-many", f"only the first {PASSED_BY_RULE} requests pass by rule"))
    if _length(reason.strip()) < MIN_LENGTH:
        objections.append(Objection("too-short", "the reason is too short to say what is missing"))
    if not said.content:
        objections.append(Objection("filler", "the reason only says that there is more to do"))
    elif not said.entities and not said.needs:
        objections.append(Objection("not-concrete", "the reason names no entity and no data that is needed"))
    alike = _respelt(reason)
    for number in range(len(earlier), 0, -1):
        likeness = _likeness(alike, _respelt(earlier[number - 1]), said if alike == reason else _read(alike))
        if likeness:
            objections.append(Objection(likeness, f"request {number} gave the same reason"))
            break
    return Judgement(not objections, tuple(objections), said.entities, said.needs)


class _Said(NamedTuple):
    content: frozenset[str]  # stems of words and Chinese bigrams, fillers left out
    figures: frozenset[str]  # what tells one case from another: numbers, 第三, 去年
    wanted: frozenset[str]  # of the content, what is needed of the rest: logs, 營收
    entities: tuple[str, ...]
    needs: tuple[str, ...]


_QUOTED = lazy.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|「([^「」\n]+)」|《([^《》\n]+)》")
_WORD = lazy.compile(r"https?://\S+|[A-Za-z0-9_][A-Za-z0-9_'’./:@+#-]*")
_POSSESSIVE = lazy.compile(r"['’]s\Z")
_OPENS_SENTENCE = lazy.compile(r"(?:^|[.!?:。！？：\n])[\s\"'“「(（*-]*$")
_IDENTIFIER = lazy.compile(r"\w[_./:@#+]\w|[a-z][A-Z]|https?://")
_CHINESE = lazy.compile(r"[\u3400-\u9fff]+")
# So many steps, minutes or tries: how much is asked for, not what.
_STEPS = lazy.compile(rf"\s?(?:{_WORDS.steps})", re.IGNORECASE)
# A number of three digits or more behind what bears it is an identifier: parcel 4417, 包裹 4417; so is a year.
_YEAR = lazy.compile(r"(?:1[89]|20)\d\d")
_NUMBER = lazy.compile(r"\d{3,}")
_BEARER = lazy.compile(r"([A-Za-z][A-Za-z'’-]*|[\u3400-\u9fff]+)[\s#:：]{0,3}\Z")
_COUNTED = lazy.compile(rf"\s?(?:{_WORDS.counted})", re.IGNORECASE)
# What is written down, whatever it is: "log files" are logs.
_HOLDING = frozenset(map(stem, _WORDS.holding))
_AIM = lazy.compile(_WORDS.aim, re.IGNORECASE)
_WORD_LENGTH = 4  # characters of a Chinese word, or a name
_FIGURE = lazy.compile(_WORDS.figure)


def _read(reason: str) -> _Said:
    content: dict[str, None] = {}
    entities: dict[str, None] = {}
    needs: dict[str, None] = {}
    figures: set[str] = set()
    shouts = reason.isupper()
    reason = _AIM.sub(" ", reason)
    for match in _WORD.finditer(reason):
        word = _POSSESSIVE.sub("", match[0].rstrip("'’./:-"))
        folded = fold(word)
        if folded.isdigit():
            if _STEPS.match(reason, match.end()):
                continue
            figures.add(folded)
        if folded in FILLERS or (folded.isdigit() and not (_YEAR.fullmatch(folded) or _is_number_of(reason, match))):
            continue
        content[stem(folded)] = None
        if folded in _NEEDS:
            needs[word] = None
        elif _is_entity(word, shouts, bool(_OPENS_SENTENCE.search(reason, max(0, match.start() - 8), match.start()))):
            entities[word] = None
    for run in _CHINESE.findall(reason):
        named, rest = _take(run, _NEEDS_WITHIN)
        plain = [need for need in named if need not in _TELLING]
        needs.update(dict.fromkeys(named))
        _, rest = _take(rest, FILLERS_WITHIN)
        subjects = [part for part in (*rest.split(), *_TELLING.intersection(named)) if len(part) > 1]
        content.update(
            dict.fromkeys(fold(term) for term in [*plain, *(pair for part in subjects for pair in _pairs(part))])
        )
    quoted = [text for groups in _QUOTED.findall(reason) for text in groups if _is_content(text)]
    entities.update(dict.fromkeys(quoted))
    # A need is concrete by what it is a need of: "server logs", 台積電財報; not "more data", 資料.
    vague = {stem(fold(need)) for need in needs if need.lower() not in _TELLING}
    concrete = tuple(needs) if content.keys() - vague else ()
    figures.update(word for word in content if re.search(r"\d", word))
    figures.update(_FIGURE.findall(fold(reason)))
    wanted = {stem(fold(need)) for need in needs}
    return _Said(frozenset(content), frozenset(figures), frozenset(wanted), tuple(entities), concrete)


def _is_number_of(reason: str, match: re.Match[str]) -> bool:
    """Tell whether a number names one of what the word before it, no filler, is about."""
    if not _NUMBER.fullmatch(match[0]) or _COUNTED.match(reason, match.end()):
        return False
    found = _BEARER.search(reason, max(0, match.start() - MAX_BEARER), match.start())
    return found is not None and fold(found[1]) not in FILLERS and not _take(found[1], FILLERS_WITHIN)[1].endswith(" ")


def _is_entity(word: str, shouts: bool, opens: bool) -> bool:
    """Tell whether a word that is no filler names something: a figure, an identifier, a name, an acronym."""
    if any(character.isdigit() for character in word) or _IDENTIFIER.search(word):
        return True
    if shouts or len(word) < 2:
        return False
    return word.isupper() or (word[0].isupper() and not opens)


def _is_content(text: str) -> bool:
    if any(fold(word) not in FILLERS for word in _WORD.findall(text)):
        return True
    return any(_take(run, FILLERS_WITHIN)[1].strip() for run in _CHINESE.findall(text))


def _take(text: str, phrases: Sequence[str]) -> tuple[list[str], str]:
    """Cut phrases out of a text, a blank in their place; give those that were there, and the rest."""
    found = []
    for phrase in phrases:
        if phrase in text:
            found.append(phrase)
            text = text.replace(phrase, " ")
    return found, text


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)]


def _length(text: str) -> int:
    return len(text) + sum(len(run) for run in _CHINESE.findall(text))


def _likeness(reason: str, before: str, said: _Said) -> str | None:
    if _plain(reason) == _plain(before):
        return "same-reason"
    other = _read(before)
    both = said.content & other.content
    if not both or (said.figures and other.figures and said.figures != other.figures):
        return None  # another quarter, another file: another question
    ours, theirs = ({fold(name) for name in each.entities} for each in (said, other))
    if (ours - theirs and theirs - ours) or _has_other_word(reason, before):
        return None  # another company
    either = said.content | other.content
    if ours and ours == theirs and said.wanted & other.wanted and either - both <= _HOLDING:
        return "near-duplicate"
    fewer = min(len(said.content), len(other.content))
    is_part = fewer >= 3 and len(both) == fewer and len(either) <= 2 * fewer
    return "near-duplicate" if is_part or len(both) >= SAME * len(either) else None


def _respelt(reason: str) -> str:
    for expression, written in _RESPELT:
        reason = expression.sub(written, reason)
    return reason


def _has_other_word(reason: str, before: str) -> bool:
    """Tell whether one Chinese word, no filler and no need, stands in place of another: 非洲 for 欧洲."""
    one, other = ("".join(_take(_plain(text), FILLERS_WITHIN)[1].split()) for text in (reason, before))
    start = _shared(one, other)
    one, other = one[start:], other[start:]
    end = _shared(one[::-1], other[::-1])
    left, right = one[: len(one) - end], other[: len(other) - end]
    return (
        0 < len(left) <= _WORD_LENGTH
        and 0 < len(right) <= _WORD_LENGTH
        and all(_CHINESE.fullmatch(each) and (each in _TELLING or each not in _NEEDS_WITHIN) for each in (left, right))
    )


def _shared(one: str, other: str) -> int:
    """Count the characters with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _plain(text: str) -> str:
    return "".join(character for character in fold(text) if character.isalnum())
