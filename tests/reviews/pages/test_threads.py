"""The pages about threads: what is pursued, the way it took, and the steps that curators and owners take."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.urls import reverse

from metacog.models import Agent, AuditEvent
from patterns.models import ThoughtThread, ThreadStep
from reviews.pages.threads import SHOWN
from tests.tables import table

TITLE = "約束與湧現的實踐"


@pytest.fixture
def thread(kuro: Any) -> ThoughtThread:
    answer = kuro.post("/threads", {"title": TITLE, "note": "讀 Oulipo 三層約束功能", "next": "寫出框架"})
    assert answer.status_code == 201
    return ThoughtThread.objects.get()


def page_of(client: Any, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return words(answer)


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


def address(thread: ThoughtThread, name: str = "thread") -> str:
    return reverse(name, args=[thread.public_id])


def take(client: Any, thread: ThoughtThread, step: str, **fields: Any) -> Any:
    return client.post(address(thread, "thread-step"), {"step": step, **fields})


class TestWhatIsPursued:
    def test_active_paused_and_resolved_stand_apart(
        self, kuro: Any, thread: ThoughtThread, victor: Any, as_person: Any
    ) -> None:
        for title, step in (("Put down", "pause"), ("Answered", "resolve")):
            kuro.post("/threads", {"title": title})
            kuro.post(f"/threads/{title.lower().replace(' ', '-')}/{step}", {})
        page = page_of(as_person(victor), "/threads/")
        assert "Active: 1 of 3" in page
        places = [
            page.index(text) for text in (TITLE, "讀 Oulipo", "寫出框架", "Room for 2 more", "Put down", "Answered")
        ]
        assert places == sorted(places)
        assert "Create thread" not in page  # a viewer reads

    @table(("active", "said"), [(0, "Room for 3 more"), (2, "Room for one more"), (3, "")], rolled_back=True)
    def test_it_says_for_how_many_there_is_room(
        self, kuro: Any, victor: Any, as_person: Any, active: int, said: str
    ) -> None:
        for number in range(active):
            kuro.post("/threads", {"title": f"Thread {number}"})
        page = page_of(as_person(victor), "/threads/")
        assert re.findall("Room for [^<]*", page) == ([said] if said else [])

    def test_each_agent_has_its_own(
        self, kuro: Any, thread: ThoughtThread, aurora: Any, alice: Any, as_person: Any
    ) -> None:
        from metacog.accounts.agents import create_agent

        second, _key, _secret = create_agent(aurora, "second", None)
        client = as_person(alice)
        assert TITLE in page_of(client, "/threads/")  # whose pursuits are the most come first
        page = page_of(client, f"/threads/?agent={second.public_id}")
        assert TITLE not in page
        assert f"?agent={kuro.id}" in page

    @table(
        ("language", "said"),
        [("en", "why it is worth pursuing"), ("zh-hant", "為什麼值得追"), ("zh-hans", "为什么值得追")],
        rolled_back=True,
    )
    def test_it_has_instructions_in_the_agents_language(
        self, kuro: Any, alice: Any, as_person: Any, language: str, said: str
    ) -> None:
        Agent.objects.update(language=language)
        page = as_person(alice).get("/threads/").content.decode()
        assert "&lt;kuro:thread op=&quot;create&quot; title=&quot;…&quot; next=" in page  # else no browser shows it
        assert said in page

    def test_without_agents_it_says_so(self, alice: Any, as_person: Any) -> None:
        assert "No agents yet" in page_of(as_person(alice), "/threads/")

    def test_a_curator_begins_one(self, kuro: Any, carla: Any, as_person: Any) -> None:
        data = {"title": "How teams decide", "note": "read on consent", "next": "ask three"}
        answer = as_person(carla).post(reverse("thread-new", args=[kuro.id]), data)
        row = ThoughtThread.objects.get()
        assert (answer.status_code, answer.url) == (302, address(row))
        assert (row.slug, row.next, row.touches) == ("how-teams-decide", "ask three", 1)
        step = ThreadStep.objects.get()
        assert (step.by, step.person, step.text) == ("person", carla, "read on consent")
        assert AuditEvent.objects.get(action="thread-created").actor == "carla"

    @table(
        ("data", "status", "said"),
        [({"title": TITLE}, 409, "already exists"), ({"title": ""}, 422, "This field is required."),
         ({"title": "x" * 201}, 422, "at most 200 characters"),
         ({"title": "x", "note": "n" * 1001}, 422, "at most 1000")],
        rolled_back=True,
    )  # fmt: skip
    def test_what_cannot_be_begun_is_told_beside_what_was_typed(
        self, kuro: Any, thread: ThoughtThread, carla: Any, as_person: Any, data: Any, status: int, said: str
    ) -> None:
        answer = as_person(carla).post(reverse("thread-new", args=[kuro.id]), {"next": "typed here", **data})
        assert answer.status_code == status
        assert said in words(answer)
        assert "typed here" in words(answer)
        assert ThoughtThread.objects.count() == 1

    def test_the_address_of_a_refused_form_leads_to_the_page_with_it(
        self, kuro: Any, carla: Any, mallory: Any, as_person: Any
    ) -> None:
        address = reverse("thread-new", args=[kuro.id])
        back = as_person(carla).get(address)
        assert (back.status_code, back["Location"]) == (302, f"/threads/?agent={kuro.id}")
        assert as_person(mallory).get(address).status_code == 404

    def test_a_fourth_is_refused_with_what_stands_in_the_way(self, kuro: Any, carla: Any, as_person: Any) -> None:
        for title in ("A one", "B two", "C three"):
            kuro.post("/threads", {"title": title})
        client = as_person(carla)
        page = page_of(client, "/threads/")
        assert "Pause or resolve an active thread to create another" in page
        assert '<form method="post" action="/agents/' not in page
        answer = client.post(reverse("thread-new", args=[kuro.id]), {"title": "D four"})
        assert answer.status_code == 409
        assert "The limit is 3 active threads, and these are active: “A one” (a-one)" in words(answer)

    def test_what_three_cycles_suggest_is_a_proposal(self, kuro: Any, carla: Any, victor: Any, as_person: Any) -> None:
        for _ in range(3):
            kuro.respond("x", topics=["快取"])
        page = page_of(as_person(victor), "/threads/")
        assert "<b>快取</b>" in page
        assert "The last 3 cycles of kuro were about it." in page
        assert "Begin it" not in page
        assert not ThoughtThread.objects.exists()
        client = as_person(carla)
        assert "Create thread</button>" in page_of(client, "/threads/")
        client.post(reverse("thread-new", args=[kuro.id]), {"title": "快取"})
        assert "Suggested thread" not in page_of(client, "/threads/")


class TestOneThread:
    def test_it_shows_next_and_the_trail_with_who_and_where(
        self, kuro: Any, thread: ThoughtThread, victor: Any, carla: Any, as_person: Any
    ) -> None:
        verdict = kuro.respond(f'<kuro:thread op="progress" id="{TITLE}">少規則</kuro:thread>', items=None)
        take(as_person(carla), thread, "pause", note="等等再說")
        page = page_of(as_person(victor), address(thread))
        places = [page.index(text) for text in ("寫出框架", "讀 Oulipo", "少規則", "Carla", "等等再說")]
        assert places == sorted(places)
        assert reverse("response", args=[verdict["id"]]) in page
        assert "2 touches" in page
        assert "Update thread" not in page

    @table(
        ("before", "offered"),
        [([], ["Add entry", "Pause", "Resolve"]), (["pause"], ["Resume", "Resolve"]), (["resolve"], [])],
        rolled_back=True,
    )
    def test_it_offers_what_is_possible(
        self, thread: ThoughtThread, carla: Any, as_person: Any, before: list[str], offered: list[str]
    ) -> None:
        client = as_person(carla)
        for step in before:
            assert take(client, thread, step).status_code == 302
        page = page_of(client, address(thread))
        assert [name for name in ("Add entry", "Resume", "Pause", "Resolve") if f">{name}</button>" in page] == offered

    def test_a_step_is_taken_with_its_note_and_what_is_next(
        self, thread: ThoughtThread, carla: Any, as_person: Any
    ) -> None:
        assert take(as_person(carla), thread, "progress", note="少規則", next="寫 journal").status_code == 302
        thread.refresh_from_db()
        assert (thread.touches, thread.next) == (2, "寫 journal")
        event = AuditEvent.objects.get(action="thread-progressed")
        assert (event.actor, event.object_id) == ("carla", thread.public_id)

    def test_htmx_gets_the_thread_alone(self, thread: ThoughtThread, carla: Any, as_person: Any) -> None:
        answer = as_person(carla).post(
            address(thread, "thread-step"), {"step": "progress", "note": "少規則"}, headers={"hx-request": "true"}
        )
        assert answer.status_code == 200
        assert answer.content.decode().lstrip().startswith('<div id="thread">')
        assert "少規則" in words(answer)

    @pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}])
    def test_a_step_that_is_no_longer_possible_is_told_beside_what_was_typed(
        self, kuro: Any, thread: ThoughtThread, carla: Any, as_person: Any, headers: Any
    ) -> None:
        client = as_person(carla)
        kuro.post(f"/threads/{TITLE}/pause", {})  # behind the page's back
        answer = client.post(address(thread, "thread-step"), {"step": "progress", "note": "typed"}, headers=headers)
        assert answer.status_code == 409
        assert "is paused. Resume it first." in words(answer)
        assert "> typed</textarea>" in words(answer)
        assert ">Resume</button>" in words(answer)

    @pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}])
    def test_a_step_with_what_is_resolved_by_now_is_told_with_what_was_typed(
        self, kuro: Any, thread: ThoughtThread, carla: Any, as_person: Any, headers: Any
    ) -> None:
        kuro.post(f"/threads/{TITLE}/resolve", {})
        taken = {"step": "progress", "note": "typed"}
        answer = as_person(carla).post(address(thread, "thread-step"), taken, headers=headers)
        assert answer.status_code == 409
        assert "is resolved" in words(answer)
        assert 'as you typed it: <q class="answered">typed</q>' in words(answer)

    def test_it_refuses_another_word(self, thread: ThoughtThread, carla: Any, as_person: Any) -> None:
        assert take(as_person(carla), thread, "explode").status_code == 400

    def test_a_resolved_thread_proposes_an_article(
        self, kuro: Any, thread: ThoughtThread, carla: Any, as_person: Any
    ) -> None:
        client = as_person(carla)
        assert "Journal draft" not in page_of(client, address(thread))
        take(client, thread, "resolve", note="約束有三個維度")
        page = page_of(client, address(thread))
        (article,) = kuro.get("/context").json()["articles"]
        assert "Journal draft" in page
        assert re.sub(r"\s+", " ", article["text"]).strip() in page

    def test_it_is_downloaded_as_the_seeds_markdown(self, thread: ThoughtThread, victor: Any, as_person: Any) -> None:
        answer = as_person(victor).get(address(thread, "thread-markdown"))
        assert answer.content.decode().startswith(f"# Thread: {TITLE}\n\n## Meta\n")
        assert answer["Content-Type"] == "text/markdown; charset=utf-8"
        assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''%E7%B4%84")

    def test_it_shows_the_notes_of_a_file(self, thread: ThoughtThread, victor: Any, as_person: Any) -> None:
        client = as_person(victor)
        assert 'id="notes"' not in page_of(client, address(thread))
        ThoughtThread.objects.update(notes="- Owner: <b>kuro</b>")
        assert "- Owner: <b>kuro</b></div>" in page_of(client, address(thread))
        assert "<b>kuro" not in client.get(address(thread)).content.decode()

    def test_who_may_edit_the_notes_is_led_there(
        self, thread: ThoughtThread, victor: Any, carla: Any, as_person: Any
    ) -> None:
        form = reverse("admin:patterns_thoughtthread_change", args=[thread.pk])
        assert form not in page_of(as_person(victor), address(thread))
        client = as_person(carla)
        assert f'href="{form}">Edit title, next and notes' in page_of(client, address(thread))
        assert client.get(form).status_code == 200

    def test_its_touches_stand_in_the_record(
        self, kuro: Any, thread: ThoughtThread, alice: Any, as_person: Any
    ) -> None:
        kuro.respond(f"{TITLE} again")
        client = as_person(alice)
        record = f"{reverse('audit')}?object={thread.public_id}"
        assert record in page_of(client, address(thread))
        page = page_of(client, record)
        assert "A response of kuro touched a thread" in page
        assert "<p>kuro created a thread</p>" in page
        assert f'href="{address(thread)}"' in page

    def test_a_long_trail_shows_its_end(self, kuro: Any, thread: ThoughtThread, alice: Any, as_person: Any) -> None:
        ThreadStep.objects.bulk_create(
            ThreadStep(thread=thread, text=f"step {number}.", by="agent") for number in range(SHOWN)
        )
        page = page_of(as_person(alice), address(thread))
        assert "讀 Oulipo" not in page
        assert ["step 0." in page, f"step {SHOWN - 1}." in page] == [True, True]
        assert f"The last {SHOWN} entries" in page


def test_the_page_of_a_response_tells_what_it_did_with_threads(
    kuro: Any, thread: ThoughtThread, alice: Any, as_person: Any
) -> None:
    verdict = kuro.respond(f'{TITLE} <kuro:thread op="resume" id="hope">x</kuro:thread>', items=None)
    page = page_of(as_person(alice), reverse("response", args=[verdict["id"]]))
    for part in ("touched", "recognized by its name", "not done", "There is no thread hope.", "thread-unknown"):
        assert part in page


@pytest.mark.parametrize(
    ("person", "reads", "changes"),
    [("mallory", 404, 404), ("victor", 200, 403), ("alice", 200, 403), ("carla", 200, 302), ("olga", 200, 302)],
)
def test_it_answers_each_as_their_role_allows(
    request: pytest.FixtureRequest,
    kuro: Any,
    thread: ThoughtThread,
    as_person: Any,
    person: str,
    reads: int,
    changes: int,
) -> None:
    client = as_person(request.getfixturevalue(person))
    for path in (address(thread), address(thread, "thread-markdown")):
        assert client.get(path).status_code == reads
    for step in ("progress", "pause", "resume", "resolve"):
        assert take(client, thread, step).status_code == changes
    assert client.post(reverse("thread-new", args=[kuro.id]), {"title": "x"}).status_code == changes
    for path in ("/threads/", f"/threads/?agent={kuro.id}"):
        assert (TITLE in page_of(client, path)) == (reads == 200)
    thread.refresh_from_db()
    assert thread.state == ("resolved" if changes == 302 else "active")


def test_agents_text_is_only_text(kuro: Any, carla: Any, as_person: Any) -> None:
    text = "<script>x</script>\u202e"
    kuro.post("/threads", {"title": f"<b>T</b> {text}", "note": text, "next": text})
    for _ in range(3):
        kuro.respond("x", topics=["<script>x</script>"])
    client, thread = as_person(carla), ThoughtThread.objects.get()
    take(client, thread, "resolve", note=text)
    for path in ("/threads/", address(thread)):
        page = client.get(path).content.decode()
        assert "<script>x" not in page
        assert "<b>T" not in page
        assert "\u202e" not in page


def test_pages_cost_the_same_number_of_queries_however_much_there_is(
    kuro: Any, thread: ThoughtThread, carla: Any, as_person: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(carla)
    client.get("/threads/")
    for number in range(8):
        title = f"T {number}"
        kuro.post("/threads", {"title": title, "note": "x"})
        kuro.post(f"/threads/t-{number}/{'resolve' if number % 2 else 'pause'}", {"note": "x"})
        kuro.respond("x", topics=["cache"])
        take(client, thread, "progress", note="x")
    with django_assert_max_num_queries(11):
        client.get("/threads/")
    take(client, thread, "resolve", note="x")
    with django_assert_max_num_queries(8):
        client.get(address(thread))
