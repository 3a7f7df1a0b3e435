"""Read what a decision, a correction or a second look says was wrong, and what would recognise it again.

Nothing is written here. Each function returns what `sweep.propose` takes, or None where nothing can be
learnt: a mistake must be pinned to a sentence, and that sentence must hold something rare in the agent's texts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db.models.functions import Left

from metacog.db.rows import first_rows
from metacog.heuristics.contradiction.contradictions import Contradiction, contradicted, contradicts
from metacog.heuristics.contradiction.corrections import (
    MAX_HISTORY,
    find_concern,
    propose_keywords,
    terms_of,
)
from metacog.heuristics.memory import recall
from metacog.heuristics.text import words
from metacog.heuristics.text.shadow import fold
from metacog.heuristics.text.tags import items_of
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.heuristics.wire.wire import instant
from metacog.models import Agent
from patterns.memory import memory
from patterns.models import MAX_KEYWORD_LENGTH, ErrorPattern, Memory
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem, PatternOrigin
from reviews.records import reasons

Source, Kind = ErrorPattern.Source, PatternOrigin.Kind

MAX_REMEMBERED = 5  # of one response that are compared with what was known
MAX_LOOKED_BACK, MAX_KEPT_IN_MIND = 100, 100  # responses, and what they had remembered
MAX_UNPINNED = 3  # sentences that are shown together where a correction does not say which of them it means
MAX_TRIED = 5  # sentences that keywords are looked for in, where a person wants some
MAX_REJECTED, MAX_READ = 300, 4_000  # texts that were rejected before, and characters of each
MAX_QUOTE = 200  # in a description


@dataclass(frozen=True)
class PatternProposal:
    """What would recognise a mistake again, and what taught that."""

    keywords: list[str]
    description: str
    source: str
    kind: str
    row: str  # the public id of what taught it, which does so once a `kind`
    said: str = ""  # the mistaken sentence; this and `told` are quotes, erased with the texts of `response` and `row`
    told: str = ""
    held: HeldItem | None = None
    response: AgentResponse | None = None


class Teacher:
    """What the rows of one agent teach, compared with what it has said lately."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def from_decision(self, decision: Decision) -> PatternProposal | None:
        """Learn from what was rejected, or released in other words; `decision` comes with its item."""
        held = decision.held
        if not held.text or decision.by == Decision.By.SYSTEM or held.kind in HeldItem.NO_WORDS:
            return None  # known errors are of words; a call's may be secret
        if decision.by == Decision.By.AGENT:
            return self._from_own_decision(decision)
        said = told = description = ""
        if decision.verdict == DecisionVerdict.REJECT:
            reason = masked_text(decision.reason)
            preset, told = reasons.parse(reason)
            # Without a word of the person's own it says nothing of what was wrong; several may (contrast.py).
            if not told.strip() or (preset and preset not in reasons.ABOUT_TRUTH):
                return None
            said, description = sentence_meant(told, masked_text(held.text)), reason
        elif decision.verdict == DecisionVerdict.EDIT and decision.text:
            said, told = sentence_changed(masked_text(held.text), masked_text(decision.text))
        description = in_words(Kind.REJECTION, said, self.agent, description)
        found = self._taught(Kind.REJECTION, decision.public_id, said, told, description, held)
        return found if found and self._was_rejected_before(found.keywords, held) else None

    def _was_rejected_before(self, keywords: Sequence[str], held: HeldItem) -> bool:
        """Tell whether another rejected text says a keyword: one rejection alone may be of anything."""
        words = [fold(keyword) for keyword in keywords]
        return any(
            response != held.response_id and any(word in text for word in words) for response, text in self._rejected
        )

    @cached_property
    def _rejected(self) -> list[tuple[int, str]]:
        """Return the team's latest texts that a person rejected or changed, each with the response that it is of."""
        against = DecisionVerdict.REJECT, DecisionVerdict.EDIT
        rows = Decision.objects.filter(
            held__team=self.agent.team_id, by=Decision.By.PERSON, verdict__in=against, seq__isnull=False, undone_at=None
        ).exclude(held__kind__in=HeldItem.NO_WORDS)
        latest = rows.order_by("-decided_at", "-pk").values_list("held__response", Left("held__text", MAX_READ))
        return [(response, fold(text)) for response, text in latest[:MAX_REJECTED]]

    def _from_own_decision(self, decision: Decision) -> PatternProposal | None:
        """Learn from an agent that decides against its own item.

        Its reason, or the text it puts in the place, concludes the opposite; a rejection does so by itself, and its
        reason only tells of what. To take an item back or to word it anew is not yet to call it wrong.
        """
        held = decision.held
        preset, reason = reasons.parse(masked_text(decision.reason))
        told = masked_text(decision.text or "") if decision.verdict == DecisionVerdict.EDIT else reason
        if decision.verdict == DecisionVerdict.APPROVE or (preset and preset not in reasons.ABOUT_TRUTH):
            return None
        found = contradicts(masked_text(held.text), told)
        if found and found.first:
            said, told = found.first.text, found.second.text
        elif found or decision.verdict == DecisionVerdict.REJECT:
            said = sentence_meant(told, masked_text(held.text))
        else:
            return None
        description = in_words(Kind.SECOND_LOOK, said, self.agent, told)
        return self._taught(Kind.SECOND_LOOK, decision.public_id, said, told, description, held)

    def from_message(
        self, response: AgentResponse, body: dict[str, Any], before: AgentResponse
    ) -> PatternProposal | None:
        """Learn from what the human said about the response before this one, and how the agent took it."""
        message, previous = map(masked_text, (body["user_message"], before.wire_body()["response"]))
        said = sentence_meant(message, previous)
        if not said and len(_sentences(previous)) <= MAX_UNPINNED:
            said = previous.strip()
        description = in_words(Kind.CORRECTION, said, self.agent, message)
        return self._taught(Kind.CORRECTION, response.public_id, said, message, description, before)

    def from_second_look(self, response: AgentResponse, body: dict[str, Any]) -> PatternProposal | None:
        """Learn from an agent that concludes the opposite of what was held; `response` comes with that item."""
        held = response.second_look_at
        said_now = masked_text(body["response"])
        found = contradicts(masked_text(held.text), said_now) if held else None
        if held is None or found is None:
            return None
        told = found.second.text
        said = found.first.text if found.first else sentence_meant(said_now, masked_text(held.text))
        description = in_words(Kind.SECOND_LOOK, said, self.agent, told)
        return self._taught(Kind.SECOND_LOOK, response.public_id, said, told, description, held)

    def from_memory(self, response: AgentResponse, body: dict[str, Any]) -> PatternProposal | None:
        """Learn from what an agent remembers against what its team or itself remembered before."""
        occurred_at = body.get("occurred_at")
        at = instant(occurred_at) if occurred_at else response.received_at
        return self._from_knowledge(_let_in(response, body)[:MAX_REMEMBERED], response, min(at, response.received_at))

    def from_release(self, decision: Decision) -> PatternProposal | None:
        """Learn from what is remembered once it was let go."""
        held = decision.held
        if held.kind != "remember" or not decision.text:
            return None
        response = AgentResponse.objects.only("public_id").get(pk=held.response_id)
        return self._from_knowledge([decision.text], response, held.held_at)

    def _from_knowledge(self, texts: Sequence[str], response: AgentResponse, at: datetime) -> PatternProposal | None:
        """Learn from what was remembered at a time; what is in the team's memory teaches there (knowledge.teach)."""
        team = self.agent.team_id
        for text in (text[: Memory.MAX_TEXT] for text in texts):
            row = response.public_id
            is_in_memory = memory.holds(team, text)
            for known, found in () if is_in_memory else memory.contradicted_by(team, text, at=at):
                if known.occurred_at > at:
                    return denied(text, found, self.agent, row)
                if not known.source:  # what has a source is not wrong since something without one says so
                    return denied(known.text, found, self.agent, row)
            alike = self._remembered_like(text, response)
            for place, found in contradicted(text, [said for _, said in alike]):
                said_in, said = alike[place]
                # What only takes back does not say which of all.
                if found.first and not (is_in_memory and memory.holds(team, said)):
                    before = AgentResponse.objects.only("public_id").get(pk=said_in)
                    return denied(said, found, self.agent, row, before)
        return None

    def _remembered_like(self, text: str, response: AgentResponse) -> list[tuple[int, str]]:
        """Return what the agent had remembered before a response, and in which (by its primary key).

        What is most like the text comes first, and no more of it than is compared.
        """
        asked = set(recall.asked(text))
        shared = [(len(asked & terms), row, said) for row, said, terms in self._remembered if row < response.pk]
        alike = sorted((each for each in shared if each[0]), key=lambda each: -each[0])[: memory.COMPARED]
        sizes = accumulate(len(said) for _, _, said in alike)
        return [each[1:] for each, size in zip(alike, sizes, strict=True) if size <= memory.COMPARED_CHARACTERS]

    @cached_property
    def _remembered(self) -> list[tuple[int, str, frozenset[str]]]:
        """Return what the agent remembered in its latest responses, and its terms, the newest first."""
        latest = AgentResponse.latest_of(self.agent).filter(erased_at=None)
        rows = latest.only("body", "verdict", "erased_at")[:MAX_LOOKED_BACK].iterator(chunk_size=20)
        texts = [
            (row.pk, text[: Memory.MAX_TEXT])
            for row in rows
            if "remember" in row.body.lower()
            for text in _let_in(row, row.wire_body())
        ]
        return [(row, text, frozenset(recall.counted(text))) for row, text in texts[:MAX_KEPT_IN_MIND]]

    def _taught(
        self, kind: str, row: str, said: str, told: str, description: str, where: HeldItem | AgentResponse
    ) -> PatternProposal | None:
        held, response = (where, None) if isinstance(where, HeldItem) else (None, where)
        keywords = self.keywords(said, told, held.response_id if held else where.pk)
        if not keywords:
            return None
        source = Source.SELF_REVIEW if kind == Kind.SECOND_LOOK else Source.CORRECTION
        return PatternProposal(keywords, description, source, kind, row, said, told, held, response)

    def keywords(self, said: str, told: str, own: int) -> list[str]:
        """Choose a phrase that is rare in what the agent has said elsewhere; where none is, the sentence itself.

        `own` is the response that says it. Never keywords that would have to stand together: any one of a pattern's
        fires.
        """
        # What holds the very sentence is the same mistake, and makes none of its words common.
        mistaken = fold(said)
        elsewhere = [text for pk, text in self._history if pk != own and mistaken not in fold(text)]
        found = propose_keywords(said, told, elsewhere)
        if found is None:
            return []
        return list(found.keywords) if found.is_phrase else [said[:MAX_KEYWORD_LENGTH].strip()]

    def for_person(self, decision: Decision, fired: Iterable[int]) -> list[str]:
        """Choose keywords for a person who wants a pattern of what was decided, whatever the reason; maybe none.

        Of the sentence that the reason speaks of; else of that in which signals fired most, at the places `fired`.
        """
        told = reasons.parse(masked_text(decision.reason))[1]
        text = masked_text(decision.held.text)
        meant = sentence_meant(told, text)
        for said in [meant] if meant else _most_often(fired, text)[:MAX_TRIED]:
            if found := self.keywords(said, told, decision.held.response_id):
                return found
        return []

    @cached_property
    def _history(self) -> list[tuple[int, str]]:
        """Return the agent's latest texts, oldest first; of long ones fewer."""
        latest = AgentResponse.latest_of(self.agent).filter(erased_at=None)
        rows, _ = first_rows(latest.only("body", "erased_at"), MAX_HISTORY, "body")
        return [(row.pk, row.wire_body()["response"]) for row in reversed(rows)]


