"""Set how long a team's texts are kept; reviews/retention.py erases what is older."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from metacog.audit import audit
from metacog.models import Team


def set_retention(team: Team, days: int | None, actor: audit.Actor) -> bool:
    """Keep the team's texts for so many days, None for ever; return whether that was a change.

    Raises ValidationError, by field, when it is no number of days that can be kept.
    """
    try:
        Team._meta.get_field("retention_days").run_validators(days)
    except ValidationError as error:
        raise ValidationError({"retention_days": error.messages}) from None
    with transaction.atomic():
        before = Team.objects.select_for_update(no_key=True).get(pk=team.pk).retention_days
        if before == days:
            return False
        Team.objects.filter(pk=team.pk).update(retention_days=days)
        audit.record(
            "retention-changed",
            str(team.pk),
            actor=actor,
            team=team,
            before=_told(before),
            after=_told(days),
        )
    team.retention_days = days
    return True


def _told(days: int | None) -> str:
    return "for ever" if days is None else f"{days} days"
