"""The programs that post, their keys, and what changes with each post."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models.people import Language, Team


def agent_id() -> str:
    return new_id("agt")


class Agent(models.Model):
    """A program that posts its responses. Its keys and secrets live in AgentKey."""

    public_id = models.CharField(max_length=40, unique=True, default=agent_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="agents", verbose_name=_("team"))
    name = models.CharField(_("name"), max_length=100)
    language = models.CharField(_("language"), max_length=10, choices=Language, default=Language.EN)
    callback_url = models.URLField(_("webhook address"), max_length=500, blank=True)
    # What its curators want the chairman to keep in mind when it asks for more steps (seed 003, 2.4).
    handcard = models.TextField(_("handcard"), max_length=4_000, blank=True)
    # Off means the agent's responses are stored and passed, unscored.
    hesitation_enabled = models.BooleanField(_("hesitation"), default=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    # While it is paused all its calls and words are held, until somebody resumes it or the time is over.
    paused_at = models.DateTimeField(null=True, editable=False)
    paused_until = models.DateTimeField(null=True, editable=False)
    policy_version = models.PositiveIntegerField(default=1, editable=False)
    # The key of the reviews.RiskModel in force, the team's or its own; null: none.
    risk_model = models.BigIntegerField(null=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_agent_name_a_team")]

    def __str__(self) -> str:
        return self.name

    def is_paused(self, now: datetime) -> bool:
        return self.paused_at is not None and (self.paused_until is None or now < self.paused_until)

    @property
    def is_paused_now(self) -> bool:
        """Say so to a page."""
        return self.is_paused(timezone.now())


class AgentState(models.Model):
    """What changes with every post of an agent, apart from the Agent row that everything points to.

    The ingest and every release of a decision lock this row first, which puts one agent's posts in
    order of arrival, and its feed's numbers in order of commit. Two agents never wait for each other.
    """

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="state")
    # GCRA's theoretical arrival time, in seconds since the epoch (ATM Forum TM 4.0, annex on GCRA).
    rate_tat = models.FloatField(default=0)
    decision_seq = models.PositiveBigIntegerField(default=0)
    responses = models.PositiveBigIntegerField(default=0)
    unread = models.PositiveBigIntegerField(default=0, db_default=0)  # of them in a language that no rule reads
    intent = models.JSONField(null=True)
    topics = OrderedJSONField(default=dict)  # how often each came, the latest last; see reviews.intake.write
    cycles = OrderedJSONField(default=list)  # the topics of the last cycles, oldest first: [number or null, topics]
    # Its feed in its contexts (reviews/investigation/told.py): up to which seq it was given, at how many responses,
    # and up to which a response came after that.
    feed_given = models.PositiveBigIntegerField(default=0)
    feed_given_at = models.PositiveBigIntegerField(default=0)
    feed_heard = models.PositiveBigIntegerField(default=0)
    active_threads = models.PositiveIntegerField(default=0)  # so that a response costs nothing where there are none

    def __str__(self) -> str:
        return f"state of {self.agent_id}"


class AgentKey(models.Model):
    """An API key (stored as its SHA-256) with a signing secret (encrypted). Two live while one is rotated."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="keys")
    key_sha256 = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # the key's first characters, to tell keys apart
    secret_encrypted = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.hint}…"
