"""LangSmith's runs: a run a record, as its API and its exports have them, or with their children in `child_runs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from reviews.logs.readers import messages
from reviews.logs.readers.traces import Step, Steps
from reviews.logs.readers.turns import Fault, Read, text_at

_SESSION = ("session_id", "thread_id", "conversation_id")
SAYS = ("llm", "tool")


class LangSmith:
    def __init__(self, state: Mapping[str, Any]) -> None:
        self.steps = Steps(state)

    def as_json(self) -> dict[str, Any]:
        return self.steps.as_json()

    @staticmethod
    def knows(record: Mapping[str, Any]) -> bool:
        return "run_type" in record

    @staticmethod
    def speaks(record: Mapping[str, Any]) -> bool:
        """Tell whether a run, or one within it, is a model's or a tool's."""
        children = record.get("child_runs") or ()
        inner = any(LangSmith.speaks(child) for child in children if isinstance(child, Mapping))
        return record.get("run_type") in SAYS or inner

    def read(self, record: Mapping[str, Any], line: int) -> Read:
        if "run_type" not in record:
            return Read(fault=Fault(gettext_noop("It has no “run_type”.")))
        found = self._run(record, line)
        for child in record.get("child_runs") or ():
            if isinstance(child, Mapping):
                inner = self.read(child, line)
                found.turns += inner.turns
                found.parts += inner.parts
        return found

    def _run(self, run: Mapping[str, Any], line: int) -> Read:
        kind = str(run["run_type"])
        is_root = not run.get("parent_run_id") and not run.get("parent_run_ids")
        if kind not in SAYS and not (self.steps.is_by_root and is_root):
            return Read(skipped=kind[:40])
        extra = messages.parsed(run.get("extra"))
        metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
        trace = text_at(run, "trace_id") or text_at(run, "id")
        outputs = messages.parsed(run.get("outputs"))
        if kind != "tool" and not outputs:
            return Read(skipped=f"{kind}, failed" if run.get("error") else f"{kind}, without text or tool call")
        step = Step(
            line,
            kind,
            id=text_at(run, "id"),
            trace=trace,
            session=text_at(metadata if isinstance(metadata, Mapping) else {}, *_SESSION),
            name=text_at(run, "name"),
            input=run.get("inputs"),
            output=outputs,
            at=run.get("start_time"),
            is_root=kind not in SAYS,
        )
        return self.steps.of_tool(step) if kind == "tool" else self.steps.of_model(step)
