"""What an agent is held to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from metacog import heuristics
from metacog.db.fields import LenientJSONField
from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.rules import errors_in, of_team
from metacog.models.agents import Agent
from metacog.models.people import Team, User
from metacog.refusals import translated

YEAR = 31_536_000  # seconds; the engine's policy takes no longer ones
FAULTS_TOLD = 3  # in one line


def seed_weights() -> dict[str, int]:
    return dict(heuristics.Policy().weights)


def seed_release() -> dict[str, str]:
    return dict(heuristics.Policy().release)


def seed_parts() -> dict[str, bool]:
    return dict(heuristics.Policy().parts)


def in_one_line(faults: Sequence[tuple[str, str]]) -> str:
    """Say what cannot be read, as much of it as goes into a line."""
    told = [f"{pointer} {detail}".lstrip() for pointer, detail in faults[:FAULTS_TOLD]]
    return "; ".join(told) + "; …" * (len(faults) > FAULTS_TOLD)


def in_sentences(faults: Sequence[tuple[str, str]]) -> list[str]:
    """Say as much in the reader's language, each with its place."""
    told = [(pointer + _(": ") if pointer else "") + translated(detail) for pointer, detail in faults]
    return told[:FAULTS_TOLD] + ["…"] * (len(told) > FAULTS_TOLD)


class Policy(models.Model):
    """One version of what an agent is held to. Versions are only added; the highest is in force.

    A row that makes no policy says so in `faults` and has the defaults in their places, so that pages can show it.
    Nothing is judged by it: see `UnreadablePolicy`.
    """

    faults: Sequence[tuple[str, str]] = ()  # places in the policy (JSON pointers), and what is wrong there

    class Profile(models.TextChoices):
        SEED = "seed", _("Seed: exactly as specified")
        AWARE = "aware", _("Aware: reads words in their sense")

    class ToolCalls(models.TextChoices):
        ASK = "ask", _("Ask a person")
        ALLOW = "allow", _("Allow")
        DENY = "deny", _("Deny")
        SCORE = "score", _("Score, and ask from the holding score")

    class Elicitation(models.TextChoices):
        AGENT = "agent", _("The agent's own user answers")
        PEOPLE = "people", _("People answer in the queue")

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="policies", verbose_name=_("agent"))
    version = models.PositiveIntegerField(_("version"), editable=False)
    profile = models.CharField(_("profile"), max_length=10, choices=Profile, default=Profile.SEED)
    threshold = models.PositiveSmallIntegerField(_("marks from"), default=30, validators=[MaxValueValidator(101)])
    hold_at = models.PositiveSmallIntegerField(_("holds from"), default=50, validators=[MaxValueValidator(101)])
    weights = models.JSONField(_("weights"), default=seed_weights)
    release = models.JSONField(_("who may release"), default=seed_release)
    marks = models.JSONField(_("wording of marks"), default=dict, blank=True)
    review_seconds = models.PositiveIntegerField(
        _("second look after (seconds)"), default=120, validators=[MinValueValidator(1), MaxValueValidator(YEAR)]
    )
    expiry_seconds = models.PositiveIntegerField(
        _("expires after (seconds)"), default=604_800, validators=[MinValueValidator(1), MaxValueValidator(YEAR)]
    )
    rate_per_second = models.PositiveIntegerField(
        _("responses a second"), default=20, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    rate_burst = models.PositiveIntegerField(
        _("burst of responses"), default=200, validators=[MinValueValidator(1), MaxValueValidator(1_000_000)]
    )
    require_signature = models.BooleanField(_("demand key and signature"), default=False)
    plain_text_as_chat = models.BooleanField(_("a response without items is one chat"), default=False)
    remember_into_memory = models.BooleanField(_("add each REMEMBER to the team's memory"), default=True)
    parts = models.JSONField(_("parts of the assessment"), default=seed_parts)
    stuck_threshold = models.PositiveSmallIntegerField(
        _("asks to think twice from"), default=7, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    accept_relayed_yes = models.BooleanField(_("accept a yes to Think twice that the agent relays"), default=True)
    max_active_threads = models.PositiveSmallIntegerField(
        _("active threads at most"), default=3, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    budget_calls = models.PositiveIntegerField(
        _("tool calls of an investigation"), default=5, validators=[MinValueValidator(1), MaxValueValidator(10_000)]
    )
    budget_extension = models.PositiveIntegerField(
        _("tool calls granted by rule"), default=3, validators=[MaxValueValidator(10_000)]
    )
    budget_wait_seconds = models.PositiveIntegerField(
        _("extension request expires after (seconds)"),
        default=3_600,
        validators=[MinValueValidator(1), MaxValueValidator(31_536_000)],
    )
    quality = models.JSONField(_("quality"), default=dict, blank=True)  # what differs from the defaults
    stuck = models.JSONField(_("stuck"), default=dict, blank=True)
    rules = LenientJSONField(_("rules on tool calls"), default=list, db_default=[], blank=True)
    default_tool_call = models.CharField(
        _("other tool calls"), max_length=5, choices=ToolCalls, default=ToolCalls.ASK, db_default="ask"
    )
    packs = LenientJSONField(_("packs of rules"), default=list, db_default=[], blank=True)
    readers = LenientJSONField(_("how arguments are read"), default=dict, db_default={}, blank=True)
    programs = LenientJSONField(_("the team's own programs"), default=list, db_default=[], blank=True)
    trusted_servers = LenientJSONField(_("trusted tool servers"), default=list, db_default=[], blank=True)
    hold_words_with_calls = models.BooleanField(
        _("hold the words of a response whose call is held"), default=False, db_default=False
    )
    # Who answers what an MCP server behind the proxy asks in the middle of a call.
    elicitation = models.CharField(
        _("questions of MCP servers"),
        max_length=6,
        choices=Elicitation,
        default=Elicitation.AGENT,
        db_default="agent",
    )
    note = models.CharField(_("why"), max_length=300, blank=True)
    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("created by")
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["agent", "version"], name="one_policy_a_version")]

    def __str__(self) -> str:
        return f"{self.agent} · {self.version}"

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], **how: Any) -> Self:
        policy = super().from_db(db, field_names, values, **how)
        if not policy.get_deferred_fields():
            policy._set_aside_faults()
        return policy

    def _set_aside_faults(self) -> None:
        self.faults = self._errors()
        if self.faults:
            self._reset(self.faulty)
            if self._errors():  # what is left does not go with the defaults
                self._reset(self.as_dict())

    def _reset(self, names: Iterable[str]) -> None:
        for name in names:
            field: Any = self._meta.get_field(name)
            setattr(self, name, field.get_default())

    def _errors(self) -> list[tuple[str, str]]:
        try:
            heuristics.Policy.from_dict(self.as_dict())
        except heuristics.PolicyError as error:
            return error.errors
        return []

    @property
    def faulty(self) -> set[str]:
        """Return the names of the fields that cannot be read."""
        return {pointer.split("/")[1] for pointer, _ in self.faults}

    @property
    def fault(self) -> str:
        """Say what is wrong with it in one line."""
        return in_one_line(self.faults)

    @property
    def fault_sentences(self) -> list[str]:
        return in_sentences(self.faults)

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
            "plain_text_as_chat": self.plain_text_as_chat,
            "remember_into_memory": self.remember_into_memory,
            "parts": self.parts,
            "stuck_threshold": self.stuck_threshold,
            "accept_relayed_yes": self.accept_relayed_yes,
            "max_active_threads": self.max_active_threads,
            "budget_calls": self.budget_calls,
            "budget_extension": self.budget_extension,
            "budget_wait_seconds": self.budget_wait_seconds,
            "quality": self.quality,
            "stuck": self.stuck,
            "rules": self.rules,
            "packs": self.packs,
            "default_tool_call": self.default_tool_call,
            "readers": self.readers,
            "programs": self.programs,
            "trusted_servers": self.trusted_servers,
            "hold_words_with_calls": self.hold_words_with_calls,
            "elicitation": self.elicitation,
        }

    def clean(self) -> None:
        if errors := self._errors():
            raise ValidationError([f"{pointer}: {detail}" for pointer, detail in errors])


