"""The form on which people write memories."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.tool_calls.secrets import is_mask_left, masked_text, restored_text
from patterns.memory.memory import Said
from patterns.models import Memory


class MemoryForm(forms.Form):
    """Something for the team to remember."""

    def __init__(self, *given: Any, of: Memory | None = None, **options: Any) -> None:
        super().__init__(*given, **options)
        self.originals = {name: getattr(of, name) for name in ("text", "topic", "source")} if of else {}
        for name, value in self.originals.items():
            self.initial[name] = masked_text(value)

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

    def clean(self) -> dict[str, Any]:
        """Put back what the form showed masked; refuse a mask in the place of a value."""
        cleaned = super().clean() or {}
        for name, original in self.originals.items():
            if name in cleaned:
                cleaned[name] = restored_text(cleaned[name], original)
                if is_mask_left(cleaned[name], original):
                    self.add_error(name, _("The text contains a masked part. Write the value itself."))
        return cleaned

    def statement(self) -> Said:
        return Said(**self.cleaned_data)
