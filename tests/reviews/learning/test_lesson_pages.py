"""The pages about lessons: proposed first with the evidence, steps one by one and many at once, words to correct."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metacog.models import Agent, AuditEvent
from patterns.lessons import lessons
from patterns.lessons.lessons import Proposal
from patterns.models import Lesson
from tests.tables import table

pytestmark = pytest.mark.django_db


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


@pytest.fixture
def agent(kuro: Any) -> Agent:
    return Agent.objects.select_related("team").get(public_id=kuro.id)


@pytest.fixture
def proposed(kuro: Any, agent: Agent) -> list[Lesson]:
    seen = kuro.respond("I do not know about 退款 <b>.", items=[])["id"]
    texts = {about: f"Look {about} up {{}} times <script>".format for about in ("refunds", "退款")}
    made = [Proposal("gap", about, text, (about,), (seen,)) for about, text in texts.items()]
    return lessons.propose(agent, made, "refl_1", timezone.now())


def step(client: Any, row: Lesson, name: str, **more: str) -> Any:
    return client.post(reverse("lesson-step", args=[row.public_id]), {"step": name, **more})


def undo_in(page: str) -> tuple[str, dict[str, Any]]:
    """Return where the Undo of a page posts, and what. No paragraph holds it: a browser ends that before a form."""
    assert not re.search(r'<p\b[^>]*>(?:(?!</p>).)*<form class="inline undo"', page, re.S)
    (form,) = re.findall(r'<form class="inline undo".*?</form>', page, re.S)
    fields: dict[str, Any] = {}
    for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form):
        fields.setdefault(name, []).append(html.unescape(value))
    return re.findall(r'action="([^"]*)"', form)[0], fields


class TestTheList:
    def test_proposals_come_first_then_what_is_in_force_then_what_is_over(
        self, proposed: Any, aurora: Any, carla: Any, victor: Any, as_person: Any
    ) -> None:
        lessons.write(aurora, None, "Everybody’s.", [], carla)
        lessons.move(lessons.write(aurora, None, "Over.", [], carla), "retire", carla)
        page = words(as_person(victor).get("/lessons/"))
        places = [page.index(text) for text in ("2 proposed lessons", "Look 退款 up 1 times", "Everybody’s.", "Over.")]
        assert places == sorted(places)
        assert "<script> </a>" not in page
        assert '<form method="post" action="/lessons' not in page, "a viewer reads"

    @pytest.mark.parametrize("address", ["/lessons/", "/to-do/"])
    def test_the_proposals_seen_most_come_first(self, aurora: Any, carla: Any, as_person: Any, address: str) -> None:
        for count in (3, 20, None, 5):
            Lesson.objects.create(team=aurora, text=f"Of {count}.", evidence={"count": count} if count else {})
        page = words(as_person(carla).get(address))
        shown = ["Of 20.", "Of 5.", "Of 3."]
        assert re.findall(r">(Of \w+\.)<", page) == [*shown, "Of None."][: None if address == "/lessons/" else 3]
        assert ("last changed" if address == "/lessons/" else "proposed <time") in page

    def test_one_agents_are_its_own_and_its_teams(
        self, proposed: Any, agent: Agent, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        from metacog.accounts.agents import create_agent

        second, *_ = create_agent(aurora, "second", None)
        lessons.write(aurora, second, "The second’s.", [], carla)
        lessons.write(aurora, None, "Everybody’s.", [], carla)
        page = words(as_person(carla).get("/lessons/", {"agent": second.public_id}))
        assert "The second’s." in page
        assert "Everybody’s." in page
        assert "Look refunds up" not in page

    def test_its_queries_do_not_grow(self, agent: Agent, aurora: Any, carla: Any, as_person: Any) -> None:
        client = as_person(carla)
        client.get("/lessons/")
        counted = []
        for number in range(3):
            lessons.write(aurora, agent, f"lesson {number}", [], carla)
            lessons.propose(agent, [Proposal("gap", str(number), str, (), ("r",))], "refl", timezone.now())
            with CaptureQueriesContext(connection) as queries:
                client.get("/lessons/")
            counted.append(len(queries))
        assert len(set(counted)) == 1

    def test_without_any_it_says_what_will_come(self, alice: Any, as_person: Any) -> None:
        page = words(as_person(alice).get("/lessons/"))
        assert "No proposed lessons" in page
        assert "No active lessons" in page
        assert "0 " not in page.split("<main")[1]


class TestSteps:
    @pytest.mark.parametrize(("name", "state", "action"), [("confirm", "active", "lesson-confirmed"),
                                                           ("dismiss", "dismissed", "lesson-dismissed")])  # fmt: skip
    def test_a_curator_takes_them(
        self, proposed: Any, carla: Any, as_person: Any, name: str, state: str, action: str
    ) -> None:
        assert step(as_person(carla), proposed[0], name).status_code == 302
        proposed[0].refresh_from_db()
        assert proposed[0].state == state
        assert AuditEvent.objects.get(action=action).actor == "carla"

    @pytest.mark.parametrize(("person", "status"), [("victor", 403), ("alice", 403), ("mallory", 404), ("olga", 302)])
    def test_only_curators_and_owners_of_the_team_do(
        self, proposed: Any, as_person: Any, request: pytest.FixtureRequest, person: str, status: int
    ) -> None:
        client = as_person(request.getfixturevalue(person))
        assert step(client, proposed[0], "confirm").status_code == status
        address = reverse("lesson", args=[proposed[0].public_id])
        assert client.get(address).status_code == (404 if status == 404 else 200)
        assert client.post(address, {"text": "mine"}).status_code == status
        many = client.post(reverse("lessons-many"), {"step": "dismiss", "pk": [proposed[1].public_id]})
        assert many.status_code == (302 if status in (302, 404) else status)
        changed = status == 302
        assert Lesson.objects.filter(state="proposed").count() == (0 if changed else 2)

    def test_what_does_not_fit_is_told(self, proposed: Any, carla: Any, as_person: Any) -> None:
        client = as_person(carla)
        step(client, proposed[0], "dismiss")
        answer = client.post(
            reverse("lesson-step", args=[proposed[0].public_id]), {"step": "retire"}, headers={"hx-request": "true"}
        )
        assert answer.status_code == 409
        assert "This lesson is dismissed." in words(answer)
        assert step(client, proposed[0], "burn").status_code == 400

    def test_htmx_gets_the_list_alone(self, proposed: Any, carla: Any, as_person: Any) -> None:
        answer = as_person(carla).post(
            reverse("lesson-step", args=[proposed[0].public_id]), {"step": "confirm"}, headers={"hx-request": "true"}
        )
        page = words(answer)
        assert answer.status_code == 200
        assert page.lstrip().startswith('<div id="lessons">')
        assert f'Lesson confirmed: <a href="/lessons/{proposed[0].public_id}/">Look' in page
        assert "times &lt;script&gt;</a>" in answer.content.decode()
        assert "1 proposed lesson" in page

    def test_many_at_once_skip_what_does_not_fit_and_say_so(self, proposed: Any, carla: Any, as_person: Any) -> None:
        client = as_person(carla)
        step(client, proposed[0], "dismiss")
        data = {"step": "confirm", "pk": [row.public_id for row in proposed]}
        page = words(client.post(reverse("lessons-many"), data, follow=True))
        assert "1 lesson was confirmed. 1 stays as it is: This lesson is dismissed." in page
        answer = client.post(reverse("lessons-many"), {"step": "confirm"}, follow=True)
        assert '<div class="message warning">Select some lessons first.' in answer.text

    @table(
        ("address", "data", "is_htmx", "back"),
        [
            ("lessons-many", {"back": "to-do"}, False, "/to-do/"),
            ("lessons-many", {"agent": "AGENT"}, False, "/lessons/?agent=AGENT"),
            ("lessons-many", {}, True, "/lessons/"),
            ("lesson-step", {"from": "list", "agent": "AGENT"}, True, "/lessons/?agent=AGENT"),
            ("lesson-step", {}, False, "/lessons/LESSON/"),
        ],
        rolled_back=True,
    )
    def test_a_dismissal_is_taken_back_where_it_was_made(
        self, proposed: Any, agent: Agent, carla: Any, as_person: Any,
        address: str, data: dict[str, str], is_htmx: bool, back: str,
    ) -> None:  # fmt: skip
        client, lesson = as_person(carla), proposed[0].public_id
        path = reverse(address, args=[lesson] if address == "lesson-step" else [])
        sent = {name: value.replace("AGENT", agent.public_id) for name, value in data.items()}
        sent |= {"step": "dismiss", "pk": lesson}
        answer = client.post(path, sent, follow=not is_htmx, headers={"hx-request": "true"} if is_htmx else {})
        assert Lesson.objects.get(public_id=lesson).state == "dismissed"
        action, fields = undo_in(answer.content.decode())
        answer = client.post(action, fields)
        assert answer["Location"] == back.replace("AGENT", agent.public_id).replace("LESSON", lesson)
        assert Lesson.objects.get(public_id=lesson).state == "proposed"
        assert AuditEvent.objects.get(action="lesson-reopened").actor == "carla"
        page = words(client.get(answer["Location"]))
        assert ("proposed again" in page, 'class="inline undo"' in page) == (True, False)

    def test_what_became_of_a_dismissed_lesson_since_is_not_taken_back(
        self, proposed: Any, carla: Any, as_person: Any
    ) -> None:
        client = as_person(carla)
        page = client.post(reverse("lessons-many"), {"step": "dismiss", "pk": proposed[0].public_id}, follow=True)
        action, fields = undo_in(page.content.decode())
        lessons.move(proposed[0], "restore", carla)
        page = words(client.post(action, fields, follow=True))
        assert "0 lessons are proposed again. 1 stays as it is: This lesson is active." in page
        assert Lesson.objects.get(pk=proposed[0].pk).state == "active"

    @pytest.mark.parametrize("name", ["confirm", "retire", "restore", "reopen"])
    def test_nothing_else_has_an_undo(self, proposed: Any, carla: Any, as_person: Any, name: str) -> None:
        state = {"retire": "active", "restore": "dismissed", "reopen": "dismissed"}.get(name, "proposed")
        Lesson.objects.update(state=state)
        pages = [step(as_person(carla), proposed[0], name)]
        pages.append(as_person(carla).post(reverse("lessons-many"), {"step": name, "pk": proposed[1].public_id}))
        assert not any("inline undo" in as_person(carla).get(each["Location"]).content.decode() for each in pages)


class TestWords:
    def test_a_proposal_is_bettered_and_confirmed_in_one_go(self, proposed: Any, carla: Any, as_person: Any) -> None:
        address = reverse("lesson", args=[proposed[0].public_id])
        data = {"text": "Ask the ledger\nfirst.", "topics": "refunds，退款、 money ,", "step": "confirm"}
        assert as_person(carla).post(address, data).status_code == 302
        proposed[0].refresh_from_db()
        assert (proposed[0].text, proposed[0].state) == ("Ask the ledger first.", "active")
        assert proposed[0].topics == ["refunds", "退款", "money"]

    def test_what_cannot_be_confirmed_is_not_bettered_either(
        self, proposed: Any, carla: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lessons, "MAX_ACTIVE", 0)
        before = Lesson.objects.filter(pk=proposed[0].pk).values().get()
        data = {"text": "Ask the ledger first.", "topics": "", "step": "confirm"}
        answer = as_person(carla).post(reverse("lesson", args=[proposed[0].public_id]), data)
        assert (answer.status_code, "Ask the ledger first." in words(answer)) == (409, True)
        assert Lesson.objects.filter(pk=proposed[0].pk).values().get() == before

    @table(
        ("data", "said"),
        [({"text": ""}, "This field is required."), ({"text": "x" * 501}, "at most 500 characters"),
         ({"text": "x", "topics": ",".join("abcdefghi")}, "at most 8 topics"),
         ({"text": "x", "topics": "y" * 101}, "A topic has at most 100 characters")],
        rolled_back=True,
    )  # fmt: skip
    def test_what_is_out_of_bounds_is_told_beside_what_was_typed(
        self, proposed: Any, carla: Any, as_person: Any, data: Any, said: str
    ) -> None:
        answer = as_person(carla).post(reverse("lesson", args=[proposed[0].public_id]), {"topics": "typed", **data})
        assert answer.status_code == 422
        assert said in words(answer)
        proposed[0].refresh_from_db()
        assert "Look refunds up 1 times" in proposed[0].text

    def test_the_evidence_is_linked(self, proposed: Any, victor: Any, as_person: Any) -> None:
        page = words(as_person(victor).get(reverse("lesson", args=[proposed[0].public_id])))
        assert "Seen in 1 response" in page
        assert "I do not know about 退款" in page
        assert reverse("response", args=[proposed[0].evidence["responses"][0]]) in page

    def test_a_curator_writes_one_for_an_agent_or_for_each(
        self, kuro: Any, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        client = as_person(carla)
        for whose in (kuro.id, f"each-{aurora.pk}"):
            assert client.post(reverse("lesson-new"), {"whose": whose, "text": "Be kind."}).status_code == 302
        assert list(Lesson.objects.order_by("pk").values_list("agent__name", "state", "created_by__username")) == [
            ("kuro", "active", "carla"), (None, "active", "carla"),
        ]  # fmt: skip
        back = client.get(reverse("lesson-new"))
        assert (back.status_code, back["Location"]) == (302, "/lessons/"), "the form is there"

    def test_nobody_writes_one_for_a_stranger(self, kuro: Any, aurora: Any, mallory: Any, as_person: Any) -> None:
        client = as_person(mallory)
        for whose in (kuro.id, f"each-{aurora.pk}"):
            assert client.post(reverse("lesson-new"), {"whose": whose, "text": "x"}).status_code == 422
        assert not Lesson.objects.exists()
