"""A provider for those who sign in by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.metacog.sign_in import stub


@pytest.fixture
def provider(settings: Any) -> Iterator[stub.Provider]:
    with stub.running(settings) as server:
        yield server
