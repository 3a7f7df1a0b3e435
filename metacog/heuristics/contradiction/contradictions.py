"""Tell whether one text contradicts another: a second look its first (seed 000), new knowledge a memory."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from ..lexicon import LANGUAGES, lazy, together
from ..lexicon.shapes import ContradictionWords
from ..text.shadow import fold
from ..text.spans import Span
from ..text.words import statements, stem
from .facts import Fact, exclude, fact

MAX_READ = 8_192  # code points of each text
MAX_SENTENCES = 60  # of each
SAME_SUBJECT = 0.6  # share of words in common from which two sentences speak of one thing
SAME_COUNT = 0.75  # the same where only a number differs, which in lists it always does


Kind = Literal["negation", "antonym", "number", "value", "retraction"]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences that cannot both hold, with where they stand. A proposal: a person confirms it."""

    kind: Kind
    confidence: float  # 0..1; how alike the rest of the sentences is
    first: Span | None  # in the first text; None where the second takes back all of it
    second: Span
    detail: str
    rule: str = ""  # by name, which one found it

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "confidence": self.confidence,
            "first": self.first.as_dict() if self.first else None,
            "second": self.second.as_dict(),
            "detail": self.detail,
            "rule": self.rule,
        }


def contradicts(first: str, second: str) -> Contradiction | None:
    """Find the clearest contradiction between two texts, English or Chinese; None where there is none.

    Sentences on the same subject contradict each other by negation, antonyms, or numbers of the same unit; a second
    text that takes the first back ("I was wrong", 我收回) does as a whole. Questions and conditions state nothing;
    "may" weakens; what differs in time, version or step can hold side by side.
    """
    return _clearest(list(_statements(first)), list(_statements(second)))


def contradicted(knowledge: str, memories: Iterable[str]) -> list[tuple[int, Contradiction]]:
    """Find the memories that new knowledge contradicts: the number of each, the surest first."""
    ours = list(_statements(knowledge))
    found = [(number, _clearest(list(_statements(memory)), ours)) for number, memory in enumerate(memories)]
    certain = [(number, each) for number, each in found if each]
    return sorted(certain, key=lambda pair: (-pair[1].confidence, pair[0]))


def compared(first: str, second: str) -> list[tuple[Span, Span, str]]:
    """Name the rule that decides about each two sentences, be it that nothing keeps them from both being so."""
    theirs, ours = list(_statements(first)), list(_statements(second))
    return [(one.span, other.span, _decides(_Pair(one, other)).name) for one in theirs for other in ours]


class _Number(NamedTuple):
    value: str
    unit: str
    per: str = ""  # second, hour, 天, where it is a rate
    upto: str = ""  # the last, where it is a range


class _Statement(NamedTuple):
    span: Span
    folded: str
    content: frozenset[str]
    negations: int
    numbers: tuple[_Number, ...]
    labels: frozenset[str]
    fact: Fact | None
    is_whole: bool = True  # not only the first clause of a sentence
    is_none: bool = False  # "no bugs", read as 0 bugs: a number and nothing else


def _clearest(firsts: Sequence[_Statement], seconds: Iterable[_Statement]) -> Contradiction | None:
    best: Contradiction | None = None
    for ours in seconds:
        found = [_retracted(ours), *(_compare(theirs, ours) for theirs in firsts)]
        for each in found:
            if each and (best is None or each.confidence > best.confidence):
                best = each
    return best


