"""What people fill in about themselves, their team and its agents."""

from __future__ import annotations

import json
import zoneinfo
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm, UsernameField
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from metacog.accounts.agents import MAX_CALLBACK_URL, MAX_NAME
from metacog.accounts.times.time_zones import time_zones
from metacog.heuristics.effects.pointers import MAX_LENGTH
from metacog.heuristics.signals import SPECS
from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.tool_calls.pack import ASKS_ALL
from metacog.heuristics.tool_calls.secrets import is_mask_left, masked_text, restored_text
from metacog.models import Agent, Language, Membership, PersonalToken, Role, Team, User
from metacog.models.pack_words import shown

SIGNALS = {name: _(spec.title) for name, spec in SPECS.items()}
PARTS = {"quality": _("Quality"), "confidence": _("Confidence"), "stuck": _("Stuck"), "reflection": _("Reflection")}
# What a response's flags say, and what to do about what became of its tags.
RESPONSE_FLAGS = {
    "language-unread": _(
        "No rule reads this language, so the score says nothing about this text. Error patterns are still looked for."
    ),
    "tag-in-code": _(
        "A tag is in code, so it was ignored. If the agent meant it as an item, have it write its tags outside "
        "code, or send items."
    ),
    "tag-nested": _(
        "A tag opens inside another of the same kind, so it has no item of its own. The outer item contains "
        "its text and ends at the first closing tag; text between that tag and the next closing tag belongs to "
        "no item. Have the agent close each tag before it opens the next."
    ),
    "tag-unclosed": _(
        "A tag is never closed, so its item runs to the end of the text. The response may have been cut off: check the "
        "length that the agent may write, and have it close its tags."
    ),
}
STUCK = {
    "repeated-approach": _("The same approach or command again"),
    "circular-reasoning": _("Circular reasoning"),
    "error-loop": _("The same error again"),
    "exhaustion": _("Out of ideas"),
    "uncertainty": _("Does not know why"),
    "scope-creep": _("Starts over without a reason"),
    "stale-context": _("Context nearly full"),
    "no-commits": _("No commit for a long time"),
    "test-regression": _("Tests that used to pass now fail"),
}
KINDS = {"chat": "CHAT", "task": "TASK", "remember": "REMEMBER"}
RELEASED_BY = {"person": _("only a person"), "agent": _("a person or the agent")}


class ShownField(forms.CharField):
    """A text to be read: one that shows nothing counts as empty."""

    def to_python(self, value: Any) -> str:
        text: str = super().to_python(value) or ""
        return "" if is_blank(text) else text


CHANGED_MEANWHILE = _(
    "Somebody else changed this meanwhile, so your version was not saved. Save again to replace theirs."
)


class StoredForm(forms.Form):
    """A form on which something stored is changed: nothing is put over what somebody saved since it was shown."""

    shown = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, stored: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        self._now = sha256(json.dumps(stored, default=str).encode()).hexdigest()
        kwargs["initial"] = {**(kwargs.get("initial") or stored or {}), "shown": self._now}
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        if (self.cleaned_data.pop("shown", "") or self._now) != self._now:
            self.data = {**self.data.dict(), "shown": self._now}  # type: ignore[attr-defined]  # a QueryDict
            raise ValidationError(CHANGED_MEANWHILE)
        return self.cleaned_data


class MaskedTexts(forms.BaseForm):
    """Shows texts with secrets masked; puts back what comes back so, and refuses a mask in the place of a value."""

    originals: Mapping[str, str] = {}

    def mask(self, originals: Mapping[str, str]) -> None:
        self.originals = originals
        self.initial.update({name: masked_text(value) for name, value in originals.items()})

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, original in self.originals.items():
            if name in cleaned:
                cleaned[name] = restored_text(cleaned[name], original)
                if is_mask_left(cleaned[name], original):
                    self.add_error(name, _("The text contains a masked part. Write the value itself."))
        return cleaned


class StoredModelForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    """The same in the admin, a field at a time: what is left as the page showed it is as it stands by now."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.show_hidden_initial = not self.is_bound or self.add_initial_prefix(name) in self.data

    def clean(self) -> dict[str, Any]:
        super().clean()
        for name, field in self.fields.items():
            if not (self.instance.pk and field.show_hidden_initial):
                continue
            stands = self.get_initial_for_field(field, name)
            shown, now = self.data[self.add_initial_prefix(name)], str(field.prepare_value(stands) or "")
            if name not in self.changed_data:
                self.cleaned_data[name] = stands
            elif "".join(shown.split("\r")) != now and self.cleaned_data.get(name) != stands:
                self.data = data = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
                data[self.add_initial_prefix(name)] = now
                self.add_error(name, CHANGED_MEANWHILE)
        return self.cleaned_data


class SignInForm(AuthenticationForm):
    """Name and password, with an error that says what to look at."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("User name or password is wrong. Both are case-sensitive."),
    }

    # Django sets the length on the widget alone; what is longer fits no column of the throttle's table.
    username = UsernameField(label=_("User name"), max_length=150, widget=forms.TextInput(attrs={"autofocus": True}))


