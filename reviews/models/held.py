"""What waits for a second thought, and who has it open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Self

from django.db import models
from django.db.models import DateTimeField, F, Q, Value
from django.db.models.lookups import GreaterThan
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.db.rows import Negated, Row
from metacog.models import Agent, Role, Team, User
from reviews.models.responses import AgentResponse


def held_id() -> str:
    return new_id("held")


class HeldItems(models.QuerySet["HeldItem"]):
    def after(self, item: HeldItem) -> Self:
        """Return what comes after `item` in the order (review_due_at, id)."""
        place = Row(Value(item.review_due_at, DateTimeField()), Value(item.pk))
        return self.filter(GreaterThan(Row(F("review_due_at"), F("pk")), place))

    def words(self) -> Self:
        """Return what is said, remembered or asked for; no tool calls, questions, or what only waits for calls."""
        return self.exclude(kind__in=HeldItem.NO_WORDS).exclude(terms__with_calls=True)


class HeldItem(models.Model):
    """A part of a response that waits for a second thought, whatever its kind.

    `state` is what people see at once. `closed_at` stays empty while a person's decision may still
    be undone: until then the agent is told `pending`.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Held")
        APPROVED = "approved", _("Approved")
        EDITED = "edited", _("Approved with edits")
        ANSWERED = "answered", _("Answered")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        EXPIRED = "expired", _("Expired")

    class Kind(models.TextChoices):
        CHAT = "chat", "CHAT"
        REMEMBER = "remember", "REMEMBER"
        TASK = "task", "TASK"
        TOOL_CALL = "tool_call", _("Tool call")
        QUESTION = "question", _("Question")

    NO_WORDS = (Kind.TOOL_CALL, Kind.QUESTION)  # what is judged by itself, and teaches nothing about words

    public_id = models.CharField(max_length=40, unique=True, default=held_id)
    response = models.ForeignKey(AgentResponse, models.PROTECT, related_name="held_items", db_index=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="held_items", db_index=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="held_items", db_index=False)
    index = models.PositiveSmallIntegerField()  # the item's place in the response
    kind = models.CharField(max_length=64)  # one of Kind, or any other that was to be reviewed
    text = models.TextField()  # of a tool call its name and canonical arguments
    attributes = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64)  # of the text as UTF-8
    # 0-100, the order of the queue. What a rule asks about comes first: 100; see reviews.intake.write.
    hesitation_score = models.PositiveSmallIntegerField()
    # 0 to 1, of the model in force for words or calls; null: there was none. `risk_place` orders by it, the riskiest
    # first: thousandths of its like that are as risky, or that the score lacks to 100 without a model.
    risk = models.FloatField(null=True)
    risk_place = models.PositiveSmallIntegerField(default=1000, db_default=1000)
    effect_bits = models.PositiveIntegerField(null=True)  # of a tool call: metacog.heuristics.tool_calls.effect_bits
    by_budget = models.BooleanField(default=False, db_default=False)  # the review budget alone held it
    metadata = models.JSONField(default=dict, db_default={})  # the response's and the item's
    # What near-duplicates have in common (reviews.held.alike); null of a question, and of what was held before
    # there were any, see `fill`.
    alike = models.BigIntegerField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    version = models.PositiveIntegerField(default=1)  # goes up with each change of state
    held_at = models.DateTimeField(default=timezone.now)
    review_due_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)  # last, be it undone since
    closed_at = models.DateTimeField(null=True)

    objects = HeldItems.as_manager()

    # Where the queue's list was read: who else has it open; once decided, the one decision that stands; what it stands
    # for with others (reviews.held.alike.Group).
    lookers: Sequence[User] | None = None
    standing: Sequence[Any]
    group: Any = None
    # Where it was read with them: its comments that stand; its approvals that stand.
    said: Sequence[Any]
    approved_by: Sequence[Any]

    class Meta:
        verbose_name = _("held item")
        verbose_name_plural = _("held items")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["response", "index"], name="held_once"),
        ]
        indexes = [
            # The agent's list: most urgent first. The queue: riskiest or oldest first, one kind's, one agent's. The
            # expiry sweep. With the state as a column: SQLite takes an index on the team or agent alone, or on both
            # with the state, for as good as a partial one in order, and reads all that was ever held, or all that
            # waits. How many wait for a team is counted in any of them.
            models.Index(fields=["agent", "review_due_at", "id"], condition=Q(closed_at=None), name="open_for_agent"),
            # The score is negated, so that the order goes up in all columns and one comparison of rows finds a page.
            models.Index(
                *("team", "state", Negated("hesitation_score"), "expires_at", "id"),
                condition=Q(state="pending"),
                name="queue_by_score",
            ),
            # Which of near-duplicates expires first, and how many there are.
            models.Index(fields=["alike", "expires_at", "id"], condition=Q(state="pending"), name="held_alike"),
            models.Index(
                fields=["team", "state", "held_at", "id"], condition=Q(state="pending"), name="queue_from_oldest"
            ),
            models.Index(
                fields=["team", "state", "risk_place", "expires_at", "id"],
                condition=Q(state="pending"),
                name="queue_by_learned_risk",
            ),
            models.Index(
                *("team", "state", "kind", Negated("hesitation_score"), "expires_at", "id"),
                condition=Q(state="pending"),
                name="queue_of_kind",
            ),
            models.Index(
                *("agent", "state", Negated("hesitation_score"), "expires_at", "id"),
                condition=Q(state="pending"),
                name="queue_of_agent",
            ),
            # What has an effect is looked for in what has any: bits are in no order.
            models.Index(
                fields=["team", "state", "effect_bits", "id"],
                condition=Q(state="pending", effect_bits__gt=0),
                name="queue_of_effects",
            ),
            models.Index(fields=["expires_at"], condition=Q(state="pending"), name="items_to_expire"),
            # Of an agent what waits and what expires. Of all how much waits of each kind, is due, and how old it is:
            # the metrics.
            models.Index(
                fields=["agent", "state", "expires_at"], condition=Q(state="pending"), name="waiting_of_agent"
            ),
            models.Index(fields=["kind", "state"], condition=Q(state="pending"), name="waiting_by_kind"),
            models.Index(fields=["review_due_at", "state"], condition=Q(state="pending"), name="waiting_by_due"),
            models.Index(fields=["held_at", "state"], condition=Q(state="pending"), name="waiting_by_age"),
            # What is decided, the latest decision first.
            models.Index(
                fields=["team", "-decided_at", "-id"], condition=~Q(state="pending"), name="decided_lately_of_team"
            ),
            models.Index(fields=["team", "-id"], name="held_of_team"),
            models.Index(fields=["agent", "id"], name="held_of_agent"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_kind_display(self) -> str:
        """Name the kind, as Django does of a field with choices; another is the agent's word, and quoted."""
        return str(_kinds().get(self.kind, f"“{self.kind.upper()}”"))

    @property
    def top_share(self) -> int | None:
        """Return where it stands in the learned order, in percent of what people decided; None: no model ranked it."""
        return None if self.risk is None else max(1, -(-self.risk_place // 10))

    @property
    def state_for_agent(self) -> str:
        return str(self.state) if self.closed_at else str(self.State.PENDING)


@cache
def _kinds() -> dict[str, Any]:
    return dict(HeldItem.Kind.choices)  # made anew each time it is asked for


class ReviewTerms(models.Model):
    """What a held item needs beside one person's decision. Most items need nothing, and have no such row.

    A tool call has who must approve it, as its rule said. Words of a response whose calls are held have these, and
    whether anything but them is missing.
    """

    held = models.OneToOneField(HeldItem, models.CASCADE, primary_key=True, related_name="terms")
    team = models.ForeignKey(Team, models.PROTECT, related_name="+", db_index=False)
    people = models.PositiveSmallIntegerField(default=1)  # how many must approve
    # Which people; an edit that meets another rule may need more (reviews.held.approvers).
    role = models.CharField(max_length=10, choices=Role, blank=True)
    group = models.CharField(max_length=100, blank=True)  # of metacog.models.MemberGroup, by its name
    given = models.PositiveSmallIntegerField(default=0)  # approvals that stand
    waits_for = models.JSONField(default=list)  # public ids of held calls
    with_calls = models.BooleanField(default=False)  # these alone had it held
    only_waits = models.BooleanField(default=False)  # nothing but these is missing now: it is in nobody's queue
    # What goes out once they are approved, where the text would have had a mark; null: the text itself.
    marked = models.TextField(null=True)  # noqa: DJ001 - as said
    is_open = models.BooleanField(default=True)  # the item is pending
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("terms of a review")
        verbose_name_plural = _("terms of reviews")
        indexes = [
            models.Index(fields=["team", "only_waits"], condition=Q(is_open=True), name="open_terms"),
        ]

    def __str__(self) -> str:
        return f"terms of {self.held_id}"


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


class SavedView(models.Model):
    """Filters of the queue that a person gave a name: for themselves, or for all of a team."""

    person = models.ForeignKey(User, models.CASCADE, null=True, related_name="saved_views")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="saved_views")
    name = models.CharField(_("name"), max_length=60)
    query = models.JSONField(default=dict)  # what `Filters.fields` has of them
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        ordering = ["name", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(person=None) ^ Q(team=None), name="view_of_person_or_team"),
            models.UniqueConstraint(fields=["person", "name"], name="one_view_a_name_of_person"),
            models.UniqueConstraint(fields=["team", "name"], name="one_view_a_name_of_team"),
        ]

    def __str__(self) -> str:
        return self.name


class Looking(models.Model):
    """Which held item a person has open; reviews/held/presence.py says for how long it counts."""

    person = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="looking")
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="looked_at")
    seen_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["seen_at"], name="looking_now")]

    def __str__(self) -> str:
        return f"{self.person_id} at {self.held_id}"
