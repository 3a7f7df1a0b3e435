"""Assess a post: what scoring says of it, completed with what only the database knows, which `Asks` answers.

Pure but for these answers: no clock, row or setting. What it returns is finished, nothing changes it behind this.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from metacog import heuristics
from metacog.heuristics.hesitation.modulation import marked
from metacog.heuristics.ranking.budget import Ranking
from metacog.heuristics.text.tags import Item
from metacog.heuristics.tool_calls.rules import Judged
from metacog.heuristics.wire.assessment import Assessment, ItemPart
from patterns.threads import posts
from reviews.intake import questions
from reviews.intake.post import Known, Post
from reviews.intake.tool_calls import digest
from reviews.scoring.history import Past


class Asks(Protocol):
    """What is asked while a post is assessed."""

    def approved(self, items: Sequence[Item], judged: Sequence[Judged | None]) -> Mapping[int, str]:
        """Return by index the held items whose approval lets an item pass."""

    def room(self, told: Sequence[ItemPart], ranking: Ranking) -> Ranking | None:
        """Take what these items want of the review budgets; where one has less, return the ranking with that."""

    def waiting(self, calls: Collection[str]) -> Mapping[str, str]:
        """Return of calls, by their digests, the held items that they wait as already."""

    def asked(self, questions: Collection[str]) -> Mapping[str, str]:
        """Return the same of questions."""

    def used(self, told: ItemPart) -> Mapping[str, Any]:
        """Return what is said of a call by what lets it pass."""

    def threads(self, items: Sequence[Item], response: str) -> posts.Done:
        """Return what came of the steps that items want with thought threads."""

    def remembered(self, scored: heuristics.Scored, response: str) -> Mapping[int, Mapping[str, Any]]:
        """Return by index what became of what is to be remembered, and is not held."""

    def new_id(self, prefix: str) -> str:
        """Return an id that nothing has."""

    def review_url(self, held: str) -> str:
        """Return where people review a held item."""


@dataclass(frozen=True)
class Hold:
    """An item that is held, and what is said of it."""

    public_id: str
    item: Item
    told: ItemPart
    is_new: bool  # False: a call or question that was asked before and waits, as this held item
    waits_for: tuple[str, ...] = ()  # of words: the held calls of the response
    marked: str | None = None  # of words that nothing but these had held: their text with its mark


@dataclass(frozen=True)
class Assessed:
    """An assessment that is finished, with all that is written down of it."""

    verdict: Assessment
    text: str  # it as JSON
    scored: heuristics.Scored
    past: Past  # with the budget that there was
    holds: tuple[Hold, ...]
    threads: posts.Done

    @property
    def id(self) -> str:
        assert self.verdict["id"]
        return self.verdict["id"]

    @property
    def new(self) -> Iterator[Hold]:
        """The items that are held from now on."""
        return (hold for hold in self.holds if hold.is_new)


def assess(post: Post, known: Known, asks: Asks) -> Assessed:
    """Say what is to be done with each item of a post. Raises heuristics.Refused."""
    scored, past = _score(post, known.past, asks)
    response = asks.new_id("resp")
    holds = tuple(_hold(post, scored, asks))
    threads = asks.threads(scored.items, response)
    beside = [dict(asks.used(told)) for told in scored.verdict["items"]]
    for hold in holds:
        beside[hold.told["index"]] = _held(hold, asks) | beside[hold.told["index"]]
    for index, flag in threads.flags.items():
        beside[index]["flags"] = [*scored.verdict["items"][index]["flags"], flag]
    if post.scorer.policy.remember_into_memory:
        for index, became in asks.remembered(scored, response).items():
            beside[index] |= became
    items = [cast("ItemPart", {**told, **more}) for told, more in zip(scored.verdict["items"], beside, strict=True)]
    verdict = cast(
        "Assessment",
        {
            **scored.verdict,
            "id": response,
            "policy": post.agent.policy_version,
            "items": items,
            "threads": threads.threads,
        },
    )
    return Assessed(verdict, json.dumps(verdict, ensure_ascii=False), scored, past, holds, threads)


def _score(post: Post, past: Past, asks: Asks) -> tuple[heuristics.Scored, Past]:
    """Score, again where a review budget had less room than was thought, or held a call before that waits."""
    while True:
        scored = post.scorer.assess(
            post.body,
            past.history,
            recognise=asks.approved,
            hesitation=post.agent.hesitation_enabled,
            ranking=past.ranking,
        )
        if past.ranking is None:
            return scored, past
        ranking = _waiting(post, scored, past.ranking, asks) or asks.room(scored.verdict["items"], past.ranking)
        if ranking is None:
            return scored, past
        past = replace(past, ranking=ranking)


def _waiting(post: Post, scored: heuristics.Scored, ranking: Ranking, asks: Asks) -> Ranking | None:
    """Return the ranking that knows which calls the budget held before and that wait; None: it knows them."""
    digests = {index: digest(post.session, call) for index in scored.risky if (call := scored.items[index].call)}
    waiting = asks.waiting(set(digests.values())) if digests else {}
    again = [index for index, known_by in digests.items() if known_by in waiting]
    return None if again == [*ranking.calls.again] else ranking._replace(calls=ranking.calls._replace(again=again))


def _hold(post: Post, scored: heuristics.Scored, asks: Asks) -> Iterator[Hold]:
    """Give an id to each item that is held; a tool call or question that waits already, or came twice, is one."""
    held = [(scored.items[told["index"]], told) for told in scored.verdict["items"] if told["disposition"] == "hold"]
    digests = {told["index"]: digest(post.session, item.call) for item, told in held if item.call}
    asked = {told["index"]: questions.digest(post.session, item) for item, told in held if item.question}
    ids = dict(asks.waiting(set(digests.values()))) if digests else {}
    if asked:
        ids |= asks.asked(set(asked.values()))
        digests |= asked
    rows = list[Hold]()
    for item, told in held:
        known_by = digests.get(told["index"], "")
        is_new = known_by not in ids
        public_id = asks.new_id("held") if is_new else ids[known_by]
        if known_by:
            ids[known_by] = public_id
        rows.append(Hold(public_id, item, told, is_new))
    calls = tuple(dict.fromkeys(row.public_id for row in rows if row.item.call))
    for row in rows:
        waits = not row.item.call and "waits_for" in row.told
        yield replace(row, waits_for=calls, marked=_marked(post, row, scored)) if waits else row


def _marked(post: Post, hold: Hold, scored: heuristics.Scored) -> str | None:
    """Return what would have gone out in place of the text of words that nothing but tool calls held."""
    hesitation = scored.verdict["hesitation"]
    if hesitation is None or hold.told["recognised"] or not hold.told.get("with_calls"):
        return None
    return marked(hold.item, hesitation["score"], post.scorer.policy)


def _held(hold: Hold, asks: Asks) -> dict[str, Any]:
    said: dict[str, Any] = {"held": hold.public_id, "review_url": asks.review_url(hold.public_id)}
    return said | ({"waits_for": [*hold.waits_for]} if "waits_for" in hold.told and not hold.item.call else {})
