"""What people fill in about being told what waits."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from metacog.accounts.forms import SettingsForm
from metacog.models import Channel, PersonNotices, PersonPush, Team, User


class PersonNoticesForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    """Where and when one person is told what waits for them."""

    email = forms.EmailField(label=_("Email"), required=False, max_length=254)
    WEEKLY = ("weekly", "weekly_day", "weekly_hour")

    # A browser left alone must not become a lasting way in: mail may hold links that decide.
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        help_text=_("Needed only to change the address."),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    class Meta:
        model = PersonNotices
        fields = ["when", "minutes", "hour", "mentions", "outages", "weekly", "weekly_day", "weekly_hour"]
        help_texts = {
            "minutes": _("Pending, and nobody has it open in the console."),
            "hour": _("0 to 23, in the time zone above."),
            "mentions": _(
                "An email at once when somebody mentions you or assigns an item to you, when you are asked to decide, "
                "and when you go on call."
            ),
            "outages": _(
                "An email to a team's owners when a webhook of the team or its agents is switched off "
                "because deliveries fail."
            ),
            "weekly": _("An email for each team in which something happened."),
            "weekly_hour": _("0 to 23, in the time zone above."),
        }

    field_order = ["email", "password", *Meta.fields]

    def __init__(self, person: User, data: Any = None) -> None:
        self.person = person
        super().__init__(data, instance=PersonNotices.of(person), initial={"email": person.email}, prefix="told")
        for name in self.WEEKLY:
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        for name in self.WEEKLY:
            if found.get(name) in ("", None):  # not sent: it stays as it is
                found[name] = getattr(self.instance, name)
        is_told = found.get("mentions") or found.get("outages") or found.get("when") != PersonNotices.When.NEVER
        is_told = is_told or found.get("weekly") != PersonNotices.Weekly.NEVER
        if is_told and not found.get("email") and "email" not in self.errors:
            raise ValidationError({"email": _("Enter an email address.")})
        password = found.pop("password", "")
        is_moved = found.get("email") != self.person.email and self.person.has_usable_password()
        if "email" not in self.errors and is_moved and not self.person.check_password(password):
            wrong = _("The password is wrong: the address was not changed.")
            raise ValidationError({"password": wrong if password else _("Enter your password to change the address.")})
        return found


class PersonPushForm(forms.ModelForm):  # type: ignore[type-arg]  # as above
    """What is pushed to one person's devices, and when."""

    class Meta:
        model = PersonPush
        fields = ["calls", "questions", "words", "mentions", "outages", "minutes", "every", "quiet_from", "quiet_until"]
        help_texts = {
            "words": _("Messages, memories and tasks."),
            "minutes": _("0: at once."),
            "mentions": _("Also when you are asked to decide, and when you go on call."),
            "every": _("For held items. A newer notice replaces the previous one."),
        }
        widgets = {
            name: forms.TimeInput(format="%H:%M", attrs={"type": "time"}) for name in ("quiet_from", "quiet_until")
        }

    def __init__(self, person: User, data: Any = None) -> None:
        super().__init__(data, instance=PersonPush.of(person), prefix="push")

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        begin, end = found.get("quiet_from"), found.get("quiet_until")
        if (begin is None) != (end is None) and not self.errors:
            missing = "quiet_from" if begin is None else "quiet_until"
            raise ValidationError({missing: _("Enter both times, or neither.")})
        if begin is not None and begin == end:
            raise ValidationError({"quiet_until": _("Enter two different times.")})
        return found


class ChannelForm(SettingsForm, forms.ModelForm):  # type: ignore[type-arg]  # as above
    """The chat that is told what waits for a team; `metacog.notices.notices` says which addresses there are."""

    url = forms.CharField(
        label=_("Address of its incoming webhook"),
        required=False,
        max_length=500,
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "placeholder": "https://hooks.slack.com/services/…",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )

    class Meta:
        model = Channel
        fields = ["minutes", "language", "texts", "mentions"]
        help_texts = {
            "texts": _("Chat messages cannot be erased with the team's texts."),
            "mentions": _("A message at once when somebody is mentioned in a comment, or an item is assigned."),
        }

    field_order = ["url", "minutes", "language", "texts", "mentions"]

    def __init__(self, team: Team, data: Any = None) -> None:
        channel = Channel.objects.filter(team=team).first()
        self.stored = {"url": "", **{name: getattr(channel or Channel(), name) for name in self.Meta.fields}}
        self.is_stored = channel is not None
        super().__init__(data, instance=channel, prefix="chat")
        self.fields["url"].help_text = (
            _("%(hint)s is set and not shown again. Leave this empty to keep it.") % {"hint": channel.hint}
            if channel
            else _("From Slack, Mattermost, Rocket.Chat, or Discord (its address with /slack at the end).")
        )

    @property
    def is_filled(self) -> bool:
        """Say whether there is a chat, or somebody has begun to enter one."""
        return self.is_stored or self.wanted(self.stored) != self.stored
