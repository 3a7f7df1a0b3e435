"""django-allauth's forms, whose fields are named as the pages name them."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from allauth.account.forms import ReauthenticateForm as PasswordAgain
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.utils.translation import pgettext_lazy

from metacog.sign_in import second_factor


class _Named(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = pgettext_lazy("signing in", "Code")
        self.fields["code"].widget.attrs.pop("placeholder", None)


class SetUpAppForm(_Named, ActivateTOTPForm):  # type: ignore[misc]  # untyped
    """Ask for the first code of a new app."""

    @property
    def spelled(self) -> str:
        """Return the app's key as people type it."""
        return " ".join(wrap(self.secret, 4))


class _Once(_Named):
    """Ask for a code that was not used before."""

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]  # of the form beside this one
        app: Authenticator = self.authenticator  # type: ignore[attr-defined]
        if app.type == Authenticator.Type.TOTP and not second_factor.use_code(app, code):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(_Once, AuthenticateForm):  # type: ignore[misc]  # untyped
    """Ask for a code after the password."""


class CodeAgainForm(_Once, ReauthenticateForm):  # type: ignore[misc]  # untyped
    """Ask for a code before something that protects the account is changed."""


class PasswordAgainForm(PasswordAgain):  # type: ignore[misc]  # untyped
    """Ask for the password before something that protects the account is changed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs.pop("placeholder", None)
