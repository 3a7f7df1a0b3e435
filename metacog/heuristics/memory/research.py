"""Ask what to look up once a verdict stands, and put together what was found (seed 003, section 5).

Deterministic: three action-oriented questions from what the verdict says is to be done, what it names, and what it
counts on. No model is asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ..lexicon import LANGUAGES, either
from ..lexicon.shapes import ResearchWords
from ..text import words
from . import subjects

Kind = Literal["do", "find", "check"]

MAX_READ = 20_000  # code points of a verdict
MAX_NEED = 90
MAX_NAME = 60
MAX_QUERY = 160
MAX_QUOTE = 300  # of the verdict, a title or a snippet in the advice


_LANGUAGES: tuple[ResearchWords, ...] = tuple(language.RESEARCH for language in LANGUAGES)
_WORDS_OF = {tag: words for words in _LANGUAGES for tag in words.questions}


class Question(NamedTuple):
    """What to look up, as it is asked and as it is searched for."""

    kind: Kind
    text: str
    query: str


class Finding(NamedTuple):
    """One thing that a search found; `question` is its number, from 0."""

    question: int
    title: str
    address: str
    snippet: str


def language_of(verdict: str, topic: str, language: str) -> str:
    """Tell in which of "en", "zh-Hant" and "zh-Hans" a verdict is; where that is open, `language`, the agent's."""
    text = f"{verdict[:MAX_READ]}\n{topic}"
    script = words.script_of(text, least=1)
    if script == "han":
        return words.variant_of(text) or (language if language != "en" else "zh-Hant")
    return "en" if script == "latin" else language


def questions(verdict: str, topic: str = "", *, language: str = "en") -> tuple[Question, Question, Question]:
    """Ask how to do what the verdict wants done, where to find the latest on what it names, how to check its figures.

    `language` is as `language_of` gives it. Where the verdict wants nothing done, or counts on nothing, the first step
    and the risks of its subject are asked for instead. The same verdict and topic give the same questions.
    """
    text, form = verdict[:MAX_READ], _WORDS_OF[language].questions[language]
    topic = _line(topic)[:MAX_NAME]
    named = next(_names(text), "")
    if named.casefold() in topic.casefold():
        named = topic  # which says more of it: not any ETF, but 0050 ETF
    subject = named or next(iter(subjects.phrases(text).values()), "") or _line(text)[:MAX_NAME]
    need, figure = next(_needs(text, language), ""), next(_figures(text), "")
    first = _with(need, topic)
    if need:
        do = Question("do", form["do"].format(need=need), first)
    else:
        asked = form["do-first"].format(subject=subject)
        do = Question("do", asked, form["how-to"].format(words=_with(subject, topic)))
    find = Question("find", form["find"].format(subject=subject), form["latest"].format(words=_with(subject, topic)))
    if figure:
        check = Question("check", form["check"].format(figure=figure), _with(figure, topic))
    else:
        asked = form["check-risk"].format(subject=subject)
        check = Question("check", asked, form["risk"].format(words=_with(subject, topic)))
    asked_for = (do, find, check)
    return tuple(each._replace(query=each.query[:MAX_QUERY]) for each in asked_for)  # type: ignore[return-value]  # of three


def _with(query: str, topic: str) -> str:
    """Add the topic to a query, unless one of them holds the other."""
    if query.casefold() in topic.casefold():
        return topic
    return query if topic.casefold() in query.casefold() else f"{query} {topic}"


def _line(text: str) -> str:
    return " ".join(text.split())


# -- reading a verdict -------------------------------------------------------------------------------------------

_READ = {
    tag: tuple(re.compile(either((expression,))) for expression in (words.need, words.do, words.ends))
    for tag, words in _WORDS_OF.items()
}
_DO = re.compile(either(words.do for words in _LANGUAGES))
_UNITS = rf"%|{either(words.units for words in _LANGUAGES)}|ms\b|[kmgt]b\b|km\b"
_FIGURE = re.compile(
    rf"(?:[$€£¥]\s?\d[\d,]*(?:\.\d+)?|(?<![A-Za-z0-9.])\d[\d,]{{0,30}}+(?:\.\d+)?\s?(?:{_UNITS}))", re.IGNORECASE
)
_NO_NAME = frozenset(word for words in _LANGUAGES for word in words.no_name)
_QUOTED = re.compile(
    r"“([^“”\n]{2,60})”|\"([^\"\n]{2,60})\"|「([^「」\n]{2,60})」|『([^『』\n]{2,60})』|《([^《》\n]{2,60})》"
)
_CAPITALS = re.compile(r"\b[A-Z][\w&'-]*(?: (?:of |for |and )?[A-Z0-9][\w&'-]*)*")


