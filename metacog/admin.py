"""The admin of teams and their members, agents, policies and the record of changes."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog import agents as changes
from metacog import audit, heuristics, members
from metacog.admin_site import ScopedAdmin, ScopedFilter, team_ids
from metacog.forms import KINDS, RELEASED_BY, SIGNALS
from metacog.models import Agent, AuditEvent, Membership, Policy, Role, Team

# -- teams -----------------------------------------------------------------------------------------


class MemberFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]  # not subscriptable when run
    """The members of one team, of whom one owner at least must stay."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        name = {"name": form.instance.user} if form.instance.pk else {"name": ""}
        form.fields["role"].widget.attrs["aria-label"] = gettext("Role of %(name)s") % name
        form.fields["DELETE"].widget.attrs["aria-label"] = gettext("Remove %(name)s") % name

    def clean(self) -> None:
        super().clean()
        kept = [form.cleaned_data for form in self.forms if form.is_valid() and not form.cleaned_data["DELETE"]]
        were = any(form.initial.get("role") == Role.OWNER for form in self.forms)
        if were and not any(data["role"] == Role.OWNER for data in kept):
            raise ValidationError(gettext("A team needs an owner: nothing was changed."))


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]
    """Roles and removals. People are added in the console, which makes them their link."""

    model = Membership
    formset = MemberFormSet
    fields = ["user", "role"]
    readonly_fields = ["user"]
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        owned = team_ids(request, Role.OWNER)
        return bool(owned) if obj is None else obj.pk in owned

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user", "team")


