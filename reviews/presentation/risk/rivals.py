"""What costs nothing and may order as well as what was fitted or learned, in words."""

from __future__ import annotations

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.ranking.around import METADATA

RIVALS = {
    "length": _("length"),
    "turns": _("the number of turns"),
    "score": _("the score in force"),
    "chance": _("chance"),
    "team": _("the decisions of the team's other agents"),
    "agent": _("the agent"),
}


def rival(name: str) -> str:
    """Say what else orders; a key of metadata by its name."""
    key = name.removeprefix(METADATA)
    return str(RIVALS[name]) if key == name else gettext("the metadata “%(key)s”") % {"key": key}
