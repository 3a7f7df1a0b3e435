"""Claims of being done in a step in which something failed: "fixed", while two tests fail."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, NamedTuple, Self

from ..lexicon import LANGUAGES, either
from ..lexicon.shapes import CompletionWords
from ..text import words
from ..text.spans import Place
from ..text.speech import own_words
from ..text.utterance import MAX_READ

MAX_COMMAND = 80  # characters of a command that are told
MAX_CLAIMS = 256
_REACH = 300  # characters of its sentence that are read before a claim, and of what follows it


class _Words(NamedTuple):
    """Those of one language, see CompletionWords."""

    done: re.Pattern[str]
    stated: re.Pattern[str]
    taken_back: re.Pattern[str]
    condition: re.Pattern[str]
    fails: re.Pattern[str]
    still_fails: re.Pattern[str]

    @classmethod
    def of(cls, said: CompletionWords) -> Self:
        said = said._replace(stated=rf"(?:{said.stated})\Z")
        return cls(*(re.compile(either((expression,))) for expression in said))


_LANGUAGES = tuple(_Words.of(language.COMPLETION) for language in LANGUAGES)


def failing_in(body: Mapping[str, Any]) -> str:
    """Say what failed in the step of a valid body, "2 tests fail" or "the command failed: pytest -x"; "" where nothing.

    The command is given on one line, up to 80 characters of it.
    """
    tests = body.get("tests")
    failed = tests["failed"] if tests else 0
    if not failed and not body.get("command_failed"):
        return ""
    said = [f"{failed} test{' fails' if failed == 1 else 's fail'}"] if failed else []
    if body.get("command_failed"):
        command = " ".join((body.get("command") or "")[:1000].split())
        command = command if len(command) <= MAX_COMMAND else f"{command[: MAX_COMMAND - 1]}…"
        said.append(f"the command failed: {command}" if command else "the command failed")
    return " and ".join(said)


def claims_to_be_done(text: str) -> list[Place]:
    """Find where a text says that something is done, here and now, and does not say that something fails.

    Code, tags and quotations are left out, and what is denied, supposed, asked or only planned.
    """
    folded = words.fold_signs(own_words(words.prose(text[:MAX_READ])))
    if any(say.still_fails.search(folded) for say in _LANGUAGES):
        return []
    claims = (
        match.span()
        for say in _LANGUAGES
        for match in islice(say.done.finditer(folded), MAX_CLAIMS)
        if _is_claimed(folded, match.span(), say)
    )
    return sorted(claims)


def _is_claimed(folded: str, place: Place, say: _Words) -> bool:
    start, _ = words.clause(folded, place)
    before = folded[start : place[0]]
    if not say.stated.search(before) or say.taken_back.search(before):
        return False
    first = max(0, place[0] - _REACH)
    begins = max((end.end() for end in words.SENTENCE_END.finditer(folded, first, place[0])), default=first)
    if say.condition.search(folded, begins, place[0]):
        return False
    ends = _end(folded, place[1])
    return not folded.startswith("?", ends) and not say.fails.search(folded, place[1], _end(folded, ends + 1))


def _end(folded: str, at: int) -> int:
    """Give where the sentence ends that goes on at a place."""
    found = words.SENTENCE_END.search(folded, at, at + _REACH)
    return found.start() if found else min(at + _REACH, len(folded))
