"""Ask about held items: each goes where its route says, and to the next while nobody decides.

An Asked row is a step that was taken, once an item: it, its audit event and the notices that it owes are one
transaction, under the lock of the team's settings. A row's `next_at` is when to look whether the next step is due; by
then the item may be snoozed, or the settings may be others. Posts write none of it: what is new is found by rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from metacog.audit import audit
from metacog.models import Notice
from metacog.notices import events
from reviews.asking.routes import route_of
from reviews.asking.settings import CHAT, Members, Settings, Step, next_handover
from reviews.held import talk
from reviews.isolation import by_itself
from reviews.models import Asked, HeldItem, ItemTalk, TeamAsking

MOST = 500  # items of a team in one turn
LEAST = timedelta(minutes=2)  # that the last who is asked has before an item expires
State = HeldItem.State


def sweep(now: datetime | None = None) -> int:
    """Take the steps that are due, and return how many."""
    now = now or timezone.now()
    taken = 0
    for team_id in TeamAsking.objects.values_list("team", flat=True):
        with by_itself("Nobody was asked in the team %s", team_id):
            _end_snoozes(team_id, now)
            taken += _ask(team_id, now)
    return taken


def next_at(since: datetime, left: Sequence[Step], expires_at: datetime) -> datetime | None:
    """Return when the first of the steps that are left is due; None where none is.

    Where the item would expire before they all are taken, they share the time that is left.
    """
    if not left:
        return None
    waits = [step.wait for step in left]
    room = expires_at - since
    if sum(waits, LEAST) <= room:
        return since + waits[0]
    return since + min(waits[0], room / (len(waits) + 1))


def due_at(asked: Asked, row: ItemTalk | None, steps: Sequence[Step]) -> datetime | None:
    """Return when the step after one is due; the minutes count anew from the end of a snooze, as `row` has it."""
    until = row.snoozed_until if row and row.snoozed_version == asked.held.version else None
    return next_at(max(asked.since, until or asked.since), steps[asked.step :], asked.held.expires_at)


class _Turn:
    """One team's turn."""

    def __init__(self, asking: TeamAsking, now: datetime) -> None:
        self.now, self.team_id, self.settings = now, asking.team_id, Settings.of(asking)
        self.members = Members(asking.team_id)
        self.recipients: dict[str, list[int]] = {"": []}  # whom the recipients are, each asked for once

    def step(self, held: HeldItem, step: int, to: str, since: datetime) -> Asked:
        """Return a step, unsaved, that is taken now; whom it asks are told."""
        people = self.recipients.get(to)
        if people is None:
            people = self.recipients[to] = self.members.of(to, self.settings.rota, self.now)
        due = next_at(since, self.settings.steps[step:], held.expires_at)
        return Asked(held=held, step=step, to=to, people=people, since=since, at=self.now, next_at=due)

    def record(self, asked: Sequence[Asked]) -> None:
        for each in asked:
            people = [self.members.able[key].get_username() for key in each.people]
            done = "escalated" if each.step else "routed"
            audit.record(
                audit.of_item(each.held.kind, done),
                each.held.public_id,
                actor=None,
                team=self.team_id,
                agent=each.held.agent,
                step=each.step,
                to=each.to,
                people=people,
            )

    def tell(self) -> None:
        """Owe one notice to each who is asked in this turn, about all of it."""
        if len(self.recipients) > 1:
            people = {key for keys in self.recipients.values() for key in keys}
            about = f"{self.team_id}/{self.now.isoformat()}"
            events.owe_asked(about, people, self.team_id if CHAT in self.recipients else None, self.now)


def _end_snoozes(team_id: int, now: datetime) -> None:
    """Have the minutes count anew where an item came back before its snooze was over: it changed, or was looked at."""
    with transaction.atomic():
        asleep = ItemTalk.objects.filter(team=team_id, snoozed_until__gt=now, held__state=State.PENDING)
        back = asleep.exclude(pk__in=talk.snoozed(now).values("pk")).select_for_update(of=("self",), no_key=True)
        keys = list(back.order_by("pk").values_list("pk", flat=True))
        if keys:
            ItemTalk.objects.filter(pk__in=keys).update(snoozed_until=None)
            Asked.objects.filter(held__in=keys, next_at__isnull=False).update(since=now, next_at=now)


def _ask(team_id: int, now: datetime) -> int:
    with transaction.atomic():
        asking = TeamAsking.objects.select_for_update(no_key=True).filter(team=team_id).first()
        if asking is None:
            return 0
        turn = _Turn(asking, now)
        if asking.handover_at and asking.handover_at <= now:
            _hand_over(asking, turn)
        new = [_first(turn, held, asking.changed_at) for held in _unasked(team_id, now)]
        Asked.objects.bulk_create(new)
        taken = [each for each in new if each.to] + _go_on(turn)
        turn.record(taken)
        turn.tell()
    return len(taken)


def _unasked(team_id: int, now: datetime) -> Sequence[HeldItem]:
    """Return what is held and was not looked at here yet; words that only wait for calls are nobody's to decide."""
    pending = HeldItem.objects.filter(team=team_id, state=State.PENDING, expires_at__gt=now)
    looked_at = Asked.objects.filter(held=OuterRef("pk"))
    new = pending.filter(~Exists(looked_at)).exclude(terms__only_waits=True)
    return list(new.select_related("agent", "call", "talk").order_by("held_at", "pk")[:MOST])


def _first(turn: _Turn, held: HeldItem, begun: datetime) -> Asked:
    route = route_of(held, turn.settings.routes)
    return turn.step(held, 0, route.to if route else "", max(held.held_at, begun))


def _go_on(turn: _Turn) -> list[Asked]:
    """Take the steps that are due, of what nobody has decided; put off what is due later by now."""
    due = Asked.objects.filter(next_at__lte=turn.now, held__team=turn.team_id).order_by("next_at", "pk")[:MOST]
    keys = [each.held_id for each in due]
    # Locked, so that none is decided meanwhile; in order, so that no two sweeps wait for each other.
    rows = HeldItem.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=keys).select_related("agent")
    items = {row.pk: row for row in rows.order_by("pk")}
    talks = {row.held_id: row for row in ItemTalk.objects.filter(held__in=keys)}
    taken = []
    for asked in due:
        held = asked.held = items[asked.held_id]
        if held.state != State.PENDING and held.closed_at is None:
            continue  # its decision may still be undone
        is_open = held.state == State.PENDING and held.expires_at > turn.now
        when = due_at(asked, talks.get(held.pk), turn.settings.steps) if is_open else None
        if when and when <= turn.now:
            taken.append(turn.step(held, asked.step + 1, turn.settings.steps[asked.step].to, turn.now))
            when = None
        Asked.objects.filter(pk=asked.pk).update(next_at=when)
    return Asked.objects.bulk_create(taken)


def _hand_over(asking: TeamAsking, turn: _Turn) -> None:
    """Tell whoever is on call from now on, once; nobody who goes on to be."""
    able, rota = turn.members.able, turn.settings.rota
    assert asking.handover_at
    person = rota.person(turn.now, able)
    around = {rota.person(asking.handover_at + moment, able) for moment in (-timedelta.resolution, timedelta())}
    if person is not None and around != {person}:
        about = f"{asking.team_id}/{asking.handover_at:%Y-%m-%dT%H:%M%z}"
        events.owe(Notice.Kind.ON_CALL, about, [able[person]], None, turn.now)
    TeamAsking.objects.filter(pk=asking.pk).update(handover_at=next_handover(asking, turn.now))