def _let_in(response: AgentResponse, body: dict[str, Any]) -> list[str]:
    """Return what a response had remembered at once; what was held of it is not remembered yet."""
    answers = response.wire_verdict()["items"]
    found = items_of(body, plain_text_as_chat=bool(answers))
    items = [item for item, answer in zip(found, answers, strict=False) if answer["disposition"] != "hold"]
    return [item.text for item in items if item.kind == "remember"]


def denied(
    text: str, found: Contradiction, agent: Agent | None, row: str, response: AgentResponse | None = None
) -> PatternProposal:
    """Return what new knowledge, brought by `row`, teaches about an older memory's text (said in `response`)."""
    said, told = found.first.text if found.first else text, found.second.text
    keywords, description = [said.strip().rstrip(".!。；; ")], in_words(Kind.MEMORY, said, agent, told)
    return PatternProposal(keywords, description, Source.EXTERNAL, Kind.MEMORY, row, said, told, response=response)


def in_words(kind: str, said: str, agent: Agent | None, told: str = "") -> str:
    """Describe what taught something, in the agent's language: the words its keywords are of, and who knew better."""
    described = reasons.describe(kind, _quoted(said), agent.language if agent else settings.LANGUAGE_CODE)
    return f"{described}{reasons.REASON}{_quoted(told)}" if told else described


