"""What a team's owners set of who is asked: the rota, the routes, the steps. Read, checked and saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from metacog.audit import audit
from metacog.heuristics.tool_calls.rules import Errors
from metacog.models import Channel, Membership, Role, Team, User
from reviews.asking.rota import Rota
from reviews.asking.routes import Route
from reviews.models import Asked, TeamAsking

ON_CALL, OWNERS, CHAT, GROUP, PERSON = "on-call", "owners", "chat", "group:", "person:"
MOST_STEPS, MOST_ROUTES, MOST_PEOPLE, MOST_INSTEAD = 4, 20, 20, 20
LONGEST = 10_080  # minutes of a step: a week


class Step(NamedTuple):
    """So many minutes after the one before, while nobody decides."""

    after: int
    to: str

    @property
    def wait(self) -> timedelta:
        return timedelta(minutes=self.after)


class Settings(NamedTuple):
    """Those of one team."""

    rota: Rota
    routes: Sequence[Route]
    steps: Sequence[Step]

    @classmethod
    def of(cls, asking: TeamAsking | None) -> Settings:
        given = asking.settings if asking else {}
        routes = [Route(each, []) for each in given.get("routes", ())]
        return cls(Rota.of(given.get("rota", {})), routes, [Step(**each) for each in given.get("steps", ())])


class Members:
    """Whom a team's recipients are, read once."""

    def __init__(self, team_id: int) -> None:
        members = Membership.objects.filter(team=team_id, user__is_active=True, role__in=Role.REVIEWER.and_above)
        self._rows = list(members.select_related("user").prefetch_related("groups").order_by("user__username"))
        self.has_chat = Channel.objects.filter(team=team_id).exists()
        self.able = {row.user_id: row.user for row in self._rows}

    def of(self, to: str, rota: Rota, now: datetime) -> list[int]:
        """Return the keys of whom a recipient is now: the owners where it were nobody else, of a chat nobody."""
        if to == CHAT and self.has_chat:
            return []
        owners = [row.user_id for row in self._rows if row.role == Role.OWNER]
        return self._named(to, rota, now) or owners or [*self.able]

    def has_nobody(self, to: str, rota: Rota, now: datetime) -> bool:
        """Tell whether a recipient is nobody now, so that the owners are asked in its place."""
        return to != OWNERS and not (to == CHAT and self.has_chat) and not self._named(to, rota, now)

    def _named(self, to: str, rota: Rota, now: datetime) -> list[int]:
        if to.startswith(GROUP):
            name = to.removeprefix(GROUP)
            return [row.user_id for row in self._rows if name in {group.name for group in row.groups.all()}]
        one = rota.person(now, self.able) if to == ON_CALL else person_in(to)
        return [key for key in self.able if key == one]


def person_in(to: str) -> int | None:
    """Return the key of whom a recipient names; None where it names no one person."""
    return int(to.removeprefix(PERSON)) if to.startswith(PERSON) else None


def errors_in(routes: Sequence[Mapping[str, Any]]) -> Errors:
    """Say what is wrong with routes: where, as number and names, and what."""
    errors: Errors = []
    for place, given in enumerate(routes):
        found: Errors = []
        Route(given, found)
        errors += [((str(place), *loc), detail) for loc, detail in found]
    return errors


def save(team: Team, actor: User, given: Mapping[str, Any], now: datetime | None = None) -> list[str]:
    """Put settings without faults in force; return the names of what changed. Empty ones have nobody asked any more.

    What is held by now has its steps counted from now.
    """
    now = now or timezone.now()
    wanted = {name: given[name] for name in ("rota", "routes", "steps") if given.get(name)}
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        row = TeamAsking.objects.select_for_update().filter(team=team).first()  # a sweep holds it, too
        before = row.settings if row else {}
        changed = [name for name in ("rota", "routes", "steps") if before.get(name) != wanted.get(name)]
        if not changed:
            return []
        if wanted:
            saved = TeamAsking(team=team, settings=wanted, changed_at=row.changed_at if row else now)
            saved.handover_at = next_handover(saved, now)
            saved.save(force_insert=row is None, force_update=row is not None)
        elif row:
            row.delete()
        if wanted:  # the sweep looks anew when each is due
            later = Asked.objects.filter(held=OuterRef("held"), step__gt=OuterRef("step"))
            Asked.objects.filter(~Exists(later), held__team=team, held__closed_at=None).update(next_at=now)
        else:
            Asked.objects.filter(held__team=team, next_at__isnull=False).update(next_at=None)
        audit.record("asking-changed", str(team.pk), actor=actor, team=team, fields=changed)
    return changed


def next_handover(asking: TeamAsking, now: datetime) -> datetime | None:
    """Return when the next person is told that they are on call; when to look again, where nobody else can be now."""
    rota = Settings.of(asking).rota
    if not rota.tells:
        return None
    return rota.turn(now, Members(asking.team_id).able).until or rota.next_change(now)