class FirstPasswordForm(SetPasswordForm):  # type: ignore[type-arg]  # not subscriptable when run
    """Django's, but what it asks for again is not taken for the password before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password2"].label, self.fields["new_password2"].help_text = _("Repeat the new password"), ""


class PasswordForm(FirstPasswordForm, PasswordChangeForm):
    """Django's, but the page it is on begins with something else."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["old_password"].widget.attrs["autofocus"]


class HandcardForm(StoredForm):
    """What the chairman should keep in mind about an agent (seed 003, 2.4)."""

    handcard = forms.CharField(
        label=_("Handcard"),
        required=False,
        max_length=4_000,
        help_text=_(
            "What its investigations are for, and when they are done. It is shown to the person or the model "
            "that answers its extension requests."
        ),
        widget=forms.Textarea(attrs={"rows": 5}),
    )


class AgentForm(forms.Form):
    """What an agent is called, speaks and is reached at; `metacog.accounts.agents` says what may not be."""

    name = forms.CharField(
        label=_("Name"),
        max_length=MAX_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        choices=Language.choices,
        help_text=_("Language of what metacog adds to the agent's text: marks, notes and the prompt."),
    )
    callback_url = forms.CharField(
        label=_("Webhook address (optional)"),
        max_length=MAX_CALLBACK_URL,
        required=False,
        help_text=_("Decisions are posted there, signed. Without an address the agent must poll for them."),
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "placeholder": "https://",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )


class ChangeAgentForm(AgentForm):
    """The same for an agent that is there: what somebody changed since its page was opened stays."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = True

    def wanted(self, agent: Agent) -> dict[str, str]:
        """Return each field as it was filled in where that differs from what the page showed, else as it is now."""
        kept = _untouched(self)
        return {name: getattr(agent, name) if name in kept else value for name, value in self.cleaned_data.items()}


def _untouched(form: forms.BaseForm) -> set[str]:
    """Return the names of the fields that came as the page showed them."""
    shown = {name for name in form.fields if form.add_initial_prefix(name) in form.data}
    return shown.difference(form.changed_data)


class PackForm(forms.Form):
    """A pack of rules on tool calls, and the folder that the agent works in."""

    pack = forms.ChoiceField(
        label=_("Pack of rules on tool calls"),
        choices=[(pack.name, pack.title) for pack in shown()],
        initial=ASKS_ALL,
        required=False,
        widget=forms.RadioSelect,
    )
    workspace = forms.CharField(
        label=_("Workspace (optional)"),
        max_length=MAX_LENGTH,
        required=False,
        help_text=_(
            "The folder that the agent works in, such as /srv/app. "
            "A person is asked about anything it writes elsewhere."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "/srv/app"}),
    )

    def packs(self) -> list[dict[str, str]]:
        """Give what was chosen as a policy has it."""
        name, workspace = self.cleaned_data["pack"] or ASKS_ALL, self.cleaned_data["workspace"]
        return [{"name": name, "workspace": workspace} if workspace else {"name": name}]


class NewAgentForm(AgentForm, PackForm):
    """The same for a new agent, which also needs a team and a pack."""

    team = forms.ModelChoiceField(Team.objects.none(), label=_("Team"), empty_label=None)
    field_order = ["team", "name", "pack", "workspace", "language", "callback_url"]

    def __init__(self, teams: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]  # it is the ModelChoiceField above
        if not self.is_bound:
            self.fields["name"].widget.attrs["autofocus"] = True

    def wanted(self) -> dict[str, Any]:
        """Give what `create_agent` is called with."""
        values = {name: value for name, value in self.cleaned_data.items() if name not in ("pack", "workspace")}
        return values | {"packs": self.packs()}


class MemberForm(forms.Form):
    """Somebody to add to a team."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    email = forms.EmailField(label=_("Email (optional)"), required=False, max_length=254)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.REVIEWER)


SETTINGS = "settings"  # the id of the form on the team's page


class SettingsForm(forms.BaseForm):
    """Fields that stand on several tabs of the team's page, and are saved with one button.

    What somebody changed since the page was opened stays, field by field, where it was not changed on the page.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["form"] = SETTINGS
            field.show_hidden_initial = True
            field.hidden_widget = partial(forms.HiddenInput, attrs={"form": SETTINGS})  # type: ignore[assignment]

    def wanted(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return each field as it was filled in where that differs from what the page showed, else as it is stored."""
        kept = _untouched(self)
        return {name: stored[name] if name in kept else value for name, value in self.cleaned_data.items()}


