"""Between an MCP client and a server: each message goes through as it is; a call of a tool is asked about first."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..gating import Outcome
from . import wire
from .arguments import fault_of
from .elicitation import CANCELLED, CAPABILITIES, MAX_ROUNDS, People, Who, forms_in, is_form, with_elicitation
from .gate import Gate, sentence

LIST_SECONDS = 10.0
KNOWN_SECONDS = 300.0  # not every server says that its tools have changed
MAX_PAGES = 100
MAX_CONTINUED = 1_000
PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"  # in `_meta` of each request from 2026-07-28 on
REVIEW = "io.metacog/review"  # in `_meta` of the result of a call whose arguments a reviewer changed
NOT_SAID = object()
# While a call waits, its progress creeps: what the server says of it afterwards is more, as the protocol demands.
CREEP = 1e-6

ToClient = Callable[[bytes], Awaitable[None]]
ToServer = Callable[[wire.Message], Awaitable[None]]


@dataclass(frozen=True)
class _Made:
    """A call that was handed on: what the client asked, and what it was made with."""

    name: str
    asked: str
    arguments: Any
    outcome: Outcome | None
    message: wire.Message | None = None  # as it was handed on, where people answer what the server asks meanwhile
    rounds: int = 0


@dataclass
class Relay:
    gate: Gate
    to_client: ToClient
    to_server: ToServer
    skip_read_only: bool = False
    people: People | None = None  # who may answer what the server asks

    _asked: dict[Any, asyncio.Task[None]] = field(default_factory=dict)  # what people are asked, by the server's id
    _going_on: set[asyncio.Task[None]] = field(default_factory=set)
    tools: dict[str, wire.Message] = field(default_factory=dict)
    _known_until: float = 0.0
    _waiting: dict[Any, asyncio.Task[None]] = field(default_factory=dict)  # calls that the server has not seen, by id
    _made: dict[Any, _Made] = field(default_factory=dict)
    _listing: dict[Any, bool] = field(default_factory=dict)  # the client's requests for tools; true: for a later page
    _own: dict[str, asyncio.Future[wire.Message]] = field(default_factory=dict)
    _continued: dict[tuple[str, str, str | None], _Made] = field(default_factory=dict)

    # -- from the client -------------------------------------------------------------------------

    async def from_client(self, line: bytes) -> None:
        try:
            message = wire.read(line)
            # Protocols from 2025-06-18 on have no batches; an older one's messages are taken one by one.
            for each in message if isinstance(message, list) else [message]:
                await self._hand_on(each)
        except wire.Unclear as error:
            await self.to_client(wire.write(wire.error(wire.id_in(line), wire.INVALID_REQUEST, str(error))))
        except RecursionError:
            text = "The message is nested too deeply."
            await self.to_client(wire.write(wire.error(wire.id_in(line), wire.INVALID_REQUEST, text)))

    async def _hand_on(self, message: wire.Message) -> None:
        if wire.is_call(message):
            await self._call(message)
        elif message.get("method") == "initialize":
            await self.to_server(await self._introduced(message))
        elif message.get("method") == "notifications/cancelled" and self._cancelled(message):
            return  # the server has not heard of that call
        else:
            if message.get("method") == "tools/list" and wire.is_id(message.get("id")):
                params = message.get("params")
                self._listing[message["id"]] = isinstance(params, dict) and params.get("cursor") is not None
            await self.to_server(message)

    async def _introduced(self, message: wire.Message) -> wire.Message:
        """Have the server know that its questions are answered, although its client may not be able to."""
        params = message.get("params")
        if not isinstance(params, dict) or not await self._do_people_answer():
            return message
        return {**message, "params": {**params, "capabilities": with_elicitation(params.get("capabilities"))}}

    async def _do_people_answer(self) -> bool:
        return self.people is not None and await self.people.whose() == "people"

    def _cancelled(self, message: wire.Message) -> bool:
        params = message.get("params")
        said = params.get("requestId") if isinstance(params, dict) else None
        if not wire.is_id(said):
            return False
        if made := self._made.pop(said, None):
            self._report(made, {"error": {"message": "The client cancelled it."}})
        task = self._waiting.pop(said, None)
        if task is None:
            return False
        task.cancel()
        return True

    async def _call(self, message: wire.Message) -> None:
        said, params = message.get("id"), message.get("params")
        if not wire.is_id(said):
            return  # nobody could be told what became of it, so nothing becomes of it
        if not isinstance(params, dict) or not isinstance(params.get("name"), str):
            text = "A call needs params with the tool's name."
            await self.to_client(wire.write(wire.error(said, wire.INVALID_PARAMS, text)))
        elif said in self._waiting or said in self._made:
            text = "There is a call under this id already."
            await self.to_client(wire.write(wire.error(said, wire.INVALID_REQUEST, text)))
        else:
            task = asyncio.create_task(self._reviewed(message))
            self._waiting[said] = task

    async def _reviewed(self, message: wire.Message) -> None:
        said, params = message["id"], message["params"]
        try:
            made, told = await self._decided(message)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever it is: what could not be asked about is not done
            print(f"metacog mcp-proxy: {type(error).__name__}: {error}", file=sys.stderr)
            made, told = None, "Not done: this call could not be reviewed. The log of the proxy says why."
        meta = params.get("_meta")
        able = meta.get(CAPABILITIES) if isinstance(meta, dict) and PROTOCOL_VERSION in meta else NOT_SAID
        do_people_answer = made is not None and able is not NOT_SAID and await self._do_people_answer()
        if self._waiting.get(said) is not asyncio.current_task():
            return  # cancelled meanwhile
        # From here to the server's pipe nothing else comes in between.
        del self._waiting[said]
        if made is None:
            await self.to_client(wire.write(_denial(said, params, told)))
            return
        if made.outcome and made.outcome.verdict == "edit":
            params = {**params, "arguments": made.arguments}
        message = {**message, "params": params}
        if do_people_answer:
            message["params"] = {**params, "_meta": {**meta, CAPABILITIES: with_elicitation(able)}}
            made = replace(made, message=message)
        self._made[said] = made
        await self.to_server(message)

    async def _decided(self, message: wire.Message) -> tuple[_Made | None, str]:
        params = message["params"]
        name, arguments = params["name"], params.get("arguments", {})
        asked = wire.canonical(arguments)
        if "requestState" in params or "inputResponses" in params:
            # The server wanted something of the user in the middle of a call that was let through: it goes on, once.
            known = self._continued.pop((name, asked, params.get("requestState")), None)
            if known:
                return known, ""
        are_all_known = await self._know(name, params)
        tool = self.tools.get(name)
        if self.skip_read_only and _is_read_only(tool):
            return _Made(name, asked, arguments, None), ""
        if are_all_known and (fault := fault_of(name, arguments, self.tools)):
            return None, fault
        outcome = await self.gate.decide(name, arguments, tool, lambda count, text: self._tell(params, count, text))
        if outcome.allowed:
            return _Made(name, asked, outcome.arguments, outcome), ""
        return None, sentence(outcome)

    async def _tell(self, params: wire.Message, count: int, text: str) -> None:
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if wire.is_id(token):
            told = {"progressToken": token, "progress": CREEP * count, "message": text}
            await self.to_client(wire.write({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}))

    # -- the tools, as their server describes them -----------------------------------------------

    async def _know(self, name: str, params: wire.Message) -> bool:
        """Learn of this tool; return whether all tools are known, as far as this one is not among them."""
        if time.monotonic() > self._known_until or name not in self.tools:
            with contextlib.suppress(asyncio.TimeoutError):
                return await asyncio.wait_for(self._list(params), LIST_SECONDS)
            return False
        return True

    async def _list(self, params: wire.Message) -> bool:
        """Ask the server itself: a client may have its list from elsewhere, or not have asked. False: it is not all."""
        meta = params.get("_meta")
        meta = {key: value for key, value in meta.items() if key != "progressToken"} if isinstance(meta, dict) else {}
        found: dict[str, wire.Message] = {}
        cursor: Any = None
        for _ in range(MAX_PAGES):
            ours = ({"_meta": meta} if meta else {}) | ({"cursor": cursor} if cursor is not None else {})
            result = await self._ask({"method": "tools/list", "params": ours})
            if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
                return False
            found |= _tools_in(result)
            cursor = result.get("nextCursor")
            if cursor is None:
                break
        self._learn(found, True)
        return cursor is None

    def _learn(self, tools: dict[str, wire.Message], are_all: bool) -> None:
        self.tools = tools
        self.gate.definitions.see(tools)
        if are_all:
            self._known_until = time.monotonic() + KNOWN_SECONDS

    async def _ask(self, request: wire.Message) -> Any:
        said = f"metacog-{uuid.uuid4()}"
        self._own[said] = asyncio.get_running_loop().create_future()
        try:
            await self.to_server({"jsonrpc": "2.0", "id": said, **request})
            return (await self._own[said]).get("result")
        finally:
            del self._own[said]

    # -- from the server -------------------------------------------------------------------------

    async def from_server(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            if "method" not in message and wire.is_id(said := message.get("id")):
                if said in self._own:
                    if not self._own[said].done():
                        self._own[said].set_result(message)
                    return
                if self._goes_on(said, message):
                    return
                changed = self._answered(said, message)
                line = line if changed is None else wire.write(changed)
            elif self.people and is_form(message) and wire.is_id(said := message.get("id")):
                if (who := await self.people.whose()) != "agent":
                    self._asked[said] = asyncio.create_task(self._put(said, message["params"], who))
                    return
            elif message.get("method") == "notifications/cancelled" and self._taken_back(message):
                return  # the client has not heard of that question
            elif message.get("method") == "notifications/tools/list_changed":
                self._known_until = 0.0
        await self.to_client(line)

    async def _put(self, said: Any, params: wire.Message, who: Who | None) -> None:
        """Put a server's question to people, and hand it their answer; it has none where nobody knows whose it is."""
        assert self.people
        try:
            result = await self.people.answer(params) if who else CANCELLED
        finally:
            self._asked.pop(said, None)
        await self.to_server({"jsonrpc": "2.0", "id": said, "result": result})

    def _taken_back(self, message: wire.Message) -> bool:
        params = message.get("params")
        said = params.get("requestId") if isinstance(params, dict) else None
        task = self._asked.pop(said, None) if wire.is_id(said) else None
        return task is not None and task.cancel()

    def _goes_on(self, said: Any, message: wire.Message) -> bool:
        """Say whether a call goes on once people have answered what its server asks; they are asked then."""
        made, result = self._made.get(said), message.get("result")
        if made is None or made.message is None or made.rounds >= MAX_ROUNDS or not isinstance(result, dict):
            return False
        forms = forms_in(result) if result.get("resultType") == "input_required" else None
        if forms is None:
            return False
        task = asyncio.create_task(self._go_on(said, made, forms, result.get("requestState")))
        self._going_on.add(task)
        task.add_done_callback(self._going_on.discard)
        return True

    async def _go_on(self, said: Any, made: _Made, forms: wire.Message, state: Any) -> None:
        assert self.people
        assert made.message
        answers = {name: await self.people.answer(form["params"]) for name, form in forms.items()}
        if self._made.get(said) is not made:
            return  # the client has cancelled it
        params = {**made.message["params"], "inputResponses": answers}
        message = {**made.message, "params": params | ({} if state is None else {"requestState": state})}
        self._made[said] = replace(made, rounds=made.rounds + 1)
        await self.to_server(message)

    def _answered(self, said: Any, message: wire.Message) -> wire.Message | None:
        """Learn from an answer to the client; return what it is to be changed to, if so."""
        result = message.get("result")
        if said in self._listing:
            is_later_page = self._listing.pop(said)
            if isinstance(result, dict):
                self._learn((self.tools if is_later_page else {}) | _tools_in(result), result.get("nextCursor") is None)
        made = self._made.pop(said, None)
        if made is None:
            return None
        if isinstance(result, dict) and result.get("resultType") == "input_required":
            if len(self._continued) >= MAX_CONTINUED:
                self._continued.pop(next(iter(self._continued)))
            self._continued[made.name, made.asked, result.get("requestState")] = made
            return None
        self._report(made, message)
        if not isinstance(result, dict):
            return None
        if made.outcome and made.outcome.verdict == "edit" and isinstance(result.get("content"), list):
            return {**message, "result": _with_notice(result, made.outcome)}
        return None

    def _report(self, made: _Made, message: wire.Message) -> None:
        """Say what became of a call: a result, one that says that it is an error, or an error of the protocol."""
        if made.outcome is None:
            self.gate.client.add_output(message.get("result"), tool=made.name, session=self.gate.session)
            return
        error, result = message.get("error"), message.get("result")
        with self.gate.client.reporting(made.outcome) as ran:
            ran.result = result
            if error is not None:
                ran.fail(str(error.get("message", "")) if isinstance(error, dict) else "")
            elif isinstance(result, dict) and result.get("isError") is True:
                content = result.get("content")
                parts = content if isinstance(content, list) else []
                ran.fail(" ".join(str(each["text"]) for each in parts if isinstance(each, dict) and "text" in each))

    def end(self) -> None:
        """Give up on answers: the server has ended, or nobody reads them any more."""
        for made in self._made.values():
            self._report(made, {"error": {"message": "It was never answered."}})
        self._made.clear()

    async def close(self) -> None:
        """Stop waiting; what is held stays held, and is found again by who asks again."""
        tasks = [*self._waiting.values(), *self._asked.values(), *self._going_on]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _denial(said: Any, params: wire.Message, text: str) -> wire.Message:
    result: wire.Message = {"content": [{"type": "text", "text": text}], "isError": True}
    meta = params.get("_meta")
    if isinstance(meta, dict) and PROTOCOL_VERSION in meta:
        result["resultType"] = "complete"
    return {"jsonrpc": "2.0", "id": said, "result": result}


def _with_notice(result: wire.Message, outcome: Outcome) -> wire.Message:
    """Add to a result that it is that of other arguments: a model that is not told believes in its own."""
    text = f"A reviewer changed the arguments of this call to {json.dumps(outcome.arguments, ensure_ascii=False)}."
    if outcome.reason:
        text += f" Reason: {outcome.reason}"
    review = {"held": outcome.held, "verdict": outcome.verdict, "arguments": outcome.arguments}
    meta = result.get("_meta")
    return {
        **result,
        "content": [*result["content"], {"type": "text", "text": text}],
        "_meta": {**(meta if isinstance(meta, dict) else {}), REVIEW: review},
    }


def _tools_in(result: wire.Message) -> dict[str, wire.Message]:
    tools = result.get("tools")
    if not isinstance(tools, list):
        return {}
    return {tool["name"]: tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)}


def _is_read_only(tool: wire.Message | None) -> bool:
    annotations = (tool or {}).get("annotations")
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
