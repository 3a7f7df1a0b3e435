"""django-allauth's forms for a code, whose field is named as the pages name it."""

from __future__ import annotations

from typing import Any

from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.utils.translation import pgettext_lazy


class _Named(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = pgettext_lazy("signing in", "Code")
        self.fields["code"].widget.attrs.pop("placeholder", None)


class SetUpAppForm(_Named, ActivateTOTPForm):  # type: ignore[misc]  # untyped
    """Ask for the first code of a new app."""


class CodeForm(_Named, AuthenticateForm):  # type: ignore[misc]  # untyped
    """Ask for a code after the password."""


class CodeAgainForm(_Named, ReauthenticateForm):  # type: ignore[misc]  # untyped
    """Ask for a code before something that protects the account is changed."""
