"""What a team curates: the errors its agents have made before."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.ids import new_id
from metacog.models import Team, User

MAX_KEYWORDS = 64
MAX_KEYWORD_LENGTH = 200
MIN_KEYWORD_LENGTH = 2  # one character fires on nearly everything
MAX_PATTERNS = 10_000  # active in one team; the bound at which a response still scores in milliseconds


def pattern_id() -> str:
    return new_id("ep")


def keyword_problems(keywords: object) -> list[str]:
    """Return what is wrong with a list of keywords, in sentences; empty when nothing is."""
    if not isinstance(keywords, list) or not keywords:
        return [str(_("Give at least one keyword or phrase."))]
    problems = []
    if len(keywords) > MAX_KEYWORDS:
        problems.append(str(_("At most %(most)d keywords a pattern.")) % {"most": MAX_KEYWORDS})
    for keyword in keywords:
        if not isinstance(keyword, str) or len(keyword.strip()) < MIN_KEYWORD_LENGTH:
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
            problems.append(str(_("A keyword cannot hold a NUL character.")))
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

    team = models.ForeignKey(Team, models.PROTECT, related_name="patterns", verbose_name=_("team"))
    public_id = models.CharField(max_length=100, default=pattern_id, editable=False)
    keywords = models.JSONField(_("keywords"), help_text=_("Any one of them fires, wherever it stands."))
    description = models.CharField(_("description"), max_length=500)
    source = models.CharField(_("source"), max_length=20, choices=Source, default=Source.EXTERNAL)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.ACTIVE)
    # What an imported file said it had been triggered before; our own count is derived from the responses.
    imported_triggers = models.PositiveIntegerField(default=0, editable=False)
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
        super().save(*args, **kwargs)
        touch(self.team_id)

    def clean(self) -> None:
        if problems := keyword_problems(self.keywords):
            raise ValidationError({"keywords": problems})

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        gone = super().delete(*args, **kwargs)
        touch(self.team_id)
        return gone


def touch(team_id: int) -> None:
    """Make every process build this team's scorer anew; call it after changing patterns in bulk."""
    Team.objects.filter(pk=team_id).update(patterns_version=F("patterns_version") + 1)
