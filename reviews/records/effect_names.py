"""What the effects of tool calls are called, the gravest first."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from metacog.heuristics.tool_calls.effect_bits import GRAVITY, OUTSIDE

NAMES: dict[str, str | Promise] = {
    "read": pgettext_lazy("effect", "read"),
    "write": pgettext_lazy("effect", "write"),
    "delete": pgettext_lazy("effect", "delete"),
    "execute": pgettext_lazy("effect", "execute"),
    "fetch": pgettext_lazy("effect", "fetch"),
    "send": pgettext_lazy("effect", "send"),
    "install": pgettext_lazy("effect", "install"),
    "publish": pgettext_lazy("effect", "publish"),
    "privilege": pgettext_lazy("effect", "privilege"),
    "secret": pgettext_lazy("effect", "secret"),
    "pay": pgettext_lazy("effect", "pay"),
    "irreversible": pgettext_lazy("effect", "irreversible"),
    "unknown": pgettext_lazy("effect", "unknown"),
    OUTSIDE: pgettext_lazy("effect", "outside the project"),
}


def choices() -> list[tuple[str, str | Promise]]:
    """Return the effects to choose from, the gravest first."""
    return [(name, NAMES[name]) for name in GRAVITY]
