"""Read the posts of a session: what was said and asked for, what was held, who decided, and what came of it.

The page and the files of a session are both made of these, and secrets are masked here, once for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from metacog.heuristics.stuck.fingerprints import normalise_error
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.excerpts import without_tags
from metacog.heuristics.tool_calls.secrets import line, masked, masked_text
from metacog.heuristics.wire.assessment import Assessment, EffectPart, ItemPart
from reviews.models import AgentResponse, CallOutcome, Decision, HeldItem
from reviews.presentation.calls.read import Edited, edited_of
from reviews.presentation.calls.why_asked import why_asked
from reviews.presentation.effects import in_words
from reviews.presentation.marks import paired
from reviews.presentation.phrases import gap
from reviews.records import traces
from reviews.records.traces import Trace

State = HeldItem.State
REFUSED = (State.REJECTED, State.WITHDRAWN, State.EXPIRED)
LONG_CALL = 2_000  # characters of a call's arguments of which a line is made


@dataclass(frozen=True, slots=True)
class Part:
    """One item of a post."""

    kind: str
    disposition: str  # as the verdict says
    text: str  # of a tool call its arguments on one line
    name: str = ""  # of a tool call
    call_id: str | None = None
    arguments: Any = None
    effects: str = ""  # of a tool call, in words
    effect_names: Sequence[str] = ()
    is_outside: bool = False  # one of them is outside the project
    edited: Mapping[int, str] = field(default_factory=dict)  # what it would do as decisions edited it, by their keys
    why: str = ""  # a rule denied it, or a person is asked about the call
    held: HeldItem | None = None
    earlier: str = ""  # the held item by whose approval it passed
    by_grant: bool = False

    @property
    def is_call(self) -> bool:
        return bool(self.name)

    @property
    def is_pending(self) -> bool:
        return self.held is not None and self.held.state == State.PENDING

    @property
    def is_refused(self) -> bool:
        return self.disposition == "reject" or (self.held is not None and self.held.state in REFUSED)

    @property
    def decisions(self) -> Sequence[Decision]:
        return list(self.held.decisions.all()) if self.held else ()

    @property
    def outcome(self) -> CallOutcome | None:
        if self.held is None or self.held.kind != HeldItem.Kind.TOOL_CALL:
            return None
        return getattr(self.held.call, "outcome", None)

    @property
    def fate(self) -> tuple[object, ...]:
        """Return what became of it: of items that came to the same end the same, though each was held by itself."""
        if self.held is None or self.is_pending or self.outcome or not self.is_call:
            return self.disposition, self.held and self.held.pk
        decided = [
            (each.verdict, each.reason, each.undone_at is None, self.edited.get(each.pk)) for each in self.decisions
        ]
        return self.disposition, self.held.state, decided

    @property
    def has_failed(self) -> bool:
        return self.outcome is not None and self.outcome.status == CallOutcome.Status.FAILED


@dataclass(frozen=True, slots=True)
class Post:
    """One response of a session."""

    response: AgentResponse
    text: str  # what it says, without its tags
    parts: Sequence[Part]
    user_message: str = ""
    signals: Sequence[str] = ()  # types of those that fired, where the threshold was reached
    errors: Sequence[str] = ()
    command: str = ""
    command_output: str = ""
    problem: str = ""
    approach: str = ""
    failed: bool = False  # a command of it did, or the call that it made, or it names errors
    metadata: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None
    looks_at: str = ""  # the held item that it is a second look at

    @property
    def id(self) -> str:
        return self.response.public_id

    @property
    def at(self) -> datetime:
        return self.response.received_at

    @property
    def held(self) -> list[HeldItem]:
        return [part.held for part in self.parts if part.held]

    @property
    def is_refused(self) -> bool:
        return any(part.is_refused for part in self.parts)

    @property
    def calls(self) -> list[Part]:
        return [part for part in self.parts if part.is_call]

    @property
    def rest(self) -> str:
        """Return what a repetition of this post has in common with it; "" where nothing could be repeated."""
        if calls := self.calls:
            return canonical(["call", *([part.name, part.arguments] for part in calls)])
        if self.command:
            return canonical(["command", self.command])
        if self.problem and self.failed:
            return canonical(["problem", self.problem])
        return canonical(["error", normalise_error(self.errors[0])]) if self.errors else ""

    @property
    def like(self) -> str:
        """Return what it has in common with calls that differ in their arguments alone; "" where more is to be seen."""
        calls = self.calls
        if not calls or len(calls) < len(self.parts) or self.held or self.is_refused or self.failed:
            return ""
        if self.signals or self.user_message:
            return ""
        return canonical(
            [[part.name, part.disposition, part.earlier != "", part.is_outside, *part.effect_names] for part in calls]
        )

    def is_repeated_by(self, other: Post) -> bool:
        """Say whether another post tries the same again, and nothing else became of it."""
        fates, others = [part.fate for part in self.parts], [part.fate for part in other.parts]
        return bool(self.rest) and self.rest == other.rest and fates == others


def posts_of(responses: Sequence[AgentResponse]) -> list[Post]:
    """Return what these responses were and what became of them; three queries more where anything was held, two where
    calls were edited.

    They come with their agent and `second_look_at`.
    """
    verdicts = [response.wire_verdict() for response in responses]
    # An item that is asked for again names the one that was held first, of an earlier response.
    ids = {item["held"] for verdict in verdicts for item in verdict["items"] if item["held"]}
    held = _held(ids, [response.agent_id for response in responses]) if ids else {}
    edits = edited_of(each for item in held.values() for each in item.decisions.all())
    return [_post(response, verdict, held, edits) for response, verdict in zip(responses, verdicts, strict=True)]


def _held(ids: set[str], agents: Sequence[int]) -> dict[str, HeldItem]:
    decided = Decision.objects.select_related("person", "changed_by", "agent").order_by("pk")
    rows = HeldItem.objects.filter(public_id__in=ids, agent__in=set(agents))
    rows = rows.select_related("call__outcome", "question", "terms", "agent").defer("text")
    return {item.public_id: item for item in rows.prefetch_related(Prefetch("decisions", decided))}


def _post(
    response: AgentResponse, verdict: Assessment, held: Mapping[str, HeldItem], edits: Mapping[int, Edited]
) -> Post:
    body = response.wire_body()
    parts = [
        _part(answer, sent.text, sent.call and sent.call.arguments, held, edits)
        for answer, sent in paired(verdict, body)
    ]
    hesitation = verdict["hesitation"]
    errors = [masked_text(error) for error in body.get("errors") or ()]
    return Post(
        response=response,
        text=masked_text(without_tags(body["response"])),
        parts=parts,
        user_message=masked_text(body.get("user_message") or ""),
        signals=[each["type"] for each in hesitation["signals"]] if hesitation and response.triggered else (),
        errors=errors,
        command=masked_text(body.get("command") or ""),
        command_output=masked_text(body.get("command_output") or ""),
        problem=masked_text(body.get("problem") or ""),
        approach=masked_text(body.get("approach") or ""),
        failed=bool(errors or body.get("command_failed") or any(part.has_failed for part in parts)),
        metadata=masked(body.get("metadata") or {}),
        trace=traces.of_response(response, body.get("metadata") or {}),
        looks_at=response.second_look_at.public_id if response.second_look_at else "",
    )


def _part(
    answer: ItemPart, text: str, arguments: Any, held: Mapping[str, HeldItem], edits: Mapping[int, Edited]
) -> Part:
    item = held.get(answer["held"] or "")
    told: dict[str, Any] = {"kind": answer["kind"], "disposition": answer["disposition"], "held": item}
    told |= {"earlier": answer["recognised"] or "", "by_grant": "grant" in answer}
    if "name" not in answer:
        return Part(text=masked_text(text), **told)
    effects: Sequence[EffectPart] = answer.get("effects", ())
    hidden = masked(arguments)
    return Part(
        text=line("", canonical(hidden)[:LONG_CALL]),
        name=masked_text(answer["name"]),
        call_id=masked(answer.get("call_id")),
        arguments=hidden,
        effects=in_words(effects, arguments),
        effect_names=list(dict.fromkeys(each["effect"] for each in effects)),
        edited={
            each.pk: in_words(edit.effects, edit.call.arguments)
            for each in (item.decisions.all() if item else ())
            if (edit := edits.get(each.pk))
        },
        is_outside=any(each["inside"] is False for each in effects),
        why=_why(answer, item),
        **told,
    )


def _why(answer: ItemPart, item: HeldItem | None) -> str:
    if answer["disposition"] == "reject":
        return masked_text(str((answer.get("rule") or {}).get("reason") or ""))
    return masked_text(gap().join(why_asked(item.call))) if item else ""
