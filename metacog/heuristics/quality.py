"""How well a response answers: the self-monitor (seed 004, "Self-Monitor"). It flags, and never holds.

Hedges are not looked at: to hedge is no fault, and hesitation asks for hedges where this would punish them.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

from . import words
from .hesitation import Span
from .lexicon import quality_en as en
from .lexicon import quality_zh as zh
from .quality_settings import QualitySettings
from .words import Place, Script

Fingerprint = tuple[int, ...]
Language = Literal["en", "zh-Hant", "zh-Hans"]

# Words are looked for in so many code points of a text; its length and forbidden phrases in all of it.
MAX_READ = 65_536
MAX_SPANS = 64
SKETCH = 64
_MIN_WORDS = 5  # shorter responses ("Done.") may well recur

HEDGES: dict[Language, str] = {
    "en": "I'm not entirely sure, but…",
    "zh-Hant": "我不是完全確定，不過……",
    "zh-Hans": "我不是完全确定，不过……",
}
_TITLE = re.compile(r"《[^《》\n]{1,80}》")  # in whatever language the work is
# What opens like this is a tool's output or data: nobody asks anything in it.
_MACHINE_MADE = ("<", "{", "[")

EVENTS = ("meta:confidence-low", "meta:impasse")

FlagName = Literal[
    "empty",
    "off-topic",
    "question-unanswered",
    "forbidden-phrase",
    "language-mismatch",
    "variant-mismatch",
    "too-short",
    "too-long",
    "repetition",
]


class Flag(NamedTuple):
    """One thing found: what, in words, and where."""

    flag: FlagName
    detail: str
    spans: tuple[Span, ...] = ()
    within: Literal["response", "user_message"] = "response"

    def as_dict(self) -> dict[str, Any]:
        spans = [span.as_dict() for span in self.spans]
        if self.within == "user_message":
            spans = [{**span, "in": "user_message"} for span in spans]
        return {"flag": self.flag, "detail": self.detail, "spans": spans}


class Quality(NamedTuple):
    """How well a response answers: `score` 0..1, more is better, two decimals."""

    score: float
    passed: bool
    flags: tuple[Flag, ...]
    hedge_prefix: str | None
    responsiveness: float | None  # 0..1; None where there is nothing to judge it by
    completeness: float | None  # 0..1; None where nothing was asked
    consistency: float  # 0..1
    length_ok: bool
    repetition: bool
    events: tuple[str, ...]  # for the audit record, below `low_at`
    reading: "Reading"

    @property
    def fingerprint(self) -> Fingerprint:
        """What to hand in as one of `recent` next time."""
        return self.reading.fingerprint

    def as_dict(self) -> dict[str, Any]:
        """Give the contract's "quality"."""
        return {
            "score": self.score,
            "passed": self.passed,
            "flags": list(dict.fromkeys(flag.flag for flag in self.flags)),
            "details": [flag.as_dict() for flag in self.flags],
            "hedge_prefix": self.hedge_prefix,
            "evaluation": {
                "responsiveness": self.responsiveness,
                "completeness": self.completeness,
                "consistency": self.consistency,
                "length_ok": self.length_ok,
                "repetition": self.repetition,
            },
        }


class Reading:
    """A text as it is judged; what nothing asks for is never made."""

    def __init__(self, text: str) -> None:
        self.text = text  # as sent
        self._read = text[:MAX_READ]

    @cached_property
    def said(self) -> str:
        """Without code, links and tags."""
        return words.said(self._read)

    @cached_property
    def folded(self) -> str:
        return words.fold(self.said)

    @cached_property
    def script(self) -> Script | None:
        return words.script_of(_TITLE.sub(" ", self.said) if "《" in self.said else self.said)

    @cached_property
    def words(self) -> list[str]:
        """Code and all."""
        return words.tokens(self.folded if self.said is self._read else words.fold(self._read))

    @cached_property
    def spaced(self) -> str:
        return words.spaced(self.words)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return fingerprint(self.text)


