"""Requests whose answer may be worth waiting for: they take no thread while they wait (see metacog/asgi.py).

A view that could answer better soon says so with `wait_for`, and answers as things stand. What serves it then asks the
view again once `look` tells that the time has come, or the time is over; a server that cannot sends the first answer.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Collection
from typing import Any, NamedTuple

from django.http import HttpRequest

MOST = 1_000  # requests that wait at a time in one process
LOOK_SECONDS = 0.25  # between two looks, of which one serves all who wait
WAITS = "metacog.waits"  # the request's own list of what it waits for, where its server can

Look = Callable[[Collection[int]], set[int]]  # of some keys, those whose time has come; one of a kind in the process


class Wait(NamedTuple):
    """What to wait for, and how long."""

    look: Look
    key: int
    seconds: float


def wait_for(request: HttpRequest, wait: Wait) -> None:
    """Say that the answer would be better once `look` tells of this key, within so many seconds."""
    request.META.get(WAITS, []).append(wait)


class Waiting:
    """Those who wait in this process, and the one task that looks for all of them."""

    def __init__(self, run: Callable[[Look, Collection[int]], Awaitable[set[int]]]) -> None:
        """Take what runs a look in a thread."""
        self._run = run
        self._events: dict[Look, dict[int, list[asyncio.Event]]] = {}
        self._task: asyncio.Task[None] | None = None
        self.count = 0
        self.is_over = False  # the process is stopping: nobody waits any more

    @property
    def is_full(self) -> bool:
        return self.count >= MOST

    async def until(self, wait: Wait, seconds: float, gone: asyncio.Task[None]) -> bool:
        """Wait until the time has come or is over; False when who waits has gone, as that task tells."""
        event = asyncio.Event()
        waiting = self._events.setdefault(wait.look, {}).setdefault(wait.key, [])
        waiting.append(event)
        self.count += 1
        if self._task is None:
            self._end_with_the_process()
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._look())
        come = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait((come, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return not gone.done()
        finally:
            come.cancel()
            self.count -= 1
            waiting.remove(event)
            if not waiting:
                self._events[wait.look].pop(wait.key, None)

    def _end_with_the_process(self) -> None:
        """Let everybody go when the process is told to stop: else the server would wait for them to the last."""
        if threading.current_thread() is not threading.main_thread():
            return
        loop = asyncio.get_running_loop()
        before = signal.getsignal(signal.SIGTERM)

        def let_go(number: int, frame: Any) -> None:  # the loop hears of the signal all the same, by its own pipe
            self.is_over = True
            loop.call_soon_threadsafe(self._wake)
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGTERM, let_go)

    def _wake(self) -> None:
        for by_key in self._events.values():
            for events in by_key.values():
                for event in events:
                    event.set()

    async def _look(self) -> None:
        while self.count:
            await asyncio.sleep(LOOK_SECONDS)
            for look, by_key in list(self._events.items()):
                if not by_key:
                    continue
                try:
                    ready = await self._run(look, tuple(by_key))
                except Exception:  # what is wrong the view itself meets, and says
                    ready = set(by_key)
                for key in ready:
                    for event in by_key.get(key, ()):
                        event.set()
