"""Why a decision is not taken: nothing was written."""

from __future__ import annotations

from metacog.heuristics.tool_calls.approvers import Approvers
from reviews.models import Decision


class Refusal(Exception):
    """The decision was not taken, and nothing was written."""


class Standing(Refusal):
    """Decided before, or what was shown is out of date. `decision` is what stands, where it may be told."""

    def __init__(self, decision: Decision | None = None) -> None:
        super().__init__()
        self.decision = decision


class NotYet(Refusal):
    """A second look in the same breath as the first is none."""


class WantsPerson(Refusal):
    """The policy leaves this kind to people."""


class WantsAnswer(Refusal):
    """A question is answered, and nothing else is."""


class WaitsForCalls(Refusal):
    """An agent's words wait for tool calls: it approves them once these are approved."""


class NotApprover(Refusal):
    """Somebody else must approve it; `approvers` says who. Whoever reviews may reject it."""

    def __init__(self, approvers: Approvers) -> None:
        super().__init__()
        self.approvers = approvers
