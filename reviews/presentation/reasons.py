"""Why something was rejected: what a person picks and what they add, as one text in the agent's language."""

from __future__ import annotations

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy

PRESETS = {
    "wrong": gettext_lazy("Wrong"),
    "no-evidence": gettext_lazy("No evidence"),
    "out-of-scope": gettext_lazy("Out of scope"),
    "not-now": gettext_lazy("Not now"),
    "tone": gettext_lazy("Tone"),
}
ABOUT_TRUTH = ("wrong", "no-evidence")  # the others do not say that what was held is a mistake


def compose(preset: str, more: str, language: str) -> str:
    """Return a reason as the agent reads it; a preset that is none counts for nothing."""
    if preset not in PRESETS:
        return more
    with translation.override(language):
        return gettext("%(preset)s: %(more)s") % {"preset": PRESETS[preset], "more": more} if more else _name(preset)


def parse(reason: str) -> tuple[str, str]:
    """Return the preset of a composed reason, in whatever language, and what was added; "" where there is none."""
    for language, _name_of_it in settings.LANGUAGES:
        with translation.override(language):
            for preset in PRESETS:
                if reason == _name(preset):
                    return preset, ""
                before = gettext("%(preset)s: %(more)s") % {"preset": _name(preset), "more": ""}
                if reason.startswith(before):
                    return preset, reason[len(before) :]
    return "", reason


def _name(preset: str) -> str:
    return str(PRESETS[preset])
