"""Which message in a chat shows a held item, and what it showed last."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from metacog.models import ChatApp
from reviews.models.held import HeldItem


class ChatCard(models.Model):
    """One held item in one chat: the message, and the outbox of it. reviews/chats/cards.py writes and sends it.

    What a message says is read when it is sent, so no text is kept here.
    """

    app = models.ForeignKey(ChatApp, models.CASCADE, related_name="cards", db_index=False)
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="cards")
    message = models.CharField(max_length=100, blank=True)  # where the chat has it; "" until it was posted
    # Of the item as the message shows it: its version and the approvals that stood.
    version = models.PositiveIntegerField(default=0)
    given = models.PositiveSmallIntegerField(default=0)
    is_over = models.BooleanField(default=False)  # it shows the item's end, or is shown no more
    attempts = models.PositiveSmallIntegerField(default=0)
    # Whoever sends it pushes this ahead for the time of a lease; null: it shows what it should.
    next_attempt_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=12, choices=ChatApp.Trouble, blank=True)

    class Meta:
        verbose_name = "chat card"
        constraints = [models.UniqueConstraint(fields=["app", "held"], name="one_card_a_chat")]
        indexes = [
            models.Index(fields=["app", "next_attempt_at"], condition=Q(is_over=False), name="cards_open"),
            models.Index(fields=["next_attempt_at"], condition=Q(next_attempt_at__isnull=False), name="cards_due"),
        ]

    def __str__(self) -> str:
        return f"{self.held_id} in {self.app_id}"
