"""What the agents of a team know in common."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.ids import new_id
from metacog.heuristics.memory.recall import MAX_TERM
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Team, User
from patterns.models.errors import ErrorPattern


def memory_id() -> str:
    return new_id("mem")


class Memory(models.Model):
    """What a team's agents and people know, shared by all of them (seed 003, 2.2: the shared hippocampus).

    Only a confirmed one answers anybody. Written by patterns/memory/memory.py alone, which keeps the terms of those
    that are confirmed, and only theirs, in MemoryTerm.
    """

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("memory", "Pending")
        CONFIRMED = "confirmed", pgettext_lazy("memory", "Confirmed")
        RETIRED = "retired", pgettext_lazy("memory", "Retired")

    class Reason(models.TextChoices):
        """Why a memory waits for a curator instead of answering at once."""

        SCORE = "score"  # it would be marked or held
        PATTERN = "error-pattern"  # an active one matches it
        CONTRADICTION = "contradiction"  # of what the team remembers
        MANY = "many"  # its response asked for a great many things to be remembered

    MAX_TEXT = 2_000
    MAX_TOPIC = 200
    MAX_SOURCE = 500

    public_id = models.CharField(max_length=40, unique=True, default=memory_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="memories", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="memories", verbose_name=_("agent"))
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")  # who wrote it, where no agent did
    text = models.TextField(_("text"), max_length=MAX_TEXT)
    sha256 = models.CharField(max_length=64, editable=False)  # of the text as UTF-8; stays when the text is erased
    topic = models.CharField(_("topic"), max_length=MAX_TOPIC, blank=True)
    source = models.CharField(_("source"), max_length=MAX_SOURCE, blank=True)
    confidence = models.FloatField(_("confidence"), null=True)  # 0..1, as whoever wrote it says
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PENDING)
    hesitation_score = models.PositiveSmallIntegerField(null=True)  # 0-100, when it came; null: it was not scored
    doubts = models.JSONField(default=list)  # types of the signals that fired then
    pattern = models.ForeignKey(ErrorPattern, models.SET_NULL, null=True, related_name="+", db_index=False)  # of them
    reasons = models.JSONField(default=list)  # Reason: why it waited, if it did
    said_in = models.CharField(max_length=40, blank=True)  # the response's public id, where a REMEMBER brought it
    occurred_at = models.DateTimeField(default=timezone.now)  # when it was said; of two that clash, which is the older
    length = models.PositiveIntegerField(default=0)  # terms, while it is confirmed
    terms_version = models.PositiveSmallIntegerField(default=0)  # of the stemmer that made them; 0: it has none
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    confirmed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")  # null: the scores let it in
    confirmed_at = models.DateTimeField(null=True)
    retired_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    retired_at = models.DateTimeField(null=True)
    replaced_by = models.ForeignKey("self", models.SET_NULL, null=True, related_name="replaces")
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["team", "sha256"], name="one_memory_a_text")]
        indexes = [
            models.Index(fields=["team", "state", "-id"], name="memories_by_state"),
            # How many are searched, and how long they are on the average.
            models.Index(fields=["team", "length"], condition=Q(state="confirmed"), name="memories_that_answer"),
            # Which of them another stemmer's terms are kept of.
            models.Index(fields=["terms_version", "team"], condition=Q(state="confirmed"), name="memories_by_stemmer"),
        ]

    def __str__(self) -> str:
        return masked_text(self.text)[:80]

    @property
    def is_doubted(self) -> bool:
        """Whether it waits for what it says itself, and not only since another memory says otherwise."""
        return self.state == self.State.PENDING and self.reasons != [self.Reason.CONTRADICTION]


class MemoryTerm(models.Model):
    """How often a confirmed memory has a term (heuristics/memory/recall.py): the index of what is remembered."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="terms")
    term = models.CharField(max_length=MAX_TERM)
    times = models.PositiveIntegerField()
    length = models.PositiveIntegerField()  # the memory's

    class Meta:
        indexes = [models.Index(fields=["team", "term", "memory", "times", "length"], name="memories_by_term")]

    def __str__(self) -> str:
        return self.term


class MemoryConflict(models.Model):
    """Two memories that cannot both hold, as it seems, until a person says which of them stands.

    The older is the one that was said first (`Memory.occurred_at`), whichever came in first.
    """

    class Outcome(models.TextChoices):
        NEWER = "newer", _("Newer kept")
        OLDER = "older", _("Older kept")
        BOTH = "both", _("Both kept")

    older = models.ForeignKey(Memory, models.CASCADE, related_name="contradicted_by")
    newer = models.ForeignKey(Memory, models.CASCADE, related_name="contradicts")
    kind = models.CharField(max_length=12)  # heuristics.contradictions': negation, antonym, number, value, retraction
    confidence = models.FloatField()  # 0..1, how alike the rest of the sentences is
    outcome = models.CharField(max_length=5, choices=Outcome, blank=True)
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    found_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("conflict")
        verbose_name_plural = _("conflicts")
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["older", "newer"], name="one_conflict_a_pair")]
        indexes = [models.Index(fields=["newer"], condition=Q(outcome=""), name="conflicts_open")]

    def __str__(self) -> str:
        return f"{self.newer_id} / {self.older_id}"
