"""The forms on which people write about thought threads, in the console and in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import MaskedTexts, ShownField, StoredModelForm
from metacog.models import Agent
from patterns.models import ThoughtThread, ThreadStep


def _lines(label: Any, most: int, help_text: Any = "", rows: int = 2) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(
        label=label, required=False, max_length=most, help_text=help_text, strip=False, widget=widget
    )


class NewThreadForm(forms.Form):
    """A thread that a person begins for an agent."""

    title = ShownField(label=_("Title"), max_length=ThoughtThread.MAX_TITLE)
    note = _lines(_("First note"), ThreadStep.MAX_TEXT, _("The first entry of its trail. Optional."))
    next = _lines(_("Next"), ThoughtThread.MAX_NEXT, _("What comes next. The agent reads it in its context."))


class StepForm(forms.Form):
    """What a person has to say with a step."""

    note = _lines(_("Note"), ThreadStep.MAX_TEXT, _("Added to the trail with your update."), rows=3)
    next = _lines(_("Next"), ThoughtThread.MAX_NEXT, _("Leave empty to keep it."))


class EditForm(MaskedTexts, StoredModelForm):
    """What a curator may correct."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.mask({name: getattr(self.instance, name) for name in ("title", "next", "notes")})

    next = _lines(_("Next"), ThoughtThread.MAX_FILED, rows=6)
    notes = _lines(
        _("Notes"),
        ThoughtThread.MAX_FILED,
        _("Lines of a file that match no field, and its other sections. Exported with the thread."),
        rows=6,
    )

    class Meta:
        model = ThoughtThread
        fields = ["title", "next", "notes"]
        field_classes = {"title": ShownField}


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        return [super(FilesField, self).clean(file, initial) for file in data or [None]]


class ImportForm(forms.Form):
    """The seed's Markdown, for one agent."""

    agent: forms.ModelChoiceField[Agent] = forms.ModelChoiceField(Agent.objects.none(), label=_("Agent"))
    markdown = FilesField(
        label=_("Files"), max_length=200, help_text=_("The seed's Markdown, one thread or several in a file.")
    )

    def __init__(self, agents: QuerySet[Agent], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]  # it is a choice of models
