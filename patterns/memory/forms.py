"""The form on which people write memories."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import MaskedTexts
from metacog.heuristics.text.shadow import is_blank
from patterns.memory.memory import Said
from patterns.models import Memory


class MemoryForm(MaskedTexts, forms.Form):
    """Something for the team to remember."""

    def __init__(self, *given: Any, of: Memory | None = None, **options: Any) -> None:
        super().__init__(*given, **options)
        self.mask({name: getattr(of, name) for name in ("text", "topic", "source")} if of else {})

    text = forms.CharField(
        label=_("Text"), max_length=Memory.MAX_TEXT, strip=False, widget=forms.Textarea(attrs={"rows": 4})
    )
    topic = forms.CharField(label=_("Topic"), required=False, max_length=Memory.MAX_TOPIC)
    source = forms.CharField(label=_("Source"), required=False, max_length=Memory.MAX_SOURCE)
    confidence = forms.FloatField(
        label=_("Confidence"),
        required=False,
        min_value=0,
        max_value=1,
        step_size=0.01,
        help_text=_("0 to 1, optional. From 0.7 on, the memory answers extension requests."),
    )

    def clean_text(self) -> str:
        # As agents post it: browsers send line ends of their own.
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        if is_blank(text):
            raise forms.ValidationError(_("Enter the fact to remember."))
        return text

    def statement(self) -> Said:
        return Said(**self.cleaned_data)
