"""LangChain's `create_agent` and LangGraph: no tool runs before metacog allows it.

    agent = create_agent(model, tools, middleware=[MetacogMiddleware()])

A call that is held waits in its thread or task. With `pause="interrupt"` the run pauses instead, and its process may
end; `resume_from_webhook` goes on with it in any process that has the same checkpointer. In a graph of your own:
`ToolNode(tools, wrap_tool_call=gate.wrap_tool_call, awrap_tool_call=gate.awrap_tool_call)`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall as ModelsCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.pregel import Pregel
from langgraph.types import Command, PregelTask, StateSnapshot, interrupt
from pydantic import BaseModel

from ..async_client import AsyncClient
from ..client import Client
from ..errors import MetacogError
from ..gating import Outcome, ToolCall
from ..reporting import Made
from ..webhooks import verified

THREAD, CALL = "thread_id", "tool_call_id"  # in the metadata of what is asked, which come back with the decision
RESUMED = "metacog_resumed"  # in the config of a run that goes on: what it asks again was asked before
MAX_WORDS = 4_000  # of the model's and the user's words beside a call, in characters
REMEMBERED = 1_024  # messages whose calls were all asked at once

Run = Callable[[ToolCallRequest], "ToolMessage | Command[Any]"]
RunAsync = Callable[[ToolCallRequest], Awaitable["ToolMessage | Command[Any]"]]
Graph = Pregel[Any, Any, Any, Any]


class NotYet(MetacogError):
    """A thread cannot go on now: answer the webhook with 503, and metacog sends it again."""


@dataclass(frozen=True)
class Question:
    """A model's call as it is asked about."""

    call: ToolCall
    run: str
    options: dict[str, Any]


