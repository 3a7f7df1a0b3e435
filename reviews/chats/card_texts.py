"""What a chat's message says of a held item, and which buttons it has. It is read when it is sent.

Approve stands where the message shows all of what is approved, and nowhere else. Once an item is decided its text
leaves the chat with the next update: of retention nothing is kept there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from metacog.chats.shapes import Button, Card, Passage, cut, length
from metacog.heuristics.tool_calls.secrets import masked
from metacog.models import ChatApp
from metacog.notices.chat import inert
from reviews.held import approvers
from reviews.held.listing import by_rule
from reviews.models import Decision, DecisionVerdict, HeldItem
from reviews.outbox.notification_texts import chat_title, does, odd, plain, reason_of, url
from reviews.presentation import approvals
from reviews.presentation.arguments import type_of
from reviews.presentation.calls import answer_form
from reviews.presentation.highlight import show
from reviews.presentation.phrases import decided

State, Kind = HeldItem.State, HeldItem.Kind

LINE = 300  # characters of a sentence
MOST_READ = 15_000  # characters in which letters that look like others are looked for: more than any chat shows
MOST_ARGUMENTS = 10  # each under its name; more are one JSON
MOST_CHOICES, CHOICE = 5, 60  # answers that are buttons of the message, and characters of each


def read(held_id: int) -> Any:
    """Read an item as a card needs it; what may be approved there is looked through to its end."""
    rows = HeldItem.objects.select_related("agent__team", "response", "call", "question", "terms")
    held: Any = rows.annotate(by_rule=by_rule()).get(pk=held_id)
    is_call = held.kind == Kind.TOOL_CALL
    held.clip = (json.dumps(held.call.arguments, ensure_ascii=False) if is_call else held.text)[:MOST_READ]
    return held


def card_of(held: Any, app: ChatApp, room: int, now: datetime) -> Card:
    """Return the card of an item that `read` gave, in the language in force; `room` is what its texts may have."""
    is_pending = held.state == State.PENDING
    has_texts = is_pending and app.texts
    passages = _passages(held) if has_texts else []
    is_whole = app.texts and _length(passages) <= room
    told = [does(held, with_objects=has_texts), odd(held, with_texts=has_texts)]
    told += [reason_of(held, with_texts=app.texts), approvals.needs(held)] if is_pending else []
    standing = (
        None if is_pending else held.decisions.select_related("person", "agent", "changed_by").get(undone_at=None)
    )
    foot = _approved(held) if standing is None else [_ended(standing, with_reason=app.texts)]
    if is_pending and not is_whole:
        foot.append(
            gettext("It is too long to be shown here. Open it to approve it.")
            if app.texts
            else gettext("Texts and arguments are not shown here. Open it to approve it.")
        )
    return Card(
        title=chat_title(held),
        lines=[inert(cut(plain(line), LINE)) for line in told if line],
        passages=passages if is_whole else _cut(passages, room),
        foot=foot,
        buttons=_to_decide(held, is_whole=is_whole) if standing is None else _after(held, standing, now),
    )


def about(held: HeldItem) -> str:
    """Return what a button says it is about: an item as it was shown."""
    return f"{held.public_id}:{held.version}"


# -- texts -----------------------------------------------------------------------------------------------


def _passages(held: Any) -> list[Passage]:
    if held.kind != Kind.TOOL_CALL:
        return [Passage("", _seen(held.text))] if held.text else []
    arguments = masked(held.call.arguments)
    if not isinstance(arguments, dict) or len(arguments) > MOST_ARGUMENTS:
        return [Passage("", _seen(_json(arguments)))]
    return [
        Passage(
            inert(cut(plain(f"{name} · {type_of(value)}"), LINE)),
            _seen(value if isinstance(value, str) and value.strip() else _json(value)),
        )
        for name, value in arguments.items()
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _seen(text: str) -> str:
    """Return a text with its secrets masked and what cannot be seen in words."""
    return str(show(text))


def _length(passages: Sequence[Passage]) -> int:
    """Count as chats do, labels as well: an agent gives arguments their names."""
    return sum(length(each.label) + length(each.text) for each in passages)


def _cut(passages: Sequence[Passage], room: int) -> list[Passage]:
    """Return as much of the texts as there is room for: none of it may be taken for the whole."""
    found = []
    for each in passages:
        room -= length(each.label)
        if room <= 0:
            break
        found.append(each._replace(text=cut(each.text, room)))
        room -= length(each.text)
    return found


def _approved(held: HeldItem) -> list[str]:
    return [
        inert(plain("✓ " + gettext("approved by %(who)s") % {"who": each.person})) for each in approvers.standing(held)
    ]


def _ended(decision: Decision, *, with_reason: bool) -> str:
    told = decided(decision, None)
    if decision.reason and decision.verdict == DecisionVerdict.REJECT and with_reason:
        told += gettext(": ") + gettext("“%(text)s”") % {"text": decision.reason}
    return inert(cut(plain(told), LINE))


# -- buttons ---------------------------------------------------------------------------------------------


def _to_decide(held: HeldItem, *, is_whole: bool) -> list[Button]:
    buttons = []
    if held.kind == Kind.QUESTION:
        buttons += _answers(held) if is_whole else []
    elif is_whole and not approvers.is_edited(held):
        buttons.append(Button(gettext("Approve"), "approve", about(held), "good"))
    if approvers.standing(held):
        buttons.append(Button(gettext("Withdraw approval"), "undo", about(held)))
    return [*buttons, Button(gettext("Reject…"), "reject", about(held), "bad"), _open(held)]


def _answers(held: HeldItem) -> list[Button]:
    """Return a button for each answer where there are a few short ones, else one for the form."""
    form = answer_form.fields_of(held)
    if len(form) == 1 and form[0].kind == "choice" and len(form[0].options) <= MOST_CHOICES:
        labels = [plain(option.label)[: CHOICE + 1] for option in form[0].options]
        if all(0 < len(label) <= CHOICE for label in labels):
            numbered = zip(labels, form[0].options, strict=True)
            return [Button(inert(label), "answer", f"{about(held)}:{each.number}") for label, each in numbered]
    return [Button(gettext("Answer…"), "answer", about(held), "good")]


def _after(held: HeldItem, standing: Decision, now: datetime) -> list[Button]:
    can_undo = standing.person_id and standing.can_be_undone(now)
    undo = [Button(gettext("Undo"), "undo", about(held))] if can_undo else []
    return [*undo, _open(held)]


def _open(held: HeldItem) -> Button:
    return Button(gettext("Open"), url=url("item", held.public_id))
