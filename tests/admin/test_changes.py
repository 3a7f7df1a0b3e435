"""What the admin changes: patterns, agents, members; each with both records."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from metacog.accounts import agents, members
from metacog.models import Agent, AuditEvent, Membership, Policy, Team, User
from patterns.models import ErrorPattern
from reviews.admin import hits
from reviews.models import AgentResponse
from tests.admin.addresses import address
from tests.conftest import HELD, NOON
from tests.tables import table


@pytest.fixture
def agent(kuro: Any) -> Any:
    return Agent.objects.get(public_id=kuro.id)


class TestPolicies:
    def test_versions_are_read_only(self, olga: Any, agent: Any, as_person: Any) -> None:
        policy = Policy.objects.get(agent=agent)
        client = as_person(olga)
        page = client.get(address(Policy, "change", policy.pk)).content.decode()
        assert "Absolute claim: 20" in page
        assert reverse("policy", args=[agent.public_id]) in page
        assert client.post(address(Policy, "change", policy.pk), {"threshold": "1"}).status_code == 403

    def test_none_is_added_here(self, olga: Any, as_person: Any) -> None:
        assert as_person(olga).get(address(Policy, "add")).status_code == 403


class TestPatterns:
    def data(self, team: Any, **changed: str) -> dict[str, Any]:
        return {
            "team": team.pk, "description": "flaky blamed",
            "keywords": "flaky test\r\n\r\n flaky test \r\n不穩定的測試",
            "source": "alex-correction", **changed,
        }  # fmt: skip

    def test_keywords_are_one_a_line(self, carla: Any, aurora: Any, as_person: Any) -> None:
        as_person(carla).post(address(ErrorPattern, "add"), self.data(aurora))
        pattern = ErrorPattern.objects.get(description="flaky blamed")
        assert pattern.keywords == ["flaky test", "不穩定的測試"]
        assert pattern.created_by == carla
        event = AuditEvent.objects.get(action="pattern-added")
        assert (event.actor, event.after, pattern.state) == ("carla", "proposed", "proposed")
        assert LogEntry.objects.filter(user=carla).count() == 1

    @table(
        ("keywords", "said"),
        [
            ("a", "is too short"), ("\u200b\u200b", "is too short"), ("", "at least one"), ("x" * 201, "longer"),
        ],
        rolled_back=True,
    )  # fmt: skip
    def test_it_says_what_is_wrong_with_a_keyword(
        self, carla: Any, aurora: Any, as_person: Any, keywords: str, said: str
    ) -> None:
        page = (
            as_person(carla).post(address(ErrorPattern, "add"), self.data(aurora, keywords=keywords)).content.decode()
        )
        assert page.count(said) == 1
        assert ErrorPattern.objects.count() == 1

    def test_it_warns_of_what_fires_too_often(self, carla: Any, aurora: Any, kuro: Any, as_person: Any) -> None:
        for number in range(20):
            kuro.respond("It may be a flaky test." if number < 2 else f"Done, step {number}.")
        answer = as_person(carla).post(address(ErrorPattern, "add"), self.data(aurora), follow=True)
        assert "fired on 2 of the team&#x27;s last 20 responses (10%)" in answer.content.decode()

    def test_it_is_silent_about_what_fires_seldom(self, carla: Any, aurora: Any, kuro: Any, as_person: Any) -> None:
        for number in range(20):
            kuro.respond("It may be a flaky test." if number < 1 else f"Done, step {number}.")
        answer = as_person(carla).post(address(ErrorPattern, "add"), self.data(aurora), follow=True)
        assert "look again" not in answer.content.decode()

    def test_it_is_tried_on_what_has_a_text_still_in_one_query(
        self, aurora: Any, kuro: Any, django_assert_num_queries: Any
    ) -> None:
        for number in range(4):
            kuro.respond(f"A flaky test, {number}.")
        verdict = kuro.respond("Something else.")
        AgentResponse.objects.filter(public_id=verdict["id"]).update(body="", erased_at=NOON)
        pattern = ErrorPattern(team=aurora, keywords=["flaky test"], description="flaky blamed")
        with django_assert_num_queries(1):
            assert hits(pattern) == (4, 4)

    def test_it_counts_imported_and_own_triggers(self, carla: Any, aurora: Any, kuro: Any, as_person: Any) -> None:
        pattern = ErrorPattern.objects.get(team=aurora)
        ErrorPattern.objects.update(imported_triggers=5)
        kuro.respond(HELD)
        page = as_person(carla).get(address(ErrorPattern, "change", pattern.pk)).content.decode()
        assert '<div class="readonly">6</div>' in page

    def test_retiring_many_is_recorded_and_live_at_once(
        self, carla: Any, aurora: Any, kuro: Any, as_person: Any
    ) -> None:
        pattern = ErrorPattern.objects.get(team=aurora)
        data = {"action": "retire", "_selected_action": [pattern.pk]}
        as_person(carla).post(address(ErrorPattern, "changelist"), data)
        event = AuditEvent.objects.get(action="pattern-retired")
        assert (event.before, event.after) == ("active", "retired")
        assert kuro.respond(HELD)["hesitation"]["matched_pattern_ids"] == []

    def test_saving_again_keeps_team_and_state(self, carla: Any, aurora: Any, borealis: Any, as_person: Any) -> None:
        pattern = ErrorPattern.objects.get(team=aurora)
        data = self.data(borealis, keywords="cache", state="shadow")
        assert as_person(carla).post(address(ErrorPattern, "change", pattern.pk), data).status_code == 302
        pattern.refresh_from_db()
        assert (pattern.team, pattern.state, pattern.description) == (aurora, "active", "flaky blamed")
        assert AuditEvent.objects.get(action="pattern-changed").data == {"fields": ["description", "source"]}

    def test_other_keywords_of_an_active_one_are_left_to_the_console(
        self, carla: Any, aurora: Any, as_person: Any
    ) -> None:
        pattern = ErrorPattern.objects.get(team=aurora)
        answer = as_person(carla).post(address(ErrorPattern, "change", pattern.pk), self.data(aurora))
        assert "Change them in the console" in answer.content.decode()
        pattern.refresh_from_db()
        assert pattern.keywords == ["cache"]

    def test_only_proposals_are_tried_out(self, carla: Any, aurora: Any, as_person: Any) -> None:
        proposal = ErrorPattern.objects.create(team=aurora, keywords=["dns"], description="d", state="proposed")
        keys = list(ErrorPattern.objects.values_list("pk", flat=True))
        data = {"action": "try_out", "_selected_action": keys}
        page = as_person(carla).post(address(ErrorPattern, "changelist"), data, follow=True).content.decode()
        assert "1 pattern was changed." in page
        assert "Only a proposal can be accepted to shadow" in page
        proposal.refresh_from_db()
        assert proposal.state == "shadow"


class TestAgents:
    def test_changes_go_through_the_same_door(self, olga: Any, agent: Any, kuro: Any, as_person: Any) -> None:
        data = {"name": "kuro", "language": "zh-hant", "callback_url": "http://receiver:9000/"}
        shown = {"initial-enabled": "True", "initial-hesitation_enabled": "True"}
        answer = as_person(olga).post(address(Agent, "change", agent.pk), data | shown)
        assert answer.status_code == 302
        agent.refresh_from_db()
        assert (agent.callback_url, agent.enabled, agent.hesitation_enabled) == ("http://receiver:9000/", False, False)
        actions = set(AuditEvent.objects.filter(actor="olga").values_list("action", flat=True))
        assert actions == {"agent-changed", "agent-disabled", "hesitation-off"}
        assert LogEntry.objects.filter(user=olga).count() == 1

    def test_what_others_changed_since_the_page_was_opened_stays(
        self, olga: Any, agent: Any, aurora: Any, as_person: Any
    ) -> None:
        client = as_person(olga)
        opened = client.get(address(Agent, "change", agent.pk)).content.decode()
        boxes = re.findall(r'<input type="(?:text|checkbox|hidden)" name="(\w[^"]+)"(?: value="([^"]*)")?', opened)
        assert {"initial-name", "initial-enabled", "initial-callback_url"} <= dict(boxes).keys()
        agents.change(agent, None, name="kuro", language="en", callback_url="https://new.example.org/")
        agents.set_enabled(agent, None, on=False)
        page = dict(boxes) | {"name": "Kuro", "language": "en", "initial-language": "en"}
        assert client.post(address(Agent, "change", agent.pk), page).status_code == 302
        agent.refresh_from_db()
        assert (agent.name, agent.callback_url, agent.enabled) == ("Kuro", "https://new.example.org/", False)

    def test_it_refuses_credentials_in_the_callback(self, olga: Any, agent: Any, as_person: Any) -> None:
        data = {"name": "kuro", "language": "en", "callback_url": "https://u:p@a.example/", "enabled": "on"}
        page = as_person(olga).post(address(Agent, "change", agent.pk), data).content.decode()
        assert "deliveries are signed instead" in page

    def test_agents_are_added_in_the_console(self, olga: Any, aurora: Any, as_person: Any) -> None:
        assert as_person(olga).get(address(Agent, "add")).status_code == 403


class TestTeams:
    def save(self, client: Any, team: Any, *rows: tuple[Any, str, bool], name: str = "Aurora") -> Any:
        data = {"name": name, "memberships-TOTAL_FORMS": len(rows), "memberships-INITIAL_FORMS": len(rows)}
        for number, (membership, role, is_deleted) in enumerate(rows):
            prefix = f"memberships-{number}-"
            data |= {f"{prefix}id": membership.pk, f"{prefix}team": team.pk, f"{prefix}role": role}
            if is_deleted:
                data[f"{prefix}DELETE"] = "on"
        return client.post(address(Team, "change", team.pk), data)

    def test_roles_and_removals_are_recorded(
        self, olga: Any, alice: Any, bob: Any, aurora: Any, as_person: Any
    ) -> None:
        of = {person: Membership.objects.get(user=person) for person in (olga, alice, bob)}
        answer = self.save(
            as_person(olga),
            aurora,
            (of[olga], "owner", False),
            (of[alice], "curator", False),
            (of[bob], "reviewer", True),
        )
        assert answer.status_code == 302
        assert Membership.objects.get(user=alice).role == "curator"
        assert not Membership.objects.filter(user=bob).exists()
        assert set(AuditEvent.objects.values_list("action", flat=True)) == {"role-changed", "member-removed"}

    def test_a_role_that_others_changed_since_the_page_was_opened_stays(
        self, olga: Any, alice: Any, aurora: Any, as_person: Any
    ) -> None:
        rows = [Membership.objects.get(user=person) for person in (olga, alice)]
        client = as_person(olga)
        opened = client.get(address(Team, "change", aurora.pk)).content.decode()
        shown = dict(re.findall(r'name="(initial-memberships-\d-role)" value="(\w+)"', opened))
        assert sorted(shown.values()) == ["owner", "reviewer"]
        members.change_role(rows[1], "viewer", olga)
        data = {"name": "Aurora 2", "memberships-TOTAL_FORMS": 2, "memberships-INITIAL_FORMS": 2, **shown}
        for number, row in enumerate(rows):
            prefix = f"memberships-{number}-"
            role = shown[f"initial-{prefix}role"]
            data |= {f"{prefix}id": row.pk, f"{prefix}team": aurora.pk, f"{prefix}role": role}
        assert client.post(address(Team, "change", aurora.pk), data).status_code == 302
        rows[1].refresh_from_db()
        aurora.refresh_from_db()
        assert (rows[1].role, aurora.name) == ("viewer", "Aurora 2")

    def test_an_owner_hands_over_in_one_go(self, olga: Any, alice: Any, aurora: Any, as_person: Any) -> None:
        own, theirs = Membership.objects.get(user=olga), Membership.objects.get(user=alice)
        self.save(as_person(olga), aurora, (own, "reviewer", False), (theirs, "owner", False))
        own.refresh_from_db()
        theirs.refresh_from_db()
        assert (own.role, theirs.role) == ("reviewer", "owner")

    @pytest.mark.parametrize(("role", "is_deleted"), [("viewer", False), ("owner", True)])
    def test_the_last_owner_stays(self, olga: Any, aurora: Any, as_person: Any, role: str, is_deleted: bool) -> None:
        answer = self.save(as_person(olga), aurora, (Membership.objects.get(user=olga), role, is_deleted))
        assert "A team needs an owner" in answer.content.decode()
        assert Membership.objects.get(user=olga).role == "owner"

    def test_a_row_that_the_page_does_not_have_adds_nobody(
        self, olga: Any, alice: Any, aurora: Any, borealis: Any, as_person: Any
    ) -> None:
        data = {"name": "Aurora", "memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 0}
        added = {"user": alice.pk, "role": "owner", "team": aurora.pk}
        for row in ({}, {f"memberships-0-{name}": value for name, value in added.items()}):
            assert as_person(olga).post(address(Team, "change", aurora.pk), data | row).status_code == 302
        assert Membership.objects.filter(team=aurora, role="owner").get().user == olga

    def test_a_rename_is_recorded(self, olga: Any, aurora: Any, as_person: Any) -> None:
        self.save(as_person(olga), aurora, (Membership.objects.get(user=olga), "owner", False), name="Aurora 2")
        event = AuditEvent.objects.get()
        assert (event.action, event.data) == ("team-renamed", {"was": "Aurora", "name": "Aurora 2"})

    def test_only_superusers_add_teams(self, olga: Any, aurora: Any, as_person: Any) -> None:
        assert as_person(olga).get(address(Team, "add")).status_code == 403
        root = as_person(User.objects.create_superuser("root", password="x"))
        assert root.post(address(Team, "add"), {"name": "Cassiopeia"}).status_code == 302
        assert AuditEvent.objects.get(action="team-created").actor == "root"
