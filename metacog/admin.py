"""The admin of teams and their members, agents, policies and the record of changes."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from metacog.accounts import agents, members, rule_forms
from metacog.accounts.addresses import refuse_private
from metacog.accounts.forms import KINDS, RELEASED_BY, SIGNALS, StoredModelForm
from metacog.admin_site import ScopedAdmin, ScopedFilter, team_ids
from metacog.models import Agent, AuditEvent, Membership, Policy, Role, Team

# -- teams -----------------------------------------------------------------------------------------


class MemberFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]  # not subscriptable when run
    """The members of one team, of whom one owner at least must stay."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        name = {"name": form.instance.user} if form.instance.pk else {"name": ""}
        form.fields["role"].show_hidden_initial = True  # a role that changed since the page was opened stays
        form.fields["role"].widget.attrs["aria-label"] = gettext("Role of %(name)s") % name
        form.fields["DELETE"].widget.attrs["aria-label"] = gettext("Remove %(name)s") % name

    def clean(self) -> None:
        super().clean()
        kept = [form.cleaned_data for form in self.forms if form.is_valid() and not form.cleaned_data.get("DELETE")]
        were = any(form.initial.get("role") == Role.OWNER for form in self.forms)
        if were and not any(data.get("role") == Role.OWNER for data in kept):
            raise ValidationError(gettext("A team needs an owner: nothing was changed."))


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]  # not subscriptable when run
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
    form = StoredModelForm
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
        actor = request.user
        assert actor.is_authenticated
        if change:
            members.rename_team(obj, obj.name, actor)
        else:
            obj.pk = members.add_team(obj.name, actor).pk

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
            messages.error(request, gettext("A team needs an owner: the role of the last one was not changed."))


# -- agents ----------------------------------------------------------------------------------------


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable when run
    # Not the model's URLField, which refuses names without a dot, such as a container's.
    callback_url = forms.CharField(label=_("Webhook address"), max_length=agents.MAX_CALLBACK_URL, required=False)

    class Meta:
        model = Agent
        fields = ["name", "language", "callback_url", "hesitation_enabled", "enabled"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What somebody changed since the page was opened stays: only what is changed on the page is saved.
        for field in self.fields.values():
            field.show_hidden_initial = True

    def _get_validation_exclusions(self) -> set[str]:
        return {*super()._get_validation_exclusions(), "callback_url"}  # type: ignore[misc]  # not in the stubs

    def clean(self) -> dict[str, Any]:
        values = {name: self.cleaned_data.get(name, "") for name in ("name", "language", "callback_url")}
        if not self.errors:
            try:
                self.cleaned_data |= agents.checked(self.instance.team, self.instance, **values)
                if "callback_url" in self.changed_data:
                    refuse_private(values["callback_url"], "callback_url")
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
        stands = Agent.objects.get(pk=obj.pk)
        told = ("name", "language", "callback_url")
        wanted = {name: getattr(obj if name in form.changed_data else stands, name) for name in told}
        agents.change(obj, actor, **wanted)
        switches = {"hesitation_enabled": agents.switch_hesitation, "enabled": agents.set_enabled}
        for name, switch in switches.items():
            if name in form.changed_data:
                switch(obj, actor, getattr(obj, name))


# -- policies --------------------------------------------------------------------------------------


@admin.register(Policy)
class PolicyAdmin(ScopedAdmin):
    """Versions, to read. A new one is tried out and saved on the agent's policy page in the console."""

    team_path = "agent__team"
    role_to_view = Role.OWNER
    readonly_fields = ["about", "weights_", "release_", "marks_", "rules_", "console"]
    list_display = [
        "agent",
        "version",
        "in_force",
        "threshold",
        "hold_at",
        "created_by",
        "created_at",
        "note",
        "console",
    ]
    list_filter = [("agent", ScopedFilter)]
    list_select_related = ["agent__team", "created_by"]
    ordering = ["agent__name", "agent", "-version"]

    @admin.display(description=_("in force"), boolean=True)
    def in_force(self, policy: Policy) -> bool:
        return policy.version == policy.agent.policy_version

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        of_calls = ["rules_", "packs_", "default_tool_call", "readers_", "trusted_"]
        return [
            (None, {"fields": ["about", "note", "console"]}),
            (_("Thresholds"), {"fields": ["profile", "threshold", "hold_at", "weights_", "release_", "marks_"]}),
            (_("Tool calls"), {"fields": [*of_calls, "hold_words_with_calls", "elicitation"]}),
            (_("Time limits"), {"fields": ["review_seconds", "expiry_seconds"]}),
            (_("Intake"), {"fields": ["rate_per_second", "rate_burst", "require_signature", "plain_text_as_chat"]}),
            (_("Budgets"), {"fields": ["budget_calls", "budget_extension", "budget_wait_seconds"]}),
            (_("Memory and threads"), {"fields": ["remember_into_memory", "max_active_threads"]}),
            (_("Think twice"), {"fields": ["stuck_threshold", "accept_relayed_yes"]}),
        ]

    @admin.display(description=_("changes"))
    def console(self, policy: Policy) -> str:
        address = reverse("policy", args=[policy.agent.public_id])
        return format_html('<a href="{}">{}</a>', address, gettext("In the console"))

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

    @admin.display(description=_("rules on tool calls"))
    def rules_(self, policy: Policy) -> str:
        return format_html("<pre>{}</pre>", rule_forms.pretty(policy.rules)) if policy.rules else "–"

    @admin.display(description=_("packs of rules"))
    def packs_(self, policy: Policy) -> str:
        return format_html("<pre>{}</pre>", rule_forms.pretty(policy.packs)) if policy.packs else "–"

    @admin.display(description=_("how arguments are read"))
    def readers_(self, policy: Policy) -> str:
        own = {"readers": policy.readers, "programs": policy.programs}
        return format_html("<pre>{}</pre>", rule_forms.pretty([own])) if policy.readers or policy.programs else "–"

    @admin.display(description=_("trusted tool servers"))
    def trusted_(self, policy: Policy) -> str:
        return ", ".join(policy.trusted_servers) or "–"


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
