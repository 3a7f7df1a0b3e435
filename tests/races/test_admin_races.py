"""Two who change the same row, one of them in the admin, whose form was read before. On PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from metacog.accounts import agents, members
from metacog.accounts.retention import set_retention
from metacog.admin import AgentForm, MemberFormSet, TeamAdmin
from metacog.models import Agent, AuditEvent, Membership, Team
from patterns.lessons import lessons
from patterns.lessons.admin import LessonAdmin
from patterns.models import ErrorPattern, Lesson
from patterns.patterns import lifecycle
from reviews import retention
from reviews.admin import PatternAdmin
from tests.admin.addresses import address
from tests.races.conftest import Beside

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def team_form(team: Any, name: str) -> dict[str, Any]:
    own = Membership.objects.get(team=team)
    data = {"name": name, "memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 1}
    return data | {"memberships-0-id": own.pk, "memberships-0-team": team.pk, "memberships-0-role": own.role}


def test_a_team_is_renamed_while_its_patterns_and_its_retention_change(
    aurora: Any, olga: Any, as_person: Any, beside: Beside
) -> None:
    pattern = ErrorPattern.objects.get(team=aurora)

    def others() -> None:
        set_retention(Team.objects.get(pk=aurora.pk), 365, olga)
        lifecycle.take_step(pattern, "retire", olga)

    met = beside(TeamAdmin, "get_object", others)
    as_person(olga).post(address(Team, "change", aurora.pk), team_form(aurora, "Aurora borealis"))
    met[0].running.result()
    aurora.refresh_from_db()
    assert (aurora.name, aurora.retention_days, aurora.patterns_version) == ("Aurora borealis", 365, 2)
    assert AuditEvent.objects.get(action="team-renamed").data == {"was": "Aurora", "name": "Aurora borealis"}


def test_a_name_that_is_given_away_after_the_form_was_checked_is_refused(
    aurora: Any, borealis: Any, kuro: Any, olga: Any, mallory: Any, as_person: Any, beside: Beside
) -> None:
    client, agent = as_person(olga), Agent.objects.get(public_id=kuro.id)
    beside(MemberFormSet, "clean", lambda: members.rename_team(borealis, "Polaris", mallory))
    page = client.post(address(Team, "change", aurora.pk), team_form(aurora, "Polaris"), follow=True)
    assert "A team with this name already exists." in page.content.decode()
    beside(AgentForm, "clean", lambda: agents.create_agent(aurora, "nova", olga))
    data = {"name": "nova", "language": "en", "enabled": "on", "hesitation_enabled": "on"}
    page = client.post(address(Agent, "change", agent.pk), data, follow=True)
    assert "Aurora already has an agent called nova." in page.content.decode()
    assert list(Agent.objects.order_by("pk").values_list("name", flat=True)) == ["kuro", "nova"]


def test_a_pattern_is_made_active_while_its_keywords_are_changed(
    aurora: Any, carla: Any, as_person: Any, beside: Beside
) -> None:
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["dns"], description="d", state="proposed")
    seen = lifecycle.digest(["dns"])
    beside(PatternAdmin, "get_object", lambda: lifecycle.take_step(pattern, "activate", carla, seen=seen))
    data = {"description": "d", "keywords": "dns\r\nresolver", "source": "external"}
    page = as_person(carla).post(address(ErrorPattern, "change", pattern.pk), data, follow=True)
    assert "Read the backtest of exactly these keywords first" in page.content.decode()
    pattern.refresh_from_db()
    assert (pattern.state, pattern.keywords) == ("active", ["dns"])


def test_a_lesson_is_erased_while_it_is_changed(
    aurora: Any, kuro: Any, carla: Any, as_person: Any, beside: Beside
) -> None:
    lesson = lessons.write(aurora, Agent.objects.get(public_id=kuro.id), "Be kind.", [], carla)
    lessons.move(lesson, "retire", carla)
    Lesson.objects.update(changed_at="2020-01-01T00:00:00Z")
    set_retention(aurora, 30, None)
    beside(LessonAdmin, "get_object", retention.erase)
    page = as_person(carla).post(address(Lesson, "change", lesson.pk), {"text": "Be kinder."}, follow=True)
    assert "The text of this lesson was erased." in page.content.decode()
    assert Lesson.objects.get().text == ""
