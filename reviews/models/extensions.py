"""What agents asked for: more tool calls."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, User


def extension_id() -> str:
    return new_id("ext")


class ExtensionRequest(models.Model):
    """An agent's request for more tool calls in one investigation: an agent's session and problem (seed 003).

    Written under the lock of the agent's state, by reviews/investigation/extensions.py alone. What was asked never
    changes, so a decision binds what was shown.
    """

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("request for more steps", "Pending")
        APPROVED = "approved", pgettext_lazy("request for more steps", "Granted")
        REJECTED = "rejected", pgettext_lazy("request for more steps", "Refused")
        EXPIRED = "expired", pgettext_lazy("request for more steps", "Unanswered")
        WITHDRAWN = "withdrawn", pgettext_lazy("request for more steps", "Withdrawn")

    class By(models.TextChoices):
        MEMORY = "memory", _("the shared memory")
        RULE = "rule", _("rule")
        PERSON = "person", _("person")
        MODEL = "model", _("model")
        SYSTEM = "system", _("system")
        AGENT = "agent", _("agent")

    class Trouble(models.TextChoices):
        """Why the model gave no verdict. Never in its own words."""

        UNREACHABLE = "unreachable", _("It could not be reached.")
        TIMEOUT = "timeout", _("No answer in time.")
        STATUS = "status", _("It answered with an error.")
        NONSENSE = "nonsense", _("Its answer was not in the shape that was asked for.")

    MAX_REASON = 4_096  # as far as the rules read
    UNTOLD = -1

    public_id = models.CharField(max_length=40, unique=True, default=extension_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="extensions")
    session = models.CharField(max_length=255, blank=True)
    problem = models.CharField(max_length=255, blank=True)
    number = models.PositiveIntegerField()  # of the investigation, from 1
    step = models.PositiveIntegerField(null=True)  # tool calls made, as the agent says
    reason = models.TextField()
    evidence = OrderedJSONField(default=list)
    digest = models.CharField(max_length=64)  # of session, problem, step and reason: the same again is the same request
    key = models.CharField(max_length=255, null=True)  # noqa: DJ001 - null joins no constraint
    body_sha256 = models.CharField(max_length=64)
    # What the first two gates said: the memories found, the surest first, and the rules' judgement (null: not asked).
    found = OrderedJSONField(default=list)  # [{"id", "score", "share", "terms", "answers"}]
    judgement = OrderedJSONField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    by = models.CharField(max_length=6, choices=By, blank=True)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    granted = models.PositiveIntegerField(default=0)  # tool calls
    answer = models.TextField(blank=True)  # why, as the chairman says
    guidance = models.TextField(blank=True)
    policy_version = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    # To whom the answer is owed: null, nobody; UNTOLD, the agent's next context; else whoever reads a context before
    # the agent has posted more responses than this.
    told_until = models.BigIntegerField(null=True)
    # The model is asked once; what came of it, where it was no decision.
    model_asked_at = models.DateTimeField(null=True)
    model_trouble = models.CharField(max_length=20, choices=Trouble, blank=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("extension request")
        verbose_name_plural = _("extension requests")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "key"], name="ask_once_a_key"),
            models.UniqueConstraint(fields=["agent", "digest"], name="ask_once"),
            models.UniqueConstraint(fields=["agent", "session", "problem", "number"], name="one_request_a_number"),
        ]
        indexes = [
            models.Index(fields=["agent", "-decided_at"], name="requests_decided"),
            models.Index(fields=["agent", "id"], condition=Q(state="pending"), name="requests_that_wait"),
            models.Index(fields=["expires_at"], condition=Q(state="pending"), name="requests_to_expire"),
            models.Index(
                fields=["agent", "told_until"], condition=Q(told_until__isnull=False), name="requests_to_tell"
            ),
        ]

    def __str__(self) -> str:
        return self.public_id
