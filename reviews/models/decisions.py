"""What was decided about held items."""

from __future__ import annotations

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, User
from reviews.models.held import HeldItem

NAMES = ("person__username", "person__first_name", "person__last_name")  # of whoever pages tell of


def decision_id() -> str:
    return new_id("dec")


def approval_id() -> str:
    return new_id("apr")


class DecisionVerdict(models.TextChoices):
    APPROVE = "approve", _("Approve")
    EDIT = "edit", _("Approve with edits")
    ANSWER = "answer", pgettext_lazy("verdict", "Answer")
    REJECT = "reject", _("Reject")
    WITHDRAW = "withdraw", _("Withdraw")
    EXPIRE = "expire", _("Expire")


class Decision(models.Model):
    """What was decided about a held item, by whom, bound to what they were shown.

    A person's decision can be undone until `release_at`; it is released (numbered, put into the
    agent's feed and outbox) by whoever first looks after that.
    """

    class By(models.TextChoices):
        PERSON = "person", _("person")
        AGENT = "agent", _("agent")
        SYSTEM = "system", _("system")

    public_id = models.CharField(max_length=40, unique=True, default=decision_id)
    held = models.ForeignKey(HeldItem, models.PROTECT, related_name="decisions")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="decisions")  # whose item it is
    verdict = models.CharField(max_length=10, choices=DecisionVerdict)
    by = models.CharField(max_length=6, choices=By)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="decisions")
    # Where a change of a policy, or of a team's rules, decided what waited (reviews.held.calls.rule_changes):
    # which version of these, and whose.
    policy_version = models.PositiveIntegerField(null=True)
    rules_version = models.PositiveIntegerField(null=True)
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    reason = models.TextField(blank=True)
    item_version = models.PositiveIntegerField()
    item_sha256 = models.CharField(max_length=64)
    # What may be used now: the item's own text, or the edited one. Null when nothing was released.
    text = models.TextField(null=True)  # noqa: DJ001 - an edit may be empty, a rejection has no text
    # Of it; of a tool call, of what it may be done with: what comes back is recognised by it. Of an answer's JSON.
    text_sha256 = models.CharField(max_length=64, blank=True)
    arguments = OrderedJSONField(null=True)  # of a tool call, in place of `text`
    answer = OrderedJSONField(null=True)  # of a question that was answered, in place of `text`: any JSON
    decided_at = models.DateTimeField(default=timezone.now)
    together = models.CharField(max_length=40, blank=True, db_default="")  # with one press: the same for all
    # Milliseconds that a person had the item before them (reviews/metrics/review_time.py); of several together, its
    # share of the page.
    shown_ms = models.PositiveIntegerField(null=True)
    release_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)
    undone_at = models.DateTimeField(null=True)
    seq = models.PositiveBigIntegerField(null=True)  # the agent's feed, without gaps

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["held"], condition=Q(undone_at=None), name="one_standing_decision"),
            models.UniqueConstraint(fields=["agent", "seq"], name="one_decision_a_seq"),
        ]
        indexes = [
            models.Index(
                fields=["release_at"],
                condition=Q(released_at=None, undone_at=None),
                name="decisions_to_release",
            ),
            # The same for one agent, asked before each of its calls.
            models.Index(
                fields=["agent", "release_at"],
                condition=Q(released_at=None, undone_at=None),
                name="to_release_of_agent",
            ),
            # Text that comes back: (agent, sha256), then the kind of the item.
            models.Index(fields=["agent", "text_sha256"], name="decided_texts"),
            models.Index(fields=["decided_at"], condition=Q(person__isnull=False), name="decided_by_people"),
            # What a person did last, told on each page of the queue.
            models.Index(fields=["person", "public_id"], condition=Q(person__isnull=False), name="decided_last"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @classmethod
    def as_told(cls) -> models.QuerySet[Decision]:
        """Return decisions with what pages tell of them, and no more: what costs is the SQL of each column."""
        return cls.objects.select_related("person", "changed_by", "agent").only(
            *("held", "verdict", "by", "policy_version", "rules_version", "reason", "decided_at", "undone_at"),
            *("agent__name", *NAMES, *(name.replace("person", "changed_by") for name in NAMES)),
        )

    def can_be_undone(self, now: datetime) -> bool:
        """Say whether its person may still take it back; `reviews.held.decisions.undo` asks the row."""
        return self.undone_at is None and self.released_at is None and self.release_at > now


class Approval(models.Model):
    """One person's approval that decides nothing yet: others must approve as well, or tool calls be approved.

    It is of what it names (`text_sha256`) and of nothing else. All that stand of one item are of the same.
    """

    class Ended(models.TextChoices):
        WITHDRAWN = "withdrawn", _("withdrawn")
        REPLACED = "replaced", _("something else was approved since")
        LAPSED = "lapsed", _("the person may no longer approve it")

    public_id = models.CharField(max_length=40, unique=True, default=approval_id)
    held = models.ForeignKey(HeldItem, models.PROTECT, related_name="approvals")
    person = models.ForeignKey(User, models.PROTECT, related_name="approvals")
    verdict = models.CharField(max_length=10, choices=DecisionVerdict)  # approve or edit
    reason = models.TextField(blank=True)
    item_version = models.PositiveIntegerField()
    item_sha256 = models.CharField(max_length=64)
    # What may be used once the item is decided so, as Decision has it.
    text = models.TextField(null=True)  # noqa: DJ001 - an edit may be empty
    arguments = OrderedJSONField(null=True)
    text_sha256 = models.CharField(max_length=64)
    needed = models.PositiveSmallIntegerField(default=1)  # people, for just this
    given_at = models.DateTimeField(default=timezone.now)
    together = models.CharField(max_length=40, blank=True)  # with one press: the same for all
    shown_ms = models.PositiveIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended = models.CharField(max_length=10, choices=Ended, blank=True)

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["held", "person"], condition=Q(ended_at=None), name="one_standing_approval_a_person"
            ),
        ]
        indexes = [
            # What a person did last.
            models.Index(fields=["person", "-given_at"], name="approvals_of_person"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_edit(self) -> bool:
        return self.verdict == DecisionVerdict.EDIT
