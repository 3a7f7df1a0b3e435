"""What the statistics are read from: counts by day."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent, Team, User
from reviews.models.decisions import DecisionVerdict
from reviews.models.held import HeldItem


class DailyFigure(models.Model):
    """What became of the responses of one agent's day (in UTC); reviews/metrics/daily.py counts it from the rows.

    A held item belongs to the day its response came, whenever it is decided. A decision counts once it
    can no longer be undone; until then its item is pending. Tool calls are counted apart, in `calls`.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="daily_figures")
    day = models.DateField()
    responses = models.PositiveIntegerField(default=0)
    triggered = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)  # items; the next six add up to it
    rejected = models.PositiveIntegerField(default=0)
    withdrawn = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    expired = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    # Each a count of its own, so that any number of days adds up exactly:
    signals = models.JSONField(default=dict)  # by type, how many responses fired; of held items, decided and rejected
    scores = models.JSONField(default=dict)  # by score, how many items were decided, how many rejected
    seconds = models.JSONField(default=dict)  # by whole seconds from held to decided, how many items
    # As scores, by the length of the held text, of items that still have theirs; null: from before this was counted.
    lengths = models.JSONField(null=True)
    # By error pattern (its number), as signals; by person, how many items they approved, edited and rejected.
    # Null: from before these were counted.
    patterns = models.JSONField(null=True)
    people = models.JSONField(null=True)
    # By tool: how many calls a rule or a grant let pass, and a rule denied; of those that were held, how many people
    # (or the agent, or time) approved, edited, rejected, withdrew and let expire.
    calls = models.JSONField(default=dict, db_default={})
    # By effect, as `calls`: each call once for each effect that it has. Null: from before this was counted.
    effects = models.JSONField(null=True)
    calls_pending = models.PositiveIntegerField(default=0, db_default=0)
    counted_at = models.DateTimeField()

    class Meta:
        verbose_name = _("daily statistic")
        verbose_name_plural = _("daily statistics")
        ordering = ["day", "agent"]
        constraints = [models.UniqueConstraint(fields=["agent", "day"], name="count_a_day_once")]
        indexes = [
            models.Index(fields=["agent", "day"], condition=Q(pending__gt=0), name="days_still_open"),
            models.Index(fields=["agent", "day"], condition=Q(calls_pending__gt=0), name="days_with_open_calls"),
            models.Index(fields=["agent", "day"], condition=Q(patterns__isnull=True), name="days_without_patterns"),
        ]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.day}"


class LookFigure(models.Model):
    """How an agent's second looks at one kind of item ended, by the day the items were held.

    Counted once, when the decision is released (reviews/metrics/agreement.py): items.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="look_figures")
    day = models.DateField()
    kind = models.CharField(max_length=10, choices=HeldItem.Kind)
    kept = models.PositiveIntegerField(default=0)  # that the agent decided itself, as the next two
    edited = models.PositiveIntegerField(default=0)
    withdrew = models.PositiveIntegerField(default=0)
    looked = models.PositiveIntegerField(default=0)  # with a response that replied to it before it was decided
    contradicted = models.PositiveIntegerField(default=0)  # of those, where that response says otherwise
    # Of those, what a person then did with what the agent stood by and what it took back.
    stood_let_go = models.PositiveIntegerField(default=0)
    stood_rejected = models.PositiveIntegerField(default=0)
    back_let_go = models.PositiveIntegerField(default=0)
    back_rejected = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("statistic of second looks")
        verbose_name_plural = _("statistics of second looks")
        ordering = ["day", "agent", "kind"]
        constraints = [models.UniqueConstraint(fields=["agent", "day", "kind"], name="looks_of_a_day_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.day}, {self.kind}"


class SampleFigure(models.Model):
    """What people said of the spot checks of one agent's day (in UTC), added up with each judgment.

    Each sample counts for the responses it stands for (reviews/metrics/sampling.py).
    """

    agent = models.ForeignKey(Agent, models.CASCADE, db_index=False, related_name="sample_figures")
    day = models.DateField()
    checked = models.FloatField(default=0)
    squares = models.FloatField(default=0)  # of what each stands for
    missed = models.FloatField(default=0)  # of those checked

    class Meta:
        verbose_name = _("statistic of spot checks")
        verbose_name_plural = _("statistics of spot checks")
        ordering = ["day", "agent"]
        constraints = [models.UniqueConstraint(fields=["agent", "day"], name="samples_of_a_day_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.day}"


class ReviewTimeFigure(models.Model):
    """How one person decided in one team on one day (in UTC).

    reviews/metrics/review_time.py counts it from the decisions.
    """

    person = models.ForeignKey(User, models.CASCADE, related_name="review_time_figures")
    team = models.ForeignKey(Team, models.CASCADE, related_name="review_time_figures")
    day = models.DateField()
    approved = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    timed = models.PositiveIntegerField(default=0)  # of these, those whose time is known; the next three are of those
    hasty = models.PositiveIntegerField(default=0)  # quicker than the text can be read
    tenths = models.JSONField(default=dict)  # by tenths of a second from showing to deciding, how many
    to_read = models.PositiveIntegerField(default=0)  # seconds that the texts take to read, all of them
    run = models.PositiveIntegerField(default=0)  # the most with one verdict in a row
    run_of = models.CharField(max_length=10, choices=DecisionVerdict, blank=True)
    high_run = models.PositiveIntegerField(default=0)  # the most approvals in a row of items with a high score
    counted_at = models.DateTimeField()

    class Meta:
        verbose_name = _("statistic of review time")
        verbose_name_plural = _("statistics of review time")
        ordering = ["day", "person"]
        constraints = [models.UniqueConstraint(fields=["person", "team", "day"], name="review_time_of_a_day_once")]
        indexes = [models.Index(fields=["team", "day"], name="review_time_of_team")]

    def __str__(self) -> str:
        return f"{self.person_id} on {self.day}"
