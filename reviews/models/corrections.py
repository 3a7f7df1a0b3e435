"""Whether messages of users corrected what agents had said, by people's answers, and what was learned from these."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.models import Agent, Team, User
from reviews.models.responses import AgentResponse


def correction_id() -> str:
    return new_id("cor")


class PossibleCorrection(models.Model):
    """A user's message that may correct the response before it, put before people. It holds no text.

    reviews/learning/hearing.py picks it, reviews/learning/corrections.py takes the answers.
    """

    class Answer(models.TextChoices):
        YES = "yes", _("A correction")
        NO = "no", _("No correction")
        SKIP = "skip", _("Skipped")
        GONE = "gone", _("Erased before anybody answered")

    public_id = models.CharField(max_length=40, unique=True, default=correction_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="possible_corrections", db_index=False)
    response = models.OneToOneField(  # to which the message was posted
        AgentResponse, models.PROTECT, related_name="possible_correction"
    )
    before = models.ForeignKey(AgentResponse, models.PROTECT, related_name="+")  # which it may correct
    confidence = models.FloatField()  # the detector's, 0 to 1
    cue = models.CharField(max_length=20, blank=True)  # its strongest
    rank = models.FloatField(null=True)  # the learned one of that time
    is_first = models.BooleanField(default=False)  # its rank passed the cut, so it is asked before others
    is_likely = models.BooleanField(default=False, db_default=False)  # enough to stand in To do
    stands_for = models.FloatField(default=1)  # messages: the inverse of its chance to be asked about
    place = models.FloatField()  # in the list of questions, the lowest first
    counts = models.BooleanField()  # as a correction: by its answer, else by the detector
    took_back = models.BooleanField(default=False)  # the topics of `before` are counted once less for it
    answer = models.CharField(max_length=4, choices=Answer, blank=True)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("possible correction")
        verbose_name_plural = _("possible corrections")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "place"], condition=Q(answer=""), name="corrections_waiting"),
            models.Index(
                fields=["agent", "found_at"], condition=Q(answer="", is_likely=True), name="corrections_to_do"
            ),
            models.Index(fields=["agent", "found_at"], name="corrections_of_days"),
        ]

    def __str__(self) -> str:
        return self.public_id


class LearnedCorrections(models.Model):
    """What learning from a team's answers came to last."""

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="learned_corrections")
    found = models.JSONField()  # heuristics.ranking.learning.Learned.as_dict
    model = models.JSONField(null=True)  # heuristics.ranking.model.Model.as_dict; null: it orders no better
    cut = models.FloatField(null=True)  # the rank from which a message is asked about first
    made_at = models.DateTimeField()

    class Meta:
        verbose_name = _("learned corrections")
        verbose_name_plural = _("learned corrections")

    def __str__(self) -> str:
        return f"corrections learned for {self.team_id}"