_LANGUAGES: tuple[ContradictionWords, ...] = tuple(language.CONTRADICTION for language in LANGUAGES)
_WORDS = together(_LANGUAGES)
# One of several "- Price: $12": a value of something that it does not name.
_ENTRY = lazy.compile(r"(?:[-*•+]|[0-9]{1,3}[.)、])\s+[^.:]{1,40}:")
_FENCED = lazy.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)  # code states nothing
# An expression in code is one thing: what it denies and counts nobody says.
_CODE = lazy.compile(r"`([^`\n]+)`")
_EXPRESSION = lazy.compile(r"[()\[\]{}<>=*,;:!?]|^\.|^(?:none|null|nil)$")
_OPAQUE = "\ufffc"
_LEAD_IN, _ANSWER, _CONTRAST = lazy.compile(_WORDS.lead_in), lazy.compile(_WORDS.answers), lazy.compile(_WORDS.contrast)
_HEADS = tuple(map(lazy.compile, _WORDS.heads))
# And how it is written that one denies the other.
_DENIES_ONE = [(lazy.compile(expression), words.denial) for words in _LANGUAGES for expression in words.denies_one]
# A question without its mark.
_ASKS = lazy.compile(rf"[{''.join(language.ASKING for language in LANGUAGES)}][。!]?$")
_ISO_DATE = lazy.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_CLOCK = lazy.compile(r"(?<![a-z0-9_])([01]?\d|2[0-3]):([0-5]\d)(?!\d)")
_THAN, _PREFERS = tuple(map(lazy.compile, _WORDS.than)), tuple(map(lazy.compile, _WORDS.prefers))
_ANOTHER = lazy.compile(_WORDS.another)
_THIS_THAT = tuple((lazy.compile(this), lazy.compile(that)) for this, that in _WORDS.this_that)
_KIND = {unit: next(iter(scale)) for scale in _WORDS.scales for unit in scale}
_OPENING = lazy.compile(rf"(?:(?:{_WORDS.determiners}) )?([a-z][\w-]*) ([a-z][\w-]*)\b")
_CAP = lazy.compile(_WORDS.cap)
_ALL, _NOT_ALL, _SOME = lazy.compile(_WORDS.all_of), lazy.compile(_WORDS.not_all), lazy.compile(_WORDS.some_of)
_MOST = lazy.compile(_WORDS.most_of)
_COUNTED_OF = lazy.compile(_WORDS.counted_of)
_ONLY, _WHOEVER = tuple(map(lazy.compile, _WORDS.only)), tuple(map(lazy.compile, _WORDS.whoever))
_THERE = lazy.compile(_WORDS.there_is)
_ANY_MORE, _BUT = lazy.compile(_WORDS.any_more), lazy.compile(rf",\s*(?:{_WORDS.but})")
_REWORDED, _RESPELT, _NAMED_TIMES, _NONE_OF = (
    tuple((lazy.compile(expression), written) for expression, written in listed)
    for listed in (_WORDS.reworded, _WORDS.respelt, _WORDS.named_times, _WORDS.none_of)
)
_NO_NEGATION = lazy.compile(_WORDS.no_negation)
_NEGATED = lazy.compile(_WORDS.negated)
_NEGATED_WITHIN = lazy.compile(_WORDS.negated_within)
_STOP_WITHIN = lazy.compile(_WORDS.stop_within)
_WORD = lazy.compile(r"[a-z][a-z0-9_'-]*")
_CHINESE = lazy.compile(r"[\u3400-\u9fff]+")
_NUMBER = lazy.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)(?:~(\d+(?:\.\d+)?))?")
# 7 to 10 days is written 7~10; what goes from one to another is none.
_RANGE = lazy.compile(
    r"(?<![\d.,:~-])(?<!from )(?<!从)(\d+(?:\.\d+)?)\s?(?:[-–~到至]|to\b)\s?"
    r"(\d+(?:\.\d+)?)(?=\s?(?:%|[a-z]{3}|[\u3400-\u9fff]))"
)
_UNIT = lazy.compile(r"\s*(%|[a-z]+|[\u3400-\u9fff])?")
# "100 requests per minute", "2 GB/h", 每分钟100次, 100次/分钟.
_PER = "|".join(sorted(_WORDS.per, key=len, reverse=True))
_RATE = lazy.compile(
    r"(?<![\d.,])(?P<number>\d[\d,]*(?:\.\d+)?(?:~\d[\d.]*)?)"
    rf"(?P<counted>(?:\s?%|\s?(?!{_WORDS.not_counted})[a-z]+|\s?[\u3400-\u9fff]{{1,6}}?){{0,2}})"
    rf"(?:\s?/\s?|{_WORDS.rate})(?P<per>{_PER})s?(?![a-z])"
)
_ZH_RATE = lazy.compile(
    rf"每个?(?P<per>{_PER})(?P<counted>[^\d,。;每\n]{{0,8}})(?P<number>(?<![.,])\d[\d,]*(?:\.\d+)?(?:~\d[\d.]*)?)(?![月日号点:]|\s?clock)"
)
_ZH_UNIT = lazy.compile(r"(?<=\d)\s?(?:分钟|小时|秒钟?|天|点钟?)")
_ZH_DIGIT = f"[{''.join(_WORDS.digits_within)}]"
_ZH_BELOW_100 = rf"(?:{_ZH_DIGIT}?十{_ZH_DIGIT}?|{_ZH_DIGIT})"
_ZH_COUNT = lazy.compile(
    rf"(?!一点)(?:(?P<tens>{_ZH_DIGIT}?)十)?(?P<ones>{_ZH_DIGIT}?)"
    rf"(?=(?:[到至]{_ZH_BELOW_100})?(?:[{''.join(sorted(_WORDS.measures_within))}]|小时|公[里斤尺分]))"
)
_ZH_TWO_DIGITS = lazy.compile(rf"(?:(?P<tens>{_ZH_DIGIT}?)十)?(?P<ones>{_ZH_DIGIT}?)")
_AM_PM = lazy.compile(
    r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))? ?(?P<half>[ap])(?:m\b|\.m\b\.?)"
)
_ZH_TIME = lazy.compile(
    rf"(?:(?P<half>{'|'.join(_WORDS.halves_within)}|(?<=[今明昨当每])晚)\s?)?"
    rf"(?<![\d第.:])(?P<hour>\d{{1,2}}|{_ZH_BELOW_100})\s?"
    rf"(?:点钟?整?|:)(?P<minute>半|[一三]刻|\d\d分?(?!\d)|(?:\d|{_ZH_BELOW_100})分)?"
)
_ZH_BIG_COUNT = lazy.compile(rf"(?<![第每好几数分]){_ZH_DIGIT}[百千万](?:零?{_ZH_DIGIT}[千百十]?)*(?![几多来余])")
_COUNT = lazy.compile(rf"\b(?:{'|'.join(_WORDS.numerals)})\b")
_MONTH = lazy.compile(_WORDS.month)
_MONTHS = {name: number for words in _LANGUAGES for number, name in enumerate(words.months, 1)}
_WEEKDAYS = tuple((lazy.compile(expression), written) for expression, written in _WORDS.weekday)
_LABEL, _LETTERED = lazy.compile(_WORDS.label), lazy.compile(_WORDS.lettered)
_CURRENCY = "USD|EUR|GBP|JPY|CNY|RMB|TWD|NTD|HKD|CAD|AUD|CHF|INR"
_NAMED = lazy.compile(
    rf"(?:(?<=[\w,] )(?!(?:{_WORDS.no_name}|{_CURRENCY})\b)[A-Z][\w+#]* (\d+(?:\.\d+)*)|^[A-Z][\w+#]* (\d+\.\d+))"
    r"(?![\w%:,]|\.\w|\s*%)"
)
_ZH_ORDINAL = lazy.compile(r"第[\d一二三四五六七八九十]+")
_YEAR = lazy.compile(r"(?:1[89]|20)\d\d")
_HEDGE, _BOUND, _PAST, _WHEN, _CONDITION, _DATED, _RETRACTION = (
    lazy.compile(expression)
    for expression in (
        *(_WORDS.hedge, _WORDS.bound, _WORDS.past, _WORDS.when),
        *(_WORDS.condition, _WORDS.dated, _WORDS.retraction),
    )
)


