"""Notice when the work on one problem goes in circles, and ask before anyone thinks twice (seed 002)."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from ..lexicon import LANGUAGES, either, lazy, machines, seed, together
from ..lexicon.shapes import StuckWords
from ..policy.stuck_settings import SETTINGS, WEIGHTS, StuckSettings
from ..text.matcher import automaton_of
from ..text.spans import Place, Span, SpanPart
from ..text.speech import find_phrases, own_words, persons_words
from ..text.words import clause, lowered
from ..wire.assessment import StuckPart, StuckSignalPart
from ..wire.wire import instant
from .fingerprints import digest, normalise_output, normalised_errors, passages, prints, squeeze

KEYWORD_SIGNALS = ("exhaustion", "uncertainty", "scope-creep")
# What the wire says of each signal, the contract's "same error 3 times".
DETAILS = {
    "repeated-approach": "same approach {count} times",
    "repeated-command": "same command {count} times",
    "circular-reasoning": "repeats a passage of failed step {step}",
    "error-loop": "same error {count} times",
    "exhaustion": 'says "{words}"',
    "uncertainty": 'says "{words}"',
    "scope-creep": 'says "{words}"',
    "stale-context": "{percent}% of the context window in use",
    "no-commits": "no commit in {minutes} minutes of work",
    "test-regression": "{passed} tests pass, {best} did",
}
_LANGUAGES: tuple[StuckWords, ...] = tuple(language.STUCK for language in LANGUAGES)
_WORDS = together(_LANGUAGES)

# Everything the state keeps is cut and counted, so that it stays under 16 KB as JSON in UTF-8.
MAX_KEPT = 16  # different errors, and different approaches: the latest
MAX_PASSAGES = 5  # failed steps whose text is remembered
MAX_PRINTS = 48  # of each
MAX_ATTEMPTS = 8
MAX_INVOCATIONS = 16
MAX_TEXT = 120  # bytes

MAX_COMMAND = 2_048  # code points of a command that are looked at for what it waits for
MAX_ASKED = 64  # times that a message speaks of thinking twice
PAUSE_SECONDS = 900  # a longer silence is no active work
LONG_PASSAGE_TOKENS = 24

State = dict[str, Any]  # JSON, as a problem's row keeps it


class StuckSignal(NamedTuple):
    """One sign; it counts once until the problem is solved. `evidence` is JSON, and names the step it is from."""

    type: str
    weight: int
    detail: str
    evidence: Mapping[str, Any]

    def as_dict(self) -> StuckSignalPart:
        return {"type": self.type, "weight": self.weight, "detail": self.detail, "evidence": dict(self.evidence)}


class Stuck(NamedTuple):
    """How stuck the work on a problem looks, in points, and whether to ask about it."""

    problem: str
    points: int
    threshold: int
    suggest: bool  # ask the user
    invoke: bool  # a person has said yes
    prompt: str  # "" unless `suggest`
    signals: tuple[StuckSignal, ...]

    def as_dict(self) -> StuckPart:
        """Give the contract's shape."""
        return {
            "problem": self.problem,
            "points": self.points,
            "threshold": self.threshold,
            "suggest": self.suggest,
            "invoke": self.invoke,
            "prompt": self.prompt,
            "signals": [signal.as_dict() for signal in self.signals],
        }


class _Step(NamedTuple):
    """What the signals look at: one response, and what was known before it."""

    number: int
    body: Mapping[str, Any]
    failed: bool | None  # None: nothing says so
    known: State
    is_aware: bool
    settings: StuckSettings
    now: datetime
    heard: frozenset[str]  # signals of which a keyword stands in the response, folded


class _Sign(NamedTuple):
    """A signal that spoke: what fills its sentences, and what it saw."""

    type: str
    values: Mapping[str, Any]
    evidence: Mapping[str, Any]


def fresh(problem: str | None = None) -> State:
    """Give the state of a problem about which nothing is known."""
    return {
        "problem": problem or "",
        "step": 0,
        "at": None,
        "errors": [],
        "approaches": [],
        "passages": [],
        "attempts": [],
        "tests": None,
        "commit": None,
        "paused": 0,
        "signals": {},
        "answered_at": 0,
        "invoke": False,
        "invocations": [],
        "low": False,  # the quality of the last response was, see parts
    }


