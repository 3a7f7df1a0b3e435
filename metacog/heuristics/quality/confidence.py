"""How much is known about the subject of a response, before it is written (seed 004, "Confidence Estimation").

Nothing here looks at the response: what was retrieved, how familiar the topic is, whether the session goes on and
whether the identity covers the request are all there is to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..lexicon import LANGUAGES, together
from ..lexicon.shapes import ConfidenceWords
from ..wire.assessment import ConfidencePart

Level = Literal["high", "medium", "low"]

# Memory leads (seed 004, "ACT-R": retrieval scores are the primary input); the seed gives no numbers. An identity of
# which nothing is known is left out, and the rest weighs as much as before.
WEIGHTS = {"memory": 0.75, "session": 0.15, "identity": 0.1}
HIGH_FROM, MEDIUM_FROM = 0.7, 0.4
# What makes half of certainty: facts found, mentions of a topic, turns of a session.
_HALF_FACTS, _HALF_MENTIONS, _HALF_TURNS = 2, 3, 1
# What is said of memory beside each level, by what memory is by itself: a cold start leaves a good memory good. With
# the evidence the sentences rise: "high" is said alone before it is said with a good memory. A good memory is never
# beside "low": it alone makes "medium".
_SAID: Mapping[Level, Mapping[Level, str]] = {
    "high": {"high": "memory-high"},
    "medium": {"high": "memory-high", "medium": "memory-medium", "low": "memory-medium"},
    "low": {"medium": "memory-medium", "low": "memory-low"},
}
# Of the retrieval's best score and of the mean of its first three, of which those that it did not find are 0: a find
# more takes nothing away.
_BEST, _MEAN, _FIRST = 0.7, 0.3, 3

_WORDS: ConfidenceWords = together(language.CONFIDENCE for language in LANGUAGES)


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure the agent may be: `score` 0..1, two decimals."""

    level: Level  # high from 0.7, medium from 0.4
    score: float
    reason: str  # for people: what was known, and what it came to
    prompt: str  # for the agent, in its language

    def as_dict(self) -> ConfidencePart:
        """Give the contract's "confidence"."""
        return {"level": self.level, "score": self.score, "reason": self.reason, "prompt": self.prompt}


def estimate(
    *,
    retrieval: Mapping[str, Any] | None,
    topics: Sequence[str] = (),
    familiarity: Mapping[str, int] | None = None,
    turns: int = 0,
    language: str = "en",
) -> Confidence | None:
    """Estimate from what the agent sent and what is known of its topics; None where neither tells of any memory.

    `retrieval` is the contract's ("scores", "facts", "topic_mentions", "identity_covered", each may be missing or
    None). `familiarity` counts the mentions of a topic, in responses and in what the team remembers, and is asked where
    the agent sends no "topic_mentions"; `turns` are those of the session before this one, 0 where there is no session.
    `language` is "en", "zh-Hant" or "zh-Hans".
    """
    sent = retrieval or {}
    memory: list[float] = []
    reasons: list[str] = []

    scores, facts = sent.get("scores"), sent.get("facts")
    if scores is not None or facts is not None:
        memory.append(_retrieved(scores or (), facts or 0))
        found = [f"{len(scores)} score(s), best {max(scores, default=0):.2f}"] if scores is not None else []
        found += [f"{facts} fact(s)"] if facts is not None else []
        reasons.append(f"retrieval {memory[-1]:.2f} ({', '.join(found)})")

    mentions = sent.get("topic_mentions")
    if mentions is not None:
        memory.append(_saturate(mentions, _HALF_MENTIONS))
        reasons.append(f"familiarity {memory[-1]:.2f} ({mentions} mention(s))")
    elif topics and familiarity is not None:
        counts = [familiarity.get(topic, 0) for topic in topics]
        memory.append(sum(_saturate(count, _HALF_MENTIONS) for count in counts) / len(counts))
        said = ", ".join(f"{topic}: {count}" for topic, count in zip(topics, counts, strict=True))
        reasons.append(f"familiarity {memory[-1]:.2f} (mentions: {said})")

    if not memory:
        return None
    # What one of them does not tell of takes nothing from what the other does.
    parts = {"memory": max(memory), "session": _saturate(turns, _HALF_TURNS)}
    reasons.append(f"session {parts['session']:.2f} ({turns} turn(s) before)" if turns else "cold start")
    covered = sent.get("identity_covered")
    if covered is not None:
        parts["identity"] = float(covered)
        reasons.append("covered by the identity" if covered else "not covered by the identity")

    score = _weigh(parts)
    level = _level(score)
    say = _WORDS.wordings[language]
    prompt = say["level"].format(level=say[level])
    if of_memory := _SAID[level].get(_level(round(parts["memory"], 2))):
        prompt += say[of_memory]
    return Confidence(level, score, "; ".join(reasons), prompt.rstrip())


def _retrieved(scores: Sequence[float], facts: int) -> float:
    known = _saturate(facts, _HALF_FACTS)
    if not scores:
        return known
    first = sorted(scores, reverse=True)[:_FIRST]
    # A search that found little, or nothing, takes nothing from the facts that are known.
    return max(known, _BEST * first[0] + _MEAN * sum(first) / _FIRST)


def _saturate(count: int, half: int) -> float:
    return count / (count + half)


def _weigh(parts: Mapping[str, float]) -> float:
    total = sum(WEIGHTS[name] for name in parts)
    return round(sum(WEIGHTS[name] * part for name, part in parts.items()) / total, 2)


def _level(score: float) -> Level:
    return "high" if score >= HIGH_FROM else "medium" if score >= MEDIUM_FROM else "low"
