"""What people's verdicts say of the rules: spot checks, and weights fitted to it all."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.models import Agent, User
from reviews.models.responses import AgentResponse


def sample_id() -> str:
    return new_id("smp")


class Sample(models.Model):
    """A response that nothing was held of, put before people to learn what the rules miss.

    reviews/metrics/sampling.py picks it.
    """

    class Finding(models.TextChoices):
        FINE = "fine", _("Correctly passed")
        MISSED = "missed", _("Should have been held")

    public_id = models.CharField(max_length=40, unique=True, default=sample_id)
    response = models.OneToOneField(AgentResponse, models.PROTECT, related_name="sample")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="samples")
    day = models.DateField()  # in UTC, when the response came
    stands_for = models.FloatField(default=1)  # responses: the inverse of each one's chance to be picked
    verdict = models.CharField(max_length=6, choices=Finding, blank=True)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="samples")
    judged_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("spot check")
        verbose_name_plural = _("spot checks")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "day"], name="samples_of_day"),
            models.Index(fields=["agent", "day", "id"], condition=Q(verdict=""), name="samples_waiting_longest"),
            models.Index(fields=["-judged_at", "-id"], condition=~Q(verdict=""), name="samples_judged_last"),
        ]

    def __str__(self) -> str:
        return self.public_id


class SampleCursor(models.Model):
    """The last day of an agent that samples were looked for in, whether there were any or not."""

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="sample_cursor")
    day = models.DateField()

    class Meta:
        verbose_name = _("spot check cursor")
        verbose_name_plural = _("spot check cursors")

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.day}"


class FittedWeights(models.Model):
    """What fitting weights to people's verdicts on an agent came to last (reviews/metrics/weight_fits.py)."""

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="fitted_weights")
    found = models.JSONField()  # heuristics.weight_fit.Fit.as_dict
    # What it was made of: the policy it was compared with, the first day, and the last decision and moment.
    policy_version = models.PositiveIntegerField()
    since = models.DateField()
    decision_seq = models.PositiveBigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        verbose_name = _("fitted weights")
        verbose_name_plural = _("fitted weights")

    def __str__(self) -> str:
        return f"weights fitted for {self.agent_id}"
