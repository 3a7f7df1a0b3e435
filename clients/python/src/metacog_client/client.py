"""The clients: what `flows.py` says, carried out with and without `await`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from . import flows, requests
from .errors import NotConfigured
from .exchange import Answer, Send, Sleep, Steps, Until
from .flows import OnHeld, Question, WhenUnreachable
from .gating import Asked, Outcome
from .reporting import REPORT_SECONDS, Made, Reporter, Status, reporting
from .spool import Sender, Spool
from .webhooks import Event, verified

if TYPE_CHECKING:
    import httpx2
    from anyio.lowlevel import RunVar

    from .api_types import Context, Decided, Found, Remembered
    from .api_types import Outcome as CallOutcome

DEADLINE_SECONDS = 600.0
RETRY_SECONDS = 30.0

T = TypeVar("T")
C = TypeVar("C", bound="_Core")


class _Core:
    """What both clients know."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        run: str | None = None,
        deadline: float | None = DEADLINE_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        spool: Spool | str | os.PathLike[str] | None = None,
    ) -> None:
        """Read what is not given from METACOG_URL and METACOG_API_KEY; NotConfigured where that is not there either.

        `run` names this run of the agent: the same run and call id, from whatever process, is the same question; the
        client makes one up unless it is given. `deadline` is for how many seconds a decision is waited for unless a
        call says otherwise (None: for ever), `retry_seconds` for how long an answer is tried for at all. `spool`, a
        file, keeps what `record` is given until metacog has it.
        """
        url = (url or os.environ.get("METACOG_URL", "")).rstrip("/").removesuffix("/api/v1").rstrip("/")
        key = api_key or os.environ.get("METACOG_API_KEY", "")
        if not url or not key:
            missing = "address (METACOG_URL)" if not url else "key (METACOG_API_KEY)"
            raise NotConfigured(f"There is no {missing} of metacog.")
        if not url.startswith(("http://", "https://")):
            raise NotConfigured(f"{url!r} is no address such as https://metacog.example.org.")
        if not key.isascii() or not key.isprintable():
            raise NotConfigured("The key holds characters that no key has.")
        self.url, self.run = url, run or flows.new_run()
        self.deadline, self.retry_seconds = deadline, retry_seconds
        self._key = key
        self._connect()
        self._spool = spool if spool is None or isinstance(spool, Spool) else Spool(spool)
        self._reporter = Reporter(lambda: Client(url, key, retry_seconds=REPORT_SECONDS))
        self._sender = Sender(self._send_spooled)
        if self._spool is not None and self._spool.waiting:  # left by an earlier process
            self._sender.wake()

    def _connect(self) -> None:
        """Make ready to send; nothing is sent yet."""

    def for_run(self: C, run: str) -> C:
        """Give this client for another run of the agent, over the same connections; either one's `close` ends both."""
        other = copy(self)
        other.run = run
        return other

    @property
    def _settings(self) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self._key}", "user-agent": "metacog-client"}
        return {"base_url": f"{self.url}/api/v1", "headers": headers}

    def _until(self, deadline: float | None) -> Until:
        return Until.after(self.deadline if deadline is None else deadline)

    def _soon(self) -> Until:
        return Until.after(self.retry_seconds)

    def _keep(self, body: Mapping[str, Any]) -> None:
        assert self._spool is not None
        self._spool.add(body)
        self._sender.wake()

    def _send_spooled(self, seconds: float) -> int:
        assert self._spool is not None
        with Client(self.url, self._key) as client:
            return client._run(self._spool.send(Until.after(seconds)))

    def reporting(
        self, outcome: Outcome, *, unless: type[BaseException] | tuple[type[BaseException], ...] = ()
    ) -> AbstractContextManager[Made]:
        """Make a call within, and have it reported what became of it, if a person allowed it: `outcome` is `gate`'s.

            with client.reporting(outcome) as made:
                made.result = refund(**outcome.arguments)

        What is raised is `failed`, with the error's name and text, but for `unless`, which says that the call goes on
        later; `made.fail` and `made.skip` say what nothing raised. The report is sent by a thread of its own: it raises
        nothing, and nobody waits for it but a process that ends, for 5 seconds at most. What metacog does not take is
        a warning in the log `metacog_client`.
        """
        return reporting(self._reporter, outcome, unless)

    def verify_webhook(self, headers: Mapping[str, str], body: bytes | str, secrets: str | Sequence[str]) -> Event:
        """Return what a webhook says; BadSignature where none of these secrets signed it, or not just now."""
        return verified(headers, body, secrets)


