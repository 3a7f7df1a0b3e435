"""The problems agents work on, and when they were asked to think twice."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, User


def problem_id() -> str:
    return new_id("prob")


class Problem(models.Model):
    """What an agent works on in a session, as far as it looks stuck (seed 002: counted per problem).

    Written under the lock of the agent's state, so that posts count in order of arrival. What has
    never shown anything to keep has no row.
    """

    public_id = models.CharField(max_length=40, unique=True, default=problem_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="problems")
    session = models.CharField(max_length=255, blank=True)
    key = models.CharField(max_length=255, blank=True)  # as the agent calls it; "" is all that it calls nothing
    state = OrderedJSONField()  # heuristics.stuck's: the counters, and what a brief is made of
    points = models.PositiveSmallIntegerField(default=0)
    suggests = models.BooleanField(default=False)  # somebody should say whether to think twice
    began_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True)  # and not taken up again since
    erased_at = models.DateTimeField(null=True)  # at the end of the team's retention, and not taken up again since

    class Meta:
        verbose_name = _("problem")
        verbose_name_plural = _("problems")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["agent", "session", "key"], name="one_problem_a_key")]
        indexes = [
            models.Index(fields=["agent", "key", "-touched_at"], name="problems_by_key"),
            models.Index(fields=["agent", "-touched_at"], condition=Q(points__gt=0), name="problems_stuck"),
            models.Index(fields=["agent"], condition=Q(suggests=True), name="problems_that_ask"),
        ]

    def __str__(self) -> str:
        return self.key or "–"


class ThinkTwice(models.Model):
    """One time that thinking twice was suggested, or asked for, and what came of it."""

    class Answer(models.TextChoices):
        YES = "yes", pgettext_lazy("think twice", "Yes")  # the admin has words of its own for yes and no
        NO = "no", pgettext_lazy("think twice", "No")

    class By(models.TextChoices):
        PERSON = "person", _("person in the console")
        AGENT = "agent", _("reported by the agent on behalf of a person")
        USER = "user", _("user, in a message")

    class Outcome(models.TextChoices):
        HELPED = "helped", _("It helped")
        DID_NOT_HELP = "did-not-help", _("It did not help")

    problem = models.ForeignKey(Problem, models.CASCADE, related_name="think_twice")
    points = models.PositiveSmallIntegerField()  # when it was suggested, or asked for
    signals = models.JSONField(default=list)  # their types
    suggested_at = models.DateTimeField(null=True)  # null: asked for without being suggested
    answer = models.CharField(max_length=3, choices=Answer, blank=True)
    by = models.CharField(max_length=6, choices=By, blank=True)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)  # without an answer: when the problem was solved before there was one
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    outcome_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("think twice")
        verbose_name_plural = _("think twice")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["problem"], condition=Q(answered_at=None), name="asked_once_at_a_time")
        ]

    def __str__(self) -> str:
        return f"{self.problem}: {self.answer or '?'}"