# What there is in a state beside the count of steps; and what the signals and the state go by, beside what is said.
_notable = itemgetter(
    "errors", "approaches", "passages", "attempts", "signals", "invocations", "tests", "commit", "low"
)
_telling = itemgetter(
    "approach", "command", "errors", "command_failed", "outcome", "context_used", "tests", "last_commit_at"
)


def is_notable(state: Mapping[str, Any]) -> bool:
    """Tell whether there is anything in a state but the count of steps."""
    return any(_notable(state))


def advance(
    state: Mapping[str, Any] | None,
    body: Mapping[str, Any],
    *,
    now: datetime,
    profile: str,
    language: str,
    settings: StuckSettings | None = None,
    source: str | None = None,
) -> tuple[Stuck, State]:
    """Take one response into account; give how stuck the work looks, and the state for the next response.

    `state` is what the call before gave for the same agent, session and problem (None: the first), `body` a checked
    body with every field present, `language` that of the prompt. The state is JSON, under 16 KB; the one passed in
    stays as it is. Spans are code points of the response of the step that the evidence names. Without `settings`
    the profile's own are used. `source` is what the caller calls this response: the evidence names it too.
    """
    settings = settings or SETTINGS[profile]
    heard = _heard(body["response"])
    is_asked = bool(body["user_message"]) and asks_to_think_twice(body["user_message"])
    known: State = dict(state) if state else fresh(body["problem"])
    if not (state or heard or is_asked or any(_telling(body))):  # as of most responses
        known.update(step=1, at=now.isoformat())
        return Stuck(known["problem"], 0, settings.threshold, False, False, "", ()), known
    step = _Step(known["step"] + 1, body, _failed(body), known, profile == "aware", settings, now, heard)
    known.update(step=step.number, **_commits(step))
    signs = [sign for look in _SIGNALS if (sign := look(step))]
    if signs:
        known["signals"] = {**known["signals"], **{sign.type: _kept(sign, step.number, source) for sign in signs}}
    known.update(at=now.isoformat(), passages=_passages(step), attempts=_attempts(step), tests=_best_tests(step))
    if body["outcome"] == "resolved":
        known = resolve(known)
    if is_asked:
        known = answer(known, "yes", settings=settings, by="user")
    stuck = assess(known, language=language, settings=settings)
    known["invoke"] = False  # is told once
    return stuck, known


def assess(state: Mapping[str, Any], *, language: str, settings: StuckSettings) -> Stuck:
    """Say how stuck the work looks as things stand, in the prompt's language."""
    spoken = state["signals"]
    signals = tuple(
        [
            StuckSignal(
                name,
                settings.weights[name],
                DETAILS[_wording(name, spoken[name])].format(**spoken[name]["values"]),
                spoken[name]["evidence"],
            )
            for name in WEIGHTS
            if name in spoken
        ]
    )
    points = sum([signal.weight for signal in signals])
    suggest = points >= settings.threshold and points > state["answered_at"] and not state["invoke"]
    prompt = ""
    if suggest:
        listed = "\n".join(f"- {sign}" for sign in signs(state, language))
        prompt = _WORDS.prompts[language].format(signals=listed)
    return Stuck(state["problem"], points, settings.threshold, suggest, state["invoke"], prompt, signals)


def signs(state: Mapping[str, Any], language: str) -> list[str]:
    """Say for people what speaks for being stuck, a sentence for each signal."""
    labels, spoken = _WORDS.labels[language], state["signals"]
    return [labels[_wording(name, spoken[name])].format(**spoken[name]["values"]) for name in WEIGHTS if name in spoken]


def _wording(name: str, sign: Mapping[str, Any]) -> str:
    """Say under which name the words for a sign stand: what was repeated may have been a command."""
    return "repeated-command" if name == "repeated-approach" and "commands" in sign["evidence"] else name


# -- what people answer ------------------------------------------------------------------------------------------


