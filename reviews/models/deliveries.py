"""What agents are owed by callback, and how their addresses have been doing."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.models import Agent
from reviews.models.held import HeldItem


def delivery_id() -> str:
    return new_id("msg")


class Delivery(models.Model):
    """One callback that an agent is owed: the outbox. `body` is what is sent, on every attempt."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        EXHAUSTED = "exhausted", _("Given up")

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the receiver's own words."""

        # As `egress.Failed` says it.
        ADDRESS = "address", _("The callback address cannot be used.")
        FORBIDDEN = "forbidden", _("The callback address leads to a place that is not public.")
        NAME = "name", _("The name in the callback address could not be found.")
        CONNECTION = "connection", _("No connection, or it broke off.")
        CERTIFICATE = "certificate", _("The certificate could not be verified.")
        TIMEOUT = "timeout", _("No answer in time.")
        ANSWER = "answer", _("The answer was not HTTP.")
        # As it was answered.
        STATUS = "status", _("The receiver did not take it.")
        REDIRECT = "redirect", _("The receiver answered with a redirect, which is never followed.")
        GONE = "gone", _("The receiver answered that it is gone for good.")
        # As it stood here.
        NO_SECRET = "no-secret", _("The agent has no live secret to sign with.")
        NO_URL = "no-url", _("The agent has no callback address any more.")
        OFF = "off", _("The endpoint was switched off.")
        DISABLED = "disabled", _("The agent was disabled for as long as texts are kept.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was sending.")

    public_id = models.CharField(max_length=40, unique=True, default=delivery_id)  # the webhook-id
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="deliveries", db_index=False)
    held = models.ForeignKey(HeldItem, models.PROTECT, null=True, related_name="deliveries")
    type = models.CharField(max_length=40)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)  # begun since it was written or replayed
    next_attempt_at = models.DateTimeField(default=timezone.now)
    # Whoever sends it holds it until then. A row whose time is over was left by a worker that died.
    leased_until = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=20, choices=Trouble, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True)

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["-id"]
        indexes = [
            # What an agent is owed now, and what is on its way to it.
            models.Index(fields=["agent", "next_attempt_at"], condition=Q(state="waiting"), name="deliveries_owed"),
            models.Index(
                fields=["agent", "leased_until"],
                condition=Q(leased_until__isnull=False),
                name="deliveries_leased",
            ),
            models.Index(fields=["agent", "-id"], name="deliveries_of_agent"),
            models.Index(fields=["agent", "-id"], condition=Q(state="exhausted"), name="deliveries_given_up"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Endpoint(models.Model):
    """How an agent's callback address has been doing. What is told of another address no longer counts."""

    class Off(models.TextChoices):
        GONE = "gone", _("The receiver answered 410: it is gone for good.")
        GIVEN_UP = "given-up", _("Five deliveries in a row were given up.")
        FAILING = "failing", _("Nothing has got through for a day.")

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="endpoint")
    url = models.CharField(max_length=500)
    tried_at = models.DateTimeField(null=True)  # who was tried longest ago comes first
    failing_since = models.DateTimeField(null=True)
    given_up = models.PositiveIntegerField(default=0)  # deliveries in a row
    off_at = models.DateTimeField(null=True)
    off_reason = models.CharField(max_length=10, choices=Off, blank=True)

    def __str__(self) -> str:
        return f"endpoint of {self.agent_id}"

    @property
    def is_off(self) -> bool:
        """Say whether the address the agent has now is switched off."""
        return self.off_at is not None and self.url == self.agent.callback_url
