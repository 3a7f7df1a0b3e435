"""An agent's policy page: a draft, what it would have done, versions and the way back."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.heuristics.signals import WEIGHTS
from metacog.models import Agent, AuditEvent, Policy
from patterns.models import ErrorPattern
from reviews.models import AgentResponse, HeldItem
from tests.conftest import HELD, Caller
from tests.tables import table

DRAFT = {
    "threshold": "20", "hold_at": "40", "review_seconds": "60", "expiry_seconds": "3600", "rate_per_second": "20",
    "rate_burst": "200", "max_active_threads": "3", "note": "too quiet", "based_on": "1", "profile": "seed",
    "budget_calls": "5", "budget_extension": "3", "budget_wait_seconds": "3600", "remember_into_memory": "on",
    "stuck_threshold": "7", "accept_relayed_yes": "on", "part_quality": "on", "part_confidence": "on",
    "part_stuck": "on", "forbidden": "",
    "quality_responsiveness": "0.0", "quality_completeness": "0.0", "quality_consistency": "0.75",
    "quality_length": "0.4", "quality_repetition": "0.4", "quality_pass_at": "0.7", "quality_low_at": "0.5",
    "stuck_repeated-approach": "3", "stuck_circular-reasoning": "3", "stuck_error-loop": "3", "stuck_exhaustion": "3",
    "stuck_uncertainty": "2", "stuck_scope-creep": "2", "stuck_stale-context": "2", "stuck_no-commits": "0",
    "stuck_test-regression": "0",
    **{f"weight_{name.replace('-', '_')}": str(weight) for name, weight in WEIGHTS.items()},
    "weight_absolute_claim": "45", "weight_overconfidence": "0",
    "release_chat": "person", "release_task": "agent", "release_remember": "person",
    "mark_chat": "(look again, {score})", "mark_task": "", "mark_remember": "",
}  # fmt: skip


class Desk:
    """The page as somebody uses it."""

    def __init__(self, client: Any, caller: Caller) -> None:
        self.client, self.address = client, reverse("policy", args=[caller.id])

    def get(self, query: str = "") -> str:
        answer = self.client.get(self.address + query)
        assert answer.status_code == 200
        return html.unescape(answer.content.decode())

    def try_out(self, **changed: str) -> Any:
        return self.client.post(self.address, DRAFT | changed)

    def save(self, **changed: str) -> Any:
        """Save a draft as its preview was shown."""
        shown = self.try_out(**changed).content.decode()
        seen = re.search(r'name="seen" value="(\w+)"', shown)
        return self.client.post(self.address, DRAFT | changed | {"do": "save", "seen": seen[1] if seen else ""})


@pytest.fixture
def desk(olga: Any, kuro: Any, as_person: Any) -> Desk:
    return Desk(as_person(olga), kuro)


def rows(page: str) -> dict[str, list[str]]:
    """Return the comparison's lines: policy in force, draft, change."""
    found = re.findall(r'<th scope="row">([^<]+)</th>(.*?)</tr>', page, re.S)
    return {name: re.findall(r">([^<>]+)</", cells) for name, cells in found}


