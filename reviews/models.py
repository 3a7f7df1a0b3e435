"""What happened and what people decided: responses, their signals, held items, decisions, deliveries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

from django.db import models
from django.db.models import F, Q
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.fields import OrderedJSONField
from metacog.ids import new_id
from metacog.models import Agent, Language, Team, User
from patterns.models import ErrorPattern, Problem


def response_id() -> str:
    return new_id("resp")


def held_id() -> str:
    return new_id("held")


def decision_id() -> str:
    return new_id("dec")


def sample_id() -> str:
    return new_id("smp")


def delivery_id() -> str:
    return new_id("msg")


def reflection_id() -> str:
    return new_id("refl")


def research_id() -> str:
    return new_id("rsch")


def extension_id() -> str:
    return new_id("ext")


class AgentResponse(models.Model):
    """One post of an agent: its body as it came, and the verdict as it was answered.

    Never changed, except that its texts are erased once when the team's retention is over
    (reviews/erasure.py): then the body is empty, and the verdict keeps figures and ids only.
    """

    class KeySpace(models.TextChoices):
        """Where the idempotency key came from; each is a space of its own."""

        WEBHOOK = "webhook-id"
        HEADER = "idempotency-key"
        BODY = "id"

    public_id = models.CharField(max_length=40, unique=True, default=response_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="responses")
    received_at = models.DateTimeField(default=timezone.now)
    key_space = models.CharField(max_length=20, choices=KeySpace, null=True)  # noqa: DJ001 - null joins no constraint
    key = models.CharField(max_length=255, null=True)  # noqa: DJ001 - as above
    body = models.TextField()  # the request's body, UTF-8, to the byte
    body_sha256 = models.CharField(max_length=64)
    verdict = models.TextField()  # the answer's body, to the byte
    excerpt = models.CharField(max_length=200)  # of the response, for lists
    session = models.CharField(max_length=255, blank=True)
    cycle = models.BigIntegerField(null=True)
    hesitation_score = models.PositiveSmallIntegerField(null=True)  # 0-100; null while switched off
    triggered = models.BooleanField(default=False)  # at or above the policy's threshold
    policy_version = models.PositiveIntegerField()
    patterns_version = models.PositiveBigIntegerField()
    engine = models.CharField(max_length=20)
    # The agent's at that time, in which its verdict is worded; empty where a response is older than this column.
    language = models.CharField(max_length=10, choices=Language, blank=True)
    # What else the verdict looked at, so that it can be made again: JSON, see reviews/history.py.
    history = models.TextField(blank=True)
    fingerprint = models.TextField(blank=True)  # JSON, of the response's words: to tell a repetition by
    problem = models.ForeignKey(Problem, models.SET_NULL, null=True, related_name="responses", db_index=False)
    stuck_points = models.PositiveSmallIntegerField(null=True)
    quality_score = models.FloatField(null=True)  # 0-1; null while switched off
    second_look_at = models.ForeignKey(
        "HeldItem", models.PROTECT, null=True, related_name="second_looks"
    )  # the wire's replies_to_held
    erased_at = models.DateTimeField(null=True)

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
            models.Index(fields=["problem", "-id"], condition=Q(problem__isnull=False), name="responses_of_problem"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def wire_verdict(self) -> dict[str, Any]:
        """Return the verdict as it was answered, or what is left of it once texts were erased."""
        verdict: dict[str, Any] = json.loads(self.verdict)
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

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["type", "response"], name="signals_by_type"),
            # A pattern's latest responses. Most signals have none, and cost nothing here.
            models.Index(fields=["pattern", "-response"], condition=Q(pattern__isnull=False), name="fired_of_pattern"),
        ]

    def __str__(self) -> str:
        return self.type


class HeldItems(models.QuerySet["HeldItem"]):
    def after(self, item: HeldItem) -> Self:
        """Return what comes after `item` in the order (review_due_at, id)."""
        # A row comparison: Django's OR form of the same reads 50 times as many index entries.
        place = Tuple(F("review_due_at"), F("pk"))
        return self.filter(TupleGreaterThan(place, (item.review_due_at, item.pk)))


class HeldItem(models.Model):
    """A part of a response that waits for a second thought, whatever its kind.

    `state` is what people see at once. `closed_at` stays empty while a person's decision may still
    be undone: until then the agent is told `pending`.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Held")
        APPROVED = "approved", _("Approved")
        EDITED = "edited", _("Approved edited")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        EXPIRED = "expired", _("Expired")

    class Kind(models.TextChoices):
        CHAT = "chat", "CHAT"
        REMEMBER = "remember", "REMEMBER"
        TASK = "task", "TASK"

    public_id = models.CharField(max_length=40, unique=True, default=held_id)
    response = models.ForeignKey(AgentResponse, models.PROTECT, related_name="held_items")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="held_items")
    team = models.ForeignKey(Team, models.PROTECT, related_name="held_items")
    index = models.PositiveSmallIntegerField()  # the item's place in the response
    kind = models.CharField(max_length=10, choices=Kind)
    text = models.TextField()
    attributes = models.JSONField(default=dict)
    sha256 = models.CharField(max_length=64)  # of the text as UTF-8
    hesitation_score = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    version = models.PositiveIntegerField(default=1)  # goes up with each change of state
    held_at = models.DateTimeField(default=timezone.now)
    review_due_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    objects = HeldItems.as_manager()

    lookers: Sequence[User]  # who else has it open, where the queue's list was read

    class Meta:
        verbose_name = _("held item")
        verbose_name_plural = _("held items")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["response", "index"], name="held_once"),
        ]
        indexes = [
            # The agent's list: most urgent first. The queue: riskiest or oldest first. The expiry sweep.
            models.Index(fields=["agent", "review_due_at", "id"], condition=Q(closed_at=None), name="open_for_agent"),
            models.Index(
                fields=["team", "-hesitation_score", "-id"], condition=Q(state="pending"), name="queue_by_risk"
            ),
            models.Index(fields=["team", "id"], condition=Q(state="pending"), name="queue_by_age"),
            models.Index(fields=["expires_at"], condition=Q(state="pending"), name="items_to_expire"),
            models.Index(fields=["team", "-id"], name="held_of_team"),
            models.Index(fields=["agent", "id"], name="held_of_agent"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def state_for_agent(self) -> str:
        return str(self.state) if self.closed_at else str(self.State.PENDING)


class Looking(models.Model):
    """Which held item a person has open; reviews/presence.py says for how long it counts."""

    person = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="looking")
    held = models.ForeignKey(HeldItem, models.CASCADE, related_name="looked_at")
    seen_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["seen_at"], name="looking_now")]

    def __str__(self) -> str:
        return f"{self.person_id} at {self.held_id}"


