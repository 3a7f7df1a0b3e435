"""The clients: what `flows.py` says, carried out with and without `await`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from . import flows
from .errors import NotConfigured
from .exchange import Answer, Send, Sleep, Steps, Until, request
from .flows import Question, WhenUnreachable
from .gating import Asked, Outcome
from .webhooks import Event, verified

if TYPE_CHECKING:
    import httpx2

DEADLINE_SECONDS = 600.0
RETRY_SECONDS = 30.0

T = TypeVar("T")


class _Core:
    """What both clients know, and the steps of what they do."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        run: str | None = None,
        deadline: float | None = DEADLINE_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """Read what is not given from METACOG_URL and METACOG_API_KEY.

        `run` names this run of the agent: the same run and call id, from whatever process, is the same question; the
        client makes one up unless it is given. `deadline` is for how many seconds a decision is waited for unless a
        call says otherwise (None: for ever), `retry_seconds` for how long an answer is tried for at all.
        """
        url = (url or os.environ.get("METACOG_URL", "")).rstrip("/")
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
        self._headers = {"authorization": f"Bearer {key}", "user-agent": "metacog-client"}

    def _until(self, deadline: float | None) -> Until:
        return Until.after(self.deadline if deadline is None else deadline)

    def _soon(self) -> Until:
        return Until.after(self.retry_seconds)

    def _question(
        self,
        asked: Asked,
        session: str | None,
        user_message: str | None,
        metadata: Mapping[str, Any] | None,
        require_review: bool,
        expires_in: int | None,
    ) -> Question:
        return Question.of(
            asked,
            self.run,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )

    def verify_webhook(
        self, headers: Mapping[str, str], body: bytes | str, secrets: str | list[str] | tuple[str, ...]
    ) -> Event:
        """Return what a webhook says; BadSignature where none of these secrets signed it, or not just now."""
        return verified(headers, body, secrets)


def decisions_request(after: int, limit: int, session: str | None, metadata: Mapping[str, str] | None) -> Send:
    narrowed = {f"metadata.{name}": value for name, value in (metadata or {}).items()}
    return request("GET", "/decisions", query={"after": after, "limit": limit, "session": session, **narrowed})


def memory_request(text: str, topic: str | None, source: str | None, confidence: float | None) -> Send:
    body = {"text": text, "topic": topic, "source": source, "confidence": confidence}
    return request("POST", "/memory", {name: value for name, value in body.items() if value is not None})


def withdrawal(held: str, reason: str) -> Send:
    return request("POST", f"/held/{held}/decision", {"verdict": "withdraw", "reason": reason})


CONTEXT = request("GET", "/context", accept="application/json")
CONTEXT_TEXT = request("GET", "/context", accept="text/plain")