class TestDrafting:
    def test_it_starts_from_the_version_in_force(self, desk: Desk) -> None:
        assert desk.save().status_code == 302
        page = desk.get()
        for part in ('name="threshold" value="20"', 'name="weight_absolute_claim" value="45"', "(look again, {score})"):
            assert part in page
        assert 'name="based_on" value="2"' in page
        assert 'name="note" value' not in page  # the old reason is not the new one's

    def test_what_is_used_daily_comes_first_and_the_rest_is_folded(self, desk: Desk) -> None:
        page = desk.get()
        jumps = re.findall(r'<li><a href="#([a-z]+)">', page.partition('class="jumps"')[2].partition("</nav>")[0])
        assert jumps[:6] == ["thresholds", "release", "rules", "times", "budget", "weights"]
        form = page.partition('id="draft"')[2].partition("</form>")[0]
        places = [form.index(f'id="{each}"') for each in jumps[:-2]]
        assert places == sorted(places)
        assert form.count('<details class="fold">') == 8
        drafted = desk.get("?max_active_threads=9")
        assert drafted.count('<details class="fold" open>') == 1, "what a draft changes is in sight"

    def test_trying_out_changes_nothing(self, desk: Desk, kuro: Any) -> None:
        assert desk.try_out().status_code == 200
        assert Policy.objects.count() == 1
        assert kuro.respond("Clearly.")["policy"] == 1

    def test_who_may_say_yes_to_thinking_twice_is_a_switch(self, desk: Desk, kuro: Any) -> None:
        from tests.patterns.api.test_problems import get_stuck

        get_stuck(kuro)
        answers = [kuro.post("/problems/bug-17/think-twice", {"answer": "yes"}).status_code]
        assert desk.save(accept_relayed_yes="").status_code == 302
        assert "Accept a yes to “Think twice” relayed by the agent" in desk.get().partition('id="versions"')[2]
        assert "from people only" in html.unescape(desk.client.get(f"/agents/{kuro.id}/").content.decode())
        answers.append(kuro.post("/problems/bug-17/think-twice", {"answer": "yes"}).status_code)
        desk.save(based_on="2")
        answers.append(kuro.post("/problems/bug-17/think-twice", {"answer": "yes"}).status_code)
        assert answers == [200, 403, 200]

    def test_a_draft_is_an_address(self, desk: Desk) -> None:
        page = desk.get("?threshold=35&weight_no_hedge=25&based_on=9&nonsense=1")
        assert 'name="threshold" value="35"' in page
        assert 'name="weight_no_hedge" value="25"' in page
        assert 'name="based_on" value="1"' in page
        assert Policy.objects.count() == 1

    def test_a_page_that_has_htmx_gets_the_preview_alone(self, desk: Desk) -> None:
        answer = desk.client.post(desk.address, DRAFT, headers={"hx-request": "true"})
        assert answer.status_code == 200
        assert "<html" not in answer.content.decode()
        assert "Marks from" in answer.content.decode()

    @table(
        ("changed", "said"),
        [
            ({"hold_at": "10"}, "Holding cannot start below the marking threshold"),
            ({"threshold": "102", "hold_at": "102"}, "Enter a number of at most 101"),
            ({"review_seconds": "31536001"}, "At most 365 days"),
            ({"expiry_seconds": "400 days"}, "At most 365 days"),
            ({"weight_no_hedge": "-1"}, "Enter a number of at least 0"),
            ({"release_chat": "nobody"}, "Select a valid choice"),
            ({"mark_chat": "x" * 501}, "at most 500 characters"),
            ({"based_on": ""}, "required"),
            ({"quality_pass_at": "0.4"}, "“Low below” must be lower than “Passes from”"),
            ({"quality_length": "1.1"}, "Enter a number of at most 1"),
            ({"stuck_exhaustion": "101"}, "Enter a number of at most 100"),
            ({"profile": "wise"}, "Select a valid choice"),
            ({"stuck_threshold": "0"}, "Enter a number of at least 1"),
            ({"rate_per_second": "0"}, "Enter a number of at least 1"),
            ({"max_active_threads": "101"}, "Enter a number of at most 100"),
            ({"forbidden": "x" * 201}, "at most 200 characters"),
            ({"threshold": "many"}, "whole number"),
            ({"quality_hedge_prefix": "x" * 201}, "at most 200 characters"),
            ({"quality_en_min": "-1"}, "Enter a number of at least 0"),
            ({"quality_en_max": "0"}, "Enter a number of at least 1"),
            ({"quality_zh_max": "1048577"}, "Enter a number of at most 1048576"),
            ({"quality_en_min": "12001"}, "The minimum must not exceed the maximum"),
            ({"quality_zh_min": "9", "quality_zh_max": "8"}, "The minimum must not exceed the maximum"),
            ({"quality_recent_window": "21"}, "Enter a number of at most 20"),
            ({"quality_recent_window": "1.5"}, "whole number"),
            ({"stuck_repeats": "1"}, "Enter a number of at least 2"),
            ({"stuck_context_limit": "1.1"}, "Enter a number of at most 1"),
            ({"stuck_idle_minutes": "0"}, "At least 1 min"),
            ({"quality_similar_at": "0"}, "At 0, every text counts as a repetition"),
            ({"quality_similar_at": "1.01"}, "Enter a number of at most 1"),
        ],
        rolled_back=True,
    )
    def test_it_says_what_is_wrong(self, desk: Desk, changed: dict[str, str], said: str) -> None:
        answer = desk.try_out(do="save", **changed)
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not re.search(r"<li>\s*/\w+: ", answer.content.decode()), "once, and not in the wire's words"
        assert Policy.objects.count() == 1

    def test_a_preview_says_the_same(self, desk: Desk) -> None:
        for changed in ({"hold_at": "10"}, {"threshold": "many"}, {"quality_similar_at": "0"}):
            previewed, saved = (desk.try_out(do=do, **changed) for do in ("preview", "save"))
            assert previewed.status_code == saved.status_code == 422
            said = [re.findall(r'<ul class="errorlist.*?</ul>', each.content.decode()) for each in (previewed, saved)]
            assert said[0] == said[1] != []