class Decision(models.Model):
    """What was decided about a held item, by whom, bound to what they were shown.

    A person's decision can be undone until `release_at`; it is released (numbered, put into the
    agent's feed and outbox) by whoever first looks after that.
    """

    class Verdict(models.TextChoices):
        APPROVE = "approve", _("Approve")
        EDIT = "edit", _("Approve edited")
        REJECT = "reject", _("Reject")
        WITHDRAW = "withdraw", _("Withdraw")
        EXPIRE = "expire", _("Expire")

    class By(models.TextChoices):
        PERSON = "person", _("person")
        AGENT = "agent", _("agent")
        SYSTEM = "system", _("system")

    public_id = models.CharField(max_length=40, unique=True, default=decision_id)
    held = models.ForeignKey(HeldItem, models.PROTECT, related_name="decisions")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="decisions")  # whose item it is
    verdict = models.CharField(max_length=10, choices=Verdict)
    by = models.CharField(max_length=6, choices=By)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="decisions")
    reason = models.TextField(blank=True)
    item_version = models.PositiveIntegerField()
    item_sha256 = models.CharField(max_length=64)
    # What may be used now: the item's own text, or the edited one. Null when nothing was released.
    text = models.TextField(null=True)  # noqa: DJ001 - an edit may be empty, a rejection has no text
    text_sha256 = models.CharField(max_length=64, blank=True)
    decided_at = models.DateTimeField(default=timezone.now)
    together = models.CharField(max_length=40, blank=True, db_default="")  # with one press: the same for all
    # Milliseconds that a person had the item before them (reviews/pace.py); its share of the page, of several together.
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
            # Text that comes back: (agent, sha256), then the kind of the item.
            models.Index(fields=["agent", "text_sha256"], name="decided_texts"),
            models.Index(fields=["decided_at"], condition=Q(person__isnull=False), name="decided_by_people"),
        ]

    def __str__(self) -> str:
        return self.public_id