class MetacogMiddleware(AgentMiddleware[Any, Any, Any]):
    """Ask metacog about each tool call, and run only what it allows, with the arguments that it allows.

    A call that is not allowed is answered to the model with a sentence that says why; one that a reviewer edited runs
    with the edited arguments, and its result says so. All calls of one message are asked about at once.
    """

    def __init__(
        self,
        client: Client | AsyncClient | None = None,
        *,
        pause: Literal["wait", "interrupt"] = "wait",
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
        super().__init__()
        self._given = client or Client()
        self._pause = pause
        self._tools, self._unreachable, self._require = tools, run_when_unreachable, require_review
        self._deadline, self._expires_in = deadline, expires_in
        self._asked: OrderedDict[tuple[Any, ...], None] = OrderedDict()
        self._remembering = threading.Lock()

    def wrap_tool_call(self, request: ToolCallRequest, handler: Run) -> ToolMessage | Command[Any]:
        if not self._gates(request.tool_call["name"]):
            result = handler(request)
            self._keep(request, result)
            return result
        told = self._wait(request) if self._pause == "wait" else self._look(request)
        with self._given.reporting(told, unless=GraphBubbleUp) as made:  # a tool that pauses the run is called again
            if (refused := not_run(request, told)) is not None:
                made.skip(str(refused.content))
                return refused
            result = handler(as_decided(request, told))
            note_result(made, result)
        return noted(result, told)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: RunAsync) -> ToolMessage | Command[Any]:
        if not self._gates(request.tool_call["name"]):
            result = await handler(request)
            self._keep(request, result)
            return result
        told = await (self._await(request) if self._pause == "wait" else self._alook(request))
        with self._given.reporting(told, unless=GraphBubbleUp) as made:
            if (refused := not_run(request, told)) is not None:
                made.skip(str(refused.content))
                return refused
            result = await handler(as_decided(request, told))
            note_result(made, result)
        return noted(result, told)

    def _wait(self, request: ToolCallRequest) -> Outcome:
        asking = self._question(request, request.tool_call, request.tool)
        client = self._client.for_run(asking.run)
        # Threads are few: those that wait for a person must not keep the other calls from being asked about.
        for other in self._others(request):
            if client.ask(other.call, deadline=0, **other.options).verdict == "unreachable":
                break
        return client.gate(asking.call, deadline=self._deadline, **asking.options)

    async def _await(self, request: ToolCallRequest) -> Outcome:
        asking = self._question(request, request.tool_call, request.tool)
        client = self._async_client.for_run(asking.run)
        for other in self._others(request):
            if (await client.ask(other.call, deadline=0, **other.options)).verdict == "unreachable":
                break
        return await client.gate(asking.call, deadline=self._deadline, **asking.options)

    def _look(self, request: ToolCallRequest) -> Outcome:
        """Ask, and pause the run until it is decided. What has been decided is read from metacog each time.

        What a run is resumed with is never believed, so nobody approves a call with it.
        """
        asking = self._question(request, request.tool_call, request.tool)
        client, again = self._client.for_run(asking.run), was_asked_before(request)
        told = client.ask(asking.call, **asking.options)
        while told.verdict == "pending" or (again and told.verdict == "unreachable"):
            now = client.gate(asking.call, deadline=0, **asking.options | {"unreachable": "deny"})
            if now.verdict not in ("pending", "unreachable"):
                return now
            interrupt(paused(request, told if now.held in (None, told.held) else now))
        return told

    async def _alook(self, request: ToolCallRequest) -> Outcome:
        asking = self._question(request, request.tool_call, request.tool)
        client, again = self._async_client.for_run(asking.run), was_asked_before(request)
        told = await client.ask(asking.call, **asking.options)
        while told.verdict == "pending" or (again and told.verdict == "unreachable"):
            now = await client.gate(asking.call, deadline=0, **asking.options | {"unreachable": "deny"})
            if now.verdict not in ("pending", "unreachable"):
                return now
            interrupt(paused(request, told if now.held in (None, told.held) else now))
        return told

    def _keep(self, request: ToolCallRequest, result: ToolMessage | Command[Any]) -> None:
        """Keep what a tool gave that nobody was asked about."""
        note_result(made := Made(), result)
        self._given.add_output(made.result, tool=request.tool_call["name"], session=thread_of(request))

    def _gates(self, name: str) -> bool:
        return self._tools is None or name in self._tools

    def _question(self, request: ToolCallRequest, call: ModelsCall, tool: BaseTool | None) -> Question:
        messages = messages_of(request.state)
        said = message_of(messages, call["id"])
        call_id = call["id"]
        if call_id and said is not None and said.id:
            # Some models count their calls from 0 in each message: without the message's id an approval of an
            # earlier call would be taken for this one's.
            call_id = f"{call_id}@{said.id}"
        thread = thread_of(request)
        options: dict[str, Any] = {"metadata": {CALL: call["id"]}}
        if thread is not None:
            options["metadata"][THREAD] = thread
            options["session"] = thread
        if call["name"] in self._unreachable:
            options["unreachable"] = "allow"
        if call["name"] in self._require:
            options["require_review"] = True
        if self._expires_in is not None:
            options["expires_in"] = self._expires_in
        asked_by = next((str(each.text) for each in reversed(messages) if isinstance(each, HumanMessage)), "")
        if asked_by:
            options["user_message"] = asked_by[:MAX_WORDS]
        words = str(said.text)[:MAX_WORDS] if said is not None else ""
        asked = ToolCall(call["name"], call["args"], call_id, schema_of(tool), words or None)
        return Question(asked, thread or self._given.run, options)

    def _others(self, request: ToolCallRequest) -> Iterator[Question]:
        """Give the other calls of the same message, to the first of them that gets here."""
        said = message_of(messages_of(request.state), request.tool_call["id"])
        if said is None or len(said.tool_calls) < 2:
            return
        message = (thread_of(request), said.id or id(said), *(each["id"] for each in said.tool_calls))
        with self._remembering:
            if message in self._asked:
                return
            self._asked[message] = None
            if len(self._asked) > REMEMBERED:
                self._asked.popitem(last=False)
        known = {tool.name: tool for tool in request.runtime.tools}
        answered = {each.tool_call_id for each in messages_of(request.state) if isinstance(each, ToolMessage)}
        for call in said.tool_calls:
            is_tool = call["name"] in known and self._gates(call["name"])  # else it is the form of a last answer
            if is_tool and call["id"] not in {request.tool_call["id"], *answered}:
                yield self._question(request, call, known[call["name"]])

    @cached_property
    def _client(self) -> Client:
        return self._given if isinstance(self._given, Client) else alike(self._given, Client)

    @cached_property
    def _async_client(self) -> AsyncClient:
        return self._given if isinstance(self._given, AsyncClient) else alike(self._given, AsyncClient)


