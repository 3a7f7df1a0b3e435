"""People, the teams they are in, and what they may do there."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog.db.prepared import written_once

if TYPE_CHECKING:
    from metacog.models.agents import Agent


class Language(models.TextChoices):
    """Languages of the console and of what metacog adds to an agent's text (BCP 47, in Django's case)."""

    EN = "en", "English"
    ZH_HANT = "zh-hant", "繁體中文"
    ZH_HANS = "zh-hans", "简体中文"

    @property
    def bcp47(self) -> str:
        """The tag as the heuristics write it: zh-Hant."""
        language, _hyphen, script = self.value.partition("-")
        return f"{language}-{script.title()}" if script else language


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


LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class User(AbstractUser):
    """A person. Superusers count as owners of every team; all others see only the teams they are in."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("Automatic")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    language = models.CharField(_("language"), max_length=10, choices=Language, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)  # empty: that of the next browser
    theme = models.CharField(_("theme"), max_length=5, choices=Theme, blank=True)
    keyboard = models.BooleanField(_("keyboard shortcuts"), default=True)
    # When the next weekly report is due, whether or not one is wanted (reviews/outbox/weekly.py). Put back, so that it
    # is worked out anew, by whatever changes the weekday, the hour or the time zone.
    report_at = models.DateTimeField(default=LONG_AGO, db_default=LONG_AGO, db_index=True, editable=False)

    def __str__(self) -> str:
        return self.get_full_name() or self.get_username()

    def has_usable_password(self) -> bool:
        """Say whether a password lets this person in: none does where only providers may."""
        return not settings.SSO_ONLY and super().has_usable_password()

    def check_password(self, raw_password: str | None) -> bool:
        return not settings.SSO_ONLY and super().check_password(raw_password)

    def teams_as(self, role: Role = Role.VIEWER) -> models.QuerySet[Team]:
        """Return the teams in which this person has at least this role."""
        if not self.is_active:
            return Team.objects.none()
        if self.is_superuser:
            return Team.objects.all()
        return Team.objects.filter(memberships__user=self, memberships__role__in=role.and_above)

    @cached_property
    def _roles(self) -> dict[Team, str]:
        """Read once what this person may do, and where: a page asks for it in several places."""
        if not self.is_active:
            return {}
        if self.is_superuser:
            return dict.fromkeys(_every_team(), Role.OWNER)
        return {own.team: own.role for own in _memberships(self.pk)}

    @property
    def teams(self) -> list[Team]:
        """Return the teams this person sees, read once: of a team that is named, an index gives rows in its order."""
        return list(self._roles)

    def team_shown(self) -> Team | None:
        """Return the first team with agents, else the first: what a page opens on where no team is named.

        One query where this person sees several.
        """
        if len(self.teams) < 2:
            return next(iter(self.teams), None)
        keys = [team.pk for team in self.teams]
        first = Team.objects.filter(pk__in=keys, agents__isnull=False).order_by("name").values_list("pk").first()
        return next(team for team in self.teams if first is None or team.pk == first[0])

    def name_of(self, agent: Agent) -> str:
        """Return what an agent is called; with its team, where this person sees several: names are of one team."""
        named = [team.name for team in self.teams if team.pk == agent.team_id] if len(self.teams) > 1 else []
        return " · ".join([agent.name, *named])

    def has_role(self, team_id: int, role: Role) -> bool:
        """Say whether this person has at least this role there, as it was when it was first asked."""
        return any(team.pk == team_id and mine in role.and_above for team, mine in self._roles.items())


