"""What an owner fills in about a chat in which the team decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from metacog.models import ChatApp, Language

_OFF = {"autocomplete": "off", "spellcheck": "false"}
_NEW = {"autocomplete": "new-password"}  # so that no browser fills in the one for metacog
# By kind: how a token looks, its example; what a channel is called there.
_TOKENS: Mapping[str, tuple[str, str]] = {
    ChatApp.Kind.SLACK: (r"xox[a-z]-[A-Za-z0-9-]{10,250}", "xoxb-…"),
    ChatApp.Kind.TELEGRAM: (r"[0-9]{3,20}:[A-Za-z0-9_-]{20,100}", "123456:ABC-…"),
}
_PLACES: Mapping[str, tuple[str, str, Any]] = {
    ChatApp.Kind.SLACK: (
        r"[#]?[\w.-]{1,90}",
        "C0123456789",
        _("The channel's ID: in Slack, open the channel's details, and scroll to the end."),
    ),
    ChatApp.Kind.TELEGRAM: (
        r"-?[0-9]{1,30}|@\w{4,60}",
        "-1001234567890",
        _("The id of a chat or group that the bot is in, or the @name of a public one."),
    ),
}


class ChatForm(forms.Form):
    """Token, secret and channel of a chat; what is stored is not shown again, and stays where nothing is entered."""

    token = forms.CharField(required=False, max_length=300, widget=forms.PasswordInput(attrs=_NEW))
    secret = forms.CharField(
        label=_("Signing secret"),
        required=False,
        max_length=100,
        widget=forms.PasswordInput(attrs=_NEW),
        validators=[RegexValidator(r"\A[!-~]{8,100}\Z", _("Copy the signing secret from the page of the app."))],
    )
    place = forms.CharField(label=_("Channel"), max_length=100, widget=forms.TextInput(attrs=_OFF))
    language = forms.ChoiceField(label=_("Language"), choices=Language.choices)
    texts = forms.BooleanField(
        label=_("Show texts and arguments"),
        required=False,
        help_text=_(
            "Secrets are masked. An item can be approved in the chat only if all of it is shown there. Once it is "
            "decided, its text is removed from the message."
        ),
    )

    def __init__(self, kind: str, app: ChatApp | None, data: Any = None) -> None:
        initial = {name: getattr(app, name) for name in ("place", "language", "texts")} if app else {"texts": True}
        super().__init__(data, initial=initial, prefix="chat")
        self.kind, self.app = kind, app
        (token_shape, example), (place_shape, place_example, place_help) = _TOKENS[kind], _PLACES[kind]
        token, secret, place = self.fields["token"], self.fields["secret"], self.fields["place"]
        token.label = _("Bot token") if kind == ChatApp.Kind.TELEGRAM else _("Bot user OAuth token")
        token.validators.append(RegexValidator(rf"\A{token_shape}\Z", _("This is not a token of this kind.")))
        token.widget.attrs["placeholder"] = example
        place.validators.append(RegexValidator(rf"\A(?:{place_shape})\Z", _("This is not the id of a channel.")))
        place.widget.attrs["placeholder"], place.help_text = place_example, place_help
        if kind == ChatApp.Kind.TELEGRAM:
            del self.fields["secret"]
            place.label = _("Chat or group")
        if app:
            token.help_text = _("…%(hint)s is set and not shown again. Leave this empty to keep it.") % {
                "hint": app.hint
            }
            secret.help_text = _("It is set and not shown again. Leave this empty to keep it.")
        else:
            token.required = secret.required = True

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        return {"secret": "", **found}
