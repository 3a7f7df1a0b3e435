"""Add people to teams and change what they may do. Each change and its audit event are one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from metacog.audit import audit
from metacog.models import AuditEvent, MemberGroup, Membership, Role, Team, User

RESTORABLE_FOR = timedelta(days=30)  # a member who was removed
MOST_REMOVED, MOST_READ = 5, 100  # of them that are offered, and events that are looked at


class LastOwner(Exception):
    """The team would be left without an owner; nothing was written."""

    def __init__(self, membership: Membership) -> None:
        super().__init__()
        self.membership = membership


class NotTheirs(Exception):
    """The person belongs to other teams too, which this owner has no say in; no link was made."""


class LinkTokens(PasswordResetTokenGenerator):
    """One-time links to set a password: dead once used, after a sign-in, and after joining a team.

    The last keeps an owner who made a link, and never passed it on, out of teams the person joins later.
    """

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        teams = user.memberships.order_by("team_id").values_list("team_id", flat=True)
        return super()._make_hash_value(user, timestamp) + ",".join(map(str, teams))


link_tokens = LinkTokens()


def add_team(name: str, actor: audit.Actor) -> Team:
    """Add a team; ValidationError when the name cannot be taken."""
    with transaction.atomic():
        team = Team(name=name)
        team.full_clean()
        with _name_of_its_own():
            team.save()
        audit.record("team-created", str(team.pk), actor=actor, team=team, name=name)
    return team


def rename_team(team: Team, name: str, actor: audit.Actor) -> bool:
    """Call a team otherwise; return whether that was a change. ValidationError when another has the name."""
    with transaction.atomic():
        before = Team.objects.select_for_update(no_key=True).get(pk=team.pk).name
        if before == name:
            return False
        with _name_of_its_own():
            Team.objects.filter(pk=team.pk).update(name=name)  # the rest of the row may have changed since it was read
        audit.record("team-renamed", str(team.pk), actor=actor, team=team, was=before, name=name)
    return True


@contextmanager
def _name_of_its_own() -> Iterator[None]:
    """Tell of a name that another team was given after it was checked."""
    try:
        yield
    except IntegrityError:
        raise ValidationError({"name": _("A team with this name already exists.")}) from None


def set_names_people(team: Team, names_people: bool, actor: audit.Actor) -> bool:
    """Set whether the team's agents are told who decided; return whether that was a change."""
    with transaction.atomic():
        if not Team.objects.filter(pk=team.pk, names_people=not names_people).update(names_people=names_people):
            return False
        audit.record(f"names-people-{'on' if names_people else 'off'}", str(team.pk), actor=actor, team=team)
    return True


def set_requires_second_factor(team: Team, is_on: bool, actor: audit.Actor, because: str) -> bool:
    """Set whether the team's people must have a second factor; return whether that was a change."""
    with transaction.atomic():
        changed = Team.objects.filter(pk=team.pk, requires_second_factor=not is_on)
        if not changed.update(requires_second_factor=is_on):
            return False
        action = "second-factor-required" if is_on else "second-factor-not-required"
        audit.record(action, str(team.pk), actor=actor, team=team, because=because)
    return True


def set_target(team: Team, minutes: int, actor: audit.Actor) -> bool:
    """Set within which time the team means to decide; return whether that was a change."""
    with transaction.atomic():
        changed = Team.objects.filter(pk=team.pk).exclude(decide_within_minutes=minutes)
        if not changed.update(decide_within_minutes=minutes):
            return False
        audit.record(
            "decide-within-changed",
            str(team.pk),
            actor=actor,
            team=team,
            before=str(team.decide_within_minutes),
            after=str(minutes),
        )
    return True


def save_group(team: Team, name: str, memberships: Iterable[int], actor: audit.Actor) -> bool:
    """Make a group of a team's members, or put others into it; return whether that was a change.

    ValidationError for a name that cannot be taken. Who leaves the team leaves its groups.
    """
    group = MemberGroup(team=team, name=name)
    group.clean_fields()
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        group, is_new = MemberGroup.objects.get_or_create(team=team, name=name)
        before = set(group.members.values_list("pk", flat=True))
        own = Membership.objects.filter(team=team, pk__in=memberships).select_related("user").order_by("user__username")
        if not is_new and before == {each.pk for each in own}:
            return False
        group.members.set(own)
        people = [each.user.get_username() for each in own]
        action = "group-added" if is_new else "group-changed"
        audit.record(action, str(team.pk), actor=actor, team=team, name=name, people=people)
    return True


def remove_group(group: MemberGroup, actor: audit.Actor) -> None:
    """Remove a group: nobody can approve any more what a rule leaves to it."""
    with transaction.atomic():
        audit.record("group-removed", str(group.team_id), actor=actor, team=group.team_id, name=group.name)
        group.delete()


def of_team(team: Team) -> list[Membership]:
    return list(Membership.objects.filter(team=team).select_related("user", "team").order_by("user__username"))


