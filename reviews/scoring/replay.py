"""Make the verdict on a stored response again, out of what is stored with it; the stored one stays the record.

A verdict is a function of the bytes that were posted, the engine, the agent's policy and language, the patterns of
the team's version, and the recorded history. What only the database knew is taken over from the stored verdict: its
id and policy's number, the ids and addresses of held items, which items were recognised as approved before and by which
grant, and what came of thought threads and of what was to be remembered. So is the engine's number, where another
engine makes it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from metacog import heuristics
from metacog.heuristics.wire.assessment import Assessment
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import patterns_in_force, policy_in_force
from reviews.models import AgentResponse
from reviews.scoring.history import recorded


class Unlike(models.TextChoices):
    """What is not as it was when the response came, so that another verdict need not be an error."""

    ENGINE = "engine", _("The assessment was made by another engine version.")
    PATTERNS = "patterns", _("The patterns of that version are unknown, so the oldest known ones were used.")
    LANGUAGE = "language", _("The agent's language at that time is unknown, so the current one was used.")
    HISTORY = "history", _("Responses it was compared with have been erased since.")
    ERASED = "erased", _("The text was erased, so the assessment cannot be repeated.")
    REFUSED = "refused", _("The current engine refuses this response.")
    POLICY = "policy", _("The policy of that version cannot be read, so the assessment cannot be repeated.")


@dataclass(frozen=True)
class Difference:
    """A place in a verdict (JSON pointer, RFC 6901), and the JSON there; None where there is nothing."""

    pointer: str
    stored: str | None
    made: str | None


@dataclass(frozen=True)
class Replay:
    """What came of making a verdict again."""

    response: AgentResponse
    verdict: str | None  # None: it could not be run
    unlike: tuple[Unlike, ...]
    patterns: int = 0  # it ran with, and of which version
    version: int = 0

    @property
    def is_equal(self) -> bool:
        """Say whether it is the stored verdict to the byte."""
        return self.verdict == str(self.response.verdict)

    @property
    def is_wrong(self) -> bool:
        """Say whether it differs although everything was as it was then."""
        return not self.is_equal and set(self.unlike) <= {Unlike.REFUSED}

    @property
    def differences(self) -> list[Difference]:
        if self.verdict is None or self.is_equal:
            return []
        return list(_differences("", self.response.wire_verdict(), json.loads(self.verdict)))


class Replayer:
    """Makes verdicts again, one after the other, and keeps the scorers of the last versions it came across."""

    def __init__(self) -> None:
        self._patterns = lru_cache(2)(_scorer_of)  # with 10,000 patterns each takes about 20 MB
        self._scorer = lru_cache(64)(self._under_policy)

    def replay(self, response: AgentResponse) -> Replay:
        """Make the verdict of a response (read with its agent and the agent's team) again. Writes nothing."""
        agent, stored = response.agent, response.wire_verdict()
        if response.erased_at:
            return Replay(response, None, (Unlike.ERASED,))
        past = recorded(response)
        version = max(response.patterns_version, agent.team.patterns_known_from)
        try:
            scorer = self._scorer(
                (agent.pk, response.policy_version, response.language or agent.language, past.rules_version),
                past.review_seconds, agent.team_id, version,
            )  # fmt: skip
        except UnreadablePolicy:
            return Replay(response, None, (Unlike.POLICY,))
        found = {
            Unlike.ENGINE: response.engine != heuristics.ENGINE,
            Unlike.PATTERNS: response.patterns_version != version,
            Unlike.LANGUAGE: not response.language,
            Unlike.HISTORY: not past.is_whole,
        }
        unlike = tuple(each for each, is_so in found.items() if is_so)
        recognised = {item["index"]: item["recognised"] for item in stored["items"] if item["recognised"]}
        try:
            made = scorer.score(
                heuristics.read_response(response.body.encode()),
                history=past.history,
                recognised=recognised,
                hesitation=stored["hesitation"] is not None,
                ranking=past.ranking,
            )
        except heuristics.Refused:
            return Replay(response, None, (*unlike, Unlike.REFUSED))
        _take_over(made, stored)
        made["id"], made["policy"], made["engine"] = response.public_id, response.policy_version, response.engine
        return Replay(response, json.dumps(made, ensure_ascii=False), unlike, len(scorer.patterns), version)

    def _under_policy(
        self, policy: tuple[int, int, str, int], review_seconds: int, team_id: int, patterns: int
    ) -> heuristics.Scorer:
        rules = policy_in_force(*policy)
        if review_seconds:
            rules = replace(rules, review_seconds=review_seconds)
        return self._patterns(team_id, patterns).with_policy(rules)


def _scorer_of(team_id: int, version: int) -> heuristics.Scorer:
    return heuristics.Scorer(patterns_in_force(team_id, version))


def _take_over(made: Assessment, stored: Assessment) -> None:
    for item, was in zip(made["items"], stored["items"], strict=False):
        if item["disposition"] == "hold":
            item["held"], item["review_url"] = was["held"], was["review_url"]
            if "waits_for" in item and "waits_for" in was:
                item["waits_for"] = was["waits_for"]
        if item["kind"] in ("thread", "remember"):  # what could not be done with it leaves its flag
            item["flags"] = was["flags"]
        if "definition_changed" in was:
            item["definition_changed"] = was["definition_changed"]
        if "grant" in was:
            item["grant"] = was["grant"]
        if "memory" in was:
            item["memory"] = was["memory"]
        else:  # it is older than what is remembered in verdicts
            item.pop("memory", None)
    if "flags" not in stored:  # it is older than flags of tags
        del made["flags"]
    if "threads" in stored:
        made["threads"] = stored["threads"]
    else:  # it is older than threads in verdicts
        del made["threads"]


_NOTHING = object()


def _differences(pointer: str, stored: Any, made: Any) -> Iterator[Difference]:
    if isinstance(stored, dict) and isinstance(made, dict) and not _is_reordered(stored, made):
        for name in dict.fromkeys((*stored, *made)):
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            yield from _differences(place, stored.get(name, _NOTHING), made.get(name, _NOTHING))
    elif isinstance(stored, list) and isinstance(made, list):
        for index in range(max(len(stored), len(made))):
            there = (values[index] if index < len(values) else _NOTHING for values in (stored, made))
            yield from _differences(f"{pointer}/{index}", *there)
    elif _as_json(stored) != _as_json(made):  # not the values: 1, 1.0 and true are equal in Python
        yield Difference(pointer, _as_json(stored), _as_json(made))


def _is_reordered(stored: dict[str, Any], made: dict[str, Any]) -> bool:
    return list(stored) != list(made) and set(stored) == set(made)


def _as_json(value: Any) -> str | None:
    return None if value is _NOTHING else json.dumps(value, ensure_ascii=False)
