"""The admin ends at one's own teams: lists, ids, choices, filters, searches, actions, history, completion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import members
from metacog.accounts.agents import create_agent
from metacog.admin_site import ScopedAdmin
from metacog.models import Agent, AuditEvent, Membership, Policy, Team, User
from patterns.lessons import lessons
from patterns.models import ErrorPattern, Lesson, Memory, ThoughtThread
from reviews.held.decisions import decide
from reviews.learning import reflections
from reviews.models import Decision, ExtensionRequest, HeldItem, Reflection
from tests.admin.addresses import address
from tests.tables import table

MODELS: list[Any] = [
    Team, Agent, Policy, AuditEvent, ErrorPattern, ThoughtThread, Lesson, Memory, HeldItem, Decision,
    ExtensionRequest, Reflection,
]  # fmt: skip


@pytest.fixture
def history(aurora: Any, kuro: Any, other: Any, alice: Any) -> None:
    """Something of every kind in Aurora."""
    held = HeldItem.objects.get(public_id=kuro.hold())
    decide(held, alice, "reject", reason="cause not measured")
    kuro.post("/threads", {"title": "Aurora's thought"})
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    lessons.write(aurora, agent, "Aurora's lesson", [], alice)
    reflections.reflect(agent, timezone.now())
    kuro.post("/memory", {"text": "What Aurora knows."})
    kuro.post("/extensions", {"reason": "need more time for Aurora"})


@pytest.fixture
def stranger(mallory: Any, as_person: Any) -> Any:
    return as_person(mallory)


def test_every_model_of_ours_is_scoped() -> None:
    assert set(admin.site._registry) == set(MODELS)
    assert all(isinstance(each, ScopedAdmin) for each in admin.site._registry.values())


@table("model", MODELS)
def test_a_stranger_sees_no_row_finds_no_id_and_searches_in_vain(history: None, stranger: Client, model: Any) -> None:
    page = stranger.get(address(model, "changelist"))
    assert page.status_code == 200
    for name in ("Aurora", "kuro", "ep-cause"):
        assert name not in page.content.decode()
    for query in ("?q=kuro", "?q=Aurora", f"?team__id__exact={Team.objects.get(name='Aurora').pk}"):
        said = stranger.get(address(model, "changelist") + query, follow=True).content.decode()
        assert "kuro<" not in said
        assert ">Aurora" not in said
    path = next(each for kind, each in admin.site._registry.items() if kind is model).team_path  # type: ignore[attr-defined]  # ours have it
    theirs = model.objects.filter(**{"name" if path == "pk" else f"{path}__name": "Aurora"}).first()
    for action in ("change", "history", "delete"):
        assert stranger.get(address(model, action, theirs.pk)).status_code in (403, 404)
        form = {"name": "x", "post": "yes"}
        assert stranger.post(address(model, action, theirs.pk), form).status_code in (403, 404)


def test_a_strangers_team_cannot_be_posted(aurora: Any, mallory: Any, as_person: Any) -> None:
    data = {"team": aurora.pk, "description": "theirs", "keywords": "theirs", "source": "external", "state": "active"}
    answer = as_person(mallory).post(address(ErrorPattern, "add"), data)
    assert answer.status_code == 200
    assert "Select a valid choice" in answer.content.decode()
    assert "Aurora" not in answer.content.decode()
    assert not ErrorPattern.objects.filter(description="theirs").exists()


@table("filter_", ["pk__in", "team", "agent__exact"], rolled_back=True)
def test_a_filter_by_a_number_beyond_all_ids_finds_nothing(kuro: Any, olga: Any, as_person: Any, filter_: str) -> None:
    answer = as_person(olga).get(address(AuditEvent, "changelist"), {filter_: "9" * 21}, follow=True)
    assert answer.status_code == 200


def test_actions_reach_no_strangers_row(aurora: Any, borealis: Any, mallory: Any, as_person: Any) -> None:
    pattern = ErrorPattern.objects.get(team=aurora)
    data = {"action": "retire", "_selected_action": [pattern.pk]}
    as_person(mallory).post(address(ErrorPattern, "changelist"), data)
    data["select_across"] = "1"
    as_person(mallory).post(address(ErrorPattern, "changelist"), data)
    pattern.refresh_from_db()
    assert pattern.state == "active"


def test_actions_and_imports_reach_no_strangers_thread(kuro: Any, mallory: Any, as_person: Any) -> None:
    kuro.post("/threads", {"title": "Theirs"})
    thread, client = ThoughtThread.objects.get(), as_person(mallory)
    for action in ("pause", "resolve", "export"):
        for across in ({}, {"select_across": "1"}):
            data = {"action": action, "_selected_action": [thread.pk], **across}
            assert "Theirs" not in client.post(address(ThoughtThread, "changelist"), data).content.decode()
    file = SimpleUploadedFile("a.md", b"# Thread: Theirs\n")
    sent = {"agent": thread.agent_id, "markdown": file}
    page = client.post(reverse("admin:thoughtthread_import"), sent).content.decode()
    assert "Select a valid choice" in page
    assert "kuro" not in page
    assert AuditEvent.objects.filter(action__startswith="thread-").count() == 1
    thread.refresh_from_db()
    assert thread.state == "active"


def test_an_inline_takes_no_strangers_member(alice: Any, mallory: Any, borealis: Any, as_person: Any) -> None:
    theirs = Membership.objects.get(user=alice)
    own = Membership.objects.get(user=mallory)
    data = {
        "name": "Borealis",
        "memberships-TOTAL_FORMS": "1", "memberships-INITIAL_FORMS": "1",
        "memberships-0-id": theirs.pk, "memberships-0-team": borealis.pk, "memberships-0-role": "viewer",
    }  # fmt: skip
    as_person(mallory).post(address(Team, "change", borealis.pk), data)
    assert not AuditEvent.objects.exists()
    theirs.refresh_from_db()
    own.refresh_from_db()
    assert (theirs.role, own.role) == ("reviewer", "owner")


@table(
    ("app", "model", "field"),
    [("metacog", "agent", "team"), ("patterns", "errorpattern", "team"), ("patterns", "thoughtthread", "agent")],
    rolled_back=True,
)
def test_completion_names_no_stranger(
    aurora: Any, mallory: Any, as_person: Any, app: str, model: str, field: str
) -> None:
    data = {"app_label": app, "model_name": model, "field_name": field, "term": "a"}
    answer = as_person(mallory).get(reverse("admin:autocomplete"), data)
    assert "Aurora" not in answer.content.decode()


def test_what_one_did_in_a_team_is_gone_with_the_membership(
    olga: Any, aurora: Any, borealis: Any, as_person: Any
) -> None:
    LogEntry.objects.log_actions(olga.pk, [aurora], 2, "renamed", single_object=True)
    members.add_member(borealis, "olga", "owner", None)
    Membership.objects.filter(user=olga, team=aurora).delete()
    assert "Aurora" not in as_person(olga).get(reverse("admin:index")).content.decode()


@pytest.mark.parametrize("person", ["alice", "victor"])
def test_who_neither_curates_nor_owns_stays_outside(
    request: pytest.FixtureRequest, as_person: Any, person: str
) -> None:
    client = as_person(request.getfixturevalue(person))
    assert client.get(reverse("admin:index")).status_code == 302
    for model in MODELS:
        assert client.get(address(model, "changelist")).status_code == 302


def test_signing_in_is_left_to_the_console(db: None, client: Any) -> None:
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/sign-in/?next=")


def test_a_curator_looks_after_patterns_and_threads_only(history: None, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    page = client.get(reverse("admin:index")).content.decode()
    assert "Error patterns" in page
    for model in (Team, Agent, Policy):
        assert client.get(address(model, "changelist")).status_code == 403
    pattern = ErrorPattern.objects.get(team__name="Aurora")
    assert client.get(address(ErrorPattern, "change", pattern.pk)).status_code == 200
    thread = ThoughtThread.objects.get()
    assert client.get(address(ThoughtThread, "change", thread.pk)).status_code == 200
    read_only: list[Any] = [HeldItem, Decision, AuditEvent]
    for model in read_only:
        row = model.objects.first()
        assert client.get(address(model, "change", row.pk)).status_code == 200
        assert client.post(address(model, "change", row.pk), {"state": "approved"}).status_code == 403
        assert client.get(address(model, "add")).status_code == 403


def test_nothing_that_history_points_at_is_deleted_by_anybody(history: None, as_person: Any) -> None:
    client = as_person(User.objects.create_superuser("root", password="x"))
    for model in MODELS:
        row = model.objects.order_by("pk").first()
        assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_a_list_asks_the_same_however_many_there_are(
    history: None, olga: Any, kuro: Any, aurora: Any, as_person: Any
) -> None:
    client = as_person(olga)

    def asked(model: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(address(model, "changelist"))
        return len(queries)

    for model in MODELS:
        client.get(address(model, "changelist"))  # what is kept from then on
    few = {model: asked(model) for model in MODELS}
    for number in range(6):
        kuro.hold(cycle=number)
        ErrorPattern.objects.create(team=aurora, keywords=[f"word {number}"], description=str(number))
        kuro.post("/threads", {"title": f"T {number}"})
        kuro.post(f"/threads/t-{number}/pause", {})
    for held in HeldItem.objects.filter(state="pending"):
        decide(held, olga, "approve")
    create_agent(aurora, "second", olga)
    assert {model: asked(model) for model in MODELS} == few


@table("model", MODELS)
def test_every_field_has_a_name_in_the_readers_language(
    translated: None, history: None, olga: Any, as_person: Any, model: Any
) -> None:
    client = as_person(olga)
    olga.language = "zh-hant"
    olga.save()
    row = model.objects.latest("pk") if model is AuditEvent else model.objects.first()
    pages = [client.get(address(model, "changelist")), client.get(address(model, "change", row.pk))]
    html = "\n".join(page.content.decode().split("<main")[1] for page in pages)
    heads = r'<label[^>]*>([^<]+)|<th [^>]*>\s*<div class="text">\s*(?:<a [^>]*>)?([^<]+)|<summary>\s*([^<]+)'
    names = [name for found in re.findall(heads, html) for name in found if name.strip()]
    assert len(names) > 2
    assert [name for name in names if not re.search("[\u4e00-\u9fff]", name)] == []
    assert "要</a>" not in html  # the yes to thinking twice, which is no yes to a filter
