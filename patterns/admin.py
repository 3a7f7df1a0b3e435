"""The form on which curators write error patterns. Its admin is in reviews, where the responses are."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from patterns.models import MAX_PATTERNS, ErrorPattern


class KeywordsField(forms.CharField):
    """A list of keywords, one a line. What a keyword may be is the model's to say."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # from a text to a list
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(data) != (initial or [])


class PatternForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    """An error pattern, as its curator writes it."""

    keywords = KeywordsField(
        label=_("Keywords"),
        required=False,  # the model's own sentence says what is missing
        help_text=_("One a line. Any one of them fires, wherever it stands; nothing in it is a wildcard."),
    )

    class Meta:
        model = ErrorPattern
        fields = ["team", "description", "keywords", "source", "state"]

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        team = data.get("team") or (self.instance.team if self.instance.pk else None)
        if team and data.get("state") == ErrorPattern.State.ACTIVE:
            others = ErrorPattern.objects.filter(team=team, state=ErrorPattern.State.ACTIVE)
            if others.exclude(pk=self.instance.pk).count() >= MAX_PATTERNS:
                raise ValidationError(
                    gettext("The team has %(most)d active patterns, the most there can be. Retire some first.")
                    % {"most": MAX_PATTERNS}
                )
        return data