class Client(_Core):
    """Asks metacog, one call after the other; may be used from several threads."""

    _http: httpx2.Client | None = None

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
    ) -> Outcome:
        """Ask whether this may be done, and wait for a person where metacog wants one.

        Never raises because of metacog: what cannot be asked, or is not decided within `deadline` seconds, is not
        allowed. `unreachable="allow"` lets through what metacog did not answer about; never what it holds or refuses.
        """
        question = self._question(asked, session, user_message, metadata, require_review, expires_in)
        return self._run(flows.gate(question, self._until(deadline), self.retry_seconds, unreachable))

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
        question = self._question(asked, session, user_message, metadata, require_review, expires_in)
        return self._run(flows.ask(question, self._until(deadline), self.retry_seconds, unreachable))

    def wait(self, held: str, *, deadline: float | None = None) -> Outcome:
        """Wait for the decision about a held item; `deadline=0` looks once."""
        return self._run(flows.wait(held, self._until(deadline)))

    def withdraw(self, held: str, reason: str = "") -> dict[str, Any]:
        """Take a question back, and return the decision; Refused (409) where it is decided already."""
        return self._run(flows.fetch(withdrawal(held, reason), self._soon()))

    def context(self) -> dict[str, Any]:
        """Return what the agent should read before its next turn, in parts."""
        return self._run(flows.fetch(CONTEXT, self._soon()))

    def context_text(self) -> str:
        """Return the same as one text for the prompt."""
        return self._run(flows.fetch_text(CONTEXT_TEXT, self._soon()))

    def remember(
        self, text: str, *, topic: str | None = None, source: str | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """Add to the team's memory; the same text again is the same memory."""
        return self._run(flows.fetch(memory_request(text, topic, source, confidence), self._soon()))

    def recall(self, query: str) -> list[dict[str, Any]]:
        """Search the team's memory."""
        found = self._run(flows.fetch(request("GET", "/memory", query={"q": query}), self._soon()))
        return list(found["items"])

    def decisions(
        self,
        after: int = 0,
        *,
        limit: int = 100,
        session: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """Return up to `limit` decisions, oldest first, from behind the last `seq` that was dealt with."""
        page = self._run(flows.fetch(decisions_request(after, limit, session, metadata), self._soon()))
        return list(page["items"])

    def call(self, method: str, path: str, body: Any = None, *, again: bool = True, **query: Any) -> Any:
        """Make any call of the API (`path` below /api/v1) and return its answer's JSON.

        `again=False` for what must not be sent twice. Raises Unreachable and Refused, as all that returns no Outcome.
        """
        return self._run(flows.fetch(request(method, path, body, query=query), self._soon(), again))

    def close(self) -> None:
        if self._http is not None:
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
                    time.sleep(step.seconds)
                else:
                    came = self._exchange(step)
        except StopIteration as done:
            result: T = done.value
            return result

    def _exchange(self, send: Send) -> Answer:
        import httpx2

        if self._http is None:
            self._http = httpx2.Client(base_url=f"{self.url}/api/v1", headers=self._headers)
        try:
            answer = self._http.request(
                send.method, send.path, content=send.body, headers=dict(send.headers), timeout=send.seconds
            )
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return unanswered(error)
        return Answer(answer.status_code, answer.content, dict(answer.headers))


class AsyncClient(_Core):
    """The same with `await`, on asyncio or trio."""

    _http: httpx2.AsyncClient | None = None

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
    ) -> Outcome:
        """As `Client.gate`."""
        question = self._question(asked, session, user_message, metadata, require_review, expires_in)
        return await self._run(flows.gate(question, self._until(deadline), self.retry_seconds, unreachable))

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
        question = self._question(asked, session, user_message, metadata, require_review, expires_in)
        return await self._run(flows.ask(question, self._until(deadline), self.retry_seconds, unreachable))

    async def wait(self, held: str, *, deadline: float | None = None) -> Outcome:
        """As `Client.wait`."""
        return await self._run(flows.wait(held, self._until(deadline)))

    async def withdraw(self, held: str, reason: str = "") -> dict[str, Any]:
        """As `Client.withdraw`."""
        return await self._run(flows.fetch(withdrawal(held, reason), self._soon()))

    async def context(self) -> dict[str, Any]:
        """As `Client.context`."""
        return await self._run(flows.fetch(CONTEXT, self._soon()))

    async def context_text(self) -> str:
        """As `Client.context_text`."""
        return await self._run(flows.fetch_text(CONTEXT_TEXT, self._soon()))

    async def remember(
        self, text: str, *, topic: str | None = None, source: str | None = None, confidence: float | None = None
    ) -> dict[str, Any]:
        """As `Client.remember`."""
        return await self._run(flows.fetch(memory_request(text, topic, source, confidence), self._soon()))

    async def recall(self, query: str) -> list[dict[str, Any]]:
        """As `Client.recall`."""
        found = await self._run(flows.fetch(request("GET", "/memory", query={"q": query}), self._soon()))
        return list(found["items"])

    async def decisions(
        self,
        after: int = 0,
        *,
        limit: int = 100,
        session: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """As `Client.decisions`."""
        page = await self._run(flows.fetch(decisions_request(after, limit, session, metadata), self._soon()))
        return list(page["items"])

    async def call(self, method: str, path: str, body: Any = None, *, again: bool = True, **query: Any) -> Any:
        """As `Client.call`."""
        return await self._run(flows.fetch(request(method, path, body, query=query), self._soon(), again))

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

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

        if self._http is None:
            self._http = httpx2.AsyncClient(base_url=f"{self.url}/api/v1", headers=self._headers)
        try:
            answer = await self._http.request(
                send.method, send.path, content=send.body, headers=dict(send.headers), timeout=send.seconds
            )
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return unanswered(error)
        return Answer(answer.status_code, answer.content, dict(answer.headers))


def unanswered(error: Exception) -> Answer:
    return Answer(0, f"{type(error).__name__}: {error}".rstrip(": ").encode())