def add_member(team: Team, username: str, role: str, actor: audit.Actor, *, email: str = "") -> tuple[Membership, bool]:
    """Give somebody a role in the team; return the membership and whether the person is new here.

    A new person has no password until they use their link. Raises ValidationError, by field.
    """
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        username = User.normalize_username(username.strip())
        # Two people whose names differ in capitals only would be taken for each other.
        person = User.objects.filter(username__iexact=username).first()
        if person and person.username != username:
            raise ValidationError(
                {"username": _("%(name)s already exists: use exactly this spelling.") % {"name": person.username}}
            )
        if person and Membership.objects.filter(team=team, user=person).exists():
            raise ValidationError({"username": _("%(name)s is already in this team.") % {"name": person.username}})
        is_new = False
        if person is None:
            person = User(username=username, email=email)
            person.set_unusable_password()
            person.full_clean()
            new = {"email": email, "password": person.password}
            # An owner of another team may have added them since.
            person, is_new = User.objects.get_or_create(username=username, defaults=new)
        membership = Membership.objects.create(team=team, user=person, role=role)
        keep_staff(person)
        _record("member-added", membership, actor, after=role, new=is_new)
    return membership, is_new


def change_role(membership: Membership, role: str, actor: audit.Actor) -> bool:
    """Change what a member may do; return whether that was a change. Raises LastOwner."""
    with transaction.atomic():
        membership = _locked(membership)
        before = membership.role
        if before == role:
            return False
        _keep_an_owner(membership)
        membership.role = role
        membership.owner_since = timezone.now() if role == Role.OWNER else None
        membership.save(update_fields=["role", "owner_since"])
        keep_staff(membership.user)
        _record("role-changed", membership, actor, before=before, after=role)
    return True


def remove_member(membership: Membership, actor: audit.Actor, because: str = "") -> None:
    """Take somebody out of the team; what they decided stays theirs. Raises LastOwner."""
    with transaction.atomic():
        membership = _locked(membership)
        _keep_an_owner(membership)
        reason = {"because": because} if because else {}
        _record("member-removed", membership, actor, before=membership.role, **reason)
        membership.delete()
        keep_staff(membership.user)


class Removed(NamedTuple):
    """Somebody who was taken out of a team of late, and is not in it now."""

    person: User
    role: str
    at: datetime
    by: str
    because: str


def removed_from(team: Team, now: datetime) -> list[Removed]:
    """Return who can be put back as they were, the last first; the audit log has what they were."""
    events = AuditEvent.objects.filter(team=team, action="member-removed", at__gt=now - RESTORABLE_FOR)
    latest: dict[int, AuditEvent] = {}
    for event in events.order_by("-at", "-pk")[:MOST_READ]:
        latest.setdefault(int(event.object_id), event)
    people = User.objects.filter(pk__in=latest, is_active=True).exclude(memberships__team=team)
    found = [
        Removed(person, event.before, event.at, event.actor, event.data.get("because", ""))
        for person in people
        for event in [latest[person.pk]]
    ]
    return sorted(found, key=lambda each: each.at, reverse=True)[:MOST_REMOVED]


def restore_member(team: Team, person_id: int, actor: audit.Actor) -> Membership | None:
    """Put somebody back into the team as they were; None where they were not taken out of it of late."""
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        were = next((each for each in removed_from(team, timezone.now()) if each.person.pk == person_id), None)
        if were is None:
            return None
        membership = Membership.objects.create(team=team, user=were.person, role=were.role)
        keep_staff(were.person)
        _record("member-restored", membership, actor, after=were.role)
    return membership


def make_link(membership: Membership, actor: User) -> str:
    """Return the address at which the member may set a password, once, within three days.

    Whoever holds it can sign in as the member, so it is made only by somebody who owns every team
    the member is in. Raises NotTheirs.
    """
    person = membership.user
    owned = actor.teams_as(Role.OWNER)
    if not actor.is_superuser and (person.is_superuser or person.memberships.exclude(team__in=owned).exists()):
        raise NotTheirs
    with transaction.atomic():
        _record("member-link-made", membership, actor)
        token = link_tokens.make_token(person)
    key = urlsafe_base64_encode(force_bytes(person.pk))
    return settings.PUBLIC_URL + reverse("set-password", args=[key, token])


def _locked(membership: Membership) -> Membership:
    # Two owners who remove each other take turns here; the second finds only one left. Two who remove the same
    # member do so too, and the second finds none.
    Team.objects.select_for_update(no_key=True).get(pk=membership.team_id)
    return get_object_or_404(Membership.objects.select_related("user", "team"), pk=membership.pk)


def _keep_an_owner(leaving: Membership) -> None:
    owners = Membership.objects.filter(team=leaving.team_id, role=Role.OWNER, user__is_active=True)
    if leaving.role == Role.OWNER and not owners.exclude(pk=leaving.pk).exists():
        raise LastOwner(leaving)


def keep_staff(person: User) -> None:
    """Mark as staff whoever may use the admin: superusers, curators and owners."""
    # What another team makes of them at the same time counts, too.
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    is_staff = person.is_superuser or person.teams_as(Role.CURATOR).exists()
    if person.is_staff != is_staff:
        person.is_staff = is_staff
        person.save(update_fields=["is_staff"])


def _record(action: str, membership: Membership, actor: audit.Actor, **rest: object) -> None:
    person = membership.user
    audit.record(action, str(person.pk), actor=actor, team=membership.team_id, person=person.get_username(), **rest)
