"""The pages about patterns: lists with records, one pattern, its steps, its drafts, and what it would have done."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import agents
from metacog.models import Agent, AuditEvent, Policy
from patterns.models import ErrorPattern
from patterns.patterns import lifecycle
from patterns.patterns.lifecycle import digest
from reviews.held import decisions
from reviews.learning import backtest as backtests
from reviews.learning import sweep, trials
from reviews.learning.backtest import backtest
from reviews.learning.extract import PatternProposal
from reviews.models import AgentResponse, HeldItem, PatternOrigin, ProposalEvidence
from reviews.pages.knowledge import patterns
from tests.tables import table

SAID = "The cause is clearly the cache. Your refund will arrive in 30 days."
PHRASE = "refund will arrive in 30 days"


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


def page_of(client: Any, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return words(answer)


def address(pattern: ErrorPattern, name: str = "pattern") -> str:
    return reverse(name, args=[pattern.pk])


def make(team: Any, state: str = "proposed", keywords: list[str] | None = None, **given: Any) -> ErrorPattern:
    return ErrorPattern.objects.create(
        team=team, keywords=keywords or [PHRASE], description=given.pop("description", "14 days"), state=state, **given
    )


@pytest.fixture
def history(hold: Any, kuro: Any, alice: Any) -> None:
    """Three refunds that were held and rejected, edited and approved; one that waits; and one that passed."""
    for verdict, given in (("reject", {"reason": "x"}), ("edit", {"edit": "y", "accept_risk": True}), ("approve", {})):
        decisions.decide(hold(f"{SAID} {verdict}"), alice, verdict, **given)
    hold(f"{SAID} open")
    kuro.respond("Your refund will arrive in 30 days, all the same.")


class TestBacktest:
    def test_it_joins_what_would_have_been_held_to_what_people_decided(self, history: None, aurora: Any) -> None:
        found = backtest(aurora, [PHRASE, "all the same"])
        assert (found.responses, found.total, found.fired, found.held, found.marked) == (17, 17, 5, 5, 0)
        assert found.outcomes == {"rejected": 1, "edited": 1, "approved": 1, "unseen": 1, "unheld": 1}
        assert [example.outcome for example in found.examples] == ["unheld", "unseen", "approved", "edited", "rejected"]
        assert found.keywords == {PHRASE: 5}
        assert found.fires_too_often

    def test_what_is_erased_while_it_reads_is_left_out(self, history: None, aurora: Any, monkeypatch: Any) -> None:
        def late(most: int, keys: Any) -> Any:
            found = nlargest(most, keys)
            AgentResponse.objects.filter(pk=found[0][1]).update(body="", erased_at=timezone.now())
            return found

        all_of_it = backtest(aurora, [PHRASE]).responses
        monkeypatch.setattr("reviews.learning.backtest.heapq.nlargest", late)
        assert backtest(aurora, [PHRASE]).responses == all_of_it - 1

    def test_it_counts_under_each_agents_policy(self, history: None, aurora: Any, olga: Any) -> None:
        agents.add_policy(Agent.objects.get(), olga, Policy(hold_at=40), based_on=1)
        found = backtest(aurora, [PHRASE])
        assert (found.fired, found.held, found.marked) == (5, 4, 1)  # with "clearly" it has 50 points, alone 30

    def test_it_knows_what_the_agent_was_told(self, kuro: Any, aurora: Any, olga: Any) -> None:
        agents.add_policy(Agent.objects.get(), olga, Policy(profile="aware", hold_at=40), based_on=1)
        for message in ("Is it 4500 rows?", "How many rows?"):
            kuro.respond(f"{PHRASE}: 4,500 rows", user_message=message)
        found = backtest(aurora, [PHRASE])
        assert (found.fired, found.held, found.marked) == (2, 1, 1)  # without a source it has 40 points, else 30

    def test_an_agents_own_decision_is_no_persons(self, hold: Any, aurora: Any) -> None:
        held = hold(SAID)
        decisions.decide(held, held.agent, "reject", reason="x")
        assert backtest(aurora, [PHRASE]).outcomes == {"unseen": 1}

    @table(("fired", "too_often"), [(1, False), (2, True)], rolled_back=True)
    def test_it_warns_above_five_percent(self, kuro: Any, aurora: Any, fired: int, too_often: bool) -> None:
        for number in range(20):
            kuro.respond(PHRASE if number < fired else f"Done, step {number}.", items=[])
        assert backtest(aurora, [PHRASE]).fires_too_often == too_often

    def test_it_leaves_out_what_is_old_erased_another_teams_or_unscored(
        self, kuro: Any, other: Any, aurora: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(3):
            kuro.respond(PHRASE, items=[])
        other.respond(PHRASE, items=[])
        first, second, _third, _theirs = AgentResponse.objects.order_by("pk")
        AgentResponse.objects.filter(pk=first.pk).update(received_at=timezone.now() - timedelta(days=31))
        AgentResponse.objects.filter(pk=second.pk).update(erased_at=timezone.now(), body="")
        assert backtest(aurora, [PHRASE]).fired == 1
        kuro.respond("later", items=[])
        monkeypatch.setattr(backtests, "MOST", 1)
        found = backtest(aurora, [PHRASE])
        assert (found.fired, found.responses, found.total) == (0, 1, 2)
        Agent.objects.update(hesitation_enabled=False)
        assert backtest(aurora, [PHRASE]).total == 0


class TestLists:
    def test_each_state_has_its_tab_with_its_count(self, aurora: Any, victor: Any, as_person: Any) -> None:
        for state, text in (("proposed", "P one"), ("shadow", "S one"), ("retired", "R one")):
            make(aurora, state, description=text, dismissed_because="too common" if state == "retired" else "")
        client = as_person(victor)
        page = page_of(client, "/patterns/")
        assert re.findall(r"(\w+)<span class=\"n\">(\d+)", page) == [
            ("Proposed", "1"), ("Shadow", "1"), ("Active", "1"), ("Retired", "1"),
        ]  # fmt: skip
        assert "P one" in page
        assert "S one" not in page
        assert "S one" in page_of(client, "/patterns/?state=shadow")
        assert "Dismissed: too common" in page_of(client, "/patterns/?state=retired")

    def test_a_row_has_the_record(self, history: None, victor: Any, as_person: Any) -> None:
        sweep.learn()
        page = page_of(as_person(victor), "/patterns/?state=active")
        assert "4 of 17" in page
        assert "23.5%" in page.replace("\xa0", " ")
        assert "1 of 3 decisions: too few to tell" in page

    @table("query", ["退款", "30 DAYS", "fourteen", 'with "quotes"'], rolled_back=True)
    def test_it_is_searched_in_keywords_and_description(
        self, aurora: Any, victor: Any, as_person: Any, query: str
    ) -> None:
        make(
            aurora, keywords=["退款需要三十天", "in 30 days", 'a word with "quotes"'], description="It takes fourteen."
        )
        make(aurora, keywords=["of another kind"], description="nothing like it")
        page = words(as_person(victor).get("/patterns/", {"q": query}))
        assert "It takes fourteen." in page
        assert "nothing like it" not in page
        assert "No matching pattern" in words(as_person(victor).get("/patterns/", {"q": "%"}))

    def test_many_are_listed_page_by_page(
        self, aurora: Any, victor: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(patterns, "PAGE", 2)
        for number in range(3):
            make(aurora, keywords=[f"phrase {number}"], description=f"number {number}")
        client = as_person(victor)
        page = page_of(client, "/patterns/")
        assert ["number 0" in page, "number 2" in page] == [False, True]
        (following,) = re.findall(r'href="(\?[^"]*after=[\d.]+)"', page)
        assert "number 0" in page_of(client, f"/patterns/{following}")

    def test_proposals_stand_in_order_of_their_evidence(
        self, aurora: Any, victor: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(patterns, "PAGE", 2)
        for name, sure, fires, rejected in (("best", 439, 3, 3), ("worst", 0, 0, 0), ("middling", 200, 10, 4)):
            fired = {"texts": 40, "fires": fires, "rejected": rejected, "sure": sure}
            pattern = make(aurora, keywords=[f"a {name} phrase"], description=name)
            ProposalEvidence.objects.create(pattern=pattern, keywords_sha256=digest(pattern.keywords), **fired)
        edited = make(aurora, keywords=["another phrase"], description="edited since")
        ProposalEvidence.objects.create(pattern=edited, keywords_sha256="x", texts=40, fires=9, rejected=9, sure=0)
        make(aurora, keywords=["one more phrase"], description="uncounted")
        client = as_person(victor)
        first = page_of(client, "/patterns/").replace("\xa0", " ")
        assert re.findall(r">(best|worst|middling|edited since|uncounted)<", first) == ["best", "middling"]
        assert re.findall(r"(\d+ of \d+) rejected", first) == ["3 of 3", "4 of 10"]
        assert [shown in first for shown in ("100%</b>", "95% CI 44–100%", "95% CI 17–69%")] == [True] * 3
        (following,) = re.findall(r'href="(\?[^"]*after=[\d.]+)"', first)
        second = page_of(client, f"/patterns/{following}")
        assert re.findall(r">(best|worst|middling|edited since|uncounted)<", second) == ["edited since", "worst"]
        assert "9 of 9" not in second, "that was of other keywords"
        assert "Not counted yet" in second
        (last,) = re.findall(r'href="(\?[^"]*after=[\d.]+)"', second)
        assert "uncounted<" in page_of(client, f"/patterns/{last}")


class TestManyAtOnce:
    def post(self, client: Any, *chosen: ErrorPattern, step: str = "try", **given: str) -> str:
        data = {"pk": [each.pk for each in chosen], "step": step} | given
        return words(client.post(reverse("patterns-decide"), data, follow=True))

    def test_what_was_decided_meanwhile_is_left_and_told(self, aurora: Any, carla: Any, as_person: Any) -> None:
        first, second, third = (make(aurora, keywords=[f"phrase {number}"]) for number in range(3))
        lifecycle.take_step(third, "dismiss", carla, because="no")
        page = self.post(as_person(carla), first, second, third)
        assert "2 proposals are in shadow now." in page
        assert "1 was decided before and stays unchanged." in page
        assert set(ErrorPattern.objects.filter(state="shadow")) == {first, second}
        assert AuditEvent.objects.filter(action="pattern-tried", actor="carla").count() == 2

    def test_what_was_searched_for_stays(self, aurora: Any, carla: Any, as_person: Any) -> None:
        first, _second = (
            make(aurora, keywords=["one phrase"], description="one of two"),
            make(aurora, keywords=["two phrases"], description="two of two"),
        )
        page = self.post(as_person(carla), first, q="two of")
        assert "two of two" in page
        assert 'value="two of"' in page

    def test_dismissing_wants_a_reason(self, aurora: Any, carla: Any, as_person: Any) -> None:
        first, second = make(aurora), make(aurora)
        client = as_person(carla)
        assert "Give a reason for the dismissal" in self.post(client, first, second, step="dismiss")
        said = " too com\0mon"  # which PostgreSQL would not take
        assert "2 proposals were dismissed." in self.post(client, first, second, step="dismiss", because=said)
        first.refresh_from_db()
        assert (first.state, first.dismissed_because) == ("retired", "too common")

    def test_other_steps_and_other_teams_patterns_are_not_taken(
        self, aurora: Any, borealis: Any, carla: Any, as_person: Any
    ) -> None:
        client, theirs = as_person(carla), make(borealis)
        answer = client.post(reverse("patterns-decide"), {"pk": [theirs.pk], "step": "activate"})
        assert answer.status_code == 400
        data = {"pk": [theirs.pk], "step": "dismiss"}
        answer = client.post(reverse("patterns-decide"), data, follow=True)
        assert '<div class="message warning">Select some proposals first.' in answer.text
        theirs.refresh_from_db()
        assert theirs.state == "proposed"


class TestOnePattern:
    def test_it_shows_what_taught_it_and_what_became_of_it(
        self, hold: Any, kuro: Any, alice: Any, victor: Any, as_person: Any
    ) -> None:
        held = hold(SAID)
        decisions.decide(held, alice, "reject", reason="Refunds arrive in 14 days")
        sweep.learn()
        pattern = ErrorPattern.objects.get(public_id="ep-cache")
        page = page_of(as_person(victor), address(pattern))
        for part in ("cause named before it was measured", "1 of 4", "Held items", "CHAT Rejected", "1 time"):
            assert part in page
        assert reverse("item", args=[held.public_id]) in page
        assert "Activate" not in page
        proposed = make(held.team, keywords=["seven weeks"])
        sweep.propose(held.team, PatternProposal(
            keywords=["seven weeks"], description="d", source="alex-correction", kind="rejection",
            row="dec_x", held=held, said="in 30 days", told="in 14 days",
        ))  # fmt: skip
        page = page_of(as_person(victor), address(proposed))
        told = ("A person's decision", "Said</span> in 30 days", "Correction</span> in 14 days", "No stats yet")
        for part in told:
            assert part in page
        ProposalEvidence.objects.create(
            pattern=proposed,
            keywords_sha256=digest(proposed.keywords),
            texts=40,
            fires=10,
            rejected=4,
            base=13,
            sure=168,
        )
        page = page_of(as_person(victor), address(proposed)).replace("\xa0", " ")
        assert "10 of 40 decided texts that the proposal was not made from" in page
        for part in ("95% CI 17–69%", "4 of 10 rejected", "Base rate 30% (9 of 30)", "Not clearly above"):
            assert part in page

    @table(
        ("state", "offered"),
        [
            ("proposed", ["try", "activate", "dismiss"]), ("shadow", ["activate", "retire"]), ("active", ["retire"]),
            ("retired", ["reopen"]),
        ],
        rolled_back=True,
    )  # fmt: skip
    def test_it_offers_what_is_possible(
        self, aurora: Any, carla: Any, as_person: Any, state: str, offered: list[str]
    ) -> None:
        page = page_of(as_person(carla), address(make(aurora, state)))
        assert re.findall(r'class="btn[^"]*" name="step" value="(\w+)"', page) == offered
        assert ("A pattern in shadow collects stats and holds nothing." in page) == ("activate" in offered)

    def test_making_it_active_shows_first_what_it_would_have_done(
        self, history: None, kuro: Any, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        pattern, client = make(aurora, "shadow"), as_person(carla)
        page = words(client.post(address(pattern, "pattern-step"), {"step": "activate"}))
        assert "In the last 30 days it would have held 1 more item, 5 with those held anyway: 1 rejected, 1" in page
        assert "It fires on more than 5%" in page
        assert "Nothing has changed yet" in page
        assert "Nothing has changed yet" not in page_of(client, f"{address(pattern)}?tried=1"), "nobody took a step"
        pattern.refresh_from_db()
        assert pattern.state == "shadow"
        (seen,) = set(re.findall(r'name="seen" value="(\w+)"', page))
        assert client.post(address(pattern, "pattern-step"), {"step": "activate", "seen": seen}).status_code == 302
        assert kuro.respond(f"A {PHRASE}.")["hesitation"]["matched_pattern_ids"] == [pattern.public_id]

    def test_a_step_that_is_not_possible_is_told(self, aurora: Any, carla: Any, as_person: Any) -> None:
        answer = as_person(carla).post(address(make(aurora, "retired"), "pattern-step"), {"step": "retire"})
        assert answer.status_code == 409
        assert "Only a pattern in shadow or an active one can be retired." in words(answer)

    def test_a_draft_of_an_active_one_is_saved_as_it_was_shown(
        self, history: None, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        pattern, client = make(aurora, "active"), as_person(carla)
        draft = {"keywords": "arrive in 30 days\r\n", "description": "14 days", "source": "external", "do": "save"}
        page = words(client.post(address(pattern, "pattern-edit"), draft))
        assert "These are the keywords of your draft. Nothing is saved yet." in page
        assert "arrive in 30 days </textarea>" in page
        seen = digest(["arrive in 30 days"])
        assert f'name="seen" value="{seen}"' in page
        assert client.post(address(pattern, "pattern-edit"), draft | {"seen": seen}).status_code == 302
        pattern.refresh_from_db()
        assert pattern.keywords == ["arrive in 30 days"]

    def test_a_draft_can_be_tried_before_it_is_saved(
        self, history: None, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        pattern = make(aurora)
        draft = {"keywords": "all the same", "description": "14 days", "source": "external", "do": "try"}
        page = words(as_person(carla).post(address(pattern, "pattern-edit"), draft))
        assert (
            "it would have held 1 more item, 1 with those held anyway: 0 rejected, 0 approved with edits, 0 approved."
            in page
        )
        pattern.refresh_from_db()
        assert pattern.keywords == [PHRASE]

    def test_a_row_says_first_how_many_more_it_would_have_held(
        self, history: None, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        make(aurora)
        assert trials.try_due(timezone.now()) == 1
        row = " ".join(re.sub(r"<[^>]+>", " ", words(as_person(carla).get("/patterns/"))).split())
        assert "1 more item held 5 with those held anyway 1 rejected, 1 approved with edits, 1 approved" in row

    @table(
        ("changed", "said"),
        [({"keywords": ""}, "at least one keyword"), ({"keywords": "x"}, "is too short"),
         ({"description": ""}, "This field is required."), ({"source": "oracle"}, "Select a valid choice")],
        rolled_back=True,
    )  # fmt: skip
    def test_what_cannot_be_saved_is_told_beside_what_was_typed(
        self, aurora: Any, carla: Any, as_person: Any, changed: dict[str, str], said: str
    ) -> None:
        data = {"keywords": "typed here", "description": "typed there", "source": "external", "do": "save"} | changed
        answer = as_person(carla).post(address(make(aurora), "pattern-edit"), data)
        assert answer.status_code == 422
        assert said in words(answer)
        assert "typed" in words(answer)

    def test_htmx_gets_the_pattern_alone(self, aurora: Any, carla: Any, as_person: Any) -> None:
        answer = as_person(carla).post(
            address(make(aurora), "pattern-step"), {"step": "try"}, headers={"hx-request": "true"}
        )
        assert answer.content.decode().lstrip().startswith('<div id="pattern">')
        assert "Saved." in words(answer)


class TestWritingDown:
    def test_a_rejection_fills_the_form_and_teaches_the_pattern(
        self, hold: Any, aurora: Any, carla: Any, as_person: Any
    ) -> None:
        held = hold("Refunds arrive in 30 days. So it is, clearly, with the cache.")
        decision, _ = decisions.decide(held, carla, "reject", reason="Refunds arrive in 14 days")
        client = as_person(carla)
        client.cookies["done"] = decision.public_id  # as of who decides in this browser
        link = f"/patterns/new?decision={decision.public_id}"
        assert link in page_of(client, "/queue/")
        page = page_of(client, link)
        keyword = re.search(r"<textarea name=\"keywords\"[^>]*> ?([^<]*)<", page)
        assert keyword
        assert keyword[1]
        assert keyword[1] in held.text
        data = {"team": aurora.pk, "keywords": "in 30 days", "description": "d", "source": "alex-correction"}
        answer = client.post(link, data)
        pattern = ErrorPattern.objects.get(state="proposed")
        assert answer.url == address(pattern) + "?tried=1"
        origin = PatternOrigin.objects.get()
        assert (origin.pattern, origin.row, origin.held) == (pattern, decision.public_id, held)
        assert origin.evidence == {"said": "Refunds arrive in 30 days.", "told": "Refunds arrive in 14 days"}
        sweep.learn()
        assert PatternOrigin.objects.count() == 1
        assert client.get(link).url == address(pattern)

    @table(
        ("reason", "said", "proposed"),
        [
            ("Tone", f"It rains today. {SAID}", "cause is clearly"),  # of the sentence in which signals fired
            ("Wrong", "The cache is small. 這一點毫無疑問是快取造成的。", "這一點毫無疑問"),
            ("No evidence: 30 days, says who?", SAID, "arrive in 30 days"),  # of the one that the reason speaks of
            ("Not now", "It rains on the cache", "rains on the cache"),  # of the only one
        ],
        rolled_back=True,
    )
    def test_keywords_are_proposed_whatever_the_reason(
        self, hold: Any, carla: Any, as_person: Any, reason: str, said: str, proposed: str
    ) -> None:
        decision, _ = decisions.decide(hold(said), carla, "reject", reason=reason)
        page = page_of(as_person(carla), f"/patterns/new?decision={decision.public_id}")
        assert "Proposed keywords" in page
        assert re.findall(r"<textarea name=\"keywords\"[^>]* required [^>]*> ?([^<]*)</textarea>", page) == [proposed]

    @pytest.mark.parametrize("said", ["It is the cache. It is Sunday.", "The cache."])
    def test_none_are_proposed_where_nothing_is_to_be_recognised(
        self, hold: Any, carla: Any, as_person: Any, said: str
    ) -> None:
        decision, _ = decisions.decide(hold(said), carla, "reject", reason="Tone")
        page = page_of(as_person(carla), f"/patterns/new?decision={decision.public_id}")
        assert "Proposed keywords" not in page
        assert re.findall(r"<textarea name=\"keywords\"[^>]*> ?([^<]*)</textarea>", page) == [""]

    def test_what_a_viewer_and_reviewer_rejects_is_not_offered(self, hold: Any, alice: Any, as_person: Any) -> None:
        decisions.decide(hold(SAID), alice, "reject", reason="x")
        assert "Make a pattern of it" not in page_of(as_person(alice), "/queue/")

    def test_it_is_refused_with_what_is_wrong(self, aurora: Any, carla: Any, as_person: Any) -> None:
        answer = as_person(carla).post("/patterns/new", {"team": aurora.pk, "keywords": "x", "source": "external"})
        assert answer.status_code == 422
        assert "is too short" in words(answer)


def test_a_keyword_that_another_pattern_has_is_told(aurora: Any, borealis: Any, carla: Any, as_person: Any) -> None:
    make(aurora, "active", ["Die Ursache", "變慢的原因"], description="the older one")
    make(borealis, "active", ["變慢的原因"], description="of another team")
    younger, longer = make(aurora, keywords=["變慢的原因"]), make(aurora, keywords=["變慢的原因是"])
    page = page_of(as_person(carla), address(younger))
    assert "only the oldest fires" in page
    assert "the older one</a> · Active" in page
    assert "of another team" not in page
    assert "only the oldest fires" not in page_of(as_person(carla), address(longer))
    draft = {"keywords": "die ursache", "description": "d", "source": "external", "do": "try"}
    answer = as_person(carla).post(address(longer, "pattern-edit"), draft)
    assert "the older one</a> · Active" in words(answer)


def test_the_item_and_its_response_lead_to_the_pattern(hold: Any, alice: Any, as_person: Any) -> None:
    held = hold(SAID)
    decisions.decide(held, alice, "reject", reason="x")
    sweep.learn()
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    for path in (reverse("item", args=[held.public_id]), reverse("response", args=[held.response.public_id])):
        page = page_of(as_person(alice), path)
        assert address(pattern) in page
        assert "fired 1 time, 1 of 1 decided were rejected" in page


@pytest.mark.parametrize(
    ("person", "reads", "changes"),
    [("mallory", 404, 404), ("victor", 200, 403), ("alice", 200, 403), ("carla", 200, 302), ("olga", 200, 302)],
)
def test_it_answers_each_as_their_role_allows(
    request: pytest.FixtureRequest, aurora: Any, kuro: Any, as_person: Any, person: str, reads: int, changes: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    pattern = make(aurora, description="ours alone")
    assert ("ours alone" in page_of(client, "/patterns/")) == (reads == 200)
    assert client.get(address(pattern)).status_code == reads
    data = {"keywords": "any phrase", "description": "d", "source": "external", "do": "save"}
    assert client.post(address(pattern, "pattern-edit"), data).status_code == changes
    assert client.post(address(pattern, "pattern-step"), {"step": "try"}).status_code == changes
    if person == "mallory":
        return
    assert client.get("/patterns/new").status_code == {403: 403, 302: 200}[changes]
    assert client.post("/patterns/new", data | {"team": aurora.pk}).status_code == changes
    assert client.post(reverse("patterns-decide"), {"step": "try", "pk": [pattern.pk]}).status_code == changes
    assert ErrorPattern.objects.filter(state="shadow").exists() == (changes == 302)


def test_another_teams_decision_fills_no_form(mallory: Any, hold: Any, carla: Any, as_person: Any) -> None:
    decision, _ = decisions.decide(hold(SAID), carla, "reject", reason="x")
    assert as_person(mallory).get(f"/patterns/new?decision={decision.public_id}").status_code == 404


def test_texts_are_only_text(hold: Any, aurora: Any, carla: Any, as_person: Any) -> None:
    text = "<script>x</script>\u202e of the cache"
    held = hold(text)
    decision, _ = decisions.decide(held, carla, "reject", reason=text)
    pattern = make(aurora, keywords=[text], description=text, dismissed_because=text)
    sweep.propose(aurora, PatternProposal(
        keywords=[text], description=text, source="external", kind="memory", row="mem_1", said=text, told=text,
    ))  # fmt: skip
    client = as_person(carla)
    for path in ("/patterns/", address(pattern), f"{address(pattern)}?tried=1", "/patterns/?state=retired",
                 f"/patterns/new?decision={decision.public_id}"):  # fmt: skip
        page = client.get(path).content.decode()
        assert "<script>x" not in page
        assert "\u202e" not in page.split("<textarea")[0]


def test_pages_cost_the_same_number_of_queries_however_much_there_is(
    history: None, aurora: Any, carla: Any, hold: Any, as_person: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(carla)
    for number in range(6):
        make(aurora, "shadow", description=f"d {number}")
        fired = {"texts": 9, "fires": 3, "rejected": number // 2, "sure": number}
        proposed = make(aurora, keywords=[f"phrase {number}"], description=f"p {number}")
        ProposalEvidence.objects.create(pattern=proposed, keywords_sha256=digest(proposed.keywords), **fired)
        hold(f"{SAID} {number}")
    pattern = ErrorPattern.objects.get(public_id="ep-cache")
    sweep.learn()
    for row in range(6):
        PatternOrigin.objects.create(pattern=pattern, kind="rejection", row=f"dec_{row}", held=HeldItem.objects.first())
    client.get("/patterns/")
    for state in ("shadow", "proposed"):
        with django_assert_max_num_queries(14):
            assert client.get(f"/patterns/?state={state}").status_code == 200
    with django_assert_max_num_queries(14):
        client.get(address(pattern))
    with django_assert_max_num_queries(22):
        client.get(f"{address(pattern)}?tried=1")


def test_an_imported_time_at_the_end_of_all_years_is_shown(aurora: Any, carla: Any, as_person: Any) -> None:
    carla.time_zone = "Asia/Taipei"  # where the year 10,000 has begun
    carla.save()
    late = make(aurora, created_at=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    for address_of in ("/patterns/", address(late)):
        assert "9999-12-31T23:59:59" in page_of(as_person(carla), address_of)
