"""Deterministic second thoughts about an agent's text: plain values in, plain values out.

Imports no Django and no Celery; reads no clock, file, network or setting while it scores.
"""

from .hesitation.beside import texts_of
from .hesitation.completion import failing_in
from .hesitation.given import figures_of
from .hesitation.patterns import Pattern, PatternError, patterns_in
from .hesitation.seed import Hesitation
from .parts import History
from .policy.errors import PolicyError
from .policy.policy import Policy
from .scorer import ENGINE, Scored, Scorer, given_in
from .signals import Signal
from .text.spans import Span
from .text.tags import Found, Item, find_items, items_of
from .text.timesense import advance_intent, format_intent, temporal_markers
from .wire.wire import Refused, check_response, read_response

__all__ = [
    "ENGINE",
    "Found",
    "Hesitation",
    "History",
    "Item",
    "Pattern",
    "PatternError",
    "Policy",
    "PolicyError",
    "Refused",
    "Scored",
    "Scorer",
    "Signal",
    "Span",
    "advance_intent",
    "check_response",
    "failing_in",
    "figures_of",
    "find_items",
    "format_intent",
    "given_in",
    "items_of",
    "patterns_in",
    "read_response",
    "temporal_markers",
    "texts_of",
]
