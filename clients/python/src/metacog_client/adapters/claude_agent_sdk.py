"""The Claude Agent SDK: its agent's tools ask metacog before they run, in this process.

    gate = Gate(AsyncClient(run="order-4711"))
    options = ClaudeAgentOptions(hooks=gate.hooks)

The hooks ask about every tool, Claude Code's own and those of MCP servers, before Claude Code's permissions do.
`can_use_tool=gate.can_use_tool` asks only where those would ask a person. An edited call runs with the arguments as
they were decided, and the model reads that it does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from claude_agent_sdk import (
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from claude_agent_sdk.types import HookCallback, HookEvent

from ..async_client import AsyncClient
from ..gating import Outcome, ToolCall
from ..hooks.dialects import CLAUDE_CODE, Answer, Call, Ran, schema_of

SPARE_SECONDS = 60.0  # to post and to hear of the decision, beyond the time that it is waited for
LONGEST_SECONDS = 30 * 86_400.0  # that a hook of a client without a deadline may take


class Gate:
    """Asks about the calls of one agent, under the run of its client; a session of Claude Code is a session here."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        deadline: float | None = None,
        passed: Literal["nothing", "allow"] = "nothing",
        schemas: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        """`passed` says what becomes of calls that metacog does not hold: Claude Code's own permissions, or allow.

        `schemas` are the JSON Schemas that an edit must meet, by tool (`mcp__till__refund`): nobody tells a hook.
        `options` are more of what `AsyncClient.gate` takes, such as `expires_in`.
        """
        self.client, self.deadline, self.passed, self.options = client, deadline, passed, options
        self.schemas = schemas or {}
        self._approved: dict[str, Outcome] = {}  # by call, until it has run

    @property
    def hooks(self) -> dict[HookEvent, list[HookMatcher]]:
        """Return the hooks for `ClaudeAgentOptions`; a hook that fails or is late blocks the tool."""
        waits = self.client.deadline if self.deadline is None else self.deadline
        limit = min(LONGEST_SECONDS, (math.inf if waits is None else waits) + SPARE_SECONDS)
        before = HookMatcher(hooks=[cast(HookCallback, self._before)], timeout=limit, on_failure="block")
        after = HookMatcher(hooks=[cast(HookCallback, self._after)])
        return {"PreToolUse": [before], "PostToolUse": [after], "PostToolUseFailure": [after]}

    async def can_use_tool(
        self, name: str, given: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        """Decide where Claude Code would ask a person; for `ClaudeAgentOptions(can_use_tool=…)`."""
        asked = ToolCall(name, given, context.tool_use_id, self.schemas.get(name) or schema_of(name, given))
        told = await self.client.gate(asked, deadline=self.deadline, **self.options)
        if not told.allowed:
            return PermissionResultDeny(message=told.message)
        if not isinstance(told.arguments, dict):
            return PermissionResultDeny(message="Not done: a reviewer's arguments are no object.")
        return PermissionResultAllow(updated_input=told.arguments)

    async def _before(self, told: Mapping[str, Any], call_id: str | None, context: Any) -> dict[str, Any]:
        call = CLAUDE_CODE.read(json.dumps(told).encode())
        if not isinstance(call, Call):
            raise TypeError("a hook before a tool was told of another event")
        asked = replace(call.asked, schema=self.schemas.get(call.asked.name) or call.asked.schema)
        metadata = {**call.around, **(self.options.get("metadata") or {})}
        options = {"session": call.session, **self.options, "metadata": metadata}
        outcome = await self.client.gate(asked, deadline=self.deadline, **options)
        answer = answer_of(outcome, self.passed)
        if outcome.held and answer.do == "allow" and asked.call_id:
            self._approved[asked.call_id] = outcome
        written: dict[str, Any] = json.loads(CLAUDE_CODE.write(answer) or "{}")
        return written

    async def _after(self, told: Mapping[str, Any], call_id: str | None, context: Any) -> dict[str, Any]:
        """Say what became of a call."""
        ran = CLAUDE_CODE.read(json.dumps(told, default=str).encode())
        if not isinstance(ran, Ran):
            return {}
        if outcome := self._approved.pop(ran.call_id, None):
            with self.client.reporting(outcome) as made:
                made.result, made.status, made.detail = ran.result, ran.status, ran.detail
        else:
            session = self.options.get("session") or ran.session
            self.client.add_output(ran.result or ran.detail, tool=told["tool_name"], session=session)
        return {}


def answer_of(outcome: Outcome, passed: Literal["nothing", "allow"]) -> Answer:
    if not outcome.allowed:
        return Answer("deny", outcome.message)
    if not outcome.held:  # no rule and no score holds it, or this call may run unasked
        return Answer(passed, outcome.message)
    if outcome.verdict != "edit":
        return Answer("allow", outcome.message)
    if not isinstance(outcome.arguments, dict):
        return Answer("deny", "A reviewer changed the arguments into what is no object, so this was not done.")
    return Answer("allow", outcome.message, outcome.arguments)
