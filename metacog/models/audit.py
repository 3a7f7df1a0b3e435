"""The record of changes, and the chain over it. Rows are only added."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.models.agents import Agent
from metacog.models.people import Team


class AppendOnlyError(Exception):
    """Something tried to change or delete a row of the record; nothing was written."""


class AppendOnlyRows(models.QuerySet[Any]):
    """Rows that are only added. The database's triggers refuse the rest; this says so before it gets there."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} rows are never changed.")

    def delete(self) -> NoReturn:
        raise AppendOnlyError(f"{self.model.__name__} rows are never deleted.")


class AppendOnly(models.Model):
    """A row that is never changed nor deleted once it is there."""

    objects = AppendOnlyRows.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError(f"{type(self).__name__} rows are never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{type(self).__name__} rows are never deleted.")


class AuditEvent(AppendOnly):
    """One change of state: who, what, before and after. Triggers keep rows as they were written.

    `data` holds digests, counts and versions, never an agent's text, so that texts can be erased
    after a team's retention without touching the record. It lives beside the people and agents it
    names, below patterns and reviews, since changes in all three are recorded.
    """

    class Actor(models.TextChoices):
        PERSON = "person", _("person")
        AGENT = "agent", _("agent")
        SYSTEM = "system", _("system")

    at = models.DateTimeField(default=timezone.now)
    # The indexes below begin with team and agent: one of their own would only slow the webhook.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="+", db_index=False)
    actor_kind = models.CharField(max_length=6, choices=Actor)
    actor = models.CharField(max_length=150)  # the person's or the agent's name at the time
    action = models.CharField(max_length=40)
    object_id = models.CharField(max_length=60)
    before = models.CharField(max_length=20, blank=True)
    after = models.CharField(max_length=20, blank=True)
    data = models.JSONField(default=dict)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit events")
        ordering = ["-id"]
        indexes = [
            # The audit page, newest first: a team's, one kind of a team's, an agent's, an object's.
            models.Index(fields=["team", "at", "id"], name="audit_of_team"),
            models.Index(fields=["team", "action", "at", "id"], name="audit_of_action"),
            models.Index(fields=["agent", "at", "id"], name="audit_of_agent"),
            models.Index(fields=["object_id"], name="audit_of_object"),
            # What people did, and the system, which in most teams is little beside what agents do.
            models.Index(fields=["team", "at", "id"], condition=Q(actor_kind="person"), name="audit_of_people"),
            # What one person did.
            models.Index(
                fields=["team", "actor", "at", "id"], condition=Q(actor_kind="person"), name="audit_of_person"
            ),
            models.Index(fields=["team", "at", "id"], condition=Q(actor_kind="system"), name="audit_of_system"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_id}"


class AuditUnsealed(models.Model):
    """An event that no seal covers yet. A trigger writes it with the event, sealing takes it away."""

    # No constraint: an event cannot go, and PostgreSQL would look it up for every row.
    event = models.OneToOneField(AuditEvent, models.DO_NOTHING, primary_key=True, related_name="+", db_constraint=False)

    class Meta:
        verbose_name = _("unsealed audit event")
        verbose_name_plural = _("unsealed audit events")

    def __str__(self) -> str:
        return str(self.event_id)


class AuditSeal(AppendOnly):
    """A link of the chain over the audit events; metacog/audit/chain.py says what it proves.

    It covers the events `first_id` to `last_id`, which have no gap between them.
    """

    number = models.PositiveBigIntegerField(primary_key=True)  # 1, 2, 3, …: its place in the chain
    first_id = models.PositiveBigIntegerField(unique=True)
    last_id = models.PositiveBigIntegerField()
    total = models.PositiveBigIntegerField()  # events under this and all earlier seals
    leaves = models.BinaryField()  # the SHA-256 of each event, 32 bytes each
    previous = models.CharField(max_length=64, unique=True)  # the digest before it: no two seals follow one
    digest = models.CharField(max_length=64)
    sealed_at = models.DateTimeField()

    class Meta:
        verbose_name = _("audit seal")
        verbose_name_plural = _("audit seals")
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"{self.number}: {self.first_id}–{self.last_id}"
