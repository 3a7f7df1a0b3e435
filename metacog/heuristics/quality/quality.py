"""How well a response answers: the self-monitor (seed 004, "Self-Monitor"). It flags, and never holds.

Hedges are not looked at: to hedge is no fault, and hesitation asks for hedges where this would punish them.
"""

import math
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from ..lexicon import LANGUAGES, languages, together
from ..policy.quality_settings import QualitySettings
from ..text import words
from ..text.shadow import Shadow
from ..text.spans import Place, Span, spans_of
from ..text.utterance import MAX_READ, Fingerprint, Utterance, fingerprint, similarity
from ..text.words import Script
from ..wire.assessment import FlagPart, FlagSpanPart, QualityPart
from .answering import Question, accounted, excuses_itself, speaks_of_something_else, taken_from

Language = Literal["en", "zh-Hant", "zh-Hans"]

MAX_SPANS = 64
MAX_SHOWN = 200  # code points of a sentence that stands for a whole text
_MIN_WORDS = 5  # shorter responses ("Done.") may well recur

_LISTS = together(language.QUALITY for language in LANGUAGES)
HEDGES = _LISTS.hedges
_JUDGED = {None, *(language.__name__.rpartition(".")[2] for language in LANGUAGES)}
# What opens like this is a tool's output or data: nobody asks anything in it.
_MACHINE_MADE = ("<", "{", "[")

LOW = "meta:confidence-low"

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

    def as_dict(self) -> FlagPart:
        spans: list[FlagSpanPart] = [{"start": span.start, "end": span.end, "text": span.text} for span in self.spans]
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
    reply: Utterance
    accounted: tuple[str | None, ...]  # by name, by what each question is; None where it is left open

    @property
    def fingerprint(self) -> Fingerprint:
        """What to hand in as one of `recent` next time."""
        return self.reply.fingerprint

    def as_dict(self) -> QualityPart:
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
    reply = Utterance(response)
    message = None if user_message is None else Utterance(user_message)
    flags: list[Flag] = []
    responsiveness, completeness, by = _answers(reply, message, flags)
    consistency = _consistency(reply, message, language, settings.forbidden, flags)
    # "Yes." may be all there is to say.
    is_decided = bool(by) and all(name == "decided" for name in by)
    length_ok = is_decided or _has_sane_length(reply, message, language, settings, flags)
    repetition = _repeats(reply, recent[-settings.recent_window :] if settings.recent_window else (), settings, flags)

    weights = settings.weights
    score = 1.0
    if responsiveness is not None:
        score *= 1 - weights.responsiveness * (1 - responsiveness)
    if completeness is not None:
        score *= 1 - weights.completeness * (1 - completeness)
    score *= 1 - weights.consistency * (1 - consistency)
    if not length_ok:
        score *= 1 - weights.length
    if repetition:
        score *= 1 - weights.repetition
    score = 0.0 if reply.is_empty else round(score, 2)
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
        events=(LOW,) if low else (),
        reply=reply,
        accounted=tuple(by),
    )


def _answers(
    reply: Utterance, message: Utterance | None, flags: list[Flag]
) -> tuple[float | None, float | None, Sequence[str | None]]:
    """Judge responsiveness and completeness, and say by what each question is accounted for."""
    asked = words.questions(message.folded) if message else []
    if reply.is_empty:
        flags.append(Flag("empty", "nothing is said"))
        return 0.0, 0.0 if asked else None, [None] * len(asked)
    if message is None or not message.words or _is_machine_made(message):
        return None, None, ()
    if reply.script and message.script and (reply.script != message.script or _differ(reply, message)):
        return None, None, ()  # no words in common to judge by: consistency tells
    if message.language not in _JUDGED:
        return None, None, ()  # nor do we know which words of another language say little
    questions = [Question.of(message.folded[slice(*place)]) for place in asked]
    by = accounted(questions, reply, message)
    left_open = [place for place, name in zip(asked, by, strict=True) if name is None]
    completeness = round(1 - len(left_open) / len(asked), 2) if asked else None
    if left_open:
        flags.append(_unanswered(message, left_open, len(asked)))
    responsiveness = _responsiveness(message, questions, reply, answered=len(asked) > len(left_open))
    if asked and len(left_open) < len(asked) and speaks_of_something_else(questions, by, reply, message):
        responsiveness = 0.0
    if asked and responsiveness is not None and responsiveness < _STATED:
        spans = spans_of(message.text, asked)
        flags.append(Flag("off-topic", "shares hardly a word with the message", spans, "user_message"))
    elif not asked and _is_about_something_else(message, reply):
        responsiveness = 0.0
        flags.append(Flag("off-topic", "shares no word with the message", _first_sentence(message), "user_message"))
    return responsiveness, completeness, by