def answer(
    state: Mapping[str, Any],
    said: Literal["yes", "no"],
    *,
    settings: StuckSettings,
    by: Literal["person", "user"] = "person",
) -> State:
    """Record what a person answered; either way it stays quiet until new points come.

    A yes is told to the agent once, as `invoke` in the next verdict. ValueError unless it is "yes" or "no".
    """
    if said not in ("yes", "no"):
        raise ValueError(f'the answer must be "yes" or "no", not {said!r}')
    points = sum(settings.weights[name] for name in state["signals"])
    answered = {**state, "answered_at": points}
    if said == "yes":
        invocation = {"points": points, "by": by, "step": state["step"], "outcome": None}
        answered["invoke"] = True
        answered["invocations"] = [*state["invocations"], invocation][-MAX_INVOCATIONS:]
    return answered


def outcome(state: Mapping[str, Any], became: Literal["helped", "did-not-help"]) -> State:
    """Record what became of the last invocation. ValueError when there was none, or for any other word."""
    if became not in ("helped", "did-not-help"):
        raise ValueError(f'the outcome must be "helped" or "did-not-help", not {became!r}')
    if not state["invocations"]:
        raise ValueError("nobody has said yes to thinking twice about this problem")
    *before, last = state["invocations"]
    return {**state, "invoke": False, "invocations": [*before, {**last, "outcome": became}]}


def resolve(state: Mapping[str, Any]) -> State:
    """Start counting anew, as after a success; only the invocations are kept."""
    return {**fresh(state["problem"]), "invocations": list(state["invocations"])}


_EMOJI = "[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]"
_LEADS = rf"(?:{_EMOJI}|{_WORDS.leads}|@[\w.-]+|#|/|\*+)\s*"
_TAILS = rf"(?:{_EMOJI}|{_WORDS.tails}|\*+)\s*"
_THINK_TWICE = lazy.compile(_WORDS.think_twice)
_ASKED = lazy.compile(rf"[\s*_]*(?:[-–•+]\s+)?(?:{_LEADS})*+(?:{_WORDS.think_twice})\s*(?:{_TAILS})*+")
_NOT_ASKED = lazy.compile(_WORDS.not_asked)
_MENTIONED = lazy.compile(rf"(?:{_WORDS.mentioned})[^\n。.!?！？]{{0,24}}[:：]\s*\Z")
_DASH = lazy.compile(r"(?<=[^\S\n])(?:-{1,3}|–)(?=[^\S\n])")  # parts clauses, as no hyphen does


def asks_to_think_twice(user_message: str) -> bool:
    """Tell whether the user asks for it: a clause of its own, not quoted, not in code, no tool's output, not negated.

    "think twice before …" and 三思而後行 are advice for later, 我再想想 is about the user: none of them asks.
    """
    folded = lowered(user_message)
    if not any(map(folded.__contains__, _WORDS.in_think_twice)):  # spares the search
        return False
    text = _DASH.sub(";", persons_words(folded))
    return any(_asks(text, match.span()) for match in islice(_THINK_TWICE.finditer(text), MAX_ASKED))


def _asks(text: str, place: Place) -> bool:
    start, end = clause(text, place)
    if text[place[0]] > "\u3000":  # Chinese also ends a clause with a blank
        start = max(start, *(text.rfind(blank, start, place[0]) + 1 for blank in " \t\u3000"))
    said = text[start:end]
    if not _ASKED.fullmatch(said) or _NOT_ASKED.search(said):
        return False
    return not _MENTIONED.search(text, max(0, start - 48), start)


# -- the signals -------------------------------------------------------------------------------------------------


def _failed(body: Mapping[str, Any]) -> bool | None:
    if body["outcome"] == "failed":
        return True
    if body["command_failed"] is not None:
        return bool(body["command_failed"])
    return True if body["errors"] else None


_WAITS = lazy.compile(machines.WAITS, re.IGNORECASE | re.MULTILINE)
_RUNS_TESTS = lazy.compile(machines.RUNS_TESTS, re.IGNORECASE)