AnyClient = TypeVar("AnyClient", Client, AsyncClient)


def alike(client: Client | AsyncClient, kind: type[AnyClient]) -> AnyClient:
    """Make the other kind of client, since an agent may be invoked with and without await."""
    other = kind(client.url, client._key, run=client.run, deadline=client.deadline, retry_seconds=client.retry_seconds)
    other._outputs = client._outputs
    return other


def messages_of(state: Any) -> Sequence[Any]:
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    return found or []


def message_of(messages: Sequence[Any], call_id: str | None) -> AIMessage | None:
    """Find the last message of the model that makes a call."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    return None


def configured(request: ToolCallRequest) -> Mapping[str, Any]:
    found: Mapping[str, Any] = request.runtime.config.get("configurable") or {}
    return found


def thread_of(request: ToolCallRequest) -> str | None:
    thread = configured(request).get("thread_id")
    return None if thread is None else str(thread)


def was_asked_before(request: ToolCallRequest) -> bool:
    return bool(configured(request).get(RESUMED))


def schema_of(tool: BaseTool | None) -> dict[str, Any] | None:
    if tool is None:
        return None
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        found = schema
    else:
        found = schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()
    return found


def not_run(request: ToolCallRequest, told: Outcome) -> ToolMessage | None:
    """Give what the model gets in place of a result, where the call may not run."""
    if not told.allowed:
        content = told.message
    elif told.verdict == "edit" and not isinstance(told.arguments, dict):
        content = f"Not done: a reviewer changed the arguments to {json.dumps(told.arguments)}, which is no object."
    else:
        return None
    call = request.tool_call
    return ToolMessage(content, name=call["name"], tool_call_id=call["id"] or "", status="error")


def as_decided(request: ToolCallRequest, told: Outcome) -> ToolCallRequest:
    if told.verdict != "edit":
        return request
    return request.override(tool_call={**request.tool_call, "args": told.arguments})


def note_result(made: Made, result: ToolMessage | Command[Any]) -> None:
    """Say what a tool gave; one that failed has given a message that says so."""
    for message in [result] if isinstance(result, ToolMessage) else messages_of(result.update):
        if isinstance(message, ToolMessage):
            made.result = message.content
            if message.status == "error":
                made.fail(str(message.text))


def noted(result: ToolMessage | Command[Any], told: Outcome) -> ToolMessage | Command[Any]:
    """Tell the model of an edit, since its own message still has the arguments that it wanted."""
    if told.verdict != "edit":
        return result
    if isinstance(result, ToolMessage):
        return with_note(result, told.message)
    if isinstance(result.update, dict) and isinstance(messages := result.update.get("messages"), list):
        told_of = [with_note(each, told.message) if isinstance(each, ToolMessage) else each for each in messages]
        return replace(result, update={**result.update, "messages": told_of})
    return result


def with_note(message: ToolMessage, note: str) -> ToolMessage:
    if isinstance(message.content, str):
        content: Any = f"{note}\n\n{message.content}"
    else:
        content = [{"type": "text", "text": note}, *message.content]
    return message.model_copy(update={"content": content})


def paused(request: ToolCallRequest, told: Outcome) -> dict[str, Any]:
    """Describe a pause, as whoever runs the graph sees it in `__interrupt__`."""
    call = request.tool_call
    return {
        "type": "metacog_review",
        "held": told.held,
        "review_url": told.review_url,
        CALL: call["id"],
        "name": call["name"],
        "arguments": call["args"],
    }


# Going on with a paused run


def resume_from_webhook(
    graph: Graph,
    headers: Mapping[str, str],
    body: bytes | str,
    secrets: str | Sequence[str],
    config: RunnableConfig | None = None,
) -> dict[str, Any] | None:
    """Check a webhook's signature, and go on with the thread that its decision is for; see `resume`.

    `secrets` are the agent's signing secrets. BadSignature where none of them signed it.
    """
    event = verified(headers, body, secrets)
    return resume(graph, event["data"], config) if event["type"] in ("item.decided", "item.expired") else None


async def aresume_from_webhook(
    graph: Graph,
    headers: Mapping[str, str],
    body: bytes | str,
    secrets: str | Sequence[str],
    config: RunnableConfig | None = None,
) -> dict[str, Any] | None:
    """As `resume_from_webhook`, with await."""
    event = verified(headers, body, secrets)
    return await aresume(graph, event["data"], config) if event["type"] in ("item.decided", "item.expired") else None


def resume(graph: Graph, decision: Mapping[str, Any], config: RunnableConfig | None = None) -> dict[str, Any] | None:
    """Go on with the thread that a decision (of a webhook, or of `Client.decisions()`) is for, and return its result.

    None where there is nothing to do: another agent's item, or a call that has run. The same decision may come any
    number of times. NotYet where the thread is still running, has failed, or metacog cannot be asked. Threads are taken
    one at a time within a process; let one process resume them.
    """
    thread = thread_in(decision)
    if thread is None:
        return None
    config = going_on(thread, decision, config)
    with lock_of(thread):
        if not is_due(graph.get_state(config, subgraphs=True), decision):
            return None
        result: dict[str, Any] = graph.invoke(None, config)
        if is_waiting(graph.get_state(config, subgraphs=True), decision):
            raise NotYet("metacog could not be asked for the decision.")
    return result


async def aresume(
    graph: Graph, decision: Mapping[str, Any], config: RunnableConfig | None = None
) -> dict[str, Any] | None:
    """As `resume`, with await."""
    thread = thread_in(decision)
    if thread is None:
        return None
    config = going_on(thread, decision, config)
    async with async_lock_of(thread):
        if not is_due(await graph.aget_state(config, subgraphs=True), decision):
            return None
        result: dict[str, Any] = await graph.ainvoke(None, config)
        if is_waiting(await graph.aget_state(config, subgraphs=True), decision):
            raise NotYet("metacog could not be asked for the decision.")
    return result


finding = threading.Lock()
locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
async_locks: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()


def lock_of(thread: str) -> threading.Lock:
    with finding:
        return locks.setdefault(thread, threading.Lock())


def async_lock_of(thread: str) -> asyncio.Lock:
    with finding:
        return async_locks.setdefault((id(asyncio.get_running_loop()), thread), asyncio.Lock())


def thread_in(decision: Mapping[str, Any]) -> str | None:
    metadata = decision.get("metadata") or {}
    return metadata.get(THREAD) if metadata.get(CALL) else None


def going_on(thread: str, decision: Mapping[str, Any], config: RunnableConfig | None) -> RunnableConfig:
    given = config or {}
    own = {"thread_id": thread, RESUMED: decision["held"]}
    return {**given, "configurable": {**given.get("configurable", {}), **own}}


def is_due(state: StateSnapshot, decision: Mapping[str, Any]) -> bool:
    """Tell whether a thread may go on because of a decision; NotYet where that cannot be told, or not now."""
    call_id = decision["metadata"][CALL]
    if state.created_at is None:
        raise NotYet("This checkpointer does not know the thread.")
    if not state.next or call_id in answered_in(state):
        return False
    tasks = list(tasks_of(state))
    for task in tasks:
        if task.error is not None:
            # Its tool may have done its work before it failed: nobody but the program itself starts that again.
            raise NotYet(f"The run has failed in {task.name}: {task.error}")
        if task.result is None and not task.interrupts:
            raise NotYet("The run has not paused yet.")
    return is_waiting(state, decision)


def is_waiting(state: StateSnapshot, decision: Mapping[str, Any]) -> bool:
    call_id = decision["metadata"][CALL]
    values = [each.value for task in tasks_of(state) for each in task.interrupts if task.result is None]
    ours = [each for each in values if isinstance(each, dict) and each.get("type") == "metacog_review"]
    # Without a held item: metacog could not be asked when this call was looked at last.
    return any(each["held"] == decision["held"] or (each["held"] is None and each[CALL] == call_id) for each in ours)


def tasks_of(state: StateSnapshot) -> Iterator[PregelTask]:
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot):  # a graph in the graph
            yield from tasks_of(task.state)
        else:
            yield task


def answered_in(state: StateSnapshot) -> Iterator[str]:
    """Give the ids of the last message's calls that have a result."""
    values = [state.values]
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from answered_in(task.state)
        values.append(task.result)
    for value in values:
        for message in reversed(messages_of(value)):
            if isinstance(message, AIMessage):
                break  # ids before it may be those of other calls
            if isinstance(message, ToolMessage):
                yield message.tool_call_id
