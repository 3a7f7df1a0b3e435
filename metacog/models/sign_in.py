"""What signing in is remembered by: how long a provider's word about somebody holds, and a memory of all processes."""

from __future__ import annotations

from datetime import datetime, timedelta

from allauth.socialaccount.models import SocialAccount
from django.db import models

HOLDS = timedelta(hours=1)  # a provider's word, from when it was given
GRACE = timedelta(hours=4)  # while the provider cannot be reached


class Identities(models.QuerySet["Identity"]):
    def holding(self, now: datetime) -> Identities:
        """Return those whose provider vouches for them; none for longer than it could have, wherever clocks went."""
        return self.filter(holds_until__gt=now, holds_until__lte=now + GRACE)


class Identity(models.Model):
    """What a provider said of one of its accounts, and until when that holds."""

    account = models.OneToOneField(SocialAccount, models.CASCADE, related_name="identity")
    confirmed_at = models.DateTimeField()
    asked_at = models.DateTimeField()  # last, whatever came of it
    holds_until = models.DateTimeField(db_index=True)
    has_lapsed = models.BooleanField(default=False, db_default=False)  # what its groups gave was taken
    refused_at = models.DateTimeField(null=True)  # the provider renews nothing: signed out there, or gone
    # Whether it asked for more than one factor when they last signed in there.
    has_second_factor = models.BooleanField(default=False, db_default=False)
    refresh_token_encrypted = models.TextField(blank=True, default="", db_default="")

    objects = Identities.as_manager()

    def __str__(self) -> str:
        return f"{self.account.provider}: {self.account.uid}"


class CacheEntry(models.Model):
    """Django's database cache: how often what is guarded was tried, counted over all processes and machines."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key
