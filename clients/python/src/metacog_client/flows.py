"""What a client does, step by step, whichever way its requests are carried out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from .errors import NotAnswered, Refused, Unreachable
from .exchange import NOT_METACOG, Send, Sleep, Steps, Until, answered, content, request
from .gating import NOT_JSON, Asked, Outcome, OutcomeVerdict, Text, ToolCall, as_json, derived, ended, key_of, outcome

if TYPE_CHECKING:
    from .reporting.outputs import Given

WAIT_SECONDS = 25.0  # of one long poll: below what proxies allow, usually 30 or 60
AGAIN_SECONDS = 0.5  # between two polls, where a proxy answered sooner
MAX_CALL_ID = 255
MAX_HINTS = 4_096  # of a tool's annotations, in bytes of JSON
MAX_BODY = 1_048_576  # bytes of a response
CLOSED = ("approved", "edited", "rejected", "expired", "withdrawn")  # what permits comes first
MAX_SCHEMA = 65_536  # of a schema's JSON, in bytes: of a larger one metacog is told that it was left out

WhenUnreachable = Literal["deny", "allow"]
OnHeld = Callable[[Outcome], object]
OnAsked = Callable[[str, str], object]  # the held question's id, and where a person answers it
GIVEN, USED = "given", "used"  # what an approval of a call permits whoever reads of it
NOT_YOURS = "Not done: this approval is used up, or several calls wait for it. Ask about the call again."
DECIDED: dict[str, OutcomeVerdict] = {
    "approve": "approve",
    "edit": "edit",
    "reject": "reject",
    "withdraw": "withdrawn",
    "expire": "expired",
}


@dataclass(frozen=True)
class Question:
    """What is asked, with all that goes into its bytes: asked again, these are the same."""

    asked: Asked
    run: str
    session: str
    key: str
    user_message: str | None = None
    metadata: Mapping[str, Any] | None = None
    require_review: bool = False
    expires_in: int | None = None
    given: Given | None = None  # what tools gave before it

    @classmethod
    def of(cls, asked: Asked, run: str, session: str | None, **rest: Any) -> Question:
        key = key_of(run, session or run, asked)
        if isinstance(asked, ToolCall) and asked.call_id is None:
            asked = replace(asked, call_id=key)  # what an approval is bound to
        return cls(asked, run, session or run, key, **rest)

    @property
    def call_id(self) -> str:
        """What a call is bound to: ids of any length are told apart; metacog takes 255 characters."""
        call_id = str(self.asked.call_id)
        return call_id if len(call_id) <= MAX_CALL_ID else derived(call_id)

    def request(self) -> Send:
        item: dict[str, Any]
        if isinstance(self.asked, ToolCall):
            item = {"kind": "tool_call", "name": self.asked.name, "arguments": self.asked.arguments}
            item["call_id"] = self.call_id
            item |= schema_of(self.asked) | {"description": self.asked.description}
            item["annotations"] = hints_of(self.asked)
        else:
            item = {"kind": self.asked.kind, "text": self.asked.text}
        item |= {"require_review": self.require_review or None, "expires_in": self.expires_in}
        body = {
            "id": self.key,
            "response": self.asked.text if isinstance(self.asked, Text) else self.asked.description or "",
            "items": [{name: value for name, value in item.items() if value is not None or name == "arguments"}],
            "session": self.session,
            "metadata": {"run": self.run, **(self.metadata or {})},
        }
        if self.user_message is not None:
            body["user_message"] = self.user_message
        return request("POST", "/responses", body | output_beside(body, self.given))

    def is_held_as(self, item: Mapping[str, Any]) -> bool:
        if isinstance(self.asked, Text):
            return (item["kind"], item["text"]) == (self.asked.kind, self.asked.text)
        if item.get("call_id") != self.call_id or item["outcome"]:
            return False
        return as_json([item["name"], item["arguments"]]) == as_json([self.asked.name, self.asked.arguments])

    def about(self, told: Outcome) -> Outcome:
        """Give an outcome with what it is about."""
        return replace(told, session=self.session, tool=getattr(self.asked, "name", None))


def output_beside(body: Mapping[str, Any], given: Given | None) -> dict[str, str]:
    """Give the part of a response that has what tools gave; where both are too large for one, a line that says so."""
    if given is None or not given.text:
        return {}
    output = {"command_output": given.text}
    if len(as_json({**body, **output}).encode("utf-8", "surrogatepass")) <= MAX_BODY:
        return output
    return {"command_output": "[what tools gave before is left out: this response is too large]"}


def schema_of(call: ToolCall) -> dict[str, Any]:
    """Give the part of an item that has a call's schema, or says that it is too large to be sent."""
    if call.schema is not None and len(as_json(call.schema).encode("utf-8", "surrogatepass")) > MAX_SCHEMA:
        return {"schema_omitted": True}
    return {"schema": call.schema}


def hints_of(call: ToolCall) -> Mapping[str, Any] | None:
    """Give a call's annotations; none that metacog would not take, which may only ask for more."""
    hints = call.annotations
    return hints if hints and len(as_json(hints).encode("utf-8", "surrogatepass")) <= MAX_HINTS else None


