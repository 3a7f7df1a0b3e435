"""Logs that people uploaded to see what would have been held of them; deleted after some days."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, Team, User


def log_import_id() -> str:
    return new_id("log")


class LogImport(models.Model):
    """One uploaded log and its report; reviews/logs/imports.py writes it, piece by piece, and deletes it."""

    class State(models.TextChoices):
        UPLOADING = "uploading", _("Uploading")
        WAITING = "waiting", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    class Problem(models.TextChoices):
        FORMAT = "format", _("The format of the file was not recognized.")
        BROKEN = "broken", _("The file could not be processed.")

    public_id = models.CharField(max_length=40, unique=True, default=log_import_id)
    team = models.ForeignKey(Team, models.CASCADE, related_name="log_imports", db_index=False)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    # Whose policy it is tried under, in these versions; null: a new agent's, with the team's error patterns.
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+", db_index=False)
    policy_version = models.PositiveIntegerField(null=True)
    rules_version = models.PositiveIntegerField(default=0, db_default=0)  # of the team's rules on tool calls
    patterns_version = models.PositiveBigIntegerField()
    keeps = models.BooleanField(default=False)  # its turns become responses of the agent
    file_name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField(default=0)  # bytes, as uploaded
    format = models.CharField(max_length=20)  # as asked for; once it is known, what it is
    state = models.CharField(max_length=10, choices=State, default=State.UPLOADING)
    problem = models.CharField(max_length=10, choices=Problem, blank=True)
    read_bytes = models.PositiveBigIntegerField(default=0)  # of `size`
    records = models.PositiveBigIntegerField(default=0)
    kept = models.PositiveBigIntegerField(default=0)  # turns that are responses now
    items_size = models.PositiveBigIntegerField(default=0)  # characters of its items
    report = OrderedJSONField(null=True)  # as reviews.logs.trial.Report has it
    unread = OrderedJSONField(default=list)  # the first of what could not be read: line, sentence, what it names
    cursor = OrderedJSONField(null=True)  # where reading and scoring go on
    claim = models.CharField(max_length=32, blank=True)  # of the worker that is at it
    claimed_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # claims since the last piece was done
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name = _("log import")
        verbose_name_plural = _("log imports")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["team", "-id"], name="logs_of_team"),
            models.Index(fields=["state"], condition=Q(state__in=["waiting", "running"]), name="logs_to_do"),
            models.Index(fields=["expires_at"], name="logs_to_delete"),
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_under_way(self) -> bool:
        return self.state in (self.State.UPLOADING, self.State.WAITING, self.State.RUNNING)


class LogImportPart(models.Model):
    """A stretch of an uploaded log: in the database, where every worker finds it. Gone once the log is read."""

    log = models.ForeignKey(LogImport, models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["log", "number"], name="log_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.log_id}"


class LogImportItem(models.Model):
    """One of the first items that would have been held."""

    log = models.ForeignKey(LogImport, models.CASCADE, related_name="items", db_index=False)
    number = models.PositiveIntegerField()  # from 1
    line = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=64)
    name = models.CharField(max_length=255, blank=True)  # of the tool
    reason = models.CharField(max_length=10)  # as reviews.logs.trial.Reason
    score = models.PositiveSmallIntegerField(null=True)
    rule = models.PositiveSmallIntegerField(null=True)  # its place in the policy, from 1
    excerpt = models.CharField(max_length=400)
    body = OrderedJSONField()  # of the turn, as it would have been posted
    verdict = OrderedJSONField()
    index = models.PositiveSmallIntegerField()  # the item's place in it

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["log", "number"], name="log_item_once")]

    def __str__(self) -> str:
        return self.excerpt
