"""What agents are given to bear in mind."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.ids import new_id
from metacog.models import Agent, Team, User


def lesson_id() -> str:
    return new_id("les")


class Lesson(models.Model):
    """What an agent, or each agent of a team, should do next time (seed 004, "Reflection Engine").

    Written by patterns/lessons alone. Only active ones are given to agents, and only people make one active.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", pgettext_lazy("lesson", "Proposed")
        ACTIVE = "active", pgettext_lazy("lesson", "Active")
        RETIRED = "retired", pgettext_lazy("lesson", "Retired")
        DISMISSED = "dismissed", pgettext_lazy("lesson", "Dismissed")

    class Origin(models.TextChoices):
        REFLECTION = "reflection", pgettext_lazy("lesson", "Reflection")
        CORRECTION = "correction", pgettext_lazy("lesson", "Corrections")
        PERSON = "person", pgettext_lazy("lesson", "A person")

    MAX_TEXT = 500
    MAX_TOPICS = 8
    MAX_TOPIC = 100

    public_id = models.CharField(max_length=40, unique=True, default=lesson_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="lessons", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="lessons", verbose_name=_("agent"))
    text = models.CharField(_("lesson"), max_length=MAX_TEXT)  # one line; null agent: for each agent of the team
    topics = models.JSONField(_("when it is about"), default=list)  # words that call for it; none: any time
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PROPOSED)
    origin = models.CharField(_("from"), max_length=10, choices=Origin, default=Origin.PERSON)
    key = models.CharField(max_length=64, blank=True)  # digest of what a proposal is about: the same one joins it
    evidence = models.JSONField(default=dict)  # of a proposal: {"kind", "count", "responses": [ids]}
    proposed = models.PositiveIntegerField(default=0)  # how often, each time with something new
    given = models.PositiveIntegerField(_("times given"), default=0)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    changed_at = models.DateTimeField(_("changed"), default=timezone.now, editable=False)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("lesson")
        verbose_name_plural = _("lessons")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "key"], condition=~Q(key=""), name="one_lesson_a_key"),
        ]
        indexes = [models.Index(fields=["team", "state", "-changed_at"], name="lessons_by_state")]

    def __str__(self) -> str:
        return self.text or self.public_id
