"""What taught the patterns, and up to where has been learnt."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent
from patterns.models import ErrorPattern
from reviews.models.held import HeldItem
from reviews.models.responses import AgentResponse


class PatternOrigin(models.Model):
    """What taught a team an error pattern (seed 000, "經驗累積"): one row of its lineage."""

    class Kind(models.TextChoices):
        REJECTION = "rejection", _("A person's decision")
        CORRECTION = "correction", _("A correction")
        SECOND_LOOK = "second-look", _("A second look")
        MEMORY = "memory", _("New knowledge")

    pattern = models.ForeignKey(ErrorPattern, models.CASCADE, related_name="origins")
    kind = models.CharField(max_length=20, choices=Kind)
    row = models.CharField(max_length=60)  # the public id of the decision, response or memory that taught it
    # Where what was wrong had been said.
    response = models.ForeignKey(AgentResponse, models.PROTECT, null=True, related_name="+")
    held = models.ForeignKey(HeldItem, models.PROTECT, null=True, related_name="+")
    # Quotes: `said` by the agent, `told` by who knew better. Empty once the texts of either were erased.
    evidence = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("origin of a pattern")
        verbose_name_plural = _("origins of a pattern")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["row", "kind"], name="taught_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.row}"


class ShadowMatch(models.Model):
    """A response that a pattern in shadow would have fired on. Found behind the writes; no verdict knows of it."""

    pattern = models.ForeignKey(ErrorPattern, models.CASCADE, related_name="shadow_matches", db_index=False)
    response = models.ForeignKey(AgentResponse, models.CASCADE, related_name="shadow_matches", db_index=False)

    class Meta:
        verbose_name = _("match in shadow")
        verbose_name_plural = _("matches in shadow")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["response", "pattern"], name="match_once")]
        indexes = [models.Index(fields=["pattern", "-response"], name="matched_of_pattern")]

    def __str__(self) -> str:
        return f"{self.pattern_id} in {self.response_id}"


class LearningCursor(models.Model):
    """Up to where an agent's rows have been learnt from and counted in the records of patterns.

    An agent's responses and decisions are numbered in order of commit, under the lock on its state: what lies
    behind is done, and done once.
    """

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="learning_cursor")
    response = models.BigIntegerField(default=0)  # the last one's key
    decision_seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("learning cursor")
        verbose_name_plural = _("learning cursors")

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.response}, {self.decision_seq}"
