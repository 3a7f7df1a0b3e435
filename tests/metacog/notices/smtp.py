"""A mail server that does as it is told."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any


@dataclass
class Server:
    """`answers` says what it answers to a command instead of 250; None: it never answers."""

    port: int = 0
    greets: str = "220 mail.test ready"
    answers: dict[str, str | None] = field(default_factory=dict)
    hello: str = ""  # as whom its client introduced itself
    recipients: list[str] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    endless: float | None = None  # seconds between lines of an answer that begins with "250-": there is always another
    ended: threading.Event = field(default_factory=threading.Event)

    def handle(self, handler: Any) -> None:
        def say(line: str) -> None:
            handler.wfile.write(line.encode() + b"\r\n")

        say(self.greets)
        while line := handler.rfile.readline().decode().strip():
            command = line.upper().partition(" ")[0]
            answer = self.answers.get(command, "354 go on" if command == "DATA" else "250 ok")
            if answer is None:
                self.ended.wait(30)
                return
            say(answer)
            while self.endless is not None and answer.startswith("250-") and not self.ended.wait(self.endless):
                say(answer)
            if command == "EHLO":
                self.hello = line.partition(" ")[2]
            elif command == "RCPT":
                self.recipients.append(line.partition("<")[2].partition(">")[0])
            elif command == "DATA" and answer.startswith("354"):
                lines = iter(handler.rfile.readline, b".\r\n")
                self.messages.append(message_from_bytes(b"".join(each.removeprefix(b".") for each in lines)))
                say("250 taken")
            elif command == "QUIT":
                return


@contextlib.contextmanager
def listening() -> Iterator[Server]:
    found = Server()

    class Answering(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):  # whoever called may have hung up
                found.handle(self)

    class Listening(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Listening(("127.0.0.1", 0), Answering) as server:
        found.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield found
        finally:
            found.ended.set()
            server.shutdown()
