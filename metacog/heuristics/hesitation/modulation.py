"""What hesitation does to each item: hold, mark, note or pass (seed 000, 行為調節)."""

from collections.abc import Mapping, Sequence

from ..lexicon import MARKS
from ..policy.policy import Policy
from ..text.tags import KINDS, QUESTION, TOOL_CALL, UNCLOSED, Item
from ..wire.assessment import Disposition, ItemPart, SchedulePart
from .seed import Hesitation

# What is held and marked, in the order in which a schedule names it.
HELD_KINDS = ("chat", "remember", "task")
SEED_LANGUAGE = "zh-Hant"  # of the marks in seed 000


def modulate(
    items: Sequence[Item], hesitation: Hesitation | None, policy: Policy, recognised: Mapping[int, str]
) -> list[ItemPart]:
    """Give each item its disposition and the text to use instead.

    Without a hesitation all pass, and so does an item in `recognised` (index → the held item whose approved
    text it is). What an agent asks in a conversation (`ask`) always passes: asking is hesitating. A question to people
    and what is to be reviewed are held, whatever else is so. Tool calls pass here: rules decide about them.
    """
    verdicts: list[ItemPart] = []
    for index, item in enumerate(items):
        disposition: Disposition = "pass"
        text = item.text
        if hesitation is not None and index not in recognised:
            disposition, text = _judge(item, hesitation, policy)
        if item.question or (item.require_review and item.call is None):
            disposition = "hold"
        verdict: ItemPart = {
            "index": index,
            "kind": item.kind,
            "disposition": disposition,
            "held": None,
            "text": None if disposition == "hold" else text,
            "review_url": None,
            "flags": _flags(item),
            "recognised": recognised.get(index),
        }
        if item.kind == "remember":
            verdict["memory"] = None  # whether it came into the team's memory only a database knows
        verdicts.append(verdict)
    return verdicts


def hold_paused(verdicts: Sequence[ItemPart]) -> None:
    """Hold the words and calls of a paused agent that nobody has approved."""
    for each in verdicts:
        if each["kind"] not in (*HELD_KINDS, TOOL_CALL) or each["disposition"] == "reject" or each["recognised"]:
            continue
        if each["kind"] == TOOL_CALL or each["disposition"] != "hold":
            each["paused"] = True
        each["disposition"], each["text"] = "hold", None


def hold_words(verdicts: Sequence[ItemPart]) -> None:
    """Hold the words of a response with its tool calls, where one of these is held.

    Which calls they wait for only a database knows. What was approved before waits as well: this call was not.
    """
    if not any(each["kind"] == TOOL_CALL and each["disposition"] == "hold" for each in verdicts):
        return
    for each in verdicts:
        if each["kind"] in HELD_KINDS:
            each["waits_for"] = None
            if each["disposition"] != "hold":
                each["disposition"], each["text"], each["with_calls"] = "hold", None, True


def _flags(item: Item) -> list[str]:
    if item.kind not in KINDS and item.call is None and item.question is None:
        return ["unknown-kind"]
    return [UNCLOSED] if item.is_unclosed else []


def schedule(verdicts: Sequence[ItemPart], policy: Policy) -> SchedulePart | None:
    """Bring the next cycle forward when something is held; whole minutes read "2m", others "90s"."""
    held = {verdict["kind"] for verdict in verdicts if verdict["disposition"] == "hold"}
    if not held:
        return None
    minutes, seconds = divmod(policy.review_seconds, 60)
    known = (*HELD_KINDS, TOOL_CALL, QUESTION)
    kinds = ", ".join(kind.upper() for kind in (*filter(held.__contains__, known), *sorted(held.difference(known))))
    return {
        "next": f"{policy.review_seconds}s" if seconds else f"{minutes}m",
        "reason": f"hesitation review: held {kinds}",
    }


def _judge(item: Item, hesitation: Hesitation, policy: Policy) -> tuple[Disposition, str]:
    # The seed calls all of this only when it is not confident: a note, too, starts at the threshold.
    if hesitation.score < policy.threshold:
        return "pass", item.text
    if item.kind in HELD_KINDS:
        if hesitation.score >= policy.hold_at:
            return "hold", item.text
        return "mark", _marked(item, hesitation.score, policy)
    types = ", ".join(signal.type for signal in hesitation.signals if signal.weight)
    if item.kind == "action" and types:
        return "note", f"{item.text}\n\nHesitation: {types} (score={hesitation.score})"
    return "pass", item.text


def marked(item: Item, score: int, policy: Policy) -> str | None:
    """Give what stands in place of an item's text where the score marks it; None where it does not."""
    is_marked = item.kind in HELD_KINDS and policy.threshold <= score < policy.hold_at
    return _marked(item, score, policy) if is_marked else None


def _marked(item: Item, score: int, policy: Policy) -> str:
    wording = (policy.marks or {}).get(item.kind) or MARKS[policy.language or SEED_LANGUAGE][item.kind]
    mark = wording.replace("{score}", str(score))
    return f"{item.text}\n\n{mark}" if item.kind == "chat" else f"{mark} {item.text}"
