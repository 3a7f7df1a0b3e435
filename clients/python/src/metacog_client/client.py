"""The client: made by scripts/sync_client.py from async_client.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import flows, requests
from .core import Core
from .exchange import Steps
from .flows import OnAsked, OnHeld, PersonQuestion, Question, WhenUnreachable
from .gating import Asked, Outcome
from .reporting import Status
from .transport import Transport

if TYPE_CHECKING:
    from .api_types import Context, Decided, Found, PolicyFacts, Remembered
    from .api_types import Outcome as CallOutcome

T = TypeVar("T")


class Client(Core):
    """Asks metacog, one call after the other; may be used from several threads."""

    def _connect(self) -> None:
        self.transport = Transport(self._settings)

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
        question = self._question(
            asked,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        until = self._until(deadline)
        return question.about(self._run(flows.gate(question, until, self.retry_seconds, unreachable, on_held)))

    @overload
    def ask(
        self,
        asked: str,
        *,
        choices: Sequence[str] | None = None,
        schema: Mapping[str, Any] | None = None,
        call_id: str | None = None,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_in: int | None = None,
        deadline: float | None = None,
        on_asked: OnAsked | None = None,
    ) -> Any: ...

    @overload
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
    ) -> Outcome: ...

    def ask(
        self,
        asked: Asked | str,
        *,
        choices: Sequence[str] | None = None,
        schema: Mapping[str, Any] | None = None,
        call_id: str | None = None,
        on_asked: OnAsked | None = None,
        session: str | None = None,
        user_message: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        require_review: bool = False,
        expires_in: int | None = None,
        deadline: float | None = None,
        unreachable: WhenUnreachable = "deny",
    ) -> Any:
        """Ask a person a question (a text), wait, and return the answer; or ask about a call or words, and do not wait.

        An answer is one of `choices`, what meets the JSON Schema `schema`, or any text without either. NotAnswered says
        that it was rejected, expired, or is not there after `deadline` seconds; Unreachable and Refused are raised,
        too. The same question that waits is the same held item; with a `call_id` it is so when it is answered as well.
        `on_asked` is called before the wait with the question's id and its page.

        About a call or words: the outcome's verdict is `pending`, with `held`, where a person decides.
        """
        if isinstance(asked, str):
            to_person = PersonQuestion(
                asked, schema, choices, self.run, session or self.run, call_id, user_message, metadata, expires_in
            )
            return self._run(flows.answer(to_person, self._until(deadline), self.retry_seconds, on_asked))
        question = self._question(
            asked,
            session,
            user_message=user_message,
            metadata=metadata,
            require_review=require_review,
            expires_in=expires_in,
        )
        until = self._until(deadline)
        return question.about(self._run(flows.ask(question, until, self.retry_seconds, unreachable)))

    def wait(
        self, held: str, *, asked: Asked | None = None, session: str | None = None, deadline: float | None = None
    ) -> Outcome:
        """Wait for the decision about a held item; `deadline=0` looks once.

        To go on after a crash, rather call `gate` again: the same call id of the same run is the same held item. Of two
        equal calls in one session, which are one held item, one may be made: give what was `asked` to know which.
        """
        question = Question.of(asked, self.run, session) if asked else None
        told = self._run(flows.wait(held, self._until(deadline), question))
        return question.about(told) if question else replace(told, session=session or self.run)

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

    def policy(self) -> PolicyFacts:
        """Return what the agent's own programs go by in its policy, and the version of that."""
        policy: PolicyFacts = self._run(flows.fetch(requests.POLICY, self._soon()))
        return policy

    def remember(self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None) -> Remembered:
        """Add to the team's memory; the same text again is the same memory, as it was."""
        remembered, _ = self.remember_once(text, topic=topic, source=source, confidence=confidence)
        return remembered

    def remember_once(
        self, text: str, *, topic: str = "", source: str = "", confidence: float | None = None
    ) -> tuple[Remembered, bool]:
        """As `remember`; return also whether it is new."""
        return self._run(flows.fetch_made(requests.remember(text, topic, source, confidence), self._soon()))

    def recall(self, query: str) -> list[Found]:
        """Search the team's memory; the best first."""
        page = self._run(flows.fetch(requests.recall(query), self._soon()))
        found: list[Found] = page["items"]
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
        page = self._run(flows.fetch(send, self._soon()))
        found: list[Decided] = page["items"]
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
        given = None if "command_output" in fields else self._given(body["session"], body["id"])
        body |= flows.output_beside(body, given)
        if self._spool is not None:
            self.transport.block(partial(self._keep, body))
        else:
            self._run(flows.fetch(requests.post(body), self._soon()))
        if given:
            given.sent()

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
        self.transport.block(self._sender.close)
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run(self, steps: Steps[T]) -> T:
        return self.transport.run(steps)
