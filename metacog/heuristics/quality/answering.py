"""Which questions of a message a reply leaves open: what quality's completeness is made of (seed 004)."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..lexicon import LANGUAGES, lazy, together
from ..text import words
from ..text.utterance import Utterance

_LISTS = together(language.QUALITY for language in LANGUAGES)
_REASON, _NUMBER = lazy.compile(_LISTS.reason), lazy.compile(_LISTS.number)
_POLAR = lazy.compile(rf"\A\s*(?:{_LISTS.polar_opening})|{_LISTS.polar}")
_REQUEST = lazy.compile(_LISTS.request)
# What is asked about a quotation stands outside it: “…” is a line from which poem?
_QUOTATION = lazy.compile(r'"[^"\n]{8,}"|「[^「」\n]{8,}」|『[^『』\n]{8,}』')
# A figure, not a part of a name: IP68.
_FIGURE = r"(?<![a-z\d])(?<![a-z]-)\d"
_TIME, _GIVES_TIME = lazy.compile(_LISTS.time), lazy.compile(rf"{_FIGURE}|{_LISTS.time_words}")
_POINTS_BACK = lazy.compile(rf"\W*+(?:{_LISTS.points_back})")
_STANDS_FOR = lazy.compile(_LISTS.stands_for)
_GIVES_REASON = lazy.compile(_LISTS.reason_words)
_QUOTED = lazy.compile(r'"[^"\n]+"|「[^「」\n]+」|『[^『』\n]+』|《[^《》\n]+》')
_GIVES_NUMBER = lazy.compile(rf"{_FIGURE}|{_LISTS.number_words}")
_LEADS_TO_FIGURE = lazy.compile(_LISTS.leads_to_figure)
_ASKS_FOR_A_WAY = lazy.compile(_LISTS.asks_for_a_way)
_STEPS = lazy.compile(_LISTS.steps)
_MINE, _YOURS = lazy.compile(_LISTS.mine), lazy.compile(_LISTS.yours)
_LIST = lazy.compile(r"\s*(?:[0-9]{1,2}[.)、]|[-*•])\s*\S")
_REFUSES = lazy.compile(rf"\W*+(?:{_LISTS.refuses})")
_GIVES_GROUNDS = lazy.compile(_LISTS.gives_grounds)
_ANYTHING_ELSE = lazy.compile(_LISTS.anything_else)
_PUTS_OFF = lazy.compile(f"{_LISTS.asks_for}|{_LISTS.goes_to_find_out}")
_HAS_NO_ANSWER = lazy.compile(_LISTS.has_no_answer)
_COURTESY = lazy.compile(_LISTS.courtesy)
_DECIDES = lazy.compile(_LISTS.decides)
_NO_DECISION = lazy.compile(_LISTS.no_decision)
_PLEASANTRY = lazy.compile(rf"\W*+(?:{_LISTS.pleasantry})")
_NAMES_SOMEBODY = lazy.compile(_LISTS.names_somebody)
_NO_NAME = lazy.compile(rf"\W*+(?:{_LISTS.no_name}|\Z)")
_NAMES_A_PLACE = lazy.compile(_LISTS.names_a_place)
_WHO, _WHERE = lazy.compile(_LISTS.who), lazy.compile(_LISTS.where)
_STATES, _EXPLAINS = lazy.compile(_LISTS.states), lazy.compile(rf"\W*+(?:{_LISTS.explains})")
_CLAUSE = lazy.compile(r"(?:[^,;、]|,(?=\d{3}(?!\d)))+")
_HALVES = lazy.compile(r"[;、]|,(?!\d{3}(?!\d))|\band\b")  # "It is 3 m tall and weighs 2 tonnes."
_YES_OR_NO = _LISTS.yes_or_no
# One of so many words of a question, its own, tells that it is spoken of; of pairs of characters half lie across two
# words, and never come again. Three are enough of any.
_SHARE, _SHARE_OF_PAIRS, _PLENTY = 1 / 5, 1 / 8, 3
_COMPANY = 2  # of more words than these, one alone that is said once tells nothing
_BARE = 12  # words of an answer that need not repeat what was asked
_NAME = 4  # words of a name
_SENTENCE = 6  # words up to which a reply may be a name or a phrase, and speak of what was asked
# What accounts for a question by its form alone.
_BY_FORM = ("answered", "answered beside another", "answered within another", "a short reply", None)
_WORDS_IN_CHARACTER = 0.6


class Question(NamedTuple):
    """What is asked, and what an answer without any of its words looks like."""

    spaced: str  # its words
    terms: tuple[str, ...]
    fits: Callable[[str], bool]
    quoted: tuple[str, ...]  # what an answer may start from; less than four characters in their marks
    asks_for_a_way: bool
    names: re.Pattern[str] | None  # what tells somebody, or a place, beside another answer

    @property
    def may_be_refused(self) -> bool:
        """Whether "I can't" answers it: "can you …?"."""
        return self.fits in (_says_yes_or_no, _has_any_form)

    @classmethod
    def of(cls, text: str) -> "Question":
        found = words.tokens(text)
        terms = words.terms(words.tokens(_QUOTATION.sub(" ", text))) or words.terms(found)
        quoted = tuple(map(_bare, _QUOTED.findall(text)))
        is_way = _ASKS_FOR_A_WAY.search(text) is not None
        names = _NAMES_SOMEBODY if _WHO.search(text) else _NAMES_A_PLACE if _WHERE.search(text) else None
        form = _form(text)
        if form is _is_bare and not terms:  # "How are you?" names nothing that an answer would have to speak of
            form = _has_any_form
        return cls(words.spaced(found), terms, form, quoted, is_way, names)

    def is_answered_by(self, sentence: str, is_elsewhere: bool) -> bool:
        """Tell whether a sentence looks like an answer; `is_elsewhere`: in a reply without a word of the message."""
        if not self.fits(sentence):
            return False
        if not is_elsewhere or self.fits is not _is_bare or _POINTS_BACK.match(sentence):
            return True
        return self.asks_for_a_way and _STEPS.search(sentence) is not None

    def may_be_meant(self, reply: Utterance, by: str | None) -> bool:
        """Tell whether a reply gives what was asked for in words of its own; `by` says what accounts for it.

        A name or a place, a time or a number, the steps of a way. Of a yes or a no Chinese says neither, nor a pronoun.
        """
        if self.fits in _BY_FIGURES and by != "a short reply":
            return True
        if self.fits is _says_yes_or_no and reply.script == "han":
            return True
        if self.asks_for_a_way and _STEPS.search(reply.folded):
            return True
        return self.names is not None and self.names.search(reply.folded) is not None

    def is_shown_in(self, reply: Utterance) -> bool:
        """Tell whether a reply repeats what is quoted, or shows a way that is asked for in code, which is not said."""
        return any(quoted in reply.folded for quoted in self.quoted) or (self.asks_for_a_way and "`" in reply.text)

    def is_answered_beside(self, clause: str, opens: bool) -> bool:
        """Tell whether a clause beside the answer to another question looks like an answer.

        `opens`: it is how the reply begins, and this the first question: "Canberra, with about 470,000 people."
        """
        if self.fits in _BY_FIGURES:
            return self.fits(_ONE.sub("", clause))
        if self.fits is _says_yes_or_no:
            return _STATES.search(clause) is not None and _EXPLAINS.match(clause) is None
        if opens and self.fits in (_is_bare, _gives_reason) and not self.asks_for_a_way and _is_bare(clause):
            return _size(words.tokens(clause)) <= _NAME and not _NO_NAME.match(clause)
        return self.names is not None and self.names.search(clause) is not None

    def is_answered_within(self, clause: str, has_figure: bool) -> bool:
        """Tell whether the answer to another question holds this one, too; `has_figure`: that one asked for a figure.

        "Frank Herbert wrote it in 1965", "the small one, because it is cheaper".
        """
        if self.fits in _BY_FIGURES:
            return not has_figure and _LEADS_TO_FIGURE.search(clause) is not None
        return self.fits is _gives_reason and _gives_reason(clause)


def accounted(questions: list[Question], reply: Utterance, message: Utterance) -> list[str | None]:
    """Name what accounts for each question in the reply, one of `_GUARDS` for the most; None where nothing does.

    A question is accounted for by its own words; by a sentence that answers no other, and has the form of an answer
    (a number to "how many", yes or no, a reason to "why", a few words to the rest) or says that there is none to be
    had; or by asking back, by going to find out, by handing over. A refusal accounts for what may be refused.
    """
    if questions and _refuses(reply):
        return ["refused" if question.may_be_refused else None for question in questions]
    if _only_repeats(reply, message, questions):
        return [None] * len(questions)
    told = _Told(questions, reply, message)
    for guards in _GUARDS:
        # A request takes anything for an answer, and what others leave.
        for question in sorted(told.open, key=lambda question: question.fits is _has_any_form):
            told.by[id(question)] = next((name for name, holds in guards if holds(told, question)), None)
        told.open = [question for question in told.open if told.by[id(question)] is None]
    if len(questions) == len(told.open) == 1 and len(questions[0].terms) < _PLENTY:
        # "Who wrote it?": the rest of the message tells what.
        return ["the rest of the message" if _taken_up(told.about, reply) else None]
    return [told.by[id(question)] for question in questions]


class _Told:
    """What a reply has to account for questions by; what answers one is used up."""

    def __init__(self, questions: list[Question], reply: Utterance, message: Utterance) -> None:
        self.questions, self.reply, self.message = questions, reply, message
        self.by: dict[int, str | None] = {}
        self.open = questions  # when the guards at hand are asked
        self.claimed: list[str] = []  # terms of the questions that it takes up
        self.has_figure = False  # does one that is accounted for ask for a figure

    @cached_property
    def about(self) -> tuple[str, ...]:
        return words.terms(self.message.words)

    @cached_property
    def parted(self) -> "_Parted":
        return _parted(self.reply, self.claimed, is_several=len(self.open) > 1)

    @cached_property
    def puts_off(self) -> bool:
        return _puts_off(self.reply.folded)

    @cached_property
    def _is_of_theirs(self) -> bool:
        return _MINE.search(self.message.folded) is not None and _YOURS.search(self.reply.folded) is not None

    @cached_property
    def is_long(self) -> bool:
        # "Where is my order?", "Your parcel arrived …": of so few words the right answer may have none.
        bare = 2 * _BARE if self._is_of_theirs and len(self.about) < _PLENTY else _BARE
        return _size(self.reply.words) > bare

    @cached_property
    def _is_elsewhere(self) -> bool:
        """Whether a few words among many others answer nothing, since none of all of them is the message's."""
        return self.is_long and not (
            self._is_of_theirs
            or _LIST.match(self.reply.folded)
            or any(term in self.reply.spaced for term in self.about)
        )

    def takes_up(self, question: Question) -> bool:
        others = {term for other in self.questions if other is not question for term in other.terms}
        own = [term for term in question.terms if term not in others] or question.terms
        shared = _taken_up(own, self.reply)
        if len(self.questions) > 1 and all(map(_is_character, shared)) and not all(map(_is_character, own)):
            return False  # 用: in 能用, and in 使用, too
        self.claimed += shared
        self.has_figure |= bool(shared) and question.fits in _BY_FIGURES
        return bool(shared)

    def decides(self, question: Question) -> bool:
        """Tell whether there is a yes or a no for each question that wants one."""
        wanted = sum(each.fits is _says_yes_or_no for each in self.questions)
        return question.fits is _says_yes_or_no and self.parted.decisions >= wanted

    def answers(self, question: Question) -> bool:
        for each in self.parted.free:
            if question.is_answered_by(each, self._is_elsewhere) or _HAS_NO_ANSWER.search(each):
                self.parted.free.remove(each)
                self.parted.within.append(each)
                self.has_figure |= question.fits in _BY_FIGURES
                return True
        return False

    def answers_beside(self, question: Question) -> bool:
        is_first = question is self.questions[0]
        for each in self.parted.beside:
            if question.is_answered_beside(each, is_first and self.reply.folded.startswith(each)):
                self.parted.beside.remove(each)
                return True
        return False

    def answers_within(self, question: Question) -> bool:
        holds = any(question.is_answered_within(each, self.has_figure) for each in self.parted.within)
        self.has_figure |= holds and question.fits in _BY_FIGURES
        return holds

    def may_be_all(self, question: Question) -> bool:
        """Tell whether a short reply to one question says anything at all."""
        return len(self.questions) == 1 and not self.is_long and (self.parted.is_any or question.may_be_refused)


