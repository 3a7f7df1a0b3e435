"""What agents ask people, and what the answer must be."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.models import Agent
from reviews.models.held import HeldItem


class HeldQuestion(models.Model):
    """The question that a held item is, whose text is the item's.

    While the item is open the same question, asked again, is this one.
    """

    held = models.OneToOneField(HeldItem, models.CASCADE, primary_key=True, related_name="question")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="held_questions", db_index=False)
    sha256 = models.CharField(max_length=64)  # of session, text, schema and choices: reviews.intake.questions.digest
    schema = OrderedJSONField(null=True)
    choices = OrderedJSONField(null=True)
    asks = models.PositiveIntegerField(default=1)
    asked_at = models.DateTimeField(default=timezone.now)  # last

    class Meta:
        verbose_name = _("held question")
        verbose_name_plural = _("held questions")
        indexes = [models.Index(fields=["agent", "sha256"], name="same_question")]

    def __str__(self) -> str:
        return f"question of {self.held_id}"
