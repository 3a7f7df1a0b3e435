"""Decide held items: exactly one decision stands, it binds what was shown, and the agent hears of it.

Locks are taken in one order everywhere: the agent's state, then its items, then their decisions.
"""

from reviews.held.decisions.approving import withdraw_approval
from reviews.held.decisions.claiming import AFTER, Change, Circumstances, State
from reviews.held.decisions.deciding import Taken, decide, decide_or_approve
from reviews.held.decisions.edits import (
    Answer,
    Arguments,
    Edit,
    Edited,
    OutOfSchema,
    StillMasked,
    StillRisky,
    score_edit,
)
from reviews.held.decisions.refusals import (
    NotApprover,
    NotYet,
    Standing,
    WaitsForCalls,
    WantsAnswer,
    WantsPerson,
)
from reviews.held.decisions.releasing import decide_by_itself, settle, withdraw_all, withdraw_with_agent
from reviews.held.decisions.undoing import undo

__all__ = [
    "AFTER",
    "Answer",
    "Arguments",
    "Change",
    "Circumstances",
    "Edit",
    "Edited",
    "NotApprover",
    "NotYet",
    "OutOfSchema",
    "Standing",
    "State",
    "StillMasked",
    "StillRisky",
    "Taken",
    "WaitsForCalls",
    "WantsAnswer",
    "WantsPerson",
    "decide",
    "decide_by_itself",
    "decide_or_approve",
    "score_edit",
    "settle",
    "undo",
    "withdraw_all",
    "withdraw_approval",
    "withdraw_with_agent",
]
