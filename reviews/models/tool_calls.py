"""What agents want to do, while it waits for a person and once they allowed it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Exists, F, OuterRef, Prefetch, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.fields import OrderedJSONField
from metacog.db.ids import new_id
from metacog.models import Agent, Role, User
from reviews.models.decisions import Decision
from reviews.models.held import HeldItem
from reviews.models.responses import AgentResponse


def grant_id() -> str:
    return new_id("grant")


class HeldCall(models.Model):
    """The tool call that a held item is about.

    While the item is open the same call, asked for again, is this one. Its approval is one permission: of the one id in
    `call_ids` until its outcome is reported, of several of the first that is posted again (`claimed_as`), and where it
    was asked for without an id of whoever hears of it first. Then it is used: `used_at`.
    """

    class UsedBy(models.TextChoices):
        """How a permission was used up."""

        POST = "post", _("the call was posted again")
        READ = "read", _("the agent read the decision")
        FEED = "feed", _("the agent read its feed")
        CONTEXT = "context", _("the agent read its context")
        WEBHOOK = "webhook", _("the agent's webhook took it")
        OUTCOME = "outcome", _("its outcome was reported")

    class Permission(models.TextChoices):
        """What an approval permits whoever hears of it."""

        GIVEN = "given"  # the call may be made
        POST = "post"  # whoever posts it again first, under one of its ids, may make it
        USED = "used"

    held = models.OneToOneField(HeldItem, models.CASCADE, primary_key=True, related_name="call")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="held_calls", db_index=False)
    sha256 = models.CharField(max_length=64)  # of session, name and arguments: reviews.intake.tool_calls.digest
    name = models.CharField(max_length=255)
    arguments = OrderedJSONField(null=True)
    schema = OrderedJSONField(null=True)
    schema_omitted = models.BooleanField(default=False, db_default=False)  # too large: edits are not checked
    description = models.TextField(blank=True)
    hints = OrderedJSONField(null=True)  # the tool's MCP annotations
    definition = models.CharField(max_length=64, blank=True, db_default="")  # see tool_calls.definition
    effects = OrderedJSONField(default=list, db_default=[])  # what it would do, as the verdict's item has it
    readable = models.BooleanField(default=False, db_default=False)  # nothing in it is `unknown`
    shape_sha256 = models.CharField(max_length=64, blank=True, db_default="")  # heuristics.tool_calls.grants.shape_key
    rule = OrderedJSONField(null=True)  # that held it, as the policy had it
    fault = models.TextField(blank=True)  # why the rule could not be checked
    is_demanded = models.BooleanField(default=False)  # `require_review`
    hesitation = OrderedJSONField(null=True)  # the verdict's, where a rule had it scored
    call_ids = OrderedJSONField(default=list)  # under which it was asked for, each once; null is one, too
    asks = models.PositiveIntegerField(default=1)
    asked_at = models.DateTimeField(default=timezone.now)  # last
    claimed_as = models.CharField(max_length=255, blank=True, db_default="")  # of several ids the one that was let pass
    used_at = models.DateTimeField(null=True)
    used_by = models.CharField(max_length=10, choices=UsedBy, blank=True, db_default="")  # "" of what is older

    class Meta:
        verbose_name = _("held tool call")
        verbose_name_plural = _("held tool calls")
        indexes = [
            models.Index(fields=["agent", "sha256"], name="same_call"),
            models.Index(fields=["agent", "name", "-held"], name="calls_of_tool"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_heard_once(self) -> bool:
        """Say whether its approval is whoever's that hears of it first: it was asked for without an id."""
        return None in self.call_ids and not self.claimed_as and self.used_at is None

    @property
    def permission(self) -> str:
        """Say what an approval of it permits now."""
        if self.used_at:
            return self.Permission.USED
        is_shared = len(self.call_ids) > 1 and not self.is_heard_once
        return self.Permission.POST if is_shared else self.Permission.GIVEN


class CallOutcome(models.Model):
    """What became of an approved tool call, as its agent reported it, once."""

    WITHIN = timedelta(days=1)  # of the release; an approved call without one counts as never reported from then on

    class Status(models.TextChoices):
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped")

    call = models.OneToOneField(HeldCall, models.CASCADE, primary_key=True, related_name="outcome")
    status = models.CharField(max_length=7, choices=Status)
    detail = models.TextField(blank=True)
    result = OrderedJSONField(null=True)
    reported_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("outcome of a tool call")
        verbose_name_plural = _("outcomes of tool calls")

    def __str__(self) -> str:
        return f"{self.status}: {self.call_id}"


