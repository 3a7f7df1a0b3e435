"""What agents want to do, while it waits for a person and once they allowed it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, User
from reviews.models.held import HeldItem


def grant_id() -> str:
    return new_id("grant")


class HeldCall(models.Model):
    """The tool call that a held item is about.

    While the item is open the same call, asked for again, is this one. Its approval lets one of the ids in `call_ids`
    pass, once: `used_at`.
    """

    held = models.OneToOneField(HeldItem, models.CASCADE, primary_key=True, related_name="call")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="held_calls", db_index=False)
    sha256 = models.CharField(max_length=64)  # of session, name and arguments: reviews.intake.tool_calls.digest
    name = models.CharField(max_length=255)
    arguments = OrderedJSONField(null=True)
    schema = OrderedJSONField(null=True)
    description = models.TextField(blank=True)
    rule = OrderedJSONField(null=True)  # that held it, as the policy had it
    fault = models.TextField(blank=True)  # why the rule could not be checked
    is_demanded = models.BooleanField(default=False)  # `require_review`
    hesitation = OrderedJSONField(null=True)  # the verdict's, where a rule had it scored
    call_ids = OrderedJSONField(default=list)  # under which it was asked for, each once; null is one, too
    asks = models.PositiveIntegerField(default=1)
    asked_at = models.DateTimeField(default=timezone.now)  # last
    used_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("held tool call")
        verbose_name_plural = _("held tool calls")
        indexes = [
            models.Index(fields=["agent", "sha256"], name="same_call"),
            models.Index(fields=["agent", "name", "-held"], name="calls_of_tool"),
        ]

    def __str__(self) -> str:
        return self.name


class CallGrant(models.Model):
    """Permission to make one call in one session any number of times until `until`, given with an approval."""

    public_id = models.CharField(max_length=40, unique=True, default=grant_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="call_grants", db_index=False)
    held = models.ForeignKey(HeldItem, models.PROTECT, related_name="grants")
    person = models.ForeignKey(User, models.PROTECT, related_name="call_grants")
    sha256 = models.CharField(max_length=64)  # of what was approved, as HeldCall's
    granted_at = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    uses = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("permission for a tool call")
        verbose_name_plural = _("permissions for tool calls")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "sha256"], condition=Q(withdrawn_at=None), name="granted_calls"),
        ]

    def __str__(self) -> str:
        return self.public_id
