"""Receivers, and an agent whose callbacks go to one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.reviews.outbox.receiving import Receiver, at, listening


@pytest.fixture(autouse=True)
def _own_turn(settings: Any, tmp_path: Any) -> None:
    """Give every test a data folder of its own: in one, only one sweep has its turn at a time."""
    settings.DATA_DIR = tmp_path
    settings.CALLBACK_ALLOW = frozenset()
    settings.CALLBACK_SCHEDULE = None


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with listening() as found:
        settings.CALLBACK_ALLOW |= {found.origin}
        yield found


@pytest.fixture
def another_receiver(settings: Any) -> Iterator[Receiver]:
    with listening() as found:
        settings.CALLBACK_ALLOW |= {found.origin}
        yield found


@pytest.fixture
def agent(kuro: Any, receiver: Receiver) -> Any:
    """Return kuro's row, its callbacks going to the receiver."""
    return at(kuro, receiver.url)
