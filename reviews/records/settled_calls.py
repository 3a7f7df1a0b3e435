"""Tool calls that nobody was asked about: let pass by a rule, a grant or an earlier approval, or denied by a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from metacog.heuristics.wire.assessment import ItemPart
from reviews.models import AgentResponse

Fate = Literal["passed", "granted", "denied", "again"]


def settled(responses: Iterable[AgentResponse]) -> Iterator[tuple[ItemPart, Fate]]:
    """Give the calls of responses that do not wait, and why; `again`: the approval of a held item let it pass."""
    for response in responses:
        for item in response.wire_verdict()["items"]:
            if "name" in item and (fate := _fate(item)):
                yield item, fate


def _fate(item: ItemPart) -> Fate | None:
    if item["disposition"] == "reject":
        return "denied"
    if item["disposition"] != "pass":
        return None
    return "granted" if "grant" in item else "again" if item["recognised"] else "passed"
