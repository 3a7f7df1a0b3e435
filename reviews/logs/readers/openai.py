"""OpenAI chat as JSON Lines: fine-tuning files, logs of requests with their responses, batches, stored completions.

Of a conversation alone (`messages`) every message of the assistant is a turn. Where the response stands beside its
request, only that is: what the request repeats was the response of an earlier line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Fault, Read, Seen, Sessions, Turn, hear, heard, moment, text_at

_SESSION = ("session", "session_id", "conversation_id", "thread_id", "chat_id", "custom_id")
_AT = ("created", "created_at", "timestamp", "time", "start_time", "date")
_SIGNS = {"messages", "choices", "custom_id", "request", "response", "prompt", "completion", "output", "body"}


class OpenAI:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.sessions, self.seen = Sessions(state.get("sessions", ())), Seen(state.get("seen", ()))
        self.name = str(state.get("name", ""))  # of the log: a conversation that has no name of its own is called so

    def as_json(self) -> dict[str, Any]:
        return {"sessions": self.sessions.as_json(), "seen": self.seen.as_json(), "name": self.name}

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        if {"run_type", "traceId", "trace_id", "projectId"} & record.keys():
            return False
        return bool(_SIGNS & record.keys()) or record.get("role") in (
            "user",
            "assistant",
            "system",
            "tool",
            "developer",
        )

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        if "role" in record and "messages" not in record:
            return self._message(record, line)
        asked, answered = _asked(record), _answered(record)
        if answered is not None:
            if answered == []:
                failed = text_at(_error(record), "message", "code") or "no message of the assistant"
                return Read(skipped=f"without a response: {failed[:80]}")
            return self._turns([*asked, *answered], len(asked), record, line)
        if asked or isinstance(record.get("messages"), list):
            found = self._turns(asked, 0, record, line)
            return found if found.turns else Read(skipped="conversation without a message of the assistant")
        return Read(fault=Fault(gettext_noop("It has no messages and no response.")))

    def _message(self, message: Mapping[str, Any], line: int) -> Read:
        """Read a log that has a message a record."""
        session = _session(message) or self.name or "conversation"
        known = self.sessions.of(session)
        speaker, left = messages.role(message), messages.left_around([], [message])
        if speaker != "assistant":
            user, given = messages.before([message])
            hear(known, user, [given])
            return (
                Read(skipped=speaker, parts=left)
                if speaker
                else Read(fault=Fault(gettext_noop("Its role is not known.")))
            )
        turn = _turn(message, line, text_at(message, "id") or f"{session}:{line}", session)
        if turn is None:
            return Read(skipped="assistant, without text or tool call", parts=left)
        return Read([replace(turn, at=_at(message), **heard(known))], parts=left)

    def _turns(self, said: list[dict[str, Any]], start: int, record: Mapping[str, Any], line: int) -> Read:
        session, found = _session(record) or f"{self.name} line {line}".strip(), Read()
        id_ = _id(record)
        for place, message in enumerate(said):
            if place < start or messages.role(message) not in ("assistant", ""):
                continue
            key = f"{id_}:{place - start}" if id_ else f"{session}:{line}:{place}"
            if (turn := _turn(message, line, key, session)) is None:
                continue
            if id_ and not self.seen.is_new(key):
                return Read(skipped="copy of an earlier record")
            user, given = messages.before(said[:place])
            found.turns.append(replace(turn, user_message=user, given=given, at=_at(record)))
        found.parts = messages.left_around(said[:start], said[start:])
        if not found.turns:
            found.skipped = "assistant, without text or tool call"
        return found


def _turn(message: Mapping[str, Any], line: int, key: str, session: str) -> Turn | None:
    text, calls = messages.text(message.get("content")), messages.calls(message)
    text = text or str(message.get("refusal") or "")
    if message.get("type") == "function_call":
        calls = messages.calls({"tool_calls": [message]})
    if not text.strip() and not calls:
        return None
    return Turn(line=line, key=key, session=session, text=text, calls=calls)


def _asked(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a request, or of a conversation."""
    for place in (record.get("request"), record.get("body"), record.get("kwargs"), record):
        if not isinstance(place, Mapping):
            continue
        place = place["body"] if isinstance(place.get("body"), Mapping) else place
        for name in ("messages", "input", "prompt"):
            asked = place.get(name)
            if isinstance(asked, str) and asked.strip() and place.get("messages") is None:
                system = place.get("instructions")
                rest = [{"role": "system", "content": system}] if isinstance(system, str) else []
                return [*rest, {"role": "user", "content": asked}]
            if found := messages.conversation(asked):
                return found
    return []


def _answered(record: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return what the assistant answered; empty where the request failed, None where there is no response at all."""
    names = ("response", "completion", "preferred_output", "output")
    answers: list[Any] = [record[name] for name in names if name in record]
    for answer in [*answers, record]:
        if isinstance(answer, Mapping) and isinstance(answer.get("body"), Mapping) and answer is not record:
            answer = answer["body"]
        if isinstance(answer, str):
            as_json = messages.parsed(answer)
            if not isinstance(as_json, Mapping):
                return [{"role": "assistant", "content": answer}]
            answer = as_json
        if isinstance(answer, Mapping):
            for name in ("choices", "output"):
                if isinstance(answer.get(name), list):
                    return [each for each in messages.conversation(answer[name]) if messages.role(each) != "tool"]
            if answer is not record and (found := messages.conversation(dict(answer))):
                return found[-1:]
        elif isinstance(answer, list) and (found := messages.conversation(answer)):
            return found
    return [] if answers or _error(record) else None


def _error(record: Mapping[str, Any]) -> Mapping[str, Any]:
    response = record.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    for place in (record, body):
        if isinstance(place, Mapping) and isinstance(error := place.get("error"), Mapping):
            return error
    return {}


def _places(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    response = record.get("response")
    inner = response.get("body") if isinstance(response, Mapping) else None
    places = (record, record.get("metadata"), response, inner, record.get("request"), record.get("body"))
    return [place for place in places if isinstance(place, Mapping)]


def _session(record: Mapping[str, Any]) -> str:
    return next((found for place in _places(record) if (found := text_at(place, *_SESSION))), "")


def _id(record: Mapping[str, Any]) -> str:
    """Return the id of the response: the API's own, which no other has."""
    return next((found for place in _places(record)[::-1] if (found := text_at(place, "id"))), "")


def _at(record: Mapping[str, Any]) -> str:
    return next((found for place in _places(record) for name in _AT if (found := moment(place.get(name)))), "")
