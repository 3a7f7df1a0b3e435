"""Who takes part: people, teams, agents, the policy an agent is held to, and the record of changes."""

from __future__ import annotations

from typing import Any, NoReturn

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog import heuristics
from metacog.fields import OrderedJSONField
from metacog.ids import new_id


class Language(models.TextChoices):
    """Languages of the console and of what metacog adds to an agent's text (BCP 47, in Django's case)."""

    EN = "en", "English"
    ZH_HANT = "zh-hant", "繁體中文"
    ZH_HANS = "zh-hans", "简体中文"


class Role(models.TextChoices):
    """What a member may do; each role may do all that the ones before it may."""

    VIEWER = "viewer", _("Viewer")
    REVIEWER = "reviewer", _("Reviewer")
    CURATOR = "curator", _("Curator")
    OWNER = "owner", _("Owner")

    @property
    def and_above(self) -> list[Role]:
        """Return this role and those that may do more."""
        roles = list(Role)
        return roles[roles.index(self) :]


class User(AbstractUser):
    """A person. Superusers count as owners of every team; all others see only the teams they are in."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("As the device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    language = models.CharField(_("language"), max_length=10, choices=Language, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    theme = models.CharField(_("theme"), max_length=5, choices=Theme, blank=True)
    keyboard = models.BooleanField(_("keyboard shortcuts"), default=True)

    def teams_as(self, role: Role = Role.VIEWER) -> models.QuerySet[Team]:
        """Return the teams in which this person has at least this role."""
        if not self.is_active:
            return Team.objects.none()
        if self.is_superuser:
            return Team.objects.all()
        return Team.objects.filter(memberships__user=self, memberships__role__in=role.and_above)

    def has_role(self, team_id: int, role: Role) -> bool:
        return self.teams_as(role).filter(pk=team_id).exists()


class PersonNotices(models.Model):
    """What a person is told by mail of what waits for them, and when. No row: nothing."""

    class When(models.TextChoices):
        NEVER = "never", pgettext_lazy("mail me", "never")
        WAITING = "waiting", _("when something waits, at most once an hour")
        DAILY = "daily", _("once a day, if something new waits")

    person = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="told")
    when = models.CharField(_("mail me"), max_length=10, choices=When, default=When.NEVER)
    minutes = models.PositiveSmallIntegerField(
        _("once it has waited (minutes)"), default=15, validators=[MinValueValidator(5), MaxValueValidator(1440)]
    )
    hour = models.PositiveSmallIntegerField(
        _("at (hour of your day)"), default=8, validators=[MaxValueValidator(23)]
    )
    language = models.CharField(max_length=10, choices=Language, default=Language.EN)  # where the person has set none
    turn_at = models.DateTimeField(null=True)  # when it was last its turn, whether or not anything was sent
    told_until = models.DateTimeField(null=True)  # of what was held until then the person has been told

    def __str__(self) -> str:
        return f"{self.person_id}: {self.when}"


def notice_id() -> str:
    return new_id("note")


class Notice(models.Model):
    """One message about what waits, to a person by mail or to a team's chat: the outbox of reviews/notices.py.

    What it says is read when it is sent, so no text is kept here and nothing decided since is told.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENT = "sent", _("Sent")
        MOOT = "moot", _("Not needed any more")
        GIVEN_UP = "given-up", _("Given up")

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the server's own words."""

        SIGN_IN = "sign-in", _("The mail server did not accept user name and password.")
        NO_TLS = "no-tls", _("The mail server offers no encryption.")
        RECIPIENT = "recipient", _("The mail server does not take mail for this address.")
        REFUSED = "refused", _("The mail server refused the message.")
        ADDRESS = "address", _("The address cannot be used.")
        FORBIDDEN = "forbidden", _("The address leads to a place that is not public.")
        STATUS = "status", _("The chat did not take it.")
        ANSWER = "answer", _("The answer was not HTTP.")
        LOST = "lost", _("The address was encrypted with a secret key that is gone: set it anew.")
        NAME = "name", _("The name in the address could not be found.")
        CONNECTION = "connection", _("No connection, or it broke off.")
        CERTIFICATE = "certificate", _("The certificate could not be verified.")
        TIMEOUT = "timeout", _("No answer in time.")
        ERROR = "error", _("It could not be sent; the log says why.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was sending.")

    public_id = models.CharField(max_length=40, unique=True, default=notice_id)
    person = models.ForeignKey(User, models.CASCADE, null=True, related_name="notices")
    team = models.ForeignKey("Team", models.CASCADE, null=True, related_name="notices")
    # It tells of what was held after `since` (null: ever) and until `until`.
    since = models.DateTimeField(null=True)
    until = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    # Whoever sends it holds it until then. A row whose time is over was left by a worker that died.
    leased_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=12, choices=Trouble, blank=True)

    class Meta:
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["person"], condition=Q(state="waiting"), name="one_notice_waits"),
            models.UniqueConstraint(fields=["team"], condition=Q(state="waiting"), name="one_notice_of_team_waits"),
            models.CheckConstraint(condition=Q(person=None) ^ Q(team=None), name="notice_to_person_or_team"),
        ]
        indexes = [models.Index(fields=["next_attempt_at"], condition=Q(state="waiting"), name="notices_due")]

    def __str__(self) -> str:
        return self.public_id


