"""The policy form by subject, and how each of its fields differs from the version in force and from the default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from metacog.accounts.forms import KINDS, SIGNALS, STUCK
from metacog.accounts.policy_forms import (
    BUDGET,
    LENGTHS,
    LOOPS,
    QUALITY,
    RATES,
    RECENT,
    TIMES,
    PolicyForm,
    filled_in,
    weight_field,
)
from metacog.accounts.times.durations import DurationField
from metacog.heuristics.policy.stuck_settings import SETTINGS as STUCK_OF
from metacog.heuristics.signals import DEFAULTS
from metacog.models import Policy, pack_words

SHOWN = 60  # characters of an earlier text

# By the section's id: its title and fields, in the order of the page. Those after the first five are folded.
SECTIONS: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "thresholds": (gettext_lazy("Thresholds"), ("threshold", "hold_at")),
    "release": (
        gettext_lazy("Held items and release"),
        (*(f"release_{kind}" for kind in KINDS), "plain_text_as_chat", "hold_words_with_calls", "elicitation"),
    ),
    "rules": (gettext_lazy("Rules on tool calls"), ("rules", "packs", "default_tool_call")),
    "times": (gettext_lazy("Time limits"), TIMES),
    "budget": (gettext_lazy("Budgets"), BUDGET),
    "weights": (gettext_lazy("Signals and weights"), ("profile", *(weight_field(signal) for signal in SIGNALS))),
    "quality": (
        gettext_lazy("Quality"),
        (
            "part_quality",
            *(f"quality_{name}" for name in QUALITY),
            *(f"quality_{script}_{end}" for script, end in LENGTHS),
            *(f"quality_{name}" for name in RECENT),
            "quality_hedge_prefix",
            "forbidden",
        ),
    ),
    "confidence": (gettext_lazy("Confidence and reflection"), ("part_confidence", "part_reflection")),
    "stuck": (
        gettext_lazy("Stuck problems"),
        (
            "part_stuck",
            "stuck_threshold",
            *(f"stuck_{name}" for name in (*STUCK, *LOOPS)),
            "accept_relayed_yes",
        ),
    ),
    "memory": (gettext_lazy("Memory and threads"), ("remember_into_memory", "max_active_threads")),
    "marks": (gettext_lazy("Wording of marks"), tuple(f"mark_{kind}" for kind in KINDS)),
    "effects": (gettext_lazy("Reading of tool calls"), ("readers", "programs", "trusted_servers")),
    "posting": (gettext_lazy("Posting"), (*RATES, "require_signature")),
}
UNFOLDED = 5  # what is used daily


@dataclass
class State:
    """How a field of the draft differs. Texts are to be read; `*_typed` is what a reset types in."""

    name: str
    was: str | None = None  # in force, where the draft has something else
    was_typed: str = ""
    default: str | None = None  # of a new agent, where the draft has something else that is not told yet
    default_typed: str = ""
    is_default: bool = False  # what was in force is also the default
    becomes: str = ""  # another profile brings it, and the page shows another still
    understood: str = ""  # of a duration


@dataclass
class Section:
    """A subject of the page."""

    id: str
    title: Any
    fields: list[BoundField]
    is_folded: bool
    changed: int = 0  # fields that differ from the version in force
    own: int = 0  # that differ from the default
    has_errors: bool = field(default=False)

    @property
    def is_open(self) -> bool:
        return bool(self.changed or self.has_errors)


def sections(form: PolicyForm, current: Policy, posted: Mapping[str, Any]) -> dict[str, Section]:
    """Return the sections of a form that was checked; each of its fields gets its `state`."""
    in_force = filled_in(current, based_on=0)
    usual = defaults(form.cleaned_data.get("profile") or current.profile)
    found = {}
    for place, (name, (title, names)) in enumerate(SECTIONS.items()):
        section = Section(name, title, [form[each] for each in names], place >= UNFOLDED)
        for bound in section.fields:
            state = _state(form, bound, in_force[bound.name], usual[bound.name])
            if bound.name in posted and bound.name != "rules" and str(_sent(bound, posted)) != str(bound.data):
                state.becomes = _told(bound, bound.data)
            bound.state = state  # type: ignore[attr-defined]  # for the template
            section.changed += state.was is not None
            section.own += state.default is not None or (state.was is not None and not state.is_default)
            section.has_errors |= bool(bound.errors)
        found[name] = section
    return found


def _sent(bound: BoundField, posted: Mapping[str, Any]) -> Any:
    """Return what a form sent for a field, as the form itself has it: a ticked box is sent as "on"."""
    return bound.field.widget.value_from_datadict(posted, {}, bound.html_name)


def defaults(profile: str) -> dict[str, Any]:
    """Return the form's values for a new agent with this profile."""
    own = {"weights": dict(DEFAULTS[profile]), "stuck_threshold": STUCK_OF[profile].threshold}
    new = Policy(profile=profile, hold_words_with_calls=True, **own)
    # A new agent has the seed's profile; with another, what that brings is the default.
    return filled_in(new, based_on=0) | {"profile": Policy.Profile.SEED}


def reset(form: PolicyForm, name: str, values: Mapping[str, Any]) -> str:
    """Return what to type into a field so that it has its value of `values`."""
    return _typed(form[name], values[name])


def _state(form: PolicyForm, bound: BoundField, in_force: Any, usual: Any) -> State:
    state = State(bound.name)
    now = form.cleaned_data.get(bound.name, bound.data)
    is_changed, is_own = _plain(now) != _plain(in_force), _plain(now) != _plain(usual)
    if is_changed:
        state.was, state.was_typed = _told(bound, in_force), _typed(bound, in_force)
        state.is_default = _plain(in_force) == _plain(usual)
    if is_own and not state.is_default and bound.name != "rules":  # no rules are no default to go back to
        state.default, state.default_typed = _told(bound, usual), _typed(bound, usual)
    if isinstance(bound.field, DurationField) and isinstance(bound.data, str) and isinstance(now, int):
        told = bound.field.in_words(now)
        state.understood = told if told != bound.data else ""
    return state


def _plain(value: Any) -> Any:
    return "\n".join(value.splitlines()) if isinstance(value, str) else value


def _typed(bound: BoundField, value: Any) -> str:
    if isinstance(bound.field, forms.BooleanField):
        return "on" if value else ""
    told = bound.field.prepare_value(value)
    return "" if told is None else str(told)


def _told(bound: BoundField, value: Any) -> str:
    """Say a value of a field."""
    if bound.name == "rules":
        count = len(json.loads(value or "[]"))
        return ngettext("%(count)d rule", "%(count)d rules", count) % {"count": count}
    if bound.name == "packs":
        return pack_words.in_words(json.loads(value or "[]")) or _("none")
    if isinstance(bound.field, forms.BooleanField):
        return _("on") if value else _("off")
    if isinstance(bound.field, forms.ChoiceField):
        choices: Any = bound.field.choices
        return str(dict(choices).get(value, value))
    if value in (None, ""):
        return str(bound.field.widget.attrs.get("placeholder") or _("empty"))
    return Truncator(" · ".join(_typed(bound, value).splitlines())).chars(SHOWN)