class TestSaving:
    def test_it_makes_the_next_version_and_puts_it_in_force(self, desk: Desk, olga: Any, kuro: Any) -> None:
        answer = desk.save()
        assert (answer.status_code, answer.url) == (302, desk.address)
        old, new = Policy.objects.order_by("version")
        assert (old.threshold, new.threshold, new.created_by) == (30, 20, olga)
        assert new.weights["overconfidence"] == 0
        assert new.marks == {"chat": "(look again, {score})"}
        event = AuditEvent.objects.get(action="policy-changed")
        assert (event.before, event.after, event.actor) == ("1", "2", "olga")
        assert "threshold" in event.data["fields"]
        assert not {"quality", "stuck", "rules"} & {*event.data["fields"]}, "whose defaults the form only writes out"
        verdict = kuro.respond("Clearly.")
        assert (verdict["policy"], verdict["items"][0]["disposition"]) == (2, "hold")

    def test_what_was_not_shown_is_not_saved(self, desk: Desk) -> None:
        shown = desk.try_out().content.decode()
        seen = re.search(r'name="seen" value="(\w+)"', shown)
        assert seen
        for late in ({"seen": ""}, {"seen": seen[1], "hold_at": "41"}):
            answer = desk.try_out(do="save", **late)
            assert answer.status_code == 200
            assert "Not saved yet" in answer.content.decode()
        assert Policy.objects.count() == 1

    def test_a_version_that_came_between_is_shown_first(self, desk: Desk) -> None:
        desk.save()
        late = desk.save(threshold="25", based_on="1")
        assert late.status_code == 409
        page = late.content.decode()
        assert "Nothing was saved: version 2 came into force" in page
        assert 'name="threshold" value="25"' in page
        assert Policy.objects.count() == 2
        assert desk.save(threshold="25", based_on="2").status_code == 302

    def test_the_way_back_is_a_draft_of_an_old_version(self, desk: Desk) -> None:
        desk.save()
        page = desk.get("?from=1")
        assert 'name="threshold" value="30"' in page
        assert 'name="based_on" value="2"' in page
        assert 'value="Back to version 1"' in page

    def test_versions_say_what_they_changed(self, desk: Desk) -> None:
        desk.save()
        page = desk.get()
        assert "<dt>Absolute claim</dt><dd><del>20</del> → <ins>45</ins></dd>" in page
        assert "<dt>Release of CHAT</dt><dd><del>a person or the agent</del> → <ins>only a person" in page
        assert "The default policy of a new agent." in page


