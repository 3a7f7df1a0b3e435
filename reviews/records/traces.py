"""What of scoring, holding and deciding is told as spans, and where the trace of an item is.

Names are those of OpenTelemetry's conventions for generative AI (`gen_ai.*`) where it has one. No text, argument or
reason stands in a span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from django.conf import settings

from metacog.heuristics.wire.assessment import Assessment, ItemPart
from metacog.models import Agent
from metacog.runtime import tracing
from reviews.models import AgentResponse, Decision, HeldItem

if TYPE_CHECKING:
    from opentelemetry.trace import Span

MOST_ID = 255  # characters of an id that is none of OpenTelemetry


class Trace(NamedTuple):
    """The trace that an item was posted in: its id, and the page of it where the installation has named one."""

    id: str
    url: str


def of_item(held: HeldItem) -> Trace | None:
    """Return an item's trace: its `metadata.trace`, which may be another system's id, else that of its response."""
    return of_response(held.response, held.metadata)


def of_response(response: AgentResponse, metadata: Mapping[str, Any]) -> Trace | None:
    """Return the trace that a response was posted in, which `metadata` may name: its own, or an item's of it."""
    named = metadata.get("trace")
    parent = tracing.traceparent(named) or ("" if _is_id(named) else response.traceparent)
    found = tracing.trace_id(parent) if parent else named if _is_id(named) else ""
    return Trace(found, settings.TRACE_URL.replace("{trace_id}", quote(found, safe=""))) if found else None


def _is_id(named: object) -> bool:
    return isinstance(named, str) and 0 < len(named) <= MOST_ID and named.isprintable() and not named.isspace()


def came_with(headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """Return the traceparent that a post was sent with: its header's, else that of its `metadata.trace`."""
    sent = headers.get("traceparent")
    return tracing.traceparent(sent or (body["metadata"] or {}).get("trace"))


class Post:
    """One post as it is told; `traceparent` is what is kept of it, the rest is nothing while no traces are sent."""

    def __init__(self, agent: Agent, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        self.traceparent = came_with(headers, body)
        self.span: Span | None = None
        self.times: list[int] = []
        if settings.TRACE_EXPORTERS:
            self.span = tracing.begin("metacog.receive", self.traceparent)
            self.traceparent = self.traceparent or tracing.traceparent_of(self.span)
            self.about = _about(agent, body["session"] or "")

    def mark(self) -> None:
        """Note the time: as scoring begins, and as it is over."""
        if self.span:
            self.times.append(tracing.now())

    def replayed(self) -> None:
        if self.span:
            self.span.set_attributes(self.about | {"metacog.replayed": True})
            self.span.end()

    def taken_in(self, verdict: Assessment) -> None:
        """Write the spans of a post that is durable: the whole, its scoring, and each item that is held."""
        if self.span is None:
            return
        about = self.about | {"metacog.response.id": verdict["id"] or ""}
        begun, scored = self.times
        scoring = tracing.begin_part(self.span, "metacog.score", begun)
        scoring.set_attributes(about | _scored(verdict))
        for result in _evaluations(verdict):
            scoring.add_event("gen_ai.evaluation.result", result, scored)
        scoring.end(scored)
        for item in verdict["items"]:
            if item["disposition"] == "hold":
                part = tracing.begin_part(self.span, "metacog.hold", scored)
                part.set_attributes(about | _of_held(item))
                part.end()
        self.span.set_attributes(about)
        self.span.end()


def tell_decided(decision: Decision, began: int) -> None:
    """Write the span of a decision that is durable, with a link to the trace that posted what it is about."""
    if not settings.TRACE_EXPORTERS:
        return
    held = decision.held
    posted = tracing.traceparent(held.metadata.get("trace")) or held.response.traceparent
    span = tracing.begin("metacog.decide", began=began, links=[posted])
    if held.kind == HeldItem.Kind.TOOL_CALL:
        span.set_attributes(_of_call(held.call.name, held.call.call_ids[0] if held.call.call_ids else None))
    span.set_attributes(
        {
            **_about(held.agent, held.response.session),
            "metacog.response.id": held.response.public_id,
            "metacog.held.id": held.public_id,
            "metacog.item.kind": held.kind,
            "metacog.decision.id": decision.public_id,
            "metacog.decision.verdict": str(decision.verdict),
            "metacog.decision.by": str(decision.by),
            "metacog.held.seconds": round((decision.decided_at - held.held_at).total_seconds(), 3),
        }
    )
    span.end()


def _about(agent: Agent, session: str) -> tracing.Attributes:
    about: tracing.Attributes = {"gen_ai.agent.id": agent.public_id, "gen_ai.agent.name": agent.name}
    if session:
        about["gen_ai.conversation.id"] = session
    return about


def _scored(verdict: Assessment) -> tracing.Attributes:
    done = [item["disposition"] for item in verdict["items"]]
    return {
        "metacog.engine": verdict["engine"],
        "metacog.policy.version": verdict["policy"] or 0,
        **{f"metacog.items.{each}": done.count(each) for each in sorted(set(done))},
    }


def _evaluations(verdict: Assessment) -> list[tracing.Attributes]:
    """Return the scores of an assessment as results of evaluations."""
    found: list[tracing.Attributes] = []
    if hesitation := verdict["hesitation"]:
        found.append(_evaluation("hesitation", hesitation["score"], hesitation["confident"]))
        found[-1] |= {"gen_ai.evaluation.explanation": ", ".join(each["type"] for each in hesitation["signals"])}
    if quality := verdict["quality"]:
        found.append(_evaluation("quality", quality["score"], quality["passed"]))
        found[-1] |= {"gen_ai.evaluation.explanation": ", ".join(quality["flags"])}
    return found


def _evaluation(name: str, score: float, passed: bool) -> tracing.Attributes:
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": score,
        "gen_ai.evaluation.score.label": "pass" if passed else "fail",
    }


def _of_held(item: ItemPart) -> tracing.Attributes:
    about: tracing.Attributes = {"metacog.held.id": item["held"] or "", "metacog.item.kind": item["kind"]}
    return about | _of_call(item["name"], item.get("call_id")) if "name" in item else about


def _of_call(name: str, call_id: str | None) -> tracing.Attributes:
    about: tracing.Attributes = {"gen_ai.tool.name": name}
    if call_id:
        about["gen_ai.tool.call.id"] = call_id
    return about
