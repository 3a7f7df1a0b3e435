"""The application that the web server calls: bodies are awaited here, and Django answers in a few threads.

Whoever sends slowly takes some memory for a while, never a thread. What the headers alone decide is answered before
the body has come, and nothing that reads the body runs on half of it (docs/decisions/0014). No page is rendered for a
form that has not come, and may never.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import IO, Any, ClassVar, NoReturn
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.signals import request_finished
from django.core.wsgi import get_wsgi_application

from metacog.http.problems import Problem
from metacog.http.waiting import WAITS, Look, Wait, Waiting

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Answer = list[Message]  # what of it is still to be sent

THREADS = 16
AT_ONCE_SECONDS = 0.1  # nearly every body is here by then; only of the others the headers are looked at by themselves
BODY_SECONDS = 15.0  # for the whole of a body
LINGER_SECONDS = 2.0  # for what is still on its way when the answer was sent: many read none while they cannot send
DROPPED_BYTES = 8 * 1_048_576  # of that; beyond it the connection is closed
BUFFERED_BYTES = 64 * 1_048_576  # of all bodies in this process
UPLOAD_SECONDS = 900.0  # for the whole of a file that goes to disk: 50 MiB at half a megabit a second
UPLOADS = 4  # of those at a time in this process
WITH_BODY = ("POST", "PUT", "PATCH")  # methods
BLOCK_BYTES = 262_144  # of a long answer
READER_SECONDS = 30.0  # for a client to take such a block

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
django: Any = get_wsgi_application()
threads = ThreadPoolExecutor(THREADS, "web")


class Awaited(BaseException):
    """The body was asked for before it was here. No Exception: nothing on the way may take it for an error."""


class Ahead:
    """What stands in for the body while only the headers are looked at."""

    def read(self, *size: int) -> NoReturn:
        raise Awaited

    readline = read


class Body:
    """The body of one request as it comes in; `settled` is the whole of it, or why there is none."""

    waiting: ClassVar[set[Body]] = set()
    buffered: ClassVar[int] = 0  # bytes of all of them

    def __init__(self, receive: Receive, length: int, most: int) -> None:
        self.receive, self.most = receive, most
        self.parts: list[bytes] = []
        self.size = 0  # bytes kept so far
        self.reading: asyncio.Task[None] | None = None
        self.settled: asyncio.Future[bytes | IO[bytes] | Problem] = asyncio.get_running_loop().create_future()
        Body.waiting.add(self)
        if length > most:
            self.refuse(413)

    @property
    def seconds(self) -> float:
        return BODY_SECONDS

    async def _read(self) -> None:
        came, more = 0, True
        while more and (came <= DROPPED_BYTES or not self.settled.done()):
            message = await self.receive()
            if message["type"] != "http.request":
                return self.refuse(400)
            part, more = message.get("body", b""), message.get("more_body", False)
            came += len(part)
            if came > self.most:
                self.refuse(413)
            elif not self.settled.done():
                self._keep(part)
        if not self.settled.done():
            self.settled.set_result(self._whole())

    def _keep(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)
        Body.buffered += len(part)
        if Body.buffered > BUFFERED_BYTES:  # whoever takes most of the room makes some
            max(Body.waiting, key=lambda body: body.size).refuse(503)

    def _whole(self) -> bytes | IO[bytes]:
        Body.waiting.discard(self)
        whole = b"".join(self.parts)
        self.parts.clear()
        return whole

    async def within(self, seconds: float) -> bytes | IO[bytes] | Problem | None:
        if self.reading is None:
            self.reading = asyncio.ensure_future(self._read())
        await asyncio.wait((self.settled,), timeout=seconds)
        return self.settled.result() if self.settled.done() else None

    def refuse(self, status: int) -> None:
        """Settle why there is no body, unless it is settled; what comes from here on is not kept."""
        if not self.settled.done():
            headers = {"Retry-After": "5"} if status == 503 else None
            told = REFUSALS[status].format(most=f"{self.most:,}", seconds=f"{self.seconds:g}")
            self.settled.set_result(Problem(status, told, headers=headers))
            self.leave()

    def leave(self) -> None:
        """Make room: what was kept of it is needed no longer."""
        Body.waiting.discard(self)
        Body.buffered -= self.size
        self.size = 0
        self.parts.clear()


class Upload(Body):
    """A body that goes to a file in the data folder as it comes in, block by block: no memory holds it."""

    open: ClassVar[set[Upload]] = set()

    def __init__(self, receive: Receive, length: int, most: int) -> None:
        self.file: IO[bytes] | None = None
        super().__init__(receive, length, most)
        Body.waiting.discard(self)
        if len(Upload.open) >= UPLOADS:
            self.refuse(503)
        elif not self.settled.done():
            Upload.open.add(self)
            self.file = tempfile.TemporaryFile(dir=settings.DATA_DIR)  # noqa: SIM115 - `leave` closes it

    @property
    def seconds(self) -> float:
        return UPLOAD_SECONDS

    def _keep(self, part: bytes) -> None:
        assert self.file is not None
        self.file.write(part)  # into the system's cache, which takes less time than a thread would

    def _whole(self) -> bytes | IO[bytes]:
        assert self.file is not None
        return self.file

    def leave(self) -> None:
        Upload.open.discard(self)
        if self.file is not None:
            self.file.close()
            self.file = None


REFUSALS = {
    400: "The body ended before its Content-Length. Nothing was written; send it again.",
    408: "The body did not arrive within {seconds} seconds. Nothing was written; send it again.",
    411: "Say how long the body is: Content-Length is missing.",
    413: "The body is larger than {most} bytes. Send less in one post.",
    503: "Too much is being sent at once. Nothing was written; send it again later.",
}
BOTH_FRAMINGS = "Say how long the body is once: by Content-Length, or by Transfer-Encoding with `chunked` alone."
REFUSALS_OF_WAITING = "Too many are waiting for an answer already. Ask again later, or without `wait`."


async def application(scope: Message, receive: Receive, send: Send) -> None:
    """Answer one request (ASGI)."""
    environ = _environ(scope)
    length = environ.get("CONTENT_LENGTH", "")
    coding = environ.get("HTTP_TRANSFER_ENCODING")
    if coding is not None and (length or coding.lower() != "chunked"):  # `gzip, chunked`: uvicorn takes that
        await _send(send, await _answer(environ, Problem(400, BOTH_FRAMINGS), send))
        return
    if length in ("", "0") and coding is None:
        is_open = not length and environ["SERVER_PROTOCOL"] == "HTTP/1.0" and environ["REQUEST_METHOD"] in WITH_BODY
        if is_open:
            await _send(send, await _answer(environ, Problem(411, REFUSALS[411]), send))
        else:
            await _send(send, await _answer_in_time(environ, receive, send))
        return
    path, most = environ["PATH_INFO"], settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if path in settings.UPLOADS_TO_DISK:
        body: Body = Upload(receive, int(length or 0), settings.MAX_UPLOAD_BYTES)
    else:
        body = Body(receive, int(length or 0), settings.MAX_BODY_BYTES if path.startswith("/api/") else most)
    try:
        # Who expects to be told to go on (100) sends nothing before, and is told so by the first look for the body.
        came = None if "HTTP_EXPECT" in environ else await body.within(AT_ONCE_SECONDS)
        answer = await _answer(environ, came, send)
        if answer is None:  # the headers alone do not decide it
            await body.within(body.seconds)
            body.refuse(408)
            answer = await _answer(environ, body.settled.result(), send)
        if body.reading and not body.reading.done():
            body.refuse(408)
            await _send_before_the_rest(send, answer, body.reading)
        else:
            await _send(send, answer)
    finally:
        body.leave()
        if body.reading:
            body.reading.cancel()


async def _answer_in_time(environ: dict[str, Any], receive: Receive, send: Send) -> Answer | None:
    """Answer a request without a body, later if its view says what would be worth waiting for."""
    loop, until = asyncio.get_running_loop(), None
    gone: asyncio.Task[None] | None = None
    try:
        while True:
            waits: list[Wait] = []
            answer = await _answer(environ | {WAITS: waits}, b"", send)
            if not waits:
                return answer
            wait = waits[0]
            until = loop.time() + wait.seconds if until is None else until
            if loop.time() >= until or waiting.is_over:
                return answer
            if waiting.is_full:
                full = Problem(503, REFUSALS_OF_WAITING, headers={"Retry-After": "5"})
                return await _answer(environ, full, send)
            gone = gone or asyncio.ensure_future(_leaving(receive))
            if not await waiting.until(wait, until - loop.time(), gone):
                return None
    finally:
        if gone:
            gone.cancel()


async def _leaving(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _run_look(look: Look, keys: Collection[int]) -> set[int]:
    def run() -> set[int]:
        try:
            return look(keys)
        finally:
            request_finished.send(sender=Ahead)  # the connection to the database goes back

    return await asyncio.get_running_loop().run_in_executor(threads, run)


waiting = Waiting(_run_look)


def _environ(scope: Message) -> dict[str, Any]:
    """Return a request's line and headers as Django reads them (WSGI)."""
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "REQUEST_URI": scope["raw_path"].decode("latin-1"),  # the path as it was sent
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": "HTTP/1.1" if scope["http_version"] == "1.1" else "HTTP/1.0",
        "SERVER_NAME": scope["server"][0],
        "SERVER_PORT": str(scope["server"][1]),
        "REMOTE_ADDR": scope["client"][0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        if variable := _variable(name):
            text = value.decode("latin-1")
            if variable in environ:
                text = environ[variable] + ("; " if variable == "HTTP_COOKIE" else ",") + text
            environ[variable] = text
    return environ


@lru_cache(maxsize=256)
def _variable(header: bytes) -> str:
    """Return the variable a header is read by; "" for one with an underscore, which could pass for another."""
    if b"_" in header:
        return ""
    name = header.decode("latin-1").upper().replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"


async def _send(send: Send, answer: Answer | None) -> None:
    for message in answer or ():
        await send(message)


async def _send_before_the_rest(send: Send, answer: Answer | None, rest: asyncio.Task[None]) -> None:
    """Send an answer to a body that is still coming, and read on for a while before the connection may end."""
    if answer:
        await _send(send, [*answer[:-1], {**answer[-1], "more_body": True}])
        await asyncio.wait((rest,), timeout=LINGER_SECONDS)
        await send({"type": "http.response.body", "body": b""})


async def _answer(environ: dict[str, Any], body: bytes | IO[bytes] | Problem | None, send: Send) -> Answer | None:
    """Have Django answer, in one of the threads; None where it wanted the body, and that is not here yet."""
    if body is None:
        given = {"wsgi.input": Ahead(), "CONTENT_LENGTH": environ.get("CONTENT_LENGTH") or "1", "metacog.ahead": True}
    elif isinstance(body, Problem):
        given = {"wsgi.input": io.BytesIO(), "CONTENT_LENGTH": "0", "metacog.refused": body}
    elif isinstance(body, bytes):
        given = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
    else:
        given = {"wsgi.input": body, "CONTENT_LENGTH": str(body.seek(0, io.SEEK_END))}
        body.seek(0)
    loop = asyncio.get_running_loop()

    def send_now(message: Message) -> None:
        asyncio.run_coroutine_threadsafe(_send(send, [message]), loop).result(READER_SECONDS)

    return await loop.run_in_executor(threads, _in_thread, environ | given, send_now)


def _in_thread(environ: dict[str, Any], send: Callable[[Message], None]) -> Answer | None:
    start: Message = {"type": "http.response.start"}

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        start["status"] = int(status[:3])
        start["headers"] = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    try:
        response = django(environ, start_response)
    except Awaited:
        request_finished.send(sender=Ahead)  # as Django ends a request: the connection to the database goes back
        return None
    try:
        if not response.streaming:
            return [start, {"type": "http.response.body", "body": response.content}]
        messages, parts, size = [start], list[bytes](), 0
        for part in response:
            parts.append(part)
            size += len(part)
            if size >= BLOCK_BYTES:
                for message in [*messages, {"type": "http.response.body", "body": b"".join(parts), "more_body": True}]:
                    send(message)
                messages, parts, size = [], [], 0
        return [*messages, {"type": "http.response.body", "body": b"".join(parts)}]
    finally:
        response.close()
