"""Langfuse's observations and traces: from its pages as CSV, JSON or JSON Lines, from its API, from a bucket.

Names are in camel case in the first two and in snake case in the last. A trace that was downloaded has its observations
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers.traces import Step, Steps
from reviews.logs.readers.turns import Fault, Read, text_at

SAYS = ("GENERATION", "TOOL")
_OF_OBSERVATIONS = {"traceId", "trace_id"}
_OF_TRACES = {"projectId", "project_id", "sessionId", "session_id", "userId", "user_id", "observations"}


class Langfuse:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.steps = Steps(state)

    def as_json(self) -> dict[str, Any]:
        return self.steps.as_json()

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        if "run_type" in record or {"messages", "choices", "sessionId", "type"} <= record.keys():
            return False
        names = record.keys()
        has_words = bool({"input", "output", "prompt", "completion", "observations"} & names)
        return has_words and bool((_OF_OBSERVATIONS | _OF_TRACES) & names)

    @staticmethod
    def speaks(record: Mapping[str, Any]) -> bool:
        """Tell whether an observation is a model's or a tool's, or a trace has such in it."""
        inner = any(Langfuse.speaks(each) for each in record.get("observations") or () if isinstance(each, Mapping))
        return _kind(record) in SAYS or inner

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        observations = [each for each in record.get("observations") or () if isinstance(each, Mapping)]
        if not observations:
            return self._observation(record, line, "")
        session, found = text_at(record, "sessionId", "session_id"), Read(skipped="trace")
        for each in observations:
            inner = self._observation(each, line, session)
            found.turns += inner.turns
            found.parts += inner.parts
        return found

    def _observation(self, record: Mapping[str, Any], line: int, session: str) -> Read:
        kind = _kind(record)
        if not kind:
            return Read(fault=Fault(gettext_noop("It is no observation and no trace.")))
        is_root = not text_at(record, "parentObservationId", "parent_observation_id")
        if kind not in SAYS and not (self.steps.is_by_root and is_root):
            return Read(skipped=kind.lower()[:40])
        output = record.get("output", record.get("completion"))
        if kind != "TOOL" and output in (None, "", {}, []):
            level = text_at(record, "level")
            return Read(skipped=f"{kind.lower()}, failed" if level == "ERROR" else f"{kind.lower()}, without output")
        step = Step(
            line,
            kind.lower(),
            id=text_at(record, "id"),
            trace=text_at(record, "traceId", "trace_id") or text_at(record, "id"),
            session=text_at(record, "sessionId", "session_id") or session,
            name=text_at(record, "name"),
            input=record.get("input", record.get("prompt")),
            output=output,
            at=text_at(record, "startTime", "start_time", "timestamp"),
            is_root=kind not in SAYS,
            calls=record.get("toolCalls", record.get("tool_calls")),
        )
        return self.steps.of_tool(step) if kind == "TOOL" else self.steps.of_model(step)


def _kind(record: Mapping[str, Any]) -> str:
    """Return the type of an observation; of generations exported without one, and of traces, what they are."""
    if kind := text_at(record, "type"):
        return kind.upper()
    if _OF_OBSERVATIONS & record.keys():
        return "GENERATION" if {"model", "completion", "provided_model_name", "usage"} & record.keys() else "SPAN"
    return "TRACE" if _OF_TRACES & record.keys() else ""
