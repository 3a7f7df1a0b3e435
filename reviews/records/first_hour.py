"""What is to be done in an agent's first hour, and what of it is: read from the rows, so that it ticks itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent, Membership, PersonNotices, Policy, Team, User
from reviews.models import AgentResponse, Decision

SHOWN_FOR = timedelta(days=7)  # since the agent was added, where not all of it is done


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do."""

    name: str
    title: str | Promise
    is_done: bool
    url: str = ""  # where it is done
    waits: bool = False  # nothing is to be done here but to wait


def steps(agent: Agent, person: User) -> dict[str, Any]:
    """Return the steps, and whether the page asks again; five queries."""
    has_posted = AgentResponse.latest_of(agent).exists()
    has_decided = has_posted and Decision.objects.filter(agent=agent, by=Decision.By.PERSON, undone_at=None).exists()
    packs = Policy.objects.filter(agent=agent, version=agent.policy_version).values_list("packs", flat=True).first()
    found = [
        Step("agent", _("Add the agent"), is_done=True),
        Step("pack", _("Choose a pack of rules"), bool(packs), reverse("policy", args=[agent.public_id])),
        Step("response", _("Post the first response"), has_posted, waits=not has_posted),
        Step("decision", _("Decide the first item"), has_decided, f"{reverse('queue')}?agent={agent.public_id}"),
        Step("teammate", _("Add a teammate"), _has_several(agent.team_id), reverse("team")),
        Step(
            "notices",
            _("Choose who is notified of held items"),
            _is_chosen(agent.team_id, person),
            reverse("preferences"),
        ),
    ]
    is_done = all(step.is_done for step in found)
    return {
        "steps": found,
        "done": sum(step.is_done for step in found),
        "is_shown": not is_done and agent.created_at > timezone.now() - SHOWN_FOR,
        "is_live": not is_done,
    }


def _has_several(team: int) -> bool:
    return Membership.objects.filter(team=team)[:2].count() > 1


def _is_chosen(team: int, person: User) -> bool:
    """Say whether anybody of a team hears of held items, or this person chose what to hear, be it nothing."""
    mailed = Q(memberships__user__told__when__in=(PersonNotices.When.WAITING, PersonNotices.When.DAILY))
    pushed = Q(memberships__user__devices__isnull=False)
    chats = Q(channel__isnull=False) | Q(chats__isnull=False)
    chosen = Q(asking__isnull=False) | Exists(PersonNotices.objects.filter(person=person))
    return Team.objects.filter(mailed | pushed | chats | chosen, pk=team).exists()
