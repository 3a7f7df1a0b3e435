"""Write the brief for a fresh sub-agent: what is recorded of a problem, in no other voice (seed 002)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from .lexicon import LANGUAGES, together
from .lexicon.shapes import BriefWords

MAX_BRIEF = 8_000  # code points
MAX_QUOTE = 600  # of one text
MAX_READ = 20_000  # of one message
MAX_LISTED = 20  # texts in a section other than the attempts

_WORDS: BriefWords = together(language.BRIEF for language in LANGUAGES)


def brief(facts: Mapping[str, Any], *, language: str = "en", limit: int = MAX_BRIEF) -> str:
    """Assemble the Markdown brief, `limit` code points long at most where the attempts can make room for the rest.

    `facts` holds, each where it is known: "problem" (a text), "signs" (texts, as `stuck.signs` gives them), "user"
    (what the user said, oldest first), "attempts" (oldest first, each {"approach", "command", "outcome", "failed",
    "errors"}), "known" and "constraints" (texts). Everything that somebody wrote is quoted line by line with "> ",
    cut at 600 code points a text, so that none of it can pose as the brief's own words. Where it grows too long the
    oldest attempts are left out, and the brief says how many. The same facts give the same brief.
    """
    say = _WORDS.wordings[language]
    head = [say["title"], "", say["note"], "", say["problem"], "", *_quote(facts.get("problem") or "", say)]
    head += _section(say["signs"], facts.get("signs") or (), say)
    head += _section(say["asked"], facts.get("user") or (), say)
    tail = _section(say["known"], facts.get("known") or (), say)
    tail += _section(say["constraints"], facts.get("constraints") or (), say)
    tail += ["", say["task"], "", say["ask"]]
    attempts = list(_attempts(facts.get("attempts") or (), say))
    room = limit - _length(head) - _length(tail) - _length([say["attempts"], say["dropped"], "", "", ""])
    kept = len(attempts)
    for _count, lines in reversed(attempts):
        room -= _length(lines)
        if room < 0:
            break
        kept -= 1
    tried = ["", say["attempts"]]
    if kept:
        tried += ["", say["dropped"].format(count=sum(count for count, _lines in attempts[:kept]))]
    for _count, lines in attempts[kept:]:
        tried += lines
    if not attempts:
        tried += ["", say["nothing"]]
    return "\n".join([*head, *tried, *tail]) + "\n"


_BINDS = re.compile(_WORDS.binds, re.IGNORECASE)
# A dot within a word ends no sentence: "Django 5.2", "settings.py".
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?![\s.!?。！？]|\Z))+[.!?。！？]*")


def constraints(messages: Iterable[str]) -> list[str]:
    """Give the sentences of the user's messages that bind: what must be, may not be, or is the limit."""
    said = (match[0].strip() for text in messages for match in _SENTENCE.finditer(text[:MAX_READ]))
    return list(dict.fromkeys(sentence for sentence in said if _BINDS.search(sentence)))[-MAX_LISTED:]


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _quote(text: str, say: Mapping[str, str], indent: str = "") -> list[str]:
    # splitlines also ends a line at U+2028 and the like, which some readers take for a break.
    lines = [f"{indent}> {line}".rstrip() for line in text.strip()[:MAX_QUOTE].splitlines()] or [f"{indent}>"]
    if len(text.strip()) > MAX_QUOTE:
        lines.append(f"{indent}> {say['cut']}")
    return lines


def _section(title: str, texts: Iterable[str], say: Mapping[str, str]) -> list[str]:
    """List texts under a title, the latest 20; nothing where there are none."""
    quoted = [line for text in list(texts)[-MAX_LISTED:] for line in ("", *_quote(text, say))]
    return ["", title, *quoted] if quoted else []


def _attempts(attempts: Iterable[Mapping[str, Any]], say: Mapping[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Give how many attempts, and the lines for them: what was done again just so stands there once."""
    told = ((_outcome(attempt, say), _attempt(attempt, say)) for attempt in attempts)
    for number, ((outcome, lines), same) in enumerate(groupby(told), 1):
        count = len(list(same))
        head = say["again" if count > 1 else "attempt"].format(n=number, outcome=outcome, count=count)
        yield count, ["", head, *lines]


def _outcome(attempt: Mapping[str, Any], say: Mapping[str, str]) -> str:
    outcome = attempt.get("outcome")
    if outcome is None and attempt.get("failed") is not None:
        outcome = "failed" if attempt["failed"] else "resolved"
    return say[outcome or "unknown"]


def _attempt(attempt: Mapping[str, Any], say: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    parts = [(name, attempt.get(name)) for name in ("approach", "command")]
    parts += [("errors", error) for error in attempt.get("errors") or ()]
    for name, text in parts:
        if text:
            lines += ["", f"   {say[name]}:", "", *_quote(text, say, "   ")]
    return lines
