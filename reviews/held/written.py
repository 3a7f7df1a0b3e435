"""What an agent wrote to a file before, as far as its calls say: what a new text of the same file is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from metacog.heuristics.text.tags import TOOL_CALL
from reviews.models import AgentResponse, DecisionVerdict, HeldItem

LOOK_BACK = 20  # responses with tool calls of one session
LET = (HeldItem.State.APPROVED, HeldItem.State.EDITED)


class Written(NamedTuple):
    """A tool call that nobody kept the agent from making."""

    arguments: Mapping[str, Any]
    response: str  # its public id


def calls_before(held: HeldItem) -> Iterator[Written]:
    """Give the calls of the same session before an item's own, the latest first, that passed or were approved."""
    session = held.response.session
    if not session:
        return
    responses = AgentResponse.objects.filter(
        agent=held.agent_id, session=session, calls__gt=0, pk__lte=held.response_id
    )
    for response in responses.order_by("-id")[:LOOK_BACK]:
        sent = response.wire_body().get("items") or ()
        answers = response.wire_verdict()["items"]
        if response.pk == held.response_id:
            answers = answers[: held.index]
        let = _let(response)
        for answer in reversed(answers):
            index = answer["index"]
            if answer["kind"] != TOOL_CALL or index >= len(sent) or not isinstance(sent[index].get("arguments"), dict):
                continue
            if answer["disposition"] == "pass":
                yield Written(sent[index]["arguments"], response.public_id)
            elif index in let:
                yield Written(let[index], response.public_id)


def _let(response: AgentResponse) -> dict[int, dict[str, Any]]:
    """Return the arguments with which a response's held calls were approved, by their place."""
    held = HeldItem.objects.filter(response=response, kind=TOOL_CALL, state__in=LET).select_related("call")
    found: dict[int, dict[str, Any]] = {}
    for item in held:
        decision = item.decisions.filter(undone_at=None).order_by("-id").first()
        arguments = decision.arguments if decision and decision.verdict == DecisionVerdict.EDIT else item.call.arguments
        if isinstance(arguments, dict):
            found[item.index] = arguments
    return found
