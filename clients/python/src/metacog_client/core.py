"""What the clients with and without `await` have in common."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

from . import flows
from .errors import NotConfigured
from .exchange import Until
from .flows import Question
from .gating import Asked, Outcome
from .reporting import Made, Reporter, reporting
from .reporting.outputs import Given, Outputs
from .spool import Sender, Spool
from .transport import Transport
from .webhooks import Event, verified

DEADLINE_SECONDS = 600.0
RETRY_SECONDS = 30.0

C = TypeVar("C", bound="Core")


class Core:
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
        outputs: bool = True,
    ) -> None:
        """Read what is not given from METACOG_URL and METACOG_API_KEY; NotConfigured where that is not there either.

        `run` names this run of the agent: the same run and call id, from whatever process, is the same question; the
        client makes one up unless it is given. `deadline` is for how many seconds a decision is waited for unless a
        call says otherwise (None: for ever), `retry_seconds` for how long an answer is tried for at all. `spool`, a
        file, keeps what `record` is given until metacog has it. What tools gave since the last response goes along with
        the next one, unless `outputs` is False.
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
        headers = {"authorization": f"Bearer {key}", "user-agent": "metacog-client"}
        self._settings = {"base_url": f"{self.url}/api/v1", "headers": headers}
        self._connect()
        self._spool = spool if spool is None or isinstance(spool, Spool) else Spool(spool)
        self._outputs = Outputs() if outputs else None
        self._reporter = Reporter(lambda: Transport(self._settings), self._outputs)
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

    def add_output(self, output: Any, *, tool: str = "", session: str | None = None) -> None:
        """Keep what a tool gave, any value: it goes along with the next response of this session (the run).

        `reporting` does it for the call that is made within. Raises nothing.
        """
        if self._outputs is not None:
            self._outputs.add(session or self.run, output, tool)

    def _question(self, asked: Asked, session: str | None, **rest: Any) -> Question:
        question = Question.of(asked, self.run, session, **rest)
        return replace(question, given=self._given(question.session, question.key))

    def _given(self, session: str, key: str) -> Given | None:
        return None if self._outputs is None else self._outputs.given(session, key)

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
        with Transport(self._settings) as transport:
            return transport.run(self._spool.send(Until.after(seconds)))

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
