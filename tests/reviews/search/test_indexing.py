"""What is indexed, and that it follows what becomes of the rows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from metacog.accounts.retention import set_retention
from metacog.models import Agent
from patterns.lessons import lessons
from patterns.models import Memory, ThoughtThread
from reviews import retention
from reviews.held import decisions
from reviews.models import AgentResponse, HeldItem, SearchDocument, SearchDue, SearchProgress
from reviews.search import index, indexing, search, triggers
from reviews.search.words import Wanted, cut
from tests.conftest import HELD
from tests.reviews.pages.test_search import found
from tests.tables import table


@pytest.fixture
def client(as_person: Any, victor: Any) -> Any:
    return as_person(victor)


@pytest.fixture(autouse=True)
def by_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WALKED", 0)
    monkeypatch.setattr("tests.reviews.pages.test_search.prepare", indexing.sweep)


@table(
    ("text", "words"),
    [
        ("api-gateway 2.1", ["api", "gateway", "2", "1"]),
        ("别的可能", ["别", "的", "可", "能", "别的", "的可", "可能"]),
        ("用api网", ["用", "api", "网"]),
        ("snake_case", ["snake", "case"]),
        ("école 🎉 ok?", ["école", "🎉", "ok"]),
        ("x" * 70, ["x" * 60]),
        ("", []),
    ],
)
def test_texts_are_cut_alike_for_both_databases(text: str, words: list[str]) -> None:
    assert cut(text) == words


@table(
    ("word", "text", "is_there"),
    [
        ("cach", "the cache", True),
        ("cache", "the cached", True),
        ("ache", "the cache", False),
        ("ca", "the cache", False),
        ("ca", "ca va", True),
        ("cache.", "the cache. it", True),
        ("cache.", "the cache, it", False),
        ("可能", "别的可能", True),
        ("能", "别的可能", True),
        ("可别", "别的可能", False),
        ("api", "用api网", True),
    ],
)
def test_a_word_is_found_by_its_beginning_and_chinese_anywhere(word: str, text: str, is_there: bool) -> None:
    wanted, there = Wanted(word), cut(text)
    assert bool(wanted.pattern.search(text)) == is_there
    if is_there:
        assert set(wanted.whole) <= set(there)
        assert any(each.startswith(wanted.prefix) for each in there)


def test_what_was_there_before_the_index_is_indexed_by_and_by(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        kuro.respond(f"A giraffe, {number}.", items=[])
    SearchDue.objects.all().delete()
    SearchProgress.objects.all().delete()
    indexing.begin()
    monkeypatch.setattr(indexing, "BATCH", 2)
    monkeypatch.setattr("tests.reviews.pages.test_search.prepare", indexing._from_before)
    page = client.get("/search/?q=giraffe").content.decode()
    assert "Older texts are still being indexed (0% done)" in page
    seen = [len(found(client, "giraffe").get("Responses", ())) for _ in range(12)]
    assert (seen[0], seen[-1], seen) == (0 if seen[0] == 0 else 2, 5, sorted(seen))
    while indexing._from_before():
        pass
    assert indexing.behind() == (None, 0)
    assert "still being indexed" not in client.get("/search/?q=giraffe").content.decode()


def test_old_rows_are_found_among_many_newer_ones(client: Any, kuro: Any) -> None:
    old = kuro.respond("An old giraffe.", items=[])["id"]
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=900))
    for _ in range(30):
        kuro.respond("Perhaps.", items=[])
    assert found(client, "giraffe") == {"Responses": [f"/responses/{old}/"]}


def test_reasons_edits_and_entries_are_found(client: Any, kuro: Any, alice: Any, aurora: Any, carla: Any) -> None:
    def decide(verdict: str, **fields: Any) -> str:
        held = HeldItem.objects.get(public_id=kuro.hold())
        decisions.decide(held, alice, verdict, **fields)
        return f"/queue/{held.public_id}/"

    kuro.post("/threads", {"title": "Clouds", "note": "an okapi was here"})
    rejected = decide("reject", reason="No quokka was measured.")
    edited = decide("edit", edit="Perhaps the wombat.")
    assert found(client, "quokka") == {"Held": [rejected]}
    assert found(client, "wombat") == {"Held": [edited]}
    assert found(client, "okapi") == {"Threads": [f"/threads/{ThoughtThread.objects.get().public_id}/"]}
    assert found(client, kind="held", state="rejected") == {"Held": [rejected]}
    lesson = lessons.write(aurora, Agent.objects.get(), "Count the okapi first.", [], carla)
    assert found(client, "okapi first") == {"Lessons": [f"/lessons/{lesson.public_id}/"]}


def test_an_edit_is_found_by_what_it_says_now(client: Any, kuro: Any) -> None:
    kuro.post("/memory", {"text": "A zebra has stripes.", "topic": "animals", "source": "run 1"})
    assert list(found(client, "zebra")) == ["Memory"]
    Memory.objects.update(text="A tapir has none.")
    assert search_as_it_is(client, "zebra") == {}, "before the sweep, too"
    assert list(search_as_it_is(client, "tapir")) == ["Memory"]
    assert found(client, "zebra") == {}
    assert list(found(client, "tapir")) == ["Memory"]


def search_as_it_is(client: Any, query: str) -> dict[str, list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.reviews.pages.test_search.prepare", lambda: None)
        return found(client, query)


def test_what_retention_erased_is_in_no_document(client: Any, kuro: Any, aurora: Any, olga: Any) -> None:
    set_retention(aurora, 30, olga)
    verdict = kuro.respond("A princess.", items=[], user_message="Which princess?", session="s1")
    assert found(client, "princess") == {"Responses": [f"/responses/{verdict['id']}/"]}
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
    retention.erase()
    assert search_as_it_is(client, "princess") == {}, "before the sweep, too"
    indexing.sweep()
    assert not SearchDocument.objects.filter(text__contains="princess").exists()
    assert index_size("princess") == 0
    assert len(found(client, "s1")["Responses"]) == 1


def index_size(word: str) -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT count(*) FROM reviews_searchwords WHERE reviews_searchwords MATCH %s", [word])
        else:
            cursor.execute("SELECT count(*) FROM reviews_searchdocument WHERE words @@ %s::tsquery", [word])
        count: int = cursor.fetchone()[0]
    return count


def test_what_was_deleted_is_not_found(client: Any, kuro: Any, aurora: Any, carla: Any) -> None:
    lesson = lessons.write(aurora, Agent.objects.get(), "Count the okapi first.", [], carla)
    assert list(found(client, "okapi")) == ["Lessons"]
    type(lesson).objects.filter(pk=lesson.pk).delete()
    assert found(client, "okapi") == {}
    assert not SearchDocument.objects.filter(kind="les").exists()


def test_one_text_that_cannot_be_read_holds_up_no_other(client: Any, kuro: Any) -> None:
    kuro.respond("A giraffe.", items=[])
    AgentResponse.objects.update(body="{")
    kuro.respond("A giraffe.", items=[])
    indexing.sweep()
    assert SearchDocument.objects.filter(kind="resp").count() == 1
    assert not SearchDue.objects.exists()


def test_of_two_sweeps_at_once_one_writes(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kuro.respond("A giraffe.", items=[])
    read = indexing.read
    seen: list[int] = []

    def read_while_another_sweeps(*given: Any) -> Any:
        found = read(*given)
        if not seen:
            seen.append(1)
            AgentResponse.objects.update(body='{"response": "A zebra."}')
            indexing.sweep()
        return found

    monkeypatch.setattr(indexing, "read", read_while_another_sweeps)
    indexing.sweep()
    assert (index_size("zebra"), index_size("giraffe")) == (1, 0)


def test_two_rows_of_one_moment_have_a_document_each(aurora: Any) -> None:
    at = timezone.now()
    first, second = (index.Document("resp", key, at, aurora.pk, None, "", "", "", "giraffe") for key in (1, 1 + 2**12))
    assert first.key == second.key
    index.write([first, second])
    assert [index_size("giraffe"), SearchDocument.objects.count()] == [2, 2]
    index.write([first, second], gone=[("resp", 1)])
    assert [index_size("giraffe"), SearchDocument.objects.get().row_id] == [1, second.row_id]


def test_triggers_that_a_migration_drops_are_made_again(client: Any, kuro: Any) -> None:
    triggers.drop(connection)
    triggers.create(connection)
    triggers.create(connection)
    SearchDue.objects.all().delete()
    kuro.respond(HELD)
    assert set(SearchDue.objects.values_list("kind", flat=True)) >= {"resp", "held"}


@table("text", ["a \ud800 giraffe", "a \0 giraffe"], rolled_back=True)
def test_what_no_database_takes_is_indexed_all_the_same(kuro: Any, text: str) -> None:
    kuro.respond("x", items=[])
    AgentResponse.objects.update(body=json.dumps({"response": text}))
    indexing.sweep()
    assert index_size("giraffe") == 1