class Team(models.Model):
    """People and agents that see each other's work. Nothing crosses from one team to another."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    # Goes up with each change to the team's patterns: the key under which processes keep their scorer.
    patterns_version = models.PositiveBigIntegerField(default=0, editable=False)
    # The first version of which it was kept what the patterns were; see patterns.models.PatternInForce.
    patterns_known_from = models.PositiveBigIntegerField(default=0, editable=False)
    # How long texts are kept, in days; null is for ever. Set by `metacog.retention.set_retention`.
    retention_days = models.PositiveIntegerField(
        _("keep texts for (days)"),
        null=True,
        editable=False,
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
    )
    # Off until an owner says otherwise: who has the mail has the link, and no retention reaches a mail.
    mail_links = models.BooleanField(default=False, editable=False)
    mail_texts = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Channel(models.Model):
    """A team's chat that is told what waits, at an incoming webhook as Slack has them. No row: none."""

    team = models.OneToOneField(Team, models.CASCADE, primary_key=True, related_name="channel")
    url_encrypted = models.TextField(editable=False)  # whoever has the address can post there
    hint = models.CharField(max_length=270, editable=False)  # enough of it to tell addresses apart
    minutes = models.PositiveSmallIntegerField(
        _("at most every (minutes)"), default=15, validators=[MinValueValidator(1), MaxValueValidator(1440)]
    )
    language = models.CharField(_("language"), max_length=10, choices=Language, default=Language.EN)
    # Off until an owner says otherwise: no retention reaches a chat.
    texts = models.BooleanField(_("excerpts of what agents wrote"), default=False)
    turn_at = models.DateTimeField(null=True, editable=False)  # when it was last told
    told_until = models.DateTimeField(null=True, editable=False)  # of what was held until then it has been told

    def __str__(self) -> str:
        return self.hint


class Membership(models.Model):
    """One person's role in one team."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", verbose_name=_("person"))
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships", verbose_name=_("team"))
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.REVIEWER)

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [models.UniqueConstraint(fields=["user", "team"], name="one_membership_a_team")]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


def agent_id() -> str:
    return new_id("agt")


class Agent(models.Model):
    """A program that posts its responses. Its keys and secrets live in AgentKey."""

    public_id = models.CharField(max_length=40, unique=True, default=agent_id, editable=False)
    team = models.ForeignKey(Team, models.PROTECT, related_name="agents", verbose_name=_("team"))
    name = models.CharField(_("name"), max_length=100)
    language = models.CharField(_("language"), max_length=10, choices=Language, default=Language.EN)
    callback_url = models.URLField(_("callback address"), max_length=500, blank=True)
    # What its curators want the chairman to keep in mind when it asks for more steps (seed 003, 2.4).
    handcard = models.TextField(_("handcard"), max_length=4_000, blank=True)
    # H4: off means the agent's responses are stored and passed, unscored.
    hesitation_enabled = models.BooleanField(_("hesitation"), default=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    policy_version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_agent_name_a_team")]

    def __str__(self) -> str:
        return self.name


class AgentState(models.Model):
    """What changes with every post of an agent, apart from the Agent row that everything points to.

    The ingest and every release of a decision lock this row first, which puts one agent's posts in
    order of arrival, and its feed's numbers in order of commit. Two agents never wait for each other.
    """

    agent = models.OneToOneField(Agent, models.CASCADE, primary_key=True, related_name="state")
    # GCRA's theoretical arrival time, in seconds since the epoch (ATM Forum TM 4.0, annex on GCRA).
    rate_tat = models.FloatField(default=0)
    decision_seq = models.PositiveBigIntegerField(default=0)
    responses = models.PositiveBigIntegerField(default=0)
    intent = models.JSONField(null=True)
    topics = OrderedJSONField(default=dict)  # how often each topic came, the latest last; see TOPICS in reviews.ingest
    cycles = OrderedJSONField(default=list)  # the topics of the last cycles, oldest first: [number or null, topics]
    active_threads = models.PositiveIntegerField(default=0)  # so that a response costs nothing where there are none

    def __str__(self) -> str:
        return f"state of {self.agent_id}"


class AgentKey(models.Model):
    """An API key (stored as its SHA-256) with a signing secret (encrypted). Two live while one is rotated."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="keys")
    key_sha256 = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)  # the key's first characters, to tell keys apart
    secret_encrypted = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.hint}…"


def seed_weights() -> dict[str, int]:
    return dict(heuristics.Policy().weights)