class TestParts:
    def test_it_says_from_where_aware_asks_to_think_twice(self, desk: Desk) -> None:
        assert "7 for Seed, 6 for Aware" in desk.get()

    def test_it_switches_parts_and_profile(self, desk: Desk, kuro: Any) -> None:
        desk.save(part_quality="", profile="aware", stuck_threshold="6")
        verdict = kuro.respond("Not obviously. Why?", problem="bug")
        assert verdict["profile"] == "aware"
        assert verdict["quality"] is None
        assert verdict["stuck"]["threshold"] == 6
        assert verdict["hesitation"]["signals"] == []  # the seed's rules know no "not"
        page = desk.get()
        assert "<dt>Quality</dt><dd><del>on</del> → <ins>off</ins></dd>" in page
        assert "<dt>Profile</dt>" in page

    def test_the_weights_of_quality_and_stuck_are_its_own(self, desk: Desk, kuro: Any) -> None:
        desk.save(**{"quality_length": "1", "stuck_exhaustion": "5"})
        verdict = kuro.respond("I'm stuck")
        assert verdict["stuck"]["points"] == 5
        assert kuro.respond("Ok")["quality"]["score"] == 0
        page = desk.get()
        assert "<dt>Out of ideas</dt><dd><del>3</del> → <ins>5</ins></dd>" in page
        assert "<dt>Length</dt><dd><del>0.4</del> → <ins>1.0</ins></dd>" in page
        assert page.count("<dt>Consistency</dt>") == 0

    def test_forbidden_phrases_are_one_a_line(self, desk: Desk, kuro: Any) -> None:
        desk.save(forbidden="as an AI\r\n\r\n 身為AI \r\n")
        quality = kuro.respond("Well, as an AI I cannot say.")["quality"]
        assert "forbidden-phrase" in quality["flags"]
        assert "as an AI\n身為AI</textarea>" in desk.get()

    def test_lengths_repetition_and_the_words_to_begin_with_are_its_own(self, desk: Desk, kuro: Any) -> None:
        draft = {
            "quality_hedge_prefix": "Kuro wonders: ", "quality_en_min": "3", "quality_zh_max": "9",
            "quality_recent_window": "0", "quality_similar_at": "0.755", "quality_low_at": "0.1",
        }  # fmt: skip
        assert desk.save(**draft).status_code == 302
        quality = Policy.objects.get(version=2).quality
        assert quality["limits"] == {"en": {"min": 3, "max": 12_000}, "zh": {"min": 2, "max": 9}}
        assert {name: quality[name] for name in ("hedge_prefix", "recent_window", "similar_at")} == {
            "hedge_prefix": "Kuro wonders: ",
            "recent_window": 0,
            "similar_at": 0.755,
        }
        assert kuro.respond("Fine.")["quality"]["flags"] == []
        judged = kuro.respond("因為憑證在前一晚過期了，所以部署失敗。")["quality"]
        assert ("too-long" in judged["flags"], judged["hedge_prefix"]) == (True, "Kuro wonders: ")
        page = desk.get()
        assert "<dt>Minimum characters</dt><dd><del>10</del> → <ins>3</ins></dd>" in page
        assert "<dt>Suggested opening words</dt><dd><del>–</del> → <ins>Kuro wonders: </ins></dd>" in page
        assert "<dt>Maximum characters</dt>" not in page
        for name, value in draft.items():
            assert f'name="{name}" value="{value}"' in page

    def test_what_is_left_empty_is_the_engines_own(self, desk: Desk, kuro: Any) -> None:
        empty = {
            f"quality_{name}": ""
            for name in ("en_min", "en_max", "zh_min", "zh_max", "recent_window", "similar_at", "hedge_prefix")
        }
        page = desk.get()
        for name, usual in (("en_min", "10"), ("zh_max", "4000"), ("similar_at", "0.9"), ("recent_window", "5")):
            (field,) = re.findall(rf'<input[^>]*name="quality_{name}"[^>]*>', page)
            assert f'placeholder="{usual}"' in field
            assert "value=" not in field
        assert 'placeholder="I\'m not entirely sure, but…"' in page
        for nothing in (empty, empty | {"quality_hedge_prefix": "  "}, {}):
            assert desk.save(**nothing).status_code == 302
            quality = Policy.objects.latest("version").quality
            assert not {"limits", "recent_window", "similar_at", "hedge_prefix"} & quality.keys()
            Policy.objects.filter(version__gt=1).delete()
            Agent.objects.update(policy_version=1)

    def test_saving_something_else_keeps_them(self, desk: Desk, kuro: Any) -> None:
        own = {"limits": {"en": {"min": 1, "max": 99}}, "recent_window": 2, "similar_at": 0.555, "hedge_prefix": "Hm: "}
        Policy.objects.update(quality=own)
        shown = dict(re.findall(r'name="(quality_\w+)" value="([^"]*)"', desk.get()))
        assert desk.save(**shown).status_code == 302
        quality = Policy.objects.get(version=2).quality
        assert {name: quality[name] for name in own} == own

    def test_what_is_a_sign_of_being_stuck_is_set_here_and_stays(self, desk: Desk, kuro: Any) -> None:
        own = {"repeats": 2, "context_limit": 0.55, "idle_minutes": 12}
        Policy.objects.update(stuck=own)
        shown = dict(re.findall(r'name="(stuck_\w+)" value="([^"]*)"', desk.get()))
        desk.save(**shown)
        saved = Policy.objects.get(version=2).stuck
        assert {name: saved[name] for name in own} == own
        desk.save(based_on="2", **shown | {"stuck_repeats": "4", "stuck_context_limit": "", "stuck_idle_minutes": ""})
        saved = Policy.objects.get(version=3).stuck
        assert (saved["repeats"], saved.keys() & own) == (4, {"repeats"})
        asked = [kuro.respond("x", problem="p", session="s", approach="again")["stuck"] for _ in range(4)]
        assert [each["points"] for each in asked] == [0, 0, 0, 3]

    def test_a_draft_that_empties_one_is_an_address(self, kuro: Any, alice: Any, as_person: Any) -> None:
        Policy.objects.update(quality={"recent_window": 2, "hedge_prefix": "Hm:"})
        desk = Desk(as_person(alice), kuro)
        page = html.unescape(desk.try_out(quality_hedge_prefix="", quality_recent_window="").content.decode())
        (link,) = re.findall(r'href="(\?[^"]+)">this draft', page)
        page = desk.get(link)
        assert "<dt>Suggested opening words</dt><dd><del>Hm:</del> → <ins>–</ins></dd>" in page
        assert "</dt><dd><del>2</del> → <ins>5</ins></dd>" in page

    def test_another_profile_asks_from_its_own_points_where_nobody_chose_others(self, desk: Desk, kuro: Any) -> None:
        step = {"problem": "p", "session": "s", "errors": ["E"], "approach": "again", "command_failed": True}
        desk.save(profile="aware")
        asked = [kuro.respond("It fails.", **step)["stuck"] for _ in range(3)][-1]
        assert (asked["threshold"], asked["points"], asked["suggest"]) == (6, 6, True)

    def test_a_threshold_that_was_chosen_stays_with_another_profile(self, desk: Desk, kuro: Any) -> None:
        desk.save(profile="aware", stuck_threshold="9")
        assert kuro.respond("It fails.", problem="p", session="s")["stuck"]["threshold"] == 9

    @pytest.mark.parametrize(
        ("typed", "weight"),
        [
            ({}, 0),  # the default of seed becomes that of aware
            ({"weight_no_hedge": "12"}, 12),
            ({"profile_shown": "aware"}, 15),  # the page showed aware with its own, and somebody typed this
            ({"profile_shown": "no profile"}, 15),
        ],
    )
    def test_another_profile_brings_the_weights_that_nobody_changed(
        self, desk: Desk, kuro: Any, typed: dict[str, str], weight: int
    ) -> None:
        assert desk.save(profile="aware", **typed).status_code == 302
        assert Policy.objects.get(version=2).weights["no-hedge"] == weight

    def test_an_earlier_version_comes_back_with_the_weights_that_it_had(self, desk: Desk) -> None:
        desk.save(profile="aware", profile_shown="aware")
        desk.save(based_on="2")
        page = desk.get("?from=2")
        assert 'name="profile_shown" value="aware"' in page
        assert 'name="weight_no_hedge" value="15"' in page
        assert 'name="weight_no_hedge" value="0"' in desk.get("?profile=aware")

    def test_the_preview_reads_with_the_drafts_profile(self, desk: Desk, kuro: Any) -> None:
        kuro.respond("Not obviously.")
        assert rows(desk.try_out(profile="aware").content.decode())["Items held"] == ["0", "0", "–"]
        assert rows(desk.try_out().content.decode())["Items held"] == ["0", "1", "+1"]

    def test_the_preview_knows_what_the_agent_was_told(self, desk: Desk, kuro: Any) -> None:
        for message in ("How many are 4500 rows?", "How many rows?"):
            kuro.respond("It holds 4,500 rows.", user_message=message)
        draft = {"profile": "aware", "weight_no_source": "45", "hold_at": "45"}
        assert rows(desk.try_out(**draft).content.decode())["Items held"] == ["0", "1", "+1"]


