"""What looking back on an agent's responses came to."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, User


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
