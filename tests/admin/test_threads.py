"""The admin of thought threads: corrections, many at once, Markdown in and out; each with both records."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from metacog.heuristics.tool_calls.secrets import MASK
from metacog.models import Agent, AuditEvent
from patterns.models import ThoughtThread
from tests.admin.addresses import address
from tests.heuristics.memory.test_threads import SEED
from tests.tables import table


@pytest.fixture
def threads(kuro: Any) -> dict[str, ThoughtThread]:
    for title in ("One", "Two", "Three"):
        kuro.post("/threads", {"title": title, "note": "begun"})
    kuro.post("/threads/three/pause", {})
    return {row.slug: row for row in ThoughtThread.objects.all()}


def act(client: Any, action: str, *threads: ThoughtThread) -> Any:
    data = {"action": action, "_selected_action": [thread.pk for thread in threads]}
    return client.post(address(ThoughtThread, "changelist"), data, follow=True)


def upload(client: Any, agent: Agent, *files: tuple[str, str]) -> Any:
    sent = [SimpleUploadedFile(name, text.encode()) for name, text in files]
    return client.post(reverse("admin:thoughtthread_import"), {"agent": agent.pk, "markdown": sent}, follow=True)


def test_title_and_next_are_corrected_and_the_slug_stays(threads: Any, carla: Any, as_person: Any) -> None:
    thread, client = threads["one"], as_person(carla)
    data = {"title": "The one", "next": "\r\n    go\r\n  on", "notes": "\r\n## Sources\r\n- Oulipo\r\n"}
    assert client.post(address(ThoughtThread, "change", thread.pk), data).status_code == 302
    thread.refresh_from_db()
    assert (thread.title, thread.slug, thread.state) == ("The one", "one", "active")
    assert (thread.next, thread.notes) == ("    go\n  on", "## Sources\n- Oulipo")
    event = AuditEvent.objects.get(action="thread-changed")
    assert (event.actor, event.data) == ("carla", {"fields": ["title", "next", "notes"]})
    client.post(address(ThoughtThread, "change", thread.pk), data)
    assert AuditEvent.objects.filter(action="thread-changed").count() == 1
    assert "begun" in client.get(address(ThoughtThread, "change", thread.pk)).content.decode()


def test_secrets_are_masked_in_the_form_and_come_back_as_they_were(kuro: Any, carla: Any, as_person: Any) -> None:
    key = "glpat-aB3dE5gH7jK9mN1pQ3sT"
    kuro.post("/threads", {"title": f"Rotate {key}", "next": f"Use {key} now."})
    thread, client = ThoughtThread.objects.get(), as_person(carla)
    form = address(ThoughtThread, "change", thread.pk)
    for page in (form, address(ThoughtThread, "changelist")):
        assert key not in client.get(page).content.decode()
    shown = {"title": f"Rotate {MASK}", "next": f"Use {MASK} now.", "notes": ""}
    assert f'value="{shown["title"]}"' in client.get(form).content.decode()
    assert client.post(form, shown | {"next": f"{shown['next']} Soon."}).status_code == 302
    thread.refresh_from_db()
    assert (thread.title, thread.next) == (f"Rotate {key}", f"Use {key} now. Soon.")
    answer = client.post(form, shown | {"next": f"{MASK} and {MASK}"})
    assert "contains a masked part" in answer.content.decode()
    thread.refresh_from_db()
    assert (thread.title, thread.next) == (f"Rotate {key}", f"Use {key} now. Soon.")


@table(
    ("action", "states", "moved"),
    [
        ("pause", ["paused", "paused", "paused"], 2),
        ("resume", ["active", "active", "active"], 1),
        ("resolve", ["resolved", "resolved", "resolved"], 3),
    ],
    rolled_back=True,
)
def test_many_are_moved_at_once_and_what_cannot_be_is_told(
    threads: Any, carla: Any, as_person: Any, action: str, states: list[str], moved: int
) -> None:
    page = act(as_person(carla), action, *threads.values()).content.decode()
    assert list(ThoughtThread.objects.order_by("pk").values_list("state", flat=True)) == states
    assert f"{moved} thread{'s' if moved > 1 else ''} w" in page
    assert page.count("already") == 3 - moved
    assert AuditEvent.objects.filter(actor="carla", action=f"thread-{action}d").count() == moved
    assert LogEntry.objects.filter(user=carla).count() == moved


def test_those_selected_are_exported_as_markdown(threads: Any, carla: Any, as_person: Any) -> None:
    answer = act(as_person(carla), "export", threads["one"], threads["three"])
    assert answer["Content-Disposition"] == 'attachment; filename="threads.md"'
    text = answer.content.decode()
    assert [line for line in text.splitlines() if line.startswith("# ")] == ["# Thread: One", "# Thread: Three"]


def test_files_are_imported_for_one_agent(kuro: Any, carla: Any, as_person: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    page = upload(as_person(carla), agent, ("a.md", SEED), ("b.md", "# Thread: Two\n")).content.decode()
    assert "2 threads added to kuro, 0 changed." in page
    assert ThoughtThread.objects.get(slug="two").agent == agent
    assert AuditEvent.objects.filter(action="thread-imported", actor="carla").count() == 2


@table(
    ("files", "said"),
    [
        ([("a.md", SEED), ("b.md", "nothing")], "b.md, line 1: needs a title"),
        ([("a.md", "x" * 1_048_577)], "larger than 1048576 bytes"),
        ([], "This field is required."),
    ],
    rolled_back=True,
)
def test_a_bad_file_imports_nothing(kuro: Any, carla: Any, as_person: Any, files: Any, said: str) -> None:
    answer = upload(as_person(carla), Agent.objects.get(), *files)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not ThoughtThread.objects.exists()


def test_threads_are_begun_in_the_console(carla: Any, as_person: Any) -> None:
    assert as_person(carla).get(address(ThoughtThread, "add")).status_code == 403