class Team(models.Model):
    """People and agents that see each other's work. Nothing crosses from one team to another."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    # Goes up with each change to the team's patterns: the key under which processes keep their scorer.
    patterns_version = models.PositiveBigIntegerField(default=0, editable=False)
    # The first version of which it was kept what the patterns were; see patterns.models.PatternInForce.
    patterns_known_from = models.PositiveBigIntegerField(default=0, editable=False)
    # The version of its rules on tool calls that is in force (metacog.models.TeamRules); 0: it has none.
    rules_version = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    # How long texts are kept, in days; null is for ever. Set by `metacog.accounts.retention.set_retention`.
    retention_days = models.PositiveIntegerField(
        _("keep texts for (days)"),
        null=True,
        editable=False,
        validators=[MinValueValidator(1), MaxValueValidator(36_500)],
    )
    # Off until an owner says otherwise: who has the mail has the link, and no retention reaches a mail.
    mail_links = models.BooleanField(default=False, editable=False)
    mail_texts = models.BooleanField(default=False, editable=False)
    # Whether its agents are told who decided.
    names_people = models.BooleanField(default=False, db_default=False, editable=False)
    # Whether its people must have a second factor.
    requires_second_factor = models.BooleanField(default=False, db_default=False, editable=False)
    # Whether a webhook was ever added to it: posts of all other teams need not look for one.
    has_webhooks = models.BooleanField(default=False, db_default=False, editable=False)
    # What orders the words in the queue by what its people decide: "" while nothing was proven, else what it is made
    # of; see heuristics.ranking.model.Kind. `risk_order` says whether the queue goes by it.
    risk_kind = models.CharField(max_length=10, blank=True, default="", db_default="", editable=False)
    risk_model = models.BigIntegerField(null=True, editable=False)  # the key of the reviews.RiskModel of its agents
    risk_order = models.BooleanField(default=True, db_default=True, editable=False)
    # How many items a day its people can look at beside what is held anyway, whether these wait for them (else they
    # are spot checks), and from which risk on.
    risk_budget = models.PositiveIntegerField(null=True, editable=False, validators=[MaxValueValidator(10_000)])
    risk_budget_holds = models.BooleanField(default=False, db_default=False, editable=False)
    risk_cut = models.FloatField(null=True, editable=False)
    # The same of its tool calls, which a model of their own ranks: within their budget they always wait.
    risk_calls = models.CharField(max_length=10, blank=True, default="", db_default="", editable=False)
    risk_calls_budget = models.PositiveIntegerField(null=True, editable=False, validators=[MaxValueValidator(10_000)])
    risk_calls_cut = models.FloatField(null=True, editable=False)
    # Whether spot checks are drawn more where the learned risk is unsure.
    risk_samples = models.BooleanField(default=False, db_default=False, editable=False)
    # Within which time its people mean to decide what is held: what lists count as due. Nothing happens by itself then.
    decide_within_minutes = models.PositiveIntegerField(
        _("target for deciding"),
        default=240,
        db_default=240,
        editable=False,
        validators=[MinValueValidator(5), MaxValueValidator(43_200)],
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role in one team."""

    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", verbose_name=_("person"))
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships", verbose_name=_("team"))
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.REVIEWER)
    # The provider whose groups gave it, and may take it; empty where an owner did.
    given_by = models.CharField(max_length=40, blank=True, default="", db_default="", editable=False)
    # Weekly reports begin with the first full week after it. Null: before it was kept.
    created_at = models.DateTimeField(null=True, default=timezone.now, editable=False)
    owner_since = models.DateTimeField(null=True, editable=False)  # null: whoever is owner was so from the start

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [models.UniqueConstraint(fields=["user", "team"], name="one_membership_a_team")]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


@written_once
def _every_team() -> models.QuerySet[Team]:
    return Team.objects.all()


@written_once
def _memberships(person: Any) -> models.QuerySet[Membership]:
    return Membership.objects.filter(user=person).select_related("team").order_by("team__name")


class MemberGroup(models.Model):
    """Members of a team whom rules can name as approvers, such as “finance”. It gives no right by itself."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="member_groups")
    name = models.CharField(_("name"), max_length=100)
    members = models.ManyToManyField(Membership, related_name="groups")  # who leaves the team leaves its groups

    class Meta:
        verbose_name = _("group of members")
        verbose_name_plural = _("groups of members")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="one_group_a_name")]

    def __str__(self) -> str:
        return self.name
