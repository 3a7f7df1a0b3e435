from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.tables import table


@pytest.mark.django_db
@table("query", ["", "?order=age&kind=chat"])
def test_postgresql_may_choose_in_which_order_a_list_joins_its_tables(
    as_person: Any, alice: Any, kuro: Any, query: str
) -> None:
    """Up to eight, the page's own rows among them; beyond, it joined every item there is before it took the page's."""
    kuro.hold()
    client = as_person(alice)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"/queue/{query}").status_code == 200
    lists = [each["sql"] for each in queries if '"agent_enabled"' in each["sql"].partition(" FROM ")[0]]
    assert lists
    for sql in lists:
        own = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "()", sql.partition(' FROM "reviews_helditem" ')[2])
        assert own.count(" JOIN ") <= 6, own  # with the first table and the page's keys: eight