# By name, what accounts for a question; the first that holds does. Which words are taken up is known of all questions
# before any is looked at by what else is said.
_GUARDS: tuple[tuple[tuple[str, Callable[[_Told, Question], bool]], ...], ...] = (
    (
        ("its own words", _Told.takes_up),
        ("shown", lambda told, question: question.is_shown_in(told.reply)),
    ),
    (
        ("put off", lambda told, question: told.puts_off),
        ("decided", _Told.decides),
        ("answered", _Told.answers),
        ("answered beside another", _Told.answers_beside),
        ("answered within another", _Told.answers_within),
        ("a short reply", _Told.may_be_all),
    ),
)


class _Parted(NamedTuple):
    """What a reply says, parted by what it may answer."""

    free: list[str]  # sentences, and clauses of short ones, that answer no question yet
    beside: list[str]  # clauses beside what answers one, or behind a yes
    within: list[str]  # what answers one
    decisions: int  # sentences that say yes or no
    is_any: bool  # is anything said but "Thanks for asking!"


def _parted(reply: Utterance, claimed: Sequence[str], is_several: bool) -> _Parted:
    """Part a reply by the terms `claimed` of questions it answers; `is_several`: more than one question is open."""
    free: list[str] = []
    beside: list[str] = []
    within: list[str] = []
    decisions = 0
    is_any = False
    for start, end in words.sentences(reply.folded):
        sentence = reply.folded[start:end]
        if _PLEASANTRY.match(sentence):
            continue
        found = words.tokens(sentence)
        is_any = is_any or bool(found)
        spaced = words.spaced(found)
        decisions += _says_yes_or_no(sentence)
        if any(term in spaced for term in claimed):
            for clause in filter(None, _HALVES.split(sentence)):
                said = words.spaced(words.tokens(clause))
                (within if any(term in said for term in claimed) else beside).append(clause)
        else:
            # "Mia Chen, +1 555 0100." answers two; what follows a yes explains it.
            parts = _CLAUSE.findall(sentence) if is_several and _size(found) <= _BARE else [sentence]
            decided = next((at for at, part in enumerate(parts, 1) if _says_yes_or_no(part)), len(parts))
            free += parts[:decided]
            beside += parts[decided:]
    return _Parted(free, beside, within, decisions, is_any)


