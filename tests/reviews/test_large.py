"""What grows with the rows: texts are packed, and what a page asks ends early by an index."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.audit import log
from metacog.db import packing
from metacog.db.fields import InPart
from metacog.models import Team, User
from reviews import retention
from reviews.held import listing, presence
from reviews.held.filters import Filters
from reviews.models import AgentResponse
from reviews.templatetags.console import counted
from tests.tables import table

on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL compresses by itself")

PACKED_BY_VERSION_1 = "01836730b0119ec02e23b0270329328185af9e522d03cca72047c71b020500"


def stored(name: str) -> Any:
    with connection.cursor() as cursor:
        return cursor.execute(f"SELECT {name} FROM reviews_agentresponse ORDER BY id DESC LIMIT 1").fetchone()[0]


@table(
    "texts",
    [("", "", ""), ("{}", '{"a": "退款 😀"}', ""), ("x" * 1_000_000, "y", "z"), ('{"t": "\\u0000"}', "v", "h")],
)
def test_what_is_packed_is_what_comes_out(texts: Sequence[str]) -> None:
    found = packing.packed(texts)
    assert found is not None
    assert [packing.part(b"" if number else found, found, number) for number in range(3)] == list(texts)


def test_texts_that_could_not_be_told_apart_are_not_packed() -> None:
    assert packing.packed(["a\0b", "c"]) is None


def test_version_1_is_read_for_ever() -> None:
    """Its dictionary is a part of what was written."""
    written = bytes.fromhex(PACKED_BY_VERSION_1)
    assert packing.unpacked(written) == ['{"response": "It is clearly so."}', '{"id": "resp_1"}', ""]


def test_a_dictionary_that_was_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path(packing.__file__).with_name("packing_1.bin").read_bytes()
    monkeypatch.setattr(Path, "read_bytes", lambda _path: whole[:-1] + b"\0")
    with pytest.raises(ImportError, match=r"packing_1\.bin was changed"):
        runpy.run_path(packing.__file__)


@pytest.mark.django_db(transaction=True)
def test_a_response_reads_as_it_was_posted_whether_packed_or_plain(kuro: Any) -> None:
    answer = kuro.respond("Clearly it is the cache, as always. " * 20, session="s1")
    kept = AgentResponse.objects.values("body", "verdict", "history", "excerpt").get()
    assert json.loads(kept["verdict"]) == answer
    assert json.loads(kept["body"])["session"] == "s1"
    assert kept["excerpt"].startswith("Clearly it is the cache, as always. Clearly")
    if connection.vendor == "sqlite":
        assert isinstance(stored("body"), bytes)
        assert len(stored("body")) < len(kept["body"] + kept["verdict"]) / 3
        assert (stored("verdict"), stored("excerpt")) == (b"", b"")
    row = AgentResponse.objects.get()
    assert AgentResponse.objects.filter(verdict__contains='"items": [{').exists()
    row.save()  # as rows were before
    assert stored("body") == kept["body"]
    assert AgentResponse.objects.values("body", "verdict", "history", "excerpt").get() == kept
    assert AgentResponse.objects.filter(verdict__contains='"items": [{').exists()


@pytest.mark.django_db(transaction=True)
@on_sqlite
def test_whoever_changes_a_body_alone_takes_no_other_text_away(kuro: Any) -> None:
    kuro.respond("It may rain.")
    others = AgentResponse.objects.values_list("verdict", "history", "excerpt").get()
    AgentResponse.objects.update(body="{}")
    assert AgentResponse.objects.values_list("body", "verdict", "history", "excerpt").get() == ("{}", *others)


@pytest.mark.django_db(transaction=True)
def test_nothing_of_an_erased_response_is_left_in_what_was_packed(kuro: Any) -> None:
    kuro.respond("The password of the vault is rosebud.")
    Team.objects.update(retention_days=1)
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=3))
    retention.erase()
    row = AgentResponse.objects.get()
    assert row.erased_at
    assert (stored("body"), stored("history"), stored("excerpt")) == ("", "", "")
    assert "rosebud" not in stored("verdict")


@pytest.mark.django_db
@on_sqlite
def test_a_page_of_several_teams_is_read_along_each_teams_index(alice: User, kuro: Any) -> None:
    Team.objects.create(name="Other")
    asked: dict[str, Callable[[], Any]] = {
        "queue": lambda: listing.page(Filters(), admin, presence.of(admin)),
        "decided": lambda: listing.page(Filters(state="decided"), admin, presence.of(admin)),
        "all": lambda: log.page(log.matching(log.Filters(), None), None),
        "people": lambda: log.page(log.matching(log.Filters(actor="person"), None), None),
        "system": lambda: log.page(log.matching(log.Filters(actor="system"), None), None),
        "action": lambda: log.page(log.matching(log.Filters(actions=("chat-held",)), None), None),
    }
    admin = User.objects.create_superuser("root", "root@example.org", None)
    sorted_all = {}
    for name, ask in asked.items():
        with CaptureQueriesContext(connection) as captured:
            ask()
        (sql,) = [
            each["sql"] for each in captured if " each0 " in each["sql"] and f"LIMIT {listing.PAGE + 1}" in each["sql"]
        ]
        inner = sql.split("SELECT * FROM (")[1].split(") each0")[0]
        with connection.cursor() as cursor:
            plan = [row[3] for row in cursor.execute("EXPLAIN QUERY PLAN " + inner).fetchall()]
        if any("TEMP B-TREE" in step or step.startswith("SCAN") for step in plan):
            sorted_all[name] = plan
    assert not sorted_all


def test_what_is_counted_up_to_a_bound_says_so() -> None:
    assert [counted(number) for number in (0, 1_000, 1_001)] == ["0", "1,000", "1,000+"]


def test_a_column_is_read_through_its_part() -> None:
    field = AgentResponse._meta.get_field("verdict")
    assert field.readable('U0."verdict"', "sqlite") == 'metacog_part(U0."verdict", U0."body", 1)'
    assert field.readable('"__col2"', "sqlite") == '"__col2"'
    assert InPart.together("a", "b")[0].parts == ("a", "b")
