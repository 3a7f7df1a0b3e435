"""Answer a gateway: post what it asks about as its agent would, and say what came of it.

A gateway holds nothing itself: what is held it denies, and asks again whenever its client tries again. So whatever a
person decided meanwhile is found here, by what was asked. One approval lets one request through, with all of its calls
or none: while another call of the same request waits, it stays unused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from metacog.db.ids import first_id_at
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.secrets import mask, masked
from metacog.models import Agent
from reviews.gateways.asked import Answer, Asked, Call, Edited, HeldAt
from reviews.held import decisions
from reviews.intake import approvals
from reviews.intake.ingest import receive
from reviews.intake.lookups import review_url
from reviews.intake.recognition import sha256
from reviews.intake.tool_calls import APPROVED_FOR, digest
from reviews.models import Decision, HeldCall, HeldItem, ReviewTerms
from reviews.models.decisions import DecisionVerdict

CALL_ID = "gateway"  # of every call: gateways have no id that stays the same when a call is tried again
STANDS_FOR = timedelta(hours=1)  # how long a rejection, or an edit of words, is told to who asks the same again
WORDS = "chat"


class Checked(NamedTuple):
    """What a gateway is answered; where it is allowed, the calls and words as they may go."""

    answer: Answer
    calls: Sequence[Call]
    texts: Sequence[str]


def check(agent: Agent, asked: Asked, traceparent: str = "") -> Checked:
    """Answer what is asked; whatever is not decided yet is held by then. Raises heuristics.Refused or Problem."""
    now = timezone.now()
    decisions.settle(agent)
    found = _Standing(agent, asked, now)
    if (rejected := found.rejected) or (found.edits and not asked.takes_arguments):
        said = [_rejection(each) for each in rejected] or [_edit(each) for each in found.edits]
        edited = [] if rejected else [Edited(name=call.name, arguments=masked(call.arguments)) for call in found.edits]
        return Checked(Answer(decision="deny", reason=" ".join(said), edited=edited), (), ())
    asked = asked.changed(found.calls, found.texts)
    if not asked.calls and not any(map(str.strip, asked.texts)):
        return Checked(Answer(decision="allow"), asked.calls, asked.texts)
    if found.waiting and (answer := _while_waiting(agent, asked, found.waiting, traceparent)):
        return Checked(answer, (), ())
    items = _posted(agent, asked, traceparent)
    answer = _answer(items)
    if answer.decision == "allow" and not _use_up(items[len(items) - len(asked.calls) :], now):
        return check(agent, asked, traceparent)  # somebody else's request went through on the same approval
    return Checked(answer, asked.calls, _texts(asked.texts, items))


def _while_waiting(agent: Agent, asked: Asked, words: Sequence[HeldItem], traceparent: str) -> Answer | None:
    """Answer without posting words again that wait; None where they wait for nothing any more."""
    own = [HeldAt(id=held.public_id, url=review_url(held.public_id)) for held in words if not _only_waits(held)]
    calls = _answer(_posted(agent, asked.changed(asked.calls, ()), traceparent)) if asked.calls else None
    if calls and calls.decision == "deny":
        return calls
    held = [*own, *(calls.held if calls else ())]
    return _held(held) if held else None


def _only_waits(held: HeldItem) -> bool:
    """Say whether words wait for nothing but calls that are held."""
    terms: ReviewTerms | None = getattr(held, "terms", None)
    return terms is not None and terms.only_waits


class _Standing:
    """What people decided lately about the same calls and words, and what these are by that."""

    def __init__(self, agent: Agent, asked: Asked, now: datetime) -> None:
        self.agent, self.session, self.now = agent, asked.session or "", now
        of_calls, of_texts = self._of_calls(asked.calls), self._of_texts(asked.texts)
        self.waiting = self._waiting(asked.texts)
        decided = [*of_calls, *of_texts]
        self.rejected = [each for each in decided if each and each.verdict == DecisionVerdict.REJECT]
        self.calls = tuple(
            call._replace(arguments=each.arguments) if each and each.verdict == DecisionVerdict.EDIT else call
            for call, each in zip(asked.calls, of_calls, strict=True)
        )
        self.texts = tuple(
            each.text if each and each.text is not None else text
            for text, each in zip(asked.texts, of_texts, strict=True)
        )
        self.edits = [new for new, old in zip(self.calls, asked.calls, strict=True) if new is not old]

    def _of_calls(self, calls: Sequence[Call]) -> list[Decision | None]:
        digests = [digest(self.session, ToolCall(call.name, call.arguments)) for call in calls]
        rows = HeldCall.objects.filter(agent=self.agent, sha256__in=digests).order_by("pk")
        latest = {row.sha256: row for row in rows}
        closed = Decision.objects.filter(
            held__in=[row.pk for row in latest.values()], undone_at=None, released_at__gte=self.now - APPROVED_FOR
        ).exclude(by=Decision.By.SYSTEM)
        by_item = {each.held_id: each for each in closed}

        def of(row: HeldCall | None) -> Decision | None:
            found = by_item.get(row.pk) if row else None
            if row and found and found.verdict == DecisionVerdict.EDIT:
                return found if row.used_at is None else None
            return found if found and self._stands(found) else None

        return [of(latest.get(each)) for each in digests]

    def _of_texts(self, texts: Sequence[str]) -> list[Decision | None]:
        digests = [sha256(text) for text in texts]
        if not digests:
            return []
        decided = Decision.objects.filter(
            public_id__gte=first_id_at("dec", self.now - STANDS_FOR),  # by the index of their ids
            agent=self.agent,
            item_sha256__in=digests,
            held__kind=WORDS,
            held__response__session=self.session,
            undone_at=None,
            released_at__isnull=False,
            verdict__in=[DecisionVerdict.REJECT, DecisionVerdict.EDIT],
        ).exclude(by=Decision.By.SYSTEM)
        found = {each.item_sha256: each for each in decided.order_by("public_id")}
        return [found.get(each) for each in digests]

    def _waiting(self, texts: Sequence[str]) -> list[HeldItem]:
        if not texts:
            return []
        rows = HeldItem.objects.filter(agent=self.agent, closed_at=None, kind=WORDS, sha256__in=map(sha256, texts))
        return [*rows.filter(response__session=self.session).select_related("terms").order_by("pk")]

    def _stands(self, decision: Decision) -> bool:
        return decision.verdict == DecisionVerdict.REJECT and decision.decided_at >= self.now - STANDS_FOR


def _posted(agent: Agent, asked: Asked, traceparent: str) -> list[Mapping[str, Any]]:
    """Post it; return what the assessment says of each item: the words that are any, then the calls."""
    words = [{"kind": WORDS, "text": text} for text in asked.texts if text.strip()]
    body = {
        "response": "\n\n".join(each["text"] for each in words),
        "session": asked.session,
        "items": [*words, *map(_item, asked.calls)],
        "metadata": asked.kept,
    }
    # An idempotency key that a client sent through its gateway is none of this post: it would be answered as before.
    headers = {"traceparent": traceparent} if traceparent else {}
    received = receive(agent, json.dumps(body, ensure_ascii=False).encode(), headers)
    items: list[Mapping[str, Any]] = json.loads(received.verdict)["items"]
    return items


def _item(call: Call) -> dict[str, Any]:
    return {
        "kind": HeldItem.Kind.TOOL_CALL,
        "name": call.name,
        "arguments": call.arguments,
        "call_id": CALL_ID,
        "schema": call.schema,
        "description": call.description,
        "annotations": call.hints,
        "metadata": {"gateway_call": call.id} if call.id else None,
    }


def _answer(items: Sequence[Mapping[str, Any]]) -> Answer:
    denied = [item for item in items if item["disposition"] == "reject"]
    if denied:
        return Answer(decision="deny", reason=" ".join(map(_denial, denied)))
    waiting = [item for item in items if item["held"]]
    own = [item for item in waiting if not item.get("with_calls")] or waiting
    return _held([HeldAt(id=item["held"], url=item["review_url"]) for item in own])


def _held(items: Iterable[HeldAt]) -> Answer:
    """Say what is held, each item once; where there is none, that it is allowed."""
    held = [*{each.id: each for each in items}.values()]
    if not held:
        return Answer(decision="allow")
    where = ", ".join(each.url for each in held)
    reason = f"Held for review: {where}. Try the same again once it is approved; it then passes once."
    return Answer(decision="held", reason=reason, held=held)


def _denial(item: Mapping[str, Any]) -> str:
    reason = (item["rule"] or {}).get("reason") or "the policy's rules deny it"
    return _sentence(f"{item['name']} is denied: {mask(reason).text}")


def _rejection(decision: Decision) -> str:
    because = f": {mask(decision.reason).text}" if decision.reason else ""
    return _sentence(f"Rejected in review{because}")


def _sentence(text: str) -> str:
    return text if text[-1] in ".!?。！？" else f"{text}."


def _edit(call: Call) -> str:
    arguments = json.dumps(masked(call.arguments), ensure_ascii=False)
    return f"A reviewer changed the arguments of {call.name}. It passes once with these: {arguments}."


def _texts(texts: Iterable[str], items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the words as they go out: with their marks."""
    told = iter(items)
    return [next(told)["text"] or text if text.strip() else text for text in texts]


def _use_up(calls: Iterable[Mapping[str, Any]], now: datetime) -> bool:
    """Use up the approvals by which these calls pass; False, and none is, where one was used meanwhile."""
    wanted = {call["recognised"] for call in calls if call["recognised"] and "grant" not in call}
    if not wanted:
        return True
    keys = HeldCall.objects.filter(held__public_id__in=wanted).values_list("pk", flat=True)
    with transaction.atomic():
        mine = approvals.take([*keys], HeldCall.UsedBy.POST, now, claimed_as=CALL_ID)
        if len(mine) < len(wanted):
            transaction.set_rollback(True)
    return len(mine) == len(wanted)
