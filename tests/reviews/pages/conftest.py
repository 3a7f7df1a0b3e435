"""Deciding as the form does."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client


@pytest.fixture
def decide() -> Any:
    """Return a function that posts the form of a held item as the page shows it now."""

    def post(client: Client, public_id: str, verdict: str = "approve", *, htmx: bool = False, **fields: Any) -> Any:
        from reviews.models import HeldItem

        held = HeldItem.objects.get(public_id=public_id)
        form = {"verdict": verdict, "version": held.version, "sha256": held.sha256} | fields
        headers = {"hx-request": "true"} if htmx else {}
        return client.post(f"/queue/{public_id}/decide", form, headers=headers)

    return post
