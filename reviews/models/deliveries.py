"""What agents and teams are owed by webhook, how their addresses have been doing, and messages in chats."""

from __future__ import annotations

from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.models import Agent, ChatApp, Team, User
from reviews.models.held import HeldItem


def delivery_id() -> str:
    return new_id("msg")


def webhook_id() -> str:
    return new_id("wh")


class Event(NamedTuple):
    """What a webhook may be told of. docs/callbacks.md says more of its data."""

    label: str | Promise
    data: str  # its shape: what of the API gives the same, or its fields; webhooks of teams get `agent` as well
    to: Literal["agent", "team", "both", "test"]  # whom: the agent it is about, the webhooks of its team that want it


EVENTS = {
    "item.held": Event(_("An item was held"), "GET /held/{id}, review_url", "team"),
    "item.decided": Event(_("An item was decided"), "GET /decisions", "both"),
    "item.expired": Event(_("An item expired undecided"), "GET /decisions", "both"),
    "extension.requested": Event(_("An agent asked for more tool calls"), "GET /extensions/{id}", "team"),
    "extension.decided": Event(_("Extension request answered"), "GET /extensions/{id}", "agent"),
    "pattern.proposed": Event(_("An error pattern was proposed"), "GET /patterns", "team"),
    "think_twice.suggested": Event(_("Stuck problem"), "response, session, stuck", "agent"),
    "meta.confidence_low": Event(_("Low quality"), "response, session, quality", "agent"),
    "meta.impasse": Event(_("Impasse"), "response, session, quality, stuck", "agent"),
    "meta.reflection": Event(
        _("Reflection"),
        "id, day, since, until, responses, corrections, gaps, impasses, quality, held, proposals",
        "agent",
    ),
    "research.finished": Event(_("Research finished"), "GET /research/{id}", "agent"),
    "webhook.test": Event(_("A test"), "team", "test"),
}
TEAM_EVENTS = {name: event.label for name, event in EVENTS.items() if event.to in ("team", "both")}


class Health(models.Model):
    """How an address has been doing."""

    class Off(models.TextChoices):
        GONE = "gone", _("The receiver answered 410: it is gone for good.")
        GIVEN_UP = "given-up", _("Five deliveries in a row were given up.")
        FAILING = "failing", _("No delivery succeeded for a day.")

    url = models.CharField(max_length=500)
    tried_at = models.DateTimeField(null=True)  # who was tried longest ago comes first
    failing_since = models.DateTimeField(null=True)
    given_up = models.PositiveIntegerField(default=0)  # deliveries in a row
    off_at = models.DateTimeField(null=True)
    off_reason = models.CharField(max_length=10, choices=Off, blank=True)

    class Meta:
        abstract = True

    @property
    def is_off(self) -> bool:
        """Say whether it was switched off because nothing got through."""
        return self.off_at is not None


