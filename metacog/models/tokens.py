"""The tokens with which people's own programs call the API."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.models.people import User


class PersonalTokens(models.QuerySet["PersonalToken"]):
    def live(self, now: datetime) -> PersonalTokens:
        """Return those that work at this moment, as far as they themselves say."""
        found = self.filter(revoked_at=None, expires_at__gt=now)
        if settings.TOKEN_DAYS:  # also those that were made before it was set
            found = found.filter(created_at__gt=now - timedelta(days=settings.TOKEN_DAYS))
        return found


class PersonalToken(models.Model):
    """A token that acts as its person, within its scopes, until it expires or is revoked.

    What the person may do, and where, is asked of their memberships with every call.
    """

    class Scope(models.TextChoices):
        READ = "read", _("Read held items")
        DECIDE = "decide", _("Decide held items")

    MOST_LIVE = 20  # a person

    person = models.ForeignKey(User, models.CASCADE, related_name="tokens", verbose_name=_("person"))
    name = models.CharField(_("name"), max_length=100)
    token_sha256 = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # how the token begins, to tell it from others
    scopes = models.JSONField(default=list)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)  # to the minute
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")  # who alone may restore it
    # When the next call would be due if calls came evenly, in seconds since 1970 (GCRA).
    rate_tat = models.FloatField(default=0)

    objects = PersonalTokens.as_manager()

    class Meta:
        verbose_name = _("access token")
        verbose_name_plural = _("access tokens")
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def ends_at(self) -> datetime:
        """Return when it ends: as it was made, or sooner by the operator's limit."""
        most = settings.TOKEN_DAYS
        return min(self.expires_at, self.created_at + timedelta(days=most)) if most else self.expires_at
