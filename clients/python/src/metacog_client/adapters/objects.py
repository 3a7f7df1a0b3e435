"""Ask about calls whose arguments have names, which is all that these frameworks make."""

from __future__ import annotations

from typing import Any

from ..async_client import AsyncClient
from ..gating import Outcome, ToolCall, outcome


async def gated(client: AsyncClient, call: ToolCall, **options: Any) -> Outcome:
    """Wait for the decision; an edit of the arguments into what is no object is refused, and reported as skipped."""
    told = await client.gate(call, **options)
    if not told.allowed or isinstance(told.arguments, dict):
        return told
    refused = outcome("reject", reason="A reviewer changed the arguments into what is no object.")
    with client.reporting(told) as made:
        made.skip(refused.message)
    return refused