class TestPreview:
    def test_it_scores_what_was_posted_again_and_joins_what_people_decided(
        self, desk: Desk, kuro: Any, alice: Any, as_person: Any, undo_at_once: None
    ) -> None:
        for verdict in ("", "reject", "approve"):  # last: text that was approved passes
            held = HeldItem.objects.get(public_id=kuro.hold())
            if verdict:
                data = {"verdict": verdict, "version": "1", "sha256": held.sha256, "reason": "no"}
                as_person(alice).post(reverse("decide", args=[held.public_id]), data)
        kuro.respond("Clearly.")  # 20: only the draft holds it, from 45 on
        kuro.respond("Clearly.", items=[{"kind": "ask", "text": "Clearly?"}])  # nothing of it can be held
        kuro.respond("Perhaps.")
        page = desk.try_out().content.decode()
        assert rows(page) == {
            "Responses that trigger": ["3", "5", "+2"],
            "Items marked": ["0", "0", "–"],
            "Items held": ["3", "4", "+1"],
            "rejected or withdrawn": ["1", "1", "–"],
            "approved with edits": ["0", "0", "–"],
            "approved": ["1", "1", "–"],
            "not decided": ["1", "1", "–"],
            "passed at the time, not reviewed": ["0", "1", "+1"],
        }
        assert "6 responses of the last 30 days" in page
        assert page.count('class="plain examples"') == 1

    def test_it_tells_what_the_draft_lets_pass(self, desk: Desk, kuro: Any) -> None:
        kuro.hold()
        page = desk.try_out(hold_at="101", threshold="30").content.decode()
        assert rows(page)["Items held"] == ["1", "0", "−1"]
        assert "No longer held" in page

    def test_it_scores_with_the_patterns_of_today(self, desk: Desk, kuro: Any) -> None:
        kuro.hold()
        pattern = ErrorPattern.objects.get()
        pattern.state = "retired"
        pattern.save()
        assert rows(desk.try_out(hold_at="50", weight_absolute_claim="20").content.decode())["Items held"][0] == "0"

    @pytest.mark.parametrize("days", [29, 31])
    def test_it_looks_at_thirty_days(self, desk: Desk, kuro: Any, days: int) -> None:
        kuro.hold()
        AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=days))
        page = desk.try_out().content.decode()
        assert ("1 response of the last 30 days" in page) == (days == 29)
        assert ("No preview" in page) == (days == 31)

    def test_it_counts_no_further_than_it_tells(self, desk: Desk, kuro: Any, monkeypatch: Any) -> None:
        for _ in range(4):
            kuro.hold()
        monkeypatch.setattr("reviews.pages.policy.MOST_IN_PAGE", 1)
        assert "The newest 1 of 4 responses" in desk.get("?from=1")
        for place in ("scoring.preview", "templatetags.console"):
            monkeypatch.setattr(f"reviews.{place}.COUNTED", 2)
        assert "The newest 1 of 2+ responses" in desk.get("?from=1")

    def test_a_page_without_a_draft_asks_for_it_once_it_is_there(self, desk: Desk, kuro: Any) -> None:
        kuro.hold()
        page, drafted = desk.get(), desk.get("?hold_at=45")
        assert ('hx-trigger="load, input' in page, "Items held" in rows(page)) == (True, False)
        assert ('hx-trigger="load, input' in drafted, "Items held" in rows(drafted)) == (False, True)
        answer = desk.client.post(desk.address, DRAFT, headers={"hx-request": "true", "hx-target": "preview"})
        assert rows(answer.content.decode())["Items held"]

    def test_it_leaves_out_erased_texts(self, desk: Desk, kuro: Any) -> None:
        kuro.hold()
        AgentResponse.objects.update(erased_at=timezone.now(), body="")
        assert "No preview" in desk.try_out().content.decode()

    def test_agents_text_is_only_text(self, desk: Desk, kuro: Any) -> None:
        kuro.respond("<script>alert('clearly')</script>")
        page = desk.try_out().content.decode()
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page

    def test_it_costs_the_same_number_of_queries_however_much_there_is(
        self, desk: Desk, kuro: Any, django_assert_num_queries: Any
    ) -> None:
        desk.get()
        kuro.hold()
        with django_assert_num_queries(15):
            desk.get("?hold_at=45")
        for _ in range(5):
            kuro.hold()
        with django_assert_num_queries(15):
            desk.get("?hold_at=45")