class PatternOrigin(models.Model):
    """What taught a team an error pattern (seed 000, "經驗累積"): one row of its lineage."""

    class Kind(models.TextChoices):
        REJECTION = "rejection", _("A person's decision")
        CORRECTION = "correction", _("A correction")
        SECOND_LOOK = "second-look", _("A second look")
        MEMORY = "memory", _("New knowledge")

    pattern = models.ForeignKey(ErrorPattern, models.CASCADE, related_name="origins")
    kind = models.CharField(max_length=20, choices=Kind)
    row = models.CharField(max_length=60)  # the public id of the decision, response or memory that taught it
    # Where what was wrong had been said.
    response = models.ForeignKey(AgentResponse, models.PROTECT, null=True, related_name="+")
    held = models.ForeignKey(HeldItem, models.PROTECT, null=True, related_name="+")
    # Quotes: `said` by the agent, `told` by who knew better. Empty once the texts of either were erased.
    evidence = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("origin of a pattern")
        verbose_name_plural = _("origins of a pattern")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["row", "kind"], name="taught_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.row}"


class ShadowMatch(models.Model):
    """A response that a pattern in shadow would have fired on. Found behind the writes; no verdict knows of it."""

    pattern = models.ForeignKey(ErrorPattern, models.CASCADE, related_name="shadow_matches", db_index=False)
    response = models.ForeignKey(AgentResponse, models.CASCADE, related_name="shadow_matches", db_index=False)

    class Meta:
        verbose_name = _("match in shadow")
        verbose_name_plural = _("matches in shadow")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["response", "pattern"], name="match_once")]
        indexes = [models.Index(fields=["pattern", "-response"], name="matched_of_pattern")]

    def __str__(self) -> str:
        return f"{self.pattern_id} in {self.response_id}"


class LearningCursor(models.Model):
    """Up to where an agent's rows have been learnt from and counted in the records of patterns.

    An agent's responses and decisions are numbered in order of commit, under the lock on its state: what lies
    behind is done, and done once.
    """

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="learning_cursor")
    response = models.BigIntegerField(default=0)  # the last one's key
    decision_seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("learning cursor")
        verbose_name_plural = _("learning cursors")

    def __str__(self) -> str:
        return f"{self.agent_id}: {self.response}, {self.decision_seq}"


class Sample(models.Model):
    """A response that nothing was held of, put before people to learn what the rules miss (reviews/samples.py)."""

    class Verdict(models.TextChoices):
        FINE = "fine", _("Rightly let through")
        MISSED = "missed", _("Should have been held")

    public_id = models.CharField(max_length=40, unique=True, default=sample_id)
    response = models.OneToOneField(AgentResponse, models.PROTECT, related_name="sample")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="samples")
    day = models.DateField()  # in UTC, when the response came
    stands_for = models.FloatField(default=1)  # responses: the inverse of each one's chance to be picked
    verdict = models.CharField(max_length=6, choices=Verdict, blank=True)
    person = models.ForeignKey(User, models.PROTECT, null=True, related_name="samples")
    judged_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("sample")
        verbose_name_plural = _("samples")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "day"], name="samples_of_day"),
            models.Index(fields=["agent", "-day"], condition=Q(verdict=""), name="samples_waiting"),
        ]

    def __str__(self) -> str:
        return self.public_id


