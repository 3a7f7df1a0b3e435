"""Where in an item's text the signals of its response's verdict fired."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metacog.heuristics import Item, items_of
from metacog.heuristics.wire.assessment import Assessment, ItemPart
from reviews.models import HeldItem
from reviews.presentation import highlight
from reviews.serializers import signals_of


def marked(
    held: HeldItem,
    verdict: Assessment,
    body: Mapping[str, Any],
    more: Iterable[highlight.Mark] = (),
    *,
    is_revealed: bool = False,
) -> highlight.Shown:
    """Return an item's whole text, marked where a signal of its response's verdict fired, and at `more`.

    `verdict` and `body` are as they were sent; secrets are masked unless it `is_revealed`.
    """
    return highlight.show(held.text, [*marks(held, verdict, body), *more], is_revealed=is_revealed)


def marks(held: HeldItem, verdict: Assessment, body: Mapping[str, Any]) -> list[highlight.Mark]:
    """Return where in an item's text a signal of its response's verdict fired."""
    # An engine of before may have found other tags.
    found = items_of(body, plain_text_as_chat=True)[held.index :] if body.get("items") is None else ()
    place = found[0] if found else None
    start, end = (place.start, place.end) if place and place.text == held.text else (None, None)
    return highlight.of_item(signals_of(held, verdict), held.index, held.text, start, end)


def paired(verdict: Assessment, body: Mapping[str, Any]) -> list[tuple[ItemPart, Item]]:
    """Pair what a verdict says of each item with the item.

    Where an engine of before found other tags than today's does, its items are told as it gave them back.
    """
    answers = verdict["items"]
    # Where tags give none and the verdict has one, the policy took the whole response for it.
    sent = items_of(body, plain_text_as_chat=bool(answers))
    if len(sent) != len(answers):
        sent = tuple(Item(answer["kind"], answer["text"] or "", {}) for answer in answers)
    return list(zip(answers, sent, strict=True))
