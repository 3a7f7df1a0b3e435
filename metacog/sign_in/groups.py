"""Roles by the groups of an OpenID Connect provider: what they give here, they also take."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from metacog.accounts import members
from metacog.audit import audit
from metacog.models import Membership, Role, Team, User
from metacog.runtime.oidc import Grant

log = logging.getLogger(__name__)


def named(claims: Mapping[str, Any], settings: Mapping[str, Any]) -> set[str]:
    """Return the groups that a provider names of somebody, in the ID token or in what it tells of the user."""
    found = set()
    for part in (claims.get("userinfo"), claims.get("id_token")):
        value = (part or {}).get(settings["groups_claim"])
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                found.add(name.removeprefix("/"))  # Keycloak gives paths
    return found


def wanted(grants: Sequence[Grant], groups: set[str]) -> dict[Team, Role]:
    """Return the highest role that these groups give in each team there is."""
    asked: dict[str, Role] = {}
    for grant in grants:
        if grant.group.removeprefix("/") in groups:
            asked[grant.team] = max(Role(grant.role), asked.get(grant.team, Role.VIEWER), key=list(Role).index)
    teams = Team.objects.in_bulk(list(asked), field_name="name")
    for name in asked.keys() - teams.keys():
        log.warning("A group gives a role in %r, which is not a team.", name)
    return {teams[name]: role for name, role in asked.items() if name in teams}


def given(app: Any, told: Mapping[str, Any]) -> dict[Team, Role]:
    """Return the roles that the groups give which a provider names."""
    return wanted(app.settings["grants"], named(told, app.settings))


def with_address(login: Any) -> User | None:
    """Return the one person here whose address the provider has verified as that of whoever comes."""
    addresses = [each.email for each in login.email_addresses if each.verified]
    found = list(User.objects.filter(email__iexact=addresses[0])[:2]) if addresses else []
    return found[0] if len(found) == 1 else None


def add_person(draft: User, provider: str) -> User:
    """Add somebody who comes for the first time, under a name that is free."""
    name = User.normalize_username(draft.username or draft.email or f"{provider}-user")[:140]
    names = User.objects.filter(username__istartswith=name).values_list("username", flat=True)
    taken = {each.lower() for each in names}
    free = next(
        each
        for number in range(1, len(taken) + 2)
        if (each := f"{name}-{number}" if number > 1 else name).lower() not in taken
    )
    person = User(username=free, email=draft.email, first_name=draft.first_name, last_name=draft.last_name)
    person.set_unusable_password()
    person.save()
    return person


def apply(person: User, provider: str, given: Mapping[Team, Role]) -> None:
    """Make what this provider's groups give now the roles they gave before; what people gave stays as it is.

    The last owner of a team stays one.
    """
    for membership in Membership.objects.filter(user=person, given_by=provider).select_related("team"):
        try:
            if membership.team not in given:
                members.remove_member(membership, None)
            else:
                members.change_role(membership, given[membership.team], None)
        except members.LastOwner:
            log.warning("%s stays owner of %s: it has no other.", person.get_username(), membership.team)
    for team, role in given.items():
        with transaction.atomic():
            Team.objects.select_for_update(no_key=True).get(pk=team.pk)
            if Membership.objects.filter(team=team, user=person).exists():
                continue
            Membership.objects.create(team=team, user=person, role=role, given_by=provider)
            members.keep_staff(person)
            name = person.get_username()
            audit.record("member-added", str(person.pk), actor=None, team=team, person=name, after=role, new=False)
