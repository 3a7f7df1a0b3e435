"""The Stuck pages: which problems are stuck, why, the question, the answer, and what came of it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metacog.accounts import agents
from metacog.models import Policy
from patterns.models import Problem, ThinkTwice
from reviews.pages import stuck
from tests.patterns.api.test_problems import CREEP, fail, get_stuck
from tests.tables import table


@pytest.fixture
def problem(kuro: Any) -> Problem:
    get_stuck(kuro)
    return Problem.objects.get()


def address(problem: Problem, name: str = "problem") -> str:
    return reverse(name, args=[problem.public_id])


def page_of(client: Any, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def test_the_list_has_what_asks_first_and_leaves_out_what_shows_nothing(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    fail(kuro, CREEP, problem="later")
    fail(kuro, problem="fine")
    page = page_of(as_person(alice), "/stuck/")
    assert re.findall(r'href="/stuck/prob_\w+/">([^<]+)<', page) == ["bug-17", "later"]
    assert "The same error again" in page
    assert "needs your answer" in page
    assert re.search(r"Stuck problems<span class=\"n\">1<", page), "the navigation counts what asks"


def test_without_a_sign_it_says_how_to_be_watched(kuro: Any, alice: Any, as_person: Any) -> None:
    kuro.respond("All is well.")
    assert "No stuck problems" in page_of(as_person(alice), "/stuck/")


def test_a_problem_shows_its_evidence_points_and_brief(problem: Problem, alice: Any, as_person: Any) -> None:
    page = page_of(as_person(alice), address(problem))
    assert "10 points, threshold 7" in page
    for part in ("TimeoutError: 30 s", "bump the timeout", "I'm not sure why", "## What was tried"):
        assert part in page
    assert page.count("<rect") == 3
    assert re.findall(r"<text [^>]*>(\d+)<", page) == ["0", "0", "10"], "each column says its points"
    assert 'data-copy="brief-text"' in page
    assert '<h2 id="ask">Think twice</h2>' in page


def test_the_brief_has_what_the_team_remembers_of_the_problem(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    kuro.post("/memory", {"text": "Nobody needs <b>it</b> on Sundays.", "topic": "bug-17"})
    kuro.post("/memory", {"text": "A deploy takes four minutes.", "topic": "pipeline"})
    answer = as_person(alice).get(address(problem)).content.decode()
    made = answer.partition('id="brief-text"')[2].partition("</pre>")[0]
    assert "&gt; Nobody needs &lt;b&gt;it&lt;/b&gt; on Sundays." in made
    assert "four minutes" not in made


@table(
    ("fields", "title", "detail"),
    [
        ({"approach": None, "command": "make it"}, "The same command again", "same command 3 times"),
        ({"approach": "make it", "command": "x"}, "The same approach again", "same approach 3 times"),
    ],
    rolled_back=True,
)
def test_what_was_repeated_is_called_what_it_was(
    kuro: Any, alice: Any, as_person: Any, fields: dict[str, Any], title: str, detail: str
) -> None:
    get_stuck(kuro, **fields)
    problem, client = Problem.objects.get(), as_person(alice)
    page = page_of(client, address(problem))
    assert f"<b>{title}</b>" in page
    assert "<code>make it</code>" in page
    assert detail in page
    assert title in page_of(client, "/stuck/")
    assert title in page_of(client, reverse("response", args=[problem.responses.latest("pk").public_id]))


@pytest.mark.usefixtures("translated")
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("zh-hant", ("重複同一指令", "同一個指令 3 次", "由代理轉達某人的回答")),
        ("zh-hans", ("重复同一指令", "同一个指令 3 次", "由智能体转达某人的回答")),
    ],
)
def test_it_is_called_so_in_chinese(
    kuro: Any, alice: Any, as_person: Any, language: str, told: tuple[str, ...]
) -> None:
    get_stuck(kuro, approach=None, command="make it")
    kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
    alice.language = language
    alice.save()
    page = page_of(as_person(alice), address(Problem.objects.get()))
    for words in told:
        assert words in page


def test_an_answer_that_the_agent_brought_is_told_from_a_persons_own(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    client, told = as_person(alice), "<b>Yes</b>, reported by the agent on behalf of a person, "
    kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
    for path in (address(problem), "/stuck/"):
        assert "<b>Yes</b>, reported by the agent on behalf of a person" in page_of(client, path)
    get_stuck(kuro, problem="bug-18")
    client.post(address(Problem.objects.get(key="bug-18"), "problem-answer"), {"answer": "yes"})
    assert told not in page_of(client, address(Problem.objects.get(key="bug-18")))


class TestPaging:
    @pytest.fixture
    def many(self, kuro: Any) -> list[str]:
        """Return the keys of what is stuck as the list has them: what asks, then the rest, each the last one first."""
        for number in range(3):
            get_stuck(kuro, problem=f"asks-{number}")
        for number in range(5):
            fail(kuro, CREEP, problem=f"quiet-{number}")  # later, and yet below
        same = Problem.objects.get(key="quiet-2").touched_at
        Problem.objects.filter(key="quiet-1").update(touched_at=same)
        return ["asks-2", "asks-1", "asks-0", "quiet-4", "quiet-3", "quiet-2", "quiet-1", "quiet-0"]

    @staticmethod
    def keys(page: str) -> list[str]:
        return re.findall(r'href="/stuck/prob_\w+/">([^<]+)<', page.partition("Latest answers")[0])

    @staticmethod
    def following(page: str) -> str:
        link = r'<a class="btn" rel="next" href="(\?[^"]*after=[^"]+)">Earlier problems</a>'
        return next(iter(re.findall(link, page)), "")

    @pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9])
    def test_every_problem_is_on_one_page_in_order(
        self, many: list[str], alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setattr(stuck, "PAGE", size)
        client, found, pages, query = as_person(alice), [], 0, "?"
        while query and pages <= len(many):  # no page leads round in circles
            page = page_of(client, f"/stuck/{query}")
            found += self.keys(page)
            assert ("Back to the latest" in page) == (pages > 0)
            pages, query = pages + 1, self.following(page)
        assert found == many
        assert pages == -(-len(many) // size)

    def test_what_moves_on_meanwhile_is_not_shown_twice(
        self, kuro: Any, many: list[str], alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stuck, "PAGE", 4)
        client = as_person(alice)
        page = page_of(client, "/stuck/?team=1")
        assert self.keys(page) == many[:4]
        fail(kuro, problem="quiet-4")
        kuro.post("/problems/asks-0/resolve", {})
        assert "team=1" in self.following(page), "whatever else the address says stays"
        assert self.keys(page_of(client, f"/stuck/{self.following(page)}")) == many[4:]

    def test_behind_the_last_one_it_says_so(self, many: list[str], alice: Any, as_person: Any) -> None:
        page = page_of(as_person(alice), "/stuck/?after=0.1.1")
        assert "No earlier stuck problems" in page
        assert "No stuck problems" not in page
        assert 'href="/stuck/">Back to the latest' in page

    @table("after", ["", "x", "2.1.1", "1.1", "0.-1.1", "0.1.²", f"0.{'9' * 18}.1", "a.b.c"], rolled_back=True)
    def test_another_word_is_the_first_page(self, many: list[str], alice: Any, as_person: Any, after: str) -> None:
        client = as_person(alice)
        assert self.keys(html.unescape(client.get("/stuck/", {"after": after}).content.decode())) == many

    def test_a_page_has_its_own_teams_only(self, many: list[str], mallory: Any, as_person: Any) -> None:
        assert self.keys(page_of(as_person(mallory), "/stuck/?after=1.99999999999999999.999999999999999999")) == []

    def test_every_page_costs_the_same_number_of_queries_however_much_there_is(
        self, kuro: Any, many: list[str], alice: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = as_person(alice)

        def queries(size: int, query: str = "") -> int:
            monkeypatch.setattr(stuck, "PAGE", size)
            with CaptureQueriesContext(connection) as asked:
                client.get(f"/stuck/{query}")
            return len(asked)

        later = self.following(page_of(client, "/stuck/"))
        assert not later
        assert queries(1) == queries(3) == queries(50)
        monkeypatch.setattr(stuck, "PAGE", 1)
        later = self.following(page_of(client, "/stuck/"))
        assert queries(1, later) == queries(50, later) < queries(50)


@pytest.mark.parametrize(("said", "told"), [("yes", "Somebody said yes"), ("no", "Nobody was asked yet")])
def test_an_answer_ends_the_question(
    kuro: Any, problem: Problem, alice: Any, as_person: Any, said: str, told: str
) -> None:
    client = as_person(alice)
    assert client.post(address(problem, "problem-answer"), {"answer": said}).status_code == 302
    page = page_of(client, address(problem))
    assert '<h2 id="ask">' not in page
    assert (told in page) == (said == "yes")
    row = ThinkTwice.objects.get()
    assert (row.answer, row.person, row.points) == (said, alice, 10)
    assert ThinkTwice.objects.exclude(suggested_at=None).count() == 1


def form_of(page: str) -> dict[str, str]:
    """Return the hidden fields of the question that a page shows."""
    return dict(re.findall(r'type="hidden" name="(asked)" value="(\d+)"', page))


@table("said", ["yes", "no"])
@table(
    ("first", "told"),
    [
        ("yes", "Somebody said yes first."),
        ("no", "Somebody said no first."),
        ("solved", "resolved meanwhile"),
    ],
    rolled_back=True,
)
def test_whoever_answers_second_is_told_what_stands_and_changes_nothing(
    kuro: Any, problem: Problem, alice: Any, bob: Any, as_person: Any, first: str, told: str, said: str
) -> None:
    shown = form_of(page_of(as_person(alice), address(problem)))
    assert shown
    if first == "solved":
        fail(kuro, "Fixed.", outcome="resolved", errors=[], approach=None)
    else:
        as_person(bob).post(address(problem, "problem-answer"), {"answer": first, **shown})
    answers = list(ThinkTwice.objects.values())
    page = as_person(alice).post(address(problem, "problem-answer"), {"answer": said, **shown}, follow=True)
    assert told in page.content.decode()
    assert list(ThinkTwice.objects.values()) == answers
    problem.refresh_from_db()
    assert bool(problem.state["invoke"]) == (first == "yes")


def test_a_yes_of_ones_own_stands_after_a_no(kuro: Any, problem: Problem, alice: Any, bob: Any, as_person: Any) -> None:
    as_person(bob).post(address(problem, "problem-answer"), {"answer": "no"})
    page = page_of(as_person(alice), address(problem))
    assert "Ask agent to think twice" in page
    as_person(alice).post(address(problem, "problem-answer"), {"answer": "yes", **form_of(page)})
    assert "Ask agent to think twice" not in page_of(as_person(alice), address(problem)), "until the agent was told"
    assert fail(kuro)["invoke"]
    assert "Ask agent to think twice" in page_of(as_person(alice), address(problem))


def test_a_question_of_what_is_switched_off_reaches_nobody_until_it_is_on_again(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    policy, client = Policy.objects.get(agent__name="kuro"), as_person(alice)
    note = "Stuck detection is off in this agent"
    assert note not in page_of(client, address(problem))
    agents.add_policy(policy.agent, alice, Policy(parts={"stuck": False}), based_on=policy.version)
    page = page_of(client, address(problem))
    assert note in page
    assert kuro.get("/context").json()["think_twice"] is None
    told = client.post(address(problem, "problem-answer"), {"answer": "yes", **form_of(page)}, follow=True)
    assert "The agent is told once stuck detection is on again." in told.content.decode()
    assert "with its next response" not in told.content.decode()
    assert kuro.respond(problem="bug-17", session="s1")["stuck"] is None
    agents.add_policy(policy.agent, alice, Policy(parts={"stuck": True}), based_on=policy.version + 1)
    assert kuro.get("/context").json()["think_twice"][0]["invoke"]
    assert fail(kuro)["invoke"]


def test_an_outcome_before_the_agent_was_told_ends_the_yes_and_says_so(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    client = as_person(alice)
    client.post(address(problem, "problem-answer"), {"answer": "yes"})
    assert "Has the agent thought twice already?" in page_of(client, address(problem))
    page = client.post(address(problem, "problem-outcome"), {"outcome": "helped"}, follow=True).content.decode()
    assert "The agent is not told again" in page
    assert not fail(kuro)["invoke"]
    page = client.post(address(problem, "problem-outcome"), {"outcome": "did-not-help"}, follow=True).content.decode()
    assert "not told of that yes" not in page


def test_what_came_of_it_is_counted(kuro: Any, problem: Problem, alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    client.post(address(problem, "problem-answer"), {"answer": "yes"})
    client.post(address(problem, "problem-outcome"), {"outcome": "helped"})
    page = page_of(client, "/stuck/")
    told = page.partition("/stuck/prob_")[2]
    assert "Answered by people<b>1</b>yes: 1 · no: 0" in told, "after what may wait for an answer"
    assert "It helped<b>1 of 1</b>too few outcomes" in told
    client.post(address(problem, "problem-resolve"))
    problem.refresh_from_db()
    assert (problem.points, problem.suggests) == (0, False)
    assert "resolved" in page_of(client, address(problem))


def test_what_agents_relay_is_counted_apart(kuro: Any, problem: Problem, alice: Any, as_person: Any) -> None:
    client = as_person(alice)
    kuro.post("/problems/bug-17/think-twice", {"answer": "yes"})
    kuro.post("/problems/bug-17/think-twice", {"outcome": "helped"})
    get_stuck(kuro, problem="bug-18")
    client.post(address(Problem.objects.get(key="bug-18"), "problem-answer"), {"answer": "no"})
    kuro.respond("Hm.", items=[], problem="bug-19", user_message="Think twice.")
    page = page_of(client, "/stuck/")
    assert "Suggestions to think twice<b>2</b>" in page
    assert "Answered by people<b>2</b>yes: 1 · no: 1" in page
    assert "It helped<b>–</b>no outcome yet" in page
    table = page.partition("Answered by</th>")[2].partition("</table>")[0]
    assert [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", table)] == [
        *("Person in the console", "0", "1", "no outcome yet"),
        *("Reported by the agent on behalf of a person", "1", "0", "1 of 1"),
        *("User, in a message", "1", "0", "no outcome yet"),
    ]


def test_what_agents_relay_suggests_no_threshold(problem: Problem, alice: Any, as_person: Any) -> None:
    for by in ["agent"] * 20 + ["person"]:
        problem.think_twice.create(points=8, answer="yes", by=by, answered_at=problem.touched_at, outcome="helped")
    assert "points up it helped" not in page_of(as_person(alice), "/stuck/")


def test_a_threshold_is_suggested_with_how_sure_it_is(problem: Problem, alice: Any, as_person: Any) -> None:
    for number in range(20):
        became = "helped" if number < 16 else "did-not-help"
        problem.think_twice.create(points=8, answer="yes", answered_at=problem.touched_at, outcome=became)
    page = " ".join(page_of(as_person(alice), "/stuck/").replace("\N{NO-BREAK SPACE}", " ").split())
    assert "It helped<b>80%</b>16 of 20 · 95% CI 58–92%" in page
    assert "From 8 points on, thinking twice helped in 16 of 20: 80% (95% CI 58–92%)." in page


def test_what_was_answered_leads_to_its_problem_once_that_is_solved(
    kuro: Any, problem: Problem, alice: Any, as_person: Any
) -> None:
    get_stuck(kuro, problem="bug-18")
    client = as_person(alice)
    assert "Latest answers" not in page_of(client, "/stuck/")
    client.post(address(problem, "problem-answer"), {"answer": "yes"})
    client.post(address(Problem.objects.get(key="bug-18"), "problem-answer"), {"answer": "no"})
    client.post(address(problem, "problem-resolve"))
    rows, answers = page_of(client, "/stuck/").split("Latest answers")
    assert "bug-17" not in rows
    assert re.findall(r'href="/stuck/prob_\w+/">([^<]+)<', answers) == ["bug-18", "bug-17"], "the last one first"
    assert (answers.count(str(alice)), answers.count("Not recorded yet")) == (2, 1), "a no has nothing to come of it"
    client.post(address(problem, "problem-outcome"), {"outcome": "helped"})
    assert "Not recorded yet" not in page_of(client, "/stuck/")


def test_an_outcome_without_a_yes_is_told(problem: Problem, alice: Any, as_person: Any) -> None:
    answer = as_person(alice).post(address(problem, "problem-outcome"), {"outcome": "helped"}, follow=True)
    assert "Nobody has said yes" in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "data"), [("problem-answer", {"answer": "perhaps"}), ("problem-outcome", {"outcome": "great"})]
)
def test_it_refuses_another_word(problem: Problem, alice: Any, as_person: Any, name: str, data: Any) -> None:
    assert as_person(alice).post(address(problem, name), data).status_code == 400
    assert not ThinkTwice.objects.exclude(answer="").exists()


@pytest.mark.parametrize(
    ("person", "reads", "answers"),
    [("mallory", 404, 404), ("victor", 200, 403), ("alice", 200, 302), ("olga", 200, 302)],
)
@pytest.mark.parametrize(
    ("name", "data"),
    [("problem-answer", {"answer": "yes"}), ("problem-outcome", {"outcome": "helped"}), ("problem-resolve", {})],
)
def test_it_answers_each_as_their_role_allows(
    request: pytest.FixtureRequest, problem: Problem, as_person: Any, person: str, reads: int, answers: int, name: str,
    data: Any,
) -> None:  # fmt: skip
    client = as_person(request.getfixturevalue(person))
    assert client.get(address(problem)).status_code == reads
    assert client.post(address(problem, name), data).status_code == answers
    assert ("bug-17" in page_of(client, "/stuck/")) == ((reads == 200 and name != "problem-resolve") or answers == 403)


def test_agents_text_is_only_text(kuro: Any, alice: Any, as_person: Any) -> None:
    for _ in range(3):
        fail(kuro, problem="<b>bug</b>\u202e", errors=["<script>x</script>\u202e"])
    problem = Problem.objects.get()
    for path in ("/stuck/", address(problem)):
        page = as_person(alice).get(path).content.decode()
        assert "<script>x" not in page
        assert "<b>bug" not in page
        assert "\u202e" not in page


def test_pages_cost_the_same_number_of_queries_however_much_there_is(
    kuro: Any, problem: Problem, alice: Any, as_person: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(alice)
    client.get("/stuck/")
    for number in range(6):
        get_stuck(kuro, problem=f"bug-{number}")
    for each in Problem.objects.all():
        client.post(address(each, "problem-answer"), {"answer": "yes"})
    with django_assert_max_num_queries(10):
        client.get("/stuck/")
    with django_assert_max_num_queries(12):
        client.get(address(problem))


def test_the_item_and_its_response_tell_the_other_parts(kuro: Any, alice: Any, as_person: Any) -> None:
    held = kuro.hold(
        response="The cause is clearly the cache. I'm not sure why.", problem="bug-17",
        user_message="Is it fixed? 什麼時候會好？", retrieval={"scores": [0.9]},
    )  # fmt: skip
    client = as_person(alice)
    response = Problem.objects.get().responses.get()
    for path in (reverse("item", args=[held]), reverse("response", args=[response.public_id])):
        page = page_of(client, path)
        for part in (
            "Other checks", "Does not know why", "2 points; suggestion from 7", "medium", "/stuck/prob_",
        ):  # fmt: skip
            assert part in page