def _repeated_approach(step: _Step) -> _Sign | None:
    """The same approach, or else command, three times; `aware` wants the same output, or an approach that fails.

    There, what is known to have worked counts in a row only: later on it is a re-test, or a file read again. Nor are
    tests that all pass a loop, however often they are run, nor is waiting.
    """
    approach, command, output = step.body["approach"], step.body["command"], step.body["command_output"]
    if not (approach or command) or (step.is_aware and command and _WAITS.search(command, 0, MAX_COMMAND)):
        return None
    if not step.is_aware:
        tried, kind = (approach, "approaches") if approach else (command, "commands")
        signatures = [(tried, squeeze(tried), kind)]
    else:
        signatures = []
        tests = step.body["tests"]
        if tests is not None:
            passes = step.failed is False and tests["passed"] and not tests["failed"]
        else:
            passes = step.failed is False and command and _RUNS_TESTS.search(command, 0, MAX_COMMAND)
        if command and output is not None and (output.strip() or step.failed) and not passes:
            signatures.append((command, f"{squeeze(command)}\0{normalise_output(output)}", "commands"))
        if approach and (step.failed or (step.failed is None and not command)):
            signatures.append((approach, squeeze(approach).rstrip(".。!！;；…"), "approaches"))
    return _loops("repeated-approach", "approaches", signatures, step, in_a_row=step.is_aware and step.failed is False)


def _error_loop(step: _Step) -> _Sign | None:
    """The same error in three steps; `aware` counts failed steps only, and errors that differ in numbers as one."""
    errors = step.body["errors"]
    if not errors or (step.is_aware and step.body["command_failed"] is False):
        return None
    signatures = normalised_errors(errors) if step.is_aware else [(error, error.strip()) for error in errors]
    return _loops("error-loop", "errors", [(*each, "errors") for each in signatures], step)


def _loops(
    name: str, where: str, signatures: Iterable[tuple[str, str, str]], step: _Step, *, in_a_row: bool = False
) -> _Sign | None:
    """Count each signature once in this step, keep the latest, and speak of the one that came most often.

    Each comes with its text, and with what that is called in the evidence.
    """
    here = {digest(signature): (text, kind) for text, signature, kind in signatures if signature}
    if not here:
        return None
    seen = {entry["key"]: entry for entry in step.known[where]}
    for key, (text, _) in here.items():
        entry = seen.pop(key, {"key": key, "count": 0, "steps": [], "text": _clip(text)})
        if in_a_row and entry["steps"] and entry["steps"][-1] != step.number - 1:
            entry = {**entry, "count": 0, "steps": []}
        seen[key] = {**entry, "count": entry["count"] + 1, "steps": [*entry["steps"], step.number][-5:]}
    step.known[where] = list(seen.values())[-MAX_KEPT:]
    loop = max((seen[key] for key in here), key=lambda entry: entry["count"])
    if loop["count"] < step.settings.repeats:
        return None
    _, kind = here[loop["key"]]
    return _Sign(name, {"count": loop["count"]}, {kind: [loop["text"]], "count": loop["count"], "steps": loop["steps"]})


def _circular_reasoning(step: _Step) -> _Sign | None:
    """A long passage of what a failed step said comes again (in profile `seed` also of its code and output)."""
    if not step.known["passages"]:
        return None
    response = step.body["response"]
    text = own_words(response) if step.is_aware else response
    said = prints(text)
    best: tuple[int, Place, int] | None = None
    for earlier in step.known["passages"]:
        kept = set(earlier["prints"])
        for length, place in passages(text, [each for each in said if each.print in kept]):
            if length >= LONG_PASSAGE_TOKENS and (best is None or length > best[0]):
                best = length, place, earlier["step"]
    if not best:
        return None
    _, place, number = best
    return _Sign("circular-reasoning", {"step": number}, {"spans": [_span(response, place)], "repeats_step": number})


_SEED_KEYWORDS = {name: [phrase.lower() for phrase in seed.STUCK[name]] for name in KEYWORD_SIGNALS}


def _phrases(words: StuckWords) -> dict[str, tuple[str, ...]]:
    return dict(zip(KEYWORD_SIGNALS, (words.exhaustion, words.uncertainty, words.scope_creep), strict=True))


_AWARE_KEYWORDS = _phrases(_WORDS)
_SIGNAL_OF = {phrase: name for name in KEYWORD_SIGNALS for phrase in (*_SEED_KEYWORDS[name], *_AWARE_KEYWORDS[name])}
_KEYWORDS = list(_SIGNAL_OF)
_find_keywords = automaton_of([phrase.encode() for phrase in _KEYWORDS], 0).search
# Beyond ASCII, what folds into a letter or a sign of the keywords.
_FOLDED = (("’", "'"), ("\u0130", "i"), ("\u212a", "k"))
_NOTHING: frozenset[str] = frozenset()


