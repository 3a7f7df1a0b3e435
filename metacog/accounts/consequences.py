"""What it takes away to switch something off or to remove it, in numbers; and the form that asks why."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from django import forms
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from metacog.accounts.forms import ShownField
from metacog.models import Agent, AgentKey, Membership, PersonalToken, Team, User

DAYS = 7  # over which what comes is counted
MOST_NAMED = 10  # of people
MAX_REASON = 500  # characters


class ReasonForm(forms.Form):
    """Why something is switched off or removed."""

    reason = ShownField(
        label=gettext_lazy("Reason"),
        max_length=MAX_REASON,
        help_text=gettext_lazy("It is kept in the audit log."),
        error_messages={"required": gettext_lazy("Give a reason: the audit log keeps it.")},
        widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off"}),
    )


class DisableForm(ReasonForm):
    """Why an agent is disabled, and whether what waits of it is withdrawn."""

    withdraw = forms.BooleanField(required=False)

    def __init__(self, agent: Agent, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if count := pending_of(agent):
            told = ngettext("Withdraw its %(count)s held item", "Withdraw its %(count)s held items", count)
            self.fields["withdraw"].label = told % {"count": f"{count:,}"}
            self.fields["withdraw"].help_text = _("They stay withdrawn if it is enabled again.")
        else:
            del self.fields["withdraw"]


class PauseForm(DisableForm):
    """Why an agent is paused, for how long, and whether what waits of it is withdrawn."""

    hours = forms.ChoiceField(
        label=gettext_lazy("For how long"),
        required=False,
        choices=[
            ("", gettext_lazy("Until somebody resumes it")),
            ("1", gettext_lazy("1 hour")),
            ("8", gettext_lazy("8 hours")),
            ("24", gettext_lazy("24 hours")),
        ],
    )
    field_order = ("reason", "hours", "withdraw")

    def __init__(self, agent: Agent, *args: Any, **kwargs: Any) -> None:
        super().__init__(agent, *args, **kwargs)
        if "withdraw" in self.fields:
            self.fields["withdraw"].help_text = _("What is held while it is paused waits for a decision as usual.")

    @property
    def until(self) -> datetime | None:
        """Say when the pause ends by itself, of a valid form."""
        hours = self.cleaned_data["hours"]
        return timezone.now() + timedelta(hours=int(hours)) if hours else None


def of_pausing(agent: Agent, now: datetime) -> list[str]:
    """Say what pausing an agent does."""
    return [
        _("Every tool call and every chat, memory and task it posts is held, whatever its policy and grants allow."),
        _posted(agent, now),
    ]


def of_disabling(agent: Agent, now: datetime) -> list[str]:
    """Say what disabling an agent takes away."""
    keys = AgentKey.objects.filter(agent=agent, revoked_at=None).count()
    return [_keys_stop(keys), _("Its responses are refused with 403."), _posted(agent, now), _held_stay(agent)]


def of_hesitation_off(agent: Agent, now: datetime) -> list[str]:
    """Say what is left out once an agent's responses are only stored."""
    return [_("Its responses are no longer scored, marked or held."), _posted(agent, now), _held_stay(agent)]


def of_revoking(agent: Agent) -> list[str]:
    """Say what ending all keys of an agent but the newest takes away."""
    keys = AgentKey.objects.filter(agent=agent, revoked_at=None).count()
    return [_keys_stop(keys - 1), _("The newest key and its secret stay.")]


def of_issuing(agent: Agent) -> list[str]:
    """Say what one more key takes away from an agent that has as many as may be."""
    oldest = AgentKey.objects.filter(agent=agent, revoked_at=None).order_by("pk").first()
    stops = [_("The oldest live key, %(key)s, stops working at once.") % {"key": oldest}] if oldest else []
    return [*stops, _("At most two keys can be live: the newer one stays, and the new one is added.")]


def of_token(token: PersonalToken) -> list[str]:
    """Say what revoking an access token takes away."""
    told = [_("Programs that use it are refused at once, with 401.")]
    if token.last_used_at is None:
        return [*told, _("It was never used.")]
    used = date_format(timezone.localtime(token.last_used_at), "DATETIME_FORMAT")
    return [*told, _("It was last used on %(time)s.") % {"time": used}]


def of_requiring_second_factor(team: Team) -> list[str]:
    """Say whom a required second factor keeps out until they have one."""
    has_one = Authenticator.objects.filter(user=OuterRef("pk"), type__in=("totp", "webauthn"))
    members = User.objects.filter(memberships__team=team, is_active=True)
    lacking = [person.get_username() for person in members.exclude(Exists(has_one)).order_by("username")]
    told = ngettext(
        "%(count)s member has no second factor here and must set one up first.",
        "%(count)s members have no second factor here and must set one up first.",
        len(lacking),
    ) % {"count": len(lacking)}
    named = [", ".join(lacking[:MOST_NAMED]) + ("…" if len(lacking) > MOST_NAMED else "")] if lacking else []
    return [
        told,
        *named,
        _("Their access tokens are refused until then."),
        _("People whose provider asked for more than one factor (amr: mfa) need none here."),
    ]


def of_requiring_none() -> list[str]:
    """Say what it takes away that a second factor is required no longer."""
    return [
        _("Members can sign in with a password alone, and remove the second factor they have."),
        _("A stolen password is enough to decide in that person's name."),
    ]


def of_removing(member: Membership, now: datetime) -> list[str]:
    """Say what somebody loses who is taken out of a team, and what stays."""
    tokens = PersonalToken.objects.live(now).filter(person=member.user).count()
    held: Any = Team._meta.get_field("held_items").related_model  # reviews stands above this package
    decisions: Any = User._meta.get_field("decisions").related_model
    assigned = held.objects.filter(team=member.team_id, state="pending", talk__assignee=member.user).count()
    decided = decisions.objects.filter(person=member.user, held__team=member.team_id, undone_at=None).count()
    counted = {
        ngettext(
            "%(count)s of their access tokens no longer works in this team.",
            "%(count)s of their access tokens no longer work in this team.",
            tokens,
        ): tokens,
        ngettext(
            "%(count)s held item stays assigned to them until somebody else takes it.",
            "%(count)s held items stay assigned to them until somebody else takes them.",
            assigned,
        ): assigned,
        ngettext("%(count)s decision keeps their name.", "%(count)s decisions keep their name.", decided): decided,
    }
    there_are = [told % {"count": f"{count:,}"} for told, count in counted.items() if count]
    return [_("They lose access to the team."), *there_are]


def _keys_stop(count: int) -> str:
    return ngettext("%(count)s key stops working.", "%(count)s keys stop working.", count) % {"count": count}


def pending_of(agent: Agent) -> int:
    """Return how many items of an agent wait for a decision."""
    held: Any = Agent._meta.get_field("held_items").related_model
    count: int = held.objects.filter(agent=agent, state="pending").count()
    return count


def _held_stay(agent: Agent) -> str:
    count = pending_of(agent)
    told = ngettext(
        "%(count)s held item stays held until it is decided or expires.",
        "%(count)s held items stay held until they are decided or expire.",
        count,
    )
    return told % {"count": f"{count:,}"}


def _posted(agent: Agent, now: datetime) -> str:
    """Say how many responses came of late: no rate, which an agent of a few minutes has not."""
    responses: Any = Agent._meta.get_field("responses").related_model
    count = responses.objects.filter(agent=agent, received_at__gte=now - timedelta(days=DAYS)).count()
    told = ngettext(
        "It posted %(count)s response over the last week.", "It posted %(count)s responses over the last week.", count
    )
    return told % {"count": f"{count:,}"}