@admin.register(Team)
class TeamAdmin(ScopedAdmin):
    team_path = "pk"
    role_to_view = role_to_change = Role.OWNER
    fields = ["name", "add_members"]
    readonly_fields = ["add_members"]
    list_display = ["name", "created_at"]
    search_fields = ["name"]
    inlines = [MemberInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or self.has_add_permission(request)

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        return list(self.inlines) if obj else []

    @admin.display(description=_("more members"))
    def add_members(self, team: Team) -> str:
        url = reverse("team")
        return format_html('<a href="{}?team={}">{}</a>', url, team.pk or "", gettext("Add them in the console"))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if form.changed_data:
            action = "team-renamed" if change else "team-created"
            audit.record(action, str(obj.pk), actor=request.user, team=obj, name=obj.name)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        formset.save(commit=False)
        actor = request.user
        assert actor.is_authenticated
        try:
            # Promotions first: an owner may hand over and step down in one go.
            roles = list(Role)
            for membership, _fields in sorted(
                formset.changed_objects, key=lambda changed: -roles.index(changed[0].role)
            ):
                members.change_role(membership, membership.role, actor)
            for membership in formset.deleted_objects:
                members.remove_member(membership, actor)
        except members.LastOwner:
            messages.error(request, gettext("A team needs an owner: the last one stays as they were."))


# -- agents ----------------------------------------------------------------------------------------


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    # Not the model's URLField, which refuses names without a dot, such as a container's.
    callback_url = forms.CharField(label=_("Callback address"), max_length=changes.MAX_CALLBACK_URL, required=False)

    class Meta:
        model = Agent
        fields = ["name", "language", "callback_url", "hesitation_enabled", "enabled"]

    def _get_validation_exclusions(self) -> set[str]:
        return {*super()._get_validation_exclusions(), "callback_url"}  # type: ignore[misc]

    def clean(self) -> dict[str, Any]:
        values = {name: self.cleaned_data.get(name, "") for name in ("name", "language", "callback_url")}
        if not self.errors:
            try:
                self.cleaned_data |= changes.checked(self.instance.team, self.instance, **values)
            except ValidationError as error:
                self.add_error(None, error)
        return self.cleaned_data


@admin.register(Agent)
class AgentAdmin(ScopedAdmin):
    role_to_view = role_to_change = Role.OWNER
    form = AgentForm
    fields = [
        "team", "name", "language", "callback_url", "hesitation_enabled", "enabled", "policy_version", "console",
    ]  # fmt: skip
    readonly_fields = ["team", "policy_version", "console"]
    list_display = ["name", "team", "enabled", "hesitation_enabled", "policy_version", "console"]
    list_filter = [("team", ScopedFilter), "enabled", "hesitation_enabled"]
    list_select_related = ["team"]
    search_fields = ["name", "public_id"]

    @admin.display(description=_("keys, firing rate"))
    def console(self, agent: Agent) -> str:
        return format_html('<a href="{}">{}</a>', reverse("agent", args=[agent.public_id]), gettext("In the console"))

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        actor = request.user
        assert actor.is_authenticated
        changes.change(obj, actor, name=obj.name, language=obj.language, callback_url=obj.callback_url)
        changes.switch_hesitation(obj, actor, obj.hesitation_enabled)
        changes.set_enabled(obj, actor, obj.enabled)


# -- policies --------------------------------------------------------------------------------------


def weight_field(signal: str) -> str:
    return f"weight_{signal.replace('-', '_')}"


def _score(label: Any, help_text: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=0, max_value=101, help_text=help_text)


def _weight(signal: str) -> forms.IntegerField:
    return forms.IntegerField(label=SIGNALS[signal], min_value=0, max_value=100, help_text=_("0 switches it off."))


def _release(kind: str) -> forms.ChoiceField:
    return forms.ChoiceField(label=KINDS[kind], choices=list(RELEASED_BY.items()))


def _mark(kind: str) -> forms.CharField:
    return forms.CharField(
        label=KINDS[kind],
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Added to what is marked; {score} becomes the score. Empty: the usual words."),
    )


class PolicyForm(forms.ModelForm):  # type: ignore[type-arg]
    """The next version of an agent's policy. `agent` is set on the class made for one request."""

    agent: Agent

    based_on = forms.IntegerField(widget=forms.HiddenInput)
    threshold = _score(_("Marks from"), _("0–100, or 101 for never. The seed marks from 30."))
    hold_at = _score(_("Holds from"), _("0–100, or 101 for never. The seed holds from 50."))
    weight_absolute_claim = _weight("absolute-claim")
    weight_error_pattern = _weight("error-pattern")
    weight_no_hedge = _weight("no-hedge")
    weight_overconfidence = _weight("overconfidence")
    release_chat = _release("chat")
    release_task = _release("task")
    release_remember = _release("remember")
    mark_chat = _mark("chat")
    mark_task = _mark("task")
    mark_remember = _mark("remember")

    class Meta:
        model = Policy
        fields = [
            "threshold", "hold_at", "review_seconds", "expiry_seconds",
            "rate_per_second", "rate_burst", "require_signature", "note",
        ]  # fmt: skip
        help_texts = {"note": _("For whoever wonders later.")}

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        in_force = Agent.objects.select_for_update().get(pk=self.agent.pk).policy_version
        if data.get("based_on") != in_force:
            raise ValidationError(
                gettext("Version %(version)d came into force while you were writing. Open it and start from there.")
                % {"version": in_force}
            )
        if data.get("threshold", 0) > data.get("hold_at", 101):
            self.add_error("hold_at", gettext("Holding cannot start below where marking does."))
        policy = self.instance
        policy.agent = self.agent
        policy.weights = {name: data.get(weight_field(name)) for name in SIGNALS}
        policy.release = {kind: data.get(f"release_{kind}") for kind in KINDS}
        policy.marks = {kind: text for kind in KINDS if (text := data.get(f"mark_{kind}"))}
        return data

    def _post_clean(self) -> None:
        # What is wrong with a field is said there; the model would say it again in the wire's words.
        if not self.errors:
            super()._post_clean()  # type: ignore[misc]


@admin.register(Policy)
class PolicyAdmin(ScopedAdmin):
    """Versions are only added: each change is the next version, prefilled from the one in force."""

    team_path = "agent__team"
    role_to_view = role_to_add = Role.OWNER
    form = PolicyForm
    list_display = ["agent", "version", "in_force", "threshold", "hold_at", "created_by", "created_at", "note"]
    list_filter = [("agent", ScopedFilter)]
    list_select_related = ["agent__team", "created_by"]
    ordering = ["agent__name", "agent", "-version"]

    @admin.display(description=_("in force"), boolean=True)
    def in_force(self, policy: Policy) -> bool:
        return policy.version == policy.agent.policy_version

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return [
                (_("Thresholds"), {"fields": [("threshold", "hold_at")]}),
                (_("Weights"), {"fields": [tuple(weight_field(signal) for signal in SIGNALS)]}),
                (
                    _("Who may release what is held"),
                    {
                        "fields": [tuple(f"release_{kind}" for kind in KINDS)],
                        "description": _("The agent: by its second look, a cycle later, with a reason."),
                    },
                ),
                (_("Wording of marks"), {"fields": [f"mark_{kind}" for kind in KINDS]}),
                (_("Times"), {"fields": [("review_seconds", "expiry_seconds")]}),
                (_("Posts"), {"fields": [("rate_per_second", "rate_burst"), "require_signature"]}),
                (None, {"fields": ["note", "based_on"]}),
            ]
        return [
            (None, {"fields": ["about", "note"]}),
            (_("Thresholds"), {"fields": ["threshold", "hold_at", "weights_", "release_", "marks_"]}),
            (_("Times"), {"fields": ["review_seconds", "expiry_seconds"]}),
            (_("Posts"), {"fields": ["rate_per_second", "rate_burst", "require_signature"]}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["about", "weights_", "release_", "marks_"] if obj else []

    @admin.display(description=_("version"))
    def about(self, policy: Policy) -> str:
        return f"{policy.agent} · {policy.version} · {policy.created_by or '–'}"

    @admin.display(description=_("weights"))
    def weights_(self, policy: Policy) -> str:
        return ", ".join(f"{label}: {policy.weights.get(signal, '–')}" for signal, label in SIGNALS.items())

    @admin.display(description=_("who may release"))
    def release_(self, policy: Policy) -> str:
        return ", ".join(f"{label}: {RELEASED_BY[policy.release[kind]]}" for kind, label in KINDS.items())

    @admin.display(description=_("wording of marks"))
    def marks_(self, policy: Policy) -> str:
        return ", ".join(f"{KINDS[kind]}: {text}" for kind, text in (policy.marks or {}).items()) or "–"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            return super().add_view(request, form_url, extra_context)
        if "agent" not in request.GET:
            return self._choose_agent(request)
        agent = self._agent(request)
        context = {
            "title": gettext("The next policy of %(agent)s") % {"agent": agent},
            "subtitle": gettext("from version %(version)d") % {"version": agent.policy_version},
            "show_save_and_add_another": False,
            "show_save_and_continue": False,
        }
        return super().add_view(request, form_url, {**context, **(extra_context or {})})

    def _choose_agent(self, request: HttpRequest) -> HttpResponse:
        agents = Agent.objects.filter(team__in=team_ids(request, Role.OWNER)).select_related("team")
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Whose policy?"),
            "opts": self.opts,
            "agents": agents.order_by("team__name", "name"),
        }
        return TemplateResponse(request, "admin/metacog/policy/choose_agent.html", context)

    def _agent(self, request: HttpRequest) -> Agent:
        pk = request.GET.get("agent", "")
        own = Agent.objects.filter(team__in=team_ids(request, Role.OWNER))
        agent = own.filter(pk=int(pk)).first() if pk.isascii() and pk.isdigit() and len(pk) < 19 else None
        if agent is None:
            raise Http404
        return agent

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        if obj is None:
            form.agent = self._agent(request)
        return form

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        agent = self._agent(request)
        policy = Policy.objects.get(agent=agent, version=agent.policy_version)
        rules = heuristics.Policy.from_dict(policy.as_dict())
        return {
            **policy.as_dict(),
            **{weight_field(signal): rules.weights[signal] for signal in SIGNALS},
            **{f"release_{kind}": rules.release[kind] for kind in KINDS},
            **{f"mark_{kind}": (rules.marks or {}).get(kind, "") for kind in KINDS},
            "based_on": policy.version,
        }

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        assert request.user.is_authenticated
        changes.add_policy(form.agent, request.user, obj, based_on=form.cleaned_data["based_on"])

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> Any:
        return redirect("agent", obj.agent.public_id)


# -- the record ------------------------------------------------------------------------------------


@admin.register(AuditEvent)
class AuditEventAdmin(ScopedAdmin):
    """To read; there is no way to change it, for anybody."""

    list_display = ["at", "team", "actor_kind", "actor", "action", "object_id", "before", "after"]
    list_filter = [("team", ScopedFilter), "actor_kind"]
    list_select_related = ["team", "agent"]
    search_fields = ["=action", "=object_id", "=actor"]
    fields = [
        "at", "of_team", "of_agent", "actor_kind", "actor", "action", "object_id", "before", "after", "data",
        "request_id",
    ]  # fmt: skip
    readonly_fields = ["of_team", "of_agent"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        if request.user.is_superuser:  # some events belong to no team
            return admin.ModelAdmin.get_queryset(self, request)
        return super().get_queryset(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_superuser = request.user.is_active and request.user.is_superuser
        return is_superuser or super().has_view_permission(request, obj)

    @admin.display(description=_("team"))
    def of_team(self, event: AuditEvent) -> str:
        return str(event.team or "–")

    @admin.display(description=_("agent"))
    def of_agent(self, event: AuditEvent) -> str:
        return str(event.agent or "–")