def _heard(response: str) -> frozenset[str]:
    """Tell of which signals a keyword stands in a response, wherever that is: of most there is none."""
    folded = response
    if not response.isascii():
        for sign, plain in _FOLDED:
            folded = folded.replace(sign, plain)
    found = _find_keywords(folded.encode("utf-8", "surrogatepass").lower())
    return frozenset([_SIGNAL_OF[_KEYWORDS[number]] for _, _, number in found]) if found else _NOTHING


def _says(name: str) -> Callable[[_Step], _Sign | None]:
    def look(step: _Step) -> _Sign | None:
        """Keywords: anywhere in profile `seed`; in `aware` as words of one's own, said of here and now."""
        if name not in step.heard:
            return None
        response = step.body["response"]
        if step.is_aware:
            folded = own_words(lowered(response))
            places = [
                place
                for phrases, somebody_else in _SPOKEN
                for place in find_phrases(folded, phrases[name])
                if _is_meant(folded, place, name, somebody_else)
            ]
        else:
            folded = response.replace("İ", "_").lower()  # alone, it would become two and move all places behind it
            places = [(at, at + len(phrase)) for phrase in _SEED_KEYWORDS[name] if (at := folded.find(phrase)) >= 0]
        if not places:
            return None
        spans = [_span(response, place) for place in sorted(places)[:3]]
        return _Sign(name, {"words": spans[0]["text"]}, {"spans": spans})

    return look


# By language: its phrases, and what right before one says that it is somebody else's, or nobody's.
_SPOKEN = tuple((_phrases(words), lazy.compile(either((words.somebody, words.denied)))) for words in _LANGUAGES)
_SAID_BY = lazy.compile(rf"(?:{_WORDS.said_by})\s?[:：,，]?\s*\Z")
_OWN_BEFORE = lazy.compile(_WORDS.own_before)
_FOR_OTHERS = lazy.compile(_WORDS.for_others)
_NOT_CLAIMED, _GOES_ON = lazy.compile(_WORDS.not_claimed), lazy.compile(_WORDS.goes_on)
_SENTENCE_ENDS = lazy.compile(r"[.!?。！？\n]")


def _is_meant(folded: str, place: Place, name: str, somebody_else: re.Pattern[str]) -> bool:
    start, end = clause(folded, place)
    before, behind = folded[start : place[0]], folded[place[1] : end + 1]
    if find_phrases(before, _WORDS.not_meant_before, 1) or find_phrases(behind, _WORDS.not_meant_behind, 1):
        return False
    if somebody_else.search(before):
        return False
    if folded.startswith(_WORDS.idioms, *place) and (
        not _OWN_BEFORE.fullmatch(before) or behind.startswith(_WORDS.describing)
    ):
        return False
    if folded.startswith(_WORDS.matter, *place) and _FOR_OTHERS.match(folded, place[1]):
        return False
    if _NOT_CLAIMED.search(before) or _GOES_ON.match(folded, place[1]):
        return False
    if _SAID_BY.search(folded, max(0, place[0] - 48), place[0]):
        return False
    if folded.endswith(_WORDS.to_open_a_clause, *place) and before.strip() not in _WORDS.opens_a_clause:
        return False
    if name != "scope-creep":
        return True
    before = _SENTENCE_ENDS.split(folded[max(0, place[0] - 160) : place[0]])[-1]
    behind = _SENTENCE_ENDS.split(folded[place[1] : place[1] + 160])[0]
    return not (find_phrases(f"{before} {behind}", _WORDS.rationale, 1) or find_phrases(before, _WORDS.condition, 1))


def _stale_context(step: _Step) -> _Sign | None:
    """More than 80 % of the context window, and no resolution."""
    used = step.body["context_used"]
    if used is None or used <= step.settings.context_limit or step.body["outcome"] == "resolved":
        return None
    return _Sign("stale-context", {"percent": math.floor(used * 100)}, {"context_used": used})