def assess(
    response: str,
    *,
    user_message: str | None,
    recent: Sequence[str | Sequence[int]] = (),
    language: Language | None,
    settings: QualitySettings,
) -> Quality:
    """Judge a response by what it answers and by what was said before.

    `language` is the agent's, None where it is not known. `recent` holds the session's last responses, oldest
    first, as texts or as fingerprints. Without a `user_message` responsiveness and completeness are None and cost
    nothing. Takes time in proportion to the texts.
    """
    reply = Reading(response)
    message = None if user_message is None else Reading(user_message)
    flags: list[Flag] = []
    responsiveness, completeness = _answers(reply, message, flags)
    consistency = _consistency(reply, message, language, settings.forbidden, flags)
    length_ok = _has_sane_length(reply, language, settings, flags)
    repetition = _repeats(reply, recent[-settings.recent_window :] if settings.recent_window else (), settings, flags)

    weights = settings.weights
    score = 1.0
    for weight, part in (
        (weights.responsiveness, responsiveness),
        (weights.completeness, completeness),
        (weights.consistency, consistency),
        (weights.length, length_ok),
        (weights.repetition, not repetition),
    ):
        if part is not None:
            score *= 1 - weight * (1 - part)
    score = round(score, 2)
    passed = score >= settings.pass_at
    low = score < settings.low_at
    return Quality(
        score=score,
        passed=passed,
        flags=tuple(flags),
        hedge_prefix=None if passed or low else settings.hedge_prefix or HEDGES[language or "en"],
        responsiveness=responsiveness,
        completeness=completeness,
        consistency=consistency,
        length_ok=length_ok,
        repetition=repetition,
        events=EVENTS if low else (),
        reading=reply,
    )