def _is_machine_made(message: Utterance) -> bool:
    return message.text.lstrip().startswith(_MACHINE_MADE)


def _unanswered(message: Utterance, places: list[Place], asked: int) -> Flag:
    detail = f"{len(places)} of {asked} question(s) not accounted for"
    return Flag("question-unanswered", detail, spans_of(message.text, places), "user_message")


def _first_sentence(utterance: Utterance, is_one: Callable[[str], bool] = bool) -> tuple[Span, ...]:
    """Point at the first sentence that is one: what is said of a whole text is shown at one place of it."""
    for start, end in words.sentences(utterance.folded):
        said = utterance.prose[start:end]
        if said.strip() and is_one(said):
            start += len(said) - len(said.lstrip())
            return spans_of(utterance.text, [(start, min(end, start + MAX_SHOWN))])
    return ()


def _responsiveness(message: Utterance, questions: list[Question], reply: Utterance, answered: bool) -> float | None:
    asked = list(dict.fromkeys(term for question in questions for term in question.terms))
    about = asked or words.terms(message.words)
    if not about:
        return None
    shared = len(taken_from(asked, reply)) if asked else sum(term in reply.spaced for term in about)
    overlap = min(1.0, shared / min(_ENOUGH, math.ceil(len(about) / 4)))
    if answered:
        return max(round(overlap, 2), _ANSWERED)
    return round(overlap if questions else _STATED + (1 - _STATED) * overlap, 2)


def _is_about_something_else(message: Utterance, reply: Utterance) -> bool:
    """Tell whether what was said at length to a long message shares no word with it: "write a poem" may need none."""
    about = words.terms(message.words)
    is_to_tell = _ASKS_TO_BE_TOLD.match(message.folded)
    enough, long = (_NAMES_A_SUBJECT, _EXPLANATION) if is_to_tell else (_LONG_MESSAGE, _LONG_REPLY)
    if len(about) < enough or any(term in reply.spaced for term in about):
        return False
    return (
        len(words.terms(reply.words)) >= long
        and not _ORDERS.search(message.folded)
        and not excuses_itself(reply.folded)
    )


_ORDERS = re.compile(rf"(?:\A|[.!?。\n])\W{{0,40}}+(?:{_LISTS.orders})")
_ASKS_TO_BE_TOLD = re.compile(rf"\W*+(?:{_LISTS.asks_to_be_told})")
_LONG_MESSAGE, _LONG_REPLY = 8, 20  # words that count
_NAMES_A_SUBJECT, _EXPLANATION = 4, 12  # of them, in "explain …" and in what it is explained by
_ENOUGH = 4  # shared words that make a response relevant, however long the message
_ANSWERED = 0.8  # an answer needs to share no word with its question
_STATED = 0.3  # nor does what follows "Write a poem": there, words alone make no response fail


def _consistency(
    reply: Utterance, message: Utterance | None, language: Language | None, forbidden: Sequence[str], flags: list[Flag]
) -> float:
    spans = _forbidden(reply.text, forbidden) if forbidden else ()
    if spans:
        flags.append(Flag("forbidden-phrase", f"{len(spans)} forbidden phrase(s)", spans))
    return min(_speaks_the_language(reply, message, language, flags), 0.0 if spans else 1.0)


def _forbidden(text: str, phrases: Sequence[str]) -> tuple[Span, ...]:
    """Find phrases however they are written: in capitals, in full width, in the other characters of Chinese."""
    shadow = Shadow(text)
    found: list[Place] = []
    for phrase in {Shadow(phrase).text for phrase in phrases} - {""}:
        if phrase in shadow.text:
            places = islice(_whole_words(phrase).finditer(shadow.text), MAX_SPANS)
            found += [shadow.place(*match.span()) for match in places]
    return spans_of(text, sorted(found)[:MAX_SPANS])


