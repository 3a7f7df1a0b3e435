"""The form in which a team chooses what it makes of its learned risk."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import StoredForm
from metacog.models import Team
from reviews.risk.choices import MOST_A_DAY, Choices

ORDERS = {
    "length": _("Order the queue by length"),
    "turns": _("Order the queue by the turns of the session"),
    "agent": _("Order the queue by how often each agent’s items were rejected"),
    "metadata": _("Order the queue by how often each value of metadata was rejected"),
}
HOLD, PASS = "hold", "pass"


def may_choose(team: Team) -> bool:
    """Say whether there is something to choose of words beside the order: what is proven, or was chosen then."""
    return team.risk_kind == "learned" or team.risk_budget is not None or team.risk_samples


def may_choose_of_calls(team: Team) -> bool:
    """Say the same of tool calls."""
    return team.risk_calls == "learned" or team.risk_calls_budget is not None


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
    of_calls = forms.IntegerField(required=False, min_value=1, max_value=MOST_A_DAY, label=_("Also hold up to"))
    samples = forms.BooleanField(required=False, label=_("More spot checks where the risk is uncertain"))

    def __init__(self, team: Team, data: Any = None) -> None:
        stored = {
            "order": team.risk_order,
            "budget": team.risk_budget,
            "within": HOLD if team.risk_budget_holds else PASS,
            "of_calls": team.risk_calls_budget,
            "samples": team.risk_samples,
        }
        super().__init__(data, stored=stored, auto_id="risk_%s")
        kinds = {team.risk_kind, team.risk_calls} - {""}
        self.fields["order"].disabled = not kinds
        if len(kinds) == 1:
            self.fields["order"].label = ORDERS.get(min(kinds), self.fields["order"].label)
        for name in ("budget", "within", "samples"):
            self.fields[name].disabled = not may_choose(team)
        self.fields["of_calls"].disabled = not may_choose_of_calls(team)
        for name in ("budget", "of_calls"):
            self.fields[name].widget.attrs["inputmode"] = "numeric"

    @property
    def chosen(self) -> Choices:
        values = self.cleaned_data
        return Choices(
            order=values["order"],
            budget=values["budget"],
            holds=values["within"] == HOLD,
            samples=values["samples"],
            of_calls=values["of_calls"],
        )