class FittedWeights(models.Model):
    """What fitting weights to people's verdicts on an agent came to last (reviews/fits.py)."""

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="fitted_weights")
    found = models.JSONField()  # heuristics.fitting.Fit.as_dict
    # What it was made of: the policy it was compared with, the first day, and the last decision and moment.
    policy_version = models.PositiveIntegerField()
    since = models.DateField()
    decision_seq = models.PositiveBigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        verbose_name = _("fitted weights")
        verbose_name_plural = _("fitted weights")

    def __str__(self) -> str:
        return f"weights fitted for {self.agent_id}"


class Delivery(models.Model):
    """One callback that an agent is owed: the outbox. `body` is what is sent, on every attempt."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        EXHAUSTED = "exhausted", _("Given up")

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the receiver's own words."""

        # As `egress.Failed` says it.
        ADDRESS = "address", _("The callback address cannot be used.")
        FORBIDDEN = "forbidden", _("The callback address leads to a place that is not public.")
        NAME = "name", _("The name in the callback address could not be found.")
        CONNECTION = "connection", _("No connection, or it broke off.")
        CERTIFICATE = "certificate", _("The certificate could not be verified.")
        TIMEOUT = "timeout", _("No answer in time.")
        ANSWER = "answer", _("The answer was not HTTP.")
        # As it was answered.
        STATUS = "status", _("The receiver did not take it.")
        REDIRECT = "redirect", _("The receiver answered with a redirect, which is never followed.")
        GONE = "gone", _("The receiver answered that it is gone for good.")
        # As it stood here.
        NO_SECRET = "no-secret", _("The agent has no live secret to sign with.")
        NO_URL = "no-url", _("The agent has no callback address any more.")
        OFF = "off", _("The endpoint was switched off.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was sending.")

    public_id = models.CharField(max_length=40, unique=True, default=delivery_id)  # the webhook-id
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="deliveries")
    held = models.ForeignKey(HeldItem, models.PROTECT, null=True, related_name="deliveries")
    type = models.CharField(max_length=40)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)  # begun since it was written or replayed
    next_attempt_at = models.DateTimeField(default=timezone.now)
    # Whoever sends it holds it until then. A row whose time is over was left by a worker that died.
    leased_until = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    last_error = models.CharField(max_length=20, choices=Trouble, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True)

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["-id"]
        indexes = [
            # What an agent is owed now, and what is on its way to it.
            models.Index(fields=["agent", "next_attempt_at"], condition=Q(state="waiting"), name="deliveries_owed"),
            models.Index(
                fields=["agent", "leased_until"],
                condition=Q(leased_until__isnull=False),
                name="deliveries_leased",
            ),
            models.Index(fields=["agent", "-id"], name="deliveries_of_agent"),
            models.Index(fields=["agent", "-id"], condition=Q(state="exhausted"), name="deliveries_given_up"),
        ]

    def __str__(self) -> str:
        return self.public_id


class Endpoint(models.Model):
    """How an agent's callback address has been doing. What is told of another address no longer counts."""

    class Off(models.TextChoices):
        GONE = "gone", _("The receiver answered 410: it is gone for good.")
        GIVEN_UP = "given-up", _("Five deliveries in a row were given up.")
        FAILING = "failing", _("Nothing has got through for a day.")

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="endpoint")
    url = models.CharField(max_length=500)
    tried_at = models.DateTimeField(null=True)  # who was tried longest ago comes first
    failing_since = models.DateTimeField(null=True)
    given_up = models.PositiveIntegerField(default=0)  # deliveries in a row
    off_at = models.DateTimeField(null=True)
    off_reason = models.CharField(max_length=10, choices=Off, blank=True)

    def __str__(self) -> str:
        return f"endpoint of {self.agent_id}"

    @property
    def is_off(self) -> bool:
        """Say whether the address the agent has now is switched off."""
        return self.off_at is not None and self.url == self.agent.callback_url