class CallGrants(models.QuerySet["CallGrant"]):
    """Grants, told apart by whether they let anything pass."""

    def in_force(self, now: datetime) -> CallGrants:
        """Return those that let calls pass now."""
        return self.unended(now).filter(_by_reviewer(), held__team=F("agent__team"))

    def unended(self, now: datetime) -> CallGrants:
        """Return those that are neither withdrawn, nor over, nor used up."""
        return self.filter(Q(most_uses=None) | Q(uses__lt=F("most_uses")), withdrawn_at=None, until__gt=now)

    def ended(self, now: datetime) -> CallGrants:
        """Return all others."""
        return self.filter(~Q(withdrawn_at=None) | Q(until__lte=now) | Q(uses__gte=F("most_uses")))

    def with_details(self) -> CallGrants:
        """Return them with what is told of each: its item with call and standing decisions, and who gave it."""
        standing = Prefetch("held__decisions", Decision.objects.filter(undone_at=None), to_attr="standing")
        related = self.select_related(
            "agent__team", "person", "withdrawn_by", "held__call", "held__team", "held__response"
        ).defer("held__response__body", "held__response__history", "held__response__verdict", "held__text")
        return related.prefetch_related(standing).annotate(is_by_reviewer=_by_reviewer())


def _by_reviewer() -> Exists:
    """Say whether who gave a grant is a reviewer of the agent's team."""
    member = Q(memberships__team=OuterRef("agent__team"), memberships__role__in=Role.REVIEWER.and_above)
    return Exists(User.objects.filter(Q(is_superuser=True) | member, pk=OuterRef("person"), is_active=True))


class CallGrant(models.Model):
    """A person's word, given with an approval, that such calls pass without asking until `until`.

    `key` says which: the one call in its session or in all of them, its shape, or its tool (`heuristics.tool_calls.
    grants.key`). It is in force at once for what is posted next, and withdrawn with an approval that is undone.
    """

    class Scope(models.TextChoices):
        SESSION = "session", _("in this session")
        AGENT = "agent", _("in all sessions of the agent")

    class Match(models.TextChoices):
        CALL = "call", _("this call")
        SHAPE = "shape", _("calls of this shape")
        TOOL = "tool", _("all calls of the tool")

    class State(models.TextChoices):
        ACTIVE = "active", _("in force")
        SUSPENDED = "suspended", _("suspended: the person who gave it is no longer a reviewer")
        USED_UP = "used-up", _("used up")
        EXPIRED = "expired", _("expired")
        WITHDRAWN = "withdrawn", _("withdrawn")

    public_id = models.CharField(max_length=40, unique=True, default=grant_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="call_grants", db_index=False)
    held = models.ForeignKey(HeldItem, models.PROTECT, related_name="grants")
    person = models.ForeignKey(User, models.PROTECT, related_name="call_grants")
    sha256 = models.CharField(max_length=64)  # what calls are recognized by: heuristics.tool_calls.grants.key
    scope = models.CharField(max_length=7, choices=Scope, default=Scope.SESSION, db_default="session")
    match = models.CharField(max_length=5, choices=Match, default=Match.CALL, db_default="call")
    shape = OrderedJSONField(null=True)  # of what was approved, where calls are matched by it
    granted_at = models.DateTimeField(null=True)  # null of one that fell with its approval
    until = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+", db_index=False)
    uses = models.PositiveIntegerField(default=0)
    most_uses = models.PositiveIntegerField(null=True)
    used_at = models.DateTimeField(null=True)  # last

    objects = CallGrants.as_manager()

    class Meta:
        verbose_name = _("grant for tool calls")
        verbose_name_plural = _("grants for tool calls")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "sha256"], condition=Q(withdrawn_at=None), name="granted_calls"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_fallen(self) -> bool:
        """Say whether it was withdrawn with an approval that was undone."""
        return self.granted_at is None and self.withdrawn_at is not None

    def state(self, now: datetime) -> State:
        """Say how a grant stands that was read by `told`."""
        if self.withdrawn_at:
            return self.State.WITHDRAWN
        if self.most_uses is not None and self.uses >= self.most_uses:
            return self.State.USED_UP
        if self.until <= now:
            return self.State.EXPIRED
        is_by_reviewer = vars(self)["is_by_reviewer"]
        return self.State.ACTIVE if is_by_reviewer else self.State.SUSPENDED


class AwaitedCall(models.Model):
    """A held tool call for which the words of a response wait."""

    response = models.ForeignKey(AgentResponse, models.CASCADE, related_name="awaited", db_index=False)
    call = models.ForeignKey(HeldItem, models.CASCADE, related_name="awaited_by")

    class Meta:
        verbose_name = _("awaited tool call")
        verbose_name_plural = _("awaited tool calls")
        constraints = [models.UniqueConstraint(fields=["response", "call"], name="awaited_once")]

    def __str__(self) -> str:
        return f"{self.response_id} awaits {self.call_id}"