class TestSuggestion:
    @pytest.fixture
    def posted(self, kuro: Any) -> Any:
        """Return a function that stores so many responses of each text."""

        def post(*counted: tuple[str, int], **fields: Any) -> None:
            agent = Agent.objects.get(public_id=kuro.id)
            for text, count in counted:
                kuro.respond(text, **fields)
                kind = AgentResponse.objects.latest("pk")
                AgentResponse.objects.bulk_create(
                    AgentResponse(
                        agent=agent,
                        body=kind.body,
                        verdict=kind.verdict,
                        policy_version=1,
                        patterns_version=0,
                        engine="1",
                        hesitation_score=kind.hesitation_score,
                    )
                    for _ in range(count - 1)
                )

        return post

    @pytest.mark.parametrize(("calm", "offered"), [(190, False), (191, True)])
    def test_it_comes_after_two_hundred_responses(
        self, desk: Desk, kuro: Any, posted: Any, calm: int, offered: bool
    ) -> None:
        posted(("Perhaps.", calm), ("Clearly.", 9))
        for page in (desk.get("?from=1"), desk.client.get(reverse("agent", args=[kuro.id])).content.decode()):
            assert ("threshold=20&amp;hold_at=20" in page.replace("&hold", "&amp;hold")) == offered

    @pytest.mark.parametrize(
        ("counted", "said"),
        [
            ([("Perhaps.", 191), ("Clearly.", 9)], "No response reaches the holding score"),
            ([("Perhaps.", 170), (HELD, 21), (HELD + " Therefore." * 3, 9)], "More than 5% of responses"),
        ],
    )
    def test_it_says_why(self, desk: Desk, posted: Any, counted: list[tuple[str, int]], said: str) -> None:
        posted(*counted)
        page = desk.get("?from=1")
        assert said in page
        assert "Preview these thresholds" in page

    def test_what_reaches_the_score_without_anything_to_hold_is_not_told_as_held(self, desk: Desk, posted: Any) -> None:
        posted(("Perhaps.", 170), (HELD + " Therefore." * 3, 1))
        posted((HELD, 29), items=[{"kind": "action", "text": HELD}])
        page = desk.get("?from=1")
        assert rows(page)["Items held"] == ["1"]
        assert "More than 5% of responses reach the holding score in force." in page
        assert "holds more than one" not in page

    def test_its_draft_holds_what_it_says(self, desk: Desk, posted: Any) -> None:
        posted(("Perhaps.", 191), ("Clearly.", 9))
        page = desk.get("?threshold=20&hold_at=20")
        assert rows(page)["Items held"] == ["0", "9", "+9"]


