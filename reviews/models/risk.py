"""What was learned from a team's decisions: models of risk, what the newest decisions say of them, and a budget."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent, Team


class RiskModel(models.Model):
    """Learned orders of risk, of words and of calls (heuristics/ranking/orders.py). Never changed: verdicts name it."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="risk_models")
    public_id = models.CharField(max_length=40)  # of what it is: equal models have equal ids
    document = models.JSONField()  # heuristics.ranking.orders.Orders.as_dict
    made_at = models.DateTimeField()

    class Meta:
        verbose_name = _("risk model")
        verbose_name_plural = _("risk models")
        constraints = [models.UniqueConstraint(fields=["team", "public_id"], name="one_model_of_a_content")]

    def __str__(self) -> str:
        return self.public_id


class LearnedRisk(models.Model):
    """What learning came to last for a team, or for one of its agents by itself (reviews/risk/learning.py).

    Of words, or of tool calls: each is learned from by itself.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="learned_risks")
    agent = models.ForeignKey(Agent, models.CASCADE, null=True, related_name="+")  # null: the whole team
    of_calls = models.BooleanField(default=False, db_default=False)
    found = models.JSONField()  # heuristics.ranking.learning.Learned.as_dict
    model = models.ForeignKey(RiskModel, models.PROTECT, null=True, related_name="+")  # null: none is worth having
    # What passed in the last 30 days and could have been held: {"days", "items", "risks"}, up to 1,000 risks in
    # ascending order that stand for all `items`.
    passing = models.JSONField(default=dict)
    made_at = models.DateTimeField()

    class Meta:
        verbose_name = _("learned risk")
        verbose_name_plural = _("learned risks")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "of_calls"], condition=models.Q(agent=None), name="one_learned_risk_of_team"
            ),
            models.UniqueConstraint(fields=["agent", "of_calls"], name="one_learned_risk_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.agent_id or ''}"


class BudgetDay(models.Model):
    """How many items a team's review budget, of words or of tool calls, held on a day (in UTC)."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="budget_days")
    day = models.DateField()
    of_calls = models.BooleanField(default=False, db_default=False)
    held = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("day of a review budget")
        verbose_name_plural = _("days of review budgets")
        constraints = [models.UniqueConstraint(fields=["team", "day", "of_calls"], name="one_budget_a_day")]

    def __str__(self) -> str:
        return f"{self.team_id} on {self.day}: {self.held}"