def _statements(text: str) -> Iterable[_Statement]:
    text = text[:MAX_READ]
    folded = _FENCED.sub(lambda match: "\n" * len(match[0]), fold(text))
    folded = _CODE.sub(_masked, folded)
    for start, end in statements(folded, MAX_SENTENCES):
        sentence = folded[start:end]
        if sentence.endswith("?") or _ASKS.search(sentence):
            continue
        if _ENTRY.match(sentence) and "\n" in text.strip():  # of what, stands elsewhere
            continue
        span = Span(start, end, text[start:end])
        yield _read(span, sentence)
        if (none := _rewritten(sentence, _NONE_OF)) != sentence:
            yield _read(span, none)._replace(fact=None, is_none=True)
        if denial := next(filter(None, (_denial(sentence, *each) for each in _DENIES_ONE)), None):
            yield _read(span, denial)
        elif head := _head(_LEAD_IN.sub("", sentence)):
            clause = _read(span, head["head"])
            if clause.negations == 1 or head["why"]:
                yield clause._replace(fact=None, is_whole=False)


def _denial(sentence: str, denies_one: re.Pattern[str], written: str) -> str | None:
    match = denies_one.match(sentence)
    return match and written.format(match[1], match[2])


def _head(sentence: str) -> re.Match[str] | None:
    return _first_of(_HEADS, sentence)


def _masked(match: re.Match[str]) -> str:
    return f"`{_OPAQUE * len(match[1])}`" if _EXPRESSION.search(match[1]) else match[0]


