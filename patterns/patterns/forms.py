"""The forms on which people write down error patterns, in the console and in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import ShownField, StoredForm, StoredModelForm
from metacog.models import Team
from patterns.models import ErrorPattern, keyword_problems


class KeywordsField(forms.CharField):
    """A list of keywords, one a line. What a keyword may be is the model's to say."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # from a text to a list
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return list(dict.fromkeys(line for line in lines if line))

    def validate(self, value: list[str]) -> None:
        """Leave it to the model's own sentences, the one about none at all too."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(data) != (initial or [])


class WrittenForm(StoredForm):
    """What a pattern says."""

    keywords = KeywordsField(
        label=_("Keywords"),
        help_text=_(
            "One keyword per line. The pattern fires when a response contains any one of them. There are no wildcards."
        ),
    )
    description = ShownField(
        label=_("Description"),
        max_length=ErrorPattern.MAX_DESCRIPTION,
        help_text=_("What is wrong. The agent reads it when the pattern fires."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    source = forms.ChoiceField(label=_("Source"), choices=ErrorPattern.Source.choices)

    def clean_keywords(self) -> list[str]:
        keywords: list[str] = self.cleaned_data["keywords"]
        if problems := keyword_problems(keywords):
            raise ValidationError(problems)
        return keywords


class NewForm(WrittenForm):
    """A pattern that somebody writes down, for one of the teams they look after."""

    team: forms.ModelChoiceField[Team] = forms.ModelChoiceField(Team.objects.none(), label=_("Team"))

    def __init__(self, teams: QuerySet[Team], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]  # it is a choice of models
        if len(teams) == 1:
            self.fields["team"].initial, self.fields["team"].widget = teams[0], forms.HiddenInput()
        if self.initial.get("keywords"):
            self.fields["keywords"].label = gettext("Proposed keywords")
            self.fields["keywords"].help_text = gettext(
                "They occur in the held text and in few other texts of this agent. Change them if other words show "
                "the mistake better. One keyword per line; any one of them fires. There are no wildcards."
            )


class PatternForm(StoredModelForm):
    """An error pattern, as its curator writes it."""

    keywords = KeywordsField(
        label=_("Keywords"),
        help_text=_(
            "One keyword per line. The pattern fires when a response contains any one of them. There are no wildcards."
        ),
    )

    class Meta:
        model = ErrorPattern
        fields = ["team", "description", "keywords", "source"]
        field_classes = {"description": ShownField}

    def clean_keywords(self) -> list[str]:
        keywords: list[str] = self.cleaned_data["keywords"]
        if self.instance.state == ErrorPattern.State.ACTIVE and self.instance.pk and "keywords" in self.changed_data:
            raise ValidationError(
                gettext(
                    "Keywords of an active pattern take effect at once. Change them in the console, which "
                    "shows a backtest first."
                )
            )
        return keywords
