"""Tool calls that nobody was asked about: what passed by a rule or a grant, and what a rule denied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from metacog.heuristics.wire.assessment import ItemPart
from reviews.models import AgentResponse

Fate = Literal["passed", "granted", "denied"]


def settled(responses: Iterable[AgentResponse]) -> Iterator[tuple[ItemPart, Fate]]:
    """Give the calls of responses that neither wait nor were let pass by an approval of their own, and why."""
    for response in responses:
        for item in response.wire_verdict()["items"]:
            if "name" in item and (fate := _fate(item)):
                yield item, fate


def _fate(item: ItemPart) -> Fate | None:
    if item["disposition"] == "reject":
        return "denied"
    if item["disposition"] != "pass":
        return None
    # One that its own approval let pass is counted as the held item that it was.
    return "granted" if "grant" in item else None if item["recognised"] else "passed"