class Delivery(models.Model):
    """One event that an agent's callback address or a team's webhook is owed: the outbox.

    `body` is what is sent, on every attempt. Without `webhook` it goes to the agent; with one, `agent` is whom the
    event is about, if anybody.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Queued")
        DELIVERED = "delivered", _("Delivered")
        EXHAUSTED = "exhausted", _("Given up")

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the receiver's own words."""

        # As `egress.Failed` says it.
        ADDRESS = "address", _("The address cannot be used.")
        FORBIDDEN = "forbidden", _("The address leads to a place that is not public.")
        NAME = "name", _("The name in the address could not be found.")
        CONNECTION = "connection", _("No connection, or it was interrupted.")
        CERTIFICATE = "certificate", _("The certificate could not be verified.")
        TIMEOUT = "timeout", _("No answer in time.")
        ANSWER = "answer", _("The answer was not HTTP.")
        # As it was answered.
        STATUS = "status", _("The receiver refused it.")
        REDIRECT = "redirect", _("The receiver answered with a redirect, which is never followed.")
        GONE = "gone", _("The receiver answered that it is gone for good.")
        # As it stood here.
        NO_SECRET = "no-secret", _("There is no live secret to sign with.")
        NO_URL = "no-url", _("The agent has no webhook address any more.")
        OFF = "off", _("The webhook was switched off.")
        TOO_MANY = "too-many", _("Too many deliveries were queued while the webhook failed.")
        DISABLED = "disabled", _("The receiver was disabled for as long as texts are kept.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was sending.")

    public_id = models.CharField(max_length=40, unique=True, default=delivery_id)  # the webhook-id
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="deliveries", db_index=False)
    webhook = models.ForeignKey("TeamWebhook", models.PROTECT, null=True, related_name="deliveries", db_index=False)
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
        constraints = [
            models.CheckConstraint(
                condition=Q(agent__isnull=False) | Q(webhook__isnull=False), name="delivery_to_somebody"
            )
        ]
        indexes = [
            # What an agent or a webhook is owed now, and what is on its way to it.
            models.Index(
                fields=["agent", "next_attempt_at"], condition=Q(state="waiting", webhook=None), name="deliveries_owed"
            ),
            models.Index(
                fields=["webhook", "next_attempt_at"],
                condition=Q(state="waiting", webhook__isnull=False),
                name="deliveries_owed_webhook",
            ),
            models.Index(
                fields=["agent", "leased_until"],
                condition=Q(leased_until__isnull=False, webhook=None),
                name="deliveries_leased",
            ),
            models.Index(
                fields=["webhook", "leased_until"],
                condition=Q(leased_until__isnull=False, webhook__isnull=False),
                name="deliveries_leased_webhook",
            ),
            models.Index(fields=["agent", "-id"], condition=Q(webhook=None), name="deliveries_of_agent"),
            models.Index(fields=["webhook", "-id"], condition=Q(webhook__isnull=False), name="deliveries_of_webhook"),
            models.Index(
                fields=["agent", "-id"], condition=Q(state="exhausted", webhook=None), name="deliveries_given_up"
            ),
            models.Index(
                fields=["webhook", "-id"],
                condition=Q(state="exhausted", webhook__isnull=False),
                name="deliveries_given_up_webhook",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def receiver(self) -> Agent | TeamWebhook:
        """Return whose address it goes to."""
        receiver = self.webhook or self.agent
        assert receiver
        return receiver


class Endpoint(Health):
    """How an agent's callback address has been doing. What is told of another address no longer counts."""

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="endpoint")

    def __str__(self) -> str:
        return f"endpoint of {self.agent_id}"

    @property
    def is_off(self) -> bool:
        """Say whether the address the agent has now is switched off."""
        return super().is_off and self.url == self.agent.callback_url


class TeamWebhook(Health):
    """An address at which a team is told of events, signed with a secret of its own. Its owners manage it.

    A removed one keeps its row, as the audit log names it; its secrets are forgotten once it can no longer be restored.
    """

    public_id = models.CharField(max_length=40, unique=True, default=webhook_id)
    team = models.ForeignKey(Team, models.PROTECT, related_name="webhooks")
    events = models.JSONField(default=list)  # of TEAM_EVENTS
    secret_encrypted = models.TextField()
    former_secret_encrypted = models.TextField(blank=True)  # signs as well until an owner ends it
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    removed_at = models.DateTimeField(null=True)
    was_enabled = models.BooleanField(default=True, db_default=True)  # when it was removed
    delivered_at = models.DateTimeField(null=True)  # the last success
    failed_at = models.DateTimeField(null=True)  # the last failure, and why
    trouble = models.CharField(max_length=20, choices=Delivery.Trouble, blank=True)
    failed_status = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """Name it without the path, which may carry a token."""
        return urlsplit(self.url).netloc


class ChatCard(models.Model):
    """One held item in one chat: the message, and the outbox of it. reviews/chats/cards.py writes and sends it.

    What a message says is read when it is sent, so no text is kept here.
    """

    app = models.ForeignKey(ChatApp, models.CASCADE, related_name="cards", db_index=False)
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="cards")
    message = models.CharField(max_length=100, blank=True)  # where the chat has it; "" until it was posted
    # Of the item as the message shows it: its version and the approvals that stood.
    version = models.PositiveIntegerField(default=0)
    given = models.PositiveSmallIntegerField(default=0)
    is_over = models.BooleanField(default=False)  # it shows the item's end, or is shown no more
    attempts = models.PositiveSmallIntegerField(default=0)
    # Whoever sends it pushes this ahead for the time of a lease; null: it shows what it should.
    next_attempt_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=12, choices=ChatApp.Trouble, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "held"], name="one_card_a_chat")]
        indexes = [
            models.Index(fields=["app", "next_attempt_at"], condition=Q(is_over=False), name="cards_open"),
            models.Index(fields=["next_attempt_at"], condition=Q(next_attempt_at__isnull=False), name="cards_due"),
        ]

    def __str__(self) -> str:
        return f"{self.held_id} in {self.app_id}"
