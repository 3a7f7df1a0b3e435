"""Ask metacog before an agent acts.

from metacog_client import Client, ToolCall

outcome = Client().gate(ToolCall("refund", {"order": "4711", "eur": 20}, call_id="call_7"))
if outcome.allowed:
    refund(**outcome.arguments)
"""

from .async_client import AsyncClient
from .client import Client
from .errors import BadSignature, MetacogError, NotAnswered, NotConfigured, Refused, Unreachable
from .gating import Outcome, OutcomeVerdict, Text, ToolCall
from .spool import Spool, SpoolFull
from .webhooks import Event
from .webhooks import verified as verify_webhook

__all__ = [
    "AsyncClient",
    "BadSignature",
    "Client",
    "Event",
    "MetacogError",
    "NotAnswered",
    "NotConfigured",
    "Outcome",
    "OutcomeVerdict",
    "Refused",
    "Spool",
    "SpoolFull",
    "Text",
    "ToolCall",
    "Unreachable",
    "verify_webhook",
]