@pytest.mark.parametrize(
    ("person", "tried", "saved"), [("mallory", 404, 404), ("victor", 200, 403), ("carla", 200, 403), ("olga", 200, 302)]
)
def test_everybody_in_the_team_may_try_and_an_owner_may_save(
    request: pytest.FixtureRequest, kuro: Any, olga: Any, as_person: Any, person: str, tried: int, saved: int
) -> None:
    client = as_person(request.getfixturevalue(person))
    desk = Desk(client, kuro)
    shown = desk.try_out()
    assert shown.status_code == tried
    seen = re.search(r'name="seen" value="(\w+)"', Desk(as_person(olga), kuro).try_out().content.decode())
    assert seen
    assert desk.try_out(do="save", seen=seen[1]).status_code == saved
    assert Policy.objects.count() == (2 if saved == 302 else 1)
    if tried == 200 and saved == 403:
        assert "Only an owner can save" in shown.content.decode()
        assert "hold_at=40" in shown.content.decode()


def test_a_held_text_stays_out_of_a_strangers_draft(mallory: Any, other: Any, kuro: Any, as_person: Any) -> None:
    kuro.respond(HELD)
    assert "cache" not in Desk(as_person(mallory), other).try_out().content.decode()


def test_one_switch_says_whether_a_remember_becomes_memory(desk: Desk, kuro: Any) -> None:
    said = {"items": [{"kind": "remember", "text": "The deploy takes five minutes."}]}
    assert desk.save(remember_into_memory="").status_code == 302
    assert not Policy.objects.get(version=2).remember_into_memory
    assert kuro.respond("Noted.", **said)["items"][0]["memory"] is None
    assert "Add each REMEMBER to the team's memory" in desk.get(), "what changed is told"
    assert desk.save(based_on="2").status_code == 302
    assert kuro.respond("Noted.", **said)["items"][0]["memory"] == "stored"


def test_an_owner_says_who_answers_mcp_servers_and_agents_programs_are_told(desk: Desk, kuro: Any) -> None:
    held = kuro.hold()
    assert kuro.get("/policy").json() == {"version": 1, "elicitation": "agent"}
    assert desk.save(elicitation="people").status_code == 302
    assert kuro.get("/policy").json() == {"version": 2, "elicitation": "people"}
    assert "Questions of MCP servers" in desk.get(), "what changed is told"
    assert '<option value="people" selected>People answer in the queue</option>' in desk.get()
    assert desk.save(based_on="2", threshold="25").status_code == 302
    assert Policy.objects.get(version=3).elicitation == "people", "a form that does not say it changes nothing"
    assert desk.try_out(based_on="3", elicitation="nobody").status_code == 422
    assert kuro.get(f"/held/{held}").json()["state"] == "pending", "to read the policy is to hear of no decision"


