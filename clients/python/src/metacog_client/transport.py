"""How what `flows.py` says is carried out, with and without `await`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .exchange import Answer, Send, Sleep, Steps

if TYPE_CHECKING:
    import httpx2
    from anyio.lowlevel import RunVar

T = TypeVar("T")


class Transport:
    """Connections to metacog; may be used from several threads."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Make ready to send; nothing is sent yet."""
        import httpx2  # here, not above: whoever has no key is told so without it

        self._http: httpx2.Client = httpx2.Client(**settings)

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def run(self, steps: Steps[T]) -> T:
        came: Answer | None = None
        try:
            while True:
                step = steps.send(came)
                came = None
                if isinstance(step, Sleep):
                    time.sleep(step.seconds)  # before the next try, as flows.py says
                else:
                    came = self.exchange(step)
        except StopIteration as done:
            result: T = done.value
            return result

    def exchange(self, send: Send) -> Answer:
        import httpx2

        try:
            answer = self._http.request(
                send.method, send.path, content=send.body, headers=dict(send.headers), timeout=send.seconds
            )
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return unanswered(error)
        return Answer(answer.status_code, answer.content, dict(answer.headers))

    def block(self, function: Callable[[], T]) -> T:
        """Call what may take a while."""
        return function()


class AsyncTransport:
    """The same with `await`, on asyncio or trio; may be used from one event loop after the other."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        from anyio.lowlevel import RunVar

        self._settings = settings
        self._http: RunVar[httpx2.AsyncClient] = RunVar("http")  # connections belong to the loop that opened them

    async def close(self) -> None:
        if http := self._http.get(None):
            await http.aclose()

    async def run(self, steps: Steps[T]) -> T:
        import anyio

        came: Answer | None = None
        try:
            while True:
                step = steps.send(came)
                came = None
                if isinstance(step, Sleep):
                    await anyio.sleep(step.seconds)
                else:
                    came = await self.exchange(step)
        except StopIteration as done:
            result: T = done.value
            return result

    async def exchange(self, send: Send) -> Answer:
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

    async def block(self, function: Callable[[], T]) -> T:
        """Call in a thread what may take a while."""
        import anyio

        return await anyio.to_thread.run_sync(function)


def unanswered(error: Exception) -> Answer:
    return Answer(0, f"{type(error).__name__}: {error}".rstrip(": ").encode())
