"""The question that comes before each call of a tool."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import journal
from ..async_client import AsyncClient
from ..gating import Outcome, ToolCall
from . import wire
from .definitions import Definitions

PROGRESS_SECONDS = 5.0
MAX_DESCRIPTION = 2_000

USED = (
    "Not done: the same call was asked about at the same time, and its approval is used. "
    "Call the tool again if it has to be called once more."
)
NO_OBJECT = "Not done: a reviewer changed the arguments to something that is no JSON object, and no tool takes that."

Tell = Callable[[int, str], Awaitable[None]]


@dataclass
class Gate:
    """What every call is asked with. `wait` is for how many seconds a decision is waited for in one call.

    A call of a tool that says something else of itself than before is told to people, and if `holds_changed` held for
    them, whatever rules and grants say, until they have approved one.
    """

    client: AsyncClient
    journal: journal.Journal
    session: str
    definitions: Definitions
    prefix: str = ""
    wait: float = 50.0
    expires_in: int | None = None
    holds_changed: bool = True
    # The latest to ask about a call is the one whose client still listens: it alone makes use of an approval.
    _latest: dict[str, object] = field(default_factory=dict)

    async def decide(self, name: str, arguments: Any, tool: dict[str, Any] | None, tell: Tell) -> Outcome:
        """Ask about one call and wait; `tool` is how its server describes it, `tell` is told that it waits."""
        call = self._call(name, arguments, tool)
        changed = self.definitions.changes(name, tool)
        # Asked about under another definition it is another question.
        what = [call.name, wire.canonical(arguments), *([self.definitions.digest(tool)] if changed else [])]
        key = journal.key_of(self.client.url, self.session, *what)
        call = replace(call, call_id=self.journal.open(key))
        assert call.call_id
        mine = self._latest[key] = object()
        try:
            outcome = await self._asked(call, name, changed, tell)
            if outcome.verdict in ("pending", "unreachable"):
                return outcome
            if self._latest.get(key) is not mine:
                return outcome if not outcome.allowed else replace(outcome, allowed=False, message=USED)
            if not self.journal.settle(key, call.call_id) and outcome.allowed:
                return replace(outcome, allowed=False, message=USED)
        finally:
            if self._latest.get(key) is mine:
                del self._latest[key]
        if tool is not None and changed and outcome.allowed:
            self.definitions.allow(name, tool)
        if outcome.verdict == "edit" and not isinstance(outcome.arguments, dict):
            with self.client.reporting(outcome) as made:
                made.skip(NO_OBJECT)
            return replace(outcome, allowed=False, message=NO_OBJECT)
        return outcome

    async def _asked(self, call: ToolCall, name: str, changed: Sequence[str], tell: Tell) -> Outcome:
        how: dict[str, Any] = {
            "session": self.session,
            "metadata": {"via": "mcp-proxy", "tool": name[:200]}
            | ({"definition_changed": ", ".join(changed)} if changed else {}),
            "require_review": bool(changed) and self.holds_changed,
            "expires_in": self.expires_in,
            "deadline": self.wait,
        }
        outcome = await self.client.ask(call, **how)
        if outcome.verdict != "pending":
            return outcome
        url = outcome.review_url
        async with _telling(tell, f"Waiting for a review of {call.name}" + (f": {url}" if url else "")):
            # The same question once more: it is answered with the same held item, and its decision.
            return await self.client.gate(call, **how)

    def _call(self, name: str, arguments: Any, tool: dict[str, Any] | None) -> ToolCall:
        schema = (tool or {}).get("inputSchema")
        if not isinstance(schema, dict):
            schema = None
        description = (tool or {}).get("description")
        if not isinstance(description, str) or not description.strip():
            description = None
        hints = (tool or {}).get("annotations")
        return ToolCall(
            self.prefix + name,
            arguments,
            schema=schema,
            description=description and description[:MAX_DESCRIPTION],
            annotations=hints if isinstance(hints, dict) else None,
        )


@contextlib.asynccontextmanager
async def _telling(tell: Tell, text: str) -> AsyncIterator[None]:
    async def ticking() -> None:
        count = 0
        while True:
            await tell(count, text)
            count += 1
            await asyncio.sleep(PROGRESS_SECONDS)

    task = asyncio.create_task(ticking())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def sentence(outcome: Outcome) -> str:
    """Say to the model why its call was not made, and what it can do."""
    text = outcome.message
    if outcome.verdict == "pending":
        text += " Call the tool again with the same arguments to go on waiting: it is the same review then."
    return text