def _needs(text: str, language: str) -> Iterator[str]:
    """Give what the verdict wants done, in its words, without who is to do it."""
    wanted, do, ends = _READ[language]
    folded = words.fold_signs(text)
    for start, end in words.sentences(folded):
        sentence = folded[start:end]
        match = wanted.search(sentence) or do.match(sentence)
        if match is None:
            continue
        stop = ends.search(sentence, match.end())
        need = _line(text[start + match.end() : start + (stop.start() if stop else len(sentence))])
        if match.re is do and need:
            need = need[0].lower() + need[1:]
        if len(need) >= _WORDS_OF[language].shortest:
            yield need[:MAX_NEED].strip()


def _names(text: str) -> Iterator[str]:
    """Give what the verdict names: what stands in quotation marks, then what is written with capitals."""
    for groups in _QUOTED.findall(text):
        yield _line("".join(groups))
    sentences = {start + len(text[start:end]) - len(text[start:end].lstrip()) for start, end in words.sentences(text)}
    for match in _CAPITALS.finditer(text):
        name = match[0]
        is_first = match.start() in sentences
        several = " " in name
        if is_first and not (name.isupper() and len(name) > 1):
            # A capital there says nothing; what follows it may be a name.
            head, _, name = name.partition(" ")
            if several and head.casefold() not in _NO_NAME and not _DO.match(head.casefold()):
                name = f"{head} {name}"
        if len(name) > 1 and name.casefold() not in _NO_NAME:
            yield name[:MAX_NAME]


def _figures(text: str) -> Iterator[str]:
    """Give the clauses that hold a number with its unit."""
    for match in _FIGURE.finditer(words.fold_signs(text)):
        start, end = words.clause(text, match.span())
        yield _line(text[start:end])[:MAX_NEED]


# -- the advice --------------------------------------------------------------------------------------------------


def advice(
    verdict: str, asked: Sequence[Question], found: Iterable[Finding], *, language: str, has_search: bool = True
) -> str:
    """Put the questions and what was found for each together as Markdown.

    Whatever the verdict or a search said is quoted line by line with "> ", so that none of it can pass for advice of
    its own; sources are named with their addresses.
    """
    form: Mapping[str, str] = _WORDS_OF[language].advice[language]
    lines = [form["title"], "", form["note"], "", _quote(verdict)]
    by_question: dict[int, list[Finding]] = {}
    for each in found:
        by_question.setdefault(each.question, []).append(each)
    for number, question in enumerate(asked):
        lines += ["", form[question.kind].format(n=number + 1), "", _quote(question.text)]
        for place, each in enumerate(by_question.get(number, ()), 1):
            quoted = [_quote(part) for part in (each.title, each.snippet) if part]
            lines += ["", form["source"].format(n=place), "", *quoted, f"> <{each.address}>"]
        if has_search and number not in by_question:
            lines += ["", form["nothing"]]
    if not has_search:
        lines += ["", form["no-search"]]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    line = _line(text)
    return f"> {line if len(line) <= MAX_QUOTE else line[: MAX_QUOTE - 1] + '…'}"


# -- what a search answers ---------------------------------------------------------------------------------------

MOST_FOUND = 5  # of each question
MAX_TITLE = 200
MAX_SNIPPET = 400
MAX_ADDRESS = 500
_TAG = re.compile(r"<[^<>]{0,200}>")
_ADDRESS = re.compile(r"https?://[\w.:\[\]-]+(?:[/?#][^\s<>\"`{}|\\^\x00-\x20\x7f-\uffff]*)?", re.ASCII)


def findings(question: int, answer: Any) -> list[Finding]:
    """Read SearXNG's JSON ("results", each with "title", "url", "content"); raises ValueError when it is none.

    Only addresses of the web in plain ASCII are kept; texts are cut and lose their tags and line breaks.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise ValueError("no results")
    found: dict[str, Finding] = {}
    for each in results:
        address = each.get("url") if isinstance(each, dict) else None
        if not isinstance(address, str) or len(address) > MAX_ADDRESS or not _ADDRESS.fullmatch(address):
            continue
        title, snippet = (_plain(each.get(name)) for name in ("title", "content"))
        found.setdefault(address, Finding(question, title[:MAX_TITLE], address, snippet[:MAX_SNIPPET]))
        if len(found) == MOST_FOUND:
            break
    return list(found.values())


def _plain(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    # Neither database takes NUL or half of a surrogate pair.
    whole = text.replace("\0", "").encode("utf-8", "ignore").decode()
    return _line(_TAG.sub("", whole))