def _read(span: Span, sentence: str) -> _Statement:
    sentence = _ANY_MORE.sub("", _CONTRAST.sub("", _ANSWER.sub("", _LEAD_IN.sub("", sentence))))
    timed = _in_24_hours(sentence)
    stated = fact(_rewritten(timed, _RESPELT), span.text)
    sentence, timed = _rewritten(sentence, _REWORDED), _rewritten(timed, _REWORDED)
    plain = _NO_NEGATION.sub(" ", sentence)
    negations = len(_NEGATED.findall(plain)) + len(_NEGATED_WITHIN.findall(plain))
    counted = _COUNT.sub(lambda match: _WORDS.numerals[match[0]], timed)
    counted = _ISO_DATE.sub(r"\1\2\3 date", counted)
    counted = _CLOCK.sub(lambda match: f"{60 * int(match[1]) + int(match[2])} clock", counted)
    counted = _days_in_digits(counted)
    counted = _ZH_BIG_COUNT.sub(_big_in_digits, counted)
    counted = _RANGE.sub(_as_range, _ZH_COUNT.sub(_in_digits, counted))
    named = {name for match in _NAMED.finditer(span.text) for name in match.groups() if name}
    code = set()
    if _OPAQUE in sentence:
        code = {match[1] for match in _CODE.finditer(fold(span.text)) if _EXPRESSION.search(match[1])}
    labels = code | {match[0] for match in (*_ZH_ORDINAL.finditer(sentence), *_LETTERED.finditer(sentence))}
    rates = {match.start("number"): match["per"] for match in (*_RATE.finditer(counted), *_ZH_RATE.finditer(counted))}
    numbers = []
    for match in _NUMBER.finditer(counted):
        before = counted[max(0, match.start() - 12) : match.start()]
        if match[0] in named or _LABEL.search(before):
            labels.add(match[0])
        else:
            unit = _UNIT.match(counted, match.end())
            per = rates.get(match.start(), "")
            numbers.append(_Number(match[1].replace(",", ""), (unit[1] or "") if unit else "", per, match[2] or ""))
    units = {each.unit for each in numbers} | {_term(each.unit) for each in numbers}
    counted = _ZH_RATE.sub(r"\g<counted>\g<number>", _RATE.sub(r"\g<number>\g<counted>", counted))
    content = {_term(word) for word in _WORD.findall(_NEGATED.sub(" ", counted)) if word not in _WORDS.stopwords}
    counted = _ZH_UNIT.sub("", counted)
    for run in _CHINESE.findall(_STOP_WITHIN.sub(" ", _NEGATED_WITHIN.sub("", _ZH_ORDINAL.sub(" ", counted)))):
        content |= {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    content = content - units | code
    return _Statement(span, sentence, frozenset(content), negations, tuple(numbers), frozenset(labels), stated)


def _as_range(match: re.Match[str]) -> str:
    return f"{match[1]}~{match[2]}" if float(match[1]) < float(match[2]) else match[0]


def _rewritten(sentence: str, words: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for expression, written in words:
        sentence = expression.sub(written, sentence)
    return sentence


def _days_in_digits(sentence: str) -> str:
    sentence = _MONTH.sub(lambda match: f"{_MONTHS[match[0]]} month", sentence)
    for weekday, written in _WEEKDAYS:
        sentence = weekday.sub(partial(_day_in_digits, written), sentence)
    return sentence


def _day_in_digits(written: str, match: re.Match[str]) -> str:
    return written.format(_WORDS.weekdays[match[1]])


def _in_24_hours(sentence: str) -> str:
    """Write a time of day as 15:00 where it says which half: 3 pm, 下午三点; 三点半 may be either and is 3.5点."""
    sentence = _AM_PM.sub(_en_in_24_hours, _rewritten(sentence, _NAMED_TIMES))
    return _ZH_TIME.sub(_zh_in_24_hours, sentence)


def _en_in_24_hours(match: re.Match[str]) -> str:
    return f"{int(match['hour']) % 12 + (12 if match['half'] == 'p' else 0):02}:{match['minute'] or '00'}"


def _zh_in_24_hours(match: re.Match[str]) -> str:
    hour, half, minute = _whole(match["hour"]), match["half"], match["minute"]
    minutes = {"半": 30, "一刻": 15, "三刻": 45}.get(minute) or _whole((minute or "0").rstrip("分"))
    if hour > 24 or minutes > 59:
        return match[0]
    if half:
        later, twelve = _WORDS.halves_within[half]
        hour = twelve if hour == 12 else hour + 12 * (hour in later)
    if half or (hour > 12 and minute):
        return f"{hour % 24:02}:{minutes:02}"
    return f"{hour + minutes / 60:.4g}点" if minute and ":" not in match[0] else match[0]


def _whole(number: str) -> int:
    """Read a number below a hundred, in digits or Chinese."""
    return int(number) if number.isdigit() else int(_ZH_TWO_DIGITS.sub(_in_digits, number, count=1))


def _term(word: str) -> str:
    return stem(_KIND.get(_singular(word), word))


def _in_digits(match: re.Match[str]) -> str:
    """Write a Chinese number below a hundred in digits."""
    tens = 0 if match["tens"] is None else _WORDS.digits_within.get(match["tens"], 1)
    return str(10 * tens + _WORDS.digits_within.get(match["ones"], 0)) if match[0] else ""


def _big_in_digits(match: re.Match[str]) -> str:
    """Write a Chinese number from a hundred to a hundred thousand in digits; 一百二 is 120."""
    total, last, scale = 0, 0, 1
    for character in match[0]:
        if character in _WORDS.digits_within:
            last = _WORDS.digits_within[character]
        elif character == "零":
            scale = 10
        else:
            scale = _WORDS.tens_within[character]
            total, last = total + last * scale, 0
    return str(total + last * (scale // 10 or 1))


_ANTONYMS: dict[str, set[str]] = {}  # of stems
for _one, _other in _WORDS.antonyms:
    _ANTONYMS.setdefault(stem(_one), set()).add(stem(_other))
    _ANTONYMS.setdefault(stem(_other), set()).add(stem(_one))


def _retracted(ours: _Statement) -> Contradiction | None:
    match = _RETRACTION.search(ours.folded)
    if not match or _CONDITION.search(ours.folded):
        return None
    start = ours.span.start + match.start()
    said = ours.span.text[match.start() : match.end()]
    return Contradiction(
        "retraction", 0.8, None, Span(start, start + len(said), said), "takes back what was said", "taken back"
    )


def _compare(theirs: _Statement, ours: _Statement) -> Contradiction | None:
    for one, other in ((theirs, ours), (ours, theirs)):
        only = _first_of(_ONLY, one.folded)
        if only and not _read(one.span, only[1]).content & other.content:  # the other speaks of others, too
            is_given = _is_given_to_all(_read(one.span, only[2]), other)
            detail = "keeps for some what the other gives to all"
            return Contradiction("antonym", 0.9, theirs.span, ours.span, detail, "only for some") if is_given else None
    return _opposed(theirs, ours) or _other_value(theirs, ours)


def _is_given_to_all(does: _Statement, other: _Statement) -> bool:
    """Tell whether what some alone may or do everybody may or does: "only admins can", "everyone can"."""
    whoever = _first_of(_WHOEVER, other.folded)
    if not whoever:
        return False
    do = _read(other.span, whoever[2])
    is_same = does.content == do.content and (does.negations, does.numbers) == (do.negations, do.numbers)
    return bool(does.content) and is_same


def _first_of(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.match(text) for pattern in patterns)), None)


def _other_value(theirs: _Statement, ours: _Statement) -> Contradiction | None:
    """Compare what has one value at a time: who owns it, where it is, which version it needs."""
    if not theirs.fact or not ours.fact or not exclude(theirs.fact, ours.fact):
        return None
    said = (theirs.folded, ours.folded)
    if any(pattern.search(each) for pattern in (_HEDGE, _CONDITION) for each in said):
        return None
    if _BOUND.search(theirs.fact.value) or _BOUND.search(ours.fact.value):
        return None
    if _agree_on_time(theirs, ours):
        return None
    if theirs.negations or ours.negations or len({frozenset(_WHEN.findall(each)) for each in said}) > 1:
        return None
    alike = len(theirs.content & ours.content) / len(theirs.content | ours.content)
    detail = f"{theirs.fact.value} / {ours.fact.value}"
    return Contradiction("value", round(0.5 + 0.45 * alike, 2), theirs.span, ours.span, detail, "another value")


def _agree_on_time(theirs: _Statement, ours: _Statement) -> bool:
    """Tell whether what is told is one time of day, and by one of the two without its half."""
    if len(theirs.numbers) != len(ours.numbers):
        return False
    pairs = [pair for pair in zip(theirs.numbers, ours.numbers, strict=True) if pair[0] != pair[1]]
    return bool(pairs) and all(_is_same_hour(one, other) for one, other in pairs)


class _Pair:
    """Two statements side by side, and what they have in common."""

    def __init__(self, theirs: _Statement, ours: _Statement) -> None:
        self.as_said = (theirs, ours)
        self.theirs, self.ours = _without_all(theirs, ours), _without_all(ours, theirs)
        self.one, self.other = self.folded = self.theirs.folded, self.ours.folded
        self.are_whole = self.theirs.is_whole and self.ours.is_whole

    @cached_property
    def swapped(self) -> tuple[str, str] | None:
        return _swapped(self.one, self.other)

    @cached_property
    def _aligned(self) -> tuple[frozenset[str], frozenset[str], list[tuple[str, str]]]:
        return _align(self.theirs, self.ours)

    @property
    def turned(self) -> list[tuple[str, str]]:
        return self._aligned[2]

    @cached_property
    def is_turned(self) -> bool:
        return (self.theirs.negations + self.ours.negations + len(self.turned)) % 2 == 1

    @cached_property
    def shared(self) -> frozenset[str]:
        return self._aligned[0] & self._aligned[1]

    @cached_property
    def lone(self) -> tuple[frozenset[str], frozenset[str]]:
        left, right, _ = self._aligned
        return left - right, right - left

    @cached_property
    def is_bare(self) -> bool:
        """Whether what is counted is all that is said: "There are 3 bugs"."""
        are_there = bool(_THERE.match(self.one) and _THERE.match(self.other))
        return not (self.shared or any(self.lone)) and are_there and self.theirs.is_none != self.ours.is_none

    @cached_property
    def alike(self) -> float:
        either = len(self.shared) + sum(map(len, self.lone))
        return len(self.shared) / either if either else float(self.is_bare)

    @cached_property
    def confidence(self) -> float:
        return round((0.5 + 0.45 * self.alike) * (0.5 if any(map(_HEDGE.search, self.folded)) else 1.0), 2)

    @cached_property
    def numbers(self) -> tuple[_Number, _Number] | None:
        """The only two numbers that differ; those of the same units stand in the same order."""
        if len(self.theirs.numbers) != len(self.ours.numbers):
            return None
        pairs = [pair for pair in zip(self.theirs.numbers, self.ours.numbers, strict=True) if pair[0] != pair[1]]
        return pairs[0] if len(pairs) == 1 else None

    def contradiction(self, kind: Kind, confidence: float, detail: str) -> Contradiction:
        return Contradiction(kind, confidence, self.theirs.span, self.ours.span, detail)


def _speak_of_parts(pair: _Pair) -> bool:
    parts = [bool(_SOME.search(each.folded) or _NOT_ALL.search(each.folded)) for each in pair.as_said]
    return all(parts) or (any(parts) and any(_MOST.search(each.folded) for each in pair.as_said))


def _are_this_and_that(pair: _Pair) -> bool:
    return any(
        (this.search(pair.one) and that.search(pair.other)) or (that.search(pair.one) and this.search(pair.other))
        for this, that in _THIS_THAT
    )


def _is_only_a_clause(pair: _Pair) -> bool:
    if pair.are_whole:
        return False
    is_heading = any(each.rstrip("*_").endswith(":") for each in pair.folded)
    return is_heading or bool(pair.theirs.negations and pair.ours.negations)


def _have_other_bounds(pair: _Pair) -> bool:
    one, other = map(_BOUND.findall, pair.folded)
    return bool(one or other) and not (one == other and all(map(_CAP.fullmatch, one)))


def _is_another_date(pair: _Pair) -> bool:
    """Tell whether a date differs of what neither begins nor ends."""
    if not pair.numbers:
        return False
    one, other = pair.numbers
    is_year = _YEAR.fullmatch(one.value) and _YEAR.fullmatch(other.value)
    is_date = is_year or one.unit in ("month", "月", "日", "weekday", "date", *_MONTHS)
    return bool(is_date) and not _DATED.search(pair.one)


def _opposite(pair: _Pair) -> Contradiction:
    if pair.turned:
        return pair.contradiction("antonym", pair.confidence, " / ".join(pair.turned[0]))
    return pair.contradiction("negation", pair.confidence, "one denies what the other says")


def _other_number(pair: _Pair) -> Contradiction:
    return pair.contradiction("number", pair.confidence, " / ".join(map(_shown, pair.numbers or ())))


class _Rule(NamedTuple):
    """What decides about two statements where it holds: `finds` says how they differ, None that they may both hold."""

    name: str
    holds: Callable[[_Pair], object]
    finds: Callable[[_Pair], Contradiction] | None = None


# The first that holds decides.
_RULES = (
    _Rule("parts of a whole", _speak_of_parts),  # each of its own
    _Rule("another label", lambda pair: pair.theirs.labels != pair.ours.labels),
    _Rule("a condition", lambda pair: any(map(_CONDITION.search, pair.folded))),
    _Rule(
        "compared the other way round",
        lambda pair: pair.swapped and pair.swapped[0] == pair.swapped[1] and not _NEGATED_WITHIN.search(pair.one),
        lambda pair: pair.contradiction("antonym", 0.95, "compared the other way round"),
    ),
    _Rule("compared otherwise", lambda pair: pair.swapped),
    _Rule("this one and that one", _are_this_and_that),
    _Rule("another time", lambda pair: bool(_PAST.search(pair.one)) != bool(_PAST.search(pair.other))),
    _Rule("another one", lambda pair: bool(_ANOTHER.search(pair.one)) != bool(_ANOTHER.search(pair.other))),
    _Rule("only a clause", _is_only_a_clause),
    _Rule("each of something else", lambda pair: all(pair.lone) and pair.alike < SAME_COUNT),
    _Rule("another subject", lambda pair: pair.alike < SAME_SUBJECT or not (pair.shared or pair.is_bare)),
    _Rule("hedged", lambda pair: pair.confidence < 0.5),
    _Rule("none, denied", lambda pair: pair.is_turned and (pair.theirs.is_none or pair.ours.is_none)),
    _Rule(
        "something else denied",
        lambda pair: (
            pair.is_turned
            and not pair.turned
            and (_denies_another_thing(pair.theirs, pair.ours) or _denies_another_thing(pair.ours, pair.theirs))
        ),
    ),
    _Rule(
        "the opposite",
        lambda pair: pair.is_turned and not _is_another_case(pair.theirs, pair.ours, bool(pair.turned)),
        _opposite,
    ),
    _Rule("another case", lambda pair: pair.is_turned or pair.turned),
    _Rule("a number of something else", lambda pair: all(pair.lone) or not pair.are_whole),
    _Rule(
        "another kind",
        lambda pair: any(map(partial(_is_another_kind, both=pair.shared), pair.folded, pair.lone)),
    ),
    _Rule("not alike enough to count", lambda pair: pair.alike < SAME_COUNT),
    _Rule("another bound", _have_other_bounds),
    _Rule("no number or several", lambda pair: pair.numbers is None),
    _Rule("the same hour", lambda pair: pair.numbers and _is_same_hour(*pair.numbers)),
    _Rule("as much", lambda pair: pair.numbers and _is_as_much(*pair.numbers)),
    _Rule("another date", _is_another_date),
    _Rule("another number", lambda pair: True, _other_number),
)


def _decides(pair: _Pair) -> _Rule:
    return next(rule for rule in _RULES if rule.holds(pair))


def _opposed(theirs: _Statement, ours: _Statement) -> Contradiction | None:
    pair = _Pair(theirs, ours)
    rule = _decides(pair)
    return replace(rule.finds(pair), rule=rule.name) if rule.finds else None


def _without_all(statement: _Statement, other: _Statement) -> _Statement:
    """Read a statement on all, or on some, as one on them, where the other is on some, or on all."""
    parts = (_SOME, _MOST, _COUNTED_OF)
    for said, heard in (*((_ALL, part) for part in parts), *((part, _ALL) for part in parts)):
        if said.search(statement.folded) and heard.search(other.folded):
            read = _read(statement.span, said.sub("", statement.folded).strip())
            return read._replace(fact=statement.fact, is_whole=statement.is_whole, is_none=statement.is_none)
    return statement


def _swapped(one: str, other: str) -> tuple[str, str] | None:
    """Give what is said of two things that both sentences compare, in the other order: faster, faster."""
    for than in _THAN:
        if (first := than.match(one)) and (second := than.match(other)):
            is_swapped = first[1] != first[3] and first.group(1, 3, 4) == second.group(3, 1, 4)
            return (first[2], second[2]) if is_swapped else None
    for prefers in _PREFERS:
        if (first := prefers.match(one)) and (second := prefers.match(other)):
            return ("", "") if first[2] != first[3] and first.group(1, 2, 3) == second.group(1, 3, 2) else None
    return next(filter(None, (_swapped_around(word, one, other) for word in _WORDS.than_within)), None)


def _swapped_around(word: str, one: str, other: str) -> tuple[str, str] | None:
    left, _, right = one.replace(" ", "").partition(word)
    left_too, _, right_too = other.replace(" ", "").partition(word)
    if left and left_too and not right.startswith(left_too):  # 这个查询: where both compare them
        shared = next((at for at, pair in enumerate(zip(left, left_too, strict=False)) if pair[0] != pair[1]), 0)
        left, left_too = left[shared:], left_too[shared:]
    if left and left_too and left != left_too and right.startswith(left_too) and right_too.startswith(left):
        return right.removeprefix(left_too), right_too.removeprefix(left)
    return None


def _align(theirs: _Statement, ours: _Statement) -> tuple[frozenset[str], frozenset[str], list[tuple[str, str]]]:
    """Take out opposites, English by word and Chinese by phrase; give what is left of both, and the opposites."""
    left, right = set(theirs.content), set(ours.content)
    turned: list[tuple[str, str]] = []
    for word in sorted(left - right):
        opposite = min(_opposites(word) & (right - left), default=None)
        if opposite:
            left.discard(word)
            right.discard(opposite)
            turned.append((word, opposite))
    one, other = theirs.folded, ours.folded
    if one.isascii() or other.isascii():
        return frozenset(left), frozenset(right), turned
    for positive, negative in _WORDS.antonyms_within:
        for here, there in ((positive, negative), (negative, positive)):
            if here in one and there not in one and there in other and here not in other:
                if not _NEGATED_WITHIN.search(here + there):  # 从不 is counted as a negation already
                    turned.append((here, there))
                left -= _terms_over(one, here)
                right -= _terms_over(other, there)
                one, other = one.replace(here, ""), other.replace(there, "")
    return frozenset(left), frozenset(right), turned


def _is_another_kind(sentence: str, lone: frozenset[str], both: frozenset[str]) -> bool:
    """Tell whether a sentence opens with what only it says, right before what it shares: "the admin service"."""
    opening = _OPENING.match(sentence)
    if not opening:
        return False
    first, second = opening.groups()
    return first not in _WORDS.same_thing and _term(first) in lone and _term(second) in both


def _terms_over(sentence: str, phrase: str) -> set[str]:
    """Give the terms of a Chinese sentence that a phrase in it has a part of; 开启 has none of 开关."""
    kept = _NEGATED_WITHIN.sub("", phrase)  # 效 of 无效
    found = {each[at : at + size] for each in (phrase, kept) for size in (1, 2) for at in range(len(each))}
    pieces = [_NEGATED_WITHIN.sub("", piece) for piece in sentence.split(phrase)]
    for before, after in pairwise(pieces):
        found |= {f"{before[-1:]}{kept}"[:2], f"{kept}{after[:1]}"[-2:]}
    return found


def _opposites(word: str) -> set[str]:
    with_prefix = {prefix + word for prefix, least in _WORDS.prefixes.items() if len(word) >= least}
    bare = {word.removeprefix(prefix) for prefix, least in _WORDS.prefixes.items() if len(word) - len(prefix) >= least}
    return with_prefix | bare - {word} | _ANTONYMS.get(word, set())


def _denies_another_thing(one: _Statement, other: _Statement) -> bool:
    """Tell whether a sentence denies only behind or before a "but", and there nothing of which the other speaks."""
    clauses = _BUT.split(one.folded)
    if len(clauses) == 1:
        return False
    denied = [clause for clause in (_read(one.span, clause) for clause in clauses) if clause.negations]
    return bool(denied) and all(clause.content.isdisjoint(other.content) for clause in denied)


def _is_another_case(theirs: _Statement, ours: _Statement, by_antonym: bool) -> bool:
    """Tell whether figures set the sentences apart: other years or times, or an old and a new, each with its own."""
    one, other = ({number.value for number in each.numbers} for each in (theirs, ours))
    if (one - other and other - one) or (by_antonym and one and other and one != other):
        return True
    years = [{value for value in values if _YEAR.fullmatch(value)} for values in (one, other)]
    return bool(years[0] and years[1] and years[0] != years[1])


def _is_as_much(one: _Number, other: _Number) -> bool:
    """Tell whether two numbers may say the same, or measure what nobody can compare; a range holds what lies in it."""
    if one.upto and not other.upto:
        one, other = other, one
    is_exact = (one.unit == other.unit and one.per == other.per) or "点" in (one.unit, other.unit)
    low, high = _measured(one, other), _measured(one._replace(value=one.upto or one.value), other)
    if low is None or high is None:
        return True
    least, most = float(other.value), float(other.upto or other.value)
    if other.upto and not one.upto:
        return least <= low <= most
    return max(abs(low - least), abs(high - most)) <= (0 if is_exact else 0.03 * least)  # 10 kg are 22 lb


def _shown(number: _Number) -> str:
    if number.unit == "clock" or (number.unit == "点" and "." in number.value):
        hour, minute = divmod(round(float(number.value) * (60 if number.unit == "点" else 1)), 60)
        return f"{hour:02}:{minute:02}"
    value = f"{number.value}–{number.upto}" if number.upto else number.value
    return f"{value}/{number.per}" if number.per else value


def _is_same_hour(one: _Number, other: _Number) -> bool:
    """Tell whether 三点 and 15:00 may be one time: who says no half of the day means either."""
    if "点" not in (one.unit, other.unit):
        return False
    at, other_at = _measured(one, _Number("0", "clock")), _measured(other, _Number("0", "clock"))
    return at is not None and other_at is not None and round(at - other_at) % 720 == 0


def _measured(number: _Number, wanted: _Number) -> float | None:
    """Give a value in the unit and the time of another number, None where they are not of one kind."""
    unit, wanted_unit = _singular(number.unit), _singular(wanted.unit)
    if bool(number.per) != bool(wanted.per):
        return None
    value = float(number.value)
    if number.per:
        value *= _WORDS.per[wanted.per] / _WORDS.per[number.per]
    if unit == wanted_unit or (number.per and {unit, wanted_unit} <= {"per", ""}):
        return value
    scales = next((each for each in _WORDS.scales if unit in each and wanted_unit in each), None)
    return value * scales[unit] / scales[wanted_unit] if scales else None


def _singular(unit: str) -> str:
    return unit.rstrip("s")