def _only_repeats(reply: Utterance, message: Utterance, questions: list[Question]) -> bool:
    """Tell whether nothing is said but the message's own words, a whole question among them."""
    if len(reply.words) > len(message.words) or not any(question.spaced in reply.spaced for question in questions):
        return False
    return reply.spaced in message.spaced


def _refuses(reply: Utterance) -> bool:
    """Tell whether a reply opens with a refusal to answer and gives no grounds, nor asks for anything."""
    refusal = _REFUSES.match(reply.folded)
    return (
        refusal is not None
        and not _GIVES_GROUNDS.search(reply.folded, refusal.end())
        and not excuses_itself(reply.folded)
    )


def speaks_of_something_else(
    questions: Sequence[Question], by: Sequence[str | None], reply: Utterance, message: Utterance
) -> bool:
    """Tell whether a reply is a sentence of its own that answers by nothing.

    It has no word of the message, no pronoun for what that speaks of, no figure, no name that was asked for, no yes or
    no, and no grounds for having no answer. `by` says what accounts for each question; only what has the form of an
    answer may be about anything.
    """
    if any(name not in _BY_FORM for name in by) or _size(reply.words) <= _SENTENCE or "`" in reply.text:
        return False
    if any(term in reply.spaced for term in words.terms(message.words)):
        return False
    if any(question.may_be_meant(reply, name) for question, name in zip(questions, by, strict=True)):
        return False
    figures = _ONE.sub("", reply.folded)
    if (
        _POINTS_BACK.match(reply.folded)
        or _STANDS_FOR.search(reply.folded)
        or _GIVES_NUMBER.search(figures)
        or excuses_itself(reply.folded)
    ):
        return False
    opening = (words.tokens(reply.folded[start:end])[:1] for start, end in words.sentences(reply.folded))
    return all(map(_YES_OR_NO.isdisjoint, opening))


