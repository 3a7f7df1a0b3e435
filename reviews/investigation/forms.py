"""The form on which a person answers a request for more tool calls."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MAX_WORDS = 2_000
MOST_GRANTED = 1_000


class AnswerForm(forms.Form):
    """The chairman's answer, as the seed has it: approved, reason, guidance (003, 2.4)."""

    approved = forms.TypedChoiceField(choices=[("1", "1"), ("0", "0")], coerce=lambda value: value == "1")
    granted = forms.IntegerField(
        label=gettext_lazy("Tool calls to grant"), min_value=1, max_value=MOST_GRANTED, required=False
    )
    answer = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=MAX_WORDS,
        help_text=gettext_lazy("The agent reads it. A refusal needs one."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    guidance = forms.CharField(
        label=gettext_lazy("Guidance"),
        required=False,
        max_length=MAX_WORDS,
        help_text=gettext_lazy("What to look at next, and with which tool."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("approved") and "granted" in data and not data["granted"]:
            self.add_error("granted", _("Say how many."))
        if data.get("approved") is False and "answer" in data and not data["answer"]:
            self.add_error("answer", _("Say why it is refused."))
        return data