class Client(_Core):
    """Asks metacog, one call after the other; may be used from several threads."""

    _http: httpx2.Client

    def _connect(self) -> None:
        import httpx2  # here, not above: whoever has no key is told so without it

        self._http = httpx2.Client(**self._settings)

    def gate(
        self,
        asked: Asked,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        require_review: bool = False,
        expires_in: int | None = None,
        deadline: float | None = None,
        unreachable: WhenUnreachable = "deny",
        on_held: OnHeld | None = None,
    ) -> Outcome:
        """Ask whether this may be done, and wait for a person where metacog wants one.

        Never raises because of metacog: what cannot be asked, or is not decided within `deadline` seconds, is not
        allowed. `unreachable="allow"` lets through what metacog did not answer about; never what it holds or refuses.
        `on_held` is called, before the wait, with the outcome that is `pending`: its `review_url` is where to decide.
        """
        question = Question.of(
            asked,
            self.run,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        return self._run(flows.gate(question, self._until(deadline), self.retry_seconds, unreachable, on_held))

    def ask(
        self,
        asked: Asked,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        require_review: bool = False,
        expires_in: int | None = None,
        deadline: float | None = None,
        unreachable: WhenUnreachable = "deny",
    ) -> Outcome:
        """Ask, and do not wait: the verdict is `pending`, with `held`, where a person decides."""
        question = Question.of(
            asked,
            self.run,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        return self._run(flows.ask(question, self._until(deadline), self.retry_seconds, unreachable))

    def wait(
        self, held: str, *, asked: Asked | None = None, session: str | None = None, deadline: float | None = None
    ) -> Outcome:
        """Wait for the decision about a held item; `deadline=0` looks once.

        To go on after a crash, rather call `gate` again: the same call id of the same run is the same held item. Of two
        equal calls in one session, which are one held item, one may be made: give what was `asked` to know which.
        """
        question = Question.of(asked, self.run, session) if asked else None
        return self._run(flows.wait(held, self._until(deadline), question))

    def withdraw(self, held: str, reason: str = "") -> Decided:
        """Take a question back, and return the decision; Refused (409) where it is decided already."""
        decision: Decided = self._run(flows.fetch(requests.withdraw(held, reason), self._soon()))
        return decision

    def report(self, held: str, status: Status, *, detail: str = "", result: Any = None) -> CallOutcome:
        """Report what became of an approved call, once: `held` is its outcome's. Then its approval is used up.

        The same again gives the first back; Refused (409) where another was reported, or the call was not approved.
        """
        sent = {"status": status, "detail": detail, "result": result}
        reported: CallOutcome = self._run(flows.reported(requests.report(held, sent), sent, self._soon()))
        return reported

    def context(self) -> Context:
        """Return what the agent should read before its next turn, in parts."""
        context: Context = self._run(flows.fetch(requests.CONTEXT, self._soon()))
        return context

    def context_text(self, *, instructions: bool = True) -> str:
        """Return the same as one text for the prompt; without `instructions` it does not say how to decide."""
        return self._run(flows.fetch_text(requests.context_text(instructions), self._soon()))

    def remember(self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None) -> Remembered:
        """Add to the team's memory; the same text again is the same memory, as it was."""
        return self.remember_once(text, topic=topic, source=source, confidence=confidence)[0]

    def remember_once(
        self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None
    ) -> tuple[Remembered, bool]:
        """As `remember`; return also whether it is new."""
        return self._run(flows.fetch_made(requests.remember(text, topic, source, confidence), self._soon()))

    def recall(self, query: str) -> list[Found]:
        """Search the team's memory; the best first."""
        found: list[Found] = self._run(flows.fetch(requests.recall(query), self._soon()))["items"]
        return found

    def decisions(
        self,
        after: int = 0,
        *,
        limit: int = 100,
        session: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[Decided]:
        """Return up to `limit` decisions, oldest first, from behind the last `seq` that was dealt with."""
        send = requests.decisions(after, limit, session, metadata)
        found: list[Decided] = self._run(flows.fetch(send, self._soon()))["items"]
        return found

    def record(
        self,
        response: str,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        """Record what was said or done; nothing is held. `fields` are other ones of a response, such as `errors`.

        With a spool it is on the disk when this returns, and is sent soon; SpoolFull where there is no room. Without
        one it is sent now; Unreachable or Refused where that fails.
        """
        body = requests.recorded(response, self.run, session, user_message, metadata, fields)
        if self._spool is not None:
            self._keep(body)
        else:
            self._run(flows.fetch(requests.post(body), self._soon()))

    def flush(self, deadline: float | None = None) -> int:
        """Send what the spool keeps, and return how many records are left."""
        if self._spool is None:
            return 0
        return self._run(self._spool.send(self._until(deadline)))

    def call(self, method: str, path: str, body: Any = None, *, again: bool = True, **query: Any) -> Any:
        """Make any call of the API (`path` below /api/v1) and return its answer's JSON.

        `again=False` for what must not be sent twice. Raises Unreachable and Refused, as all that returns no Outcome.
        """
        return self._run(flows.fetch(requests.request(method, path, body, query=query), self._soon(), again))

    def close(self) -> None:
        self._sender.close()
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        came: Answer | None = None
        try:
            while True:
                step = steps.send(came)
                came = None
                if isinstance(step, Sleep):
                    time.sleep(step.seconds)  # before the next try, as flows.py says
                else:
                    came = self._exchange(step)
        except StopIteration as done:
            result: T = done.value
            return result

    def _exchange(self, send: Send) -> Answer:
        import httpx2

        try:
            answer = self._http.request(
                send.method, send.path, content=send.body, headers=dict(send.headers), timeout=send.seconds
            )
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return unanswered(error)
        return Answer(answer.status_code, answer.content, dict(answer.headers))


class AsyncClient(_Core):
    """The same with `await`, on asyncio or trio; may be used from one event loop after the other."""

    _http: RunVar[httpx2.AsyncClient]  # connections belong to the loop that opened them

    def _connect(self) -> None:
        from anyio.lowlevel import RunVar

        self._http = RunVar("http")

    async def gate(
        self,
        asked: Asked,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        require_review: bool = False,
        expires_in: int | None = None,
        deadline: float | None = None,
        unreachable: WhenUnreachable = "deny",
        on_held: OnHeld | None = None,
    ) -> Outcome:
        """As `Client.gate`."""
        question = Question.of(
            asked,
            self.run,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        return await self._run(flows.gate(question, self._until(deadline), self.retry_seconds, unreachable, on_held))

    async def ask(
        self,
        asked: Asked,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        require_review: bool = False,
        expires_in: int | None = None,
        deadline: float | None = None,
        unreachable: WhenUnreachable = "deny",
    ) -> Outcome:
        """As `Client.ask`."""
        question = Question.of(
            asked,
            self.run,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        return await self._run(flows.ask(question, self._until(deadline), self.retry_seconds, unreachable))

    async def wait(
        self, held: str, *, asked: Asked | None = None, session: str | None = None, deadline: float | None = None
    ) -> Outcome:
        """As `Client.wait`."""
        question = Question.of(asked, self.run, session) if asked else None
        return await self._run(flows.wait(held, self._until(deadline), question))

    async def withdraw(self, held: str, reason: str = "") -> Decided:
        """As `Client.withdraw`."""
        decision: Decided = await self._run(flows.fetch(requests.withdraw(held, reason), self._soon()))
        return decision

    async def report(self, held: str, status: Status, *, detail: str = "", result: Any = None) -> CallOutcome:
        """As `Client.report`."""
        sent = {"status": status, "detail": detail, "result": result}
        reported: CallOutcome = await self._run(flows.reported(requests.report(held, sent), sent, self._soon()))
        return reported

    async def context(self) -> Context:
        """As `Client.context`."""
        context: Context = await self._run(flows.fetch(requests.CONTEXT, self._soon()))
        return context

    async def context_text(self, *, instructions: bool = True) -> str:
        """As `Client.context_text`."""
        return await self._run(flows.fetch_text(requests.context_text(instructions), self._soon()))

    async def remember(
        self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None
    ) -> Remembered:
        """As `Client.remember`."""
        return (await self.remember_once(text, topic=topic, source=source, confidence=confidence))[0]

    async def remember_once(
        self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None
    ) -> tuple[Remembered, bool]:
        """As `Client.remember_once`."""
        return await self._run(flows.fetch_made(requests.remember(text, topic, source, confidence), self._soon()))

    async def recall(self, query: str) -> list[Found]:
        """As `Client.recall`."""
        found: list[Found] = (await self._run(flows.fetch(requests.recall(query), self._soon())))["items"]
        return found

    async def decisions(
        self,
        after: int = 0,
        *,
        limit: int = 100,
        session: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[Decided]:
        """As `Client.decisions`."""
        send = requests.decisions(after, limit, session, metadata)
        found: list[Decided] = (await self._run(flows.fetch(send, self._soon())))["items"]
        return found

    async def record(
        self,
        response: str,
        *,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        """As `Client.record`."""
        import anyio

        body = requests.recorded(response, self.run, session, user_message, metadata, fields)
        if self._spool is not None:
            await anyio.to_thread.run_sync(self._keep, body)
        else:
            await self._run(flows.fetch(requests.post(body), self._soon()))

    async def flush(self, deadline: float | None = None) -> int:
        """As `Client.flush`."""
        if self._spool is None:
            return 0
        return await self._run(self._spool.send(self._until(deadline)))

    async def call(self, method: str, path: str, body: Any = None, *, again: bool = True, **query: Any) -> Any:
        """As `Client.call`."""
        return await self._run(flows.fetch(requests.request(method, path, body, query=query), self._soon(), again))

    async def close(self) -> None:
        import anyio

        await anyio.to_thread.run_sync(self._sender.close)
        if http := self._http.get(None):
            await http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _run(self, steps: Steps[T]) -> T:
        import anyio

        came: Answer | None = None
        try:
            while True:
                step = steps.send(came)
                came = None
                if isinstance(step, Sleep):
                    await anyio.sleep(step.seconds)
                else:
                    came = await self._exchange(step)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _exchange(self, send: Send) -> Answer:
        import httpx2

        http = self._http.get(None)
        if http is None:
            http = httpx2.AsyncClient(**self._settings)
            self._http.set(http)
        try:
            answer = await http.request(
                send.method, send.path, content=send.body, headers=dict(send.headers), timeout=send.seconds
            )
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return unanswered(error)
        return Answer(answer.status_code, answer.content, dict(answer.headers))


def unanswered(error: Exception) -> Answer:
    return Answer(0, f"{type(error).__name__}: {error}".rstrip(": ").encode())
