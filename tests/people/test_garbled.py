"""What no page of ours sends, but a script, a scanner or an odd proxy may: an answer in order, on either database."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

PAGES = (
    "queue", "responses", "let-through", "search", "stuck", "threads", "extensions", "memories", "lessons",
    "reflections", "research-list", "patterns", "pattern-new", "statistics", "pace", "deliveries", "agents",
    "agent-new", "team", "preferences", "audit",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_looked_up_without_its_body_and_takes_no_other_method(
    kuro: Any, olga: Any, as_person: Any, page: str
) -> None:
    client = as_person(olga)
    assert client.head(reverse(page)).status_code == client.get(reverse(page)).status_code == 200
    for method in ("PUT", "DELETE"):
        assert client.generic(method, reverse(page)).status_code == 405
