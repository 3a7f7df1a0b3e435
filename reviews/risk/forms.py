"""The form in which a team chooses what it makes of its learned risk."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import StoredForm
from metacog.models import Team
from reviews.risk.choices import MOST_A_DAY

ORDERS = {
    "length": _("Order the queue by length"),
    "turns": _("Order the queue by the turns of the session"),
    "agent": _("Order the queue by how often each agent’s items were rejected"),
    "metadata": _("Order the queue by how often each value of metadata was rejected"),
}
HOLD, PASS = "hold", "pass"


def may_choose(team: Team) -> bool:
    """Say whether there is something to choose beside the order: what is proven, or was chosen while it was."""
    return team.risk_kind == "learned" or team.risk_budget is not None or team.risk_samples


class RiskForm(StoredForm):
    """A team's choices. What is not proven cannot be chosen and stays as it is."""

    order = forms.BooleanField(required=False, label=_("Order the queue by learned risk"))
    budget = forms.IntegerField(required=False, min_value=1, max_value=MOST_A_DAY, label=_("Also review up to"))
    within = forms.ChoiceField(
        widget=forms.RadioSelect,
        required=False,
        label=_("Within the budget"),
        choices=[
            (HOLD, _("hold them for review")),
            (PASS, _("pass them and add them to the spot checks")),
        ],
    )
    samples = forms.BooleanField(required=False, label=_("More spot checks where the risk is uncertain"))

    def __init__(self, team: Team, data: Any = None) -> None:
        stored = {
            "order": team.risk_order,
            "budget": team.risk_budget,
            "within": HOLD if team.risk_budget_holds else PASS,
            "samples": team.risk_samples,
        }
        super().__init__(data, stored=stored, auto_id="risk_%s")
        self.fields["order"].disabled = not team.risk_kind
        self.fields["order"].label = ORDERS.get(team.risk_kind, self.fields["order"].label)
        for name in ("budget", "within", "samples"):
            self.fields[name].disabled = not may_choose(team)
        self.fields["budget"].widget.attrs["inputmode"] = "numeric"

    @property
    def chosen(self) -> dict[str, Any]:
        """Return what `choices.choose` takes."""
        values = self.cleaned_data
        return {
            "order": values["order"],
            "budget": values["budget"],
            "holds": values["within"] == HOLD,
            "samples": values["samples"],
        }