def gate(
    question: Question,
    until: Until,
    retry_seconds: float,
    unreachable: WhenUnreachable,
    on_held: OnHeld | None = None,
) -> Steps[Outcome]:
    """Ask, and wait for the decision where it is held. Raises nothing: what cannot be asked is not allowed."""
    told = yield from ask(question, until, retry_seconds, unreachable)
    while told.verdict == "pending" and told.held:
        held, page = told.held, told.review_url
        if on_held:
            on_held(told)
        told = yield from wait(held, until, question)
        if told.held == held:
            told = located(told, page)
            if told.verdict == "pending":
                break
    return told


def located(told: Outcome, review_url: str | None) -> Outcome:
    """Add where it is decided, which only the first answer says."""
    if told.verdict == "pending":
        return outcome("pending", reason=told.reason, held=told.held, review_url=review_url)
    return replace(told, review_url=review_url)


def ask(question: Question, until: Until, retry_seconds: float, unreachable: WhenUnreachable) -> Steps[Outcome]:
    """Ask without waiting for a decision."""
    try:
        send = question.request()
    except NOT_JSON as error:
        return outcome("unreachable", reason=f"what is asked about is no JSON: {error}")
    try:
        answer = yield from answered(send, until.sooner(retry_seconds))
        told = assessed(content(answer), question.asked)
        if question.given:
            question.given.sent()
        return told
    except Unreachable as error:
        if unreachable == "allow":
            return unasked(question.asked, str(error))
        return outcome("unreachable", reason=str(error))
    except Refused as error:
        if error.status == 422 and any(each.get("pointer") == "/id" for each in error.errors):
            # Asked before with something else around it: another description, or what tools gave to another process.
            if held := (yield from asked_before(question, until.sooner(retry_seconds))):
                return outcome("pending", held=held)
            other = derived(question.key, (send.body or b"").decode())
            return (yield from ask(replace(question, key=other), until, retry_seconds, unreachable))
        # Whatever this call says: a key that was revoked or a call too large to be shown must not open the gate.
        return outcome("unreachable", reason=refused(error))
    except (KeyError, IndexError, TypeError):
        return outcome("unreachable", reason="what answered is not metacog, or one that this client does not know")


def asked_before(question: Question, until: Until) -> Steps[str | None]:
    """Find the item that a question is held as, if nobody knows it by the question itself; None: posted again it is.

    metacog knows a call that waits, not how one was decided; of words neither.
    """
    try:
        for state in CLOSED if isinstance(question.asked, ToolCall) else ("pending", *CLOSED):
            after: str | None = ""
            while after is not None:
                query = {"state": state, "session": question.session, "after": after}
                page = content((yield from answered(request("GET", "/held", query=query), until)))
                for item in page["items"]:
                    if question.is_held_as(item):
                        return str(item["id"])
                after = page["next"]
    except (Unreachable, Refused, KeyError, TypeError):
        pass
    return None


@dataclass(frozen=True)
class PersonQuestion:
    """A question to a person, with all that goes into its bytes."""

    text: str
    schema: Mapping[str, Any] | None
    choices: Sequence[str] | None
    run: str
    session: str
    call_id: str | None = None  # asked again under it, in this run, it is the same question, answered or not
    user_message: str | None = None
    metadata: Mapping[str, Any] | None = None
    expires_in: int | None = None

    def request(self) -> Send:
        what = ["question", self.text, self.schema, self.choices and list(self.choices)]
        key = str(uuid.uuid4()) if self.call_id is None else derived(self.run, self.session, self.call_id, *what)
        item = {"text": self.text, "schema": self.schema, "choices": self.choices, "expires_in": self.expires_in}
        body = {
            "id": key,
            "response": "",
            "items": [{"kind": "question"} | {name: value for name, value in item.items() if value is not None}],
            "session": self.session,
            "metadata": {"run": self.run, **(self.metadata or {})},
        }
        if self.user_message is not None:
            body["user_message"] = self.user_message
        return request("POST", "/responses", body)


def answer(question: PersonQuestion, until: Until, retry_seconds: float, on_held: OnAsked | None = None) -> Steps[Any]:
    """Ask a person, wait, and give the answer. Raises NotAnswered, Unreachable and Refused."""
    told = content((yield from answered(question.request(), until.sooner(retry_seconds))))["items"][0]
    held, page = told["held"], told["review_url"]
    if on_held:
        on_held(held, page)
    while True:
        send = request("GET", f"/held/{quote(held, safe='')}")
        item = content((yield from answered(send, until, waits=WAIT_SECONDS)))
        if decision := item["decision"]:
            if decision["verdict"] == "answer":
                return decision["answer"]
            raise NotAnswered(decision["verdict"], decision["reason"], held, page)
        if until.left <= 0:
            raise NotAnswered("pending", "", held, page)
        yield Sleep(min(AGAIN_SECONDS, until.left))