class Reflection(models.Model):
    """One look back on an agent's responses (seed 004, "Reflection Engine"); reviews/reflections.py makes it."""

    public_id = models.CharField(max_length=40, unique=True, default=reflection_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="reflections")
    day = models.DateField(null=True)  # the last it looked at, once for ever; null: a person asked for it
    person = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    since = models.DateTimeField()
    until = models.DateTimeField()
    responses = models.PositiveIntegerField()  # that it looked at, the latest
    of = models.PositiveIntegerField()  # that there were
    figures = OrderedJSONField()  # as heuristics.reflection.Reflection.as_dict has them
    proposals = models.JSONField(default=list)  # the lessons that it proposed, public ids
    made_at = models.DateTimeField(default=timezone.now)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("reflection")
        verbose_name_plural = _("reflections")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "day"], condition=Q(day__isnull=False), name="reflect_a_day_once")
        ]
        indexes = [models.Index(fields=["agent", "-id"], name="reflections_of_agent")]

    def __str__(self) -> str:
        return self.public_id


class ExtensionRequest(models.Model):
    """An agent's request for more tool calls in one investigation: an agent's session and problem (seed 003).

    Written under the lock of the agent's state, by reviews/extensions.py alone. What was asked never changes, so a
    decision binds what was shown.
    """

    class State(models.TextChoices):
        PENDING = "pending", pgettext_lazy("request for more steps", "Waits")
        APPROVED = "approved", pgettext_lazy("request for more steps", "Granted")
        REJECTED = "rejected", pgettext_lazy("request for more steps", "Refused")
        EXPIRED = "expired", pgettext_lazy("request for more steps", "Unanswered")

    class By(models.TextChoices):
        MEMORY = "memory", _("the shared memory")
        RULE = "rule", _("rule")
        PERSON = "person", _("person")
        MODEL = "model", _("model")
        SYSTEM = "system", _("system")

    class Trouble(models.TextChoices):
        """Why the model gave no verdict. Never in its own words."""

        UNREACHABLE = "unreachable", _("It could not be reached.")
        TIMEOUT = "timeout", _("No answer in time.")
        STATUS = "status", _("It answered with an error.")
        NONSENSE = "nonsense", _("Its answer was not in the shape that was asked for.")

    MAX_REASON = 4_096  # as far as the rules read

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
    # The model is asked once; what came of it, where it was no decision.
    model_asked_at = models.DateTimeField(null=True)
    model_trouble = models.CharField(max_length=20, choices=Trouble, blank=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("request for more steps")
        verbose_name_plural = _("requests for more steps")
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
        ]

    def __str__(self) -> str:
        return self.public_id


class Research(models.Model):
    """What to look up once a verdict stands, and what a search found (seed 003, section 5).

    Waits for the worker (reviews/research.py) until it is finished or failed; neither is ever taken back.
    """

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("research", "Searching")
        FINISHED = "finished", pgettext_lazy("research", "Finished")
        FAILED = "failed", pgettext_lazy("research", "Failed")

    class Trouble(models.TextChoices):
        """Why a search failed. Never in the search's own words."""

        REACH = "reach", _("The search could not be reached.")
        REFUSED = "refused", _("The search did not answer as asked: it may not allow JSON, or too many asked at once.")
        ANSWER = "answer", _("What the search answered could not be read.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was searching.")

    MAX_VERDICT = 20_000
    MAX_TOPIC = 200

    public_id = models.CharField(max_length=40, unique=True, default=research_id)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="research")
    verdict = models.TextField()
    topic = models.CharField(max_length=MAX_TOPIC, blank=True)
    language = models.CharField(max_length=10)  # of the verdict, as heuristics.research tells it
    questions = models.JSONField()  # [{"kind", "text", "query"}]
    findings = models.JSONField(default=list)  # [{"question", "title", "address", "snippet"}]
    advice = models.TextField(blank=True)  # Markdown; once finished
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    searched = models.BooleanField(default=False)  # False once finished: no search was configured
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    leased_until = models.DateTimeField(null=True)  # whoever searches holds it until then
    trouble = models.CharField(max_length=12, choices=Trouble, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = pgettext_lazy("one", "research")
        verbose_name_plural = _("research")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["agent", "-id"], name="research_of_agent"),
            models.Index(fields=["next_attempt_at"], condition=Q(state="waiting"), name="research_due"),
        ]

    def __str__(self) -> str:
        return self.public_id


