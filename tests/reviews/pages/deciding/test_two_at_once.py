"""Two people change the same thing: who saves last is told first what the other has saved."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from metacog.models import Agent
from patterns.lessons import lessons
from patterns.models import ErrorPattern, Lesson
from tests.tables import table

pytestmark = pytest.mark.django_db


def the_lesson(kuro: Any, carla: Any) -> tuple[Lesson, str, str, dict[str, str]]:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    row = lessons.write(agent.team, agent, "As it was.", [], carla)
    address = reverse("lesson", args=[row.public_id])
    return row, "text", address, {"topics": "tea"}


def the_pattern(kuro: Any, carla: Any) -> tuple[ErrorPattern, str, str, dict[str, str]]:
    row = ErrorPattern.objects.create(team=carla.teams_as().get(), keywords=["a leak"], description="As it was.")
    return row, "description", reverse("pattern-edit", args=[row.pk]), {"keywords": "a leak", "source": row.source}


def the_handcard(kuro: Any, carla: Any) -> tuple[Agent, str, str, dict[str, str]]:
    Agent.objects.update(handcard="As it was.")
    row = Agent.objects.get(public_id=kuro.id)
    return row, "handcard", reverse("agent-handcard", args=[row.public_id]), {}


@table("thing", [the_lesson, the_pattern, the_handcard], rolled_back=True)
def test_nothing_is_put_over_what_somebody_saved_meanwhile(
    thing: Any, kuro: Any, carla: Any, olga: Any, as_person: Any
) -> None:
    row, field, address, rest = thing(kuro, carla)
    page = address.removesuffix("edit").removesuffix("handcard")

    def save(client: Any, answer: Any, text: str) -> Any:
        shown = re.findall(r'name="shown" value="([0-9a-f]+)"', answer.content.decode())
        assert len(shown) == 1
        return client.post(address, {field: text, "shown": shown[0], **rest})

    def stored() -> str:
        row.refresh_from_db()
        return str(getattr(row, field))

    first, second = as_person(carla), as_person(olga)
    opened, opened_too = first.get(page), second.get(page)
    assert save(second, opened_too, "As Olga wants it.").status_code == 302
    refused = save(first, opened, "As Carla wants it.")
    assert refused.status_code in (409, 422)
    for text in ("Somebody else changed this meanwhile", "As Olga wants it.", "As Carla wants it."):
        assert text in refused.content.decode()
    assert stored() == "As Olga wants it."
    assert save(first, refused, "As Carla wants it.").status_code == 302
    assert stored() == "As Carla wants it."
