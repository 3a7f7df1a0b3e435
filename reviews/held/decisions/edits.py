"""What a person makes of a text, a call's arguments or an answer, and what that comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from metacog import heuristics
from metacog.heuristics.text.tags import Item
from metacog.heuristics.tool_calls.secrets import is_mask_left
from metacog.heuristics.wire.schema_keys import lost_keys, unknown_keys
from patterns.patterns.scorer import scorer_for
from reviews.held import grants
from reviews.held.decisions.refusals import Refusal
from reviews.models import HeldItem
from reviews.scoring.history import told_before


class Arguments(NamedTuple):
    """What a tool call is to be made with instead: any JSON."""

    value: Any


class Answer(NamedTuple):
    """What a person answers to a question: any JSON."""

    value: Any


Edit = str | Arguments | Answer


class Slips(NamedTuple):
    """What of edited arguments looks like a slip, as pointers."""

    unknown: Sequence[str] = ()  # keys that the edit adds and the call's schema does not know
    lost: Sequence[str] = ()  # keys that the call had and the edit has not

    @property
    def errors(self) -> list[dict[str, str]]:
        """Say in English what looks like a slip: {"pointer", "detail"}."""
        return [
            *({"pointer": each, "detail": "is a key that the tool's schema does not know"} for each in self.unknown),
            *({"pointer": each, "detail": "is a key that the call had, and the edit has not"} for each in self.lost),
        ]


class Edited(NamedTuple):
    """What an edit comes to under the agent's policy of now."""

    hesitation: heuristics.Hesitation | None  # None: not scored
    hold_at: int
    rule: Mapping[str, Any] | None = None  # which the edit meets, and the call did not: it asks a person or denies
    slips: Slips = Slips()

    @property
    def is_held_again(self) -> bool:
        return self.rule is not None or (self.hesitation is not None and self.hesitation.score >= self.hold_at)

    @property
    def is_risky(self) -> bool:
        """Say whether a person is asked once more before it is released."""
        return self.is_held_again or any(self.slips)

    @property
    def reason(self) -> str:
        """Say in English why the edit would be held again."""
        if self.rule is not None:
            return f"a rule on {self.rule['tool']} ({self.rule.get('reason') or self.rule['do']})"
        return self.hesitation.suggestion if self.hesitation else ""


class StillRisky(Refusal):
    """The edit would be held again, or looks like a slip; `edited` says why."""

    def __init__(self, edited: Edited) -> None:
        super().__init__()
        self.edited = edited


class StillMasked(Refusal):
    """A person's edit or answer has a mask where a secret should stand."""


class OutOfSchema(Refusal):
    """Edited arguments or an answer are not what they must be; `errors` are {"pointer", "detail"}."""

    def __init__(self, errors: Sequence[dict[str, str]]) -> None:
        super().__init__()
        self.errors = errors


def score_edit(held: HeldItem, edit: str | Arguments) -> Edited | None:
    """Say what an edit would come to; None where there is nothing to say: hesitation is switched off."""
    if isinstance(edit, Arguments):
        return _judge_call(held, edit, slips_of(held, edit))
    text = edit
    if not held.agent.hesitation_enabled:
        return None
    scorer = scorer_for(held.agent)
    body = held.response.wire_body()
    given, failing = heuristics.given_in(body, told_before(held.response.history)), heuristics.failing_in(body)
    hesitation = scorer.hesitate(text, [{"kind": held.kind, "text": text}], given, failing)
    return Edited(hesitation, scorer.policy.hold_at)


def slips_of(held: HeldItem, edit: Arguments) -> Slips:
    call = held.call
    return Slips(unknown_keys(call.arguments, edit.value, call.schema), lost_keys(call.arguments, edit.value))


def _judge_call(held: HeldItem, edit: Arguments, slips: Slips) -> Edited:
    """Ask the rules about an edited call. The rule that held it has asked already, and so has the policy's default."""
    scorer, (call, judged) = scorer_for(held.agent), grants.asked(held, edit.value)
    if judged.do == "score" and held.agent.hesitation_enabled:
        item = Item(held.kind, call.text, call=call)
        return Edited(scorer.hesitate(item.text, [item]), scorer.policy.hold_at, slips=slips)
    is_unlike = judged.rule != held.call.rule or judged.fault not in ("", held.call.fault)
    is_new = judged.do in ("ask", "deny") and judged.rule is not None and is_unlike
    return Edited(None, scorer.policy.hold_at, judged.rule if is_new else None, slips)


def check_edit(held: HeldItem, edit: str | Arguments, slips: Slips) -> None:
    edited = _judge_call(held, edit, slips) if isinstance(edit, Arguments) else score_edit(held, edit)
    if edited and edited.is_risky:
        raise StillRisky(edited)


def has_mask_left(held: HeldItem, edit: Edit | None) -> bool:
    if isinstance(edit, Arguments):
        return is_mask_left(edit.value, held.call.arguments)
    if isinstance(edit, Answer):
        return is_mask_left(edit.value, None)
    return edit is not None and is_mask_left(edit, held.text)
