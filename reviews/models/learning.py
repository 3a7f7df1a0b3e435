"""What taught the patterns, up to where has been learnt, and what looking back came to."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, Team, User
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
        CONTRAST = "contrast", _("One of several rejections")

    pattern = models.ForeignKey(ErrorPattern, models.CASCADE, related_name="origins")
    kind = models.CharField(max_length=20, choices=Kind)
    # The public id of what taught it: a decision, a spot check, a response that corrects another, a memory.
    row = models.CharField(max_length=60)
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
        constraints = [
            # By itself; as one of several it may teach as many patterns as it holds phrases.
            models.UniqueConstraint(fields=["row", "kind"], condition=~Q(kind="contrast"), name="taught_once"),
            models.UniqueConstraint(
                fields=["row", "pattern"], condition=Q(kind="contrast"), name="taught_once_a_pattern"
            ),
        ]
        indexes = [models.Index(fields=["row"], name="taught_by_row")]

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


class CorrectedResponse(models.Model):
    """A response that the user's next message called wrong; noted by the sweep that learns from it."""

    response = models.OneToOneField(AgentResponse, models.CASCADE, primary_key=True, related_name="corrected")
    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    by = models.ForeignKey(AgentResponse, models.CASCADE, related_name="+", db_index=False)  # came with that message
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("corrected response")
        verbose_name_plural = _("corrected responses")
        ordering = ["response"]
        indexes = [models.Index(fields=["team", "at"], name="corrected_of_team")]

    def __str__(self) -> str:
        return f"{self.response_id} by {self.by_id}"


class ProposalEvidence(models.Model):
    """What a proposed pattern fires on among the decided texts that it was not made from.

    reviews/learning/contrast.py counts it.
    """

    pattern = models.OneToOneField(ErrorPattern, models.CASCADE, primary_key=True, related_name="evidence")
    keywords_sha256 = models.CharField(max_length=64)  # of those that it holds for: `lifecycle.digest`
    texts = models.PositiveIntegerField()
    fires = models.PositiveIntegerField()
    rejected = models.PositiveIntegerField()  # of what it fires on
    # Rejected of all the texts; null: counted before this was kept.
    base = models.PositiveIntegerField(null=True)
    # Of what it fires on, how many would be rejected if it were as often as texts of the same agent or metadata; null:
    # counted before this was kept.
    matched = models.FloatField(null=True)
    # In thousandths: what at least was rejected of what it fires on, with 95 % confidence. The order of proposals.
    sure = models.PositiveSmallIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("evidence for a proposal")
        verbose_name_plural = _("evidence for proposals")

    def __str__(self) -> str:
        return f"{self.pattern_id}: {self.rejected} of {self.fires}"


class ProposalTrial(models.Model):
    """What a proposed pattern would have done with the responses of the last days (reviews/learning/trials.py)."""

    pattern = models.OneToOneField(ErrorPattern, models.CASCADE, primary_key=True, related_name="trial")
    keywords_sha256 = models.CharField(max_length=64)  # of those that were tried: `lifecycle.digest`
    responses = models.PositiveIntegerField()
    fired = models.PositiveIntegerField()  # responses
    held = models.PositiveIntegerField()  # items that would have been held
    more = models.PositiveIntegerField(default=0, db_default=0)  # of these, passed then; of the others people made:
    rejected = models.PositiveIntegerField()
    edited = models.PositiveIntegerField()
    approved = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("backtest of a proposal")
        verbose_name_plural = _("backtests of proposals")

    def __str__(self) -> str:
        return f"{self.pattern_id}: {self.fired} of {self.responses}"


class ContrastLook(models.Model):
    """When a team's rejected texts were last compared with its approved ones, and how many all of them were."""

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="contrast_look")
    at = models.DateTimeField()
    texts = models.PositiveIntegerField()
    # What the decisions say beside patterns: reviews/learning/reason_groups.py and retiring.py. None: erased since.
    reasons = OrderedJSONField(null=True)
    retiring = OrderedJSONField(default=dict, db_default={})

    class Meta:
        verbose_name = _("contrast check")
        verbose_name_plural = _("contrast checks")

    def __str__(self) -> str:
        return f"{self.team_id}: {self.texts}"


def reflection_id() -> str:
    return new_id("refl")


class Reflection(models.Model):
    """One look back on an agent's responses (seed 004, "Reflection Engine").

    reviews/learning/reflections.py makes it.
    """

    public_id = models.CharField(max_length=40, unique=True, default=reflection_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="reflections")
    day = models.DateField(null=True)  # the last it looked at, once for ever; null: a person asked for it
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()
    responses = models.PositiveIntegerField()  # that it looked at, the latest
    of = models.PositiveIntegerField()  # that there were
    figures = OrderedJSONField()  # as heuristics.reflection.Reflection.as_dict has them
    proposals = models.JSONField(default=list)  # the lessons that it proposed, public ids
    made_at = models.DateTimeField(default=timezone.now)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("reflection")
        verbose_name_plural = _("reflections")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "day"], condition=Q(day__isnull=False), name="reflect_a_day_once")
        ]
        indexes = [models.Index(fields=["agent", "-id"], name="reflections_of_agent")]

    def __str__(self) -> str:
        return self.public_id


class SweepCursor(models.Model):
    """Whose turn it was when a sweep over teams or agents ended: the next one goes on behind it."""

    name = models.CharField(max_length=40, primary_key=True)
    after = models.BigIntegerField()  # a team's or agent's key

    def __str__(self) -> str:
        return f"{self.name} after {self.after}"
