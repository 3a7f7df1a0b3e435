"""Hear whether users' messages correct the response before them, and pick those that people are asked about.

People are asked where a cue of the message leaves the detector unsure, or where what was learned from their answers
says "likely". Of all other messages a random few are asked about, each with a known chance, so that the answers tell
what the detector is worth. Only what is likely a correction stands in To do, the rest on the page of its own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from metacog.heuristics.contradiction.corrections import CONCESSION, SURE, Correction
from metacog.heuristics.ranking.features import Seen, facts_of, see
from metacog.heuristics.ranking.model import Model
from metacog.models import Agent
from reviews.models import AgentResponse, LearnedCorrections, PossibleCorrection
from reviews.scoring.history import heard

UNSURE_BELOW = 0.7  # of the detector's confidence: one weak cue, or two that are weaker
ASKED_OF_SURE = 0.2  # the share of the others that it takes for corrections, for its precision
ASKED_OF_SILENT = 0.05  # the share of those in which it hears nothing, for its recall
MOST_WAITING = 100  # questions about one agent; beyond, nobody is asked until some are answered
PRECISION = 0.7  # of what stands in To do, at least, as far as a team's answers tell
LEAST_TOLD = 10  # answers from which on they do
BEYOND = 1.01  # above any confidence
WAITS_FOR = timedelta(days=14)  # what nobody has answered by then is no longer asked

ANSWERS_COUNT = timedelta(days=90)
Answer = PossibleCorrection.Answer

# No seed that an agent could guess.
_chance = random.SystemRandom()


class Heard(NamedTuple):
    """A user's message, in `response`, to what the agent said `before`."""

    response: AgentResponse
    body: Mapping[str, Any]
    before: AgentResponse
    said_before: str
    found: Correction

    @property
    def is_correction(self) -> bool:
        """Whether the detector takes it for one."""
        return self.found.confidence >= SURE


class Hearing:
    """Hears the responses of one agent, in their order."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._last: dict[str, AgentResponse] = {}  # of each session
        row = LearnedCorrections.objects.filter(team=agent.team_id).only("cut", "made_at").first()
        self._cut = row.cut if row else None
        self._model = _model(row.pk, row.made_at.isoformat()) if row else None
        self._bar = likely_from(agent.team_id)
        self._room = MOST_WAITING - _waiting().filter(agent=agent).count()

    def hear(self, response: AgentResponse, body: Mapping[str, Any]) -> Heard | None:
        """Return what the message of a response says of the one before it in its session."""
        before = self._last.get(response.session)
        self._last[response.session] = response
        if not body.get("user_message"):
            return None
        if before is None:
            earlier = AgentResponse.objects.filter(agent=self.agent, session=response.session, pk__lt=response.pk)
            before = earlier.order_by("-pk").first()
        if before is None or before.erased_at:
            return None
        said = before.wire_body()
        found = heard(body, said)
        return Heard(response, body, before, said["response"], found) if found else None

    def _rank(self, each: Heard) -> float | None:
        if self._model is None:
            return None
        return self._model.risk(seen_in(each.body, each.said_before, each.found, signs=self._model.reads_signs))

    def question(self, each: Heard) -> PossibleCorrection | None:
        """Return the question that people are asked about a message, unsaved; None: they are not."""
        if self._room <= 0:
            return None
        confidence = each.found.confidence
        rank = self._rank(each)
        is_first = rank is not None and self._cut is not None and rank >= self._cut
        # That the agent gives in by itself, as polite ones do in every answer, is no question worth a person's minute.
        is_unsure = is_first or any(cue.type != CONCESSION for cue in each.found.cues)
        chance = ASKED_OF_SURE if confidence >= UNSURE_BELOW else 1.0 if is_unsure else ASKED_OF_SILENT
        if _chance.random() >= chance:
            return None
        self._room -= 1
        return PossibleCorrection(
            agent=self.agent,
            response=each.response,
            before=each.before,
            confidence=confidence,
            cue=max(each.found.cues, key=lambda cue: cue.strength).type if each.found.cues else "",
            rank=rank,
            is_first=is_first,
            is_likely=is_first or confidence >= self._bar,
            stands_for=1 / chance,
            place=_place(is_first=is_first, is_sample=chance < 1, has_rank=rank is not None),
            counts=each.is_correction,
        )


def likely_from(team: int) -> float:
    """Return the confidence from which a message is likely a correction: the detector's own bar, or a higher one.

    A higher one where a team's answers of the last days say that fewer than `PRECISION` of these were right; then the
    lowest from which so many were, if any.
    """
    said = PossibleCorrection.objects.filter(
        agent__team=team,
        confidence__gte=SURE,
        answer__in=(Answer.YES, Answer.NO),
        answered_at__gte=timezone.now() - ANSWERS_COUNT,
    )
    answers = sorted(said.order_by().values_list("confidence", "answer"), reverse=True)
    if len(answers) < LEAST_TOLD:
        return SURE
    bar, right = BEYOND, 0
    for number, (confidence, answer) in enumerate(answers, 1):
        right += answer == Answer.YES
        is_last = number == len(answers) or answers[number][0] < confidence
        if is_last and right >= PRECISION * number:
            bar = confidence
    return SURE if bar == answers[-1][0] else bar


def _place(*, is_first: bool, is_sample: bool, has_rank: bool) -> float:
    """Draw a place: those asked about first in the first half, and samples everywhere, so that they are answered, too.

    Among themselves they stand by chance. Else those that are answered would not tell of those that are not.
    """
    place = _chance.random()
    if is_sample or not has_rank:
        return place
    return place / 2 if is_first else 0.5 + place / 2


def _waiting() -> QuerySet[PossibleCorrection]:
    return PossibleCorrection.objects.filter(answer="", found_at__gte=timezone.now() - WAITS_FOR)


@lru_cache(16)  # 0.5 MB each
def _model(team: int, made_at: str) -> Model | None:
    """Return what was learned for a team; `made_at` tells one from the next."""
    document = LearnedCorrections.objects.filter(pk=team).values_list("model", flat=True).first()
    return Model.from_dict(document) if document else None


def seen_in(body: Mapping[str, Any], said_before: str, found: Correction, *, signs: bool = False) -> Seen:
    """Return what a ranker sees of a message: its words, those before it, and what the detector says of both.

    The detector's confidence is the fact `score`: an order must beat it to be used.
    """
    message = body["user_message"]
    facts = facts_of(message, said_before, {}) | {"score": found.confidence}
    facts.update((f"cue:{cue.type}", 1.0) for cue in found.cues)
    return see(message, said_before, facts, signs=signs)