def taken_from(terms: Sequence[str], reply: Utterance) -> list[str]:
    """Give the terms that stand in the reply; none where it is one of several, said once among many: a coincidence.

    "Who pays customs on returns?" and "… customers love it a lot" have no more in common. Of the pairs of characters
    of Chinese one is no whole word, and they are not judged so.
    """
    shared = [term for term in terms if term in reply.spaced]
    if len(shared) == 1 and len(terms) > _COMPANY and shared[0].isascii():
        return [] if reply.spaced.count(shared[0]) == 1 and _size(reply.words) > _BARE else shared
    return shared


def _taken_up(terms: Sequence[str], reply: Utterance) -> list[str]:
    """Give the terms that the reply takes up, none where they are too few to tell."""
    shared = taken_from(terms, reply)
    wanted = sum(_SHARE_OF_PAIRS if " " in term.strip() else _SHARE for term in terms)
    return shared if len(shared) >= min(_PLENTY, wanted) else []


def _is_character(term: str) -> bool:
    return len(term) == len(" 用 ") and not term.isascii()


def excuses_itself(folded: str) -> bool:
    """Tell whether a reply says that there is no answer to be had, or does something else first: asks back, looks."""
    return _HAS_NO_ANSWER.search(folded) is not None or _puts_off(folded)