def _quoted(text: str) -> str:
    quote = " ".join(text.split())
    return quote if len(quote) <= MAX_QUOTE else quote[: MAX_QUOTE - 1] + "…"


def sentence_meant(told: str, text: str) -> str:
    """Return the sentence of a text that a person speaks of; the only one where there is only one; else ""."""
    if concern := find_concern(told, text):
        return concern.text
    own = _sentences(text)
    return own[0] if len(own) == 1 else ""


def sentence_with(phrase: str, text: str) -> str:
    """Return the first sentence of a text that says a phrase; the whole text where that is cut in two."""
    wanted = fold(phrase)
    return next((sentence for sentence in _sentences(text) if wanted in fold(sentence)), text.strip())


def sentence_changed(text: str, edited: str) -> tuple[str, str]:
    """Return the first sentence that an edit took out or changed, and what it says no more; "" where all is new."""
    own = _sentences(text)
    changed = [sentence for sentence in own if sentence not in edited]
    if not changed or len(changed) == len(own) > 1:
        return "", ""
    gone = terms_of(changed[0]) - terms_of(edited)
    return (changed[0], " ".join(sorted(gone))) if gone else ("", "")


def _sentences(text: str) -> list[str]:
    cut = (text[slice(*place)].strip() for place in words.sentences(words.fold_signs(text)))
    return [sentence for sentence in cut if sentence]


def _most_often(places: Iterable[int], text: str) -> list[str]:
    """Return the sentences of a text in which a place is; those with the most come first."""
    cut = list(words.sentences(words.fold_signs(text)))
    starts = [start for start, _ in cut]
    counts = Counter(bisect_right(starts, place) - 1 for place in sorted(places))
    return [text[slice(*cut[at])].strip() for at, _count in counts.most_common() if at >= 0]
