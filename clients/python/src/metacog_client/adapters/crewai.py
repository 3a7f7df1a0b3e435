"""CrewAI: no tool of a crew runs before metacog allows it.

    with Gate(Client(run="invoice-4711")):
        crew.kickoff()

CrewAI calls its hooks in the thread that is about to run the tool, and waits for them, so a held call waits there for a
person. It runs a tool all the same when a hook raises; these never do.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Collection
from contextvars import ContextVar
from typing import Any

from crewai.hooks import (
    ToolCallHookContext,
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)

from ..client import Client
from ..gating import Outcome, ToolCall, derived, outcome
from ..reporting import Made

MAX_WORDS = 4_000  # of a task's description beside a call, in characters
MAX_NAME = 255  # of an agent's role in the metadata
# What a tool that raised gives: a call that its model made by itself, and one that was written as text.
FAILED = ("Error executing tool: ", "I encountered an error while trying to use the tool. ")


class Gate:
    """Ask metacog about each tool call of every crew in this process, between `with` and its end.

    A call that is not allowed is answered to the model with a sentence that says why; one that a reviewer edited runs
    with the edited arguments, and its result says so. CrewAI has no ids of calls: one is made from the client's run,
    the task, the agent, the tool, its arguments and how often this very call was made before. A crew that is started
    again under the same `run` so finds what is held of it; give each run a new name. Register hooks of your own that
    change arguments before this one.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        tools: Collection[str] | None = None,
        run_when_unreachable: Collection[str] = (),
        require_review: Collection[str] = (),
        deadline: float | None = None,
        expires_in: int | None = None,
    ) -> None:
        """Set up a gate; without `client` it is made from METACOG_URL and METACOG_API_KEY.

        `tools` names those that are asked about (all), `run_when_unreachable` those that run when metacog does not
        answer, `require_review` those that a person decides in any case. `deadline` is for how many seconds a decision
        is waited for (the client's), `expires_in` after how many it expires undecided.
        """
        self._client = client or Client()
        self._tools, self._unreachable, self._require = tools, run_when_unreachable, require_review
        self._deadline, self._expires_in = deadline, expires_in
        self._made: Counter[str] = Counter()
        self._counting = threading.Lock()
        # Of the call that this thread or task is about to make; its arguments tell it from those of others.
        self._told: ContextVar[tuple[dict[str, Any], Outcome] | None] = ContextVar("metacog_told", default=None)

    def __enter__(self) -> Gate:
        register_before_tool_call_hook(self.before)
        register_after_tool_call_hook(self.after)
        return self

    def __exit__(self, *error: object) -> None:
        unregister_before_tool_call_hook(self.before)
        unregister_after_tool_call_hook(self.after)

    def before(self, context: ToolCallHookContext) -> bool | None:
        """Wait until the call is decided; False: it is not made."""
        try:
            if self._tools is not None and context.tool_name not in self._tools:
                return None
            decided = self._ask(context)
            told = refused_edit(context, decided)
            if told is not decided:
                with self._client.reporting(decided) as made:
                    made.skip(told.message)
            if told.verdict == "edit":
                context.tool_input.clear()
                context.tool_input.update(told.arguments)
            self._told.set((context.tool_input, told))
        except Exception as error:  # CrewAI would make the call
            told = outcome("unreachable", reason=f"{type(error).__name__}: {error}")
            self._told.set((context.tool_input, told))
        return None if told.allowed else False

    def after(self, context: ToolCallHookContext) -> str | None:
        """Say what became of a call. Tell the model why one was not made, or made with other arguments."""
        mine = self._told.get()
        if mine is None or mine[0] is not context.tool_input:
            self._client.add_output(context.tool_result, tool=context.tool_name)
            return None
        self._told.set(None)
        told = mine[1]
        if not told.allowed:
            return told.message
        with self._client.reporting(told) as made:
            note_result(made, context)
        return f"{told.message}\n\n{context.tool_result}" if told.verdict == "edit" else None

    def _ask(self, context: ToolCallHookContext) -> Outcome:
        name, arguments = context.tool_name, dict(context.tool_input)
        role = str(getattr(context.agent, "role", "")).strip()
        task = getattr(context.task, "key", "")  # made from what the task says, so it is the same in another process
        call = derived(task, role, name, arguments)
        with self._counting:
            self._made[call] += 1
            times = self._made[call]
        about = f"{role}: {getattr(context.task, 'description', '')}".strip(": ")
        asked = ToolCall(name, arguments, f"{call}-{times}", schema_of(context), about[:MAX_WORDS] or None)
        return self._client.gate(
            asked,
            metadata={"agent": role[:MAX_NAME]},
            require_review=name in self._require,
            expires_in=self._expires_in,
            deadline=self._deadline,
            unreachable="allow" if name in self._unreachable else "deny",
        )


def schema_of(context: ToolCallHookContext) -> dict[str, Any] | None:
    model = getattr(context.tool, "args_schema", None)
    if model is None:
        return None
    schema: dict[str, Any] = model.model_json_schema()
    return schema


def note_result(made: Made, context: ToolCallHookContext) -> None:
    """Say what a tool gave. One that raised, or says itself that it failed (a `ToolFailure`), has failed."""
    made.result = getattr(context, "raw_tool_result", context.tool_result)
    text = str(context.tool_result or "").lstrip()
    if text.startswith(FAILED) or type(made.result).__name__ == "ToolFailure":
        made.fail(text)


def refused_edit(context: ToolCallHookContext, told: Outcome) -> Outcome:
    """Refuse an edit that CrewAI cannot make, or the call would be made as the model wanted it."""
    if told.verdict != "edit":
        return told
    wanted = json.dumps(told.arguments, ensure_ascii=False)
    if not isinstance(told.arguments, dict):
        return outcome("reject", reason=f"A reviewer changed the arguments to {wanted}, which is no object.")
    if not context.tool_input and told.arguments:
        # Where its model writes calls as text, CrewAI hands its hooks an empty dict that it does not read again.
        return outcome("reject", reason=f"A reviewer wants it to be called with {wanted}.")
    return told