def _no_commits(step: _Step) -> _Sign | None:
    """Active work since the last commit; unknown without `last_commit_at`."""
    if step.known["commit"] is None:
        return None
    seconds = (step.now - instant(step.known["commit"])).total_seconds() - step.known["paused"]
    if seconds < 60 * step.settings.idle_minutes:
        return None
    return _Sign("no-commits", {"minutes": int(seconds // 60)}, {"last_commit_at": step.known["commit"]})


def _commits(step: _Step) -> State:
    """Take in the last commit, and add to the pauses since then what is no work: a long silence, or nothing posted.

    Work is counted from one response to the next, so what lies between the commit and the response before this one,
    or this one where it is the first, was none.
    """
    commit = step.body["last_commit_at"] or step.known["commit"]
    if commit is None:
        return {}
    is_newer = step.known["commit"] is None or instant(commit) > instant(step.known["commit"])
    before = datetime.fromisoformat(step.known["at"]) if step.known["at"] else step.now
    paused = max(0, int((before - instant(commit)).total_seconds())) if is_newer else step.known["paused"]
    gap = int((step.now - max(before, instant(commit))).total_seconds())
    paused += gap if gap > PAUSE_SECONDS else 0
    return {"commit": commit if is_newer else step.known["commit"], "paused": paused}


def _test_regression(step: _Step) -> _Sign | None:
    """Fewer tests pass and more fail than at best; `aware` wants as many run as then."""
    tests, best = step.body["tests"], step.known["tests"]
    if not tests or not best or tests["passed"] >= best["passed"] or tests["failed"] <= best["failed"]:
        return None
    if step.is_aware and tests["passed"] + tests["failed"] < best["passed"] + best["failed"]:
        return None
    return _Sign("test-regression", {"passed": tests["passed"], "best": best["passed"]}, {"tests": tests, "best": best})


def _best_tests(step: _Step) -> State | None:
    tests: State | None = step.body["tests"]
    best: State | None = step.known["tests"]
    if tests and (not best or (tests["passed"], -tests["failed"]) > (best["passed"], -best["failed"])):
        return {**tests, "step": step.number}
    return best


_SIGNALS: tuple[Callable[[_Step], _Sign | None], ...] = (
    _repeated_approach,
    _circular_reasoning,
    _error_loop,
    *(_says(name) for name in KEYWORD_SIGNALS),
    _stale_context,
    _no_commits,
    _test_regression,
)


# -- what is kept ------------------------------------------------------------------------------------------------


def _clip(text: str) -> str:
    """Cut a text to MAX_TEXT bytes as JSON."""
    cut = text.strip()[:MAX_TEXT]
    while len(json.dumps(cut, ensure_ascii=False).encode()) > MAX_TEXT:
        cut = cut[: len(cut) * 7 // 8]
    return cut


def _span(text: str, place: Place) -> SpanPart:
    start, end = place
    said = text[start:end].strip()
    cut = _clip(said)
    return Span(start, end, cut if cut == said else f"{cut}…").as_dict()


def _kept(sign: _Sign, number: int, source: str | None) -> State:
    evidence = {**sign.evidence, "step": number}
    if source:
        evidence["response"] = source
    return {"values": dict(sign.values), "evidence": evidence}


def _passages(step: _Step) -> list[State]:
    """Remember what a failed step said: of its prints the 48 smallest, which are the same whatever stands around."""
    before: list[State] = step.known["passages"]
    if not step.failed:
        return before
    response = step.body["response"]
    texts = [own_words(response)] if step.is_aware else [response, step.body["command_output"] or ""]
    smallest = sorted({each.print for text in texts for each in prints(text)})[:MAX_PRINTS]
    return [*before, {"step": step.number, "prints": smallest}][-MAX_PASSAGES:] if smallest else before


def _attempts(step: _Step) -> list[State]:
    body = step.body
    before: list[State] = step.known["attempts"]
    if not (body["approach"] or body["command"] or body["errors"]):
        return before
    attempt = {
        "step": step.number,
        "approach": _clip(body["approach"] or ""),
        "command": _clip(body["command"] or ""),
        "failed": step.failed,
        "errors": [_clip(error) for error in (body["errors"] or ())[:1]],
    }
    return [*before, attempt][-MAX_ATTEMPTS:]
