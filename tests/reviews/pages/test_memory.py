"""The pages about the shared memory: what waits, what clashes, what stands, and what curators do about it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metacog.models import AuditEvent, Policy
from patterns.memory import memory
from patterns.models import ErrorPattern, Memory, MemoryConflict
from reviews.models import PatternOrigin
from tests.conftest import HELD
from tests.reviews.pages.test_extensions import EVIL, words
from tests.tables import table

pytestmark = pytest.mark.django_db

OLD, NEW = "The API supports pagination.", "The API does not support pagination."


@pytest.fixture
def held(kuro: Any) -> Memory:
    assert kuro.post("/memory", {"text": HELD}).json()["state"] == "pending"
    return Memory.objects.get(state="pending")


@pytest.fixture
def clash(kuro: Any, carla: Any) -> MemoryConflict:
    """Two that contradict each other, both confirmed."""
    for text in (OLD, NEW):
        kuro.post("/memory", {"text": text})
    memory.confirm(Memory.objects.get(text=NEW), carla)
    return MemoryConflict.objects.get()


def step(client: Any, row: Memory, name: str, **headers: str) -> Any:
    return client.post(reverse("memory-step", args=[row.public_id]), {"step": name}, headers=headers)


def test_what_waits_comes_first_then_what_clashes_then_what_stands(
    held: Any, clash: Any, kuro: Any, victor: Any, as_person: Any
) -> None:
    page = words(as_person(victor).get("/memory/"))
    places = [page.index(text) for text in ("Pending Held back", HELD, "Conflicts Detected", OLD, NEW, "Confirmed ")]
    assert places == sorted(places)
    assert "Keep newer" not in page  # a viewer reads
    assert "Add memory" not in page


def test_what_waits_says_why(kuro: Any, carla: Any, as_person: Any) -> None:
    Policy.objects.update(weights={"absolute-claim": 20, "error-pattern": 15})
    for text in (OLD, NEW, "It is the cache.", "Clearly the cache."):
        kuro.respond(text, items=[{"kind": "remember", "text": text}])
    client = as_person(carla)
    listed = " ".join(words(client.get("/memory/")).split())
    for why in (
        f"Older {OLD} Newer · pending {NEW} Keep older Keep newer Keep both",  # once: not among the pending as well
        " s ago · response Error pattern: cause named before it was measured Confirm",
        "response Hesitation 35 · Absolute claim · Error pattern Error pattern: cause named",
    ):
        assert why in listed, listed
    for text in (NEW, "It is the cache."):
        page = " ".join(words(client.get(reverse("memory", args=[Memory.objects.get(text=text).public_id]))).split())
        assert "Pending because of" in page
        assert "Said in response" in page


@pytest.mark.parametrize(("name", "stands"), [("confirm", [HELD]), ("discard", [])])
def test_what_waits_is_confirmed_or_discarded_on_the_list(
    held: Any, kuro: Any, carla: Any, as_person: Any, name: str, stands: list[str]
) -> None:
    client, address = as_person(carla), reverse("memory-step", args=[held.public_id])
    answer = client.post(address, {"step": name, "list": "1"})
    assert (answer.status_code, answer["Location"]) == (302, "/memory/")
    assert f'Memory {name}ed: <a href="/memory/{held.public_id}/">' in client.get("/memory/").content.decode()
    assert [item["text"] for item in kuro.get("/memory").json()["items"]] == stands
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.before, event.actor) == (f"memory-{name}ed", "pending", "carla")
    assert step(client, held, "discard").status_code == 409, "it waits no more"
    assert HELD not in words(client.get("/memory/")) or name == "confirm"


@table(
    ("name", "state"),
    [("older", "retired"), ("newer", "proposed"), ("discard", "retired"), ("confirm", "proposed")],
    rolled_back=True,
)
def test_with_a_contradiction_its_proposal_is_settled(
    kuro: Any, carla: Any, as_person: Any, name: str, state: str
) -> None:
    for text in (OLD, NEW):
        kuro.post("/memory", {"text": text})
    conflict = MemoryConflict.objects.get()
    pattern = ErrorPattern.objects.get(state="proposed")
    if name in ("older", "newer"):
        as_person(carla).post(reverse("memory-settle", args=[conflict.pk]), {"outcome": name})
    else:
        step(as_person(carla), conflict.newer, name)
    pattern.refresh_from_db()
    assert pattern.state == state
    assert AuditEvent.objects.filter(action="pattern-dismissed", actor="carla").count() == (state == "retired")


def test_a_search_says_what_it_found_it_by(clash: Any, held: Any, alice: Any, as_person: Any) -> None:
    page = words(as_person(alice).get("/memory/?q=paginations+caches"))
    assert "2 found" in page
    assert page.count("pagination") == 4  # the texts, and what matched
    assert HELD not in page
    assert "No confirmed memory" in words(as_person(alice).get("/memory/?q=的"))


def test_a_confirmed_one_answers(held: Any, kuro: Any, carla: Any, as_person: Any) -> None:
    assert step(as_person(carla), held, "confirm").status_code == 302
    (item,) = kuro.get("/memory?q=cache").json()["items"]
    assert (item["text"], item["confirmed_by"]) == (HELD, "person")
    again = step(as_person(carla), held, "confirm", **{"hx-request": "true"})
    assert (again.status_code, "Your change was not saved" in words(again)) == (409, True)


def test_one_written_anew_takes_the_place_of_the_one_before(held: Any, kuro: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    fields = {"text": "The cache was slow\r\non Monday.", "topic": "cache", "source": "trace 7", "confidence": "0.8"}
    answer = client.post(reverse("memory-edit", args=[held.public_id]), fields)
    assert answer.status_code == 302
    (item,) = kuro.get("/memory?q=cache").json()["items"]
    assert (item["text"], item["by"], item["confidence"]) == ("The cache was slow\non Monday.", "person", 0.8)
    held.refresh_from_db()
    assert (held.state, held.replaced_by.public_id) == ("retired", item["id"])
    assert "replacement" in words(client.get(reverse("memory", args=[held.public_id])))
    late = client.post(reverse("memory-edit", args=[held.public_id]), fields | {"text": "Another."})
    assert (late.status_code, "Your change was not saved." in words(late)) == (409, True)
    assert "as you typed it: Another." in " ".join(words(late).split())
    assert Memory.objects.count() == 2


@table(("outcome", "stands"), [("older", [OLD]), ("newer", [NEW]), ("both", [NEW, OLD])], rolled_back=True)
def test_a_person_says_which_stands(
    clash: Any, kuro: Any, carla: Any, as_person: Any, outcome: str, stands: list[str]
) -> None:
    client = as_person(carla)
    address = reverse("memory-settle", args=[clash.pk])
    assert client.post(address, {"outcome": "neither"}).status_code == 400
    page = client.post(address, {"outcome": outcome}, follow=True).content.decode()
    kept = clash.older if outcome == "older" else clash.newer
    assert f'<a href="/memory/{kept.public_id}/">{kept.text[:40]}' in page.split('class="messages"')[1]
    assert [item["text"] for item in kuro.get("/memory").json()["items"]] == stands
    assert all(item["contradicts"] == [] for item in kuro.get("/memory").json()["items"])
    assert "Another person settled this conflict" in words(client.post(address, {"outcome": "both"}, follow=True))


def test_what_a_person_confirms_teaches(kuro: Any, carla: Any, as_person: Any) -> None:
    Policy.objects.update(threshold=20, hold_at=20)
    kuro.post("/memory", {"text": OLD})
    kuro.post("/memory", {"text": "The API obviously does not support pagination."})
    assert not PatternOrigin.objects.exists()
    step(as_person(carla), Memory.objects.get(state="pending"), "confirm")
    assert PatternOrigin.objects.get().pattern.keywords == ["The API supports pagination"]


def test_a_curator_adds_one_that_needs_no_confirming(aurora: Any, kuro: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    fields = {"team": aurora.pk, "text": HELD}
    assert client.post(reverse("memory-new"), fields).status_code == 302
    assert [item["by"] for item in kuro.get("/memory?q=cache").json()["items"]] == ["person"]
    again = client.post(reverse("memory-new"), fields)
    assert (again.status_code, "already has this memory" in words(again)) == (409, True)
    empty = client.post(reverse("memory-new"), fields | {"text": " \u200b\r\n"})
    assert (empty.status_code, "Enter the fact to remember." in words(empty)) == (422, True)
    back = client.get(reverse("memory-new"))
    assert (back.status_code, back["Location"]) == (302, "/memory/"), "the form is there"


def test_one_that_was_retired_stands_again_when_a_curator_adds_its_text(
    clash: Any, kuro: Any, carla: Any, as_person: Any
) -> None:
    client, new = as_person(carla), clash.newer
    step(client, new, "retire")
    Memory.objects.filter(pk=new.pk).update(text="", erased_at=timezone.now())
    form = {"team": new.team_id, "text": NEW, "topic": "API", "source": "", "confidence": "0.9"}
    answer = client.post(reverse("memory-new"), form)
    assert answer.url == reverse("memory", args=[new.public_id])
    stands, contradicted = kuro.get("/memory?q=support+pagination").json()["items"]
    assert {stands["text"], contradicted["text"]} == {OLD, NEW}
    assert [each["contradicts"][0]["text"] for each in (stands, contradicted)] == [contradicted["text"], stands["text"]]
    new.refresh_from_db()
    assert (new.topic, new.confirmed_by, new.retired_at, new.erased_at) == ("API", carla, None, None)
    assert client.post(reverse("memory-new"), form).status_code == 409, "it is there"


@pytest.mark.parametrize(("person", "shown", "done"), [("mallory", 404, 404), ("alice", 200, 403), ("carla", 200, 302)])
def test_it_answers_each_as_their_role_allows(
    request: Any, held: Any, clash: Any, aurora: Any, as_person: Any, person: str, shown: int, done: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    assert client.get(reverse("memory", args=[held.public_id])).status_code == shown
    assert (HELD in words(client.get("/memory/"))) is (shown == 200)
    assert (OLD in words(client.get("/memory/?q=pagination"))) is (shown == 200)
    for name, argument, fields in (
        ("memory-step", [held.public_id], {"step": "confirm"}),
        ("memory-edit", [held.public_id], {"text": "Another."}),
        ("memory-settle", [clash.pk], {"outcome": "both"}),
        ("memory-new", [], {"text": "One more.", "team": aurora.pk}),
    ):
        assert client.post(reverse(name, args=argument), fields).status_code == done, name


def test_texts_are_only_texts(kuro: Any, carla: Any, as_person: Any) -> None:
    kuro.post("/memory", {"text": f"cache {EVIL}", "topic": EVIL, "source": EVIL})
    row = Memory.objects.get()
    for path in ("/memory/", "/memory/?q=cache", reverse("memory", args=[row.public_id])):
        page = as_person(carla).get(path).content.decode()
        assert "<script>alert" not in page
        assert "\u202e" not in page.replace('value="', "") or "textarea" in page


def test_the_pages_cost_as_many_queries_with_many_as_with_few(
    kuro: Any, clash: Any, held: Any, carla: Any, as_person: Any
) -> None:
    client = as_person(carla)
    paths = ("/memory/", "/memory/?q=pagination", reverse("memory", args=[clash.newer.public_id]))

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            client.get(path)
            return len(asked)

    few = [queries(path) for path in paths]
    for number in range(5):
        kuro.post("/memory", {"text": f"The API {number} supports pagination."})
        kuro.post("/memory", {"text": f"The queue number {number} is warm."})
        kuro.post("/memory", {"text": f"The queue number {number} is not warm."})
        kuro.post("/memory", {"text": f"It is cache {number}."})
    assert Memory.objects.filter(state="pending", pattern=None).count() >= 5
    assert Memory.objects.filter(state="pending").exclude(pattern=None).count() >= 5
    assert [queries(path) for path in paths] == few
