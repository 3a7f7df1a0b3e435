"""What costs nothing and may order as well as what was fitted or learned, in words."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

RIVALS = {
    "length": _("length"),
    "turns": _("the number of turns"),
    "score": _("the score in force"),
    "chance": _("chance"),
    "team": _("the decisions of the team's other agents"),
}
