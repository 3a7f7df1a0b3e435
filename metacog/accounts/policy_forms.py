"""What an owner fills in to change an agent's policy: the next version, prefilled from an earlier one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metacog import heuristics
from metacog.accounts import rule_forms
from metacog.accounts.forms import KINDS, PARTS, RELEASED_BY, SIGNALS, STUCK, ShownField
from metacog.accounts.times.durations import MINUTE, DurationField, in_words
from metacog.heuristics.policy.effect_settings import packs_errors, programs_errors, readers_errors, servers_errors
from metacog.heuristics.policy.quality_settings import MAX_CHARACTERS, MAX_RECENT, LengthLimits, QualitySettings
from metacog.heuristics.policy.stuck_settings import MOST_MINUTES, StuckSettings
from metacog.heuristics.policy.stuck_settings import SETTINGS as STUCK_OF
from metacog.heuristics.quality.quality import HEDGES
from metacog.heuristics.signals import DEFAULTS
from metacog.heuristics.text import strict_json
from metacog.heuristics.tool_calls.rules import Errors
from metacog.models import Agent, Language, Policy, pack_words
from metacog.models.policies import YEAR
from metacog.refusals import translated

LINES = ("pass_at", "low_at")
BUDGET = ("budget_calls", "budget_extension", "budget_wait_seconds")
SWITCHES = (
    "require_signature", "plain_text_as_chat", "remember_into_memory", "accept_relayed_yes", "hold_words_with_calls",
)  # fmt: skip
TIMES = ("review_seconds", "expiry_seconds")
RATES = ("rate_per_second", "rate_burst")
LIMITS = (*TIMES, *RATES, "max_active_threads")
JSON_FIELDS = ("packs", "readers", "programs", "trusted_servers")
# What the model calls otherwise, with the unit that it is stored in.
LABELS = {
    "threshold": gettext_lazy("Marks from"),
    "hold_at": gettext_lazy("Holds from"),
    "review_seconds": gettext_lazy("Second look after"),
    "expiry_seconds": gettext_lazy("Expires after"),
    "rate_per_second": gettext_lazy("Responses per second"),
    "rate_burst": gettext_lazy("Burst of responses"),
    "max_active_threads": gettext_lazy("Active threads, at most"),
    "budget_calls": gettext_lazy("Tool calls of an investigation"),
    "budget_extension": gettext_lazy("Extra calls granted by rule"),
    "budget_wait_seconds": gettext_lazy("Extension request expires after"),
    "require_signature": gettext_lazy("Require key and signature"),
    "plain_text_as_chat": gettext_lazy("A response without items counts as one CHAT"),
    "remember_into_memory": gettext_lazy("Add each REMEMBER to the team's memory"),
    "stuck_threshold": gettext_lazy("Suggests thinking twice from"),
    "accept_relayed_yes": gettext_lazy("Accept a yes to “Think twice” relayed by the agent"),
    "default_tool_call": gettext_lazy("Other tool calls"),
    "hold_words_with_calls": gettext_lazy("Hold a response's words while its tool call is held"),
    "elicitation": gettext_lazy("Questions of MCP servers"),
    "packs": gettext_lazy("Packs"),
    "readers": gettext_lazy("How arguments are read"),
    "programs": gettext_lazy("Your own programs"),
    "trusted_servers": gettext_lazy("Trusted tool servers"),
    "note": gettext_lazy("Reason"),
}
QUALITY = {
    "responsiveness": gettext_lazy("Responsiveness"),
    "completeness": gettext_lazy("Completeness"),
    "consistency": gettext_lazy("Consistency"),
    "length": gettext_lazy("Length"),
    "repetition": gettext_lazy("Repetition"),
    "pass_at": gettext_lazy("Passes from"),
    "low_at": gettext_lazy("Low below"),
}
# By the setting's place among those of quality. Left empty, the engine's own counts.
LENGTHS = {
    ("en", "min"): gettext_lazy("Minimum characters"),
    ("en", "max"): gettext_lazy("Maximum characters"),
    ("zh", "min"): gettext_lazy("Minimum characters (Chinese, Japanese, Korean)"),
    ("zh", "max"): gettext_lazy("Maximum characters (Chinese, Japanese, Korean)"),
}
RECENT = {
    "recent_window": gettext_lazy("Earlier responses compared"),
    "similar_at": gettext_lazy("Repetition from a similarity of"),
}
BOUNDS = {
    "required": gettext_lazy("This field is required."),
    "min_value": gettext_lazy("Enter a number of at least %(limit_value)s."),
    "max_value": gettext_lazy("Enter a number of at most %(limit_value)s."),
}
# By the setting among those of stuck, as above.
LOOPS = {
    "repeats": gettext_lazy("Repeats that make a loop"),
    "context_limit": gettext_lazy("Share of context in use above"),
    "idle_minutes": gettext_lazy("Work without a commit"),
}


def _score(name: str) -> forms.IntegerField:
    told = gettext_lazy("0–100; 101 is never.")
    return forms.IntegerField(label=LABELS[name], min_value=0, max_value=101, help_text=told)


def _duration(name: str, help_text: Any) -> DurationField:
    return DurationField(label=LABELS[name], most=YEAR, help_text=help_text)


class JsonField(forms.CharField):
    """A setting as JSON. Its value is its compact JSON, as an address holds it."""

    def __init__(self, name: str, errors: Callable[[Any], Errors], empty: Any, help_text: Any = "") -> None:
        attrs = {"rows": 4, "spellcheck": "false", "class": "mono"}
        super().__init__(label=LABELS[name], required=False, help_text=help_text, widget=forms.Textarea(attrs=attrs))
        self._errors, self._empty = errors, empty
        self.place_of: Callable[[Sequence[str]], str] = lambda loc: f"{strict_json.pointer(loc)}: " if loc else ""

    def clean(self, value: Any) -> str:
        try:
            given = strict_json.load(str(value).encode()) if value else self._empty
        except (strict_json.Refused, UnicodeEncodeError) as error:
            raise ValidationError(translated(getattr(error, "detail", str(error)))) from None
        if found := self._errors(given):
            raise ValidationError([self.place_of(loc) + translated(detail) for loc, detail in found])
        return rule_forms.as_text(given)


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    """The next version of an agent's policy. `based_on` is the version the author saw in force."""

    based_on = forms.IntegerField(widget=forms.HiddenInput)
    threshold = _score("threshold")
    forbidden = forms.CharField(
        label=gettext_lazy("Forbidden phrases, one per line"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    quality_hedge_prefix = ShownField(
        label=gettext_lazy("Suggested opening words"),
        required=False,
        max_length=200,
        strip=False,
        help_text=gettext_lazy("Offered when the quality is neither low nor passing. Empty: the default."),
    )
    hold_at = _score("hold_at")
    review_seconds = _duration(
        "review_seconds",
        gettext_lazy(
            "When the agent looks at its held item again, such as 2 min or 1 h 30 min. A plain number means seconds."
        ),
    )
    expiry_seconds = _duration("expiry_seconds", gettext_lazy("Such as 7 days; nobody can approve it afterwards."))
    budget_wait_seconds = _duration(
        "budget_wait_seconds", gettext_lazy("Such as 1 h or 90 min; then the investigation concludes.")
    )
    rules = rule_forms.RulesField()
    packs = JsonField("packs", packs_errors, [])
    readers = JsonField(
        "readers",
        readers_errors,
        {},
        gettext_lazy(
            "What a tool's argument contains, if its name does not say so. * in the tool matches any characters. "
            "Write the argument as a JSON Pointer."
        ),
    )
    programs = JsonField(
        "programs",
        programs_errors,
        [],
        gettext_lazy("Programs that metacog does not know, and their effects. They take precedence."),
    )
    trusted_servers = JsonField(
        "trusted_servers",
        servers_errors,
        [],
        gettext_lazy("Names of MCP servers. Only hints of their tools can allow a call."),
    )

    class Meta:
        model = Policy
        fields = [
            "profile", "threshold", "hold_at", "stuck_threshold", "review_seconds", "expiry_seconds",
            "rate_per_second", "rate_burst", "max_active_threads", *BUDGET, *SWITCHES, "default_tool_call",
            "elicitation", "note",
        ]  # fmt: skip
        labels = LABELS
        help_texts = {
            "profile": gettext_lazy(
                "Seed matches words anywhere. Aware reads them in context, also looks for facts without a source "
                "and for hidden characters, and ignores a missing hedge. In a test on other people's texts, Seed's "
                "score told wrong answers from right ones no better than chance, and 27 of its 41 highlights were "
                "wrong; of Aware's 60, 13 were. A new profile brings its own default weights; weights that you "
                "changed stay."
            ),
            "plain_text_as_chat": gettext_lazy(
                "For agents that post plain text. Without items or tags, nothing can be held. An items field, even an "
                "empty one, takes precedence."
            ),
            "stuck_threshold": gettext_lazy(
                "1–100 points. Defaults: 7 for Seed, 6 for Aware. A value that you changed stays when the profile "
                "changes."
            ),
            "remember_into_memory": gettext_lazy(
                "A REMEMBER goes to a curator first if it reaches the marking threshold, matches an error pattern or "
                "contradicts the memory. Off: only POST /api/v1/memory adds facts."
            ),
            "accept_relayed_yes": gettext_lazy(
                "Off: only a reviewer in the console, or the user in a message, can say yes. A no always counts."
            ),
            "elicitation": gettext_lazy(
                "What a server behind metacog's MCP proxy asks in the middle of a call (elicitation)."
            ),
            "note": gettext_lazy("Stored with the version and shown in the audit log."),
        }

    def __init__(
        self, agent: Agent, values: Mapping[str, Any] | None = None, *, table: rule_forms.RuleTable | None = None
    ) -> None:
        super().__init__(values)
        self.rule_table = table or rule_forms.RuleTable([], text=str((values or {}).get("rules") or "[]"))
        self.fields["rules"].table = self.rule_table  # type: ignore[attr-defined]  # it is a RulesField
        self.instance.agent = agent
        for signal, label in SIGNALS.items():
            self.fields[weight_field(signal)] = forms.IntegerField(label=label, min_value=0, max_value=100)
        for kind, name in KINDS.items():
            self.fields[f"release_{kind}"] = forms.ChoiceField(label=name, choices=list(RELEASED_BY.items()))
            self.fields[f"mark_{kind}"] = forms.CharField(
                label=name, required=False, max_length=500, widget=forms.Textarea(attrs={"rows": 2})
            )

        for name, label in QUALITY.items():
            self.fields[f"quality_{name}"] = forms.FloatField(label=label, min_value=0, max_value=1, step_size=0.01)
        for (script, end), label in LENGTHS.items():
            self.fields[f"quality_{script}_{end}"] = forms.IntegerField(
                label=label, required=False, min_value=1 if end == "max" else 0, max_value=MAX_CHARACTERS
            )
        self.fields["quality_recent_window"] = forms.IntegerField(
            label=RECENT["recent_window"], required=False, min_value=0, max_value=MAX_RECENT
        )
        self.fields["quality_similar_at"] = forms.FloatField(
            label=RECENT["similar_at"], required=False, min_value=0, max_value=1
        )
        for name, value in _limits(QualitySettings()).items():
            self.fields[name].widget.attrs["placeholder"] = value
        usual = HEDGES[Language(agent.language).bcp47]
        self.fields["quality_hedge_prefix"].widget.attrs["placeholder"] = usual
        for name, label in STUCK.items():
            self.fields[f"stuck_{name}"] = forms.IntegerField(label=label, min_value=0, max_value=100)
        loops: dict[str, forms.Field] = {
            "repeats": forms.IntegerField(label=LOOPS["repeats"], required=False, min_value=2, max_value=100),
            "context_limit": forms.FloatField(label=LOOPS["context_limit"], required=False, min_value=0, max_value=1),
            "idle_minutes": DurationField(
                label=LOOPS["idle_minutes"], required=False, most=MOST_MINUTES, unit=MINUTE,
                help_text=gettext_lazy("Such as 30 min. A plain number means minutes."),
            ),
        }  # fmt: skip
        for name, field in loops.items():
            field.widget.attrs["placeholder"] = field.prepare_value(getattr(StuckSettings(), name))
            self.fields[f"stuck_{name}"] = field
        for part, label in PARTS.items():
            self.fields[f"part_{part}"] = forms.BooleanField(label=label, required=False)
        for each in self.fields.values():
            each.error_messages |= BOUNDS

    def quality_fields(self) -> list[forms.BoundField]:
        return [self[f"quality_{name}"] for name in QUALITY]

    def length_fields(self) -> list[forms.BoundField]:
        return [self[f"quality_{script}_{end}"] for script, end in LENGTHS]

    def recent_fields(self) -> list[forms.BoundField]:
        return [self[f"quality_{name}"] for name in RECENT]

    def stuck_fields(self) -> list[forms.BoundField]:
        return [self[f"stuck_{name}"] for name in STUCK]

    def loop_fields(self) -> list[forms.BoundField]:
        return [self[f"stuck_{name}"] for name in LOOPS]

    def weight_fields(self) -> list[forms.BoundField]:
        return [self[weight_field(signal)] for signal in SIGNALS]

    def release_fields(self) -> list[forms.BoundField]:
        return [self[f"release_{kind}"] for kind in KINDS]

    def rate_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in RATES]

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("threshold", 0) > data.get("hold_at", 101):
            self.add_error("hold_at", _("Holding cannot start below the marking threshold."))
        policy = self.instance
        policy.weights = {signal: data.get(weight_field(signal)) for signal in SIGNALS}
        policy.release = {kind: data.get(f"release_{kind}") for kind in KINDS}
        policy.parts = {part: data.get(f"part_{part}", False) for part in PARTS}
        phrases = [line.strip() for line in data.get("forbidden", "").splitlines() if line.strip()]
        policy.quality = {
            "forbidden": phrases,
            "weights": {name: data.get(f"quality_{name}") for name in QUALITY if name not in LINES},
            **{name: data.get(f"quality_{name}") for name in LINES},
            **_set(data),
        }
        policy.stuck = {
            "weights": {name: data.get(f"stuck_{name}") for name in STUCK},
            **{name: value for name in LOOPS if (value := data.get(f"stuck_{name}")) is not None},
        }
        if data.get("quality_low_at", 0) > data.get("quality_pass_at", 1):
            self.add_error("quality_low_at", _("“Low below” must be lower than “Passes from”."))
        for script, limits in policy.quality.get("limits", {}).items():
            if limits["min"] > limits["max"]:
                end = "min" if data.get(f"quality_{script}_max") is None else "max"
                self.add_error(f"quality_{script}_{end}", _("The minimum must not exceed the maximum."))
        if data.get("quality_similar_at") == 0:
            self.add_error("quality_similar_at", _("At 0, every text counts as a repetition. Enter a higher share."))
        if not self.errors:
            try:
                QualitySettings.from_dict(policy.quality)
            except heuristics.PolicyError as error:
                self.add_error("forbidden", "; ".join(detail for _where, detail in error.errors))
        policy.rules = self.rule_table.rules or []
        for name in JSON_FIELDS:
            if name in data:
                setattr(policy, name, json.loads(data[name]))
        policy.marks = {kind: text for kind in KINDS if (text := data.get(f"mark_{kind}"))}
        return data

    def _post_clean(self) -> None:
        # What is wrong with a field is said there; the model would say it again in the wire's words.
        if not self.errors:
            super()._post_clean()  # type: ignore[misc]  # not in the stubs
        if len(self.errors) > 1:
            self.errors.pop(NON_FIELD_ERRORS, None)


def weight_field(signal: str) -> str:
    return f"weight_{signal.replace('-', '_')}"


def filled_in(policy: Policy, *, based_on: int) -> dict[str, Any]:
    """Return a version as the form's values."""
    rules = heuristics.Policy.from_dict(policy.as_dict())
    return {
        **{name: getattr(policy, name) for name in PolicyForm.Meta.fields},
        **{weight_field(signal): rules.weights[signal] for signal in SIGNALS},
        **{f"release_{kind}": rules.release[kind] for kind in KINDS},
        **{f"mark_{kind}": (rules.marks or {}).get(kind, "") for kind in KINDS},
        **{f"part_{part}": rules.parts[part] for part in PARTS},
        **{f"quality_{name}": value for name, value in _quality(rules).items()},
        **{f"stuck_{name}": value for name, value in _stuck(rules).items()},
        **_unlike_usual(rules),
        "forbidden": "\n".join(rules.quality.get("forbidden", ())),
        "rules": rule_forms.text_of(policy),
        **{name: rule_forms.as_text(getattr(policy, name)) for name in JSON_FIELDS},
        "based_on": based_on,
    }


def with_own_defaults(values: dict[str, Any], before: str) -> dict[str, Any]:
    """Return the form's values with a newly chosen profile's own defaults, but for what was chosen otherwise.

    Those are the weights, and the points of stuck from which it asks. `before` is the profile that stood in the form.
    """
    profile = values.get("profile", "")
    if not {profile, before} <= DEFAULTS.keys() or profile == before:
        return values
    usual, own = _defaults(before), _defaults(profile)
    return values | {name: own[name] for name, value in usual.items() if str(values.get(name)) == str(value)}


def _defaults(profile: str) -> dict[str, int]:
    weights = {weight_field(signal): weight for signal, weight in DEFAULTS[profile].items()}
    return weights | {"stuck_threshold": STUCK_OF[profile].threshold}


def changes(old: Policy, new: Policy, words: rule_forms.Words) -> list[tuple[str, str, str]]:
    """Return what differs between two versions: the field's label, then the old and the new value as text.

    `words` says which calls a rule is about.
    """
    before, after = _told(old), _told(new)
    told = [(label, before[label], value) for label, value in after.items() if before[label] != value]
    return told + rule_forms.rule_changes(old.rules, new.rules, words)


def _told(policy: Policy) -> dict[str, str]:
    rules = heuristics.Policy.from_dict(policy.as_dict())
    plain = ("threshold", "hold_at", "stuck_threshold", *BUDGET, *LIMITS)
    told: dict[str, Any] = {_label("profile"): policy.get_profile_display()}
    told |= {_label(name): told_value(name, getattr(policy, name)) for name in plain}
    told |= {_label(name): _on(getattr(policy, name)) for name in SWITCHES}
    for signal, label in SIGNALS.items():
        told[str(label)] = rules.weights[signal]
    for kind, name in KINDS.items():
        told[_("Release of %(kind)s") % {"kind": name}] = RELEASED_BY[rules.release[kind]]
        told[_("Mark of %(kind)s") % {"kind": name}] = (rules.marks or {}).get(kind) or "–"
    told |= {str(label): _on(rules.parts[part]) for part, label in PARTS.items()}
    told |= {str(QUALITY[name]): value for name, value in _quality(rules).items()}
    settings = QualitySettings.from_dict(rules.quality)
    labels = {f"quality_{script}_{end}": label for (script, end), label in LENGTHS.items()}
    labels |= {f"quality_{name}": label for name, label in RECENT.items()}
    told |= {str(labels[name]): value for name, value in _limits(settings).items()}
    told[_("Suggested opening words")] = settings.hedge_prefix or "–"
    told |= {str(STUCK[name]): value for name, value in _stuck(rules).items()}
    for name, label in LOOPS.items():
        told[str(label)] = told_value(f"stuck_{name}", getattr(StuckSettings.from_dict(rules.stuck), name))
    told[_label("default_tool_call")] = policy.get_default_tool_call_display()
    told[_label("elicitation")] = policy.get_elicitation_display()
    told[_label("packs")] = pack_words.in_words(policy.packs) or "–"
    told |= {
        _label(name): rule_forms.as_text(value) if (value := getattr(policy, name)) else "–"
        for name in JSON_FIELDS
        if name != "packs"
    }
    told[_("Forbidden phrases")] = ", ".join(rules.quality.get("forbidden", ())) or "–"
    return {label: str(value) for label, value in told.items()}


def _quality(rules: heuristics.Policy) -> dict[str, float]:
    settings = QualitySettings.from_dict(rules.quality)
    return {name: getattr(settings if name in LINES else settings.weights, name) for name in QUALITY}


def _limits(settings: QualitySettings) -> dict[str, Any]:
    """Return the limits of length and of repetition by their fields."""
    return {
        **{f"quality_{script}_{end}": getattr(getattr(settings.limits, script), end) for script, end in LENGTHS},
        **{f"quality_{name}": getattr(settings, name) for name in RECENT},
    }


def _unlike_usual(rules: heuristics.Policy) -> dict[str, Any]:
    """Return those that are the policy's own; a field of what is as the engine has it stays empty."""
    settings = QualitySettings.from_dict(rules.quality)
    usual = _limits(QualitySettings())
    own = {name: None if value == usual[name] else value for name, value in _limits(settings).items()}
    for name in LOOPS:
        value = getattr(StuckSettings.from_dict(rules.stuck), name)
        own[f"stuck_{name}"] = None if value == getattr(StuckSettings(), name) else value
    return own | {"quality_hedge_prefix": settings.hedge_prefix or ""}


def _set(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were filled in; of two limits of one script, the engine wants both or none."""
    found: dict[str, Any] = {name: value for name in RECENT if (value := data.get(f"quality_{name}")) is not None}
    if prefix := data.get("quality_hedge_prefix"):
        found["hedge_prefix"] = prefix
    usual, limits = LengthLimits().model_dump(), {}
    for script in usual:
        own = {end: value for end in usual[script] if (value := data.get(f"quality_{script}_{end}")) is not None}
        if own:
            limits[script] = usual[script] | own
    return found | ({"limits": limits} if limits else {})


def _stuck(rules: heuristics.Policy) -> dict[str, int]:
    return dict(StuckSettings.from_dict(rules.stuck).weights)


def _label(name: str) -> str:
    field: Any = Policy._meta.get_field(name)
    return str(LABELS.get(name) or capfirst(field.verbose_name))


def told_value(name: str, value: Any) -> str:
    """Say the value of a field whose unit is not part of its label."""
    if name in (*TIMES, "budget_wait_seconds"):
        return in_words(value)
    return in_words(value * MINUTE) if name == "stuck_idle_minutes" else str(value)


def _on(is_on: bool) -> str:
    return _("on") if is_on else _("off")
