"""What an error pattern's description says where the program wrote it: in the agent's language, or in the reader's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from reviews.models import PatternOrigin
from reviews.presentation import reasons

Kind = PatternOrigin.Kind

WORDS: Mapping[str, Promise] = {
    Kind.REJECTION: _("Rejected by a person: “%(quote)s”"),
    Kind.CORRECTION: _("Corrected by a person: “%(quote)s”"),
    Kind.SECOND_LOOK: _("Taken back on a second look: “%(quote)s”"),
    Kind.MEMORY: _("Contradicted by newer knowledge: “%(quote)s”"),
    Kind.CONTRAST: _("Often rejected: “%(quote)s”"),
}


REASON = " · "  # before what people said of it


def compose(kind: str, quote: str, language: str) -> str:
    """Return a description with a quote, in this language."""
    with translation.override(language):
        return str(WORDS[Kind(kind)]) % {"quote": quote}


def described(description: str) -> str:
    """Return a description in the reader's language, as far as the program wrote it; a person's words as they are."""
    for before, behind, kind in _written():
        if description.startswith(before):
            quote, with_reason, told = description.removeprefix(before).partition(behind + REASON)
            if with_reason or quote.endswith(behind):
                quoted = str(WORDS[kind]) % {"quote": quote if with_reason else quote.removesuffix(behind)}
                return f"{quoted}{REASON}{told}" if with_reason else quoted
    preset, more = reasons.parse(description)
    language = translation.get_language() or settings.LANGUAGE_CODE
    return reasons.compose(preset, more, language) if preset else description


def _written() -> Iterator[tuple[str, str, str]]:
    """Give what stands before and behind a quote, in each language, with the kind that it says."""
    for language, _name in settings.LANGUAGES:
        for kind in WORDS:
            before, behind = compose(kind, "\0", language).split("\0")
            yield before, behind, kind
