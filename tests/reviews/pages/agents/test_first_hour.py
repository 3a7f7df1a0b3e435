"""The checklist of an agent's first hour: it ticks itself, and is gone once all is done."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.utils import timezone

from metacog.models import Agent, PersonNotices, Policy
from reviews.held.decisions import decide
from reviews.models import HeldItem, TeamAsking

PAGE = "/agents/{}/"


def ticked(page: str) -> list[str]:
    """Return what is done on the checklist."""
    return re.findall(r'<li class="done">.*?<span>([A-Z][^<]*)</span>', page, re.DOTALL)


def test_it_ticks_itself_step_by_step_and_goes(olga: Any, kuro: Any, as_person: Any) -> None:
    client, part = as_person(olga), f"/agents/{kuro.id}/first-hour"
    Policy.objects.filter(agent__public_id=kuro.id).update(packs=[])
    page = client.get(PAGE.format(kuro.id)).content.decode()
    assert ticked(page) == ["Add the agent"]
    assert "waiting for it…" in page
    assert f'hx-get="{part}"' in page
    Policy.objects.filter(agent__public_id=kuro.id).update(packs=[{"name": "read-only"}])
    held = kuro.hold()
    page = client.get(part).content.decode()
    assert ticked(page) == ["Add the agent", "Choose a pack of rules", "Post the first response"]
    assert "waiting for it…" not in page
    assert re.search(r'id="posted" hx-swap-oob="true">\s*1 response\s*<', page), "the page's head says so, too"
    decide(HeldItem.objects.get(public_id=held), olga, "reject", reason="No.")
    assert ticked(client.get(part).content.decode())[-1] == "Decide the first item"


def test_it_is_gone_once_all_is_done_or_after_a_week(olga: Any, alice: Any, kuro: Any, as_person: Any) -> None:
    client = as_person(olga)
    Policy.objects.filter(agent__public_id=kuro.id).update(packs=[{"name": "read-only"}])
    decide(HeldItem.objects.get(public_id=kuro.hold()), alice, "reject", reason="No.")
    page = client.get(PAGE.format(kuro.id)).content.decode()
    assert ticked(page)[-1] == "Add a teammate"
    PersonNotices.objects.create(person=olga, when="daily")
    last = client.get(f"/agents/{kuro.id}/first-hour").content.decode()
    assert len(ticked(last)) == 6
    assert "hx-get" not in last
    assert "first-hour" not in client.get(PAGE.format(kuro.id)).content.decode()
    PersonNotices.objects.all().delete()
    assert "first-hour" in client.get(PAGE.format(kuro.id)).content.decode()
    Agent.objects.filter(public_id=kuro.id).update(created_at=timezone.now() - timedelta(days=8))
    assert "first-hour" not in client.get(PAGE.format(kuro.id)).content.decode()


def test_notices_are_chosen_where_anybody_of_the_team_hears_or_one_chose_not_to(
    olga: Any, alice: Any, kuro: Any, as_person: Any
) -> None:
    def is_ticked() -> bool:
        page = as_person(olga).get(f"/agents/{kuro.id}/first-hour").text
        return "Choose who is notified of held items" in ticked(page)

    others = PersonNotices.objects.create(person=alice, when="never")
    assert not is_ticked()
    PersonNotices.objects.update(when="waiting")
    assert is_ticked()
    others.delete()
    own = PersonNotices.objects.create(person=olga, when="never")
    assert is_ticked()
    own.delete()
    TeamAsking.objects.create(team=Agent.objects.get(public_id=kuro.id).team, changed_at=timezone.now())
    assert is_ticked()


def test_it_is_of_ones_own_team(olga: Any, other: Any, as_person: Any) -> None:
    assert as_person(olga).get(f"/agents/{other.id}/first-hour").status_code == 404