class TeamForm(SettingsForm, forms.Form):
    """What owners set of their team, but for its chat; `metacog.accounts.retention` says what is too long."""

    hours = forms.DecimalField(
        label=_("Decide within (hours)"),
        min_value=Decimal("0.25"),
        max_value=720,
        max_digits=5,
        decimal_places=2,
        help_text=_("The queue shows when an item is due. Nothing happens automatically at that time."),
    )
    mail_links = forms.BooleanField(
        label=_("Links that decide without signing in"),
        required=False,
        help_text=_(
            "Each item in an email gets a link. It opens the whole item, to approve or reject it as the "
            "recipient, for up to 7 days. Anyone who can read the recipient's email can do so. Switching this "
            "off invalidates the links that were sent."
        ),
    )
    mail_texts = forms.BooleanField(
        label=_("Excerpts of what agents wrote"),
        required=False,
        help_text=_("Emails cannot be erased with the team's texts."),
    )
    days = forms.IntegerField(
        label=_("Keep texts for (days)"),
        required=False,
        min_value=1,
        max_value=36_500,
        help_text=_("Empty: forever. Scores, decisions, digests and stats are always kept."),
    )
    names_people = forms.BooleanField(
        label=_("Tell agents who decided"),
        required=False,
        help_text=_("Agents see the name of the person who decided."),
    )

    def __init__(self, team: Team, data: Any = None) -> None:
        self.stored = {
            "hours": (Decimal(team.decide_within_minutes) / 60).quantize(Decimal("0.01")).normalize() + 0,  # 4, or 1.5
            "mail_links": team.mail_links,
            "mail_texts": team.mail_texts,
            "days": team.retention_days,
            "names_people": team.names_people,
        }
        super().__init__(data, initial=self.stored)


class RolesForm(SettingsForm, forms.Form):
    """The role of each member of a team."""

    def __init__(self, members: Iterable[Membership], data: Any = None) -> None:
        self.members = {str(each.pk): each for each in members}
        self.stored = {key: each.role for key, each in self.members.items()}
        # Who was added since the page was opened is not among what it sends.
        self.base_fields = {  # type: ignore[misc]  # of this one team's form
            key: forms.ChoiceField(label=_of(each), choices=Role.choices, required=False)
            for key, each in self.members.items()
        }
        super().__init__(data, initial=self.stored, prefix="role")

    @property
    def rows(self) -> list[tuple[Membership, forms.BoundField]]:
        """Return each member with the field of their role."""
        return [(each, self[key]) for key, each in self.members.items()]

    @property
    def changed(self) -> list[tuple[Membership, str]]:
        """Return whose role is to be another one; new owners first, so that one can hand over to the next."""
        wanted = self.wanted(self.stored)
        found = [(each, wanted[key]) for key, each in self.members.items() if wanted[key] not in ("", each.role)]
        return sorted(found, key=lambda each: each[1] != Role.OWNER)

    @property
    def gone(self) -> int:
        """Count whose role was to be another one, but who was removed since the page was opened."""
        initial = self.add_initial_prefix("")
        sent = {name.removeprefix(initial): value for name, value in self.data.items() if name.startswith(initial)}
        return sum(self.data.get(self.add_prefix(key)) != role for key, role in sent.items() if key not in self.members)


def _of(member: Membership) -> str:
    return gettext("Role of %(name)s") % {"name": member.user.get_username()}


class TokenForm(forms.Form):
    """An access token that a person makes for a program of theirs."""

    DAYS = (7, 30, 90, 365)

    name = ShownField(
        label=_("Name"),
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": _("Purpose")}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"),
        choices=PersonalToken.Scope.choices,
        initial=[PersonalToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(label=_("Expires after"), coerce=int, initial=30)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, prefix="token")
        choices: Any = self.fields["days"]
        most = settings.TOKEN_DAYS
        offered = [days for days in self.DAYS if days < most] + [most] if most else self.DAYS
        choices.choices = [(days, ngettext("%(days)s day", "%(days)s days", days) % {"days": days}) for days in offered]
        choices.initial = min(choices.initial, offered[-1])


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    """How the console looks and behaves for one person."""

    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)

    class Meta:
        model = User
        fields = ["language", "time_zone", "theme", "keyboard"]
        help_texts = {"keyboard": _("J and K to move, A, E and R to decide, U to undo. They are off while you type.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language: Any = self.fields["language"]
        language.choices = [("", _("Automatic")), *Language.choices]
        zone: Any = self.fields["time_zone"]
        zone.choices = [("", _("Automatic")), *time_zones(self.instance.time_zone)]

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"]
        try:
            zoneinfo.ZoneInfo(name or "UTC")
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            raise ValidationError(_("Unknown time zone.")) from None
        return name
