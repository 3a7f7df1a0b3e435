"""What becomes of a tool call: it passes, waits for a person, or is rejected."""

from collections.abc import Sequence

from ..effects.effect import Effect
from ..text.strict_json import pointer
from ..text.tags import Item
from ..wire.assessment import Disposition, EffectPart, HesitationPart, ItemPart
from .rules import Judged

PAUSED = "The agent is paused."


def gate(item: Item, judged: Judged, scored: HesitationPart | None, recognised: str | None) -> ItemPart:
    """Give what the verdict says of a call beside what it says of any item.

    `scored` is the hesitation about it where a rule asks for that, None while hesitation is switched off; `recognised`
    the held item of the approval that this very call has. No approval lets pass what a rule denies, unless a review was
    demanded: then a person is asked even about that.
    """
    assert item.call
    disposition: Disposition = "pass"
    is_risky = scored is not None and scored["score"] >= scored["hold_at"]
    is_asked = item.require_review or judged.do == "ask" or is_risky
    if judged.do == "deny" and not item.require_review:
        disposition, recognised = "reject", None
    elif not is_asked:
        recognised = None  # it needs no approval, and uses none up
    elif recognised is None:
        disposition = "hold"
    said: ItemPart = {
        "disposition": disposition,
        "text": None,
        "recognised": recognised,
        "call_id": item.call.call_id,
        "name": item.call.name,
        "arguments": item.call.arguments,
        "rule": dict(judged.rule) if judged.rule else None,
        "effects": [*map(effect_part, judged.reading.effects)],
        "readable": judged.reading.readable,
    }  # type: ignore[typeddict-item]  # the rest is there
    if judged.fault:
        said["fault"] = judged.fault
    if judged.definition_changed:
        said["definition_changed"] = True
    if scored is not None:
        said["hesitation"] = scored
    return said


def asking(judged: Sequence[Judged | None]) -> list[Judged | None]:
    """Have a person asked about all calls but those that are denied, by whatever rule: their agent is paused."""
    return [each if each is None or each.do == "deny" else each._replace(do="ask", fault=PAUSED) for each in judged]


def effect_part(effect: Effect) -> EffectPart:
    part: EffectPart = {
        "effect": effect.effect,
        "object": effect.object,
        "inside": effect.inside,
        "start": effect.start,
        "end": effect.end,
        "argument": effect.argument,
    }
    if effect.of:
        part["of"] = effect.of
    if effect.detail:
        part["detail"] = effect.detail
    return part


def too_late(items: Sequence[Item], expiry_seconds: int) -> list[dict[str, str]]:
    """Say which items ask for more time than the policy gives them."""
    return [
        {
            "pointer": pointer(["items", index, "expires_in"]),
            "detail": f"must be at most the policy's expiry_seconds, {expiry_seconds:,}, and is {item.expires_in:,}",
        }
        for index, item in enumerate(items)
        if item.expires_in is not None and item.expires_in > expiry_seconds
    ]
