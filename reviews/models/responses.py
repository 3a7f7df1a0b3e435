"""What agents posted, and the signals that fired on it."""

from __future__ import annotations

import json
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import InPart, NumbersField, PackedTextField
from metacog.db.ids import new_id
from metacog.db.rows import Readable
from metacog.heuristics.wire.assessment import Assessment
from metacog.models import Agent, Language
from patterns.models import ErrorPattern, Problem


def response_id() -> str:
    return new_id("resp")


class Responses(models.QuerySet["AgentResponse"]):
    def posted(self) -> Self:
        """Return what agents posted, without what was kept from logs."""
        return self.exclude(key_space=AgentResponse.KeySpace.LOG)

    def update(self, **kwargs: Any) -> int:
        if "body" in kwargs:  # which the others may be packed into
            kwargs = {name: Readable(name) for name in ("verdict", "history", "excerpt")} | kwargs
        return super().update(**kwargs)


class AgentResponse(models.Model):
    """One post of an agent: its body as it came, and the verdict as it was answered.

    Never changed, except that its texts are erased once when the team's retention is over
    (reviews/retention.py): then the body is empty, and the verdict keeps figures and ids only.
    """

    class KeySpace(models.TextChoices):
        """Where the idempotency key came from; each is a space of its own."""

        WEBHOOK = "webhook-id"
        HEADER = "idempotency-key"
        BODY = "id"
        LOG = "log"  # kept from another program's log: nobody posted it (reviews/logs/keeping.py)

    public_id = models.CharField(max_length=40, unique=True, default=response_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="responses", db_index=False)
    received_at = models.DateTimeField(default=timezone.now)
    key_space = models.CharField(max_length=20, choices=KeySpace, null=True)  # noqa: DJ001 - null joins no constraint
    key = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    body = PackedTextField(into="body", part=0)  # the request's body, UTF-8, to the byte
    # W3C: the trace it was posted in, else that of our own spans of it; empty: none.
    traceparent = models.CharField(max_length=55, blank=True, default="", db_default="")
    body_sha256 = models.CharField(max_length=64)
    verdict = PackedTextField(into="body", part=1)  # the answer's body, to the byte
    excerpt = PackedTextField(into="body", part=3)  # of the response, for lists: at most 200 characters
    session = models.CharField(max_length=255, blank=True)
    cycle = models.BigIntegerField(null=True)
    hesitation_score = models.PositiveSmallIntegerField(null=True)  # 0-100; null while switched off
    triggered = models.BooleanField(default=False)  # at or above the policy's threshold
    flagged = models.BooleanField(default=False, db_default=False)  # its verdict has `flags` on its tags
    unread = models.BooleanField(default=False, db_default=False)  # no rule reads its language: a flag of its own
    policy_version = models.PositiveIntegerField()
    patterns_version = models.PositiveBigIntegerField()
    engine = models.CharField(max_length=20)
    # The agent's at that time, in which its verdict is worded; empty where a response is older than this column.
    language = models.CharField(max_length=10, choices=Language, blank=True)
    # What else the verdict looked at, so that it can be made again: JSON, see reviews/scoring/history.py.
    history = PackedTextField(into="body", part=2, blank=True)
    fingerprint = NumbersField(blank=True, default=list)  # of the response's words: to tell a repetition by
    problem = models.ForeignKey(Problem, models.SET_NULL, null=True, related_name="responses", db_index=False)
    stuck_points = models.PositiveSmallIntegerField(null=True)
    quality_score = models.FloatField(null=True)  # 0-1; null while switched off
    second_look_at = models.ForeignKey(  # the wire's replies_to_held
        "HeldItem", models.PROTECT, null=True, related_name="second_looks", db_index=False
    )
    calls = models.PositiveSmallIntegerField(default=0, db_default=0)  # tool calls among its items
    erased_at = models.DateTimeField(null=True)

    objects = Responses.as_manager()

    class Meta:
        verbose_name = _("response")
        verbose_name_plural = _("responses")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "key_space", "key"], name="accept_once"),
        ]
        indexes = [
            models.Index(fields=["agent", "-id"], name="responses_of_agent"),
            models.Index(fields=["agent", "received_at"], name="responses_of_day"),  # the daily figures
            models.Index(fields=["agent", "session", "-id"], name="responses_of_session"),
            models.Index(fields=["agent", "received_at"], condition=Q(flagged=True), name="flagged_of_agent"),
            models.Index(fields=["agent", "received_at"], condition=Q(unread=True), name="unread_of_agent"),
            models.Index(fields=["agent", "received_at"], condition=Q(calls__gt=0), name="calls_of_agent"),
            models.Index(fields=["problem", "-id"], condition=Q(problem__isnull=False), name="responses_of_problem"),
            models.Index(fields=["second_look_at"], condition=Q(second_look_at__isnull=False), name="second_looks_at"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def pack(self) -> None:
        """Let what is packed be written as one, where the database does not compress it itself."""
        texts = self.body, self.verdict, self.history, self.excerpt
        self.body, self.verdict, self.history, self.excerpt = InPart.together(*texts)

    @classmethod
    def latest_of(cls, agent: Agent | int) -> Responses:
        """Return an agent's responses, the newest first.

        By time, an order that only the agent's own index has. By id, PostgreSQL reads everybody's from the end once it
        plans for any agent (`prepare_threshold`): all there are before those of one that fell silent.
        """
        return cls.objects.filter(agent=agent).order_by("-received_at", "-id")

    def wire_verdict(self) -> Assessment:
        """Return the verdict as it was answered, or what is left of it once texts were erased."""
        verdict: Assessment = json.loads(self.verdict)
        return verdict

    def wire_body(self) -> dict[str, Any]:
        """Return the body as it was posted, only the fields that were in it; without its texts once erased."""
        if self.erased_at:
            kinds = [item["kind"] for item in self.wire_verdict()["items"]]
            return {"response": "", "items": [{"kind": kind, "text": ""} for kind in kinds]}
        body: dict[str, Any] = json.loads(self.body)
        return body


class Signal(models.Model):
    """One signal that fired on one response. Its spans are in the response's verdict."""

    response = models.ForeignKey(AgentResponse, models.CASCADE, related_name="signals")
    type = models.CharField(max_length=40)
    weight = models.PositiveSmallIntegerField()
    pattern = models.ForeignKey(ErrorPattern, models.SET_NULL, null=True, related_name="signals", db_index=False)
    is_open = models.BooleanField(default=False, db_default=False)  # an item of the response is held and not closed

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["type", "response"], name="signals_by_type"),
            # What of the queue a signal fired on: few, of all that ever fired.
            models.Index(fields=["type", "response"], condition=Q(is_open=True), name="open_signals"),
            # A pattern's latest responses. Most signals have none, and cost nothing here.
            models.Index(fields=["pattern", "-response"], condition=Q(pattern__isnull=False), name="fired_of_pattern"),
        ]

    def __str__(self) -> str:
        return self.type