def fingerprint(text: str) -> Fingerprint:
    """Give what `assess` compares texts by: at most 64 whole numbers below 2**32."""
    return tuple(sorted(words.hashes(text[:MAX_READ]))[:SKETCH])


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate the share of words two texts have in common, 0..1 (Jaccard by bottom sketches, Broder 1997)."""
    common = {*one}.intersection(other)
    union = sorted({*one, *other})[:SKETCH]
    return sum(value in common for value in union) / len(union) if union else 0.0


def _answers(reply: Reading, message: Reading | None, flags: list[Flag]) -> tuple[float | None, float | None]:
    """Judge responsiveness and completeness."""
    asked = words.questions(message.folded) if message else []
    if not reply.text or reply.text.isspace():
        flags.append(Flag("empty", "nothing is said"))
        return 0.0, 0.0 if asked else None
    if message is None or not message.words or message.text.lstrip().startswith(_MACHINE_MADE):
        return None, None
    if reply.script and message.script and reply.script != message.script:
        return None, None  # no words in common to judge by: consistency tells
    questions = [_Question.of(message.folded[place.start : place.end]) for place in asked]
    open_questions = _unanswered_of(questions, reply, message)
    if questions and _refuses(reply):
        open_questions = [number for number, question in enumerate(questions) if not question.may_be_refused]
    elif open_questions and len(questions) == 1 and len(questions[0].terms) < _PLENTY:
        # "Who wrote it?": the rest of the message tells what.
        open_questions = [] if _taken_up(words.terms(message.words), reply) else open_questions
    completeness = round(1 - len(open_questions) / len(asked), 2) if asked else None
    if open_questions:
        flags.append(_unanswered(message, [asked[number] for number in open_questions], len(asked)))
    responsiveness = _responsiveness(message, questions, reply, answered=len(asked) > len(open_questions))
    if asked and responsiveness is not None and responsiveness < _STATED:
        flags.append(Flag("off-topic", "shares hardly a word with the message"))
    elif not asked and _is_about_something_else(message, reply):
        responsiveness = 0.0
        flags.append(Flag("off-topic", "shares no word with the message"))
    return responsiveness, completeness


def _unanswered(message: Reading, places: list[Place], asked: int) -> Flag:
    spans = tuple(Span(start, end, message.text[start:end]) for start, end in places)
    return Flag("question-unanswered", f"{len(places)} of {asked} question(s) not accounted for", spans, "user_message")


class _Question(NamedTuple):
    """What is asked, and what an answer without any of its words looks like."""

    terms: tuple[str, ...]
    fits: Callable[[str], bool]
    quoted: tuple[str, ...]  # what an answer may start from; less than four characters in their marks
    asks_for_a_way: bool
    asks_who: bool

    @property
    def may_be_refused(self) -> bool:
        """Whether "I can't" answers it: "can you …?"."""
        return self.fits in (_says_yes_or_no, _has_any_form)

    @classmethod
    def of(cls, text: str) -> "_Question":
        own = words.terms(words.tokens(_QUOTATION.sub(" ", text)))
        terms = own or words.terms(words.tokens(text))
        quoted = tuple(map(_bare, _QUOTED.findall(text)))
        return cls(terms, _form(text), quoted, _ASKS_FOR_A_WAY.search(text) is not None, _WHO.search(text) is not None)

    def is_answered_by(self, sentence: str, is_elsewhere: bool) -> bool:
        """Tell whether a sentence looks like an answer; `is_elsewhere`: in a reply without a word of the message."""
        if not self.fits(sentence):
            return False
        if not is_elsewhere or self.fits is not _is_bare or _POINTS_BACK.match(sentence):
            return True
        return self.asks_for_a_way and _STEPS.search(sentence) is not None

    def is_shown_in(self, reply: Reading) -> bool:
        """Tell whether a reply repeats what is quoted, or shows a way that is asked for in code, which is not said."""
        return any(quoted in reply.folded for quoted in self.quoted) or (self.asks_for_a_way and "`" in reply.text)

    def is_answered_beside(self, clause: str) -> bool:
        """Tell whether a clause beside the answer to another question looks like an answer."""
        if self.fits in _BY_FIGURES:
            return self.fits(_ONE.sub("", clause))
        return self.asks_who and _NAMES_SOMEBODY.search(clause) is not None


def _bare(quoted: str) -> str:
    return quoted if len(quoted) < 6 else quoted[1:-1]


_REASON, _NUMBER, _POLAR = (
    re.compile(f"{english}|{chinese}")
    for english, chinese in ((en.REASON, zh.REASON), (en.NUMBER, zh.NUMBER), (rf"\A\s*{en.POLAR}", zh.POLAR))
)
_ORDERS = re.compile(rf"(?:\A|[.!?。\n])\W*(?:{en.ORDERS}|{zh.ORDERS})")
_REQUEST = re.compile(rf"\A\W*{en.REQUEST}|{zh.REQUEST}")
# What is asked about a quotation stands outside it: “…” is a line from which poem?
_QUOTATION = re.compile(r'"[^"\n]{8,}"|「[^「」\n]{8,}」|『[^『』\n]{8,}』')
_TIME, _GIVES_TIME = re.compile(f"{en.TIME}|{zh.TIME}"), re.compile(f"{en.TIME_WORDS}|{zh.TIME_WORDS}")
_POINTS_BACK = re.compile(rf"\W*(?:{en.POINTS_BACK}|{zh.POINTS_BACK})")
_GIVES_REASON = re.compile(f"{en.REASON_WORDS}|{zh.REASON_WORDS}")
_QUOTED = re.compile(r'"[^"\n]+"|「[^「」\n]+」|『[^『』\n]+』|《[^《》\n]+》')
_GIVES_NUMBER = re.compile(rf"\d|{en.NUMBER_WORDS}|{zh.NUMBER_WORDS}")
_ASKS_FOR_A_WAY = re.compile(f"{en.ASKS_FOR_A_WAY}|{zh.ASKS_FOR_A_WAY}")
_STEPS = re.compile(f"{en.STEPS}|{zh.STEPS}")
_MINE, _YOURS = re.compile(f"{en.MINE}|{zh.MINE}"), re.compile(f"{en.YOURS}|{zh.YOURS}")
_LIST = re.compile(r"\s*(?:[0-9]{1,2}[.)、]|[-*•])\s*\S")
_REFUSES = re.compile(rf"\W*(?:{en.REFUSES}|{zh.REFUSES})")
_GIVES_GROUNDS = re.compile(f"{en.GIVES_GROUNDS}|{zh.GIVES_GROUNDS}")
_ANYTHING_ELSE = re.compile(f"{en.ANYTHING_ELSE}|{zh.ANYTHING_ELSE}")
_PUTS_OFF = re.compile(f"{en.ASKS_FOR}|{zh.ASKS_FOR}|{en.GOES_TO_FIND_OUT}|{zh.GOES_TO_FIND_OUT}")
_HAS_NO_ANSWER = re.compile(f"{en.HAS_NO_ANSWER}|{zh.HAS_NO_ANSWER}")
_COURTESY = re.compile(f"{en.COURTESY}|{zh.COURTESY}")
_NO_DECISION = re.compile(zh.NO_DECISION)
_PLEASANTRY = re.compile(rf"\W*(?:{en.PLEASANTRY}|{zh.PLEASANTRY})")
_NAMES_SOMEBODY = re.compile(f"{en.NAMES_SOMEBODY}|{zh.NAMES_SOMEBODY}")
_WHO = re.compile(r"\bwho\b|谁")
_CLAUSE = re.compile(r"[^,;、]+")
_YES_OR_NO = en.YES_OR_NO | zh.YES_OR_NO
# One of so many words of a question, its own, tells that it is spoken of; of pairs of characters half lie across two
# words, and never come again. Three are enough of any.
_SHARE, _SHARE_OF_PAIRS, _PLENTY = 1 / 5, 1 / 8, 3
_BARE = 12  # words of an answer that need not repeat what was asked
_WORDS_IN_CHARACTER = 0.6


def _form(question: str) -> Callable[[str], bool]:
    if _REQUEST.search(question) or (("else" in question or "还有" in question) and _ANYTHING_ELSE.search(question)):
        return _has_any_form
    if _REASON.search(question):
        return lambda answer: _GIVES_REASON.search(answer) is not None
    if _TIME.search(question):
        return _gives_time
    if _NUMBER.search(question):
        return _gives_number
    if _POLAR.search(question):
        return _says_yes_or_no
    return _is_bare


def _is_bare(answer: str) -> bool:
    found = words.tokens(answer)
    if _YES_OR_NO.issuperset(found):
        return False
    return _size(found) <= (2 * _BARE if _POINTS_BACK.match(answer) else _BARE)


def _gives_number(answer: str) -> bool:
    return _GIVES_NUMBER.search(answer) is not None


def _gives_time(answer: str) -> bool:
    return _gives_number(answer) or _GIVES_TIME.search(answer) is not None


_BY_FIGURES = (_gives_number, _gives_time)
_ONE = re.compile(r"\bone\b|一")  # says little: one of them, 一封信


def _says_yes_or_no(answer: str) -> bool:
    return not _YES_OR_NO.isdisjoint(words.tokens(_NO_DECISION.sub("_", answer))[:3])


def _has_any_form(answer: str) -> bool:
    """Take anything for what is done about a request ("could you check again?")."""
    return bool(answer.strip())


def _size(tokens: list[str]) -> float:
    """Count words, a Chinese character for the part of one that it is."""
    return sum(1 if len(token) > 1 or token.isascii() else _WORDS_IN_CHARACTER for token in tokens)


def _unanswered_of(questions: list[_Question], reply: Reading, message: Reading) -> list[int]:
    """Give the numbers of the questions the reply does not account for.

    A question is accounted for by its own words; by a sentence that answers no other, and has the form of an answer
    (a number to "how many", yes or no, a reason to "why", a few words to the rest) or says that there is none to be
    had; or by asking back, by going to find out, by handing over.
    """
    still_open = []
    claimed: list[str] = []
    for number, question in enumerate(questions):
        others = {term for other in questions if other is not question for term in other.terms}
        own = [term for term in question.terms if term not in others] or question.terms
        if shared := _taken_up(own, reply):
            claimed += shared
        elif not question.is_shown_in(reply):
            still_open.append(number)
    if not still_open or _puts_off(reply.folded):
        return []
    free: list[str] = []
    beside: list[str] = []  # clauses of what answers another question
    decisions = 0
    is_any = False  # is anything said but "Thanks for asking!"
    for start, end in words.sentences(reply.folded):
        sentence = reply.folded[start:end]
        if _PLEASANTRY.match(sentence):
            continue
        is_any = True
        found = words.tokens(sentence)
        spaced = words.spaced(found)
        decisions += _says_yes_or_no(sentence)
        if any(term in spaced for term in claimed):
            clauses = [(clause, words.spaced(words.tokens(clause))) for clause in _CLAUSE.findall(sentence)]
            beside += [clause for clause, said in clauses if not any(term in said for term in claimed)]
        else:
            # "Mia Chen, +1 555 0100." answers two; what follows a yes explains it.
            parts = _CLAUSE.findall(sentence) if len(still_open) > 1 and _size(found) <= _BARE else [sentence]
            decided = next((at for at, part in enumerate(parts, 1) if _says_yes_or_no(part)), len(parts))
            free += parts[:decided]
            beside += parts[decided:]
    polar = [number for number in still_open if questions[number].fits is _says_yes_or_no]
    if polar and decisions >= sum(question.fits is _says_yes_or_no for question in questions):
        still_open = [number for number in still_open if number not in polar]
    unanswered = []
    # A few words among many others answer nothing where none of all of them is the message's.
    is_elsewhere = _size(reply.words) > _BARE and not (
        any(term in reply.spaced for term in words.terms(message.words))
        or _LIST.match(reply.folded)
        or (_MINE.search(message.folded) and _YOURS.search(reply.folded))
    )
    for number in sorted(still_open, key=lambda number: questions[number].fits is _has_any_form):
        question = questions[number]
        answers = (each for each in free if question.is_answered_by(each, is_elsewhere) or _HAS_NO_ANSWER.search(each))
        figures = (each for each in beside if question.is_answered_beside(each))
        if (answer := next(answers, None)) is not None:
            free.remove(answer)
        elif (figure := next(figures, None)) is not None:
            beside.remove(figure)
        elif len(questions) > 1 or _size(reply.words) > _BARE or not is_any:
            unanswered.append(number)
    return sorted(unanswered)


def _refuses(reply: Reading) -> bool:
    """Tell whether a reply opens with a refusal to answer and gives no grounds, nor asks for anything."""
    refusal = _REFUSES.match(reply.folded)
    return (
        refusal is not None
        and not _GIVES_GROUNDS.search(reply.folded, refusal.end())
        and not _HAS_NO_ANSWER.search(reply.folded)
        and not _puts_off(reply.folded)
    )


def _taken_up(terms: Sequence[str], reply: Reading) -> list[str]:
    """Give the terms that the reply takes up, none where they are too few to tell."""
    shared = [term for term in terms if term in reply.spaced]
    wanted = sum(_SHARE_OF_PAIRS if " " in term.strip() else _SHARE for term in terms)
    return shared if len(shared) >= min(_PLENTY, wanted) else []


def _puts_off(folded: str) -> bool:
    if _PUTS_OFF.search(folded):
        return True
    return "?" in folded and any(
        "?" in folded[start:end] and not _COURTESY.search(folded, start, end) for start, end in words.questions(folded)
    )


def _responsiveness(message: Reading, questions: list[_Question], reply: Reading, answered: bool) -> float | None:
    about = {term for question in questions for term in question.terms} or set(words.terms(message.words))
    if not about:
        return None
    shared = sum(term in reply.spaced for term in about)
    overlap = min(1.0, shared / min(_ENOUGH, math.ceil(len(about) / 4)))
    if answered:
        return max(round(overlap, 2), _ANSWERED)
    return round(overlap if questions else _STATED + (1 - _STATED) * overlap, 2)


def _is_about_something_else(message: Reading, reply: Reading) -> bool:
    """Tell whether what was said at length to a long message shares no word with it: "write a poem" may need none."""
    about = words.terms(message.words)
    if len(about) < _LONG_MESSAGE or any(term in reply.spaced for term in about):
        return False
    return (
        len(words.terms(reply.words)) >= _LONG_REPLY
        and not _ORDERS.search(message.folded)
        and not _HAS_NO_ANSWER.search(reply.folded)
        and not _puts_off(reply.folded)
    )


_LONG_MESSAGE, _LONG_REPLY = 8, 20  # words that count
_ENOUGH = 4  # shared words that make a response relevant, however long the message
_ANSWERED = 0.8  # an answer needs to share no word with its question
_STATED = 0.3  # nor does what follows "Write a poem": there, words alone make no response fail


def _consistency(
    reply: Reading, message: Reading | None, language: Language | None, forbidden: Sequence[str], flags: list[Flag]
) -> float:
    spans = _forbidden(reply.text, forbidden)
    if spans:
        flags.append(Flag("forbidden-phrase", f"{len(spans)} forbidden phrase(s)", tuple(spans)))
    return min(_speaks_the_language(reply, message, language, flags), 0.0 if spans else 1.0)


def _forbidden(text: str, phrases: Sequence[str]) -> list[Span]:
    if not phrases:
        return []
    lowered = text.lower()
    found: list[Span] = []
    for phrase in phrases:
        if phrase.lower() in lowered:
            places = islice(_whole_words(phrase).finditer(text), MAX_SPANS)
            found += [Span(*match.span(), match[0]) for match in places]
    return sorted(found)[:MAX_SPANS]


def _whole_words(phrase: str) -> re.Pattern[str]:
    """Match a phrase in any case where no ASCII letter or digit goes on: "AI" is in 是AI模型, not in "said"."""
    before = r"(?<![A-Za-z0-9])" if phrase[0].isascii() and phrase[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if phrase[-1].isascii() and phrase[-1].isalnum() else ""
    return re.compile(before + re.escape(phrase) + after, re.IGNORECASE)


_STRANGE = 0.5
_SCRIPTS: dict[Language, Script] = {"en": "latin", "zh-Hant": "han", "zh-Hans": "han"}
_NAMES = {"latin": "Latin letters", "han": "Chinese", "kana": "Japanese", "hangul": "Korean", "other": "another script"}
_NAMES_A_LANGUAGE = re.compile(f"{en.NAMES_A_LANGUAGE}|{zh.NAMES_A_LANGUAGE}")


def _speaks_the_language(
    reply: Reading, message: Reading | None, language: Language | None, flags: list[Flag]
) -> float:
    """Compare the languages of the user, the agent and the response, as far as their scripts tell them."""
    own = _SCRIPTS[language] if language else message.script if message else None
    spoken = reply.script if own else None
    if spoken is None or own is None:
        return 1.0
    users = message.script if message is not None else None
    wanted = users or own
    has_variants = spoken == own == "han"
    if spoken == wanted and not has_variants:
        return 1.0
    if message is not None and _NAMES_A_LANGUAGE.search(message.folded):
        return 1.0
    if spoken not in (wanted, own):
        flags.append(_mismatch(reply, spoken, wanted, "message" if users else "agent's language"))
        # Nobody's words to go by: the agent may well speak to somebody in another language than its own.
        return 0.0 if users else _STRANGE
    if spoken != wanted:
        flags.append(_mismatch(reply, spoken, wanted, "message"))
        return 0.5
    variant = words.variant_of(reply.said)
    if variant in (None, language):
        return 1.0
    users_variant = words.variant_of(message.text[:MAX_READ]) if message is not None else None
    other = language or users_variant
    if variant == users_variant or other is None:
        return 1.0
    flags.append(Flag("variant-mismatch", f"written in {variant}, not in {other}"))
    return 0.75


def _mismatch(reply: Reading, spoken: Script, wanted: Script, whose: str) -> Flag:
    spans = (
        Span(start, end, reply.text[start:end])
        for start, end in words.sentences(reply.folded)
        if words.script_of(reply.folded[start:end], least=0) == spoken
    )
    return Flag("language-mismatch", f"in {_NAMES[spoken]}, the {whose} in {_NAMES[wanted]}", tuple(islice(spans, 1)))


def _has_sane_length(reply: Reading, language: Language | None, settings: QualitySettings, flags: list[Flag]) -> bool:
    length = len(reply.text.strip())
    en_limits, zh_limits = settings.limits.en, settings.limits.zh
    if max(en_limits.min, zh_limits.min) <= length <= min(en_limits.max, zh_limits.max):
        return True  # in any script
    script = reply.script or words.script_of(reply.folded, least=0)
    if script is None or (script == "latin" and not reply.script):  # "DOTA" answers in any language
        script = _SCRIPTS[language or "en"]
    limits = zh_limits if script in ("han", "kana", "hangul") else en_limits
    if length < limits.min:
        if length:
            start = len(reply.text) - len(reply.text.lstrip())
            span = Span(start, start + length, reply.text.strip())
            flags.append(Flag("too-short", f"{length} character(s), {limits.min} expected", (span,)))
    elif length > limits.max:
        flags.append(Flag("too-long", f"{length:,} characters, {limits.max:,} at most"))
    return limits.min <= length <= limits.max


def _repeats(
    reply: Reading, recent: Sequence[str | Sequence[int]], settings: QualitySettings, flags: list[Flag]
) -> bool:
    if not recent or len(own := reply.fingerprint) < _MIN_WORDS:
        return False
    distinct = {*own}
    for back, said_before in enumerate(reversed(recent), start=1):
        other = fingerprint(said_before) if isinstance(said_before, str) else said_before
        if len(distinct.intersection(other)) < settings.similar_at * max(len(own), len(other)):
            continue  # as alike as this at most
        alike = similarity(own, other)
        if alike >= settings.similar_at:
            before = "the last response" if back == 1 else f"the response {back} before"
            flags.append(Flag("repetition", f"{alike:.0%} like {before}"))
            return True
    return False
