"""The page that names what something dangerous takes away, and asks why; and the Undo in the message after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext as _

from metacog.accounts.consequences import ReasonForm


@dataclass(frozen=True)
class Step:
    """Something dangerous that can be undone."""

    title: str
    whose: str  # what the page is called that it belongs to
    consequences: Sequence[str]
    undo: str  # a sentence about how it is undone
    button: str
    action_url: str
    cancel_url: str
    section: str
    hidden: Mapping[str, str] = field(default_factory=dict)  # what the form sends beside the reason


def confirm(
    request: HttpRequest, step: Step, form: ReasonForm | None = None, *, blank: ReasonForm | None = None
) -> HttpResponse:
    """Show the page with its form, which is `blank`, or again with what is wrong where a `form` was sent."""
    context = asdict(step) | {"form": form or blank or ReasonForm()}
    return render(request, "metacog/confirm.html", context, status=422 if form else 200)


def done(request: HttpRequest, told: str, undo: str) -> None:
    """Say what was done, with a button that undoes it: that of the form with the id `undo` on the page that comes."""
    button = format_html('<button class="link" form="{}">{}</button>', undo, _("Undo"))
    messages.success(request, format_html("{} {}", told, button))