def wait(held: str, until: Until, question: Question | None = None) -> Steps[Outcome]:
    """Wait for the decision about a held item until it is there or the time is over."""
    try:
        while True:
            send = request("GET", f"/held/{quote(held, safe='')}")
            item = content((yield from answered(send, until, waits=WAIT_SECONDS)))
            if item["decision"] is not None:
                told = decided(item)
                is_given = item["decision"].get("permission") in (None, GIVEN)
                is_mine = question is None or item.get("call_id") in (None, question.call_id)
                if not told.allowed or (is_given and is_mine):
                    return told
                if question is None:
                    return replace(told, allowed=False, message=NOT_YOURS)
                return (yield from claimed(question, item, told, until))
            if until.left <= 0:
                return outcome("pending", held=held)
            yield Sleep(min(AGAIN_SECONDS, until.left))
    except Unreachable as error:
        return outcome("pending", held=held, reason=str(error))
    except Refused as error:
        told = outcome("unreachable", held=held, reason=refused(error))
        return replace(told, message=f"Not done: you have no review {held!r}.") if error.status == 404 else told
    except (KeyError, TypeError):
        return outcome("unreachable", held=held, reason="what answered is not metacog")


def refused(error: Refused) -> str:
    return str(error) if error.detail == NOT_METACOG else f"metacog refused to be asked: {error}"


def claimed(question: Question, item: Mapping[str, Any], told: Outcome, until: Until) -> Steps[Outcome]:
    """Take an approval that several calls waited for, or another one: posted again, it passes for one of them.

    One that is used up, since its outcome was reported, is asked about anew, if this call is not by now.

    The id is made from the decision, so that whoever took it and was killed takes it again.
    """
    asked, is_used = question.asked, item["decision"]["permission"] == USED
    if isinstance(asked, ToolCall) and not is_used:
        asked = replace(asked, arguments=told.arguments)
    key = derived(question.key, item["decision"]["id"])
    again = yield from ask(replace(question, asked=asked, key=key), until, until.left, "deny")
    if again.verdict != "pass":
        return again
    if is_used:  # by this very call
        key = derived(question.key, item["decision"]["id"], USED)
        return (yield from ask(replace(question, key=key), until, until.left, "deny"))
    return replace(told, arguments=again.arguments, text=again.text)


def assessed(verdict: Mapping[str, Any], asked: Asked) -> Outcome:
    """Read an assessment of one item."""
    item = verdict["items"][0]
    disposition, rule = item["disposition"], item.get("rule") or {}
    effects = tuple(item["effects"]) if item.get("effects") is not None else None
    if disposition == "hold":
        return outcome("pending", held=str(item["held"]), review_url=item.get("review_url"), effects=effects)
    if disposition == "reject":
        return outcome("deny", reason=rule.get("reason") or "", by="system")
    if disposition not in ("pass", "mark", "note"):
        raise TypeError  # one that is not known lets nothing through
    if isinstance(asked, ToolCall):
        return outcome("pass", arguments=item["arguments"], effects=effects)
    return outcome("pass", text=item["text"])


def decided(item: Mapping[str, Any]) -> Outcome:
    """Read a held item that is decided."""
    decision = item["decision"]
    verdict = DECIDED[decision["verdict"]]
    told = outcome(
        verdict,
        arguments=decision["arguments"],
        text=decision["text"],
        reason=decision["reason"],
        held=item["id"],
        by=decision.get("decided_by") or decision["by"],
    )
    if verdict == "edit" and decision["arguments"] is not None:  # else a model believes in those that it gave
        return replace(told, message=f"{told.message} The arguments are now {as_json(told.arguments)}.")
    return told


def unasked(asked: Asked, reason: str) -> Outcome:
    """Let a call through that could not be asked about, because it said so."""
    told = outcome("unreachable", allowed=True, reason=reason)
    message = f"Allowed without a review, as this call permits: {ended(reason)}"
    if isinstance(asked, ToolCall):
        return replace(told, message=message, arguments=asked.arguments)
    return replace(told, message=message, text=asked.text)


def reported(send: Send, sent: Mapping[str, Any], until: Until) -> Steps[Any]:
    """Report an outcome; give it back also where it was reported before as the same."""
    try:
        return content((yield from answered(send, until)))
    except Refused as error:
        standing = error.problem.get("outcome") or {}
        if error.status == 409 and as_json({name: standing.get(name) for name in sent}) == as_json(sent):
            return standing
        raise


def fetch(send: Send, until: Until, again: bool = True) -> Steps[Any]:
    """Send one request, and give what its answer holds."""
    return content((yield from answered(send, until, again=again)))


def fetch_made(send: Send, until: Until) -> Steps[tuple[Any, bool]]:
    """Send one request, and give what its answer holds, and whether that was made by it."""
    answer = yield from answered(send, until)
    return content(answer), answer.status == 201


def fetch_text(send: Send, until: Until) -> Steps[str]:
    answer = yield from answered(send, until)
    return answer.body.decode()


def new_run() -> str:
    return str(uuid.uuid4())