def _whole_words(phrase: str) -> re.Pattern[str]:
    """Match a folded phrase where no ASCII letter or digit goes on: "AI" is in 是AI模型, not in "said"."""
    before = r"(?<![A-Za-z0-9])" if phrase[0].isascii() and phrase[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if phrase[-1].isascii() and phrase[-1].isalnum() else ""
    return re.compile(before + re.escape(phrase) + after)


_STRANGE = 0.5
_SCRIPTS = {language: words.script_of(hedge, least=0) or "latin" for language, hedge in HEDGES.items()}
_NAMES = {"latin": "Latin letters", "han": "Chinese", "kana": "Japanese", "hangul": "Korean", "other": "another script"}
_NAMES_A_LANGUAGE = re.compile(f"{_LISTS.names_a_language}|{languages.NAMES_A_LANGUAGE}")


def _differ(reply: Utterance, message: Utterance) -> bool:
    """Tell whether two texts in Latin letters are in two languages that are known."""
    if reply.script != "latin" or message.script != "latin" or not (message.language and reply.language):
        return False
    return reply.language != message.language


def _speaks_the_language(
    reply: Utterance, message: Utterance | None, language: Language | None, flags: list[Flag]
) -> float:
    """Compare the languages of the user, the agent and the response, as far as their scripts tell them.

    The agent's own is never wrong, whoever writes to it: a monitor's alert is in English. Nor is the user's.
    """
    own = _SCRIPTS[language] if language else message.script if message else None
    spoken = reply.script if own else None
    if spoken is None or own is None:
        return 1.0
    users = message.script if message is not None else None
    wanted = users or own
    has_variants = spoken == own == "han"
    if spoken == wanted and not has_variants:
        return 1.0 if message is None else _speaks_as_the_user(reply, message, language, flags)
    if message is not None and _NAMES_A_LANGUAGE.search(message.folded):
        return 1.0
    if message is not None and users is None and spoken == words.script_of(message.prose, least=0):
        return 1.0  # too few words to want their language, enough to be answered in it: 謝謝
    if spoken not in (wanted, own):
        flags.append(_mismatch(reply, spoken, wanted, "message" if users else "agent's language"))
        # Nobody's words to go by: the agent may well speak to somebody in another language than its own.
        return 0.0 if users else _STRANGE
    if spoken != "han":
        return 1.0
    variant = words.variant_of(reply.prose)
    if variant in (None, language):
        return 1.0
    users_variant = words.variant_of(message.text[:MAX_READ]) if message is not None else None
    other = language or users_variant
    if variant == users_variant or other is None:
        return 1.0
    spans = _first_sentence(reply, lambda sentence: words.has_characters_of(variant, sentence))
    flags.append(Flag("variant-mismatch", f"written in {variant}, not in {other}", spans))
    return 0.75


def _speaks_as_the_user(reply: Utterance, message: Utterance, language: Language | None, flags: list[Flag]) -> float:
    """Compare two texts of one script, where that may be of several languages."""
    if not _differ(reply, message) or reply.language == language:
        return 1.0
    if _is_machine_made(message) or _NAMES_A_LANGUAGE.search(message.folded):
        return 1.0
    spoken, wanted = (languages.NAMES[each.language] for each in (reply, message) if each.language)
    flags.append(Flag("language-mismatch", f"in {spoken}, the message in {wanted}", _first_sentence(reply)))
    return 0.0


def _mismatch(reply: Utterance, spoken: Script, wanted: Script, whose: str) -> Flag:
    spans = _first_sentence(reply, lambda sentence: words.script_of(sentence, least=0) == spoken)
    return Flag("language-mismatch", f"in {_NAMES[spoken]}, the {whose} in {_NAMES[wanted]}", spans)


def _has_sane_length(
    reply: Utterance, message: Utterance | None, language: Language | None, settings: QualitySettings, flags: list[Flag]
) -> bool:
    length = 0 if reply.is_empty else len(reply.text.strip())
    if length in settings.limits.of_any:
        return True
    script = reply.script or words.script_of(reply.folded, least=0)
    if script is None or (script == "latin" and not reply.script):  # "DOTA" answers a question in any language
        script = (message.script if message else None) or _SCRIPTS[language or "en"]
    limits = settings.limits.zh if script in ("han", "kana", "hangul") else settings.limits.en
    if length < limits.min:
        if length:
            start = len(reply.text) - len(reply.text.lstrip())
            span = Span(start, start + length, reply.text.strip())
            flags.append(Flag("too-short", f"{length} character(s), {limits.min} expected", (span,)))
    elif length > limits.max:
        start = len(reply.text) - len(reply.text.lstrip()) + limits.max
        beyond = (start, min(start + MAX_SHOWN, len(reply.text)))
        flags.append(Flag("too-long", f"{length:,} characters, {limits.max:,} at most", spans_of(reply.text, [beyond])))
    return limits.min <= length <= limits.max


def _repeats(
    reply: Utterance, recent: Sequence[str | Sequence[int]], settings: QualitySettings, flags: list[Flag]
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
            flags.append(Flag("repetition", f"{alike:.0%} like {before}", _first_sentence(reply)))
            return True
    return False