def _puts_off(folded: str) -> bool:
    if _PUTS_OFF.search(folded):
        return True
    return "?" in folded and any(
        "?" in folded[start:end] and not _COURTESY.search(folded, start, end) for start, end in words.questions(folded)
    )


def _bare(quoted: str) -> str:
    return quoted if len(quoted) < 6 else quoted[1:-1]


def _form(question: str) -> Callable[[str], bool]:
    if _REQUEST.search(question) or _ANYTHING_ELSE.search(question):
        return _has_any_form
    if _REASON.search(question):
        return _gives_reason
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


def _gives_reason(answer: str) -> bool:
    return _GIVES_REASON.search(answer) is not None


def _gives_number(answer: str) -> bool:
    return _GIVES_NUMBER.search(answer) is not None


def _gives_time(answer: str) -> bool:
    return _GIVES_TIME.search(answer) is not None


_BY_FIGURES = (_gives_number, _gives_time)
_ONE = lazy.compile(_LISTS.one)  # says little: one of them, 一封信


def _says_yes_or_no(answer: str) -> bool:
    if _DECIDES.search(answer):
        return True
    return not _YES_OR_NO.isdisjoint(words.tokens(_NO_DECISION.sub("_", answer))[:3])


def _has_any_form(answer: str) -> bool:
    """Take anything for what is done about a request ("could you check again?")."""
    return bool(answer.strip())


def _size(tokens: list[str]) -> float:
    """Count words, a Chinese character for the part of one that it is."""
    return sum(1 if len(token) > 1 or token.isascii() else _WORDS_IN_CHARACTER for token in tokens)
