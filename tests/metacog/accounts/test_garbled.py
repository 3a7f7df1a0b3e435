"""What no page of ours sends, but a script, a scanner or an odd proxy may: an answer in order, on either database."""

from __future__ import annotations

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse

from patterns.models import ErrorPattern, Lesson, ThoughtThread
from tests.tables import table

PAGES = (
    "queue", "responses", "spot-checks", "corrections", "search", "stuck", "threads", "extensions", "memories",
    "lessons", "reflections", "research-list", "patterns", "pattern-new", "statistics", "review-time", "deliveries",
    "agents", "agent-new", "team", "preferences", "audit",
)  # fmt: skip


def test_who_is_not_signed_in_is_led_there_from_whatever_page_they_name(db: None, client: Client) -> None:
    answer = client.post("/preferences/", headers={"referer": "http://["})
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=&unsaved=form")


@table("after", ["nowhere", "\0", "//elsewhere.example"], rolled_back=True)
def test_the_look_changes_wherever_the_form_wants_to_go_on(olga: Any, as_person: Any, after: str) -> None:
    assert as_person(olga).post("/theme", {"theme": "dark", "next": after}).status_code == 302
    olga.refresh_from_db()
    assert olga.theme == "dark"


@table("name", ["\0", "held_\0:1:x", "²", "9" * 30], rolled_back=True)
def test_what_names_nothing_is_told_so(kuro: Any, olga: Any, as_person: Any, name: str) -> None:
    client = as_person(olga)
    for address, form in (
        ("/queue/together/decide", {"item": name, "held": name, "verdict": "approve"}),
        ("/lessons/many", {"lesson": name, "agent": name, "step": "confirm"}),
        ("/patterns/decide", {"pattern": name, "step": "try"}),
    ):
        assert client.post(address, form).status_code in (200, 302), address
    assert client.post("/memory/new", {"team": name, "text": "x"}).status_code == 404
    assert client.get("/patterns/", {"after": name.replace("\0", "x")}).status_code == 200


@table("name", ["", "\0", "²", "9" * 30], rolled_back=True)
def test_the_admin_takes_steps_with_rows_only(kuro: Any, olga: Any, as_person: Any, name: str) -> None:
    form = {"action": "retire", "index": "0", "_selected_action": name}
    assert as_person(olga).post("/admin/patterns/errorpattern/", form).status_code == 400


@table("page", PAGES, rolled_back=True)
def test_a_page_can_be_looked_up_without_its_body_and_takes_no_other_method(
    kuro: Any, olga: Any, as_person: Any, page: str
) -> None:
    client = as_person(olga)
    assert client.head(reverse(page)).status_code == client.get(reverse(page)).status_code == 200
    for method in ("PUT", "DELETE"):
        assert client.generic(method, reverse(page)).status_code == 405


@pytest.mark.parametrize("said", ["192.0.2.9:port", "unknown", "[2001:db8::1"])
def test_a_proxy_that_names_no_plain_address_keeps_nobody_out(
    alice: Any, client: Client, settings: Any, said: str
) -> None:
    settings.HTTPS = True
    headers = {"x-forwarded-for": f"192.0.2.1, {said}"}
    answer = client.post("/sign-in/", {"username": "alice", "password": "wrong"}, headers=headers)
    assert answer.status_code == 200
    assert AccessAttempt.objects.get().ip_address == "127.0.0.1"


def test_what_shows_nothing_is_no_title_lesson_or_description(
    kuro: Any, aurora: Any, olga: Any, as_person: Any
) -> None:
    client, nothing = as_person(olga), "\u200b \u2060"
    kuro.post("/threads", {"title": "How teams decide"})
    client.post("/lessons/new", {"whose": kuro.id, "text": "Be kind."})
    thread, lesson = ThoughtThread.objects.get(), Lesson.objects.get()
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    for address, form in (
        (f"/agents/{kuro.id}/threads", {"title": nothing}),
        ("/lessons/new", {"whose": kuro.id, "text": nothing}),
        (f"/lessons/{lesson.public_id}/", {"text": nothing}),
        (f"/patterns/{pattern.pk}/edit", {"keywords": "cache", "description": nothing, "source": "external"}),
        ("/patterns/new", {"team": aurora.pk, "keywords": "the disk", "description": nothing, "source": "external"}),
        (f"/admin/patterns/thoughtthread/{thread.pk}/change/", {"title": nothing}),
        (f"/admin/patterns/lesson/{lesson.pk}/change/", {"text": nothing}),
        (f"/admin/patterns/errorpattern/{pattern.pk}/change/", {"keywords": "cache", "description": nothing}),
    ):
        assert "This field is required." in client.post(address, form).content.decode(), address
    for model, field in ((ThoughtThread, "title"), (Lesson, "text"), (ErrorPattern, "description")):
        assert not model._default_manager.filter(**{field: nothing}).exists()