def seed_release() -> dict[str, str]:
    return dict(heuristics.Policy().release)


def seed_parts() -> dict[str, bool]:
    return dict(heuristics.Policy().parts)


class Policy(models.Model):
    """One version of what an agent is held to. Versions are only added; the highest is in force."""

    class Profile(models.TextChoices):
        SEED = "seed", _("Seed: exactly as specified")
        AWARE = "aware", _("Aware: reads words in their sense")

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="policies", verbose_name=_("agent"))
    version = models.PositiveIntegerField(editable=False)
    profile = models.CharField(_("profile"), max_length=10, choices=Profile, default=Profile.SEED)
    threshold = models.PositiveSmallIntegerField(_("marks from"), default=30, validators=[MaxValueValidator(101)])
    hold_at = models.PositiveSmallIntegerField(_("holds from"), default=50, validators=[MaxValueValidator(101)])
    weights = models.JSONField(_("weights"), default=seed_weights)
    release = models.JSONField(_("who may release"), default=seed_release)
    marks = models.JSONField(_("wording of marks"), default=dict, blank=True)
    review_seconds = models.PositiveIntegerField(
        _("review due after (seconds)"), default=120, validators=[MinValueValidator(1), MaxValueValidator(10**8)]
    )
    expiry_seconds = models.PositiveIntegerField(
        _("expires after (seconds)"), default=604_800, validators=[MinValueValidator(1), MaxValueValidator(10**9)]
    )
    rate_per_second = models.PositiveIntegerField(
        _("posts a second"), default=20, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    rate_burst = models.PositiveIntegerField(
        _("burst of posts"), default=200, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    require_signature = models.BooleanField(_("demand key and signature"), default=False)
    parts = models.JSONField(_("parts of the verdict"), default=seed_parts)
    stuck_threshold = models.PositiveSmallIntegerField(
        _("asks to think twice from"), default=7, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    max_active_threads = models.PositiveSmallIntegerField(
        _("active threads at most"), default=3, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    budget_calls = models.PositiveIntegerField(
        _("tool calls of an investigation"), default=5, validators=[MinValueValidator(1), MaxValueValidator(10_000)]
    )
    budget_extension = models.PositiveIntegerField(
        _("more calls that pass by rule"), default=3, validators=[MaxValueValidator(10_000)]
    )
    budget_wait_seconds = models.PositiveIntegerField(
        _("a request for more waits (seconds)"),
        default=3_600,
        validators=[MinValueValidator(1), MaxValueValidator(31_536_000)],
    )
    quality = models.JSONField(_("quality"), default=dict, blank=True)  # what differs from the defaults
    stuck = models.JSONField(_("stuck"), default=dict, blank=True)
    note = models.CharField(_("why"), max_length=300, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["agent", "version"], name="one_policy_a_version")]

    def __str__(self) -> str:
        return f"{self.agent} · {self.version}"

    def as_dict(self) -> dict[str, Any]:
        """Return the policy object of the wire, for `heuristics.Policy.from_dict`."""
        return {
            "profile": self.profile,
            "threshold": self.threshold,
            "hold_at": self.hold_at,
            "weights": self.weights,
            "release": self.release,
            "marks": self.marks or None,
            "review_seconds": self.review_seconds,
            "expiry_seconds": self.expiry_seconds,
            "rate_per_second": self.rate_per_second,
            "rate_burst": self.rate_burst,
            "require_signature": self.require_signature,
            "parts": self.parts,
            "stuck_threshold": self.stuck_threshold,
            "max_active_threads": self.max_active_threads,
            "budget_calls": self.budget_calls,
            "budget_extension": self.budget_extension,
            "budget_wait_seconds": self.budget_wait_seconds,
            "quality": self.quality,
            "stuck": self.stuck,
        }

    def clean(self) -> None:
        try:
            heuristics.Policy.from_dict(self.as_dict())
        except heuristics.PolicyError as error:
            raise ValidationError([f"{pointer}: {detail}" for pointer, detail in error.errors]) from None


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
            # The audit page, newest first: all of it, a team's, one kind of a team's, an agent's, an object's.
            models.Index(fields=["at", "id"], name="audit_by_time"),
            models.Index(fields=["team", "at", "id"], name="audit_of_team"),
            models.Index(fields=["team", "action", "at", "id"], name="audit_of_action"),
            models.Index(fields=["agent", "at", "id"], name="audit_of_agent"),
            models.Index(fields=["object_id"], name="audit_of_object"),
            # What people did, which in most teams is little beside what agents do.
            models.Index(fields=["team", "at", "id"], condition=Q(actor_kind="person"), name="audit_of_people"),
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
    """A link of the chain over the audit events; metacog/audit_chain.py says what it proves.

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


class Heartbeat(models.Model):
    """When a part that runs in the background was last seen to work; /readyz reads it."""

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
