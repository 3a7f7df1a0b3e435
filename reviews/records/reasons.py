"""Why something was rejected, what a person picks and what they add, and what a pattern made of it is described as.

Both are texts in the agent's language; where people read them, what the program wrote is in theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from reviews.models import PatternOrigin

Kind = PatternOrigin.Kind

PRESETS = {
    "wrong": gettext_lazy("Wrong"),
    "no-evidence": gettext_lazy("No evidence"),
    "out-of-scope": gettext_lazy("Out of scope"),
    "not-now": gettext_lazy("Not now"),
    "tone": gettext_lazy("Tone"),
}
ABOUT_TRUTH = ("wrong", "no-evidence")  # the others do not say that what was held is a mistake
DESCRIPTIONS: Mapping[str, Promise] = {
    Kind.REJECTION: gettext_lazy("Rejected by a person: “%(quote)s”"),
    Kind.CORRECTION: gettext_lazy("Corrected by a person: “%(quote)s”"),
    Kind.SECOND_LOOK: gettext_lazy("Withdrawn on a second look: “%(quote)s”"),
    Kind.MEMORY: gettext_lazy("Contradicted by newer knowledge: “%(quote)s”"),
    Kind.CONTRAST: gettext_lazy("Often rejected: “%(quote)s”"),
}
REASON = " · "  # before what people said of it


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


def describe(kind: str, quote: str, language: str) -> str:
    """Return a description with a quote, in this language."""
    with translation.override(language):
        return str(DESCRIPTIONS[Kind(kind)]) % {"quote": quote}


def described(description: str) -> str:
    """Return a description in the reader's language, as far as the program wrote it; a person's words, quoted."""
    for before, behind, kind in _written():
        if description.startswith(before):
            quote, with_reason, told = description.removeprefix(before).partition(behind + REASON)
            if with_reason or quote.endswith(behind):
                quoted = str(DESCRIPTIONS[kind]) % {"quote": quote if with_reason else quote.removesuffix(behind)}
                return quoted + REASON + gettext("“%(text)s”") % {"text": told} if with_reason else quoted
    preset, more = parse(description)
    language = translation.get_language() or settings.LANGUAGE_CODE
    return compose(preset, more, language) if preset else description


def _written() -> Iterator[tuple[str, str, str]]:
    """Give what stands before and behind a quote, in each language, with the kind that it says."""
    for language, _name in settings.LANGUAGES:
        for kind in DESCRIPTIONS:
            before, behind = describe(kind, "\0", language).split("\0")
            yield before, behind, kind
