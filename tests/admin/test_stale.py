"""A page of the admin that was opened before somebody else changed its row."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from metacog.accounts import members
from metacog.accounts.retention import set_retention
from metacog.models import AuditEvent, Membership, Team
from patterns.lessons import lessons
from patterns.models import ErrorPattern, Lesson, ThoughtThread
from patterns.patterns import lifecycle
from patterns.threads import threads
from reviews import retention
from tests.admin.addresses import address

MEANWHILE = "Somebody else changed this meanwhile"
_FIELD = re.compile(
    r'<input type="(?:text|hidden)" name="([\w-]+)"(?: value="([^"]*)")?|'
    r'<textarea name="([\w-]+)"[^>]*>\r?\n?([^<]*)</textarea>|'
    r'<select name="([\w-]+)".*?<option value="([^"]*)" selected',
    re.DOTALL,
)


def shown(page: Any) -> dict[str, str]:
    """Return what a page's form holds, as a browser would post it."""
    found = _FIELD.findall(page.content.decode())
    fields = ("".join(each[::2]) for each in found), ("".join(each[1::2]) for each in found)
    return {name: unescape(value).replace("\n", "\r\n") for name, value in zip(*fields, strict=True)}


class TestPatterns:
    @pytest.fixture
    def pattern(self, aurora: Any) -> ErrorPattern:
        return ErrorPattern.objects.create(
            team=aurora, keywords=["dns", "resolver"], description="blamed", state="proposed"
        )

    @pytest.fixture
    def send(self, pattern: ErrorPattern, carla: Any, olga: Any, as_person: Any) -> Any:
        """Send the page as it was before somebody else changed the pattern, but for some fields."""
        client, url = as_person(carla), address(ErrorPattern, "change", pattern.pk)
        page = shown(client.get(url))
        lifecycle.edit(pattern, olga, keywords=["dns timeout"], description="blamed unmeasured", source="external")
        return lambda **fields: client.post(url, page | fields)

    def test_what_was_left_as_it_was_shown_stays_as_somebody_else_wrote_it(
        self, pattern: ErrorPattern, send: Any
    ) -> None:
        assert send(source="self-review").status_code == 302
        pattern.refresh_from_db()
        assert (pattern.keywords, pattern.description) == (["dns timeout"], "blamed unmeasured")
        assert pattern.source == "self-review"

    def test_what_both_wrote_is_asked_about(self, pattern: ErrorPattern, send: Any) -> None:
        answer = send(description="blamed too early", keywords="dns\r\nnxdomain")
        assert answer.content.decode().count(MEANWHILE) == 2
        pattern.refresh_from_db()
        assert (pattern.keywords, pattern.description) == (["dns timeout"], "blamed unmeasured")
        assert send(**shown(answer)).status_code == 302, "saved again"
        pattern.refresh_from_db()
        assert (pattern.keywords, pattern.description) == (["dns", "nxdomain"], "blamed too early")


class TestThreads:
    def test_a_title_is_corrected_and_what_the_agent_says_is_next_stays(
        self, kuro: Any, carla: Any, as_person: Any
    ) -> None:
        kuro.post("/threads", {"title": "One", "next": "measure"})
        thread, client = ThoughtThread.objects.get(), as_person(carla)
        url = address(ThoughtThread, "change", thread.pk)
        page = shown(client.get(url))
        kuro.post("/threads/one/progress", {"note": "measured", "next": "write it up"})
        assert client.post(url, page | {"title": "The one"}).status_code == 302
        thread.refresh_from_db()
        assert (thread.title, thread.next) == ("The one", "write it up")

    def test_lines_of_an_imported_file_stay(self, kuro: Any, carla: Any) -> None:
        kuro.post("/threads", {"title": "One"})
        ThoughtThread.objects.update(next="measure\nwrite it up")
        thread = ThoughtThread.objects.get()
        threads.edit(thread, "The one", thread.next, thread.notes, carla)
        assert ThoughtThread.objects.get().next == "measure\nwrite it up"
        assert AuditEvent.objects.get(action="thread-changed").data == {"fields": ["title"]}

    @pytest.mark.parametrize("name", ["next", "notes"])
    def test_what_is_written_into_an_erased_one_is_erased_in_its_turn(
        self, kuro: Any, aurora: Any, carla: Any, olga: Any, as_person: Any, name: str
    ) -> None:
        set_retention(aurora, 30, olga)
        kuro.post("/threads", {"title": "One", "next": "ask the princess"})
        kuro.post("/threads/one/resolve", {})
        ThoughtThread.objects.update(resolved_at=timezone.now() - timedelta(days=31))
        thread, client = ThoughtThread.objects.get(), as_person(carla)
        url = address(ThoughtThread, "change", thread.pk)
        page = shown(client.get(url))
        retention.erase()
        client.post(url, page | {"title": "The one"})
        assert ThoughtThread.objects.get().next == "", "it was shown before it was erased"
        client.post(url, shown(client.get(url)) | {name: "ask the princess again"})
        assert getattr(ThoughtThread.objects.get(), name)
        retention.erase()
        assert getattr(ThoughtThread.objects.get(), name) == ""


def test_a_lesson_that_is_saved_as_it_was_shown_stays_as_somebody_else_wrote_it(
    aurora: Any, carla: Any, olga: Any, as_person: Any
) -> None:
    lesson = lessons.write(aurora, None, "Measure first.", [], olga)
    client, url = as_person(carla), address(Lesson, "change", lesson.pk)
    page = shown(client.get(url))
    lessons.edit(lesson, "Measure first, then name a cause.", [], olga)
    assert client.post(url, page).status_code == 302
    lesson.refresh_from_db()
    assert lesson.text == "Measure first, then name a cause."
    assert MEANWHILE in client.post(url, page | {"text": "Measure."}).content.decode()


def test_a_role_is_changed_and_the_team_stays_called_as_somebody_else_called_it(
    aurora: Any, alice: Any, olga: Any, as_person: Any
) -> None:
    client, url = as_person(olga), address(Team, "change", aurora.pk)
    page = shown(client.get(url))
    (role,) = (name for name, value in page.items() if name[0] == "m" and value == "reviewer")
    members.rename_team(aurora, "Aurora borealis", None)
    assert client.post(url, page | {role: "curator"}).status_code == 302
    aurora.refresh_from_db()
    assert aurora.name == "Aurora borealis"
    assert Membership.objects.get(user=alice).role == "curator"
