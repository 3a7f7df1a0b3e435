"""Who is told of what waits, where, and the outbox of it."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.db.ids import new_id
from metacog.models.people import Language, Team, User
from metacog.models.push import PushDevice


class PersonNotices(models.Model):
    """What a person is told by mail of what waits for them, and when. No row: what `of` says."""

    class When(models.TextChoices):
        NEVER = "never", pgettext_lazy("mail me", "never")
        WAITING = "waiting", _("when items are held, at most once an hour")
        DAILY = "daily", _("once a day, if new items are held")

    class Weekly(models.TextChoices):
        OWNED = "owned", _("of the teams that I own")
        ALL = "all", _("of all my teams")
        NEVER = "never", pgettext_lazy("weekly report", "of no team")

    class Weekday(models.IntegerChoices):
        MONDAY = 0, _("Monday")
        TUESDAY = 1, _("Tuesday")
        WEDNESDAY = 2, _("Wednesday")
        THURSDAY = 3, _("Thursday")
        FRIDAY = 4, _("Friday")
        SATURDAY = 5, _("Saturday")
        SUNDAY = 6, _("Sunday")

    person = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="told")
    when = models.CharField(_("email me"), max_length=10, choices=When, default=When.NEVER)
    minutes = models.PositiveSmallIntegerField(
        _("held for at least (minutes)"), default=15, validators=[MinValueValidator(5), MaxValueValidator(1440)]
    )
    # Each by itself and at once, whatever `when` says.
    mentions = models.BooleanField(_("mentions and assignments"), default=True, db_default=True)
    outages = models.BooleanField(_("webhooks that are switched off"), default=True, db_default=True)
    hour = models.PositiveSmallIntegerField(_("hour of the day"), default=8, validators=[MaxValueValidator(23)])
    # The weekly report, a mail for each team (reviews/outbox/weekly.py).
    weekly = models.CharField(
        _("weekly report"), max_length=10, choices=Weekly, default=Weekly.OWNED, db_default=Weekly.OWNED
    )
    weekly_day = models.PositiveSmallIntegerField(_("weekday"), choices=Weekday, default=0, db_default=0)
    weekly_hour = models.PositiveSmallIntegerField(
        _("hour of that day"), default=8, db_default=8, validators=[MaxValueValidator(23)]
    )
    weekly_from = models.DateTimeField(null=True)  # reports that were due before it are not sent: it was chosen then
    language = models.CharField(max_length=10, choices=Language, default=Language.EN)  # where the person has set none
    turn_at = models.DateTimeField(null=True)  # when it was last its turn, whether or not anything was sent
    told_until = models.DateTimeField(null=True)  # of what was held until then the person has been told

    def __str__(self) -> str:
        return f"{self.person_id}: {self.when}"

    @classmethod
    def of(cls, person: User) -> PersonNotices:
        """Return what a person chose; who never did is told of events alone, once there is an address."""
        has_address = bool(person.email)
        chosen = cls.objects.filter(person=person).first()
        weekly = cls.Weekly.OWNED if has_address else cls.Weekly.NEVER
        return chosen or cls(person=person, mentions=has_address, outages=has_address, weekly=weekly)

    @property
    def is_any(self) -> bool:
        """Say whether the person is told anything by mail."""
        return self.when != self.When.NEVER or self.mentions or self.outages or self.weekly != self.Weekly.NEVER


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
    mentions = models.BooleanField(_("mentions and assignments"), default=False, db_default=False)
    turn_at = models.DateTimeField(null=True, editable=False)  # when it was last told
    told_until = models.DateTimeField(null=True, editable=False)  # of what was held until then it has been told

    def __str__(self) -> str:
        return self.hint


def notice_id() -> str:
    return new_id("note")


class Notice(models.Model):
    """One message, to a person by mail or on a device, or to a team's chat: about what is held, or about one event.

    Written and sent by reviews/outbox/notifications.py, those about an event in the transaction of the event. What it
    says is read when it is sent, so no text is kept here and nothing decided since is told.
    """

    class Kind(models.TextChoices):
        HELD = "held", _("Held items")
        MENTION = "mention", _("Mention")
        ASSIGNED = "assigned", _("Assignment")
        ASKED = "asked", _("Items to decide")
        ON_CALL = "on-call", _("On call")
        OUTAGE = "outage", _("Webhook switched off")
        DECIDED = "decided", _("Decided item")
        TEST = "test", _("Test")
        WEEKLY = "weekly", _("Weekly report")

    class State(models.TextChoices):
        WAITING = "waiting", _("Queued")
        SENT = "sent", _("Sent")
        MOOT = "moot", _("Not needed any more")
        GIVEN_UP = "given-up", _("Given up")

    class Trouble(models.TextChoices):
        """Why an attempt failed. Never in the server's own words."""

        SIGN_IN = "sign-in", _("The mail server did not accept user name and password.")
        NO_TLS = "no-tls", _("The mail server offers no encryption.")
        NO_SMTP = "no-smtp", _("The server is not a mail server.")
        RECIPIENT = "recipient", _("The mail server refuses this address.")
        REFUSED = "refused", _("The mail server refused the message.")
        ADDRESS = "address", _("The address cannot be used.")
        FORBIDDEN = "forbidden", _("The address is not public.")
        STATUS = "status", _("The chat refused the message.")
        PUSH = "push", _("The push service refused the message.")
        BUSY = "busy", _("The push service is busy or out of order.")
        KEYS = "keys", _("The keys cannot be decrypted: turn notices off and on again on this device.")
        ANSWER = "answer", _("The answer was not HTTP.")
        LOST = "lost", _("The address cannot be decrypted: its secret key is gone. Enter it again.")
        NAME = "name", _("The name in the address could not be found.")
        CONNECTION = "connection", _("The connection failed.")
        CERTIFICATE = "certificate", _("The certificate could not be verified.")
        TIMEOUT = "timeout", _("No answer in time.")
        ERROR = "error", _("It could not be sent; the log says why.")
        INTERRUPTED = "interrupted", _("metacog was interrupted while it was sending.")

    public_id = models.CharField(max_length=40, unique=True, default=notice_id)
    person = models.ForeignKey(User, models.CASCADE, null=True, related_name="notices")
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="notices")
    device = models.ForeignKey(PushDevice, models.CASCADE, null=True, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.HELD, db_default=Kind.HELD)
    # Of an event: a comment's id, an item's and the version of whose it is, or that of an agent or webhook and the time
    # it was switched off; a team's key and the time of its turn to ask, or of a handover; of a decided item the notice
    # that a device shows; of a weekly report the team's key and the week. reviews stands above this package.
    about = models.CharField(max_length=60, default="", db_default="")
    # The id of the item whose decision ends what a device shows; empty once it shows it no more.
    shows = models.CharField(max_length=40, default="", db_default="")
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
            models.UniqueConstraint(
                fields=["person"], condition=Q(state="waiting", kind="held"), name="one_notice_waits"
            ),
            models.UniqueConstraint(
                fields=["team"], condition=Q(state="waiting", kind="held"), name="one_notice_of_team_waits"
            ),
            models.UniqueConstraint(
                fields=["person", "about"], condition=~Q(kind="held") & Q(team=None), name="one_notice_an_event"
            ),
            models.UniqueConstraint(
                fields=["team", "about"], condition=~Q(kind="held") & Q(person=None), name="one_team_notice_an_event"
            ),
            models.UniqueConstraint(
                fields=["device"], condition=Q(state="waiting", kind="held"), name="one_notice_of_device_waits"
            ),
            models.UniqueConstraint(
                fields=["device", "about"],
                condition=~Q(kind="held") & Q(person=None, team=None),
                name="one_device_notice_an_event",
            ),
            models.CheckConstraint(
                condition=(
                    Q(person__isnull=False, team=None, device=None)
                    | Q(person=None, team__isnull=False, device=None)
                    | Q(person=None, team=None, device__isnull=False)
                ),
                name="notice_to_one_reader",
            ),
        ]
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(state="waiting"), name="notices_due"),
            models.Index(fields=["shows"], condition=~Q(shows=""), name="notices_shown"),
        ]

    def __str__(self) -> str:
        return self.public_id