class DailyFigure(models.Model):
    """What became of the responses of one agent's day (in UTC); reviews/figures.py counts it from the rows.

    A held item belongs to the day its response came, whenever it is decided. A decision counts once it
    can no longer be undone; until then its item is pending.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="daily_figures")
    day = models.DateField()
    responses = models.PositiveIntegerField(default=0)
    triggered = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)  # items; the next six add up to it
    rejected = models.PositiveIntegerField(default=0)
    withdrawn = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    expired = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    # Each a count of its own, so that any number of days adds up exactly:
    signals = models.JSONField(default=dict)  # by type, how many responses fired; of held items, decided and rejected
    scores = models.JSONField(default=dict)  # by score, how many items were decided, how many rejected
    seconds = models.JSONField(default=dict)  # by whole seconds from held to decided, how many items
    counted_at = models.DateTimeField()

    class Meta:
        verbose_name = _("daily figure")
        verbose_name_plural = _("daily figures")
        ordering = ["day", "agent"]
        constraints = [models.UniqueConstraint(fields=["agent", "day"], name="count_a_day_once")]
        indexes = [models.Index(fields=["agent", "day"], condition=Q(pending__gt=0), name="days_still_open")]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.day}"


class LookFigure(models.Model):
    """How an agent's second looks at one kind of item ended, by the day the items were held (reviews/second_looks.py).

    Counted once, when the decision is released: items.
    """

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="look_figures")
    day = models.DateField()
    kind = models.CharField(max_length=10, choices=HeldItem.Kind)
    kept = models.PositiveIntegerField(default=0)  # that the agent decided itself, as the next two
    edited = models.PositiveIntegerField(default=0)
    withdrew = models.PositiveIntegerField(default=0)
    looked = models.PositiveIntegerField(default=0)  # with a response that replied to it before it was decided
    contradicted = models.PositiveIntegerField(default=0)  # of those, where that response says otherwise
    # Of those, what a person then did with what the agent stood by and what it took back.
    stood_let_go = models.PositiveIntegerField(default=0)
    stood_rejected = models.PositiveIntegerField(default=0)
    back_let_go = models.PositiveIntegerField(default=0)
    back_rejected = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("figure of second looks")
        verbose_name_plural = _("figures of second looks")
        ordering = ["day", "agent", "kind"]
        constraints = [models.UniqueConstraint(fields=["agent", "day", "kind"], name="looks_of_a_day_once")]

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.day}, {self.kind}"


class PaceFigure(models.Model):
    """How one person decided in one team on one day (in UTC); reviews/pace.py counts it from the decisions."""

    person = models.ForeignKey(User, models.CASCADE, related_name="pace_figures")
    team = models.ForeignKey(Team, models.CASCADE, related_name="pace_figures")
    day = models.DateField()
    approved = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    timed = models.PositiveIntegerField(default=0)  # of these, those whose time is known; the next three are of those
    hasty = models.PositiveIntegerField(default=0)  # quicker than the text can be read
    tenths = models.JSONField(default=dict)  # by tenths of a second from showing to deciding, how many
    to_read = models.PositiveIntegerField(default=0)  # seconds that the texts take to read, all of them
    run = models.PositiveIntegerField(default=0)  # the most with one verdict in a row
    run_of = models.CharField(max_length=10, choices=Decision.Verdict, blank=True)
    high_run = models.PositiveIntegerField(default=0)  # the most approvals in a row of items with a high score
    counted_at = models.DateTimeField()

    class Meta:
        verbose_name = _("figure of a person's pace")
        verbose_name_plural = _("figures of people's pace")
        ordering = ["day", "person"]
        constraints = [models.UniqueConstraint(fields=["person", "team", "day"], name="pace_of_a_day_once")]
        indexes = [models.Index(fields=["team", "day"], name="pace_of_team")]

    def __str__(self) -> str:
        return f"{self.person_id} on {self.day}"
