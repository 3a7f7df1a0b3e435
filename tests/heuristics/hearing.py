"""What each subject hears in a text, and how agents are spoken to: the same questions for every language."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from metacog.heuristics import Item, Scorer
from metacog.heuristics.contradiction.contradictions import contradicts
from metacog.heuristics.contradiction.corrections import find_correction
from metacog.heuristics.hesitation.completion import claims_to_be_done
from metacog.heuristics.memory.extension import judge
from metacog.heuristics.memory.recall import needed
from metacog.heuristics.memory.reflection import Turn, reflect
from metacog.heuristics.memory.research import advice, questions
from metacog.heuristics.memory.subjects import phrases
from metacog.heuristics.policy.quality_settings import QualitySettings
from metacog.heuristics.quality.confidence import estimate
from metacog.heuristics.quality.quality import assess
from metacog.heuristics.stuck.brief import brief, constraints
from metacog.heuristics.stuck.fingerprints import normalise_error, normalise_output
from metacog.heuristics.stuck.stuck import Stuck, advance, asks_to_think_twice
from metacog.heuristics.text.words import fold_signs
from metacog.heuristics.text.words import questions as questions_in

AWARE = Scorer(profile="aware", policy={"weights": {"no-hedge": 15}})
LONG = "(…) " * 100
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ABSENT = ("problem", "approach", "command", "command_output", "command_failed", "outcome", "context_used", "tests")
BODY: dict[str, Any] = {**dict.fromkeys((*_ABSENT, "last_commit_at")), "user_message": "", "errors": []}


def _hesitates(kind: str, response: str, *chats: str) -> bool:
    signals = AWARE.hesitate(response, [Item("chat", chat) for chat in chats]).signals
    return kind in [signal.type for signal in signals]


def _stuck(response: str, language: str = "en") -> Stuck:
    return advance(None, {**BODY, "response": response}, now=NOW, profile="aware", language=language)[0]


def _says_it_is_stuck(kind: str) -> Callable[[str], bool]:
    return lambda text: kind in [signal.type for signal in _stuck(text).signals]


def _contradicts(kind: str) -> Callable[[str], bool]:
    def hears(text: str) -> bool:
        found = contradicts(*text.split(" / "))
        return found is not None and found.kind == kind

    return hears


def _objects(kind: str) -> Callable[[str], bool]:
    return lambda text: kind in [objection.type for objection in judge(text, ()).objections]


def _leaves_open(text: str) -> bool:
    message, response = text.split(" / ")
    quality = assess(response, user_message=message, language=None, settings=QualitySettings())
    return "question-unanswered" in [flag.flag for flag in quality.flags]


# By subject, whether it is heard in a text; " / " parts two that contradict, and a message from its response.
HEARS: dict[str, Callable[[str], bool]] = {
    "a claim": lambda text: _hesitates("absolute-claim", text),
    "what is done": lambda text: bool(claims_to_be_done(text)),
    "a hedge": lambda text: not _hesitates("no-hedge", "", LONG + text),
    "exhaustion": _says_it_is_stuck("exhaustion"),
    "uncertainty": _says_it_is_stuck("uncertainty"),
    "scope creep": _says_it_is_stuck("scope-creep"),
    "to think twice": asks_to_think_twice,
    "a code": lambda text: "137" in normalise_error(text),
    "a duration": lambda text: "<time>" in normalise_output(text),
    "a correction": lambda text: find_correction(text) is not None,
    "a concession": lambda text: find_correction("…", reply=text) is not None,
    "a negation": _contradicts("negation"),
    "an opposite": _contradicts("antonym"),
    "another number": _contradicts("number"),
    "another value": _contradicts("value"),
    "a retraction": _contradicts("retraction"),
    "filler": _objects("filler"),
    "no need": _objects("not-concrete"),
    "only asking": lambda text: not needed(text),
    "no subject": lambda text: not phrases(text),
    "a figure": lambda text: "500" in questions(text, "X")[2].text,
    "a constraint": lambda text: bool(constraints([text])),
    "a question": lambda text: bool(questions_in(fold_signs(text))),
    "two questions": lambda text: len(questions_in(fold_signs(text))) == 2,
    "a question left open": _leaves_open,
}


def _marked(language: str) -> str:
    policy = {"language": language, "threshold": 20, "parts": {"quality": False}}
    body = {"response": "Clearly.", "items": [{"kind": "task", "text": "X."}]}
    return str(Scorer(policy=policy).score(body)["items"][0]["text"])


def _lesson(language: str) -> str:
    turns = [Turn(str(number), topics=("X",), unanswered=True) for number in range(3)]
    return reflect(turns, language=language).proposals[0].text(3)


def _confidence(language: str) -> str:
    estimated = estimate(retrieval={"facts": 99}, turns=99, language=language)
    return estimated.prompt if estimated else ""


# By what is said, a line of it in a language of agents.
SAYS: dict[str, Callable[[str], str]] = {
    "a mark": _marked,
    "a prompt": lambda language: _stuck("I am out of ideas. I don't know why. Let's start over!", language).prompt,
    "a brief": lambda language: brief({}, language=language).splitlines()[0],
    "confidence": _confidence,
    "a lesson": _lesson,
    "what to look up": lambda language: questions("Ni devu kompari prezojn.", language=language)[0].text,
    "a doubtful beginning": lambda language: str(
        assess(
            "It is on the left. " * 20,
            user_message=None,
            recent=["It is on the left. " * 20],
            language=language,  # type: ignore[arg-type]  # a third one
            settings=QualitySettings(low_at=0),
        ).hedge_prefix
    ),
    "advice": lambda language: advice("…", (), (), language=language).splitlines()[0],
}
