"""Chats in which a team decides: an app of Slack or a bot of Telegram, and which of its users is whom."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.models.notices import Notice
from metacog.models.people import Language, Team, User

_As = Notice.Trouble  # the same of a notice


class ChatApp(models.Model):
    """What posts a team's held items into one channel and hears which buttons are pressed there."""

    class Kind(models.TextChoices):
        SLACK = "slack", "Slack"
        TELEGRAM = "telegram", "Telegram"

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the chat's own words."""

        TOKEN = "token", _("The chat does not accept the token.")
        PLACE = "place", _("The channel was not found, or the app is not in it.")
        LIMIT = "limit", _("The chat asked to wait.")
        GONE = "gone", _("The message was deleted in the chat.")
        REFUSED = "refused", _As.STATUS.label
        AWAY = "away", _("The chat answered with an error of its own.")
        LOST = "lost", _("The token cannot be decrypted: its secret key is gone. Enter it again.")
        ADDRESS = "address", _As.ADDRESS.label
        FORBIDDEN = "forbidden", _As.FORBIDDEN.label
        NAME = "name", _As.NAME.label
        CONNECTION = "connection", _As.CONNECTION.label
        CERTIFICATE = "certificate", _As.CERTIFICATE.label
        TIMEOUT = "timeout", _As.TIMEOUT.label
        ANSWER = "answer", _As.ANSWER.label
        ERROR = "error", _As.ERROR.label

    team = models.ForeignKey(Team, models.CASCADE, related_name="chats")
    kind = models.CharField(max_length=10, choices=Kind)
    token_encrypted = models.TextField(editable=False)
    secret_encrypted = models.TextField(editable=False)  # with which the chat shows that a request is its own
    hint = models.CharField(max_length=8, editable=False)  # the end of the token
    place = models.CharField(max_length=100)
    name = models.CharField(max_length=200, editable=False)  # as the chat calls the app or bot; "" until it said so
    language = models.CharField(max_length=10, choices=Language, default=Language.EN)
    texts = models.BooleanField(default=True)
    since = models.DateTimeField(default=timezone.now, editable=False)  # what was held before is not posted
    # Whoever posts there has it until then; the chat may have asked to wait, or may be away.
    free_at = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)  # in a row
    trouble = models.CharField(max_length=12, choices=Trouble, blank=True, editable=False)
    sent_at = models.DateTimeField(null=True, editable=False)  # the last success

    class Meta:
        ordering = ["kind"]
        constraints = [models.UniqueConstraint(fields=["team", "kind"], name="one_chat_a_kind")]

    def __str__(self) -> str:
        return str(self.get_kind_display())


class ChatUser(models.Model):
    """A user of a chat, and the person who decides there as that user."""

    app = models.ForeignKey(ChatApp, models.CASCADE, related_name="users")
    external_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)  # as the chat gave it
    person = models.ForeignKey(User, models.CASCADE, related_name="chat_users")
    bound_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["app", "external_id"], name="one_person_a_chat_user"),
            models.UniqueConstraint(fields=["app", "person"], name="one_chat_user_a_person"),
        ]

    def __str__(self) -> str:
        return self.name
