"""What people say to each other about a held item, whose it is, until when it is snoozed, and who is asked about it.

Agents see none of it.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Team, User
from reviews.models.held import HeldItem


def comment_id() -> str:
    return new_id("com")


class ItemTalk(models.Model):
    """Who has an item, until when it is snoozed, and how many comments it has. No row: nobody, not, none.

    Apart from the item, which every response writes and most are decided without a word. `version` goes up with each
    change of whose it is; reviews/held/talk.py writes it.
    """

    held = models.OneToOneField(HeldItem, models.CASCADE, primary_key=True, related_name="talk")
    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    assignee = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    assigned_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    assigned_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=0)
    snoozed_until = models.DateTimeField(null=True)
    snoozed_at = models.DateTimeField(null=True)
    snoozed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+", db_index=False)
    # The item's own version then: decided and taken back, it is back in the queue.
    snoozed_version = models.PositiveIntegerField(default=0)
    comments = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["team", "-changed_at"], name="talk_of_team"),
            models.Index(fields=["assignee"], condition=Q(assignee__isnull=False), name="talk_assigned"),
            models.Index(fields=["snoozed_until"], condition=Q(snoozed_until__isnull=False), name="talk_snoozed"),
        ]

    def __str__(self) -> str:
        return f"talk about {self.held_id}"


class Comment(models.Model):
    """What a person said about an item: plain text. It goes with the item's text."""

    public_id = models.CharField(max_length=40, unique=True, default=comment_id)
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="comments")
    author = models.ForeignKey(User, models.PROTECT, related_name="+", db_index=False)
    text = models.TextField()  # empty once it was deleted, or erased with the item's
    created_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.public_id


class Mention(models.Model):
    """That a comment calls a member by name."""

    comment = models.ForeignKey(Comment, models.CASCADE, related_name="mentions")
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="+")
    person = models.ForeignKey(User, models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["comment", "person"], name="mentioned_once")]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.comment_id}"


class TeamAsking(models.Model):
    """Whom a team's items go to, and to whom next while nobody decides. No row: to every reviewer, and no further.

    `settings` is {"rota", "routes", "steps"}, as docs/notices.md describes it; reviews/asking/settings.py reads and
    writes it.
    """

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="asking")
    settings = OrderedJSONField(default=dict)
    changed_at = models.DateTimeField()  # what is held by then waits from then on
    handover_at = models.DateTimeField(null=True)  # when the next person is told to be on call

    def __str__(self) -> str:
        return f"asking of {self.team_id}"


class Asked(models.Model):
    """One step of asking about a held item, which is taken once: 0 as it was held, then each that came of waiting."""

    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="asked", db_index=False)
    step = models.PositiveSmallIntegerField()
    to = models.CharField(max_length=120, blank=True)  # as the settings name a recipient; "": every reviewer
    people = OrderedJSONField(default=list)  # their keys
    since = models.DateTimeField()  # from when they are waited for
    at = models.DateTimeField()  # when it was taken; the notices of one turn name it
    next_at = models.DateTimeField(null=True)  # when to look whether the next step is due; null: never

    class Meta:
        constraints = [models.UniqueConstraint(fields=["held", "step"], name="asked_once_a_step")]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="asked_next"),
            models.Index(fields=["at"], name="asked_at"),  # for the notices of one turn
        ]

    def __str__(self) -> str:
        return f"step {self.step} of {self.held_id}"
