"""The devices to which notices are pushed, what each person has pushed, and the key that signs pushes."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.models.people import Language, User


class PushKey(models.Model):
    """The one pair of keys (VAPID, RFC 8292) by which push services know this installation.

    A browser's subscription is bound to it for good.
    """

    ONLY = 1  # its primary key

    public = models.CharField(max_length=100)  # the point, uncompressed, in base64url
    private_encrypted = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.public


class PersonPush(models.Model):
    """What is pushed to a person's devices, and when. No row: there was never a device."""

    person = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="push")
    calls = models.BooleanField(_("held tool calls"), default=True)
    questions = models.BooleanField(_("questions of agents"), default=True)
    words = models.BooleanField(_("other held items"), default=False)
    mentions = models.BooleanField(_("mentions and assignments"), default=True)
    outages = models.BooleanField(_("webhooks that are switched off"), default=True)
    minutes = models.PositiveSmallIntegerField(
        _("held for at least (minutes)"), default=0, validators=[MaxValueValidator(1440)]
    )
    every = models.PositiveSmallIntegerField(
        _("at most every (minutes)"), default=5, validators=[MinValueValidator(1), MaxValueValidator(1440)]
    )
    # In the person's time zone, and over midnight where the second is the earlier. Both or neither.
    quiet_from = models.TimeField(_("quiet from"), null=True, blank=True)
    quiet_until = models.TimeField(_("quiet until"), null=True, blank=True)

    def __str__(self) -> str:
        return str(self.person_id)

    @classmethod
    def of(cls, person: User) -> PersonPush:
        """Return what a person chose, else what holds before they choose."""
        return cls.objects.filter(person=person).first() or cls(person=person)


def device_id() -> str:
    return new_id("dev")


class PushDevice(models.Model):
    """A browser that takes notices for its person: one subscription at its maker's push service."""

    MOST = 20  # a person

    public_id = models.CharField(max_length=40, unique=True, default=device_id)
    person = models.ForeignKey(User, models.CASCADE, related_name="devices")
    name = models.CharField(max_length=100)
    hint = models.CharField(max_length=255)  # the push service's host
    endpoint_sha256 = models.CharField(max_length=64, unique=True)  # a browser has one, whoever signs in there
    subscription_encrypted = models.TextField()  # its address, and the keys that notices are encrypted for
    language = models.CharField(max_length=10, choices=Language, default=Language.EN)  # where the person has set none
    created_at = models.DateTimeField(default=timezone.now)
    pushed_at = models.DateTimeField(null=True)  # when its push service last took a notice
    turn_at = models.DateTimeField(null=True)  # when it was last told of held items
    told_until = models.DateTimeField(null=True)  # of what was held until then it has been told

    class Meta:
        verbose_name = _("device")
        verbose_name_plural = _("devices")
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name
