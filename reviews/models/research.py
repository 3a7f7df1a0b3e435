"""What was looked up once a verdict stood."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.ids import new_id
from metacog.models import Agent


def research_id() -> str:
    return new_id("rsch")


class Research(models.Model):
    """What to look up once a verdict stands, and what a search found (seed 003, section 5).

    Waits for the worker (reviews/investigation/research.py) until it is finished or failed; neither is ever taken back.
    """

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("research", "Searching")
        FINISHED = "finished", pgettext_lazy("research", "Finished")
        FAILED = "failed", pgettext_lazy("research", "Failed")

    class Trouble(models.TextChoices):
        """Why a search failed. Never in the search's own words."""

        REACH = "reach", _("The search could not be reached.")
        REFUSED = (
            "refused",
            _("The search did not answer as expected: it may not allow JSON, or it got too many requests at once."),
        )
        ANSWER = "answer", _("What the search answered could not be read.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was searching.")

    MAX_VERDICT = 20_000
    MAX_TOPIC = 200

    public_id = models.CharField(max_length=40, unique=True, default=research_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="research")
    verdict = models.TextField()
    topic = models.CharField(max_length=MAX_TOPIC, blank=True)
    language = models.CharField(max_length=10)  # of the verdict, as heuristics.research tells it
    questions = models.JSONField()  # [{"kind", "text", "query"}]
    findings = models.JSONField(default=list)  # [{"question", "title", "address", "snippet"}]
    advice = models.TextField(blank=True)  # Markdown; once finished
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    searched = models.BooleanField(default=False)  # False once finished: no search was configured
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    leased_until = models.DateTimeField(null=True)  # whoever searches holds it until then
    trouble = models.CharField(max_length=12, choices=Trouble, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = pgettext_lazy("one", "research")
        verbose_name_plural = _("research")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "-id"], name="research_of_agent"),
            models.Index(fields=["next_attempt_at"], condition=Q(state="waiting"), name="research_due"),
        ]

    def __str__(self) -> str:
        return self.public_id
