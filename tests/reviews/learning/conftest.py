"""An agent that is held whenever it speaks of the cache, people whose decisions hold at once, and three languages."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

NUMBERS = itertools.count()


@pytest.fixture
def hold(kuro: Any, undo_at_once: None) -> Any:
    """Return a function that has a text held, after enough else for a phrase to be rare."""
    from metacog.models import Policy
    from reviews.models import HeldItem

    Policy.objects.update(hold_at=30)

    def post(text: str, **fields: Any) -> HeldItem:
        for _ in range(3):
            kuro.respond(f"Case {next(NUMBERS)} is closed.", items=[])
        verdict = kuro.respond(text, **fields)
        return HeldItem.objects.get(public_id=verdict["items"][0]["held"])

    return post
