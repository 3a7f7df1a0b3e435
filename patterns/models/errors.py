"""Known errors: the patterns of a team, what they were at each version, and their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.heuristics.hesitation.patterns import MIN_KEYWORD_LENGTH, is_too_short
from metacog.models import Team, User

MAX_KEYWORDS = 64
MAX_KEYWORD_LENGTH = 200
MAX_PATTERNS = 10_000  # active in one team; the bound at which a response still scores in milliseconds


def pattern_id() -> str:
    return new_id("ep")


def keyword_problems(keywords: object) -> list[str]:
    """Return what is wrong with a list of keywords, in sentences; empty when nothing is."""
    if not isinstance(keywords, list) or not keywords:
        return [str(_("Give at least one keyword or phrase."))]
    problems = []
    if len(keywords) > MAX_KEYWORDS:
        problems.append(str(_("At most %(most)d keywords per pattern.")) % {"most": MAX_KEYWORDS})
    for keyword in keywords:
        if not isinstance(keyword, str) or is_too_short(keyword):
            problems.append(
                str(_("“%(keyword)s” is too short: a keyword needs %(least)d characters or more."))
                % {"keyword": keyword, "least": MIN_KEYWORD_LENGTH}
            )
        elif len(keyword) > MAX_KEYWORD_LENGTH:
            problems.append(
                str(_("“%(keyword)s…” is longer than %(most)d characters."))
                % {"keyword": keyword[:30], "most": MAX_KEYWORD_LENGTH}
            )
        elif "\0" in keyword:
            problems.append(str(_("A keyword cannot contain a NUL character.")))
    return problems


class ErrorPattern(models.Model):
    """A known error (seed 000): literal keywords, any of which makes a response hesitate.

    The first active pattern in order of creation that matches is the one that counts, as in the
    seed, so the order of rows (`id`) is part of the meaning.
    """

    class Source(models.TextChoices):
        CORRECTION = "alex-correction", _("A person's correction")
        SELF_REVIEW = "self-review", _("The agent's second look")
        EXTERNAL = "external", _("From elsewhere")

    class State(models.TextChoices):
        PROPOSED = "proposed", _("Proposed")
        SHADOW = "shadow", _("Shadow")
        ACTIVE = "active", _("Active")
        RETIRED = "retired", _("Retired")

    MAX_DESCRIPTION = 500

    team = models.ForeignKey(Team, models.PROTECT, related_name="patterns", verbose_name=_("team"))
    public_id = models.CharField(max_length=100, default=pattern_id, editable=False)
    keywords = models.JSONField(
        _("keywords"), help_text=_("The pattern fires when a response contains any one of them.")
    )
    description = models.CharField(_("description"), max_length=MAX_DESCRIPTION)
    source = models.CharField(_("source"), max_length=20, choices=Source, default=Source.EXTERNAL)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    # Why a proposal was turned down, which is then not made again; empty where a pattern served and was retired.
    dismissed_because = models.CharField(_("dismissed because"), max_length=300, blank=True, editable=False)
    # A proposal that was adopted as part of another is retired, and says which keywords it brought.
    merged_into = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, editable=False, related_name="merged"
    )
    merged_keywords = models.JSONField(default=list, editable=False)
    # A curator took it apart from proposals like it: it is shown by itself.
    is_apart = models.BooleanField(default=False, db_default=False, editable=False)
    # What an imported file said it had been triggered before; our own count is derived from the responses.
    imported_triggers = models.PositiveIntegerField(default=0, editable=False)
    # On how many responses it fired of those that were learned from (the agents' learning cursors); never begun anew.
    counted_triggers = models.PositiveBigIntegerField(default=0, db_default=0, editable=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("error pattern")
        verbose_name_plural = _("error patterns")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["team", "public_id"], name="one_pattern_an_id")]
        indexes = [models.Index(fields=["team", "state", "id"], name="patterns_in_force")]

    def __str__(self) -> str:
        return self.description

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            super().save(*args, **kwargs)
            touch(self.team_id, [self])

    def clean(self) -> None:
        if problems := keyword_problems(self.keywords):
            raise ValidationError({"keywords": problems})

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            self.state = self.State.RETIRED
            touch(self.team_id, [self])
            return super().delete(*args, **kwargs)


class PatternInForce(models.Model):
    """What an active pattern said over a span of versions of its team's patterns. Scorers are built from these rows.

    `touch` alone writes them, and nothing takes them away: with them the verdicts of any version are made again.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="+", db_index=False)
    place = models.PositiveBigIntegerField()  # the pattern's row id: their order is part of the meaning
    public_id = models.CharField(max_length=100)
    keywords = models.JSONField()
    description = models.CharField(max_length=ErrorPattern.MAX_DESCRIPTION)
    since_version = models.PositiveBigIntegerField()
    until_version = models.PositiveBigIntegerField(null=True)  # the first in which it no longer said so

    class Meta:
        verbose_name = _("pattern in force")
        verbose_name_plural = _("patterns in force")
        ordering = ["place"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "place"], condition=Q(until_version=None), name="in_force_once_at_a_time"
            )
        ]
        indexes = [models.Index(fields=["team", "place"], name="patterns_of_any_version")]

    def __str__(self) -> str:
        return f"{self.public_id} since {self.since_version}"


class PatternRecord(models.Model):
    """What became of the responses that a pattern fired on, since it had these keywords and was tried or active.

    Counted behind the writes by reviews/learning/pattern_stats.py. A shadow pattern fires without consequence.
    """

    pattern = models.OneToOneField(ErrorPattern, models.CASCADE, primary_key=True, related_name="record")
    since = models.DateTimeField(default=timezone.now)
    # The team's responses up to when it began, and up to when the pattern was retired: what lies between, it has seen.
    seen_from = models.PositiveBigIntegerField(default=0)
    seen_to = models.PositiveBigIntegerField(null=True)
    fired = models.PositiveIntegerField(default=0)  # responses
    held = models.PositiveIntegerField(default=0)  # items held in them, for whatever reason; people decided of them:
    rejected = models.PositiveIntegerField(default=0)
    edited = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    keywords = models.JSONField(default=dict)  # how often each matched
    last_fired_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("statistics of a pattern")
        verbose_name_plural = _("statistics of patterns")

    def __str__(self) -> str:
        return f"record of {self.pattern_id}"

    @property
    def undecided(self) -> int:
        """Count the held items that no person decided: still open, expired, or decided by the agent."""
        return self.held - self.decided

    @property
    def decided(self) -> int:
        return self.rejected + self.edited + self.approved


def touch(team_id: int, changed: Sequence[ErrorPattern]) -> None:
    """Begin the next version of a team's patterns, in the transaction that changed these: what is in force from it on.

    Every process builds the team's scorer anew. Call it for active patterns, and for those that were active until now.
    """
    team = Team.objects.filter(pk=team_id)
    team.update(patterns_version=F("patterns_version") + 1)  # and from here on nobody else's
    version = team.values_list("patterns_version", flat=True).get()
    before = PatternInForce.objects.filter(team=team_id, until_version=None, place__in=[each.pk for each in changed])
    before.update(until_version=version)
    PatternInForce.objects.bulk_create(
        (
            PatternInForce(
                team_id=team_id,
                place=each.pk,
                public_id=each.public_id,
                keywords=each.keywords,
                description=each.description,
                since_version=version,
            )
            for each in changed
            if each.state == ErrorPattern.State.ACTIVE
        ),
        batch_size=500,
    )