class TestMarkingWhatDiffers:
    def marks(self, page: str, name: str) -> str:
        part = html.unescape(page).partition(f'id="differs-{name}"')[2].partition("</div>")[0]
        return " ".join(re.sub(r"<[^>]*>", " ", part).split())

    @table(
        ("changed", "name", "said"),
        [
            ({"threshold": "25"}, "threshold", "was 30 (default)"),
            ({"hold_at": "50"}, "hold_at", ">"),
            ({"expiry_seconds": "90 min"}, "expiry_seconds", "= 1 h 30 min was 7 days (default)"),
            ({"expiry_seconds": "soon"}, "expiry_seconds", "“soon” is not a duration. Write it like 7 days"),
            ({"stuck_idle_minutes": "2 h"}, "stuck_idle_minutes", "was 30 min (default)"),
            ({"release_task": "person"}, "release_task", "was a person or the agent (default)"),
            ({"require_signature": "on"}, "require_signature", "was off (default)"),
            ({"hold_words_with_calls": "on"}, "hold_words_with_calls", ">"),
            ({"elicitation": "people"}, "elicitation", "was The agent's own user answers (default)"),
            ({"forbidden": "as an AI"}, "forbidden", "was empty (default)"),
            ({"quality_en_min": "3"}, "quality_en_min", "was 10 (default)"),
            ({"profile": "aware", "profile_shown": "seed"}, "weight_no_hedge", "becomes 0 with this profile"),
        ],
        rolled_back=True,
    )
    def test_each_field_says_what_it_was(self, desk: Desk, changed: dict[str, str], name: str, said: str) -> None:
        answer = desk.client.post(desk.address, DRAFT | changed, headers={"hx-request": "true"})
        marks = self.marks(answer.content.decode(), name)
        assert said in marks
        assert ("becomes" in marks) == ("becomes" in said)

    def test_what_is_in_force_is_told_from_the_default(self, desk: Desk) -> None:
        desk.save(note="Too loud")
        page = desk.get("?hold_at=60")
        assert self.marks(page, "hold_at").startswith("> was 40 Reset : Holds from default: 50 Use default")
        assert self.marks(page, "threshold").startswith("> default: 30 Use default")
        assert "1 changed" not in page, "a section that is always open counts nothing"
        assert "1 changed" in desk.get("?max_active_threads=9")

    @table(
        ("do", "name", "value"),
        [
            ("reset:hold_at", "hold_at", "40"),
            ("default:hold_at", "hold_at", "50"),
            ("default:expiry_seconds", "expiry_seconds", "7 days"),
            ("reset:expiry_seconds", "expiry_seconds", "1 h"),
        ],
        rolled_back=True,
    )
    def test_a_reset_fills_in_its_field_alone(self, desk: Desk, do: str, name: str, value: str) -> None:
        desk.save()
        typed = {"hold_at": "60", "expiry_seconds": "3 h", "threshold": "22"}
        page = desk.client.post(desk.address, DRAFT | typed | {"do": do, "based_on": "2"}).content.decode()
        assert f'name="{name}" value="{value}"' in page
        assert 'name="threshold" value="22"' in page
        assert Policy.objects.count() == 2

    def test_a_reset_of_the_rules_brings_back_those_in_force(self, desk: Desk) -> None:
        rule = {"rules_in": "table", "rule-order": "0", "rule-0-tool": "pay", "rule-0-do": "ask"}
        page = desk.client.post(desk.address, DRAFT | rule).content.decode()
        assert "was 0 rules" in " ".join(page.split())
        assert 'value="pay"' not in desk.try_out(do="reset:rules", **rule).content.decode()

    def test_a_duration_is_stored_as_before(self, desk: Desk) -> None:
        typed = {"review_seconds": "1 h 30 min", "expiry_seconds": "7 天", "stuck_idle_minutes": "2 h"}
        assert desk.save(**typed).status_code == 302
        saved = Policy.objects.get(version=2)
        assert (saved.review_seconds, saved.expiry_seconds, saved.stuck["idle_minutes"]) == (5400, 604_800, 120)
        assert "<dt>Second look after</dt><dd><del>2 min</del> → <ins>1 h 30 min</ins></dd>" in desk.get()


class TestReason:
    def test_a_change_is_not_saved_without_one(self, desk: Desk) -> None:
        for note in ("", "  "):
            answer = desk.save(note=note)
            assert answer.status_code == 422
            page = answer.content.decode()
            assert "Enter a reason for the change." in page
            assert "Preview of the draft" in page
        assert Policy.objects.count() == 1

    def test_it_stands_with_the_version_and_in_the_audit_log(self, desk: Desk) -> None:
        desk.save(note="Deploys need a look")
        assert "<q>Deploys need a look</q>" in desk.get().partition('id="versions"')[2]
        assert AuditEvent.objects.get(action="policy-changed").data["reason"] == "Deploys need a look"
        assert "“Deploys need a look”" in desk.client.get(reverse("audit")).content.decode()