class TeamRules(models.Model):
    """One version of a team's rules on tool calls, above those of all its agents' policies.

    Versions are only added; the one that `Team.rules_version` names is in force, 0 being none.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="rules", verbose_name=_("team"))
    version = models.PositiveIntegerField(_("version"), editable=False)
    rules = LenientJSONField(_("rules on tool calls"), default=list)
    note = models.CharField(_("why"), max_length=300, blank=True)
    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("created by")
    )
    created_at = models.DateTimeField(_("created at"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("team's rules")
        verbose_name_plural = _("teams' rules")
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["team", "version"], name="one_team_rules_a_version")]

    def __str__(self) -> str:
        return f"{self.team} · {self.version}"

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Return the places of what cannot be read (JSON pointers), and what is wrong there."""
        return [(pointer(loc), detail) for loc, detail in errors_in(self.rules)]

    @property
    def fault(self) -> str:
        """Say what is wrong with them in one line."""
        return in_one_line(self.faults)

    @property
    def fault_sentences(self) -> list[str]:
        return in_sentences(self.faults)

    @property
    def readable(self) -> list[dict[str, Any]]:
        """Return the rules; none where they cannot be read."""
        return [] if errors_in(self.rules) else self.rules

    @classmethod
    def given(cls, team_id: int, version: int) -> Any:
        """Return a version of a team's rules as a policy has them: `team_rules`. No query where there is none."""
        if not version:
            return []
        rules = cls.objects.filter(team=team_id, version=version).values_list("rules", flat=True).get()
        is_list = isinstance(rules, list) and all(isinstance(rule, dict) for rule in rules)
        return of_team(rules, version) if is_list else rules
